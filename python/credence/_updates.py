"""partial_fit: models whose posterior takes in new rows exactly."""
import numpy as np

from ._table import Table


class Updates:
    """Models whose posterior takes in new rows exactly."""

    def partial_fit(self, X, y=None, sample_weight=None):
        """Adds rows to what the model knows: the same as a fit on all rows so far.  The parameters are
        those of the first call."""
        if self._model is None:
            if sample_weight is None and self.weights is None and not isinstance(X, Table):
                sample_weight = 1.0   # so that later rows may have weights
            return self.fit(X, y, sample_weight)
        if y is None and not isinstance(X, Table):
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        model = self._model
        if sample_weight is not None and model.weights is None:
            raise ValueError("sample_weight is given, but the model was fitted without weights")
        table = self._table(X, y, sample_weight)
        self._keep(self._run(lambda: model.update(table), table, model.target))
        return self


class ClassUpdates(Updates):
    """The same for classifiers: all classes must be in the rows of the first call."""

    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        if self._model is None and classes is not None and y is not None:
            absent = np.setdiff1d(classes, y)
            if len(absent):
                raise NotImplementedError(f"no row of the first call has the class {absent[0]!r}")
        return super().partial_fit(X, y, sample_weight)

    partial_fit.__doc__ = Updates.partial_fit.__doc__
