"""Losses on their way into the library, and what is decided by them."""
import contextlib
import ctypes
import os

import numpy as np

from . import _declarations as c
from ._context import call
from ._library import lib


@contextlib.contextmanager
def _named(text):
    loss = c.Loss()
    context = call(lib.cr_loss_read, os.fsencode(text), loss)
    try:
        yield loss, [loss.actions[k].decode() for k in range(loss.n_actions)]
    finally:
        lib.cr_loss_free(context.handle, loss)


@contextlib.contextmanager
def _matrix(values, actions, outcomes):
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(outcomes):
        raise ValueError(f"the losses have the shape {values.shape}, but there are {len(outcomes)} classes: "
                         "one row for each action, one column for each class")
    if not np.isfinite(values).all():
        raise ValueError("the losses are not all finite numbers")
    if len(actions) != len(values):
        raise ValueError(f"there are {len(actions)} actions for {len(values)} rows of losses")
    names = (ctypes.c_char_p * len(actions))(*(str(k).encode() for k in range(len(actions))))
    truths = (ctypes.c_char_p * len(outcomes))(*(text.encode() for text in outcomes))
    yield c.Loss(c.LOSS_MATRIX, 0.0, *values.shape, names, truths, values.ctypes.data), list(actions)


def loss(given, actions, outcomes):
    """A context that gives (c.Loss, the actions of a matrix).  A loss is a name, the path of a file, or an array
    of losses with a row for each action; outcomes are the texts of the classes."""
    if isinstance(given, (str, os.PathLike)):
        if actions is not None:
            raise ValueError("actions go with an array of losses; a file names them itself")
        return _named(os.fspath(given))
    return _matrix(given, actions, outcomes)
