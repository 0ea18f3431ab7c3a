"""One class for every model of the library: made at import from what the library declares, so a new model
there is a new class here."""
from typing import NamedTuple, Optional

from . import _declarations as c
from . import _options
from ._coordinates import Coordinates, WayBack
from ._docs import LazyDoc, option_hint
from ._estimator import make_init
from ._function import Function
from ._generative import Decisions, Generative, MeanIntervals, ProbabilityIntervals
from ._library import lib
from ._sequences import Decoding, Filtering, Forecasting, Smoothing
from ._supervised import Classifier, Regressor
from ._unsupervised import Cluster, Density, Nearest, Next, Outliers, Transform
from ._updates import ClassUpdates, RowUpdates, Updates, held


class Declaration(NamedTuple):
    """What the library says of a model."""
    name: str
    summary: str
    formulas: str
    reference: str
    tasks: int
    options: list       # its own
    updates: bool
    keeps_missing: bool = False   # sees gaps in the features itself
    tells_next: bool = False      # knows what the next row would be
    takes_negative: bool = True   # targets of either sign
    transforms: bool = False      # gives coordinates beside its predictions
    takes_numbers: bool = True    # of either sign, in columns without a target
    takes_fractions: bool = True  # that need not be whole
    relearns: bool = True         # an update is a fit on all rows
    holds: bool = False           # an update keeps hyper-parameters
    has_function: bool = False    # tells of its function without noise
    reconstructs: bool = False    # knows the way back from coordinates to rows
    is_generative: bool = False   # has the density of rows with their classes
    has_intervals: bool = False   # of the probabilities of classes
    has_mean_intervals: bool = False   # of the mean of a number
    by_distance: bool = False     # a row belongs to the nearest cluster
    filters: bool = False         # says what the rows of a sequence so far say,
    smooths: bool = False         # or all of them,
    decodes: bool = False         # finds the most probable path,
    forecasts: bool = False       # and the rows to come
    decides: bool = False         # by the signs of functions
    of_classes: frozenset = frozenset()  # the names of options that mean nothing to a regression
    statistics: tuple = ()        # what it says of a fit


class Statistic(NamedTuple):
    """What the library declares of a number or text that a model says of a fit."""
    name: str
    unit: str       # "" of a plain number
    help: str


def _read_statistics(fields):
    """The fields of a table, which ends with one without a name."""
    read = []
    while fields[len(read)].name:
        field = fields[len(read)]
        read.append(Statistic(*((text or b"").decode() for text in (field.name, field.unit, field.help))))
    return tuple(read)


def declarations():
    """All models, in the order of the library."""
    for i in range(lib.cr_class_count()):
        model = lib.cr_class_at(i)
        texts = [f(model).decode() for f in (lib.cr_class_name, lib.cr_class_summary,
                                             lib.cr_class_formulas, lib.cr_class_reference)]
        options = _options.read_table(lib.cr_class_options(model))
        yield Declaration(*texts, lib.cr_class_tasks(model), options,
                          *(any(lib.cr_class_offers(model, verb) for verb in verbs.split()) for verbs in
                            (b"update", b"missing", b"next next-levels", b"negative", b"transform", b"numbers",
                             b"fractions", b"relearn", b"hold", b"function", b"reconstruct",
                             b"log-joint", b"probability-intervals", b"mean-intervals",
                             b"distances", b"filter", b"smooth", b"decode", b"forecast", b"decisions")),
                          of_classes=frozenset(o.name for o in options if not lib.cr_class_option_serves(
                              model, o.name.encode(), c.TASK_REGRESSION)),
                          statistics=_read_statistics(lib.cr_class_statistics(model)))


def camel_case(name):
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-"))


OF_OUTLIERS = {"one-class-svm"}   # coordinates of which the first is above 0 where a row is like those of the fit
UNSUPERVISED = {c.TASK_CLUSTER: Cluster, c.TASK_TRANSFORM: Transform, c.TASK_DENSITY: Density}


class Kind(NamedTuple):
    """One estimator for a model."""
    name: str
    bases: tuple
    task: Optional[str] = None      # where the model does several


def _of_sequences(declaration):
    """What estimators of models of sequences have beside."""
    return tuple(base for base, offered in ((Filtering, declaration.filters), (Smoothing, declaration.smooths),
                                            (Decoding, declaration.decodes), (Forecasting, declaration.forecasts))
                 if offered)


