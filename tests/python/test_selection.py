"""cv, compare and tune: the names and numbers of the shell, on data of any kind."""
import json
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, assert_no_leak, data, interrupted

import credence

DIABETES, IRIS = ROOT / "examples/diabetes.csv", ROOT / "examples/iris.csv"


def as_printed(text):
    return {name: value for name, value in json.loads(text).items() if name not in ("schema", "warnings")}


def plain(result):
    return json.loads(json.dumps(result))


def test_cv_is_that_of_the_shell(shell):
    printed = as_printed(shell("cv", "ridge", DIABETES, "--target", "progression", "--lambda", 10, "--folds", 4,
                               "--repeats", 2, "--seed", 3, "--json"))
    ours = credence.cv("ridge", DIABETES, target="progression", lambda_=10, folds=4, repeats=2, seed=3)
    assert plain(ours) == printed
    by_hand = credence.cross_validate(credence.Ridge(lambda_=10, seed=3, target="progression"),
                                      credence.read_table(DIABETES), folds=4, repeats=2)
    assert ours.metrics == by_hand["mean"] and ours["se"] == by_hand["se"]
    frame = ours.to_pandas()
    assert list(frame.columns) == ["metric", "mean", "se"] and frame["mean"][0] == ours.metrics["log_score"]


def test_comparison_is_that_of_the_shell(shell):
    models = ["linear", "ridge:lambda=10", "bayes-linear"]
    printed = as_printed(shell("compare", *models, DIABETES, "--target", "progression", "--folds", 4, "--json"))
    ours = credence.compare(DIABETES, target="progression", models=models, folds=4)
    assert plain(ours) == printed
    frame = ours.to_pandas()
    assert frame.model.tolist() == models and frame.rmse[1] == ours.models[1]["metrics"]["rmse"]
    named = credence.compare(pd.read_csv(DIABETES), target="progression", folds=4, models={
        "plain": credence.Linear, "shrunk": credence.Ridge(lambda_=10), "bayes": "bayes-linear"})
    assert [m["metrics"] for m in named.models] == [m["metrics"] for m in ours.models]
    assert [m["model"] for m in named.models] == ["plain", "shrunk", "bayes"] and set(named.best.values()) <= {"plain", "shrunk", "bayes"}
    printed = as_printed(shell("compare", "linear", "linear:features=bmi", DIABETES, "--target", "progression", "--average",
                               "--folds", 4, "--json"))
    assert plain(credence.compare(DIABETES, target="progression", models=["linear", "linear:features=bmi"], average=True,
                                  folds=4)) == printed


def test_tuning_is_that_of_the_shell(shell, tmp_path):
    printed = as_printed(shell("tune", "ridge", DIABETES, "--target", "progression", "--over", "lambda=0.1..100:log:4",
                               "--over", "basis=poly:1|poly:2", "--folds", 3, "--rule", "1se", "-o", "m.cred", "--json"))
    printed.pop("output")
    ours = credence.tune("ridge", DIABETES, target="progression", folds=3, rule="1se",
                         over={"lambda_": "0.1..100:log:4", "basis": ["poly:1", "poly:2"]})
    assert plain(ours) == printed
    winner, saved = ours.estimator(), credence.load(tmp_path / "m.cred")
    assert isinstance(winner, credence.Ridge) and winner.get_params()["lambda_"] == ours.settings["lambda_"]
    np.testing.assert_array_equal(winner.predict(credence.read_table(DIABETES)), saved.predict(credence.read_table(DIABETES)))
    assert len(ours.to_pandas()) == len(ours.candidates) == 8
    again = pickle.loads(pickle.dumps(ours))
    assert again == ours and again.settings == ours.settings
    with pytest.raises(ValueError, match="not here any more"):
        again.estimator()


def test_arrays_and_estimators():
    X, y = data(rows=60)
    wanted = credence.cross_validate(credence.Ridge(lambda_=2), X, y, folds=3)["mean"]
    assert credence.cv(credence.Ridge(lambda_=2), X, y, folds=3).metrics == wanted
    frame = pd.DataFrame(X, columns=list("abcd")).assign(z=y)
    assert credence.cv(credence.Ridge(lambda_=2), frame, target="z", folds=3).metrics == pytest.approx(wanted)
    assert credence.cv(credence.Ridge(lambda_=2), dict(frame), target="z", folds=3).metrics == pytest.approx(wanted)
    tuned = credence.tune(credence.Ridge, X, y, over={"lambda_": np.array([0.1, 1, 10])}, folds=3)
    scores = [credence.cv(credence.Ridge(lambda_=x), X, y, folds=3).metrics["log_score"] for x in (0.1, 1, 10)]
    assert tuned.settings == {"lambda_": (0.1, 1.0, 10.0)[int(np.argmax(scores))]}
    assert tuned.estimator().predict(X).shape == (60,)


