"""One class for every model of the library that predicts: made at import from what the library declares,
so a new model there is a new class here."""
from typing import NamedTuple

from . import _declarations as c
from . import _options
from ._coordinates import Coordinates
from ._docs import LazyDoc, option_hint
from ._estimator import make_init
from ._library import lib
from ._supervised import Classifier, Regressor
from ._updates import ClassUpdates, Updates


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
    transforms: bool = False      # gives coordinates beside its predictions


def declarations():
    """All models, in the order of the library."""
    for i in range(lib.cr_class_count()):
        model = lib.cr_class_at(i)
        texts = [f(model).decode() for f in (lib.cr_class_name, lib.cr_class_summary,
                                             lib.cr_class_formulas, lib.cr_class_reference)]
        yield Declaration(*texts, lib.cr_class_tasks(model),
                          _options.read_table(lib.cr_class_options(model)),
                          lib.cr_class_offers(model, b"update"), lib.cr_class_offers(model, b"missing"),
                          lib.cr_class_offers(model, b"transform"))


def camel_case(name):
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-"))


def _kinds(declaration):
    """(class name, base, how it updates) of the estimators for a model; a model with both tasks has two."""
    name = camel_case(declaration.name)
    both = declaration.tasks & c.TASK_REGRESSION and declaration.tasks & c.TASK_CLASSIFICATION
    if declaration.tasks & c.TASK_REGRESSION:
        yield name + ("Regressor" if both else ""), Regressor, Updates
    if declaration.tasks & c.TASK_CLASSIFICATION:
        yield name + ("Classifier" if both else ""), Classifier, ClassUpdates


def _make_class(name, base, updates, declaration):
    options = [*declaration.options, *_options.DESIGN, *_options.FIT]
    iterates = any(option.name == "max_iter" for option in declaration.options)
    body = {
        "__module__": "credence",
        "__doc__": LazyDoc(declaration, options, base._estimator_type == "classifier", iterates),
        "__init__": make_init(options),
        "__annotations__": {option.name: option_hint(option) for option in options},
        "_options": tuple(options),
        "_model_name": declaration.name,
        "_keeps_missing": bool(declaration.keeps_missing),
    }
    if iterates:
        body["n_iter_"] = property(lambda self: self._fitted().report()["iterations"])
    bases = [part for part, wanted in ((Coordinates, declaration.transforms),
                                       (updates, declaration.updates)) if wanted]
    made = type(name, (*bases, base), body)
    made.__init__.__qualname__ = f"{name}.__init__"
    return made


def _make_all():
    made = {}
    for declaration in declarations():
        _options.know(declaration.options)
        for name, base, updates in _kinds(declaration):
            made[name] = _make_class(name, base, updates, declaration)
    return made


ESTIMATORS = _make_all()


def estimator_for(model):
    """The class for a fitted model."""
    kind = "classifier" if model.classes else "regressor"
    for made in ESTIMATORS.values():
        if made._model_name == model.name and made._estimator_type == kind:
            return made
    raise NotImplementedError(f"there is no estimator for the model {model.name}")
