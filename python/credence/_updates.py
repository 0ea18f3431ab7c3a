"""partial_fit: models whose posterior takes in new rows exactly."""
import types

import numpy as np

from . import _columns, _inputs, _labels
from ._table import Table


SAME = "the same as a fit to all rows so far."
HELD = "the posterior is exact, but hyper-parameters stay as learned in the first call."
NEAR = "close to a fit to all rows so far: only a summary of the old rows is kept."


class RowUpdates:
    """Models whose posterior takes in new rows exactly."""

    def partial_fit(self, X, y=None, sample_weight=None):
        """Adds rows to the model: the same as a fit to all rows so far.  The parameters are
        those of the first call."""
        if self._model is None:
            if sample_weight is None and self.weights is None and not isinstance(X, Table):
                sample_weight = 1.0   # so that later rows may have weights
            return self.fit(X, y, sample_weight)
        model = self._model
        if sample_weight is not None and model.weights is None:
            raise ValueError("sample_weight is given, but the model was fitted without weights")
        if sample_weight is None and model.weights is not None and not isinstance(X, Table):
            sample_weight = _inputs.frame_column(X, model.weights, 1.0)
        table = self._table(X, y if model.target else None, sample_weight)
        self._keep(self._run(lambda: model.update(table), table, model.target))
        return self


class Updates(RowUpdates):
    """The same with a target."""

    def partial_fit(self, X, y=None, sample_weight=None):
        if self._model is not None and y is None:
            y = _inputs.frame_column(X, self._model.target)
        if self._model is not None and y is None and not isinstance(X, Table):
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return super().partial_fit(X, y, sample_weight)

    partial_fit.__doc__ = RowUpdates.partial_fit.__doc__


def _with_first_row(X, times):
    """X and its first row, so many times more: an array, a frame or a sparse matrix."""
    if _inputs.is_frame(X):
        import pandas
        return pandas.concat([X, X.iloc[[0] * times]], ignore_index=True)
    if hasattr(X, "tocsr"):
        from scipy import sparse
        return sparse.vstack([X, X.tocsr()[[0] * times]], format="csr")
    X = np.asarray(_columns.unmasked(X))
    return np.concatenate([X, X[[0] * times]])


def _with_classes(X, y, sample_weight, absent):
    """X, y and weights with a row of weight 0 for each class that has none: it counts for nothing, and the
    model knows the class."""
    weights = _inputs.read_weights(1.0 if sample_weight is None else sample_weight, len(y))
    return (_with_first_row(X, len(absent)), np.concatenate([np.asarray(y), absent]),
            np.append(weights, np.zeros(len(absent))))


class ClassUpdates(Updates):
    """The same for classifiers: the first call names all classes there will be."""

    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Adds rows to the model: the same as a fit to all rows so far.  The parameters are
        those of the first call.  Give ``classes`` in the first call if its rows do not have all classes."""
        if self._model is None and classes is not None and y is not None and not isinstance(X, Table):
            absent = np.setdiff1d(classes, _labels.check(y))
            if len(absent):
                X, y, sample_weight = _with_classes(X, y, sample_weight, absent)
        if self._model is not None and y is not None:
            self._know(np.setdiff1d(_labels.check(y), self.classes_))
        return super().partial_fit(X, y, sample_weight)

    def _know(self, new):
        if len(new):
            raise ValueError(f"y has the class {new.tolist()[0]!r}, which the model has not seen; the first call names all "
                             "classes there will be: partial_fit(X, y, classes=[...])")


def held(partial_fit, holds=True):
    """partial_fit of a model that keeps what the first fit learned, or forgets the old rows: it says so."""
    made = types.FunctionType(partial_fit.__code__, partial_fit.__globals__, partial_fit.__name__,
                              partial_fit.__defaults__, partial_fit.__closure__)
    made.__doc__ = partial_fit.__doc__.replace(SAME, HELD if holds else NEAR)
    return made
