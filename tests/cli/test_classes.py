"""Generative classifiers at the command line: labels and probabilities, coordinates, updates, gaps."""
import csv
import io
import json

import pytest

IRIS = ["examples/iris.csv", "--target", "species"]
MODELS = ["lda", "qda", "fisher", "naive-bayes"]


def rows(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("model", MODELS)
def test_labels_and_probabilities(credence, examples, model):
    assert credence("fit", model, *IRIS, "-o", "m.cred").code == 0
    out = rows(credence("predict", "m.cred", "examples/iris.csv").stdout)
    assert out[0] == ["label", "p_setosa", "p_versicolor", "p_virginica"]
    right = 0
    for line, truth in zip(out[1:], rows(open(examples / "iris.csv").read())[1:]):
        p = [float(x) for x in line[1:]]
        assert sum(p) == pytest.approx(1)
        assert line[0] == ["setosa", "versicolor", "virginica"][p.index(max(p))]
        right += line[0] == truth[-1]
    assert right >= 140
    metrics = json.loads(credence("evaluate", "m.cred", "examples/iris.csv", "--json").stdout)["metrics"]
    assert metrics["accuracy"] == pytest.approx(right / 150)


@pytest.mark.parametrize("model", MODELS)
def test_blocks_of_rows(credence, examples, model):
    """A fit of the first rows and an update with the others is a fit of all."""
    lines = (examples / "iris.csv").read_text().splitlines(keepends=True)
    (examples / "a.csv").write_text("".join(lines[:1] + lines[1::2]))
    (examples / "b.csv").write_text("".join(lines[:1] + lines[2::2]))
    credence("fit", model, *IRIS, "-o", "all.cred")
    credence("fit", model, "examples/a.csv", "--target", "species", "-o", "a.cred")
    assert credence("update", "a.cred", "examples/b.csv", "-o", "ab.cred").code == 0
    one, two = (rows(credence("predict", m, "examples/iris.csv").stdout)[1:] for m in ("all.cred", "ab.cred"))
    for x, y in zip(one, two):
        assert [float(v) for v in x[1:]] == pytest.approx([float(v) for v in y[1:]], abs=1e-9)


def test_coordinates(credence, refused, examples):
    credence("fit", "fisher", *IRIS, "-o", "f.cred")
    command = ["predict", "f.cred", "examples/iris.csv", "--coordinates"]
    out = rows(credence(*command).stdout)
    assert out[0] == ["z1", "z2"] and len(out) == 151
    said = json.loads(credence(*command, "--json").stdout)["predictions"]
    assert [list(map(float, line)) for line in out[1:]] == [list(p["coordinates"].values()) for p in said]
    text = credence(*command, "--format", "text").stdout.splitlines()
    assert text[0].split() == ["z1", "z2"] and float(text[1].split()[0]) == pytest.approx(float(out[1][0]), rel=1e-5)
    credence("fit", "lda", *IRIS, "-o", "l.cred")
    refused(2, "predict", "l.cred", "examples/iris.csv", "--coordinates", says=("lda has no coordinates",))


def test_naive_bayes_takes_gaps_and_kinds(credence, tmp_path):
    (tmp_path / "mail.csv").write_text(
        "links,length,known,sender,label\n3,120,false,web,spam\n0,800,true,work,ham\n7,,false,web,spam\n"
        "1,450,true,home,ham\n4,90,false,home,spam\n0,300,true,work,ham\n")
    fit = credence("fit", "naive-bayes", "mail.csv", "--target", "label", "--numbers", "gaussian,links=poisson",
                   "-o", "m.cred", "--json")
    names = {p["name"] for p in json.loads(fit.stdout)["parameters"]}
    assert {"links | ham", "length | spam", "known | ham", "sender=web | spam"} <= names
    out = rows(credence("predict", "m.cred", "-", input="links,length,known,sender\n,,,\n").stdout)
    assert [float(x) for x in out[1][1:]] == pytest.approx([0.5, 0.5])     # nothing known: the priors


def test_mistakes(credence, refused, examples):
    refused(2, "fit", "lda", *IRIS, "--priors", "setosa=1", says=("the class 'versicolor' has no prior",))
    refused(2, "fit", "lda", *IRIS, "--priors", "setsa=1", says=("no class 'setsa'", "setosa"))
    refused(2, "fit", "naive-bayes", *IRIS, "--numbers", "gausian", says=("no distribution 'gausian'", "gaussian"))
    refused(3, "fit", "naive-bayes", *IRIS, "--numbers", "poisson", says=("iris.csv:2", "whole numbers"))
    (examples / "one.csv").write_text("x,c\n1,a\n2,a\n")
    refused(3, "fit", "qda", "examples/one.csv", "--target", "c", says=("only one class, 'a'",))


def test_evaluate_says_what_was_taken_for_what(credence, examples):
    """Precision, recall and F1 of each class follow from the matrix, and so do the metrics of all."""
    credence("fit", "lda", *IRIS, "--features", "sepal_length_cm", "-o", "m.cred")
    got = json.loads(credence("evaluate", "m.cred", "examples/iris.csv", "--json").stdout)
    names = [row["class"] for row in got["classes"]]
    for row in got["classes"]:
        name, right = row["class"], row["predicted"][row["class"]]
        taken = sum(other["predicted"][name] for other in got["classes"])
        assert row["rows"] == sum(row["predicted"].values()) == 50
        assert row["precision"] == pytest.approx(right / taken)
        assert row["recall"] == pytest.approx(right / row["rows"])
        assert row["f1"] == pytest.approx(2 * right / (row["rows"] + taken))
    metrics = got["metrics"]
    assert metrics["accuracy"] == pytest.approx(sum(r["predicted"][r["class"]] for r in got["classes"]) / 150)
    assert metrics["balanced_accuracy"] == pytest.approx(sum(r["recall"] for r in got["classes"]) / 3)
    assert metrics["f1"] == pytest.approx(sum(r["f1"] for r in got["classes"]) / 3)
    text = credence("evaluate", "m.cred", "examples/iris.csv", "--format", "text").stdout
    assert all(f"as {name}" in text for name in names)
