"""Kernels and Gaussian processes at the command line: functions of averaged hyper-parameters, columns that are not
needed, figures over chosen columns, slips of the fingers, numbers that do not suit."""
import csv
import io
import json

import pytest

HISTOGRAMS = "a,b,y\n1,2,3\n2,3,4\n3,1,5\n4,2,2\n5,1,3\n"


def table(text):
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


# --- the function without noise

def test_functions_over_draws_of_hyper_parameters(credence, examples, tmp_path):
    assert credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--hyper", "mcmc", "--draws-hyper", "8",
                    "-o", "m.cred").code == 0
    (tmp_path / "x.csv").write_text("times\n10\n20.00\n20.01\n30\n")
    whole = table(credence("predict", "m.cred", "x.csv").stdout)
    result = credence("predict", "m.cred", "x.csv", "--latent", "--slopes", "--draws", "3", "--covariance", "c.csv")
    assert result.code == 0, result.stderr
    rows = table(result.stdout)
    for row, other in zip(rows, whole):
        assert row["mean"] == pytest.approx(other["mean"]) and 0 < row["sd"] < other["sd"]
    slope = (rows[2]["mean"] - rows[1]["mean"]) / 0.01
    assert rows[1]["slope_times"] == pytest.approx(slope, rel=2e-2)
    covariance = [[float(v) for v in line] for line in list(csv.reader(open(tmp_path / "c.csv")))[1:]]
    for i, row in enumerate(rows):
        assert covariance[i][i] == pytest.approx(row["sd"] ** 2)
        assert covariance[i] == pytest.approx([line[i] for line in covariance])
    assert abs(rows[1]["draw1"] - rows[2]["draw1"]) < 0.5  # a function, drawn jointly
    assert credence("plot", "m.cred", "examples/mcycle.csv", "--draws", "2", "-o", "f.svg").code == 0
    assert credence("plot", "m.cred", "examples/mcycle.csv", "--kind", "components", "-o", "p.svg").code == 0


def test_the_function_needs_no_column_of_noise(credence, refused, tmp_path):
    rows = [(i, (i * 7) % 5, 1 + i % 3) for i in range(12)]
    (tmp_path / "d.csv").write_text("x,y,v\n" + "".join(f"{x},{y},{v}\n" for x, y, v in rows))
    (tmp_path / "x.csv").write_text("x\n1.5\n30\n")
    assert credence("fit", "gp", "d.csv", "--target", "y", "--features", "x", "--noise-column", "v", "-o",
                    "m.cred").code == 0
    for options in (["--latent"], ["--latent", "--slopes"], ["--latent", "--draws", "2"], ["--prior"], ["--mean-only"],
                    ["--latent", "--covariance", "c.csv"]):
        result = credence("predict", "m.cred", "x.csv", *options)
        assert result.code == 0, (options, result.stderr)
    refused(3, "predict", "m.cred", "x.csv", says=["column 'v' not found", "predict --latent"])


# --- options without effect

@pytest.mark.parametrize("words, says", [
    ("gp --hyper map --draws-hyper 40", "--draws-hyper requires --hyper mcmc"),
    ("gp --approx exact --epochs 3", "--epochs requires --approx svgp|auto"),
    ("gp --approx vfe --batch 8", "--batch requires --approx svgp|auto"),
    ("gp --approx rff --optimize-inducing", "--optimize-inducing requires --approx vfe|"),
    ("gp --solver cg --batch 8", "--batch requires --solver cholesky"),
    ("gp --hyper mcmc --epochs 3", "--epochs requires --hyper best"),
    ("gp --optimize none --restarts 3", "--restarts requires --optimize evidence"),
    ("gp --optimize none --max-iter 3", "--max-iter requires --optimize evidence"),
    ("gp --approx svgp --optimize none --epochs 3", "--epochs requires --optimize evidence"),
    ("gp-online --method basis --no-move", "--no-move requires --method stream"),
    ("gp-online --method basis --steps 3", "--steps requires --method stream"),
    ("gp-online --optimize none --steps 3", "--steps requires --optimize evidence"),
    ("gp-online --optimize none --max-iter 3", "--max-iter requires --optimize evidence"),
])
def test_without_effect(refused, examples, words, says):
    model, *options = words.split()
    refused(2, "fit", model, "examples/mcycle.csv", "--target", "accel", *options, says=says)


