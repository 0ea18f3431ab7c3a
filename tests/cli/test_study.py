"""Models compared, tuned and resampled from the command line: numbers by hand, files, refusals."""
import csv
import io
import json
import math

import pytest

DATA = ["examples/diabetes.csv", "--target", "progression"]


def read_json(result):
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def rows_of(result):
    assert result.code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_compare_is_paired(credence, examples):
    answer = read_json(credence("compare", "linear", "ridge:lambda=50", *DATA, "--folds", "5", "--json"))
    one, two = answer["models"]
    assert (one["model"], two["model"]) == ("linear", "ridge:lambda=50")
    alone = read_json(credence("cv", "ridge", *DATA, "--folds", "5", "--lambda", "50", "--json"))
    assert two["metrics"] == alone["metrics"] and two["folds"] == alone["folds"]
    assert answer["best"]["rmse"] in ("linear", "ridge:lambda=50") and "coverage" not in answer["best"]
    best, other = (one, two) if answer["best"]["mae"] == "linear" else (two, one)
    d = [a["mae"] - b["mae"] for a, b in zip(other["folds"], best["folds"])]
    mean = sum(d) / 5
    variance = sum((x - mean) ** 2 for x in d) / 4
    train = [442 - f["rows"] for f in best["folds"]]
    ratio = sum(f["rows"] / n for f, n in zip(best["folds"], train)) / 5
    assert other["difference"]["mae"] == pytest.approx(mean)
    assert other["difference_se"]["mae"] == pytest.approx(math.sqrt((0.2 + ratio) * variance))
    assert best["difference"]["mae"] == 0 and best["t"]["mae"] is None
    assert other["difference"]["rmse"] == pytest.approx(other["metrics"]["rmse"] - best["metrics"]["rmse"])
    table = rows_of(credence("compare", "linear", "ridge:lambda=50", *DATA, "--folds", "5"))
    assert {(r["metric"], r["model"]) for r in table} >= {("rmse", "linear"), ("crps", "ridge:lambda=50")}


def test_compared_models_in_a_table(credence, examples):
    """The CSV holds what the text and the JSON hold: the scores of the folds, then those of the fits on all rows."""
    command = ["compare", "linear:features=bmi", "linear:features=bp", *DATA, "--folds", "3"]
    answer = read_json(credence(*command, "--json"))
    table = {(r["rows"], r["metric"], r["model"]): r for r in rows_of(credence(*command))}
    for m in answer["models"]:
        for what in ("log_likelihood", "aic", "bic", "probability"):
            assert float(table["all", what, m["model"]]["mean"]) == m[what]
        assert table["all", "log_evidence", m["model"]]["mean"] == ""
        assert float(table["folds", "rmse", m["model"]]["mean"]) == m["metrics"]["rmse"]
    assert credence(*command, "-o", "c.csv").code == 0
    assert (examples.parent / "c.csv").read_text() == credence(*command).stdout


def test_compare_averages(credence, examples):
    command = ["compare", "linear:features=bmi", "linear:features=bp", *DATA, "--folds", "4"]
    answer = read_json(credence(*command, "--average", "--json"))
    bic = [m["bic"] for m in answer["models"]]
    weight = [1 / (1 + math.exp(b / 2 - a / 2)) for a, b in (bic, bic[::-1])]
    assert answer["weights"] == "bic"
    assert [m["probability"] for m in answer["models"]] == pytest.approx(weight[::-1])
    assert answer["average"]["metrics"]["rmse"] == pytest.approx(answer["models"][0]["metrics"]["rmse"], rel=1e-6)
    text = credence(*command, "--average", "--format", "text").stdout
    assert text.startswith("2 models, 4-fold cross-validation on 442 rows") and "model probabilities by bic" in text


