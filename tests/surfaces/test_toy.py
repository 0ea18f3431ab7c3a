"""One declaration suffices: a model that only its own file knows (toy_mean.c, put into the registry from
outside) is on every surface."""
import csv
import json
import math
import subprocess
import sys

import pytest

from conftest import DIABETES, ROOT

TARGET = [DIABETES, "--target", "progression"]


@pytest.fixture(scope="module")
def values():
    with open(DIABETES, newline="") as file:
        return [float(row["progression"]) for row in csv.DictReader(file)]


def test_only_its_own_file_names_it():
    done = subprocess.run(["grep", "-rlE", "toy.mean", "src", "cli", "include", "cmake", "docs", "python"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.stdout == ""


def test_the_program_itself_has_it_not(credence):
    assert "toy-mean" not in credence("models")


def test_help(toy):
    assert "toy-mean" in toy("models", "--format", "text")
    page = toy("models", "toy-mean")
    for text in ("the mean of the target for every row", "--widen X", "factor on the", "--no-noise", "Gauss"):
        assert text in page


def test_it_works(toy, values, tmp_path):
    mean = sum(values) / len(values)
    sd = math.sqrt(sum((y - mean) ** 2 for y in values) / len(values))
    fit = toy.json("fit", "toy-mean", *TARGET, "--widen", "2", "-o", "m.cred", cwd=tmp_path)
    assert fit["parameters"][0]["value"] == pytest.approx(mean, rel=1e-12)
    first = toy.json("predict", "m.cred", DIABETES, cwd=tmp_path)["predictions"][0]
    assert first["mean"] == pytest.approx(mean, rel=1e-12) and first["sd"] == pytest.approx(2 * sd, rel=1e-12)
    assert toy.json("cv", "toy-mean", *TARGET, "--folds", "5")["metrics"]["rmse"] == pytest.approx(sd, rel=0.05)
    assert "no exact update" in subprocess.run([toy.path, "update", "m.cred", DIABETES], cwd=tmp_path,
                                               capture_output=True, text=True).stderr


def test_options_are_checked(toy):
    for arguments, said in ((["--widen", "0"], "--widen: '0' is not a number in the range >0"),
                            (["--about", "zer"], "did you mean --about zero?"), (["--widne", "2"], "--widen")):
        done = subprocess.run([toy.path, "fit", "toy-mean", *TARGET, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr


def test_completion(toy):
    assert "toy-mean" in toy.complete("fit", "")[0]
    assert toy.complete("fit", "toy-mean", DIABETES, "--wi") == (["--widen"], False)
    assert toy.complete("fit", "toy-mean", DIABETES, "--about", "") == (["mean", "zero"], False)
    assert "--no-noise" in toy.complete("fit", "toy-mean", "--no")[0]


def test_man_page(toy, tmp_path):
    pages = toy.document("man", tmp_path)
    page = pages["man7/credence-model-toy-mean.7"]
    for text in ("widen", "actor on the predictive standard deviation", "More than 0", "One of mean, zero", "Gauss"):
        assert text in page
    assert "toy\\-mean" in pages["man1/credence.1"] and "toy\\-mean" in pages["man1/credence-fit.1"]


def test_page_of_the_manual(toy, tmp_path):
    pytest.importorskip("markdown")
    done = subprocess.run([sys.executable, ROOT / "tools/make-docs", toy.path, tmp_path / "site"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site/models/toy-mean.html").read_text()
    assert "--widen X" in page and "Gauss" in page
    assert 'models/toy-mean.html"' in (tmp_path / "site/index.html").read_text()
    assert "toy-mean" in (tmp_path / "site/search-index.js").read_text()


def test_results_are_valid(toy, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    from test_schema import closed
    schemas = {name.split(".")[1]: json.loads(text) for name, text in toy.document("schema", tmp_path / "s").items()}
    toy("fit", "toy-mean", *TARGET, "-o", "m.cred", cwd=tmp_path)
    for command in (["fit", "toy-mean", *TARGET], ["describe", "m.cred"], ["predict", "m.cred", DIABETES],
                    ["evaluate", "m.cred", DIABETES], ["cv", "toy-mean", *TARGET], ["models", "toy-mean"]):
        jsonschema.validate(toy.json(*command, cwd=tmp_path), closed(schemas[command[0]]),
                            jsonschema.Draft202012Validator)


@pytest.fixture(scope="module")
def star(toy, tmp_path_factory):
    """A model with the face of networks (toy_star.c): columns that are high or low, and depend on the first."""
    path = tmp_path_factory.mktemp("star") / "star.cred"
    toy("fit", "toy-star", DIABETES, "--features", "age,bmi,bp", "-o", path)
    return path


@pytest.fixture(scope="module")
def shares():
    """P(age=high), and P(bmi=high) given each state of age, by counting with one row of each kind added."""
    with open(DIABETES, newline="") as file:
        rows = [(float(row["age"]), float(row["bmi"])) for row in csv.DictReader(file)]
    means = [sum(column) / len(rows) for column in zip(*rows)]
    high = [[x > mean for x, mean in zip(row, means)] for row in rows]
    old = [bmi for age, bmi in high if age]
    young = [bmi for age, bmi in high if not age]
    return (len(old) + 1) / (len(rows) + 2), (sum(young) + 1) / (len(young) + 2), (sum(old) + 1) / (len(old) + 2)


def test_a_learned_network_is_queried(toy, star, shares):
    age, young, old = shares
    first, given, both, apart, parents = toy.json("query", star, "P(age)", "P(bmi | age=high)", "P(bmi=high)",
                                                  "bmi _|_ bp | age", "parents(bp)")["results"]
    assert first["marginals"]["age"]["high"] == pytest.approx(age, rel=1e-12)
    assert given["marginals"]["bmi"]["high"] == pytest.approx(old, rel=1e-12)
    assert both["probability"] == pytest.approx((1 - age) * young + age * old, rel=1e-12)
    assert apart["independent"] is True and parents["variables"] == ["age"]
    assert "P(bmi | age=high" in toy.complete("query", star, "P(bmi | age=")[0]


def test_a_learned_network_is_inferred(toy, star, shares, tmp_path):
    (tmp_path / "cases.csv").write_text("age\nlow\nhigh\n")
    rows = toy.json("infer", star, "cases.csv", "--target", "bmi", cwd=tmp_path)["results"]
    assert [row["marginals"]["bmi"]["high"] for row in rows] == pytest.approx(shares[1:], rel=1e-12)


def test_a_learned_network_is_drawn(toy, star, shares, tmp_path):
    text = toy("plot", star, "P(* | age=high)")
    assert "bmi ← age" in text and f"{100 * shares[2]:.1f}%" in text
    toy("plot", star, "-o", "star.svg", cwd=tmp_path)
    assert ">bmi</text>" in (tmp_path / "star.svg").read_text()


def test_a_learned_network_is_described(toy, star, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    from test_schema import closed
    schemas = {name.split(".")[1]: json.loads(text) for name, text in toy.document("schema", tmp_path).items()}
    result = toy.json("describe", star)
    jsonschema.validate(result, closed(schemas["describe"]), jsonschema.Draft202012Validator)
    assert result["kind"] == "model" and result["statistics"] == {"arrows": 2}
    assert result["network"]["nodes"] == 3 and result["network"]["arcs"] == 2
    assert [v["parents"] for v in result["variables"]] == [[], ["age"], ["age"]]
    assert "a Bayesian network" in toy("describe", star, "--format", "text")
    assert toy.json("check", star)["kind"] == "model"


def test_a_learned_network_is_converted(toy, credence, star, tmp_path):
    toy("convert", star, "star.bif", cwd=tmp_path)
    there, here = (program.json("query", path, "P(bmi)")["results"][0]["marginals"]["bmi"]
                   for program, path in ((credence, tmp_path / "star.bif"), (toy, star)))
    assert there == pytest.approx(here, rel=1e-12)


def test_only_its_own_file_names_the_star():
    done = subprocess.run(["grep", "-rlE", "toy.star", "src", "cli", "include", "cmake", "docs", "python"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.stdout == ""