@pytest.mark.parametrize("words, says", [
    ("gp --epochs 3", "--epochs 3 has no effect on an exact process"),
    ("gp --batch 8", "--batch 8 has no effect on an exact process"),
    ("gp --optimize-inducing", "--optimize-inducing has no effect on an exact process: it would with --approx vfe"),
    ("gp-classify --inducing 20", "--inducing 20 has no effect on Laplace's approximation"),
    ("gp-classify --inducing 20 --approx laplace", "--inducing 20 has no effect on Laplace's approximation"),
])
def test_without_effect_here(credence, tmp_path, words, says):
    """What --approx auto chose does without it; with more rows it would not."""
    (tmp_path / "d.csv").write_text("x,y,c\n" + "".join(f"{i},{(i * 7) % 5},{'ab'[i % 2]}\n" for i in range(20)))
    model, *options = words.split()
    target = "c" if model == "gp-classify" else "y"
    result = credence("fit", model, "d.csv", "--features", "x", "--target", target, "--json", *options)
    assert result.code == 0 and any(says in w for w in json.loads(result.stdout)["warnings"]), result.stdout


# --- figures

def test_figures_over_chosen_columns(credence, refused, examples, tmp_path):
    fit = ["fit", "gp", "examples/diabetes.csv", "--target", "progression", "--features", "age,bmi,bp", "--optimize",
           "none", "--noise", "3000", "--kernel", "6000*rbf(l=[50,5,20])", "-o", "m.cred"]
    assert credence(*fit).code == 0
    said = refused(2, "plot", "m.cred", "examples/diabetes.csv", "--kind", "map", says="this model has 3").stderr
    assert "--over age,bmi" in said
    for kind, over in (("map", "bmi,bp"), ("fit", "bmi"), ("components", "bmi")):
        result = credence("plot", "m.cred", "examples/diabetes.csv", "--kind", kind, "--over", over, "--format", "text")
        assert result.code == 0 and "Held at median or mode: age = 50" in result.stdout, result
    refused(2, "plot", "m.cred", "examples/diabetes.csv", "--kind", "components", says="--over age draws")
    refused(2, "plot", "m.cred", "examples/diabetes.csv", "--range", "20,40", says="--over age draws")
    refused(2, "plot", "m.cred", "examples/diabetes.csv", "--kind", "roc", "--over", "bmi", says="--over is for")
    refused(2, "plot", "m.cred", "examples/diabetes.csv", "--over", "bmj", says="did you mean 'bmi'?")
    refused(2, "plot", "m.cred", "--range", "20,40", says=["without data", "credence plot FILE.cred DATA"])
    points = json.loads(credence("plot", "m.cred", "examples/diabetes.csv", "--over", "bmi", "--range", "20,40", "--json")
                        .stdout)
    curve = next(s for s in points["series"] if s["name"] == "predictive mean")
    (tmp_path / "x.csv").write_text("age,bmi,bp\n50,20,93\n50,40,93\n")  # the medians
    means = [row["mean"] for row in table(credence("predict", "m.cred", "x.csv").stdout)]
    assert [curve["y"][0], curve["y"][-1]] == pytest.approx(means)


def test_a_model_alone_is_drawn_over_a_range(credence, refused, examples):
    assert credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "-o", "m.cred").code == 0
    text = credence("plot", "m.cred", "--range", "0,60").stdout
    assert "The model alone, without data." in text and "observed" not in text
    refused(2, "plot", "m.cred", says="--range LOW,HIGH")


def test_rows_of_a_map_have_the_colours_of_their_classes(credence, examples, tmp_path):
    assert credence("fit", "gp-classify", "examples/iris.csv", "--target", "species", "--features", "petal*",
                    "--optimize", "none", "-o", "m.cred").code == 0
    assert credence("plot", "m.cred", "examples/iris.csv", "--kind", "map", "-o", "m.svg").code == 0
    svg = (tmp_path / "m.svg").read_text()
    for name, colour in (("setosa", "#D55E00"), ("versicolor", "#56B4E9"), ("virginica", "#000000")):
        assert f">{name}</text>" in svg and svg.count(f"fill='{colour}'") == 3  # the legend, and two maps


