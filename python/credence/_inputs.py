"""X, y and sample_weight, in any of the forms scikit-learn takes, checked and put into one table.

Wrong input is refused in the words of scikit-learn, which its users and its tests know."""
import numbers
import re
from typing import NamedTuple, Optional

import numpy as np

from . import _columns, _errors
from . import _declarations as c
from ._table import Table


class Features(NamedTuple):
    """X before it is in a table: a matrix of numbers, dense or sparse, or columns."""
    rows: int
    width: int
    names: Optional[list]            # None: the columns have no names
    matrix: Optional[np.ndarray]     # float64
    columns: Optional[list]
    sparse: Optional[_columns.Csr] = None


# --- X ----------------------------------------------------------------------------------------------


def is_frame(X):
    return hasattr(X, "columns") and hasattr(X, "iloc")


def frame_column(X, name, fallback=None):
    """The column of a frame, if X is one and has it."""
    return X[name] if is_frame(X) and name in X.columns else fallback


def frame_names(frame):
    """The names of the columns; None when they are not texts, as of a frame made from an array."""
    kinds = sorted({type(name).__name__ for name in frame.columns})
    if kinds and all(isinstance(name, str) for name in frame.columns):
        return [str(name) for name in frame.columns]
    if any(isinstance(name, str) for name in frame.columns):
        raise TypeError("Feature names are only supported if all input features have string names, "
                        f"but your input has {kinds} as feature name / column name types.")
    return None


def _from_frame(X):
    rows, width = X.shape
    if all(dtype == np.float64 for dtype in X.dtypes):
        return Features(rows, width, frame_names(X), X.to_numpy(), None)
    return Features(rows, width, frame_names(X), None, [X.iloc[:, j] for j in range(width)])


def _check_dimensions(array):
    if array.ndim == 2:
        return
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, but 2 dimensions are expected.")
    raise ValueError(f"Expected 2D array, got {array.ndim}D array instead:\narray={array}.\n"
                     "Reshape your data either using array.reshape(-1, 1) if your data has a single "
                     "feature or array.reshape(1, -1) if it contains a single sample.")


def _from_array(X):
    array = np.asarray(_columns.unmasked(X))
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    _check_dimensions(array)
    rows, width = array.shape
    try:
        return Features(rows, width, None, _columns.as_doubles(array), None)
    except ValueError:  # texts: each column for itself
        return Features(rows, width, None, None, [array[:, j] for j in range(width)])


def _from_sparse(X):
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    _check_dimensions(X)
    return Features(*X.shape, None, None, None, _columns.as_csr(X))


def of_series(X, y):
    """Features of a series that stands alone, where X is None or has no column; None where it has one."""
    if X is None:
        return None if y is None else Features(len(y), 0, None, np.empty((len(y), 0)), None)
    shape = getattr(X, "shape", ())
    return Features(shape[0], 0, None, np.empty((shape[0], 0)), None) if len(shape) == 2 and shape[1] == 0 else None


def read_features(X):
    """Features of X, which has at least one row and one column."""
    if _columns.is_sparse(X):
        features = _from_sparse(X)
    else:
        features = _from_frame(X) if is_frame(X) else _from_array(X)
    shape = (features.rows, features.width)
    for n, what in zip(shape, ("sample(s)", "feature(s)")):
        if n == 0:
            raise ValueError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required.")
    return features


def without(features, names):
    """The features less the columns of these names, which have another role."""
    if not features.names or not set(features.names) & set(names):
        return features
    kept = [j for j, name in enumerate(features.names) if name not in names]
    return features._replace(
        width=len(kept), names=[features.names[j] for j in kept],
        matrix=None if features.matrix is None else features.matrix[:, kept],
        columns=features.columns and [features.columns[j] for j in kept])


# --- names ------------------------------------------------------------------------------------------


def plain_names(n):
    """What columns without names are called."""
    return [f"x{j + 1}" for j in range(n)]