def test_compare_options_go_to_the_models_that_have_them(credence, examples, refused):
    answer = read_json(credence("compare", "ridge", "linear", *DATA, "--lambda", "7", "--folds", "3", "--json"))
    alone = read_json(credence("cv", "ridge", *DATA, "--lambda", "7", "--folds", "3", "--json"))
    assert answer["models"][0]["metrics"] == alone["metrics"]
    refused(2, "compare", "linear", "bayes-linear", *DATA, "--lambda", "7", says="none of the models has an option --lambda")
    refused(2, "compare", "linear", "ridge:lamda=1", *DATA, says="no option 'lamda'")
    refused(2, "compare", "linear", "ridge:7", *DATA, says="is not OPTION=VALUE")
    lists = [read_json(credence("compare", "linear", spec, *DATA, "--folds", "3", "--json"))["models"][1]["bic"]
             for spec in ("linear:features=bmi,bp,missing=drop", 'linear:missing=drop,"features=bmi,bp"')]
    assert lists[0] == lists[1]                          # a value may hold commas, with quotes or without
    refused(2, "compare", "linear", "rigde:lambda=1", *DATA, says="there is no model 'rigde'")
    refused(2, "compare", "linear", "logistic", *DATA, says="cannot be compared")


def test_tune_saves_the_winner(credence, examples, tmp_path):
    command = ["tune", "ridge", *DATA, "--over", "lambda=0.1..1000:log:5", "--folds", "4"]
    answer = read_json(credence(*command, "--json", "-o", "m.cred"))
    scores = [c["metrics"]["log_score"] for c in answer["candidates"]]
    assert [c["settings"]["lambda"] for c in answer["candidates"]] == ["0.1", "1", "10", "100", "1000"]
    assert answer["best"] == answer["chosen"] == answer["candidates"][scores.index(max(scores))]
    assert answer["output"] == "m.cred" and answer["metric"] == "log_score"
    saved = read_json(credence("describe", "m.cred", "--json"))
    assert saved["settings"]["lambda"] == answer["chosen"]["settings"]["lambda"] and saved["rows"] == 442
    simple = read_json(credence(*command, "--json", "--rule", "1se"))
    assert float(simple["chosen"]["settings"]["lambda"]) >= float(answer["chosen"]["settings"]["lambda"])
    assert simple["chosen"]["within"] and simple["chosen"]["apparent"] is not None
    by_rmse = rows_of(credence(*command, "--metric", "rmse"))
    assert list(by_rmse[0])[:3] == ["lambda", "rmse", "se"] and [r["mark"] for r in by_rmse].count("chosen") == 1
    assert "chosen: lambda=" in credence(*command, "--format", "text").stdout
    to_stdout = credence(*command, "-o", "-", binary=True).stdout
    assert to_stdout == (tmp_path / "m.cred").read_bytes()


def test_tune_counts(credence, examples, refused):
    """A range of whole numbers, also where the option takes words beside them."""
    iris = ["examples/iris.csv", "--target", "species", "--folds", "3"]
    table = rows_of(credence("tune", "knn", *iris, "--over", "k=1..4"))
    assert [r["k"] for r in table] == ["1", "2", "3", "4"]
    drawn = rows_of(credence("tune", "knn", *iris, "--over", "k=1..20", "--search", "random", "--draws", "4"))
    assert all(r["k"] in map(str, range(1, 21)) for r in drawn)
    table = rows_of(credence("tune", "tree", *iris, "--over", "prune=0.01..0.1:log:2"))
    assert [r["prune"] for r in table] == ["0.01", "0.1"]
    table = rows_of(credence("tune", "knn", *iris, "--over", "k=3|auto"))
    assert [r["k"] for r in table] == ["3", "auto"]
    refused(2, "tune", "gp", *DATA, "--over", "mean=1..2", says="a range is only for numeric settings")


