"""Models of rows in sequences: what they say of a row by those before it, or by all, best paths, rows to come."""
import numpy as np

from . import _labels
from ._result import Rows


def _shown(estimator, answers):
    """(mean, sd) of numbers; probabilities of states, or of classes in the order of ``classes_``."""
    if answers.mean is not None:
        return answers.mean, answers.sd
    if estimator._estimator_type != "classifier":
        return answers.probability
    return answers.probability[:, _labels.order(estimator.classes_, answers.classes)]


class _Sequences:
    def _given(self, X, y, verb):
        table = self._table(X) if y is None else self._table(X, y)
        model = self._fitted()
        return _shown(self, self._run(lambda: model.of_sequences(verb, table), table, model.target))


class Filtering(_Sequences):
    """Models that follow a sequence as it comes in."""

    def predict_filtered(self, X, y=None):
        """What is known of every row by those of its sequence so far: the probability of each state, the row itself
        counted, or (mean, sd) of the target, predicted from the targets y of the rows before it."""
        return self._given(X, y, "filter")


class Smoothing(_Sequences):
    """Models that look back on a sequence."""

    def predict_smoothed(self, X, y=None):
        """What is known of every row by all rows of its sequence, of which y are the targets: (mean, sd)."""
        return self._given(X, y, "smooth")


class Decoding:
    """Models that find the most probable path through a sequence."""

    def decode(self, X, paths=None):
        """(path, log_probability) of every row: its state, counted from 0, or its class on the most probable path of
        its whole sequence, and the log probability of that path: with the rows or, of classes, given them.

        With `paths` both are arrays [paths, rows] of so many most probable paths, the best first; where a sequence has
        fewer, the state is -1, or the class None, and the log probability NaN."""
        model = self._fitted()
        if paths is None:
            path, log_probability = self._ask(X, lambda model, table: model.decode(table))
        else:
            if isinstance(paths, bool) or int(paths) != paths or paths < 1:
                raise ValueError(f"paths is {paths!r}, which is not a whole number from 1")
            path, log_probability = self._ask(X, lambda model, table: model.decode_paths(table, int(paths)))
        there = ~np.isnan(path)
        if self._estimator_type != "classifier":
            return np.where(there, path, -1).astype(int), log_probability
        classes = self.classes_[self._in_order(model.classes)]
        if there.all():
            return classes[path.astype(int)], log_probability
        named = np.full(path.shape, None, dtype=object)
        named[there] = classes[path[there].astype(int)]
        return named, log_probability

    def path_entropy(self, X):
        """The entropy in nats of the posterior over all paths of the sequence of each row: 0 where one is certain."""
        self._fitted()
        return self._ask(X, lambda model, table: model.path_entropy(table))


class Forecasting:
    """Models that know how a sequence goes on."""

    def forecast(self, ahead, X=None, y=None, level=0.95):
        """The next rows of each sequence of X, whose targets are y, or without them of the data of the fit: a list of
        dicts with ahead (1, 2, ...), sequence where there are several, and mean, sd, lower and upper (the ends of the
        interval of mass `level`), or p with the probability of each state and columns, of each column that is a
        number a dict of mean, sd, lower and upper.  ``to_pandas()`` gives a table."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, which is not between 0 and 1")
        model = self._fitted()
        table = None if X is None else self._table(X) if y is None else self._table(X, y)
        answers, names, columns = self._run(lambda: model.forecast(table, ahead, level), table or [], model.target)
        n = len(answers.mean if answers.mean is not None else answers.probability)
        rows = []
        for i in range(n):
            row = {"sequence": names[i // ahead]} if names else {}
            row["ahead"] = i % ahead + 1
            if answers.mean is not None:
                row.update(mean=float(answers.mean[i]), sd=float(answers.sd[i]), lower=float(answers.lower[i]),
                           upper=float(answers.upper[i]))
            else:
                row["p"] = dict(zip(answers.classes, answers.probability[i].tolist()))
                if columns and columns[i]:
                    row["columns"] = columns[i]
            rows.append(row)
        return Rows(rows)