def test_classes():
    X, y = data(rows=60)
    labels = np.where(y + np.random.default_rng(1).normal(size=60) * 5 > np.median(y), 1, 0)
    found = credence.compare(X, labels, models=[credence.Lda(), credence.Logistic()], folds=3)
    assert "log_loss" in found.models[0]["metrics"]
    assert credence.cv(credence.Lda(), X, labels, folds=3).metrics == found.models[0]["metrics"]
    tuned = credence.tune("knn", IRIS, target="species", over={"k": [1, 5]}, metric="accuracy", folds=3)
    assert tuned.metric == "accuracy" and isinstance(tuned.estimator(), credence.KnnClassifier)
    lda = credence.Lda().fit(X, labels)
    swapped = credence.Lda().fit(X, 1 - labels)
    for name, value in credence.evaluate(lda, X, labels, positive=0).items():
        assert value == pytest.approx(credence.evaluate(swapped, X, 1 - labels)[name]), name


def test_the_group_is_not_a_feature():
    X, y = data(rows=60)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(z=y, who=[f"p{i // 6}" for i in range(60)])
    tuned = credence.tune("ridge", frame, target="z", over={"lambda_": [1, 2]}, group="who", folds=5)
    assert tuned.estimator()._model.columns == list("abcd")


@pytest.mark.parametrize("wrong, exception, words", [
    (lambda: credence.cv("linar", DIABETES, target="progression"), ValueError, "did you mean 'linear'"),
    (lambda: credence.cv("linear", DIABETES, target="progres"), ValueError, "column 'progres' not found"),
    (lambda: credence.cv("linear", DIABETES, target="progression", fold=3), TypeError, "'fold' is neither"),
    (lambda: credence.cv("linear", DIABETES, target="progression", folds=1), ValueError, "folds: '1'"),
    (lambda: credence.cv("ridge:lambda", DIABETES, target="progression"), ValueError, "not OPTION=VALUE"),
    (lambda: credence.cv(3, DIABETES), TypeError, "a model is an estimator or a name"),
    (lambda: credence.cv("linear", np.ones((3, 2))), ValueError, "y is needed"),
    (lambda: credence.compare(DIABETES, models=["linear"], target="progression"), ValueError, "two models or more"),
    (lambda: credence.tune("ridge", DIABETES, target="progression", over={"lam": [1]}), TypeError, "no option 'lam'"),
    (lambda: credence.tune("ridge", DIABETES, target="progression", over={"lambda_": 1}), ValueError, "as a list"),
    (lambda: credence.tune("ridge", DIABETES, target="progression", over={"lambda_": [1]}, metric="f"), ValueError, "no score 'f'")])
def test_refusals(wrong, exception, words):
    with pytest.raises(exception, match=words):
        wrong()


def test_no_leak():
    X, y = data(rows=30)

    def use():
        credence.compare(X, y, models=["linear", "ridge"], folds=2)
        credence.tune("ridge", X, y, over={"lambda_": [1, 2]}, folds=2)
        with pytest.raises(ValueError):
            credence.cv("ridge", X, y, folds=2, lambda_=-1)
    assert_no_leak(use, 100)


def test_ctrl_c():
    X, y = data(rows=3000, columns=40)
    with interrupted():
        credence.compare(X, y, models=["linear", "ridge"], folds=3000)


def test_every_table_comes_in_the_same_way(monkeypatch):
    """rows() is the table, to_pandas() the same as a frame; without pandas the rows are still there."""
    table = credence.read_table(DIABETES)
    model = credence.Linear(target="progression").fit(table)
    fits = dict(target="progression", folds=3)
    answers = {
        "parameters": model.parameters_,
        "describe": model.describe(),
        "evaluate": credence.evaluate(model, table),
        "cross_validate": credence.cross_validate(credence.Linear(target="progression"), table, folds=3),
        "cv": credence.cv("linear", DIABETES, **fits),
        "compare": credence.compare(DIABETES, models=["linear", "ridge"], **fits),
        "tune": credence.tune("ridge", DIABETES, over={"lambda_": [1, 10]}, **fits),
        "columns": credence.describe(DIABETES),
        "density": credence.evaluate(credence.Normal().fit(table), table),
    }
    for name, answer in answers.items():
        rows, frame = answer.rows(), answer.to_pandas()
        assert rows and all(isinstance(row, dict) for row in rows), name
        pd.testing.assert_frame_equal(frame, pd.DataFrame(rows))
        again = pickle.loads(pickle.dumps(answer))
        assert again.rows() == rows and type(again) is type(answer), name
    assert [row["name"] for row in answers["describe"].rows()][:2] == ["intercept", "age"]
    assert answers["parameters"] == answers["describe"]["parameters"] == answers["parameters"].rows()
    scores = answers["evaluate"]
    assert scores.rows()[1] == {"metric": "rmse", "value": scores["rmse"]} and scores.rmse == scores["rmse"]
    assert set(answers["density"].rows()[0]) == {"metric", "value", "se"}
    assert answers["cross_validate"].rows() == answers["cv"].rows()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert all(answer.rows() for answer in answers.values())
    with pytest.raises(ImportError):
        answers["parameters"].to_pandas()