def test_tune_refuses(credence, examples, refused):
    refused(2, "tune", "ridge", *DATA, says="--over is missing")
    refused(2, "tune", "ridge", *DATA, "--over", "lamda=1..2", says="no setting 'lamda'")
    refused(2, "tune", "ridge", *DATA, "--over", "lamda=1..2", says="--over lambda=1..2")
    refused(2, "tune", "ridge", *DATA, "--over", "lambda=1|2", "--metric", "rsme", says="no score 'rsme'")
    refused(2, "tune", "ridge:lambda", *DATA, "--over", "lambda=1|2", says="is not OPTION=VALUE")


def test_threads_never_matter(credence, examples):
    for command in (["cv", "ridge", *DATA, "--repeats", "2", "--folds", "3"],
                    ["compare", "linear", "linear:features=bmi", *DATA, "--folds", "3", "--average"],
                    ["tune", "ridge", *DATA, "--over", "lambda=1..5:3", "--folds", "3", "--rule", "1se"],
                    ["cv", "linear", *DATA, "--bootstrap", "20", "--bias-variance"]):
        one = credence(*command, "--threads", "1").stdout
        assert one and one == credence(*command, "--threads", "3").stdout


def test_parameters_by_resampling(credence, examples):
    """The bootstrap, its correction and the jackknife agree roughly with the fit's own standard errors; a
    time limit leaves the samples made so far, with a warning."""
    fit = {p["name"]: p for p in read_json(credence("fit", "linear", *DATA, "--json"))["parameters"]}
    for more in (["--bootstrap", 200, "--parameters"], ["--jackknife"],
                 ["--bootstrap", 100, "--parameters", "--interval-method", "bca", "--interval", 0.9]):
        got = read_json(credence("cv", "linear", *DATA, *more, "--json"))["resampling"]
        assert got["failed"] == 0 and [p["name"] for p in got["parameters"]] == list(fit)
        for p in got["parameters"]:
            assert p["value"] == pytest.approx(fit[p["name"]]["value"])
            assert p["se"] == pytest.approx(fit[p["name"]]["sd"], rel=0.5)
            assert p["lower"] < p["value"] < p["upper"]
    late = credence("cv", "linear", *DATA, "--bootstrap", 100000, "--parameters", "--time-limit", 1, "--json")
    assert 20 <= read_json(late)["resampling"]["samples"] < 100000
    assert "the time limit ended the resampling" in late.stderr
    for wrong in (["--parameters"], ["--jackknife", "--bootstrap", 10], ["--interval-method", "bca"],
                  ["--bootstrap", 10, "--parameters", "--bias-variance"]):
        assert credence("cv", "linear", *DATA, *wrong).code == 2


def test_bootstrap_adds_up(credence, examples):
    b = read_json(credence("cv", "linear", *DATA, "--bootstrap", "30", "--bias-variance", "--json"))["bootstrap"]
    assert b["samples"] == 30 and b["loss"] == "squared error"
    assert b["bias"] + b["variance"] == pytest.approx(b["leave_one_out"])
    assert b["err_632"] == pytest.approx(0.368 * b["apparent"] + 0.632 * b["leave_one_out"])
    c = read_json(credence("cv", "logistic", DATA[0], "--target", "sex", "--bias-variance", "--bootstrap", "20",
                           "--json"))["bootstrap"]
    assert c["loss"] == "error rate"
    assert c["bias"] + c["unbiased_variance"] - c["biased_variance"] == pytest.approx(c["leave_one_out"])


def test_learning_curve(credence, examples, refused):
    answer = read_json(credence("cv", "linear", *DATA, "--learning-curve", "0.2,1", "--folds", "4", "--json"))
    small, all_rows = answer["learning_curve"]
    assert small["rows"] == 66 and all_rows["rows"] == 331
    assert all_rows["train"]["rmse"] < all_rows["metrics"]["rmse"] < small["metrics"]["rmse"]
    refused(2, "cv", "linear", *DATA, "--learning-curve", "0.5,0.2", says="must increase")
    refused(2, "cv", "linear", *DATA, "--learning-curve", "half", says="is not a number")
    refused(2, "cv", "linear", *DATA, "--learning-curve", "1", "--bootstrap", "3", says="cannot be combined with a bootstrap")


