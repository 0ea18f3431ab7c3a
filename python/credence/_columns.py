"""One column of Python's, whatever holds it, as a column of the library: numbers or levels.

Floats are real, whole numbers integer (or texts, where a double would lose digits), truth values boolean, texts and pandas categories are
categories; None, NaN and NA are missing."""
import decimal
from typing import Any, NamedTuple

import numpy as np

from . import _declarations as c
from . import _errors


class Numbers(NamedTuple):
    type: int
    values: np.ndarray       # float64, one dimension, not negative stride


class Levels(NamedTuple):
    codes: np.ndarray        # uint32
    texts: list              # of str, all different


def is_missing(value):
    """None, NaN of any kind, and pandas' NA and NaT, which equal nothing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def level_text(value):
    """A level as the library spells it: 3 for 3.0, true for True."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)


def unmasked(values):
    """The values of a masked array with the masked ones missing: numbers as doubles with NaN, others as objects
    with None.  Anything else as it is."""
    if not np.ma.isMaskedArray(values):
        return values
    number = values.dtype.kind in TYPES
    shown = values.data.astype(np.float64 if number else object)
    shown[np.ma.getmaskarray(values)] = np.nan if number else None
    return shown


def as_doubles(array):
    """The array as float64 that C can walk through; itself when it already is."""
    array = np.asarray(unmasked(array), dtype=np.float64)
    fits = array.flags.aligned and all(s >= 0 and s % array.itemsize == 0 for s in array.strides)
    return array if fits else np.array(array, order="C")


class Csr(NamedTuple):
    """A sparse matrix as the library wants it: rows in order, each place once."""
    shape: tuple
    row_start: np.ndarray    # uint64
    column: np.ndarray       # uint32
    value: np.ndarray        # float64

    def toarray(self):
        dense = np.zeros(self.shape)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.row_start.astype(np.int64)))
        dense[rows, self.column] = self.value
        return dense


def is_sparse(X):
    """A matrix or array of scipy.sparse, which need not be loaded to tell."""
    return hasattr(X, "tocsr") and hasattr(X, "toarray")


def as_csr(X):
    """X of any format of scipy.sparse; arrays of the right types are not copied."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices = X.indices if X.indices.dtype.itemsize == 4 else X.indices.astype(np.uint32)
    return Csr(X.shape, np.ascontiguousarray(X.indptr, dtype=np.uint64),
               np.ascontiguousarray(indices).view(np.uint32), np.ascontiguousarray(X.data, dtype=np.float64))


def levels(values, texts_of):
    """A column of levels: codes by order of appearance; equal texts share a code."""
    codes, numbers = np.empty(len(values), dtype=np.uint32), {}
    for i, value in enumerate(values):
        codes[i] = c.MISSING_CODE if is_missing(value) else numbers.setdefault(texts_of(value), len(numbers))
    return Levels(codes, list(numbers))


def _from_categories(name, codes, categories):
    texts = levels(list(categories), level_text)
    if (texts.codes == c.MISSING_CODE).any():
        raise ValueError(f"column '{name}' has a category that is missing")
    renumbered = np.append(texts.codes, np.uint32(c.MISSING_CODE))   # code -1 is the last: missing
    return Levels(renumbered[np.asarray(codes)], texts.texts)


def _from_objects(name, values):
    kinds = {type(v) for v in values if not is_missing(v)}
    if all(issubclass(kind, str) for kind in kinds) and kinds:
        return levels(values, str)
    if any(issubclass(kind, str) for kind in kinds):
        odd = next(kind.__name__ for kind in kinds if not issubclass(kind, str))
        raise ValueError(f"column '{name}' mixes texts with values of type {odd}")
    doubles = np.array([np.nan if is_missing(v) else v for v in values], dtype=np.float64)
    boolean = kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds)
    whole = kinds and not boolean and all(issubclass(kind, (int, np.integer)) for kind in kinds)
    if whole:
        return _from_whole(name, doubles, lambda: values)
    return Numbers(c.BOOLEAN if boolean else c.REAL, doubles)


def _from_dates(values):
    """Days where all are midnights, else seconds, since 1970; a zone is taken to UTC."""
    if not isinstance(values.dtype, np.dtype):   # pandas with a zone
        values = values.dt.tz_convert("UTC").dt.tz_localize(None) if hasattr(values, "dt") else values.tz_convert(None)
    array = np.asarray(values).astype("datetime64[us]")
    gaps = np.isnat(array)
    micro = np.where(gaps, np.datetime64(0, "us"), array).astype(np.int64)
    days = not np.any(micro % 86_400_000_000)
    numbers = (micro // 86_400_000_000).astype(np.float64) if days else micro / 1e6
    numbers[gaps] = np.nan
    return Numbers(c.DATE if days else c.DATETIME, numbers)


def _loses_digits(values):
    """Whether some integer is printed with other digits as a double, as 2**53 + 1 is."""
    return any(int(decimal.Decimal(repr(float(v)))) != v for v in values if not is_missing(v))


def _from_whole(name, doubles, values_of):
    """Integers, or their texts where doubles would lose digits: ids.  values_of() is a list of them."""
    if not np.any(np.abs(doubles) >= 2 ** 53):
        return Numbers(c.INTEGER, doubles)
    values = values_of()
    if not _loses_digits(values):
        return Numbers(c.INTEGER, doubles)
    _errors.warn(f"column '{name}' is read as text: whole numbers beyond 2^53 would lose digits as numbers; "
                 "convert it to float if it is not an id", _errors.CredenceWarning)
    return levels(values, str)


TYPES = {"f": c.REAL, "i": c.INTEGER, "u": c.INTEGER, "b": c.BOOLEAN}


def convert(name, values):
    """Numbers or Levels of one column: an array, a list, a pandas Series or Categorical."""
    values = unmasked(values)
    dtype = getattr(values, "dtype", None)
    if hasattr(dtype, "categories"):
        inner = getattr(values, "cat", values)
        return _from_categories(name, inner.codes, inner.categories)
    if getattr(dtype, "kind", "") == "M":
        return _from_dates(values)
    if dtype is not None and not isinstance(dtype, np.dtype) and dtype.kind in TYPES:
        doubles = values.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable
        return _from_whole(name, doubles, lambda: list(values)) if dtype.kind in "iu" else Numbers(TYPES[dtype.kind], doubles)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"column '{name}' has {array.ndim} dimensions instead of one")
    kind = array.dtype.kind
    if kind in "iu":
        return _from_whole(name, as_doubles(array), array.tolist)
    if kind in TYPES:
        return Numbers(TYPES[kind], as_doubles(array))
    if kind == "c":
        raise ValueError(f"Complex data not supported: column '{name}'")
    if kind in "US":
        return levels([v.decode() if kind == "S" else v for v in array.tolist()], str)
    if kind == "O":
        return _from_objects(name, array.tolist())
    raise ValueError(f"column '{name}' has the type {array.dtype}, which is neither numbers nor texts")