def _list_names(title, names):
    shown = sorted(names)
    lines = [f"- {name}" for name in shown[:5]] + ["- ..."] * (len(shown) > 5)
    return "".join(f"{line}\n" for line in [title, *lines]) if shown else ""


def check_names(estimator, names, seen):
    """The names of new features against those seen in fit; either may be None, for no names."""
    who = type(estimator).__name__
    if names is None and seen is not None:
        _errors.warn(f"X does not have valid feature names, but {who} was fitted with feature names",
                     UserWarning)
    elif names is not None and seen is None:
        if names != plain_names(len(names)):
            _errors.warn(f"X has feature names, but {who} was fitted without feature names", UserWarning)
    elif names is not None and names != list(seen):
        unseen, lost = set(names) - set(seen), set(seen) - set(names)
        raise ValueError("The feature names should match those that were passed during fit.\n"
                         + _list_names("Feature names unseen at fit time:", unseen)
                         + _list_names("Feature names seen at fit time, yet now missing:", lost)
                         + ("" if unseen or lost else
                            "Feature names must be in the same order as they were in fit.\n"))


def check_width(estimator, width, expected):
    if width != expected:
        raise ValueError(f"X has {width} features, but {type(estimator).__name__} is expecting "
                         f"{expected} features as input.")


# --- y and weights ----------------------------------------------------------------------------------


def read_vector(y, rows):
    """y as one dimension of as many values as X has rows; a Series stays one."""
    y = _columns.unmasked(y)
    shape = y.shape if hasattr(y, "dtype") else np.asarray(y).shape
    if len(shape) == 2 and shape[1] == 1:
        _errors.warn("A column-vector y was passed when a 1d array was expected. Please change the shape "
                     "of y to (n_samples, ), for example using ravel().",
                     _errors.matching(_errors.DataConversionWarning))
        y, shape = np.asarray(y).ravel(), (shape[0],)
    if len(shape) != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {shape} instead.")
    if shape[0] != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {shape[0]}]")
    return y


def read_numbers(y, rows):
    """A target of numbers."""
    y = read_vector(y, rows)
    if hasattr(getattr(y, "dtype", None), "categories"):
        raise ValueError("y is a category, but a regressor predicts numbers")
    if getattr(getattr(y, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported\ny has complex values\n")
    return _columns.as_doubles(y)


def read_weights(weights, rows):
    if isinstance(weights, numbers.Number):
        return np.full(rows, float(weights))
    weights = _columns.as_doubles(weights)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    return weights


def free_name(wanted, taken):
    """A name for a column that X does not have: the first of `wanted`, else the last with _ behind it."""
    for name in wanted:
        if name and name not in taken:
            return name
    name = wanted[-1]
    while name in taken:
        name += "_"
    return name


# --- the table --------------------------------------------------------------------------------------


def feature_table(features, names):
    """A table with the features under these names, or x1, x2, ... without."""
    table = Table._empty(features.rows)
    if features.width == 0:
        return table
    if features.sparse is not None:
        if names is None or names == plain_names(features.width):
            table._add_csr(features.sparse)
        else:  # sparse columns have no names of their own
            table._add_matrix(features.sparse.toarray(), names)
        return table
    if features.matrix is not None:
        table._add_matrix(features.matrix, names)
        return table
    for name, values in zip(names or plain_names(features.width), features.columns):
        table._add(name, values)
    return table


def describe_gaps(table, target):
    """What scikit-learn says of the first column that is not all finite numbers; "" if all are."""
    sparse = table._sparse()
    if sparse is not None:
        if np.isinf(sparse.value).any():
            return "Input X contains infinity. "
        if np.isnan(sparse.value).any():
            return "Input X contains NaN. "
    for column in table._columns():
        what = "y" if column.name.decode() == target else "X"
        if column.infinite:
            return f"Input {what} contains infinity. "
        if column.missing and column.type != c.CATEGORY:
            return f"Input {what} contains NaN. "
    return ""
