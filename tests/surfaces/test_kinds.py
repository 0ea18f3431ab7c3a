"""Every kind of answer on the command line, from toy models: densities, clusters, coordinates, counts, classes."""
import csv
import io
import json
import math
import pathlib
import re
import subprocess

import pytest

from conftest import DIABETES

DATA = "id,x,c,b,y\n007,1,red,true,0\n008,2,blue,false,1\n009,,red,true,1\n010,4.5,red,false,0\n"


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def here(toy, tmp_path):
    (tmp_path / "d.csv").write_text(DATA)
    (tmp_path / "loss.csv").write_text("action,0,1\nkeep,0,10\ndrop,1,0\nask,0.3,0.3\n")
    toy("fit", "toy-normal", "d.csv", "--features", "x,c,b", "-o", "density.cred", cwd=tmp_path)
    toy("fit", "toy-centres", DIABETES, "--features", "bmi,bp", "-o", "cluster.cred", cwd=tmp_path)
    toy("fit", "toy-axes", DIABETES, "--features", "bmi,bp", "-o", "axes.cred", cwd=tmp_path)
    smooth = ["fit", "toy-smooth", "d.csv", "--features", "x", "--missing", "drop", "--target", "y"]
    toy(*smooth, "--task", "classification", "-o", "class.cred", "-q", cwd=tmp_path)
    toy(*smooth, "--family", "poisson", "-o", "count.cred", "-q", cwd=tmp_path)
    return tmp_path


def test_fit_without_target(toy, here):
    text = toy("fit", "toy-normal", "d.csv", "--features", "x,c", "--format", "text", cwd=here)
    assert text.startswith("toy-normal: 2 columns, 4 rows") and "log evidence" in text
    assert toy.json("describe", "density.cred", cwd=here)["target"] is None
    assert toy.json("models", "toy-smooth")["task"] == "regression, classification"
    assert "credence fit toy-normal examples/diabetes.csv --features bmi,bp" in toy("models", "toy-normal")


def test_densities(toy, here):
    rows = table(toy("predict", "density.cred", "d.csv", "--id", "id", cwd=here))
    assert list(rows[0]) == ["id", "log_density"] and [row["id"] for row in rows] == ["007", "008", "009", "010"]
    assert all(math.isfinite(float(row["log_density"])) for row in rows)   # gaps are integrated out
    answer = toy.json("evaluate", "density.cred", "d.csv", cwd=here)
    values = [float(row["log_density"]) for row in rows]
    mean = sum(values) / 4
    assert answer["metrics"] == {"log_score": pytest.approx(mean, rel=1e-13)}
    se = math.sqrt(sum((v - mean) ** 2 for v in values) / 3 / 4)
    assert answer["se"] == {"log_score": pytest.approx(se, rel=1e-12)}
    text = toy("evaluate", "density.cred", "d.csv", "--format", "text", cwd=here).splitlines()
    assert text[2].split() == ["metric", "value", "se"]
    cv = toy.json("cv", "toy-normal", "d.csv", "--features", "x,c,b", "--folds", "2", cwd=here)
    assert set(cv["metrics"]) == {"log_score"} and cv["se"]["log_score"] > 0


def test_the_next_row(toy, here):
    rows = table(toy("predict", "density.cred", "--interval", "0.5", "--loss", "quantile:0.75", cwd=here))
    assert [row["column"] for row in rows] == ["x", "b"]
    for row in rows:
        assert float(row["action"]) == pytest.approx(float(row["upper"]), rel=1e-12)
        assert float(row["lower"]) < float(row["mean"]) < float(row["upper"])
    answer = toy.json("predict", "density.cred", cwd=here)
    assert answer["rows"] == 2 and answer["predictions"][0]["column"] == "x" and answer["predictions"][0]["dof"] > 0
    for option in (["--draws", "3"], ["--id", "x"], ["--leverage"]):
        toy("predict", "density.cred", *option, cwd=here, code=2)
    toy("predict", "cluster.cred", cwd=here, code=2)
    toy("fit", "toy-normal", "d.csv", "--features", "c", "-o", "c.cred", cwd=here)
    toy("predict", "c.cred", cwd=here, code=2)   # nothing but a category


