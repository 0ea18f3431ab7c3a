"""What all estimators do with data: tables for fits and for fitted models, failures in the words of
scikit-learn, what is remembered of a fit."""
import numbers

import numpy as np

from . import _errors, _inputs
from ._estimator import Estimator
from ._model import Model
from ._table import Table

WEIGHTS = "sample_weight"   # what the column of weights is called when X does not name it


def random_seed(random_state, fallback):
    """A seed for the library: a whole number as it is, one drawn from a generator of numpy, or the fallback."""
    if random_state is None:
        return fallback
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state!r}, which is not a whole number from 0 on")
        return int(random_state)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise ValueError(f"random_state is {random_state!r}, neither a whole number nor a generator of numpy")
    return int(draw(2**31 - 1))


def draw_count(n_samples):
    """How many draws: a whole number from 1 on."""
    if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
        raise ValueError(f"n_samples is {n_samples!r}, which is not a whole number from 1 on")
    return int(n_samples)


class Fitting(Estimator):
    """What estimators with and without a target share."""

    _is_series = False   # the target may stand alone
    _task = None          # the name of the task, where the model does several

    def _run(self, function, table, target):
        """function(), with failures that come from the data in the words of scikit-learn."""
        try:
            return function()
        except (ValueError, RuntimeError) as e:
            if isinstance(e, NotImplementedError):
                raise
            gap = _inputs.describe_gaps(table, target) if isinstance(e, ValueError) else ""
            if gap:
                raise ValueError(gap + str(e)) from None
            if len(table) == 1:
                raise ValueError(f"{e}\nn_samples=1: one row may be too little") from None
            raise

    def _fit_table(self, table, target, weights):
        """Fits the model to a table whose columns are called so."""
        pairs = self._settings(target=target, weights=weights, task=self._task)
        self._keep(self._run(lambda: Model.fit(self._model_name, table, pairs), table, target))

    def _keep(self, model):
        self._model = model
        if not model.converged:
            _errors.warn(f"not converged: {type(self).__name__} stopped after "
                         f"{model.report()['iterations']} iterations",
                         _errors.matching(_errors.ConvergenceWarning))

    def _remember(self, width, names):
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    # --- tables for a fitted model

    def _features(self, X, model):
        """X checked against what was fitted, and the names its columns have in the model."""
        features = _inputs.without(_inputs.read_features(X), [model.target, model.weights])
        seen = getattr(self, "feature_names_in_", None)
        _inputs.check_names(self, features.names, seen)
        _inputs.check_width(self, features.width, self.n_features_in_)
        return features, None if seen is None else list(seen)

    def _table(self, X, y=None, sample_weight=None):
        """A table for predict, and with y for evaluate and update."""
        model = self._fitted()
        if isinstance(X, Table):
            return X
        features = _inputs.of_series(X, y) if self._is_series and self.n_features_in_ == 0 else None
        features, names = (features, None) if features is not None else self._features(X, model)
        table = _inputs.feature_table(features, names)
        if y is not None:
            table._add(model.target, self._read_target(y, features.rows))
        if sample_weight is not None:
            table._add_numbers(model.weights, _inputs.read_weights(sample_weight, features.rows))
        return table

    def _ask(self, X, question):
        """question(model, table) for the rows of X."""
        model, table = self._fitted(), self._table(X)
        return self._run(lambda: question(model, table), table, model.target)

    def _answers(self, X, **wanted):
        return self._ask(X, lambda model, table: model.predict(table, **wanted))