def test_calibrated_models_are_files_like_others(credence, examples):
    for how in ("platt", "isotonic"):
        fit = credence("fit", "logistic", DATA[0], "--target", "sex", "--calibrate", how, "-o", "m.cred")
        assert fit.code == 0, fit.stderr
        assert read_json(credence("describe", "m.cred", "--json"))["settings"]["calibrate"] == how
        rows = rows_of(credence("predict", "m.cred", DATA[0]))
        assert all(abs(float(r["p_1"]) + float(r["p_2"]) - 1) < 1e-12 for r in rows)
        assert read_json(credence("check", "m.cred", "--json"))["sound"]


@pytest.mark.parametrize("model", ["linear", "ridge", "lasso", "bayes-linear", "robust", "spline", "knn", "tree", "adaboost",
                                   "kernel-ridge", "nadaraya-watson"])
def test_conformal_intervals_hold_for_any_model(credence, examples, model):
    scores = read_json(credence("cv", model, *DATA, "--features", "bmi,s5", "--calibrate", "conformal", "--folds", "4",
                                "--interval", "0.8", "--json"))["metrics"]
    assert 0.74 < scores["coverage"] < 0.87 and scores["width"] > 0


def test_conformal_models_are_files_like_others(credence, examples):
    fit = credence("fit", "linear", *DATA, "--calibrate", "conformal", "--conformal", "split", "-o", "m.cred")
    assert fit.code == 0, fit.stderr
    scores = read_json(credence("describe", "m.cred", "--json"))["conformal"]
    assert [row["level"] for row in scores] == [0.5, 0.8, 0.9, 0.95, 0.99] and scores[0]["unit"] == "sd"
    assert scores[0]["score"] < scores[1]["score"] < scores[3]["score"] and scores[4]["score"] is None   # 89 rows held out
    assert read_json(credence("check", "m.cred", "--json"))["sound"]
    wide = credence("predict", "m.cred", DATA[0], "--interval", "0.99")
    assert "intervals of level 0.99 are infinite: they need 99 held-out rows" in wide.stderr
    assert rows_of(wide)[0]["upper"] == "inf"
    assert "the conformal intervals were learned from the rows of the fit" in credence("update", "m.cred", DATA[0], "-o", "u.cred").stderr


def test_groups_with_intercepts_can_be_left_out(credence, tmp_path):
    rows = [(g, i, round(2 * i + 10 * g + 3 * math.sin(7 * g + 5 * i), 3)) for g in range(6) for i in range(8)]
    write = lambda name, some: (tmp_path / name).write_text("g,x,y\n" + "".join(f"k{g},{i},{y}\n" for g, i, y in some))
    write("d.csv", rows)
    model = ["--target", "y", "--terms", "x, (1 | g)"]
    for more in ([], ["--features", "x,g"]):
        answer = read_json(credence("cv", "bayes-linear", "d.csv", *model, *more, "--group", "g", "--folds", "6", "--json"))
        scores = []
        for left in range(6):
            write("train.csv", [r for r in rows if r[0] != left])
            write("test.csv", [r for r in rows if r[0] == left])
            assert credence("fit", "bayes-linear", "train.csv", *model, *more, "-o", "m.cred").code == 0
            scores.append(read_json(credence("evaluate", "m.cred", "test.csv", "--json"))["metrics"]["log_score"])
        assert answer["metrics"]["log_score"] == pytest.approx(sum(scores) / 6, rel=1e-6)


