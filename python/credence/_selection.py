"""Models on the same folds, and settings chosen by them: what the shell's cv, compare and tune do."""
import os
import re

from . import _inputs, _labels, _options
from . import _declarations as c
from ._context import json_of
from ._estimator import Estimator
from ._library import lib
from ._registry import ESTIMATORS
from ._result import Result
from ._settings import filled, known_names, settings
from ._supervised import TARGET
from ._table import Table, read_table

for _table in ("cr_cv_table", "cr_tune_table"):
    _options.know(_options.read_table(_options.table_address(_table)))


# --- data -------------------------------------------------------------------------------------------


def study_table(data, y=None, target=None, labels=False):
    """(table, name of the target) of a Table, a path, a frame, a dict of columns, or an array with y."""
    if isinstance(data, (str, os.PathLike)):
        data = read_table(data)
    if y is None:
        if not isinstance(data, Table):
            if not hasattr(data, "keys"):
                raise ValueError("y is needed beside an array: the values of the target; or give a frame, a dict of "
                                 "columns, a Table or a path, and target, the name of a column")
            data = Table(data)
        return data, target
    if isinstance(data, Table):
        raise ValueError("a Table holds its target: name the column with target instead of passing y")
    features = _inputs.read_features(data)
    name = _inputs.free_name([target, getattr(y, "name", None), TARGET],
                             features.names or _inputs.plain_names(features.width))
    table = _inputs.feature_table(features, features.names)
    y = _inputs.read_vector(y, features.rows)
    table._add(name, _labels.column(y) if labels else y)
    return table, name


# --- models -----------------------------------------------------------------------------------------


def _takers(name):
    """The estimators of a model."""
    found = [made for made in ESTIMATORS.values() if made._model_name == name]
    if not found:
        import difflib   # only a mistake needs it
        near = difflib.get_close_matches(name, {made._model_name for made in ESTIMATORS.values()}, 1)
        raise ValueError(f"there is no model {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return found


class Spec:
    """A model to be fitted: an estimator, its class, or a text as the shell has it, 'ridge:lambda=10'."""

    def __init__(self, model):
        if isinstance(model, type) and issubclass(model, Estimator):
            model = model()
        if isinstance(model, Estimator):
            self.name, self.task, self.estimator = model._model_name, model._task, model
            self.options, self.pairs = model._options, dict(model._settings())
            own = ",".join(f"{name}={value}" for name, value in self.pairs.items())
            self.label = self.name + (f":{own}" if own else "")
        elif isinstance(model, str):
            self.name, _, rest = model.partition(":")
            self.task, self.label = None, model
            self.options = {o.c_name: o for made in _takers(self.name) for o in made._options}.values()
            self.estimator = None
            self.pairs = dict(self._pair(model, item) for item in re.split(r",(?=[\w-]+=)", rest) if item)
        else:
            raise TypeError(f"a model is an estimator or a name, such as 'linear', not {model!r}")

    def _pair(self, text, item):
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"{text}: {item!r} is not OPTION=VALUE")
        return name.replace("-", "_"), value

    def add(self, common):
        """Takes of the settings for all models those that this one has; gives their names."""
        taken = {o.name: o for o in self.options if o.name in common}
        own = {o.c_name: _options.to_text(o, common[name]) for name, o in taken.items()}
        self.pairs = {**own, **self.pairs}
        return set(taken)

    def __call__(self, target, weights):
        """The c.ModelSpec for a target and weights; what it points to is kept."""
        roles = {"target": target, "weights": weights, "task": self.task}
        self._kept = settings(list({**self.pairs, **{k: v for k, v in roles.items() if v is not None}}.items()))
        return c.ModelSpec(self.name.encode(), *self._kept)

    @property
    def is_classifier(self):
        return getattr(self.estimator, "_estimator_type", "") == "classifier"


def _read_specs(models, keywords, *tables):
    """(specs, {table: its options}) with keywords that are options of the study, or else of the models."""
    specs = [Spec(model) for model in models]
    studies = {table: {name: keywords[name] for name in known_names(table) if name in keywords} for table in tables}
    common = {name: value for name, value in keywords.items() if not any(name in s for s in studies.values())}
    unknown = set(common) - set().union(*(spec.add(common) for spec in specs)) if common else ()
    for name in common:
        if name in unknown:
            raise TypeError(f"{name!r} is neither an option of the study nor one of the models; options: "
                            f"{', '.join(option for table in tables for option in known_names(table))}")
    return specs, studies


# --- studies ----------------------------------------------------------------------------------------


def cv(model, data, y=None, *, target=None, weights=None, **options):
    """Cross-validation: the scores of a model on rows it has not seen, with standard errors.

    model is an estimator or a name, such as 'linear' or 'ridge:lambda=10'; data is a frame, a dict of columns, a Table
    or a path, with the name of the column ``target``, or an array with y.

    Options: ``folds`` (10), ``repeats`` (1), ``split`` ('auto', 'shuffled', 'stratified', 'ordered'), ``group`` (a column
    whose values stay in one fold), ``interval`` (0.95), and those of the model, including ``seed``.

    Returns a Result with model, rows, seed, metrics, se and folds, as ``credence cv --json``.

    Examples
    --------
    >>> credence.cv("linear", "diabetes.csv", target="progression", folds=5).metrics["rmse"]
    >>> credence.cv(credence.Ridge(lambda_=10), X, y).to_pandas()
    """
    specs, studies = _read_specs([model], options, "cr_cv_table")
    table, target = study_table(data, y, target, specs[0].is_classifier)
    with filled("cr_cv_table", studies["cr_cv_table"]) as values:
        found = json_of(lib.cr_cv_report, specs[0](target, weights), table._handle.pointer, values)
    return Result({"model": specs[0].label, **found}, "metrics")


