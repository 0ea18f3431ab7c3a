"""Regressors and classifiers: fit, update, predict, draw, decide and score."""
import numpy as np

from . import _decisions, _inputs, _labels
from ._fitting import WEIGHTS, Fitting, draw_count, random_seed
from ._table import Table

TARGET = "y"   # what the column of y is called when nothing names it


class Supervised(Fitting):
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
        features = _inputs.of_series(X, y) if self._is_series else None
        if features is None:
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

    # --- fit

    def fit(self, X, y=None, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), scipy.sparse matrix, DataFrame or credence.Table
            None of a model of series that stands alone.  Columns without names are called x1, x2, ...  In a DataFrame, columns of strings and categories are
            categories.  A float64 array is not copied, nor is a CSR matrix of float64; other sparse formats are
            converted to CSR.
        y : array-like of shape (n_samples,)
            The target.  Its column is named by the parameter ``target``, or by the name of a Series, or else y.  It
            can be omitted if ``target`` names a column of X.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts twice.
        """
        table, target, weights, width, names = self._training_table(X, y, sample_weight)
        self._fit_table(table, target, weights)
        self._remember(width, names)
        return self

    def _observed(self, X, y):
        """y, or the target column when X is a table."""
        return X[self._fitted().target] if y is None and isinstance(X, Table) else y

    def _draws(self, X, n_samples, random_state):
        count = draw_count(n_samples)
        self._fitted()
        seed = random_seed(random_state, self.seed)
        return self._ask(X, lambda model, table: model.sample_targets(table, count, seed))

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

    def sample(self, X, n_samples=1, random_state=None):
        """Draws from the predictive distribution, noise included: an array (n_rows, n_samples).

        random_state is an integer, a numpy generator, or None for the parameter ``seed``; the same integer gives the
        same draws."""
        return self._draws(X, n_samples, random_state)

    def decide(self, X, loss="squared"):
        """(action, expected_loss) for every row: the number of least expected loss under the predictive distribution,
        and that loss.

        loss is 'squared' (the mean), 'absolute' (the median), 'quantile:0.9' (too little costs nine times as
        much as too much), '0-1' (the mode), or, for counts, the path of a CSV file with a matrix: then the
        actions are its names."""
        with _decisions.loss(loss, None, ()) as (given, actions):
            chosen, expected = self._ask(X, lambda model, table: model.decide(table, given))
            return _names(chosen, actions) if actions else chosen, expected

    def score(self, X, y=None, sample_weight=None):
        """R², the share of the variance of y explained."""
        y = np.asarray(self._observed(X, y), dtype=np.float64)
        mean = self.predict(X)
        y = _inputs.read_numbers(y, len(mean))
        w = np.ones(len(y)) if sample_weight is None else _inputs.read_weights(sample_weight, len(y))
        left, total = w @ (y - mean) ** 2, w @ (y - np.average(y, weights=w)) ** 2
        if total == 0:
            return 1.0 if left == 0 else 0.0
        return float(1 - left / total)


def _names(indices, names):
    """The names that indices stand for; None for NaN, in an array that can hold it."""
    known = ~np.isnan(indices)
    chosen = np.asarray(names)[np.where(known, indices, 0).astype(int)]
    if known.all():
        return chosen
    chosen = chosen.astype(object)
    chosen[~known] = None
    return chosen


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

    def _in_order(self, texts):
        """For each class of the model the place of its label in classes_."""
        places = _labels.order(self.classes_, texts)
        return np.argsort(places)

    def _shares(self, X):
        """What orders the classes of a row, in the order of ``classes_``: their probabilities, if there are any."""
        answers = self._answers(X)
        return answers.probability[:, _labels.order(self.classes_, answers.classes)]

    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``, for every row."""
        return self._shares(X)

    def predict_log_proba(self, X):
        """The logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X):
        """The most probable class of every row."""
        best = np.argmax(self._shares(X), axis=1)
        return self.classes_[best]

    def sample(self, X, n_samples=1, random_state=None):
        """Draws from the predictive distribution: an array of classes (n_rows, n_samples).

        random_state is an integer, a numpy generator, or None for the parameter ``seed``; the same integer gives the
        same draws."""
        draws = self._draws(X, n_samples, random_state)
        return _names(draws, self.classes_[self._in_order(self._model.classes)])

    def decide(self, X, loss="0-1", actions=None):
        """(action, expected_loss) for every row: the action of least expected loss under the probabilities of the
        classes, and that loss.

        loss is '0-1' (the most probable class), an array with a row for each action and a column for each
        class in the order of ``classes_``, or the path of a CSV file with such a matrix.  The actions of an array are
        the classes, or those given as ``actions``."""
        classes = self._fitted().classes
        texts = [classes[k] for k in _labels.order(self.classes_, classes)]
        if actions is None and not isinstance(loss, str) and not hasattr(loss, "__fspath__"):
            actions = self.classes_
        with _decisions.loss(loss, actions, texts) as (given, named):
            chosen, expected = self._ask(X, lambda model, table: model.decide(table, given))
            return _names(chosen, named or self.classes_[self._in_order(classes)]), expected

    def score(self, X, y=None, sample_weight=None):
        """The accuracy: the share of rows whose most probable class is right."""
        y = self._observed(X, y)
        right = self.predict(X) == np.asarray(_inputs.read_vector(y, len(X)))
        return float(np.average(right, weights=sample_weight))
