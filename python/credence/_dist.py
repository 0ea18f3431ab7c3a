"""Distributions: the calculator of the shell on arrays."""
import ctypes

import numpy as np

from . import _columns, _errors
from . import _declarations as c
from ._context import call, current, work
from ._fitting import draw_count, random_seed
from ._library import lib
from ._result import Result

SYNONYMS = {"scale": ("rate", "1 / scale"), "variance": ("sd", "the root of the variance"),
            "precision": ("sd", "1 / the root of the precision")}


def distributions():
    """The names of all distributions that ``dist`` knows."""
    return [lib.cr_dist_name(lib.cr_dist_at(i)).decode() for i in range(lib.cr_dist_count())]


def _declared(family):
    """The declared parameters."""
    found = []
    while lib.cr_dist_parameter(family, len(found)):
        found.append(lib.cr_dist_parameter(family, len(found)).contents)
    return found


class Distribution:
    """A distribution with its parameters; ``credence.dist`` makes one.

    Methods take numbers or arrays and return the same shape.  Location and scale default to 0 and 1; without its other
    parameters a family can only be fitted.

    Attributes
    ----------
    name : str
        Of the family.
    parameters : dict
        The parameters by name: numbers, or arrays for vectors and matrices.
    log_likelihood : float
        Of the data, after ``fit``.
    """

    def __init__(self, name, *values, **named):
        self.name = name.replace("_", "-")
        context = current()
        self._family = lib.cr_dist_find(context.handle, self.name.encode())
        if not self._family:
            hint = lib.cr_error_hint(context.handle)
            raise ValueError(lib.cr_error(context.handle).decode() + (f"\nhint: {hint.decode()}" if hint else ""))
        self._declared = _declared(self._family)
        self.parameters = self._named(values, named)
        self.log_likelihood = None
        standard = {p.name.decode(): float(p.example) for p in self._declared if p.standard}
        known = standard | self.parameters
        given = [known[p.name.decode()] for p in self._declared if p.name.decode() in known]
        self._complete = len(given) == len(self._declared)
        self._values = np.concatenate([np.ravel(x) for x in given]) if given else np.empty(0)
        if self._complete:
            call(lib.cr_dist_check, self._family, self._values.ctypes.data, len(self._values))

    def _named(self, values, named):
        names = [p.name.decode() for p in self._declared]
        if len(values) > len(names):
            raise TypeError(f"{self.name} has {len(names)} parameters ({', '.join(names)}), but {len(values)} are given")
        found = dict(zip(names, values))
        for name, value in named.items():
            if name in found:
                raise TypeError(f"{self.name}: {name} is given twice")
            if name not in names:
                known, how = SYNONYMS.get(name, ("", ""))
                hint = f"; its parameter is {known}, which is {how}" if known in names else f"; it has {', '.join(names)}"
                raise TypeError(f"{self.name} has no parameter {name!r}{hint}")
            found[name] = value
        shapes = {p.name.decode(): p.shape for p in self._declared}
        return {name: float(found[name]) if shapes[name] == c.SHAPE_SCALAR else np.array(found[name], dtype=np.float64)
                for name in names if name in found}

    def __repr__(self):
        shown = ", ".join(f"{name}={value if np.ndim(value) == 0 else value.tolist()!r}"
                          for name, value in self.parameters.items())
        return f"credence.dist({self.name!r}{', ' if shown else ''}{shown})"

    def __reduce__(self):
        return _restore, (self.name, self.parameters, self.log_likelihood)

    def _known(self):
        """(family, parameters, how many) for a call."""
        if not self._complete:
            missing = next(p for p in self._declared if not p.standard and p.name.decode() not in self.parameters)
            raise ValueError(f"{self.name}: {missing.name.decode()} is missing: {missing.help.decode()}; "
                             f"{missing.domain.decode()}\nhint: for example {missing.name.decode()}={missing.example.decode()}"
                             ", or fit it to data")
        return self._family, self._values.ctypes.data, len(self._values)

    @property
    def _is_vector(self):
        return lib.cr_dist_is_vector(self._family)

    def _size(self):
        return lib.cr_dist_point_size(self._family, len(self._values))

    # --- at points

    def _points(self, quantity, x):
        """A quantity at every number of x; NaN where it is missing."""
        known, x = self._known(), np.asarray(_columns.unmasked(x), dtype=np.float64)
        there = ~np.isnan(x)
        points, values = np.ascontiguousarray(x[there]), np.full(x.shape, np.nan)
        found = np.empty(len(points))
        work(lib.cr_dist_points, *known, quantity.encode(), points.ctypes.data, len(points),
             found.ctypes.data).pass_warnings_on()
        values[there] = found
        return values if values.ndim else float(values)

    def logpdf(self, x):
        """The log density, or log mass; for vectors x is a point, or an array with one point per row."""
        if not self._is_vector:
            return self._points("logpdf", x)
        known, x = self._known(), np.asarray(_columns.unmasked(x), dtype=np.float64)
        size = self._size()
        points = np.ascontiguousarray(x.reshape(-1, size)) if x.size % size == 0 else None
        if points is None or (x.ndim > 1 and x.shape[-1] != size and x[0].size != size):
            raise ValueError(f"points of {self.name} have {size} entries here, not the shape {x.shape}")
        values = np.empty(len(points))
        work(lib.cr_dist_vector_logpdf, *known, points.ctypes.data, len(points), values.ctypes.data).pass_warnings_on()
        return float(values[0]) if x.size == size and x.ndim == 1 else values

    def pdf(self, x):
        """The density, or mass."""
        if self._is_vector:
            return np.exp(self.logpdf(x))
        return self._points("pdf", x)

    def cdf(self, x):
        """P(X <= x)."""
        return self._points("cdf", x)

    def sf(self, x):
        """P(X > x)."""
        return self._points("sf", x)

    def logcdf(self, x):
        """log P(X <= x)."""
        return self._points("logcdf", x)

    def logsf(self, x):
        """log P(X > x), even where P is too small for a double."""
        return self._points("logsf", x)

    def quantile(self, p):
        """The smallest x with P(X <= x) >= p."""
        return self._points("quantile", p)

    # --- numbers that sum it up

    def _number(self, name, whole=False):
        known = self._known()
        vector = self._is_vector
        values = np.empty(self._size() if vector and not whole else 1)
        call(getattr(lib, f"cr_dist_{'vector_' if vector else ''}{name}"), *known, values.ctypes.data)
        return values if vector and not whole else float(values[0])

    def mean(self):
        """The mean; for vectors, that of each entry."""
        return self._number("mean")

    def variance(self):
        """The variance; for vectors, that of each entry."""
        return self._number("variance")

    def sd(self):
        """The standard deviation; for vectors, that of each entry."""
        root = np.sqrt(self._number("variance"))
        return root if np.ndim(root) else float(root)

    def mode(self):
        """Where the density is highest."""
        return self._number("mode")

    def entropy(self):
        """The entropy in nats."""
        return self._number("entropy", whole=True)

    def _ends(self, function, level):
        low, high = ctypes.c_double(), ctypes.c_double()
        call(function, *self._known(), level, low, high)
        return low.value, high.value

    def interval(self, level=0.95):
        """(lower, upper) of the central interval of this mass."""
        return self._ends(lib.cr_dist_interval, level)

    def hdi(self, level=0.95):
        """(lower, upper) of the shortest interval of this mass."""
        return self._ends(lib.cr_dist_hdi, level)

    def kl(self, other):
        """The Kullback-Leibler divergence from this distribution to another of the same family, in nats."""
        if not isinstance(other, Distribution) or other.name != self.name:
            raise ValueError(f"kl goes to another {self.name}")
        found, (family, p, n), (_, q, m) = ctypes.c_double(), self._known(), other._known()
        if self._is_vector:
            if n != m:
                raise ValueError(f"the two have {n} and {m} parameters: their dimensions differ")
            call(lib.cr_dist_vector_kl, family, p, q, n, found)
        else:
            call(lib.cr_dist_kl, family, p, n, q, m, found)
        return found.value

    def describe(self):
        """Parameters, mean, variance, sd, mode, entropy and quantiles, as far as they exist: what
        ``credence dist --json`` prints."""
        found = {"distribution": self.name, "parameters": {name: value if np.ndim(value) == 0 else value.ravel().tolist()
                                                           for name, value in self.parameters.items()}}
        self._known()
        for name in ("mean", "variance", "sd", "mode", "entropy"):
            try:
                value = getattr(self, name)()
            except (NotImplementedError, RuntimeError):
                continue     # there is none
            found[name] = value.tolist() if np.ndim(value) else value
        if not self._is_vector and lib.cr_dist_offers(self._family, b"quantile"):
            found["quantile"] = self.quantile([0.025, 0.5, 0.975]).tolist()
        return Result(found)

    # --- draws and fits

    def sample(self, n_samples=1, random_state=None):
        """Draws: an array of n_samples numbers, or of n_samples points for vectors.  An integer random_state is the
        same as ``--seed`` in the shell."""
        known, count = self._known(), draw_count(n_samples)
        stream = lib.cr_rng_stream(random_seed(random_state, 0), 0)
        vector = self._is_vector
        values = np.empty((count, self._size()) if vector else count)
        work(lib.cr_dist_vector_sample if vector else lib.cr_dist_sample, *known, stream, count,
             values.ctypes.data).pass_warnings_on()
        return values

    def fit(self, x, sample_weight=None):
        """A new distribution of this family, fitted to the data by maximum likelihood, with ``log_likelihood``.

        Parameters that are not fitted, such as the number of trials of a binomial, are those given to ``dist``.
        Missing values are left out.  For vectors, x has one point per row."""
        x = np.asarray(_columns.unmasked(x), dtype=np.float64)
        vector = self._is_vector
        if x.ndim != (2 if vector else 1):
            raise ValueError(f"{self.name} is fitted to {'rows of points' if vector else 'one dimension of numbers'}, "
                             f"not to the shape {x.shape}")
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weight is not None and weight.shape != x.shape[:1]:
            raise ValueError(f"sample_weight.shape == {weight.shape}, expected {x.shape[:1]}!")
        there = ~np.isnan(x if x.ndim == 1 else x.sum(axis=1))
        if not there.all():
            _errors.warn(f"{int((~there).sum())} of {len(x)} rows have missing values and are left out",
                         _errors.CredenceWarning)
        x = np.ascontiguousarray(x[there])
        weight = None if weight is None else np.ascontiguousarray(weight[there])
        values, sizes = self._room(x)
        likelihood = ctypes.c_double()
        work(lib.cr_dist_vector_fit if vector else lib.cr_dist_fit, self._family, x.ctypes.data,
             None if weight is None else weight.ctypes.data, len(x), values.ctypes.data, len(values),
             likelihood).pass_warnings_on()
        parts = np.split(values, np.cumsum([int(np.prod(size)) for size in sizes.values()])[:-1])
        fitted = {name: float(part[0]) if size == () else part.reshape(size)
                  for (name, size), part in zip(sizes.items(), parts)}
        return _restore(self.name, fitted, likelihood.value)

    def _room(self, x):
        """(parameters with those that are given, the shape of each by name) for a fit to x."""
        if self._is_vector:
            n = lib.cr_dist_parameters_for(self._family, x.shape[1])
            if n == 0:
                raise ValueError(f"a point of {self.name} cannot have {x.shape[1]} entries")
        else:
            n = len(self._declared)
            if self._declared[0].shape == c.SHAPE_VECTOR:   # as many categories as the data show
                n = int(x.max(initial=0)) + 1
        d = next(d for d in range(1, n + 1) if sum(d ** p.shape for p in self._declared) >= n)
        sizes = {p.name.decode(): (d,) * p.shape for p in self._declared}
        values = np.full(n, np.nan)
        for i, p in enumerate(self._declared):
            name = p.name.decode()
            if p.given and name not in self.parameters:
                raise ValueError(f"{self.name}: {name} is missing: it is given, not fitted; "
                                 f"for example credence.dist({self.name!r}, {name}={p.example.decode()}).fit(x)")
            if p.given:
                values[i] = self.parameters[name]
        return values, sizes


def _restore(name, parameters, log_likelihood):
    made = Distribution(name, **parameters)
    made.log_likelihood = log_likelihood
    return made


def dist(name, *parameters, **named):
    """A distribution by name, with parameters in order or by name; without them, a family to be fitted.

    Names are those of ``credence dist``; ``distributions()`` lists them.

    Examples
    --------
    >>> beta = credence.dist("beta", 12, 3)
    >>> beta.mean(), beta.cdf([0.5, 0.8]), beta.interval(0.9)
    >>> credence.dist("normal", mean=0, sd=1).logsf(40.0)
    >>> fitted = credence.dist("gamma").fit(values)
    >>> fitted.parameters, fitted.log_likelihood
    """
    return Distribution(name, *parameters, **named)