def compare(data, y=None, *, models, target=None, weights=None, average=False, **options):
    """Several models on the same folds: which is better, and is the difference more than chance?

    models is a list of estimators or names, or a dict of them by display name; average=True also scores their Bayesian
    average.  data and options are those of ``cv``; options of models apply to those that have them.

    Returns a Result with models (metrics, se, difference from the best, p, log_evidence, probability, ...), best and
    weights, as ``credence compare --json``; ``to_pandas()`` has a row for each model.

    Examples
    --------
    >>> credence.compare("diabetes.csv", target="progression", models=["linear", "ridge:lambda=10"]).to_pandas()
    >>> credence.compare(X, y, models={"plain": credence.Linear(), "shrunk": credence.Ridge(lambda_=10)}).best
    """
    named = models if isinstance(models, dict) else None
    specs, studies = _read_specs(named.values() if named else models, options, "cr_cv_table")
    names = list(named) if named else [spec.label for spec in specs]
    if len(specs) < 2:
        raise ValueError("compare takes two models or more; cv judges one")
    table, target = study_table(data, y, target, any(spec.is_classifier for spec in specs))
    array = (c.ModelSpec * len(specs))(*(spec(target, weights) for spec in specs))
    texts = (c.c_char_p * len(names))(*(str(name).encode() for name in names))
    with filled("cr_cv_table", studies["cr_cv_table"]) as values:
        return Result(json_of(lib.cr_compare_report, array, texts, len(specs), table._handle.pointer, values, average),
                      "models")


class Tuning(Result):
    """The result of tune, and the winner.

    ``settings`` has the chosen values with Python's names and types, ``estimator()`` the winner fitted to all rows."""

    def __init__(self, values, settings, fit=None):
        super().__init__(values, "candidates")
        self.settings, self._fit = settings, fit

    def __reduce__(self):
        return Tuning, (dict(self), self.settings)

    def estimator(self):
        """The winner, fitted to all rows."""
        if self._fit is None:
            raise ValueError("the data are not here any more: fit an estimator with the settings")
        return self._fit()


def _over_text(option, values):
    """Values to try: a text as the shell has it, 0.01..100:log:20, or a list of them."""
    if isinstance(values, str):
        return values
    if not hasattr(values, "__iter__"):
        raise ValueError(f"over: {option.name} has the values to try as a list or as a text, such as '0.01..100:log:20'")
    return "|".join(_options.to_text(option, value) for value in values)


def tune(model, data, y=None, *, over, target=None, weights=None, **options):
    """Settings of a model chosen by cross-validation on fixed folds.

    over is a dict from options to the values to try, a list or a string such as '0.01..100:log:20'.  model, data and
    options are those of ``cv``; further options are ``search`` ('grid', or 'random' with the number of ``draws``),
    ``metric`` to optimise, and ``rule`` ('best', or '1se' for the simplest within one standard error).

    Returns a Tuning: a Result with chosen, best and candidates, as ``credence tune --json``, the ``settings`` that were
    chosen, and ``estimator()``, the winner fitted to all rows.

    Examples
    --------
    >>> found = credence.tune(credence.Ridge(), X, y, over={"lambda_": [0.1, 1, 10]})
    >>> found.settings, found.estimator().predict(X_new)
    """
    specs, studies = _read_specs([model], options, "cr_tune_table", "cr_cv_table")
    spec = specs[0]
    known = {o.name: o for o in spec.options} | {o.c_name: o for o in spec.options}
    for name in over:
        if name not in known:
            raise TypeError(f"over: {spec.name} has no option {name!r}")
    tried = ",".join(_options.list_item(f"{known[name].c_name}={_over_text(known[name], values)}")
                     for name, values in over.items())
    table, target = study_table(data, y, target, spec.is_classifier)
    with filled("cr_tune_table", {**studies["cr_tune_table"], "over": tried}) as how, \
            filled("cr_cv_table", studies["cr_cv_table"]) as folds:
        found = json_of(lib.cr_tune_report, spec(target, weights), table._handle.pointer, how, folds)

    chosen = {known[name].name: _options.from_text(known[name], text)
              for name, text in found["chosen"]["settings"].items()}

    def fit():
        made = _fitting_class(spec, table, target)
        given = {o.name: _options.from_text(o, spec.pairs[o.c_name]) for o in made._options if o.c_name in spec.pairs}
        group = studies["cr_cv_table"].get("group")
        if group:   # its column is not a feature
            given["features"] = [*filter(None, [given.get("features")]), f"!{group}"]
        estimator = made(**{**given, **chosen, "weights": weights})
        return estimator.set_params(target=target).fit(table) if y is None else estimator.fit(data, y)
    return Tuning({"model": spec.label, **found}, chosen, fit)


def _fitting_class(spec, table, target):
    """The estimator class of a model for this target."""
    takers = _takers(spec.name)
    if spec.estimator is not None:
        return type(spec.estimator)
    of_classes = target is not None and table.types[target] in ("category", "boolean")
    wanted = "classifier" if of_classes else "regressor"
    return next((made for made in takers if made._estimator_type == wanted), takers[0])
