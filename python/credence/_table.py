"""Tables: rows of typed columns with missing values, as the library sees data."""
import ctypes
import os

import numpy as np

from . import _columns
from . import _declarations as c
from ._context import call, make, work
from ._interrupt import unwatched
from ._library import lib
from ._settings import filled


def _encode(text, what):
    if "\0" in text:
        raise ValueError(f"{what} {text!r} holds a null character")
    return text.encode()


class Table:
    """Rows of typed columns with missing values.

    Parameters
    ----------
    data : mapping of names to columns, or pandas DataFrame
        Columns are arrays, lists, Series or Categoricals.  float64 arrays are not copied: do not change them while the
        table is in use.
    source : str
        What messages call the table.

    ``read_table`` makes one from a file.  Every estimator takes a table in place of X and finds its
    columns by name, in any order.
    """

    def __init__(self, data, source="the data"):
        columns = {str(name): data[name] for name in (data.keys() if hasattr(data, "keys") else data)}
        self._start(len(next(iter(columns.values()))) if columns else 0, source)
        for name, values in columns.items():
            self._add(name, values)

    def _start(self, rows, source):
        self._handle = make(lib.cr_table_free, lib.cr_table_new, _encode(source, "the name"), rows,
                            run=unwatched)
        self._kept = []   # arrays that the table reads from

    @classmethod
    def _empty(cls, rows, source="the data"):
        table = cls.__new__(cls)
        table._start(rows, source)
        return table

    # --- building, by this package only: a table that is in use does not change

    def _add(self, name, values):
        column = values if isinstance(values, _columns.Levels) else _columns.convert(name, values)
        if isinstance(column, _columns.Numbers):
            self._add_numbers(name, column.values, column.type)
        else:
            self._add_levels(name, column)

    def _check_length(self, name, n):
        if n != len(self):
            raise ValueError(f"column '{name}' has {n} rows, but the table has {len(self)}")

    def _add_numbers(self, name, values, type=c.REAL):
        self._check_length(name, len(values))
        values = _columns.as_doubles(values)
        self._kept.append(values)
        call(lib.cr_table_borrow_numbers, self._handle.pointer, _encode(name, "the name"), type,
             values.ctypes.data, values.strides[0] // 8)

    def _add_levels(self, name, column):
        self._check_length(name, len(column.codes))
        codes = np.ascontiguousarray(column.codes, dtype=np.uint32)
        texts = (ctypes.c_char_p * len(column.texts))(*(_encode(t, "the level") for t in column.texts))
        call(lib.cr_table_add_category, self._handle.pointer, _encode(name, "the name"),
             codes.ctypes.data, texts, len(texts))

    def _add_matrix(self, values, names=None):
        """All columns of a float64 matrix without a copy; called x1, x2, ... without names."""
        values = _columns.as_doubles(values)
        rows, cols = values.shape
        if values.strides[1] == 8 and values.strides[0] >= 8 * cols:
            self._kept.append(values)
            encoded = names and (ctypes.c_char_p * cols)(*(_encode(n, "the name") for n in names))
            matrix = c.Cmat(values.ctypes.data, rows, cols, values.strides[0] // 8)
            call(lib.cr_table_borrow_matrix, self._handle.pointer, c.REAL, matrix, encoded)
            return
        for j in range(cols):
            self._add_numbers(names[j] if names else f"x{j + 1}", values[:, j])

    def _add_csr(self, X):
        """The columns x1, x2, ... of a _columns.Csr, without a copy."""
        self._check_length("x1", X.shape[0])
        self._kept.append(X)
        matrix = c.Csr(*X.shape, X.row_start.ctypes.data, X.column.ctypes.data, X.value.ctypes.data)
        call(lib.cr_table_borrow_csr, self._handle.pointer, c.REAL, matrix)

    # --- looking

    def __len__(self):
        return lib.cr_table_rows(self._handle.pointer)

    def _sparse(self):
        """The sparse columns as a _columns.Csr over the memory of the table; None without."""
        found = lib.cr_table_csr(self._handle.pointer)
        if not found:
            return None
        X = found.contents

        def array(address, n, kind, dtype):
            if n == 0:
                return np.empty(0, dtype=dtype)
            return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), (n,))

        start = array(X.row_start, X.rows + 1, ctypes.c_uint64, np.uint64)
        n = int(start[-1])
        return _columns.Csr((X.rows, X.columns), start, array(X.column, n, ctypes.c_uint32, np.uint32),
                            array(X.value, n, ctypes.c_double, np.float64))

    def _places(self):
        """(index of the first sparse column, how many there are)."""
        pointer = self._handle.pointer
        found = lib.cr_table_csr(pointer)
        return lib.cr_table_csr_first(pointer), found.contents.columns if found else 0

    def _columns(self):
        """The columns that are not sparse."""
        pointer = self._handle.pointer
        first, sparse = self._places()
        return [lib.cr_table_column(pointer, i).contents for i in range(lib.cr_table_columns(pointer))
                if not first <= i < first + sparse]

    def _by_name(self, of_column, of_sparse):
        """A dict over all columns in their order: of_column(column), and one value per sparse column."""
        first, sparse = self._places()
        items = [(column.name.decode(), of_column(column)) for column in self._columns()]
        middle = zip((f"x{j + 1}" for j in range(sparse)), of_sparse(sparse))
        return dict([*items[:first], *middle, *items[first:]])

    @property
    def columns(self):
        """The names of the columns."""
        return list(self._by_name(lambda column: None, lambda n: [None] * n))

    @property
    def types(self):
        """The type of each column by name: real, integer, boolean or category."""
        kind = lib.cr_table_csr_type(self._handle.pointer)
        return self._by_name(lambda column: lib.cr_type_name(column.type).decode(),
                             lambda n: [lib.cr_type_name(kind).decode()] * n)

    @property
    def missing(self):
        """The number of missing values of each column, by name."""
        def of_sparse(n):
            if n == 0:
                return []
            X = self._sparse()
            return np.bincount(X.column[np.isnan(X.value)], minlength=n).tolist()
        return self._by_name(lambda column: column.missing, of_sparse)

    def to_csr(self):
        """A copy of the sparse columns as a scipy.sparse.csr_matrix; None if the table has none."""
        X = self._sparse()
        if X is None:
            return None
        from scipy import sparse   # only who asks for it needs it
        return sparse.csr_matrix((X.value.copy(), X.column.astype(np.int32), X.row_start.astype(np.int64)),
                                 shape=X.shape)

    @property
    def source(self):
        """What messages call the table."""
        return lib.cr_table_source(self._handle.pointer).decode()

    def __getitem__(self, name):
        """A copy of a column: float64 with NaN for missing, or texts with None for missing."""
        found = lib.cr_table_find(self._handle.pointer, _encode(name, "the name"))
        if not found:
            raise KeyError(f"column '{name}' not found in {self.source}; columns: {', '.join(self.columns)}")
        column, rows = found.contents, len(self)
        if rows == 0:
            return np.empty(0, dtype=object if column.type == c.CATEGORY else np.float64)
        if column.type == c.CATEGORY:
            levels = [column.levels[k].decode() for k in range(column.n_levels)]
            texts = np.array([*levels, None], dtype=object)
            codes = np.ctypeslib.as_array(ctypes.cast(column.codes, ctypes.POINTER(ctypes.c_uint32)), (rows,))
            return texts[np.minimum(codes, column.n_levels)]
        reach = (rows - 1) * column.stride + 1
        values = np.ctypeslib.as_array(ctypes.cast(column.values, ctypes.POINTER(ctypes.c_double)), (reach,))
        return values[::column.stride or 1].copy() if column.stride else np.full(rows, values[0])

    def __repr__(self):
        return f"<credence.Table {self.source!r}: {len(self)} rows, {len(self.columns)} columns>"

    def write(self, path):
        """Writes the table to a file, completely or not at all: .npy or .libsvm for numbers only, otherwise CSV."""
        path = os.fspath(path)
        if path.endswith((".libsvm", ".svm")):
            work(lib.cr_table_write_libsvm, self._handle.pointer, None, os.fsencode(path)).pass_warnings_on()
            return
        write = lib.cr_table_write_npy if path.endswith(".npy") else lib.cr_table_write_csv
        work(write, self._handle.pointer, os.fsencode(path)).pass_warnings_on()


def read_table(path, model=None, **options):
    """A table from a file: CSV, TSV (also .gz, .zst), JSON lines, LIBSVM, NPY, NPZ or ``sqlite:FILE?table``.

    Options are those of the command line: ``delimiter``, ``header``, ``category``, ``real``,
    ``missing_values`` and so on, and ``from_`` for the format.  With a fitted ``model``, cells are read as they were
    for its fit: its missing values are missing here too.
    """
    table = Table.__new__(Table)
    with filled("cr_read_table", options) as values:
        if model is not None:
            call(lib.cr_model_read_options, model._fitted()._pointer, values)
        table._handle = make(lib.cr_table_free, lib.cr_table_read, os.fsencode(path), values)
    table._kept = []
    return table
