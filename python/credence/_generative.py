"""Classifiers that describe the columns as well as the classes: their joint density."""
from . import _labels


class Generative:
    """Beside the probability of each class, the density of the row together with it."""

    def predict_log_joint(self, X):
        """log p(row, class) for every row and class, in the order of ``classes_``; the log of the sum of their
        exponentials over the classes is log p(row), which is low for rows unlike all that were fitted."""
        model = self._fitted()
        joint = self._ask(X, lambda model, table: model.log_joint(table))
        return joint[:, _labels.order(self.classes_, model.classes)]
