"""Support vector machines at the command line: decisions without probabilities, and with them; what needs them."""
import csv
import io
import json

import pytest

IRIS = ["examples/iris.csv", "--target", "species"]

pytestmark = pytest.mark.usefixtures("examples")


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_decisions_alone(credence, examples):
    assert credence("fit", "svm", *IRIS, "-o", "m.cred").code == 0
    out = rows(credence("predict", "m.cred", "examples/iris.csv").stdout)
    assert out[0] == ["label", "decision_versicolor/setosa", "decision_virginica/setosa",
                      "decision_virginica/versicolor"]
    truth = [line[-1] for line in rows(open(examples / "iris.csv").read())[1:]]
    assert sum(line[0] == name for line, name in zip(out[1:], truth)) >= 140
    one = json.loads(credence("predict", "m.cred", "examples/iris.csv", "--json").stdout)["predictions"][0]
    assert set(one) == {"label", "decisions"} and len(one["decisions"]) == 3
    judged = credence("evaluate", "m.cred", "examples/iris.csv", "--json")
    metrics = json.loads(judged.stdout)["metrics"]
    assert metrics["log_loss"] is None and metrics["accuracy"] > 0.9
    assert "gives no probabilities" in judged.stderr


def test_what_needs_probabilities(credence, refused):
    assert credence("fit", "svm", *IRIS, "-o", "m.cred").code == 0
    refused(2, "predict", "m.cred", "examples/iris.csv", "--draws", "2", says=["without probabilities", "platt"])
    refused(2, "plot", "m.cred", "examples/iris.csv", "--kind", "calibration", says="--calibrate platt")
    assert credence("plot", "m.cred", "examples/iris.csv", "--kind", "roc").code == 0


def test_calibrated(credence):
    assert credence("fit", "svm", *IRIS, "--calibrate", "platt", "-o", "m.cred").code == 0
    out = rows(credence("predict", "m.cred", "examples/iris.csv", "--decision").stdout)
    assert out[0] == ["label", "p_setosa", "p_versicolor", "p_virginica", "decision_versicolor/setosa",
                      "decision_virginica/setosa", "decision_virginica/versicolor"]
    for line in out[1:]:
        p = [float(x) for x in line[1:4]]
        assert sum(p) == pytest.approx(1) and line[0] == ["setosa", "versicolor", "virginica"][p.index(max(p))]
    assert credence("predict", "m.cred", "examples/iris.csv", "--draws", "2").code == 0


def test_tune_by_accuracy(credence):
    said = json.loads(credence("tune", "svm", *IRIS, "--over", "C=0.1|10", "--json").stdout)
    assert said["metric"] == "accuracy"


def test_decision_is_for_machines(credence, refused, model):
    refused(2, "predict", str(model), "examples/diabetes.csv", "--decision", says="has no decision values")


def test_no_hard_margin(refused):
    refused(3, "fit", "svm", *IRIS, "--features", "sepal*", "--C", "inf", says=["cannot be separated", "--C 100"])