def test_groups_need_values(credence, tmp_path, refused):
    (tmp_path / "d.csv").write_text("g,x,y\n" + "".join(f"{'abc'[i % 3]},{i},{i * 7 % 5}\n" for i in range(12)))
    answer = read_json(credence("cv", "linear", "d.csv", "--target", "y", "--group", "g", "--folds", "3", "--json"))
    assert [f["rows"] for f in answer["folds"]] == [4, 4, 4]
    refused(2, "cv", "linear", "d.csv", "--target", "y", "--group", "g", "--folds", "4", says="4 folds of 3 groups")
    refused(3, "cv", "linear", "d.csv", "--target", "y", "--group", "h", says="column 'h' not found")


def test_plot_path(credence, refused, examples, tmp_path):
    assert credence("fit", "lasso", *DATA, "-o", "m.cred").code == 0
    assert credence("plot", "m.cred", "--kind", "path", "-o", "f.svg").code == 0
    svg = (tmp_path / "f.svg").read_text()
    assert svg.startswith("<svg") and "log lambda" in svg and ">bmi<" in svg
    text = credence("plot", "m.cred", "--kind", "path")
    assert text.code == 0 and "of 10 terms" in text.stdout and "+-----" in text.stdout
    refused(2, "plot", "m.cred", "--kind", "residuals", says="needs data")
    assert credence("fit", "linear", *DATA, "-o", "l.cred").code == 0
    refused(2, "plot", "l.cred", "--kind", "path", says="has no path")
    refused(2, "plot", "l.cred", DATA[0], "--kind", "path", says="it has no penalty lambda")


def test_path_of_fits(credence, examples):
    """Every point is what a fit with that penalty says."""
    options = ["examples/iris.csv", "--target", "species", "--penalty", "l1", "--scale", "standard"]
    assert credence("fit", "logistic", *options, "--lambda", "0.02", "-o", "m.cred").code == 0
    told = read_json(credence("plot", "m.cred", "examples/iris.csv", "--kind", "path", "--json"))
    name, line = next((s["name"], s) for s in told["series"] if ":" in s["name"])
    for k in (0, 12, 30):
        fit = read_json(credence("fit", "logistic", *options, "--lambda", repr(math.exp(line["x"][k])), "--json"))
        value = next(p["value"] for p in fit["parameters"] if p["name"] == name)
        assert math.isclose(line["y"][k], value, rel_tol=1e-5, abs_tol=1e-6)
    assert credence("fit", "ridge", *DATA, "-o", "r.cred").code == 0
    assert "each penalty is a separate fit" in credence("plot", "r.cred", DATA[0], "--kind", "path").stdout.lower()


@pytest.mark.parametrize("kind", ["residuals", "learning-curve", "calibration", "roc", "pr"])
def test_plots(credence, examples, tmp_path, kind):
    numbers = kind in ("residuals", "learning-curve")
    fit = ["linear", *DATA] if numbers else ["logistic", DATA[0], "--target", "sex"]
    assert credence("fit", *fit, "-o", "m.cred").code == 0
    drawn = credence("plot", "m.cred", DATA[0], "--kind", kind, "-o", "f.svg")
    assert drawn.code == 0, drawn.stderr
    assert (tmp_path / "f.svg").read_text().startswith("<svg")
    text = credence("plot", "m.cred", DATA[0], "--kind", kind)
    assert text.code == 0 and "442 rows" in text.stdout and "+-----" in text.stdout
    if kind != "learning-curve":
        wrong = credence("plot", "m.cred", DATA[0], "--kind", "roc" if numbers else "residuals")
        assert wrong.code != 0 and "predicts" in wrong.stderr


def test_a_class_that_a_fold_cannot_learn_is_named(credence, tmp_path):
    (tmp_path / "c.csv").write_text("x,z,y\n1,2,a\n2,3,a\n3,1,a\n4,5,a\n5,2,b\n6,1,b\n7,4,b\n8,3,b\n3,3,c\n")
    answer = credence("cv", "lda", "c.csv", "--target", "y", "--folds", "3", "--json")
    assert "the class 'c' of 'y'" in answer.stderr and "fold 3" in answer.stderr
    whole = credence("cv", "lda", "c.csv", "--target", "y", "--features", "x", "--folds", "2", "--group", "z")
    assert "not in its training rows" in whole.stderr


