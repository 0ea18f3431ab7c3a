"""Docstrings speak Python: literals, keywords, and an example that runs."""
import ast
import inspect
import re

import pytest
from conftest import ESTIMATORS, columns_for, data, target_for

import credence

MODELS = [made for made in ESTIMATORS if not made._model_name.startswith("toy-")]


def example_of(made):
    return "\n".join(line[4:] for line in made.__doc__.splitlines() if line.startswith(">>> "))


@pytest.mark.parametrize("made", MODELS)
def test_the_example_runs(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = data(rows=40, columns=2)
    X, y = columns_for(made, X), target_for(made, y)
    if made is credence.Glm:
        y = abs(y).round()         # counts, for family='poisson'
    code = example_of(made)
    assert code.startswith(f"model = {made.__name__}(") and len(code.splitlines()) >= 3
    found = {made.__name__: made, "X": X, "y": y, "X_new": X[:5]}
    exec(code, found)
    assert found["model"].__sklearn_is_fitted__() and (tmp_path / "model.cred").is_file()


@pytest.mark.parametrize("made", MODELS)
def test_words_are_those_of_python(made):
    doc = made.__doc__
    assert not re.search(r"--[a-z]", doc), re.findall(r".*--[a-z].*", doc)
    for name, value in re.findall(r"Example:\s+(\w+)=(.*?)\.\n", doc.replace("\n    ", " ")):
        assert name in made().get_params()
        ast.literal_eval(value)
    assert len(re.findall(r"Example:", doc)) == sum(bool(o.example) for o in made._options)


def test_options_of_classes_are_for_classifiers():
    for made in MODELS:
        names = set(inspect.signature(made.__init__).parameters)
        kind = made._estimator_type
        assert ("class_weights" in names) == (kind == "classifier")
        assert ("conformal" in names) == ("transform_target" in names) == (kind == "regressor")
        assert ("calibrate" in names) == (kind in ("classifier", "regressor"))
    assert "smoothing" not in credence.KnnRegressor().get_params() and "smoothing" in credence.KnnClassifier().get_params()
    assert "criterion" not in credence.TreeRegressor().get_params() and "criterion" in credence.TreeClassifier().get_params()
    assert "calibrate : {'none', 'conformal'}" in credence.Ridge.__doc__
    assert "calibrate : {'none', 'isotonic', 'platt'}" in credence.Lda.__doc__


@pytest.mark.parametrize("name", ["compare", "cv", "dist", "evaluate", "tune", "Network", "Table", "read_table"])
def test_functions_and_classes_by_hand(name):
    assert not re.search(r"(?<!`)--(?!json|seed|format)[a-z]", inspect.getdoc(getattr(credence, name)))
