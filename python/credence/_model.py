"""A fitted model of the library: immutable, and the same bytes in memory, in a pickle and in a file."""
import contextlib
import ctypes
import math
import os
from typing import NamedTuple, Optional

import numpy as np

from . import _declarations as c
from ._context import call, json_of, make, work
from ._library import lib
from ._settings import settings


class Answers(NamedTuple):
    """What the model says of all rows: distributions of numbers or of classes, coordinates, densities."""
    mean: Optional[np.ndarray] = None
    sd: Optional[np.ndarray] = None
    lower: Optional[np.ndarray] = None
    upper: Optional[np.ndarray] = None
    classes: Optional[list] = None            # texts; also the names of clusters and coordinates
    probability: Optional[np.ndarray] = None  # [n x classes]
    vector: Optional[np.ndarray] = None       # [n x classes]
    log_density: Optional[np.ndarray] = None
    decision: Optional[np.ndarray] = None     # [n x decisions] of a classifier that decides by signs


def _text(name):
    return name and name.decode()


def _copy(address, *shape):
    array = np.empty(shape)
    ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def _texts(pointer, n):
    return [pointer[k].decode() for k in range(n)]


def _read_numbers(p, sd, level):
    wanted = [np.empty(p.n) if want else None for want in (sd, level is not None, level is not None)]
    if sd or level is not None:
        call(lib.cr_prediction_intervals, p, 0.5 if level is None else level,
             *(None if a is None else a.ctypes.data for a in wanted))
    return Answers(_copy(p.mean, p.n), *wanted)


def _read_answers(p, sd=False, level=None):
    if p.kind == c.ANSWER_NUMBER:
        return _read_numbers(p, sd, level)
    answers = Answers(log_density=_copy(p.log_density, p.n) if p.log_density else None)
    if p.kind == c.ANSWER_DENSITY:
        return answers
    if p.n_decisions:
        answers = answers._replace(decision=_copy(p.decision, p.n, p.n_decisions))
    name, address = ("probability", p.prob) if p.kind == c.ANSWER_CLASS else ("vector", p.vector)
    return answers._replace(classes=_texts(p.classes, p.n_classes), **{name: _copy(address, p.n, p.n_classes)})