def test_a_failure_names_its_fold(credence, tmp_path, refused):
    (tmp_path / "n.csv").write_text("x,y\n1,0\n2,1\n3,0\n4,1\n5,-3\n6,2\n")
    for verb in (["cv", "glm"], ["tune", "glm", "--over", "max-iter=20|30"]):
        refused(3, *verb, "n.csv", "--target", "y", "--family", "poisson", "--folds", "2", says=["fold", "of 2"])


def test_positive_class(credence, examples, tmp_path, refused):
    """What is said of the rare class is what is said after its name has become the second."""
    rows = [(math.sin(7 * i) + (i % 12 == 0), i % 12 == 0) for i in range(240)]
    for name, words in (("a.csv", ("good", "bad")), ("b.csv", ("alright", "bad"))):
        (tmp_path / name).write_text("x,c\n" + "".join(f"{x:.6f},{words[rare]}\n" for x, rare in rows))
    fit = ["--target", "c", "--folds", "4"]
    usual = credence("cv", "logistic", "a.csv", *fit)
    assert "f1 and average_precision are of the class 'good', 91.7 % of the rows" in usual.stderr
    asked = credence("cv", "logistic", "a.csv", *fit, "--positive", "bad", "--json")
    other = credence("cv", "logistic", "b.csv", *fit, "--json")
    assert not asked.stderr and not other.stderr and read_json(asked)["positive"] == "bad"
    for name, value in read_json(other)["metrics"].items():
        assert read_json(asked)["metrics"][name] == pytest.approx(value, rel=1e-9), name
    common = {row["metric"]: float(row["mean"]) for row in rows_of(usual)}
    assert common["f1"] > 0.9 and read_json(asked)["metrics"]["f1"] < 0.7
    assert credence("fit", "logistic", "a.csv", "--target", "c", "-o", "m.cred").code == 0
    text = credence("evaluate", "m.cred", "a.csv", "--positive", "bad", "--format", "text").stdout
    assert "auc, f1 and average_precision are of class bad" in text
    one = next(c for c in read_json(credence("evaluate", "m.cred", "a.csv", "--json"))["classes"] if c["class"] == "bad")
    assert read_json(credence("evaluate", "m.cred", "a.csv", "--positive", "bad", "--json"))["metrics"]["f1"] == one["f1"]
    tuned = read_json(credence("tune", "logistic", "a.csv", *fit, "--over", "lambda=0.001|1", "--metric", "f1",
                               "--positive", "bad", "--json"))
    assert "positive" not in tuned["best"]
    result = credence("compare", "lda", "logistic", "a.csv", *fit, "--positive", "bad", "--format", "text")
    assert "are of class bad" in result.stdout and "--positive" not in result.stderr
    refused(2, "cv", "logistic", "a.csv", *fit, "--positive", "bda", says="did you mean 'bad'")
    refused(2, "cv", "linear", *DATA, "--positive", "x", says="linear here does not predict classes")
    several = ["cv", "lda", examples / "iris.csv", "--target", "species", "--json"]
    means = read_json(credence(*several))["metrics"]["f1"]
    each = [read_json(credence(*several, "--positive", name))["metrics"]["f1"]
            for name in ("setosa", "versicolor", "virginica")]
    assert each[0] == pytest.approx(1) and sum(each) / 3 == pytest.approx(means, rel=1e-12)


def test_scores_of_a_quantile_say_so(credence, examples):
    command = ["cv", "robust", *DATA, "--method", "quantile", "--quantile", "0.9", "--folds", "3"]
    assert read_json(credence(*command, "--json"))["quantile"] == 0.9
    assert "predictions are the 0.9 quantile" in credence(*command, "--format", "text").stdout
    plain = ["cv", "robust", *DATA, "--folds", "3"]
    assert "quantile" not in read_json(credence(*plain, "--json"))
    assert credence("fit", "robust", *DATA, "--method", "quantile", "--quantile", "0.9", "-o", "q.cred").code == 0
    scored = read_json(credence("evaluate", "q.cred", DATA[0], "--json"))
    assert scored["quantile"] == 0.9


