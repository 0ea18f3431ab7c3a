"""What is in tables, and the information in their columns: what the shell's describe and info print."""
import os

from . import _options
from ._context import json_of
from ._library import lib
from ._result import Result
from ._settings import filled, known_names
from ._table import Table, read_table

_options.know(_options.read_table(_options.table_address("cr_info_question_table")))
TABLES = ("columns", "joint", "mutual", "pairs", "blanket", "divergence", "mmd", "source",
          "surprise")   # parts of an answer


def _table(data):
    if isinstance(data, (str, os.PathLike)):
        return read_table(data)
    return data if isinstance(data, Table) else Table(data)


def info(data=None, other=None, *, seed=0, **options):
    """Entropy, mutual information and divergence of the columns of data, with intervals.

    data, and other to compare it with, are frames, dicts of columns, Tables or paths.  Without options: the entropy of
    each column.  Otherwise one of

    ``columns=[...]``
        Their joint entropy, ``given=[...]`` others.
    ``mutual=[a, b]``
        The mutual information of two columns, ``given=[...]`` others; ``permutations=999`` adds a p-value.
    ``blanket="y"``
        Which columns y needs: its Markov blanket by role, and all others by relevance less redundancy.
    ``matrix=True``
        That of each pair of columns.
    ``rows=True``
        The information content of each row, ``joint=True`` under the joint distribution, ``top=10`` the most surprising.
    ``other``
        The divergence of the two tables, or with ``mmd=True`` a two-sample test by a ``kernel``.
    ``source=[0.1, 0.9]``
        Typical strings of a source with these probabilities; with data, of this column.

    Further options: ``unit`` ('bits', 'nats'), ``estimator`` of entropies from counts, ``neighbours``, ``bootstrap``,
    ``level``, ``smoothing``.

    Returns a Result with the names and numbers of ``credence info --json``; ``to_pandas()`` has the table in it.

    Examples
    --------
    >>> credence.info("iris.csv").to_pandas()
    >>> credence.info(frame, mutual=["bmi", "progression"], permutations=199).mutual
    """
    known = known_names("cr_info_question_table")
    for name in options:
        if name not in known:
            raise TypeError(f"info has no option {name!r}; options: seed, {', '.join(known)}")
    first, second = (None if given is None else _table(given) for given in (data, other))
    pointers = [None if table is None else table._handle.pointer for table in (first, second)]
    with filled("cr_info_question_table", options) as values:
        found = json_of(lib.cr_info_report, *pointers, values, seed)
    return Result(found, next(name for name in TABLES if name in found))


def describe(data):
    """The contents of data, a frame, a dict of columns, a Table or a path: type, missing values, levels, and min,
    mean, sd and max of each column.  For a fitted estimator or a Network, the result of its own ``describe``.

    Returns a Result with the names and numbers of ``credence describe --json``; ``to_pandas()`` has a row for each column.

    Examples
    --------
    >>> credence.describe("iris.csv").to_pandas()
    """
    if hasattr(data, "_fitted") or hasattr(data, "query") and hasattr(data, "infer"):
        return data.describe()
    table = _table(data)
    return Result(json_of(lib.cr_table_report, table._handle.pointer), "columns")
