"""What goes wrong, as Python says it.

Failures of the library become the built-in exceptions; its warnings become CredenceWarning.  Where
scikit-learn has a class for the same thing and is loaded, what is raised is that as well, so that code
written for it catches ours; scikit-learn is never loaded for this."""
import errno
import os
import sys
import warnings

from . import _declarations as c


class CredenceWarning(UserWarning):
    """Something to know about a result that is still good."""


class ConvergenceWarning(CredenceWarning):
    """A fit gave up before it converged."""


class DataConversionWarning(CredenceWarning):
    """Data was used in another shape than it was given in."""


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


EXCEPTIONS = {
    c.EARG: ValueError,
    c.EDATA: ValueError,
    c.ENUMERIC: RuntimeError,
    c.EIO: OSError,
    c.ENOMEM: MemoryError,
    c.EINTERRUPTED: KeyboardInterrupt,
    c.EUNSUPPORTED: NotImplementedError,
}


def exception(status, sentence):
    """The class for a failure: of a file that is not there, the one of Python for that."""
    if status == c.EIO and os.strerror(errno.ENOENT) in sentence:
        return FileNotFoundError
    return EXCEPTIONS[status]


def __getattr__(name):
    """SklearnNotFittedError and so on: ours and scikit-learn's in one class, made when first needed and
    found here again by pickle."""
    ours = globals().get(name.removeprefix("Sklearn")) if name.startswith("Sklearn") else None
    if ours is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sklearn.exceptions
    theirs = getattr(sklearn.exceptions, ours.__name__)
    both = type(ours.__name__, (ours, theirs),
                {"__doc__": ours.__doc__, "__module__": __name__, "__qualname__": name})
    globals()[name] = both
    return both


def matching(ours):
    """The class to raise: `ours`, and that of scikit-learn of the same name when it is loaded."""
    if "sklearn.exceptions" not in sys.modules:
        return ours
    return getattr(sys.modules[__name__], f"Sklearn{ours.__name__}")


def warn(text, category):
    """A warning that points at the line outside this package which led to it."""
    here, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, level)
