"""Python and the command line are one: the same model file, the same numbers to the last bit."""
import csv
import io

import numpy as np
import pandas as pd
import pytest
from conftest import REGRESSORS, answers, brief, data, short_search

import credence


def numbers(text):
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0][:4] == ["mean", "sd", "lower", "upper"]  # and of some models an interval of the mean
    return np.array([row[:4] for row in rows[1:]], dtype=float)


def write_csv(path, X, y, names=None):
    frame = pd.DataFrame(X, columns=names or [f"x{j + 1}" for j in range(X.shape[1])])
    frame.assign(y=y).to_csv(path, index=False)


@pytest.mark.parametrize("made", REGRESSORS)
def test_fitted_here_used_there(made, shell, tmp_path):
    X, y = data(rows=150)
    write_csv(tmp_path / "d.csv", X, y)
    model = brief(made).fit(X, y)
    model.save(tmp_path / "m.cred")
    there = numbers(shell("predict", "m.cred", "d.csv", "--interval", "0.8"))
    np.testing.assert_array_equal(there, answers(model, X, 0.8))
    again = credence.load(tmp_path / "m.cred")
    assert type(again) is made and again.get_params() == model.get_params() | {"target": "y"}
    assert not hasattr(again, "feature_names_in_") and again.n_features_in_ == 4
    np.testing.assert_array_equal(answers(again, X, 0.8), there)


@pytest.mark.parametrize("made", REGRESSORS)
def test_fitted_there_used_here(made, shell, tmp_path):
    X, y = data(rows=150)
    write_csv(tmp_path / "d.csv", X, y, names=["a", "b", "c", "d"])
    options = ["--task", made._task] if made._task else []
    for name, value in short_search(made).items():
        options += [f"--{name.replace('_', '-')}", str(value)]
    shell("fit", made._model_name, "d.csv", "--target", "y", "--basis", "poly:2", *options, "-o", "there.cred")
    there = credence.load(tmp_path / "there.cred")
    assert there.basis == "poly:2" and list(there.feature_names_in_) == ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    found = numbers(shell("predict", "there.cred", "d.csv"))
    np.testing.assert_array_equal(found, answers(there, frame, 0.95))
    here = brief(made, basis="poly:2").fit(frame, pd.Series(y, name="y"))
    np.testing.assert_array_equal(found, answers(here, frame, 0.95))
    here.save(tmp_path / "here.cred")
    assert (tmp_path / "here.cred").read_bytes() == (tmp_path / "there.cred").read_bytes()


def test_categories_weights_and_options_travel(shell, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "color": rng.choice(["red", "green", "blue"], 50),
                          "w": rng.uniform(1, 2, 50)})
    frame["price"] = frame.x + (frame.color == "red") + 0.1 * rng.normal(size=50)
    frame.to_csv(tmp_path / "d.csv", index=False)
    here = credence.Ridge(lambda_=0.5, weights="w", reference="frequent")
    here.fit(frame.drop(columns="price"), frame.price)
    here.save(tmp_path / "m.cred")
    shell("fit", "ridge", "d.csv", "--target", "price", "--weights", "w", "--lambda", "0.5", "--reference",
          "frequent", "-o", "there.cred")
    assert shell("predict", "m.cred", "d.csv") == shell("predict", "there.cred", "d.csv")
    loaded = credence.load(tmp_path / "there.cred")
    assert loaded.lambda_ == 0.5 and loaded.weights == "w" and loaded.target == "price"
    np.testing.assert_array_equal(loaded.predict(frame[["x", "color"]]), here.predict(frame[["x", "color"]]))


def test_evaluate_agrees(shell, tmp_path):
    import json
    X, y = data(rows=80)
    write_csv(tmp_path / "d.csv", X, y)
    model = credence.BayesLinear().fit(X, y)
    model.save(tmp_path / "m.cred")
    found = json.loads(shell("evaluate", "m.cred", "d.csv", "--json"))["metrics"]
    assert credence.evaluate(model, X, y) == found
    cv = json.loads(shell("cv", "bayes-linear", "d.csv", "--target", "y", "--folds", "4", "--seed", "3",
                          "--json"))
    ours = credence.cross_validate(credence.BayesLinear(seed=3), X, y, folds=4)
    assert ours["mean"] == cv["metrics"] and ours["se"] == cv["se"]
