"""What is shown of a fit and of a judgement: nothing lost, nothing silently of another kind than was meant."""
import csv
import io
import json
import math
import os
import pty
import random
import re
import subprocess

import pytest


def rows_of(result):
    return list(csv.DictReader(io.StringIO(result.stdout)))


# --- numbers that may be classes -------------------------------------------------------------------

@pytest.fixture
def seeds(tmp_path):
    """Three kinds, written 1, 2, 3, and a column of 0 and 1."""
    rng = random.Random(3)
    rows = [f"{rng.gauss(k, 0.4):.4f},{rng.gauss(-k, 0.4):.4f},{k},{int(k > 1)},{rng.choice('pq')}"
            for k in (1, 2, 3) for _ in range(20)]
    (tmp_path / "seeds.csv").write_text("a,b,variety,late,place\n" + "\n".join(rows) + "\n")
    return "seeds.csv"


MODELS_OF_BOTH = ["adaboost", "knn", "tree"]


@pytest.mark.parametrize("model", MODELS_OF_BOTH)
def test_codes_of_classes(credence, seeds, model):
    """Of a few whole numbers a warning names the option; two are classes; with the option there is no warning."""
    few = credence("fit", model, seeds, "--target", "variety", "--json")
    assert json.loads(few.stdout)["task"] == "regression"
    assert "variety has 3 different whole numbers" in few.stderr and "--task classification" in few.stderr
    for task in ("regression", "classification"):
        told = credence("fit", model, seeds, "--target", "variety", "--task", task, "--json")
        assert json.loads(told.stdout)["task"] == task and "whole numbers" not in told.stderr
    two = credence("fit", model, seeds, "--target", "late", "--json")
    assert json.loads(two.stdout)["task"] == "classification" and two.stderr == ""


def test_codes_in_studies(credence, refused, seeds):
    warned = credence("cv", "knn", seeds, "--target", "variety", "--folds", "3")
    assert warned.stderr.count("whole numbers") == 1 and "rmse" in warned.stdout
    assert "accuracy" in credence("cv", "knn", seeds, "--target", "late", "--folds", "3").stdout
    both = credence("compare", "logistic", "knn", seeds, "--target", "variety", "--folds", "3", "--json")
    assert both.code == 0 and "whole numbers" not in both.stderr
    assert all("log_loss" in m["metrics"] for m in json.loads(both.stdout)["models"])
    refused(2, "fit", "knn", seeds, "--target", "variety", "--calibrate", "platt", "-q", says="--task classification")
    refused(2, "compare", "logistic", "knn:task=regression", seeds, "--target", "variety",
            says="--task classification")


@pytest.mark.parametrize("model", ["lda", "naive-bayes", "logistic"])
def test_counts_as_classes(credence, tmp_path, model):
    """A model of classes says that it takes each of many whole numbers as a class, unless it was asked to."""
    def count(most):
        rows = [f"{i % 7},{i % (most + 1)}" for i in range(12 * most)]
        (tmp_path / "counts.csv").write_text("x,stations\n" + "\n".join(rows) + "\n")
        return ["fit", model, "counts.csv", "--target", "stations"]
    many = credence(*count(24))
    assert many.code == 0 and "more than 20 different whole numbers" in many.stderr and "glm" in many.stderr
    assert "whole numbers" not in credence(*count(24), "--task", "classification").stderr
    assert "whole numbers" not in credence(*count(11)).stderr


def test_counts_and_measurements_stay_numbers(credence, tmp_path):
    """More than 20 values, fractions, or hardly any repetition: no warning."""
    rng = random.Random(1)
    lines = [f"{rng.gauss(0, 1):.3f},{i % 21},{0.5 * (i % 4)},{i // 2 % 15}" for i in range(42)]
    (tmp_path / "n.csv").write_text("x,many,half,rare\n" + "\n".join(lines) + "\n")
    for target in ("many", "half", "rare"):
        said = credence("fit", "tree", "n.csv", "--target", target, "--features", "x", "--json")
        assert json.loads(said.stdout)["task"] == "regression" and "whole numbers" not in said.stderr


# --- coefficients ----------------------------------------------------------------------------------

