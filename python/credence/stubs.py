"""Type hints for editors: python -m credence.stubs > credence/__init__.pyi

The classes are made at import, so a program that only reads the source cannot see them; this writes what
it would see."""
import inspect
import sys

import credence

from ._docs import option_hint
from ._registry import ESTIMATORS

HEADER = '''\
"""{doc}"""
import os
from typing import Any, Literal, Mapping, Sequence, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

__version__: str
'''

ROLES = "target: str | None = None, weights: str | None = None, **options: Any"
# What methods and functions take and give; a test makes sure that none is left out.
SIGNATURES = {
    "fit": "(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self",
    "partial_fit": "(self, X: Any, y: ArrayLike | None = None, "
                   "sample_weight: ArrayLike | None = None) -> Self",
    "predict_next": "(self, level: float = 0.95) -> dict[str, dict[str, float]]",
    "fit_predict": "(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]",
    "transform": "(self, X: Any) -> Floats",
    "fit_transform": "(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Floats",
    "inverse_transform": "(self, X: ArrayLike) -> Floats",
    "get_feature_names_out": "(self, input_features: Sequence[str] | None = None) -> NDArray[Any]",
    "score_samples": "(self, X: Any) -> Floats",
    "predict_interval": "(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]",
    "predict_function": "(self, X: Any, return_std: bool = False, return_cov: bool = False, "
                        "prior: bool = False) -> Any",
    "sample_functions": "(self, X: Any, n_samples: int = 1, random_state: Any = None, "
                        "prior: bool = False) -> Floats",
    "inducing_values": "(self) -> tuple[Any, Floats, Floats]",
    "predict_slopes": "(self, X: Any) -> Floats",
    "predict_proba": "(self, X: Any) -> Floats",
    "decision_function": "(self, X: Any) -> Floats",
    "pairwise_decisions": "(self, X: Any) -> Floats",
    "predict_filtered": "(self, X: Any, y: ArrayLike | None = None) -> Any",
    "predict_smoothed": "(self, X: Any, y: ArrayLike | None = None) -> Any",
    "decode": "(self, X: Any, paths: int | None = None) -> tuple[NDArray[Any], Floats]",
    "path_entropy": "(self, X: Any) -> Floats",
    "forecast": "(self, ahead: int, X: Any = None, y: ArrayLike | None = None, level: float = 0.95) -> Rows",
    "distances": "(self, X: Any) -> Floats",
    "predict_log_joint": "(self, X: Any) -> Floats",
    "predict_proba_interval": "(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]",
    "predict_mean_interval": "(self, X: Any, level: float = 0.95) -> tuple[Floats, Floats]",
    "predict_log_proba": "(self, X: Any) -> Floats",
    "score": "(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float",
    "get_params": "(self, deep: bool = True) -> dict[str, Any]",
    "set_params": "(self, **params: Any) -> Self",
    "describe": "(self) -> Result",
    "save": "(self, path: str | os.PathLike[str]) -> None",
    "load": "(path: str | os.PathLike[str]) -> Any",
    "read_table": "(path: str | os.PathLike[str], model: Any = None, **options: Any) -> Table",
    "evaluate": "(estimator: Any, X: Any, y: ArrayLike | None = None, "
                "sample_weight: ArrayLike | None = None, level: float = 0.95, positive: Any = None) -> Result",
    "cross_validate": "(estimator: Any, X: Any, y: ArrayLike | None = None, "
                      "sample_weight: ArrayLike | None = None, **options: Any) -> Result",
    "plot": "(estimator: Any, X: Any = None, y: ArrayLike | None = None, "
            "path: str | os.PathLike[str] | None = None, level: float = 0.95, "
            "kind: str = 'fit', over: Any = None) -> Figure",
    "cv": f"(model: Any, data: Any, y: Any = None, *, {ROLES}) -> Result",
    "compare": "(data: Any, y: Any = None, *, models: Sequence[Any] | Mapping[str, Any], target: str | None = None, "
               "weights: str | None = None, average: bool = False, **options: Any) -> Result",
    "tune": f"(model: Any, data: Any, y: Any = None, *, over: Mapping[str, Any], {ROLES}) -> Tuning",
    "info": "(data: Any = None, other: Any = None, *, seed: int = 0, **options: Any) -> Result",
    "dist": "(name: str, *parameters: Any, **named: Any) -> Distribution",
    "distributions": "() -> list[str]",
    "set_threads": "(threads: int) -> None",
    "get_threads": "() -> int",
    "version": "() -> dict[str, Any]",
}
FUNCTIONS = {"describe": "(data: Any) -> Result"}   # that methods are called like
DRAWS = "(self, X: Any, n_samples: int = 1, random_state: Any = None)"
TYPE_SIGNATURES = {  # where those of a type differ, or only it has them
    "regressor": {
        "sample": DRAWS + " -> Floats",
        "decide": "(self, X: Any, loss: str | os.PathLike[str] = 'squared') -> tuple[NDArray[Any], Floats]",
    },
    "classifier": {
        "partial_fit": "(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None, "
                       "sample_weight: ArrayLike | None = None) -> Self",
        "sample": DRAWS + " -> NDArray[Any]",
        "decide": "(self, X: Any, loss: str | os.PathLike[str] | ArrayLike = '0-1', "
                  "actions: Sequence[Any] | None = None) -> tuple[NDArray[Any], Floats]",
    },
}
ROWS = {"sample": "(self, n_samples: int = 1, random_state: Any = None) -> NDArray[Any]"}
PREDICT = {
    "regressor": ["    @overload",
                  "    def predict(self, X: Any, return_std: Literal[False] = False) -> Floats: ...",
                  "    @overload",
                  "    def predict(self, X: Any, return_std: Literal[True]) -> tuple[Floats, Floats]: ..."],
    "classifier": ["    def predict(self, X: Any) -> NDArray[Any]: ..."],
    "clusterer": ["    def predict(self, X: Any) -> NDArray[np.int64]: ..."],
}
OF_OUTLIERS = PREDICT["clusterer"]
ATTRIBUTES = {
    "n_features_in_": "int", "feature_names_in_": "NDArray[Any]", "classes_": "NDArray[Any]",
    "coef_": "Floats", "intercept_": "float", "parameters_": "Rows",
    "statistics_": "dict[str, Any]", "report_": "dict[str, Any]", "log_evidence_": "float",
    "log_likelihood_": "float", "n_iter_": "int", "labels_": "NDArray[np.int64]",
    "cluster_names_": "NDArray[Any]",
}
PATH = "str | os.PathLike[str]"
ASK = "evidence: Mapping[str, Any] | None = None, **options: Any"
# Classes that are not made from declarations: their bases, attributes and what methods take and give.
CLASSES = {
    "Table": ("", {}, {
        "__init__": "(self, data: Mapping[str, Any], source: str = 'the data') -> None",
        "__len__": "(self) -> int", "__getitem__": "(self, name: str) -> NDArray[Any]",
        "columns": "list[str]", "types": "dict[str, str]", "missing": "dict[str, int]", "source": "str",
        "to_csr": "(self) -> Any", "write": f"(self, path: {PATH}) -> None"}),
    "Rows": ("list[dict[str, Any]]", {}, {
        "__init__": "(self, rows: Any = ()) -> None",
        "rows": "(self) -> list[dict[str, Any]]", "to_pandas": "(self) -> Any"}),
    "Result": ("dict[str, Any]", {}, {
        "__init__": "(self, values: Mapping[str, Any], table: str | None = None) -> None",
        "__getattr__": "(self, name: str) -> Any", "rows": "(self) -> list[dict[str, Any]]",
        "to_pandas": "(self) -> Any"}),
    "Tuning": ("Result", {"settings": "dict[str, Any]"}, {
        "__init__": "(self, values: Mapping[str, Any], settings: dict[str, Any], fit: Any = None) -> None",
        "estimator": "(self) -> Any"}),
    "Figure": ("", {"svg": "str", "path": f"{PATH} | None"}, {
        "__init__": f"(self, svg: str, path: {PATH} | None = None) -> None", "__fspath__": "(self) -> str",
        "save": f"(self, path: {PATH}) -> Figure"}),
    "Posteriors": ("", {"variables": "list[str]", "marginals": "dict[str, Floats]", "states": "dict[str, list[str]]",
                        "log_evidence": "Floats", "possible": "NDArray[np.bool_]", "se": "Floats", "method": "str",
                        "exact": "bool"}, {
        "__len__": "(self) -> int", "__getitem__": "(self, i: int) -> Result", "to_pandas": "(self) -> Any"}),
    "Distribution": ("", {"name": "str", "parameters": "dict[str, Any]", "log_likelihood": "float | None"}, {
        "__init__": "(self, name: str, *values: Any, **named: Any) -> None",
        **{name: "(self, x: Any) -> Any" for name in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")},
        "quantile": "(self, p: Any) -> Any", "mean": "(self) -> Any", "variance": "(self) -> Any", "sd": "(self) -> Any",
        "mode": "(self) -> Any", "entropy": "(self) -> float", "describe": "(self) -> Result",
        "interval": "(self, level: float = 0.95) -> tuple[float, float]",
        "hdi": "(self, level: float = 0.95) -> tuple[float, float]", "kl": "(self, other: Distribution) -> float",
        "sample": "(self, n_samples: int = 1, random_state: Any = None) -> Floats",
        "fit": "(self, x: Any, sample_weight: ArrayLike | None = None) -> Distribution"}),
    "Network": ("", {"variables": "list[str]"}, {
        "__init__": f"(self, path: {PATH} | Any, format: str = 'auto') -> None",
        "states": "(self, variable: str) -> list[str]", "describe": "(self) -> Result",
        "query": f"(self, *questions: str, {ASK}) -> Any",
        "infer": f"(self, data: Any, targets: str | Sequence[str] | None = None, {ASK}) -> Posteriors",
        "plot": "(self, question: str | None = None, evidence: Mapping[str, Any] | None = None, "
                f"path: {PATH} | None = None) -> Figure",
        "save": f"(self, path: {PATH}, format: str = 'auto') -> None"}),
}


def _doc(text):
    return text.replace("\\", "\\\\").replace('"""', "'''")


def methods(made):
    """The names of the public methods of an estimator, predict apart."""
    return sorted(name for name, _ in inspect.getmembers(made, inspect.isfunction)
                  if not name.startswith("_") and name != "predict")


def attributes(made):
    """The names of what a fit leaves behind."""
    own = {name for name, value in inspect.getmembers(made) if isinstance(value, property)}
    own |= {"n_features_in_", "feature_names_in_"}
    more = {"classifier": {"classes_"}, "clusterer": {"labels_"}}
    return sorted(own | more.get(made._estimator_type, set()))


def class_stub(name, made):
    yield f"\nclass {name}:"
    yield f'    """{_doc(made.__doc__)}"""'
    yield from (f"    {option.name}: {option_hint(option)}" for option in made._options)
    yield from (f"    {attribute}: {ATTRIBUTES[attribute]}" for attribute in attributes(made))
    keywords = ", ".join(f"{o.name}: {option_hint(o)} = {o.default!r}" for o in made._options)
    yield f"    def __init__(self, *, {keywords}) -> None: ..."
    yield from PREDICT.get(made._estimator_type, OF_OUTLIERS if hasattr(made, "predict") else ())
    signatures = SIGNATURES | TYPE_SIGNATURES.get(made._estimator_type, ROWS)
    for method in methods(made):
        yield f"    def {method}{signatures[method].replace('-> Self', f'-> {name}')}:"
        yield f'        """{_doc(inspect.getdoc(getattr(made, method)) or "")}"""'


def plain_class_stub(name, bases, fields, members):
    """A class that is written by hand; a member without parentheses is a property."""
    made = getattr(credence, name)
    yield f"\nclass {name}{f'({bases})' if bases else ''}:"
    yield f'    """{_doc(inspect.getdoc(made))}"""'
    yield from (f"    {field}: {hint}" for field, hint in fields.items())
    for member, signature in members.items():
        yield from () if signature.startswith("(") else ["    @property"]
        yield f"    def {member}{signature if signature.startswith('(') else f'(self) -> {signature}'}:"
        yield f'        """{_doc(inspect.getdoc(getattr(made, member)) or "")}"""'


def lines():
    yield HEADER.format(doc=_doc(credence.__doc__))
    for name in ("CredenceWarning(UserWarning)", "ConvergenceWarning(CredenceWarning)",
                 "DataConversionWarning(CredenceWarning)", "NotFittedError(ValueError, AttributeError)"):
        yield f"class {name}: ..."
    for name, (bases, fields, members) in CLASSES.items():
        yield from plain_class_stub(name, bases, fields, members)
    for name in credence.__all__:
        if inspect.isfunction(getattr(credence, name)):
            yield f"def {name}{FUNCTIONS.get(name) or SIGNATURES[name]}:"
            yield f'    """{_doc(inspect.getdoc(getattr(credence, name)))}"""'
    for name, made in ESTIMATORS.items():
        yield from class_stub(name, made)


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
