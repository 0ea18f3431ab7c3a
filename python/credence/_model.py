"""A fitted model of the library: immutable, and the same bytes in memory, in a pickle and in a file."""
import ctypes
import json
import math
import os
from typing import NamedTuple, Optional

import numpy as np

from . import _declarations as c
from ._context import call, make, work
from ._library import lib
from ._settings import settings


class Answers(NamedTuple):
    """The predictive distributions of all rows: of numbers, or of classes."""
    mean: Optional[np.ndarray] = None
    sd: Optional[np.ndarray] = None
    lower: Optional[np.ndarray] = None
    upper: Optional[np.ndarray] = None
    classes: Optional[list] = None            # texts
    probability: Optional[np.ndarray] = None  # [n x classes]


def _text(name):
    return name and name.decode()


def _copy(address, *shape):
    array = np.empty(shape)
    ctypes.memmove(array.ctypes.data, address, array.nbytes)
    return array


def _read_answers(p, sd, level):
    if p.kind == c.ANSWER_CLASS:
        classes = [p.classes[k].decode() for k in range(p.n_classes)]
        return Answers(classes=classes, probability=_copy(p.prob, p.n, p.n_classes))
    wanted = [np.empty(p.n) if want else None for want in (sd, level is not None, level is not None)]
    if sd or level is not None:
        call(lib.cr_prediction_intervals, p, 0.5 if level is None else level,
             *(None if a is None else a.ctypes.data for a in wanted))
    return Answers(_copy(p.mean, p.n), *wanted)


class Model:
    def __init__(self, handle):
        self._handle = handle
        self._pointer = handle.pointer
        self._design = lib.cr_model_get_design(self._pointer)
        self._description = None
        self.target = _text(lib.cr_design_target(self._design))
        self.weights = _text(lib.cr_design_weights(self._design))
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

    def predict(self, table, sd=False, level=None):
        """Answers for the rows of the table, with sd and with the interval of mass `level` if asked for."""
        if not (sd or level is not None or self.classes):
            mean = np.empty(len(table))
            work(lib.cr_predict_mean, self._pointer, table._handle.pointer,
                 mean.ctypes.data).pass_warnings_on()
            return Answers(mean)
        prediction = c.Prediction()
        context = work(lib.cr_predict, self._pointer, table._handle.pointer, prediction)
        try:
            return _read_answers(prediction, sd, level)
        finally:
            lib.cr_prediction_free(context.handle, prediction)
            context.pass_warnings_on()

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

    # --- looking

    def _names(self, count, name):
        return [name(self._design, i).decode() for i in range(count(self._design))]

    @property
    def name(self):
        return lib.cr_class_name(lib.cr_model_get_class(self._pointer)).decode()

    @property
    def columns(self):
        return self._names(lib.cr_design_columns, lib.cr_design_column_name)

    @property
    def terms(self):
        return self._names(lib.cr_design_terms, lib.cr_design_term_name)

    @property
    def converged(self):
        return lib.cr_model_get_report(self._pointer).contents.stop != c.STOP_LIMIT

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
            text = ctypes.c_void_p()
            context = call(lib.cr_describe, self._pointer, text)
            data = ctypes.string_at(text)
            lib.cr_free(context.handle, text, len(data) + 1, 1)
            self._description = json.loads(data)
        return self._description