def test_which_class(credence, seeds):
    text = credence("fit", "logistic", seeds, "--target", "place", "--features", "a", "--format", "text").stdout
    assert "coefficients: log odds of q against p\n" in text
    fitted = json.loads(credence("fit", "logistic", seeds, "--target", "place", "--features", "a", "--json", "--exp").stdout)
    assert fitted["coefficients"] == "log odds of q against p"
    for row in fitted["parameters"]:
        assert "t" not in row and row["z"] == pytest.approx(row["value"] / row["sd"])
        for name, of in (("exp", "value"), ("exp_lower", "lower"), ("exp_upper", "upper")):
            assert row[name] == pytest.approx(math.exp(row[of]))
    kinds = json.loads(credence("fit", "logistic", seeds, "--target", "variety", "--lambda", "0.1", "--json").stdout)
    assert kinds["coefficients"].startswith("log of the probability of each class")
    probit = json.loads(credence("fit", "probit", seeds, "--target", "place", "--features", "a", "--json").stdout)
    assert probit["coefficients"] == "probit of the probability of q against p"


def test_the_direction_of_the_odds(credence, tmp_path):
    """ln of the ratio of the odds of a 2 x 2 table: late against early, for one more of x."""
    cells = {("early", 0): 30, ("early", 1): 10, ("late", 0): 12, ("late", 1): 24}
    (tmp_path / "odds.csv").write_text("x,when\n" + "".join(f"{x},{w}\n" * n for (w, x), n in cells.items()))
    fitted = json.loads(credence("fit", "logistic", "odds.csv", "--target", "when", "--json", "--exp").stdout)
    assert fitted["coefficients"] == "log odds of late against early"
    assert fitted["parameters"][1]["exp"] == pytest.approx((24 / 10) / (12 / 30), rel=1e-6)


def test_z_and_t_of_glm(credence, refused, seeds):
    known = json.loads(credence("fit", "glm", seeds, "--target", "variety", "--features", "a", "--family", "poisson", "--json",
                                "--exp").stdout)
    assert known["coefficients"] == "log of the mean of variety"
    assert "z" in known["parameters"][0] and "t" not in known["parameters"][0]
    learned = json.loads(credence("fit", "glm", seeds, "--target", "a", "--features", "b", "--family", "gaussian", "--json").stdout)
    assert "t" in learned["parameters"][0] and "coefficients" not in learned
    refused(2, "fit", "linear", seeds, "--target", "a", "--features", "b", "--exp", says="not on a logarithmic scale")


# --- long tables -----------------------------------------------------------------------------------

def on_terminal(program, folder, *args):
    master, slave = pty.openpty()
    process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=subprocess.DEVNULL, cwd=folder)
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            piece = b""
        if not piece:
            break
        said += piece
    os.close(master)
    assert process.wait(60) == 0
    return said.decode().replace("\r\n", "\n")


@pytest.fixture
def wide(tmp_path):
    rng = random.Random(2)
    rows = [[rng.gauss(0, 1) for _ in range(200)] for _ in range(60)]
    text = [",".join([f"g{j}" for j in range(200)] + ["y"])]
    text += [",".join(f"{x:.4f}" for x in row) + f",{3 * row[5] - 2 * row[100] + rng.gauss(0, 0.1):.4f}" for row in rows]
    (tmp_path / "wide.csv").write_text("\n".join(text) + "\n")
    return "wide.csv"


def test_long_tables_are_cut_on_a_terminal(program, credence, wide, tmp_path):
    fit = ["fit", "ridge", wide, "--target", "y", "-o", "m.cred"]
    said = on_terminal(program, tmp_path, *fit)
    assert len(said.splitlines()) < 60
    assert "... 171 more of 201 terms" in said and "--all" in said
    lines = said.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    table = names[names.index("name") + 1:]
    assert table[:3] == ["intercept", "g5", "g100"], "the largest first"
    for command in (["describe", "m.cred"], ["describe", wide]):
        assert len(on_terminal(program, tmp_path, *command).splitlines()) < 100
        assert "... 171 more" in on_terminal(program, tmp_path, *command)
        assert "g199" in on_terminal(program, tmp_path, *command, "--all")
        assert "g199" in credence(*command).stdout and "g199" in credence(*command, "--format", "text").stdout