# --- describe

def test_elements_of_lists_are_told(credence, tmp_path):
    """Length-scales by column, weights of a category by level, in the order of its bytes; R-hat beside draws."""
    rows = "".join(f"{i % 7},{i},{['b', '9', '10'][i % 3]},{(i * 5) % 11}\n" for i in range(24))
    (tmp_path / "d.csv").write_text("x,z,g,y\n" + rows)
    fit = ["fit", "gp", "d.csv", "--target", "y", "--optimize", "none", "--json", "--category", "g"]
    said = json.loads(credence(*fit, "--kernel", "rbf(z,x;l=[1,2]) + category(g) + rq(l=[1,2])").stdout)
    of = {p["name"]: p["of"] for p in said["parameters"]}
    assert [of[f"rbf.l[{i}]"] for i in (1, 2)] == ["z", "x"] and [of[f"rq.l[{i}]"] for i in (1, 2)] == ["x", "z"]
    assert [of[f"category.w[{i}]"] for i in (1, 2, 3)] == [of[f"category.kappa[{i}]"] for i in (1, 2, 3)] == [
        "10", "9", "b"]
    assert of["mean.intercept"] is None and of["noise"] is None
    assert "of" not in json.loads(credence(*fit, "--kernel", "rbf").stdout)["parameters"][0]
    ranks = json.loads(credence(*fit, "--kernel", "category(g; levels=3, rank=2, w=[1,2,3,4,5,6])").stdout)["parameters"]
    assert [p["of"] for p in ranks if p["name"].startswith("category.w")] == ["10", "10", "9", "9", "b", "b"]
    draws = credence("fit", "gp", "d.csv", "--target", "y", "--features", "x", "--hyper", "mcmc", "--draws-hyper", "24",
                     "--format", "text").stdout
    assert "rhat" in draws and "ess" in draws


# --- slips and numbers that do not suit

@pytest.mark.parametrize("typed, meant", [("matren32", "matern32"), ("rfb", "rbf"), ("histogramm", "histogram"),
                                          ("gausian", "gaussian"), ("matern23", "matern32")])
def test_mistyped_kernels(refused, tmp_path, typed, meant):
    (tmp_path / "d.csv").write_text(HISTOGRAMS)
    refused(2, "fit", "gp", "d.csv", "--target", "y", "--kernel", typed, says=f"did you mean '{meant}'?")


@pytest.mark.parametrize("option", [["--kernel", ""], ["--kernel="], ["--mean", ""]])
def test_empty_texts(refused, tmp_path, option):
    (tmp_path / "d.csv").write_text(HISTOGRAMS)
    name = option[0].rstrip("=")
    refused(2, "fit", "gp", "d.csv", "--target", "y", *option, says=[f"{name} is empty", f"for example {name}"])


@pytest.mark.parametrize("model", ["gp", "gp-online", "kernel-ridge", "kernel-pca"])
def test_negative_numbers_in_histograms(credence, refused, tmp_path, model):
    (tmp_path / "good.csv").write_text(HISTOGRAMS)
    (tmp_path / "bad.csv").write_text(HISTOGRAMS.replace("3,1,5", "3,-1,5"))
    target = ["--features", "a,b"] if model == "kernel-pca" else ["--target", "y"]
    fit = ["fit", model, "good.csv", *target, "--kernel", "chi2", "--scale", "none"]
    says = "bad.csv:4: column 'b' is -1, but the kernel chi2 needs numbers that are at least 0"
    assert credence(*fit, "-o", "m.cred").code == 0
    refused(3, *fit[:2], "bad.csv", *fit[3:], says=says)
    refused(3, "predict", "m.cred", "bad.csv", says=says)
    refused(3, *fit[:-1], "standard", says=["once standardised", "--scale none"])


def test_negative_numbers_are_told_by_their_own_file(refused, tmp_path):
    (tmp_path / "good.csv").write_text(HISTOGRAMS)
    (tmp_path / "bad.csv").write_text(HISTOGRAMS.replace("3,1,5", "3,-1,5"))
    refused(3, "info", "good.csv", "bad.csv", "--mmd", "--kernel", "chi2", says="bad.csv:4: column 'b' is -1")
    refused(3, "info", "bad.csv", "good.csv", "--mmd", "--kernel", "chi2", says="bad.csv:4: column 'b' is -1")


