"""Models that can say more than the probability of each class, or than the distribution of a number."""
from . import _labels


def _check_level(level):
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, which is not between 0 and 1")


class Generative:
    """Beside the probability of each class, the density of the row together with it."""

    def predict_log_joint(self, X):
        """log p(row, class) for every row and class, in the order of ``classes_``; the log of the sum of their
        exponentials over the classes is log p(row), which is low for rows unlike those of the fit."""
        model = self._fitted()
        joint = self._ask(X, lambda model, table: model.log_joint(table))
        return joint[:, _labels.order(self.classes_, model.classes)]


class ProbabilityIntervals:
    """Beside the probability of each class, how sure the model is of it."""

    def predict_proba_interval(self, X, level=0.95):
        """(lower, upper): the ends of the central interval of mass `level` of the probability of each class, in the
        order of ``classes_``, for every row, by what the data leave open of the parameters."""
        _check_level(level)
        model = self._fitted()
        order = _labels.order(self.classes_, model.classes)
        lower, upper = self._ask(X, lambda model, table: model.probability_intervals(table, level))
        return lower[:, order], upper[:, order]


class _WhereCalibrated:
    """A method that instances have where their probabilities are calibrated."""

    def __init__(self, method):
        self._method = method

    def __get__(self, instance, owner=None):
        if instance is None:
            return self._method
        if instance.calibrate not in ("platt", "isotonic"):
            raise AttributeError(f"{owner.__name__} has probabilities with calibrate='platt' or 'isotonic' only")
        return self._method.__get__(instance, owner)


class Decisions:
    """A class by the signs of functions; its probabilities once they are calibrated."""

    def decision_function(self, X):
        """Of two classes the decision of every row, above 0 for ``classes_[1]``; of more a column for each class of
        ``classes_``, whose largest is the class of the row."""
        answers = self._answers(X)
        order = _labels.order(self.classes_, answers.classes)
        if len(order) == 2:
            return answers.decision[:, 0] * (1 if order[1] else -1)
        return answers.probability[:, order]

    def pairwise_decisions(self, X):
        """The values of all machines for every row, in the order of the statistics' ``machines``."""
        return self._answers(X).decision

    @_WhereCalibrated
    def predict_proba(self, X):
        """The probability of each class, in the order of ``classes_``, for every row: with calibrate='platt' or
        'isotonic'."""
        return self._shares(X)

    @_WhereCalibrated
    def predict_log_proba(self, X):
        """The logarithm of predict_proba."""
        return super().predict_log_proba(X)


class MeanIntervals:
    """Beside the distribution of a number, how sure the model is of its mean."""

    def predict_mean_interval(self, X, level=0.95):
        """(lower, upper): the ends of the central interval of mass `level` of the mean of every row, by what the data
        leave open of the parameters and without the noise of an observation; of a binomial family those of the
        probability, times the trials."""
        _check_level(level)
        return self._ask(X, lambda model, table: model.mean_intervals(table, level))
