"""The estimator protocol of scikit-learn, spoken without it: parameters, clone, tags, fitted or not.

Parameters are the options of the model, each stored as it was given; the library checks them in fit."""
import os
from inspect import Parameter, Signature

from . import _errors
from ._docs import option_hint
from ._options import is_default, to_text
from ._result import Result, Rows
from ._tags import Tags


def make_init(options):
    """An __init__ with these options as keywords; inspect shows them one by one."""
    defaults = {option.name: option.default for option in options}

    def __init__(self, **given):
        for name in given:
            if name not in defaults:
                import difflib   # only a mistake needs it
                near = difflib.get_close_matches(name, defaults, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}{hint}")
        self.__dict__.update(defaults)
        self.__dict__.update(given)

    __init__.__signature__ = Signature(
        [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
        + [Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default,
                     annotation=option_hint(option)) for option in options])
    return __init__


class Estimator(Tags):
    """What every estimator has."""

    _options = ()           # of the model class, of the design, and of every fit
    _model_name = ""        # in the registry
    _model = None           # the fitted model

    # --- parameters

    def get_params(self, deep=True):
        """The parameters by name."""
        return {option.name: getattr(self, option.name) for option in self._options}

    def set_params(self, **params):
        """Sets parameters by name; they take effect at the next fit."""
        known = [option.name for option in self._options]
        for name in params:
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. "
                                 f"Valid parameters are: {known!r}.")
        self.__dict__.update(params)
        return self

    def __repr__(self):
        shown = [f"{option.name}={getattr(self, option.name)!r}" for option in self._options
                 if repr(getattr(self, option.name)) != repr(option.default)]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _settings(self, **others):
        """Pairs of name and text for the library: the parameters that are not the default, and others."""
        pairs = {option.c_name: to_text(option, getattr(self, option.name)) for option in self._options
                 if not is_default(option, getattr(self, option.name))}
        pairs.update((name, value) for name, value in others.items() if value is not None)
        return list(pairs.items())

    # --- fitted or not

    def __sklearn_is_fitted__(self):
        return self._model is not None

    def _fitted(self):
        """The fitted model."""
        if self._model is None:
            raise _errors.matching(_errors.NotFittedError)(
                f"This {type(self).__name__} instance is not fitted yet. "
                "Call 'fit' with appropriate arguments before using this estimator.")
        return self._model

    # --- what a fit leaves behind

    @property
    def report_(self):
        return self._fitted().report()

    @property
    def parameters_(self):
        return Rows(self._fitted().describe().get("parameters", []))

    @property
    def statistics_(self):
        return self._fitted().describe().get("statistics", {})

    def _report_value(self, name):
        value = self._fitted().report()[name]
        if value is None:
            raise AttributeError(f"{type(self).__name__} has no {name.replace('_', ' ')}")
        return value

    @property
    def log_evidence_(self):
        return self._report_value("log_evidence")

    @property
    def log_likelihood_(self):
        return self._report_value("log_likelihood")

    def describe(self):
        """Everything about the fitted model: the same as ``credence describe --json``.  ``to_pandas()`` has its
        parameters."""
        return Result(self._fitted().describe(), "parameters")

    def save(self, path):
        """Writes the fitted model to a ``.cred`` file, completely or not at all, for ``credence.load`` and the command
        line."""
        self._fitted().save(os.fspath(path))