def test_tune_has_the_folds_of_each_candidate(credence, examples):
    answer = read_json(credence("tune", "ridge", *DATA, "--over", "lambda=1|10", "--folds", "3", "--json"))
    for candidate in answer["candidates"]:
        square = sum(fold["rows"] * fold["rmse"] ** 2 for fold in candidate["folds"]) / 442
        assert len(candidate["folds"]) == 3 and math.sqrt(square) == pytest.approx(candidate["metrics"]["rmse"], rel=1e-12)


def test_compare_says_whose_likelihood_is_joint(credence, examples):
    command = ["compare", "lda", "logistic", "examples/iris.csv", "--target", "species", "--folds", "3"]
    kinds = [m["likelihood"] for m in read_json(credence(*command, "--json"))["models"]]
    assert kinds == ["joint", "conditional"]
    assert "the likelihood of lda is that of target and columns" in credence(*command, "--format", "text").stdout
    same = ["compare", "lda", "qda", "examples/iris.csv", "--target", "species", "--folds", "3", "--format", "text"]
    assert "target and columns" not in credence(*same).stdout


def test_evidence_and_bic_are_not_mixed(credence, examples, refused):
    answer = read_json(credence("compare", "linear", "bayes-linear", *DATA, "--folds", "3", "--json"))
    assert answer["weights"] == "none" and answer["models"][0]["probability"] is None
    assert "bayes-linear has log evidence and no BIC" in credence(
        "compare", "linear", "bayes-linear", *DATA, "--folds", "3", "--average").stderr


def test_fits_of_folds_that_do_not_converge(credence, examples):
    for verb in (["cv", "robust"], ["compare", "robust", "linear"], ["tune", "robust", "--over", "dof=3|5"]):
        models = [w for w in verb if w in ("robust", "linear")]
        said = credence(verb[0], *models, *DATA, *verb[1 + len(models):], "--max-iter", "2", "--folds", "3", "--strict")
        assert said.code == 4 and "fits did not converge" in said.stderr, verb


def test_infinite_scores_are_shown(credence, examples):
    command = ["knn", "examples/iris.csv", "--target", "species", "--smoothing", "0", "--k", "1"]
    said = credence("cv", *command)
    assert {r["metric"]: r["mean"] for r in rows_of(said)}["log_loss"] == "inf"
    assert "log_loss is infinite in" in said.stderr
    said = credence("cv", *command, "--json")
    assert read_json(said)["metrics"]["log_loss"] is None and "log_loss is infinite in" in said.stderr


def test_counts_are_held_out_copy_by_copy(credence, tmp_path):
    """A table of counts gets the scores of the same table with a row for each copy."""
    cells = [(g, y, n) for g, yes in zip("abcd", (5, 20, 60, 90)) for y, n in (("no", 100 - yes), ("yes", yes))]
    (tmp_path / "n.csv").write_text("g,y,n\n" + "".join(f"{g},{y},{n}\n" for g, y, n in cells))
    (tmp_path / "long.csv").write_text("g,y\n" + "".join(f"{g},{y}\n" * n for g, y, n in cells))
    common = ["--target", "y", "--features", "g", "--folds", "5", "--json"]
    counted = read_json(credence("cv", "naive-bayes", "n.csv", "--weights", "n", *common))
    single = read_json(credence("cv", "naive-bayes", "long.csv", *common))
    assert counted["rows"] == single["rows"] == 400
    for metric in ("log_loss", "accuracy", "auc"):
        assert counted["metrics"][metric] == pytest.approx(single["metrics"][metric], abs=0.015)