def test_zeros_are_counted(program, wide, tmp_path):
    said = on_terminal(program, tmp_path, "fit", "lasso", wide, "--target", "y", "--lambda", "0.5")
    assert "more of 201 terms, 198 of them 0" in said
    assert len([line for line in said.splitlines() if re.match(r"  g\d", line)]) == 2


# --- the loss of decisions -------------------------------------------------------------------------

@pytest.fixture
def losses(tmp_path):
    (tmp_path / "costs.csv").write_text("action,p,q\nstay,0,7\ngo,2,0\nask,1,1\n")
    return "costs.csv"


def test_mean_loss(credence, seeds, losses):
    """By hand from the decisions that predict shows."""
    costs = {row["action"]: row for row in csv.DictReader(io.StringIO("action,p,q\nstay,0,7\ngo,2,0\nask,1,1\n"))}
    assert credence("fit", "lda", seeds, "--target", "place", "--features", "a,b", "-o", "m.cred").code == 0
    decided = rows_of(credence("predict", "m.cred", seeds, "--loss", losses, "--id", "place"))
    by_hand = sum(float(costs[row["action"]][row["place"]]) for row in decided) / len(decided)
    scores = json.loads(credence("evaluate", "m.cred", seeds, "--loss", losses, "--json").stdout)["metrics"]
    assert scores["loss"] == pytest.approx(by_hand, rel=1e-12)
    zero_one = json.loads(credence("evaluate", "m.cred", seeds, "--loss", "0-1", "--json").stdout)["metrics"]
    assert zero_one["loss"] == pytest.approx(1 - zero_one["accuracy"], rel=1e-12)


def test_mean_loss_of_numbers(credence, diabetes, model):
    rows = rows_of(credence("predict", "model.cred", diabetes, "--loss", "quantile:0.9", "--id", "progression"))
    by_hand = sum(0.9 * d if d > 0 else -0.1 * d for d in
                  (float(row["progression"]) - float(row["action"]) for row in rows)) / len(rows)
    scores = json.loads(credence("evaluate", "model.cred", diabetes, "--loss", "quantile:0.9", "--json").stdout)["metrics"]
    assert scores["loss"] == pytest.approx(by_hand, rel=1e-12)
    squared = json.loads(credence("evaluate", "model.cred", diabetes, "--loss", "squared", "--json").stdout)["metrics"]
    assert squared["loss"] == pytest.approx(squared["rmse"] ** 2, rel=1e-12)


def test_studies_by_loss(credence, refused, seeds, losses):
    study = [seeds, "--target", "place", "--features", "a,b", "--folds", "3", "--loss", losses, "--json"]
    assert 0 < json.loads(credence("cv", "lda", *study).stdout)["metrics"]["loss"] <= 1
    tuned = json.loads(credence("tune", "knn", *study, "--over", "k=1|9|20", "--metric", "loss").stdout)
    means = [candidate["metrics"]["loss"] for candidate in tuned["candidates"]]
    assert tuned["metric"] == "loss" and tuned["best"]["metrics"]["loss"] == min(means)
    compared = json.loads(credence("compare", "logistic", "probit", *study, "--average").stdout)
    assert all(m["metrics"]["loss"] > 0 for m in compared["models"])
    credence("fit", "lda", seeds, "--target", "place", "--features", "a,b", "-o", "m.cred")
    refused(2, "evaluate", "m.cred", seeds, "--loss", "squared", says="is for numbers")


# --- importance and dependence ---------------------------------------------------------------------

def test_importance(credence, tmp_path):
    rng = random.Random(4)
    rows = [(rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1), rng.choice("uv")) for _ in range(120)]
    (tmp_path / "i.csv").write_text("a,b,none,kind,y\n" + "".join(
        f"{a:.4f},{b:.4f},{n:.4f},{k},{3 * a + b + 2 * (k == 'v') + rng.gauss(0, 0.5):.4f}\n" for a, b, n, k in rows))
    for model in ("linear", "tree", "gp", "knn", "adaboost"):
        assert credence("fit", model, "i.csv", "--target", "y", "-o", "m.cred", "-q").code == 0
        shown = json.loads(credence("plot", "m.cred", "i.csv", "--kind", "importance", "--json").stdout)
        bars = shown["series"][1]
        assert bars["x"][0] == "a" and bars["y"] == sorted(bars["y"], reverse=True)
        assert set(bars["x"]) == {"a", "b", "none", "kind"}
        assert abs(bars["y"][bars["x"].index("none")]) < 0.1 * bars["y"][0]
        one = rows_of(credence("plot", "m.cred", "i.csv", "--kind", "importance", "--over", "kind", "--format", "csv"))
        assert {row["x"] for row in one} == {"kind"}
        again = json.loads(credence("plot", "m.cred", "i.csv", "--kind", "importance", "--json", "--threads", "1").stdout)
        assert again["series"] == shown["series"]


