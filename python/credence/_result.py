"""What studies and networks answer: dicts with the names and numbers of the command line's JSON, and figures."""
import os
import pathlib
import tempfile

PLAIN = ("metrics", "settings", "states")   # parts of a row whose names say enough by themselves


def _flat(row):
    """A row of one level: parts of it are spread out, {'se': {'rmse': 1}} as rmse_se; lists are left out."""
    flat = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update({key if name in PLAIN else f"{key}_{name}": x for key, x in value.items()})
        elif not isinstance(value, list):
            flat[name] = value
    return flat


def _marginal_rows(marginals):
    """A row for each state of each variable, or for each variable that has mean and sd."""
    for variable, numbers in marginals.items():
        if set(numbers) == {"mean", "sd"}:
            yield {"variable": variable, **numbers}
        else:
            yield from ({"variable": variable, "state": state, "p": p} for state, p in numbers.items())


class Framed:
    """Things with a table: ``rows()`` is a list of flat dicts, ``to_pandas()`` a DataFrame, which notebooks show."""

    def to_pandas(self):
        """The table as a pandas DataFrame."""
        import pandas   # only who asks for it needs it
        return pandas.DataFrame(self.rows())

    def _repr_html_(self):
        try:
            return self.to_pandas()._repr_html_()
        except ImportError:
            return None   # as text


class Result(Framed, dict):
    """An answer: a dict with the names of the shell's ``--json``, also available as attributes.

    ``to_pandas()`` gives its table: marginals, models, candidates, columns, ...
    """

    def __init__(self, values, table=None):
        super().__init__(values)
        self._table = table

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"the answer has no {name!r}; it has {', '.join(self)}")

    def __dir__(self):
        return [*super().__dir__(), *self]

    def __reduce__(self):
        return Result, (dict(self), self._table)

    def rows(self):
        """The table of the answer as a list of flat dicts."""
        if self._table in ("metrics", "mean"):
            return [{"metric": name, "mean": mean, "se": self["se"][name]} for name, mean in self[self._table].items()]
        names = [self._table] if self._table in self else \
            [name for name, value in self.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if "marginals" in self and self._table is None:
            return list(_marginal_rows(self["marginals"]))
        if not names:
            return [_flat(self)]
        part = self[names[0]]
        return [_flat(row) for row in (part if isinstance(part, list) else [part])]


class Rows(Framed, list):
    """A table as a list of dicts, such as the parameters of a model."""

    def __init__(self, rows=()):
        super().__init__(rows)

    def rows(self):
        """The same as a plain list of flat dicts."""
        return [_flat(row) for row in self]


class Scores(Result):
    """Metrics by name, with NAME_se where a standard error is known; its table has a row for each metric."""

    def __init__(self, values):
        super().__init__(values)

    def __reduce__(self):
        return Scores, (dict(self),)

    def rows(self):
        """A row for each metric: metric, value, and se where there is one."""
        names = [name for name in self if not (name.endswith("_se") and name[:-3] in self)]
        return [{"metric": name, "value": self[name], **({"se": self[f"{name}_se"]} if f"{name}_se" in self else {})}
                for name in names]


class Figure:
    """A figure as SVG: ``str(figure)`` is its text, a notebook shows it, ``save`` writes it; once it is written, it
    can be used as its path."""

    def __init__(self, svg, path=None):
        self.svg, self.path = svg, path

    def __str__(self):
        return self.svg

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<credence.Figure, {len(self.svg)} characters of SVG{f', in {self.path}' if self.path else ''}>"

    def __fspath__(self):
        if self.path is None:
            raise TypeError("the figure is not in a file yet: save it first")
        return os.fspath(self.path)

    def save(self, path):
        """Writes the SVG to a file; returns the figure with its path."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")
        return Figure(self.svg, path)


def draw(path, write):
    """The figure that write(path in bytes) draws, into a file of its own without a path."""
    if path is not None:
        write(os.fsencode(path))
        return Figure(pathlib.Path(path).read_text(encoding="utf-8"), path)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "figure.svg")
        write(os.fsencode(file))
        return Figure(pathlib.Path(file).read_text(encoding="utf-8"))
