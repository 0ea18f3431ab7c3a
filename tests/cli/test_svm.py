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


def machines(credence, data, *options):
    said = json.loads(credence("fit", "svm", str(data), "--multi", "crammer-singer", *options, "-o", "m.cred",
                               "--json").stdout)
    return said, rows(credence("predict", "m.cred", str(data)).stdout)


def test_classes_together(credence):
    said, out = machines(credence, "examples/iris.csv", "--target", "species", "--tol", "1e-6")
    assert said["statistics"]["multi"] == "crammer-singer" and len(said["machines"]) == 3
    assert said["statistics"]["dual_objective"] == pytest.approx(sum(m["dual_objective"] for m in said["machines"]))
    assert said["statistics"]["duality_gap"] == pytest.approx(sum(m["duality_gap"] for m in said["machines"]))
    assert out[0] == ["label", "decision_setosa", "decision_versicolor", "decision_virginica"]
    for line in out[1:]:
        f = [float(x) for x in line[1:]]
        assert line[0] == ["setosa", "versicolor", "virginica"][f.index(max(f))]


def test_sparse_rows_of_classes_together(credence, tmp_path, examples):
    """Sparse rows are not centred, but the machine is that of standardised columns."""
    table = rows(open(examples / "iris.csv").read())
    names = sorted({line[-1] for line in table[1:]})
    text = "".join(f"{names.index(line[-1])} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(line[:-1])) + "\n"
                   for line in table[1:])
    (tmp_path / "iris.svm").write_text(text)
    how = ["--kernel", "linear", "--tol", "1e-8"]
    dense, values = machines(credence, "examples/iris.csv", "--target", "species", *how)
    sparse, others = machines(credence, tmp_path / "iris.svm", "--target", "y", "--task", "classification", *how)
    assert sparse["statistics"]["dual_objective"] == pytest.approx(dense["statistics"]["dual_objective"], rel=1e-6)
    for a, b in zip(values[1:], others[1:]):
        assert [float(x) for x in a[1:]] == pytest.approx([float(x) for x in b[1:]], abs=2e-3)


def test_path_as_a_figure(credence, refused):
    sex = ["examples/diabetes.csv", "--target", "sex", "--features", "bmi,bp", "--task", "classification", "-o", "m.cred"]
    assert credence("fit", "svm", *sex, "--path", "0.1,1,10", "--loo").code == 0
    said = credence("plot", "m.cred", "--kind", "path").stdout
    assert "with each row left out" in said and "support vectors" in said and "The model has C = 1." in said
    assert credence("fit", "svm", *sex).code == 0
    refused(2, "plot", "m.cred", "--kind", "path", says="--path 0.01,0.1,1,10,100")


def test_region_as_a_map(credence, tmp_path):
    assert credence("fit", "one-class-svm", "examples/iris.csv", "--features", "petal*", "-o", "m.cred").code == 0
    assert "edge of the region" in credence("plot", "m.cred", "examples/iris.csv", "--kind", "map").stdout
    assert credence("plot", "m.cred", "examples/iris.csv", "--kind", "map", "-o", "map.svg").code == 0
    assert "outside" in (tmp_path / "map.svg").read_text()
