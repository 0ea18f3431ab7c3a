"""Classifiers that can say more than the probability of each class."""
from . import _labels


class Generative:
    """Beside the probability of each class, the density of the row together with it."""

    def predict_log_joint(self, X):
        """log p(row, class) for every row and class, in the order of ``classes_``; the log of the sum of their
        exponentials over the classes is log p(row), which is low for rows unlike all that were fitted."""
        model = self._fitted()
        joint = self._ask(X, lambda model, table: model.log_joint(table))
        return joint[:, _labels.order(self.classes_, model.classes)]


class ProbabilityIntervals:
    """Beside the probability of each class, how sure the model is of it."""

    def predict_proba_interval(self, X, level=0.95):
        """(lower, upper): the ends of the central interval of mass `level` of the probability of each class, in the
        order of ``classes_``, for every row, by what the data leave open of the coefficients."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, which is not between 0 and 1")
        model = self._fitted()
        order = _labels.order(self.classes_, model.classes)
        lower, upper = self._ask(X, lambda model, table: model.probability_intervals(table, level))
        return lower[:, order], upper[:, order]