def test_dependence_of_a_line(credence, diabetes, model):
    """Of a linear model it is a line with the slope of the coefficient."""
    slopes = {p["name"]: p["value"] for p in json.loads(credence("describe", "model.cred", "--json").stdout)["parameters"]}
    shown = json.loads(credence("plot", "model.cred", diabetes, "--kind", "dependence", "--over", "bmi,bp", "--json").stdout)
    assert [part["title"] for part in shown["parts"]] == ["bmi", "bp"]
    for part in shown["parts"]:
        rows, band, line = part["series"]
        slope = (line["y"][-1] - line["y"][0]) / (line["x"][-1] - line["x"][0])
        assert slope == pytest.approx(slopes[part["title"]], rel=1e-6)
        assert all(low < y < high for low, y, high in zip(band["lower"], line["y"], band["upper"]))
        assert all(low < y < high for low, y, high in zip(rows["lower"], line["y"], rows["upper"]))
        width = [high - low for low, high in zip(band["lower"], band["upper"])]
        assert band["name"] == "95 % interval of the mean curve" and min(width) < 0.5 * max(width) < 100
    table = rows_of(credence("plot", "model.cred", diabetes, "--kind", "dependence", "--over", "bmi", "--format", "csv"))
    assert {row["part"] for row in table} == {"bmi"} and len(table) == 3 * len(shown["parts"][0]["series"][1]["x"])


def test_dependence_of_classes(credence, refused, seeds):
    credence("fit", "lda", seeds, "--target", "variety", "--features", "a,b", "-o", "m.cred")
    shown = json.loads(credence("plot", "m.cred", seeds, "--kind", "dependence", "--json").stdout)
    for part in shown["parts"]:
        lines = {series["name"]: series["y"] for series in part["series"]}
        assert set(lines) == {"P(1)", "P(2)", "P(3)"}
        assert all(sum(p) == pytest.approx(1) for p in zip(*lines.values()))
    for kind in ("importance", "dependence"):
        assert credence("plot", "m.cred", seeds, "--kind", kind, "-o", "f.svg").code == 0
        assert credence("plot", "m.cred", seeds, "--kind", kind).code == 0
        refused(2, "plot", "m.cred", seeds, "--kind", kind, "--over", "place", says="'place'")


# --- arguments the wrong way round, and help -------------------------------------------------------

@pytest.mark.parametrize("typed, meant", [
    (["fit", "examples/diabetes.csv", "linear", "--target", "progression"],
     "credence fit linear examples/diabetes.csv --target progression"),
    (["predict", "examples/diabetes.csv", "model.cred", "--interval", "0.9"],
     "credence predict model.cred examples/diabetes.csv --interval 0.9"),
    (["compare", "examples/diabetes.csv", "linear", "ridge", "--target", "progression"],
     "credence compare linear ridge examples/diabetes.csv --target progression"),
    (["evaluate", "examples/diabetes.csv", "model.cred"], "credence evaluate model.cred examples/diabetes.csv")])
def test_the_other_way_round(refused, credence, examples, model, typed, meant):
    said = refused(2, *typed, says="swap the two?")
    assert f"hint: {meant}\n" in said.stderr
    assert credence(*meant.split()[1:]).code == 0


def test_help_of_a_model_in_a_verb(credence):
    for verb in ("fit", "cv", "tune", "compare"):
        page = credence(verb, "ridge", "--help").stdout
        assert "--lambda X" in page and page.index("--lambda X") < page.index("--features")
        assert f"credence {verb} ridge DATA" in page or verb == "compare"
    assert "--lambda" not in credence("fit", "--help").stdout


