"""Docstrings and type hints of the estimators, from what the library declares."""
import textwrap

from . import _declarations as c
from . import _options

TYPES = {c.OPTION_FLAG: "bool", c.OPTION_COUNT: "int", c.OPTION_REAL: "float", c.OPTION_TEXT: "str",
         c.OPTION_LIST: "str or list of str"}

ATTRIBUTES = """\
n_features_in_ : int
    The number of columns of X.
feature_names_in_ : ndarray of str
    Their names; only when X had names that are all texts.
parameters_ : list of dict
    The parameters with name, value and sd, and what else the model knows of them.
statistics_ : dict
    What else the model says of the fit; see Statistics.
report_ : dict
    How the fit went: rows, iterations, stop, log_evidence, log_likelihood, seconds.
log_evidence_, log_likelihood_ : float
    The log marginal likelihood, and the log likelihood at the estimate; only where there is one.
"""

N_ITER = """\
n_iter_ : int
    The number of iterations; 1 where the answer has a closed form.
"""

COEFFICIENTS = """\
coef_, intercept_ : ndarray, float
    The values of the parameters of the terms, and of the intercept, in a model that is linear.
"""

CLUSTERS = """\
labels_ : ndarray
    The cluster of every row of the fit, counted from 0.
cluster_names_ : ndarray of str
    What the model calls the clusters.
"""

CLASSES = """\
classes_ : ndarray
    The classes, sorted.
"""

ROLES = {  # what Python users give in another way
    "target": "name for the column of y in the saved model; or, when y is not given, the column of X to "
              "predict",
    "weights": "name for the column of sample_weight; or the column of X that holds the row weights",
    "class_weights": "weight of a row by its class: 'balanced', or a dict of classes and weights",
}


TYPE_HELP = {  # what an option of all fits is for in estimators of one type
    ("calibrate", "regressor"): "calibrate the intervals by how often they contain new rows, whatever the model assumes",
    ("calibrate", "classifier"): "calibrate the probabilities by how often they come true",
}


def option_type(option):
    """The type of an option in words: float; bool; {'a', 'b'}."""
    if option.kind == c.OPTION_CHOICE:
        return "{" + ", ".join(map(repr, option.choices)) + "}"
    return TYPES[option.kind] + (" or None" if option.default is None else "")


HINTS = {**TYPES, c.OPTION_LIST: "str | Sequence[str]"}


def option_hint(option):
    """The type of an option as an annotation: float; bool; Literal['a', 'b']."""
    if option.name == "class_weights":
        return "str | Mapping[Any, float] | None"
    if option.kind == c.OPTION_CHOICE:
        return f"Literal[{', '.join(map(repr, option.choices))}]"
    return HINTS[option.kind] + (" | None" if option.default is None else "")


def _sentence(text):
    text = _options.in_python(text)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def literal(option):
    """The example of an option as Python writes it: True, 0.5, 'dual', ['x*', '!id']."""
    text = option.example.strip("'")
    if option.kind == c.OPTION_FLAG:
        return str(text == "true")
    if option.kind in (c.OPTION_COUNT, c.OPTION_REAL):
        return text
    if option.name == "class_weights":
        pairs = (item.split("=") for item in text.split(","))
        return "{" + ", ".join(f"{name!r}: {weight}" for name, weight in pairs) + "}"
    return repr(text.split(",") if option.name == "features" else text)


def _parameter(option, of_type):
    text = _sentence(TYPE_HELP.get((option.name, of_type)) or ROLES.get(option.name, option.help))
    if option.range and option.kind in (c.OPTION_COUNT, c.OPTION_REAL):
        text += f"  Range: {option.range}."
    if option.example:
        text += f"  Example: {option.name}={literal(option)}."
    lines = textwrap.wrap(text, 94, initial_indent="    ", subsequent_indent="    ")
    kind = "str or dict or None" if option.name == "class_weights" else option_type(option)
    return [f"{option.name} : {kind}, default={option.default!r}", *lines]


class LazyDoc:
    """A docstring that is put together when somebody reads it: import stays quick with many models."""

    def __init__(self, *about):
        self._about, self._text = about, None

    def __get__(self, instance, owner):
        if self._text is None:
            self._text = class_doc(*self._about)
        return self._text


def _statistics(fields):
    """The names of what a model says of a fit, each with its unit and what it is."""
    for field in fields:
        unit = f", in units of {field.unit}" if field.unit and field.unit.startswith(("target", "1/")) else \
            f", in {field.unit}" if field.unit else ""
        yield f"{field.name}{unit}"
        yield from textwrap.wrap(_sentence(field.help), 94, initial_indent="    ", subsequent_indent="    ")


SHOWN = (c.OPTION_REAL, c.OPTION_COUNT, c.OPTION_CHOICE)   # examples of these stand on their own
USES = {  # what is done with an estimator that has this method
    "predict_interval": ["mean, sd = model.predict(X_new, return_std=True)",
                         "lower, upper = model.predict_interval(X_new, level=0.9)"],
    "predict_log_proba": ["probability = model.predict_proba(X_new)   # a column for each of model.classes_"],
    "decision_function": ["decision = model.decision_function(X_new)"],
    "score_samples": ["log_density = model.score_samples(X_new)"],
    "fit_predict": ["cluster = model.predict(X_new)"],
    "transform": ["coordinates = model.transform(X_new)"],
}


def example_lines(declaration, made):
    """A use of the estimator, to be typed."""
    option = next((o for o in declaration.options if o.example and (o.kind in SHOWN or o.name in _options.EXPRESSIONS)
                   and o.name in made.__annotations__), None)
    own = f"{option.name}={literal(option)}" if option else ""
    if hasattr(made, "decision_function") and "calibrate" in made.__annotations__:   # probabilities where they are calibrated
        own += ", calibrate='platt'" if own else "calibrate='platt'"
    data = "X, y" if made._estimator_type in ("regressor", "classifier") else "X"
    yield f"model = {made.__name__}({own}).fit({data})"
    for method, lines in USES.items():
        yield from lines if hasattr(made, method) else ()
    yield "model.save('model.cred')   # for the shell: credence describe model.cred"


def class_doc(declaration, options, made):
    """The docstring of an estimator, in the sections of numpydoc."""
    parts = ((COEFFICIENTS, "coef_"), (CLASSES, "predict_log_proba"), (CLUSTERS, "fit_predict"),
             (N_ITER, "n_iter_"))
    attributes = ATTRIBUTES + "".join(text for text, having in parts if hasattr(made, having))
    parameters = (line for option in options for line in _parameter(option, made._estimator_type))
    lines = [_sentence(declaration.summary), "", "::", "",
             *textwrap.indent(_options.in_python(declaration.formulas), "    ").splitlines(), "",
             "Parameters", "----------", *parameters, "",
             "Attributes", "----------", *attributes.splitlines(), "",
             "Statistics", "----------", *_statistics(declaration.statistics), "",
             "References", "----------", *textwrap.wrap(declaration.reference, 98), "",
             "Examples", "--------", *(f">>> {line}" for line in example_lines(declaration, made))]
    return "\n".join(lines) + "\n"