def _kinds(declaration):
    """The estimators for a model: two for one that does regression and classification, or classes and densities
    without a target; one that has the methods of all for densities, clusters and coordinates."""
    name, tasks = camel_case(declaration.name), declaration.tasks
    both = tasks & c.TASK_REGRESSION and tasks & c.TASK_CLASSIFICATION
    bases = tuple(Nearest if base is Cluster and declaration.by_distance else base
                  for task, base in UNSUPERVISED.items() if tasks & task)
    for task, base, updates in (("regression", Regressor, Updates),
                                ("classification", Classifier, ClassUpdates)):
        if tasks & getattr(c, f"TASK_{task.upper()}"):
            suffix = base.__name__ if both or bases else ""
            more = (Coordinates,) * bool(declaration.transforms) + (updates,) * bool(declaration.updates)
            more += (Function,) * bool(declaration.has_function and base is Regressor)
            more += (Generative,) * bool(declaration.is_generative and base is Classifier)
            more += (ProbabilityIntervals,) * bool(declaration.has_intervals and base is Classifier)
            more += (Decisions,) * bool(declaration.decides and base is Classifier)
            more += (MeanIntervals,) * bool(declaration.has_mean_intervals and base is Regressor)
            more += _of_sequences(declaration)
            yield Kind(name + suffix, (*more, base), task if both else None)
    if bases:
        more = (RowUpdates,) * declaration.updates + (Next,) * declaration.tells_next
        more += (WayBack,) * declaration.reconstructs
        more += (Outliers,) * (declaration.name in OF_OUTLIERS)
        more += _of_sequences(declaration)
        yield Kind(name, more + bases)


# Options that estimators of a type have no use for, or set themselves.
CONFORMAL = {"conformal", "conformal_scale"}
OF_NUMBERS = {"scale_target", "transform_target"} | CONFORMAL
NOT_FOR = {"regressor": {"task", "class_weights"}, "classifier": {"task"} | OF_NUMBERS}
NEVER_WITHOUT_TARGET = {"task", "class_weights", "target", "calibrate", "calibrate_folds"} | OF_NUMBERS
CALIBRATE = {"regressor": {"none", "conformal"}, "classifier": {"none", "isotonic", "platt"}}


def _options_of(declaration, of_type):
    """The options that an estimator of a type has."""
    left_out = NOT_FOR.get(of_type, NEVER_WITHOUT_TARGET)
    own = [o for o in declaration.options if of_type != "regressor" or o.name not in declaration.of_classes]
    common = [o for o in (*_options.DESIGN, *_options.FIT) if o.name not in left_out]
    return [*own, *(o.restricted(CALIBRATE[of_type]) if o.name == "calibrate" else o for o in common)]


def _make_class(kind, declaration):
    of_type = next((base._estimator_type for base in kind.bases if hasattr(base, "_estimator_type")), None)
    options = _options_of(declaration, of_type)
    iterates = any(option.name == "max_iter" for option in declaration.options)
    body = {
        "__module__": "credence",
        "__init__": make_init(options),
        "__annotations__": {option.name: option_hint(option) for option in options},
        "_options": tuple(options),
        "_model_name": declaration.name,
        "_task": kind.task,
        "_is_series": bool(declaration.filters and declaration.tasks & c.TASK_REGRESSION),
        "_keeps_missing": bool(declaration.keeps_missing),
        "_takes_negative": bool(declaration.takes_negative),
        "_takes_numbers": bool(declaration.takes_numbers),
        "_takes_fractions": bool(declaration.takes_fractions),
    }
    if declaration.updates and not declaration.relearns:
        body["partial_fit"] = held(next(base for base in kind.bases if hasattr(base, "partial_fit")).partial_fit,
                                   declaration.holds)
    if iterates:
        body["n_iter_"] = property(lambda self: max(1, self._fitted().report()["iterations"]))
    made = type(kind.name, kind.bases, body)
    made.__doc__ = LazyDoc(declaration, options, made)
    made.__init__.__qualname__ = f"{kind.name}.__init__"
    return made


def _make_all():
    made = {}
    for declaration in declarations():
        _options.know(declaration.options)
        for kind in _kinds(declaration):
            made[kind.name] = _make_class(kind, declaration)
    return made


ESTIMATORS = _make_all()


TYPES = {c.TASK_REGRESSION: "regressor", c.TASK_CLASSIFICATION: "classifier"}


def estimator_for(model):
    """The class for a fitted model."""
    of_model = [made for made in ESTIMATORS.values() if made._model_name == model.name]
    for made in of_model:
        other = made._estimator_type not in TYPES.values()
        if len(of_model) == 1 or made._estimator_type == TYPES.get(model.task) or (other and model.task not in TYPES):
            return made
    raise NotImplementedError(f"there is no estimator for the model {model.name}")
