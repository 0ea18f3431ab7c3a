"""How good a model is, and how it looks: the library's own assessment of estimators."""
import ctypes
import math
import os

from . import _declarations as c
from . import _inputs
from . import _options
from ._context import work
from ._library import lib
from ._model import Model
from ._registry import estimator_for
from ._result import Result, Scores, draw
from ._settings import filled, settings
from ._table import Table


def load(path):
    """The fitted estimator in a ``.cred`` file, saved by ``save`` or by ``credence fit -o``.

    Its columns are those that the model reads.  Names x1, x2, ... count as no names: such a model was fitted to an
    array.
    """
    model = Model.load(os.fspath(path))
    made = estimator_for(model)
    kept = model.describe()["settings"]
    estimator = made(**{option.name: _options.from_text(option, kept.get(option.c_name))
                        for option in made._options})
    names = model.columns
    estimator._model = model
    estimator._remember(len(names), None if names == _inputs.plain_names(len(names)) else names)
    if model.classes:
        from ._labels import from_texts
        estimator.classes_ = from_texts(model.classes)
    return estimator


def _assessed_table(estimator, X, y, sample_weight):
    """A table with features, target and weights, as the fitted estimator calls them."""
    if isinstance(X, Table):
        return X
    model = estimator._fitted()
    if model.target is None:
        y = None
    elif y is None:
        y = _inputs.frame_column(X, model.target)
    if sample_weight is None and model.weights is not None:
        sample_weight = _inputs.frame_column(X, model.weights)
    if y is None and model.target is not None:
        raise ValueError("y is needed: the values of the target that are compared with the predictions")
    if sample_weight is not None and model.weights is None:
        raise ValueError("sample_weight is given, but the model was fitted without weights")
    return estimator._table(X, y, sample_weight)


def _metrics(assessment):
    return {assessment.metrics[i].name.decode(): assessment.metrics[i].value for i in range(assessment.n)}


def _errors(assessment):
    """Standard errors over the rows, of the metrics that have one."""
    metrics = (assessment.metrics[i] for i in range(assessment.n))
    return {f"{m.name.decode()}_se": m.se for m in metrics if not math.isnan(m.se)}


def evaluate(estimator, X, y=None, sample_weight=None, level=0.95, positive=None):
    """The metrics of a fitted estimator on given rows, by name: for numbers log_score, rmse, mae, r2,
    crps, and the coverage and width of its intervals of mass `level`; for classes log_loss, accuracy,
    brier, auc, calibration_error, balanced_accuracy, f1, average_precision; for densities log_score,
    the mean log density, and log_score_se.  auc, f1 and average_precision are of the class `positive`, by default the
    second of two, or means over all of more.  ``to_pandas()`` has a row for each metric."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}, which is not between 0 and 1")
    table = _assessed_table(estimator, X, y, sample_weight)
    model, assessment = estimator._fitted(), c.Assessment()
    judging = c.Judging(level=level, opt_positive=None if positive is None else str(positive).encode())
    work(lib.cr_evaluate_with, model._pointer, table._handle.pointer, judging, assessment).pass_warnings_on()
    return Scores(_metrics(assessment) | _errors(assessment))


def cross_validate(estimator, X, y=None, sample_weight=None, **options):
    """Cross-validation by the library: folds depend only on the estimator's seed and the number of rows.

    Options: ``folds`` (10), ``split`` ('auto', 'shuffled', 'stratified', 'ordered'), ``repeats`` (1),
    ``interval`` (0.95), ``positive`` (the class that auc, f1 and average_precision are of; by default the second of two,
    the mean over all of more).  Returns
    {'mean': metrics, 'se': their standard errors, 'folds': [metrics of each]}, a Result whose ``to_pandas()`` has a row
    for each metric.
    """
    table, target, weights, _, _ = estimator._training_table(X, y, sample_weight)
    cv = c.Cv()
    with filled("cr_cv_table", options) as values:
        context = work(lib.cr_cross_validate, estimator._model_name.encode(), table._handle.pointer,
                       *settings(estimator._settings(target=target, weights=weights, task=estimator._task)),
                       values, cv)
    mean = _metrics(cv.mean)
    result = Result({"mean": mean, "se": dict(zip(mean, cv.se)),
                     "folds": [_metrics(cv.fold[k]) for k in range(cv.folds * cv.repeats)]}, "mean")
    lib.cr_cv_free(context.handle, cv)
    context.pass_warnings_on()
    return result


def plot(estimator, X=None, y=None, path=None, level=0.95, kind="fit", over=None):
    """A fitted estimator and rows of data as a ``Figure``, which is SVG; also written to path, if given.

    kind is 'fit' (the model with its band, observed against predicted, rows by cluster, or a biplot), 'residuals',
    'learning-curve'; for classes 'calibration', 'roc', 'pr'; for the role of columns 'importance' and 'dependence'; for
    Gaussian processes 'components', 'map', 'evidence'; for a lasso 'path'; for clusters 'components', 'criterion',
    'responsibilities'; for coordinates 'scree', 'biplot', 'loadings'.  No rows are needed for 'path', 'criterion',
    'scree' and 'loadings'.  level is the mass of the intervals drawn.  over lists the columns on the axes if the model
    has more: two for 'map' and for clusters, one for 'fit' and 'components', any for 'importance' and 'dependence'; the
    others are held at their median or most common level, or keep their values in each row."""
    if kind not in c.PLOT_KINDS:
        raise ValueError(f"there is no kind {kind!r} of figures; kinds: {', '.join(c.PLOT_KINDS)}")
    table = None if X is None else _assessed_table(estimator, X, y, None)
    columns = [over] if isinstance(over, str) else list(over or ())
    names = (ctypes.c_char_p * len(columns))(*(str(name).encode() for name in columns))
    options = c.PlotOptions(level=level, over=names, n_over=len(columns))
    model, rows = estimator._fitted(), None if table is None else table._handle.pointer
    return draw(path, lambda file: work(lib.cr_plot_with, model._pointer, rows, c.PLOT_KINDS.index(kind), options,
                                        file).pass_warnings_on())
