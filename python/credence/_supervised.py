"""Regressors and classifiers: fit, update, predict and score on the forms of data scikit-learn takes."""
import numpy as np

from . import _errors, _inputs, _labels
from ._estimator import Estimator
from ._model import Model
from ._table import Table

TARGET, WEIGHTS = "y", "sample_weight"   # what the columns are called that X does not name


class Supervised(Estimator):
    """What estimators with a target share."""

    def _read_target(self, y, rows):
        """y as what Table can add as a column."""
        raise NotImplementedError

    # --- the table of a fit

    def _roles(self, y, features, sample_weight):
        """The names of the columns for y and the weights; the latter None without weights."""
        taken = features.names or _inputs.plain_names(features.width)
        if y is None:
            target = self.target
        else:
            target = _inputs.free_name([self.target, _series_name(y), TARGET], taken)
        if sample_weight is None:
            return target, self.weights
        return target, _inputs.free_name([self.weights, WEIGHTS], [*taken, target])

    def _check_has_target(self, y, names):
        if y is None and (self.target is None or self.target not in (names or ())):
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _training_table(self, X, y, sample_weight):
        """(table, target, weights, width of X, names of X or None)."""
        if isinstance(X, Table):
            if y is not None or sample_weight is not None:
                raise ValueError("a Table holds its target and weights: name these columns with the "
                                 "parameters target and weights instead of passing y and sample_weight")
            self._check_has_target(y, X.columns)
            names = [n for n in X.columns if n not in (self.target, self.weights)]
            return X, self.target, self.weights, len(names), names
        features = _inputs.read_features(X)
        self._check_has_target(y, features.names)
        target, weights = self._roles(y, features, sample_weight)
        table = _inputs.feature_table(features, features.names)
        if y is not None:
            table._add(target, self._read_target(y, features.rows))
        if sample_weight is not None:
            table._add_numbers(weights, _inputs.read_weights(sample_weight, features.rows))
        features = _inputs.without(features, [self.target if y is None else None, self.weights])
        return table, target, weights, features.width, features.names

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

    # --- fit

    def fit(self, X, y=None, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), DataFrame or credence.Table
            Without names the columns are called x1, x2, ...  Of a DataFrame, texts and categories are
            categories.  A float64 array is not copied.
        y : array-like of shape (n_samples,)
            The target.  Its column is called after the parameter ``target``, else the name of a Series,
            else y.  May be left out when ``target`` names a column of X.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts twice.
        """
        table, target, weights, width, names = self._training_table(X, y, sample_weight)
        pairs = self._settings(target=target, weights=weights)
        self._keep(self._run(lambda: Model.fit(self._model_name, table, pairs), table, target))
        self._remember(width, names)
        return self

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
        features, names = self._features(X, model)
        table = _inputs.feature_table(features, names)
        if y is not None:
            table._add(model.target, self._read_target(y, features.rows))
        if sample_weight is not None:
            table._add_numbers(model.weights, _inputs.read_weights(sample_weight, features.rows))
        return table

    def _answers(self, X, **wanted):
        model, table = self._fitted(), self._table(X)
        return self._run(lambda: model.predict(table, **wanted), table, model.target)

    def _observed(self, X, y):
        """y, or the target column when X is a table."""
        return X[self._fitted().target] if y is None and isinstance(X, Table) else y

    # --- linear models

    def _coefficients(self):
        """(intercept, one value per term) of a model whose parameters are these."""
        parameters, terms = self.parameters_, self._model.terms
        lead = len(parameters) - len(terms)
        if lead not in (0, 1) or [p["name"] for p in parameters[lead:]] != terms:
            raise AttributeError(f"{type(self).__name__} has no coefficients")
        values = [np.nan if p["value"] is None else p["value"] for p in parameters]
        return values[0] if lead else 0.0, np.array(values[lead:])

    @property
    def coef_(self):
        return self._coefficients()[1]

    @property
    def intercept_(self):
        return self._coefficients()[0]


def _series_name(y):
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None


class Regressor(Supervised):
    """Estimators that predict numbers."""

    _estimator_type = "regressor"

    def _read_target(self, y, rows):
        return _inputs.read_numbers(y, rows)

    def predict(self, X, return_std=False):
        """The predictive mean of every row; with return_std=True also the standard deviation."""
        answers = self._answers(X, sd=return_std)
        return (answers.mean, answers.sd) if return_std else answers.mean

    def predict_interval(self, X, level=0.95):
        """(lower, upper): the ends of the central predictive interval of mass `level` of every row."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, which is not between 0 and 1")
        answers = self._answers(X, level=level)
        return answers.lower, answers.upper

    def score(self, X, y=None, sample_weight=None):
        """R², the share of the variance of y that is explained."""
        y = np.asarray(self._observed(X, y), dtype=np.float64)
        mean = self.predict(X)
        y = _inputs.read_numbers(y, len(mean))
        w = np.ones(len(y)) if sample_weight is None else _inputs.read_weights(sample_weight, len(y))
        left, total = w @ (y - mean) ** 2, w @ (y - np.average(y, weights=w)) ** 2
        if total == 0:
            return 1.0 if left == 0 else 0.0
        return float(1 - left / total)


class Classifier(Supervised):
    """Estimators that predict classes."""

    _estimator_type = "classifier"

    def _read_target(self, y, rows):
        return _labels.column(_inputs.read_vector(y, rows))

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = _labels.from_texts(self._model.classes) if y is None else np.unique(np.asarray(y))
        return self

    fit.__doc__ = Supervised.fit.__doc__

    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``, for every row."""
        answers = self._answers(X)
        return answers.probability[:, _labels.order(self.classes_, answers.classes)]

    def predict_log_proba(self, X):
        """The logarithm of predict_proba."""
        return np.log(self.predict_proba(X))

    def predict(self, X):
        """The most probable class of every row."""
        most_likely = np.argmax(self.predict_proba(X), axis=1)  # first: says so when there is no fit
        return self.classes_[most_likely]

    def score(self, X, y=None, sample_weight=None):
        """The accuracy: the share of rows whose most probable class is right."""
        y = self._observed(X, y)
        right = self.predict(X) == np.asarray(_inputs.read_vector(y, len(X)))
        return float(np.average(right, weights=sample_weight))