class Model:
    def __init__(self, handle):
        self._handle = handle
        self._pointer = handle.pointer
        self._design = lib.cr_model_get_design(self._pointer)
        self._description = None
        self.target = _text(lib.cr_design_target(self._design))
        self.weights = _text(lib.cr_design_weights(self._design))
        self.task = lib.cr_model_get_task(self._pointer)
        self.classes = self._names(lib.cr_design_classes, lib.cr_design_class)   # texts; [] for numbers

    # --- making

    @classmethod
    def fit(cls, name, table, pairs):
        return cls(make(lib.cr_model_free, lib.cr_fit, name.encode(), table._handle.pointer,
                        *settings(pairs)))

    @classmethod
    def load(cls, path):
        return cls(make(lib.cr_model_free, lib.cr_model_load, os.fsencode(path)))

    @classmethod
    def from_bytes(cls, data):
        return cls(make(lib.cr_model_free, lib.cr_model_from_bytes, b"the pickled model", data, len(data)))

    def update(self, table):
        return Model(make(lib.cr_model_free, lib.cr_update, self._pointer, table._handle.pointer))

    # --- keeping

    def save(self, path):
        work(lib.cr_model_save, self._pointer, os.fsencode(path)).pass_warnings_on()

    def to_bytes(self):
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        context = call(lib.cr_model_to_bytes, self._pointer, data, size)
        try:
            return ctypes.string_at(data, size.value)
        finally:
            lib.cr_free(context.handle, data, size, 1)

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    def __copy__(self):
        return self  # it never changes

    def __deepcopy__(self, memo):
        return self

    # --- answering

    def _offers(self, verb):
        return lib.cr_class_offers(lib.cr_model_get_class(self._pointer), verb)

    @contextlib.contextmanager
    def _prediction(self, function, *args):
        """The struct that function(model, *args, &out) fills; freed at the end."""
        prediction = c.Prediction()
        context = work(function, self._pointer, *args, prediction)
        try:
            yield prediction
        finally:
            lib.cr_prediction_free(context.handle, prediction)
        context.pass_warnings_on()

    def predict(self, table, sd=False, level=None):
        """Answers for the rows of the table, with sd and with the interval of mass `level` if asked for."""
        if self.task == c.TASK_REGRESSION and not sd and level is None:
            mean = np.empty(len(table))
            work(lib.cr_predict_mean, self._pointer, table._handle.pointer,
                 mean.ctypes.data).pass_warnings_on()
            return Answers(mean)
        with self._prediction(lib.cr_predict, table._handle.pointer) as prediction:
            return _read_answers(prediction, sd, level)

    def of_sequences(self, verb, table):
        """Answers by the rows so far ("filter") or by all rows of a sequence ("smooth"), with sds of numbers."""
        with self._prediction(getattr(lib, f"cr_{verb}"), table._handle.pointer) as prediction:
            return _read_answers(prediction, True)

    def decode(self, table):
        """(indices of labels, log probabilities) of the most probable path of each sequence, row by row."""
        path, log_probability = np.empty(len(table)), np.empty(len(table))
        work(lib.cr_decode, self._pointer, table._handle.pointer, path.ctypes.data,
             log_probability.ctypes.data).pass_warnings_on()
        return path, log_probability

    def decode_paths(self, table, count):
        """The same of the `count` most probable paths, [count, rows]: NaN where a sequence has fewer."""
        path, log_probability = np.empty((count, len(table))), np.empty((count, len(table)))
        work(lib.cr_decode_paths, self._pointer, table._handle.pointer, count, path.ctypes.data,
             log_probability.ctypes.data).pass_warnings_on()
        return path, log_probability

    def path_entropy(self, table):
        """The entropy of the posterior over all paths of the sequence of each row."""
        entropy = np.empty(len(table))
        work(lib.cr_path_entropy, self._pointer, table._handle.pointer, entropy.ctypes.data).pass_warnings_on()
        return entropy

    def forecast(self, table, ahead, level):
        """(answers, names of the sequences or None, columns) for the rows behind those of the table, or of the fit;
        columns of hidden states: of each row a dict of what each column will be."""
        found = c.Forecast()
        context = work(lib.cr_forecast_rows, self._pointer, table and table._handle.pointer, ahead, found)
        try:
            columns = self._forecast_columns(found, level)
            names = _texts(found.names, found.n) if found.names else None
            return _read_answers(found.p, True, level), names, columns
        finally:
            lib.cr_forecast_free(context.handle, found)

    def _forecast_columns(self, forecast, level):
        found = c.ForecastColumns()
        context = work(lib.cr_forecast_columns_of, self._pointer, forecast, level, found)
        try:
            names = _texts(found.name, found.columns)
            return [{name: {"mean": found.mean[at], "sd": found.sd[at], "lower": found.lower[at], "upper": found.upper[at]}
                     for at, name in enumerate(names, i * found.columns)} for i in range(found.n)]
        finally:
            lib.cr_forecast_columns_free(context.handle, found)

    def next(self, level):
        """What the next row would be in each column of numbers, by its name: mean, sd, lower and upper."""
        if not self._offers(b"next"):
            return {}
        numbers = [name for i, name in enumerate(self.columns)
                   if lib.cr_design_column_type(self._design, i) != c.CATEGORY]
        with self._prediction(lib.cr_next) as prediction:
            a = _read_answers(prediction, True, level)
        return {name: {"mean": float(a.mean[i]), "sd": float(a.sd[i]), "lower": float(a.lower[i]),
                       "upper": float(a.upper[i])} for i, name in enumerate(numbers)}

    def next_levels(self):
        """The probability of each level of the next row: a dict for each column of levels, by its name."""
        if not self._offers(b"next-levels"):
            return {}
        levels = c.Levels()
        context = work(lib.cr_next_levels, self._pointer, levels)
        try:
            return {self.columns[levels.column[j]]:
                    {levels.level[i].decode(): levels.prob[i] for i in range(levels.first[j], levels.first[j + 1])}
                    for j in range(levels.n)}
        finally:
            lib.cr_levels_free(context.handle, levels)

    def log_density(self, table):
        """The log density of every row, or of its target given the rest; NaN in rows left out."""
        out = np.empty(len(table))
        work(lib.cr_score, self._pointer, table._handle.pointer, out.ctypes.data).pass_warnings_on()
        return out

    def sample(self, count, seed):
        """Rows drawn from a model of densities: an array, of objects where a column holds texts."""
        out = np.empty((count, len(self.columns)))
        work(lib.cr_sample, self._pointer, count, seed, out.ctypes.data).pass_warnings_on()
        levels = [[lib.cr_design_level(self._design, i, k).decode()
                   for k in range(lib.cr_design_levels(self._design, i))] for i in range(out.shape[1])]
        if not any(levels):
            return out
        rows = out.astype(object)
        for i, texts in enumerate(levels):
            if texts:
                rows[:, i] = np.array(texts, dtype=object)[out[:, i].astype(int)]
        return rows

    def sample_targets(self, table, count, seed):
        """Draws of the target of every row [rows x count]; a class as its index."""
        out = np.empty((len(table), count))
        work(lib.cr_sample_targets, self._pointer, table._handle.pointer, count, seed,
             out.ctypes.data).pass_warnings_on()
        return out

    def function(self, table, sd, covariance, prior):
        """(mean, sd or None, covariance or None) of the function at the rows, without noise."""
        n = len(table)
        mean, spread, joint = np.empty(n), np.empty(n) if sd else None, np.empty((n, n)) if covariance else None
        work(lib.cr_predict_function, self._pointer, table._handle.pointer, prior, mean.ctypes.data,
             spread.ctypes.data if sd else None, joint.ctypes.data if covariance else None).pass_warnings_on()
        return mean, spread, joint

    def sample_functions(self, table, prior, count, seed):
        """Joint draws of the function [rows x count]."""
        out = np.empty((len(table), count))
        work(lib.cr_sample_functions, self._pointer, table._handle.pointer, prior, count, seed,
             out.ctypes.data).pass_warnings_on()
        return out

    def log_joint(self, table):
        """log p(row, class) [rows x classes], in the order of the model."""
        out = np.empty((len(table), len(self.classes)))
        work(lib.cr_predict_log_joint, self._pointer, table._handle.pointer, out.ctypes.data).pass_warnings_on()
        return out

    def probability_intervals(self, table, level):
        """(lower, upper) of the probability of each class [rows x classes], in the order of the model."""
        lower, upper = (np.empty((len(table), len(self.classes))) for _ in range(2))
        work(lib.cr_predict_probability_intervals, self._pointer, table._handle.pointer, level,
             lower.ctypes.data, upper.ctypes.data).pass_warnings_on()
        return lower, upper

    def mean_intervals(self, table, level):
        """(lower, upper) of the mean of each row."""
        lower, upper = np.empty(len(table)), np.empty(len(table))
        work(lib.cr_predict_mean_intervals, self._pointer, table._handle.pointer, level,
             lower.ctypes.data, upper.ctypes.data).pass_warnings_on()
        return lower, upper

    def slopes(self, table):
        """The gradient of the mean [rows x columns of numbers]."""
        out = np.empty((len(table), lib.cr_model_slopes(self._pointer)))
        work(lib.cr_predict_slopes, self._pointer, table._handle.pointer, out.ctypes.data).pass_warnings_on()
        return out

    def inducing(self):
        """(inputs, mean, covariance) of the function at the inducing inputs; a level as its name."""
        held = c.Inducing()
        context = work(lib.cr_model_inducing, self._pointer, held)
        try:
            Z = _copy(held.Z, held.n, held.terms)
            texts = [held.text[k] for k in range(Z.size)]
            mean, covariance = _copy(held.mean, held.n), _copy(held.covariance, held.n, held.n)
        finally:
            lib.cr_inducing_free(context.handle, held)
        context.pass_warnings_on()
        if any(text is not None for text in texts):
            Z = np.array([x if text is None else text.decode() for x, text in zip(Z.ravel().tolist(), texts)],
                         dtype=object).reshape(Z.shape)
        return Z, mean, covariance

    def decide(self, table, loss):
        """(actions, expected losses) for a c.Loss; actions are numbers or indices."""
        with self._prediction(lib.cr_predict, table._handle.pointer) as prediction:
            decisions = c.Decisions()
            context = work(lib.cr_decide, prediction, loss, decisions)
            try:
                return _copy(decisions.action, decisions.n), _copy(decisions.expected_loss, decisions.n)
            finally:
                lib.cr_decisions_free(context.handle, decisions)

    @property
    def coordinates(self):
        """The names of the coordinates that transform gives; [] without any."""
        count = ctypes.c_size_t()
        names = lib.cr_transform_labels(self._pointer, count)
        return [names[i].decode() for i in range(count.value)]

    def transform(self, table):
        """The coordinates of every row."""
        out = np.empty((len(table), len(self.coordinates)))
        work(lib.cr_transform, self._pointer, table._handle.pointer, out.ctypes.data).pass_warnings_on()
        return out

    def reconstruct(self, coordinates):
        """The rows that coordinates lead back to [rows x columns of numbers]."""
        points = np.ascontiguousarray(coordinates, dtype=np.float64)
        out = np.empty((len(points), lib.cr_model_reconstructs(self._pointer)))
        work(lib.cr_reconstruct, self._pointer, points.ctypes.data, len(points), out.ctypes.data, None).pass_warnings_on()
        return out

    # --- looking

    def _names(self, count, name):
        return [name(self._design, i).decode() for i in range(count(self._design))]

    @property
    def name(self):
        return lib.cr_class_name(lib.cr_model_get_class(self._pointer)).decode()

    def labels(self):
        """The names of its clusters or coordinates, or of the classes of its target."""
        n = ctypes.c_size_t()
        return _texts(lib.cr_model_labels(self._pointer, n), n.value)

    @property
    def columns(self):
        return self._names(lib.cr_design_columns, lib.cr_design_column_name)

    @property
    def terms(self):
        return self._names(lib.cr_design_terms, lib.cr_design_term_name)

    @property
    def converged(self):
        return lib.cr_model_get_report(self._pointer).contents.stop < c.STOP_LIMIT

    def report(self):
        """How the fit went; what there is none of is None."""
        r = lib.cr_model_get_report(self._pointer).contents
        return {"rows": r.rows, "iterations": r.iterations, "stop": lib.cr_stop_name(r.stop).decode(),
                "log_evidence": None if math.isnan(r.log_evidence) else r.log_evidence,
                "log_likelihood": None if math.isnan(r.log_likelihood) else r.log_likelihood,
                "seconds": r.seconds}

    def describe(self):
        """All there is to know about the model, as the command line's JSON has it."""
        if self._description is None:
            self._description = json_of(lib.cr_describe, self._pointer)
        return self._description