def test_examples_come_first(credence):
    for verb in ("fit", "predict", "tune", "query", "plot"):
        page = credence("help", verb).stdout
        assert page.index("Examples:") < page.index("Options:")
    common = credence("help", "options").stdout
    for option in ("--delimiter", "--missing-values", "--time-limit", "--seed"):
        assert f"  {option} " in common
    assert len(credence("help", "predict").stdout.splitlines()) < 80


def test_completion_of_models_and_kernels(credence):
    second = credence("complete", "--", "compare", "linear", "ri")
    assert second.stdout.split() == ["ridge"] and second.code == 1, "or a file"
    assert "rbf" in credence("complete", "--", "fit", "gp", "x.csv", "--kernel", "").stdout.split()
    assert credence("complete", "--", "fit", "gp", "x.csv", "--kernel", "rbf+mat").stdout.split()[0].startswith("rbf+matern")


def test_a_good_question_beside_a_bad_one(credence, burglary):
    both = credence("query", burglary, "P(john=yes)", "P(john=yes | jonn=no)", "--json")
    assert both.code == 2 and "jonn" in both.stderr and "did you mean 'john'?" in both.stderr
    answer = json.loads(both.stdout)
    assert answer["results"][0]["query"] == "P(john=yes)" and answer["refused"][0]["query"] == "P(john=yes | jonn=no)"


def test_warnings_of_candidates(credence, seeds):
    """One of each, with the candidate and the reason."""
    said = credence("tune", "knn", seeds, "--target", "a", "--features", "b", "--over", "k=1|5", "--folds", "4",
                    "--metric", "rmse").stderr
    assert said.count("warning") == 1
    assert "knn with k=1: log_score is undefined in 4 of 4 folds" in said and "without a standard deviation" in said


def test_interval_of_a_classifier(credence, seeds):
    assert credence("fit", "lda", seeds, "--target", "place", "--features", "a,b", "-o", "m.cred").code == 0
    assert "--interval has no effect: the model" in credence("predict", "m.cred", seeds, "--interval", "0.9").stderr
    assert credence("predict", "m.cred", seeds).stderr == ""


def test_intervals_of_probabilities_and_means(credence, tmp_path):
    """Of two processes of classes and of a family, in a table, in JSON and row by row."""
    rows = "".join(f"{i / 10},{i * 7 % 11},{'yes' if (i * 7) % 40 < i else 'no'},{int((i * 7) % 40 < i)}\n" for i in range(40))
    (tmp_path / "d.csv").write_text("x,z,sick,k\n" + rows)
    assert credence("fit", "gp-classify", "d.csv", "--target", "sick", "--features", "x", "-o", "g.cred").code == 0
    assert credence("fit", "glm", "d.csv", "--target", "k", "--features", "x", "--family", "binomial", "-o", "b.cred").code == 0
    said = credence("predict", "g.cred", "d.csv", "--interval", "0.9")
    assert said.stderr == "" and said.stdout.startswith("label,p_no,p_yes,p_lower_no,p_upper_no,p_lower_yes,p_upper_yes\n")
    for row in json.loads(credence("predict", "g.cred", "d.csv", "--interval", "0.9", "--json").stdout)["predictions"]:
        assert 0 <= row["p_lower"]["yes"] < row["p"]["yes"] < row["p_upper"]["yes"] <= 1
    said = credence("predict", "b.cred", "d.csv", "--interval", "0.9")
    assert said.stdout.startswith("mean,sd,lower,upper,mean_lower,mean_upper\n")
    for row in json.loads(credence("predict", "b.cred", "d.csv", "--interval", "0.9", "--json").stdout)["predictions"]:
        assert 0 < row["mean_lower"] < row["mean"] < row["mean_upper"] < 1
    assert credence("predict", "b.cred", "d.csv", "--interval", "0.9", "--stream", "--block", "7").stdout == said.stdout
    assert "mean_lower" not in credence("predict", "b.cred", "d.csv").stdout


def test_a_transformed_target_is_said(credence, examples):
    fit = ["fit", "linear", "examples/diabetes.csv", "--target", "progression", "--format", "text"]
    assert credence(*fit).stdout.startswith("linear: progression ~ 10 columns")
    assert credence(*fit, "--transform-target", "log").stdout.startswith("linear: log(progression) ~ 10 columns")
    assert credence(*fit, "--transform-target", "boxcox:0.5").stdout.startswith("linear: boxcox:0.5(progression) ~ ")