def test_negative_numbers_in_histograms_of_classes(credence, refused, tmp_path):
    rows = HISTOGRAMS.replace(",3\n", ",u\n").replace(",4\n", ",v\n").replace(",5\n", ",u\n").replace(",2\n", ",v\n")
    (tmp_path / "good.csv").write_text(rows)
    (tmp_path / "bad.csv").write_text(rows.replace("4,2,v", "-4,2,v"))
    fit = ["fit", "gp-classify", "good.csv", "--target", "y", "--kernel", "histogram", "--optimize", "none"]
    says = "bad.csv:5: column 'a' is -4, but the kernel intersection needs"
    assert credence(*fit, "-o", "m.cred").code == 0
    refused(3, *fit[:2], "bad.csv", *fit[3:], says=says)
    refused(3, "predict", "m.cred", "bad.csv", says=says)


TARGETS, COLUMNS = "1,1\n2,1e308\n3,4\n4,-1e308\n5,2\n", "1,1\n1e308,2\n3,4\n-1e308,3\n5,2\n"
CLASSES = "1,u\n1e308,v\n3,u\n-1e308,v\n5,u\n"


@pytest.mark.parametrize("rows, what, models", [
    (TARGETS, "the target 'y' is so large", ["nadaraya-watson", "adaboost"]),
    (COLUMNS, "column 'x' is so large", ["nadaraya-watson"]),
])
def test_huge_numbers_are_told_by_column(refused, tmp_path, rows, what, models):
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    for model in models:
        refused(4, "fit", model, "d.csv", "--target", "y", says=[what, "power of ten"])


@pytest.mark.parametrize("rows, what, models", [
    (TARGETS, "the largest value of the target 'y' is 1e+308", ["gp", "gp-online", "kernel-ridge"]),
    (COLUMNS, "the largest value of the column 'x' is 1e+308", ["gp", "gp-online"]),
    (CLASSES, "the largest value of the column 'x' is 1e+308", ["gp-classify"]),
])
def test_huge_numbers_of_processes_are_told_by_column(refused, tmp_path, rows, what, models):
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    for model in models:
        refused(3, "fit", model, "d.csv", "--target", "y", says=[what, "another unit"])


def test_a_comma_in_brackets_belongs_to_the_value(credence, examples):
    for model in ("gp:kernel=rbf(times,l=3)", "gp:kernel=rbf(times,l=3),restarts=1"):
        result = credence("compare", model, "ridge", "examples/mcycle.csv", "--target", "accel", "--folds", "3")
        assert result.code == 0 and f'"{model}"' in result.stdout, result.stderr


def test_lists_can_be_tuned(credence, examples):
    for over in ("features=bmi,bp|s5", "features=[bmi,bp]|[s5]"):
        result = credence("tune", "ridge", "examples/diabetes.csv", "--target", "progression", "--over", over, "--folds",
                          "3")
        assert result.code == 0, result.stderr
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert [row["features"] for row in rows] == ["bmi,bp", "s5"]
    result = credence("tune", "gp", "examples/mcycle.csv", "--target", "accel", "--folds", "2", "--over",
                      "kernel=rbf(times,l=3)|matern32", "--over", "optimize=none")
    assert [row["kernel"] for row in csv.DictReader(io.StringIO(result.stdout))] == ["rbf(times,l=3)", "matern32"]


def test_a_missing_target_beside_missing_features(refused, tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,2\n,3\n3,\n4,2\n,\n")
    said = refused(3, "fit", "naive-bayes", "d.csv", "--target", "y", says="the target 'y' has no value")
    assert "--missing drop leaves out all 3 rows with missing values" in said.stderr
    assert "--missing impute fills these, and leaves out only rows without a target" in said.stderr
    (tmp_path / "e.csv").write_text("a,y\n1,2\n2,3\n3,\n4,2\n")
    said = refused(3, "fit", "ridge", "e.csv", "--target", "y", says="the target 'y' has no value")
    assert "--missing drop leaves such rows out" in said.stderr