def test_sample(toy, here):
    rows = table(toy("sample", "density.cred", "-n", "200", "--seed", "4", cwd=here))
    assert list(rows[0]) == ["x", "c", "b"] and len(rows) == 200
    assert {row["c"] for row in rows} == {"red", "blue"} and len({row["x"] for row in rows}) == 200
    assert len({row["b"] for row in rows}) == 200   # this model takes truth values for numbers, and draws such
    first = toy("sample", "density.cred", "-n3", "--seed", "4", cwd=here)
    assert table(first) == rows[:3]
    assert toy("sample", "density.cred", "--count", "3", "--seed", "5", cwd=here) != first
    assert len(table(toy("sample", "density.cred", cwd=here))) == 1
    assert toy("sample", "density.cred", "-n", "0", cwd=here) == "x,c,b\n"
    answer = toy.json("sample", "density.cred", "-n", "2", "--seed", "4", cwd=here)
    assert answer["sample"][1]["values"]["x"] == float(rows[1]["x"]) and answer["seed"] == 4
    toy("sample", "density.cred", "-n", "50", "-o", "s.csv", cwd=here)
    toy("fit", "toy-normal", "s.csv", cwd=here)   # what is drawn can be learned from
    assert len(table(toy("sample", "cluster.cred", "-n", "5", cwd=here))) == 5
    for model in ("axes.cred", "class.cred"):
        toy("sample", model, cwd=here, code=2)


def test_clusters(toy, here):
    rows = table(toy("predict", "cluster.cred", DIABETES, cwd=here))
    assert list(rows[0]) == ["cluster", "p_1", "p_2", "p_3", "log_density"]
    for row in rows:
        p = [float(row[f"p_{k}"]) for k in (1, 2, 3)]
        assert sum(p) == pytest.approx(1) and p[int(row["cluster"]) - 1] == max(p)
    first = toy.json("predict", "cluster.cred", DIABETES, cwd=here)["predictions"][0]
    assert first["cluster"] == rows[0]["cluster"] and first["p"]["2"] == float(rows[0]["p_2"])
    assert "log_score" in toy.json("evaluate", "cluster.cred", DIABETES, cwd=here)["metrics"]
    drawn = {s["name"]: s for s in toy.json("plot", "cluster.cred", DIABETES, cwd=here)["series"]}
    members = {k: [row for row in rows if row["cluster"] == k] for k in "123"}   # the class says nothing of them
    counts = {k: sum(len(s["x"]) for name, s in drawn.items() if name.startswith(f"cluster {k}")) for k in "123"}
    assert counts == {k: len(of) for k, of in members.items()} and len(drawn["centres"]["x"]) == 3
    toy("plot", "cluster.cred", DIABETES, "--kind", "criterion", cwd=here, code=2)


def test_mixtures(toy, here):
    fit = ["fit", "toy-mixture", DIABETES, "--features", "bmi,bp", "--restarts", "3"]
    said = toy.json(*fit, "-o", "mixture.cred", cwd=here)["statistics"]
    assert said["restarts"] == 3 and 1 <= said["restarts_agreed"] <= 3 and said["converged"] is True
    assert toy.json("describe", "mixture.cred", cwd=here)["statistics"] == said
    streamed = toy.json(*fit, "--stream", "--block", "100", cwd=here)   # several passes; starts from the first block
    assert streamed["rows"] == 442 and streamed["statistics"]["objective"] == pytest.approx(said["objective"], rel=0.1)
    assert toy.json(*fit, "--stream", "--block", "100", "--threads", "7", cwd=here)["statistics"] == streamed["statistics"]
    toy("update", "mixture.cred", DIABETES, cwd=here, code=2)
    piped = subprocess.run([toy.path, "fit", "toy-mixture", "-", "--features", "bmi,bp", "--stream", "--block", "100"],
                           input=pathlib.Path(DIABETES).read_text(), capture_output=True, text=True)
    assert piped.returncode == 0, piped.stderr   # kept aside for the next passes
    columns = [line.split(",")[:2] for line in piped.stdout.splitlines()[1:]]
    values = {p["name"]: p["value"] for p in streamed["parameters"]}
    assert {name: pytest.approx(float(value)) for name, value in columns} == values


def test_coordinates(toy, here):
    out = toy("predict", "axes.cred", DIABETES, cwd=here)
    assert out.splitlines()[0] == "level,spread"
    first = toy.json("predict", "axes.cred", DIABETES, cwd=here)["predictions"][0]
    assert first["coordinates"]["spread"] == float(table(out)[0]["spread"])
    toy("evaluate", "axes.cred", DIABETES, cwd=here, code=2)
    toy("predict", "axes.cred", DIABETES, "--loss", "0-1", cwd=here, code=2)
    toy("plot", "axes.cred", DIABETES, "-o", "x.svg", cwd=here)
    assert "the first two of" in (here / "x.svg").read_text()
    known = toy.json("describe", "axes.cred", cwd=here)["statistics"]["variance(level)"]
    drawn = toy.json("plot", "axes.cred", cwd=here)   # of those that are known, without rows
    assert drawn["title"] == "toy-axes: variances of 2 coordinates" and drawn["series"][0]["y"] == [known, None]


