"""Estimators whose models work in a space of their own: transform gives the rows' places in it."""
import numpy as np

from . import _columns


class Coordinates:
    """Beside what an estimator predicts, the coordinates of the rows."""

    def transform(self, X):
        """The coordinates of every row, one column for each name of get_feature_names_out."""
        model, table = self._fitted(), self._table(X)
        return self._run(lambda: model.transform(table), table, model.target)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fits the model and returns the coordinates of its rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features=None):
        """The names of the coordinates."""
        return np.array(self._fitted().coordinates, dtype=object)


class WayBack:
    """From coordinates to rows."""

    def inverse_transform(self, X):
        """The rows of numbers reconstructed from coordinates, as given by transform: the nearest ones found in the
        space of the model."""
        model = self._fitted()
        Z = np.asarray(_columns.unmasked(X), dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != len(model.labels()):
            raise ValueError(f"coordinates are rows of {len(model.labels())} numbers, not of shape {Z.shape}")
        return model.reconstruct(Z)
