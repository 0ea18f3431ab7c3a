"""Classes: labels of any type on the side of Python, texts on that of the library."""
import numpy as np

from ._columns import Levels, is_missing, level_text, unmasked


def check(y):
    """The labels as an array; numbers that are not whole are no labels."""
    labels = np.asarray(unmasked(y))
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported\ny has complex values\n")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity.")
        if (labels != np.floor(labels)).any():
            raise ValueError("Unknown label type: continuous. A classifier needs classes.")
    elif labels.dtype.kind not in "iubUS" and any(is_missing(label) for label in labels.tolist()):
        raise ValueError("Input y contains NaN.")
    return labels


def column(y):
    """The labels as a column of levels."""
    classes, codes = np.unique(check(y), return_inverse=True)
    return Levels(codes.astype(np.uint32), [level_text(label) for label in classes.tolist()])


def from_texts(texts):
    """The labels that a model file has as texts: numbers and truth values become what they were."""
    if set(texts) <= {"true", "false"}:
        return np.array(sorted(text == "true" for text in texts))
    try:
        whole = sorted(int(text) for text in texts)
        if sorted(map(str, whole)) == sorted(texts):
            return np.array(whole)
    except ValueError:
        pass
    return np.array(sorted(texts))


def order(classes, texts):
    """For each class the place of its text among those of the model."""
    return [texts.index(level_text(label)) for label in classes.tolist()]