def test_classes(toy, here):
    rows = table(toy("predict", "class.cred", "d.csv", "--id", "id", "--loss", "loss.csv", "--draws", "3", "-q",
                     cwd=here))
    assert list(rows[0]) == ["id", "label", "p_0", "p_1", "action", "expected_loss", "draw1", "draw2", "draw3"]
    for row in rows:
        if row["label"] == "":   # the row with a gap
            assert row["id"] == "009" and row["action"] == row["draw1"] == row["expected_loss"] == ""
            continue
        p = float(row["p_1"])
        costs = {"keep": 10 * p, "drop": 1 - p, "ask": 0.3}
        assert row["action"] == min(costs, key=costs.get)
        assert float(row["expected_loss"]) == pytest.approx(min(costs.values()), rel=1e-12)
        assert row["draw1"] in "01"
    answer = toy.json("predict", "class.cred", "d.csv", "--loss", "loss.csv", "--draws", "1", cwd=here)
    assert answer["predictions"][2]["action"] is None and answer["predictions"][2]["draws"] == [None]
    toy("predict", "class.cred", "d.csv", "--loss", "squared", cwd=here, code=2)


def test_counts(toy, here):
    answer = toy.json("predict", "count.cred", "d.csv", "--loss", "0-1", cwd=here)
    assert answer["distribution"] == "poisson"
    for row in answer["predictions"]:
        if row["mean"] is None:
            continue
        rate = row["parameters"]["rate"]
        assert rate == row["mean"] and "dof" not in row
        assert row["action"] == math.floor(rate)
        assert row["expected_loss"] == pytest.approx(1 - math.exp(-rate) * rate ** row["action"], rel=1e-12)
        assert row["lower"] == int(row["lower"]) and row["upper"] == int(row["upper"])
    (here / "counts.csv").write_text("action,0,1+\nstay,0,1\ngo,0.2,0\n")
    rows = table(toy("predict", "count.cred", "d.csv", "--loss", "counts.csv", "-q", cwd=here))
    assert {row["action"] for row in rows} <= {"stay", "go", ""}
    (here / "more.csv").write_text("x,y\n" + "".join(f"{i % 5},{i % 7 * (i % 3)}\n" for i in range(60)))
    toy("fit", "toy-smooth", "more.csv", "--target", "y", "--family", "poisson", "-o", "more.cred", cwd=here)
    metrics = toy.json("evaluate", "more.cred", "more.csv", "--interval", "0.5", cwd=here)["metrics"]
    assert metrics["crps"] > 0 and 0.1 < metrics["coverage"] < 0.9
    toy("plot", "more.cred", "more.csv", "--interval", "0.5", "-o", "f.svg", cwd=here)   # the same intervals
    told = re.search(r"; ([\d.]+) % (?:do|are)", (here / "f.svg").read_text())
    assert float(told[1]) == pytest.approx(100 * metrics["coverage"], abs=0.051)


def test_wide_text(toy, here):
    """Long names and texts that are not ASCII stay in line."""
    (here / "w.csv").write_text("näme,x\nÄrzte ohne Grenzen,1\nb,2\n")
    text = toy("predict", "density.cred", "d.csv", "--id", "id", "--format", "text", cwd=here).splitlines()
    assert len({len(line) for line in text[1:]}) == 1
    toy("fit", "toy-normal", "w.csv", "--features", "x", "-o", "w.cred", cwd=here)
    text = toy("predict", "w.cred", "w.csv", "--id", "näme", "--format", "text", cwd=here).splitlines()
    ends = {len(line) for line in text}
    assert len(ends) == 1 and "Ärzte ohne Grenzen" in text[1]


def test_completion_and_pages(toy, here, tmp_path):
    assert "--loss" in toy.complete("predict", "m.cred", "d.csv", "--l")[0]
    assert toy.complete("predict", "class.cred", "d.csv", "--id", "", cwd=here)[0] == ["id", "x", "c", "b", "y"]
    assert toy.complete("predict", "class.cred", "d.csv", "--real", "", cwd=here)[0] == ["x", "y"]   # of the model
    pages = toy.document("man", tmp_path / "man")
    assert "Task: regression, classification." in pages["man7/credence-model-toy-smooth.7"]
    assert "man1/credence-sample.1" in pages and "class\\-weights" not in pages["man1/credence-predict.1"]
    assert "class\\-weights" in pages["man1/credence-fit.1"]
    json.loads(toy("help", "sample", "--json"))
