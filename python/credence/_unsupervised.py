"""Estimators without a target: densities, clusters, coordinates.  A model may be several of them."""
import numpy as np

from . import _inputs
from ._columns import is_sparse
from ._fitting import WEIGHTS, Fitting, draw_count, random_seed
from ._table import Table


class Unsupervised(Fitting):
    """What estimators without a target share."""

    target = None

    def _training_table(self, X, y, sample_weight):
        """(table, None, weights, width of X, names of X or None); y is not looked at."""
        if isinstance(X, Table):
            if sample_weight is not None:
                raise ValueError("a Table holds its weights: name the column with the parameter weights "
                                 "instead of passing sample_weight")
            names = [name for name in X.columns if name != self.weights]
            return X, None, self.weights, len(names), names
        features = _inputs.read_features(X)
        table, weights = _inputs.feature_table(features, features.names), self.weights
        if sample_weight is not None:
            weights = _inputs.free_name([self.weights, WEIGHTS],
                                        features.names or _inputs.plain_names(features.width))
            table._add_numbers(weights, _inputs.read_weights(sample_weight, features.rows))
        features = _inputs.without(features, [self.weights])
        return table, None, weights, features.width, features.names

    def fit(self, X, y=None, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), DataFrame or credence.Table
            Columns without names are called x1, x2, ...  In a DataFrame, columns of strings and categories are
            categories.  A float64 array is not copied.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts twice.
        """
        table, _, weights, width, names = self._training_table(X, y, sample_weight)
        self._fit_table(table, None, weights)
        self._remember(width, names)
        return self


class Density(Unsupervised):
    """Estimators of the distribution that rows come from."""

    _estimator_type = "DensityEstimator"

    def score_samples(self, X):
        """The log density of every row."""
        return self._ask(X, lambda model, table: model.log_density(table))

    def score(self, X, y=None, sample_weight=None):
        """The mean log density of the rows; y is ignored."""
        return float(np.average(self.score_samples(X), weights=sample_weight))

    def sample(self, n_samples=1, random_state=None):
        """Rows drawn from the model: an array (n_samples, n_columns) of the columns it was fitted to, of objects if
        some are strings.

        random_state is an integer, a numpy generator, or None for the parameter ``seed``; the same integer gives the
        same draws."""
        model = self._fitted()
        return model.sample(draw_count(n_samples), random_seed(random_state, self.seed))


class Next:
    """Models that say what the next row would be."""

    def predict_next(self, level=0.95):
        """The predictive distribution of each column of the next row, by the name of the column.

        For a column of numbers: its mean, sd, and lower and upper, the ends of the central interval of mass `level`.
        For categories, or numbers that the model treats as such: probability, a dict from levels to their
        probabilities."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, which is not between 0 and 1")
        model = self._fitted()
        told = model.next(level)
        told.update((name, {"probability": levels}) for name, levels in model.next_levels().items())
        return {name: told[name] for name in model.columns if name in told}


class Groups(Unsupervised):
    """Estimators that put rows into groups."""

    _estimator_type = "clusterer"

    def fit(self, X, y=None, sample_weight=None):
        if is_sparse(X):
            raise TypeError("sparse data are not supported by models of clusters, which fill in the zeros: "
                            "X.toarray() does")
        super().fit(X, y, sample_weight)
        self.labels_ = self.predict(X)
        return self

    fit.__doc__ = Unsupervised.fit.__doc__

    @property
    def cluster_names_(self):
        return np.array(self._fitted().labels(), dtype=object)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fits the model and returns the cluster of every row, counted from 0."""
        return self.fit(X, y, sample_weight).labels_


class Cluster(Groups):
    """Groups that a row belongs to with a probability."""

    def predict_proba(self, X):
        """The probability of each cluster, in the order of ``cluster_names_``, for every row."""
        return self._answers(X).probability

    def predict(self, X):
        """The most probable cluster of every row, counted from 0."""
        return np.argmax(self.predict_proba(X), axis=1)


class Nearest(Groups):
    """Groups of which a row belongs to the nearest."""

    def distances(self, X):
        """The distance to each cluster, in the order of ``cluster_names_`` and in the units of the columns as
        scaled, for every row."""
        return self._answers(X).vector

    def predict(self, X):
        """The nearest cluster of every row, counted from 0."""
        return np.argmin(self.distances(X), axis=1)


class Transform(Unsupervised):
    """Estimators that give rows new coordinates."""

    def transform(self, X):
        """The coordinates of every row."""
        return self._answers(X).vector

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fits the model and returns the coordinates of every row."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features=None):
        """The names of the coordinates; input_features is only checked against the names seen in fit."""
        model = self._fitted()
        seen = getattr(self, "feature_names_in_", None)
        if input_features is not None and seen is not None and list(input_features) != list(seen):
            raise ValueError("input_features is not equal to feature_names_in_")
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features "
                             f"({self.n_features_in_}), got {len(input_features)}")
        return np.array(model.labels(), dtype=object)


class Outliers:
    """Models that tell rows like those of the fit from others, in the words of scikit-learn."""

    def decision_function(self, X):
        """How far every row is inside (above 0) or outside the rows of the fit."""
        return self.transform(X)[:, 0]

    def predict(self, X):
        """1 for every row like those of the fit, -1 for the others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
