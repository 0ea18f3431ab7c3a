"""What a newcomer tries, with data of their own (newcomer.py): answers that are right, and that say how sure they are."""
import csv
import io
import json
import math
import subprocess

import pytest

import newcomer as data


def rows_of(result):
    assert result.code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def metrics(result):
    return {row["metric"]: float(row.get("mean", row.get("value")) or "nan") for row in rows_of(result)}


def fit(credence, *args):
    result = credence("fit", *args, "--json")
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


# --- nothing lost, nothing silently wrong -------------------------------------------------------

def test_codes_of_missing_values_belong_to_the_model(credence, tmp_path):
    assert credence("fit", "linear", data.codes(tmp_path), "--target", "y", "--features", "!g,!w", "--missing-values",
                    "-999", "--missing", "drop", "-o", "m.cred").code == 0
    assert metrics(credence("evaluate", "m.cred", "codes.csv"))["rmse"] < 0.6
    assert "-999" in credence("describe", "m.cred", "--format", "text").stdout
    means = [row["mean"] for row in rows_of(credence("predict", "m.cred", "codes.csv"))]
    assert "" in means and all(abs(float(m)) < 20 for m in means if m)


@pytest.mark.parametrize("model", ["ridge", "lasso", "bayes-linear"])
def test_a_closed_pipe_does_not_lose_the_model(program, tmp_path, model):
    data.wide(tmp_path)
    line = f"'{program}' fit {model} wide.csv --target y -o w.cred | head -2"
    subprocess.run(line, shell=True, cwd=tmp_path, timeout=120, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "w.cred").stat().st_size > 10000


def test_classes_written_as_numbers(credence, tmp_path):
    data.seeds(tmp_path), data.banknote(tmp_path)
    for model in ("tree", "knn", "adaboost"):
        said = credence("fit", model, "seeds.csv", "--target", "variety")
        assert said.code == 0 and "--task classification if they are classes" in said.stderr
        assert "auc" in metrics(credence("cv", model, "banknote.csv", "--target", "class", "--folds", "3"))
        classes = credence("cv", model, "seeds.csv", "--target", "variety", "--task", "classification", "--folds", "10")
        assert metrics(classes)["accuracy"] > 0.8 and "--task" not in classes.stderr
    assert credence("compare", "logistic", "knn", "banknote.csv", "--target", "class", "--folds", "3").code == 0


def test_texts_that_are_not_utf8(credence, tmp_path):
    names = ["Müller", "Jürgen", "Anna"]
    (tmp_path / "latin.csv").write_bytes("".join(["name,y\n", *(f"{names[i % 3]},{i % 7}\n" for i in range(30))]).encode("latin-1"))
    for command in (["describe", "latin.csv"], ["check", "latin.csv"], ["fit", "linear", "latin.csv", "--target", "y"]):
        said = credence(*command)
        assert said.code == 0 and "latin.csv:2:2: not UTF-8: such bytes are read as Windows-1252" in said.stderr
    assert credence("convert", "latin.csv", "utf8.csv").code == 0
    assert "Müller" in (tmp_path / "utf8.csv").read_text(encoding="utf-8")


def test_a_text_of_its_own_in_every_row(credence, tmp_path):
    """Least squares of it would take minutes, for coefficients of single rows: every way out that is named is quick."""
    rows = [(f"t{i}", i * 7919 % 1000 / 100, i * 104729 % 997 / 100) for i in range(3000)]
    (tmp_path / "own.csv").write_text("g,x,y\n" + "".join(f"{g},{x},{y}\n" for g, x, y in rows))
    (tmp_path / "pairs.csv").write_text("g,x,y\n" + "".join(f"{rows[i // 2][0]},{x},{y}\n" for i, (_, x, y) in enumerate(rows)))
    for more in ([], ["--stream"]):
        said = credence("fit", "linear", "own.csv", "--target", "y", "--features", "*", *more)
        assert said.code == 3 and "error: the category 'g' has 3000 levels in 3000 rows" in said.stderr
        assert "--features '!g' leaves the column out, ridge can learn from so many levels" in said.stderr
    for works in (["linear", "own.csv", "--features", "!g"], ["linear", "own.csv"], ["ridge", "own.csv", "--features", "*"], ["linear", "pairs.csv"]):
        assert credence("fit", *works, "--target", "y", timeout=60).code == 0
    said = credence("fit", "linear", "own.csv", "--target", "y", "--features", "*", "--solver", "qr", "--time-limit", "1", timeout=30)
    assert said.code != 0 and "the time limit is reached" in said.stderr


def test_argmax_says_one_probability(credence, burglary):
    part, = json.loads(credence("query", burglary, "argmax(burglary, alarm | john=yes)", "--json").stdout)["results"]
    assert math.isclose(math.exp(part["log_probability"]), part["probability"], rel_tol=1e-9)
    assert math.isclose(part["log_joint"], part["log_probability"] + part["log_evidence"], rel_tol=1e-9)


# --- honest with few rows -----------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize("model", ["bayes-linear", "robust"])
@pytest.mark.parametrize("rows, columns", [(6, 2), (20, 10)])
def test_intervals_hold_with_few_rows(credence, tmp_path, model, rows, columns):
    inside = total = 0
    for seed in range(30):
        data.linear(tmp_path, "few.csv", seed, rows, columns, new=50)
        assert credence("fit", model, "few.csv", "--target", "y", "-o", "f.cred", "-q").code == 0
        y = [float(line.rsplit(",", 1)[1]) for line in (tmp_path / "new.csv").read_text().splitlines()[1:]]
        for row, v in zip(rows_of(credence("predict", "f.cred", "new.csv")), y):
            total += 1
            inside += float(row["lower"]) <= v <= float(row["upper"])
    assert total == 1500 and inside / total > 0.88


@pytest.mark.slow
def test_a_process_of_many_columns_and_few_rows(credence, tmp_path):
    data.linear(tmp_path, "crime.csv", 9, 47, 15)
    process = metrics(credence("cv", "gp", "crime.csv", "--target", "y", "--folds", "5"))
    plain = metrics(credence("cv", "linear", "crime.csv", "--target", "y", "--folds", "5"))
    assert process["coverage"] > 0.85 and process["log_score"] > plain["log_score"] - 0.8


def test_ridge_of_many_columns_and_few_rows(credence, tmp_path):
    """Nothing is left for the residuals: intervals are as wide as the target spreads, and the weak penalty is named."""
    said = credence("fit", "ridge", data.wide(tmp_path), "--target", "y", "-o", "w.cred")
    assert "the penalty is so weak" in said.stderr
    for row in rows_of(credence("predict", "w.cred", "wide.csv")):
        assert 0 < float(row["upper"]) - float(row["lower"]) < 100


def test_classes_that_columns_separate(credence, tmp_path):
    data.crabs(tmp_path)
    by_default = metrics(credence("cv", "bayes-logistic", "crabs.csv", "--target", "sp", "--folds", "5"))
    laplace = metrics(credence("cv", "bayes-logistic", "crabs.csv", "--target", "sp", "--folds", "5", "--infer", "laplace",
                               "--optimize", "evidence"))
    assert by_default["log_loss"] < 0.05 < laplace["log_loss"]


def test_robust_on_plain_normal_data(credence, tmp_path):
    for seed in range(5):
        said = fit(credence, "robust", data.linear(tmp_path, "rd.csv", seed, 20, 10), "--target", "y")
        plain = fit(credence, "linear", "rd.csv", "--target", "y")
        for a, b in zip(said["parameters"], plain["parameters"]):
            assert 0.7 < a["sd"] / b["sd"] < 1.5 and a["lower"] < a["value"] < a["upper"]


# --- numbers that others agree with -------------------------------------------------------------

def test_likelihood_of_glm_is_at_its_maximum(credence, tmp_path):
    """AIC by R 4.2: 1166.48 at its own dispersion, and 1111.037855."""
    data.inverse_gaussian(tmp_path)
    aic = {family: fit(credence, "glm", "ig.csv", "--target", "y", "--family", family, "--link", "log")["statistics"]["aic"]
           for family in ("gamma", "inverse-gaussian")}
    assert math.isclose(aic["inverse-gaussian"], 1111.037855, rel_tol=1e-8)
    assert 1160 < aic["gamma"] < 1166.48086


def test_entropy_of_unevenly_rounded_numbers(credence, tmp_path):
    truth = math.log2(15 * math.sqrt(2 * math.pi * math.e))
    for row in rows_of(credence("info", data.rounded(tmp_path))):
        assert float(row["lower"]) < truth + 0.1 and abs(float(row["entropy"]) - truth) < 0.35


def test_divergence_of_two_samples(credence, examples, tmp_path):
    lines = (examples / "diabetes.csv").read_text().splitlines()
    (tmp_path / "dA.csv").write_text("\n".join(lines[:101]) + "\n")
    (tmp_path / "dB.csv").write_text("\n".join([lines[0], *lines[-200:]]) + "\n")
    row, = rows_of(credence("info", "dA.csv", "dB.csv", "--columns", "bp"))
    assert 0 <= float(row["lower"]) <= float(row["kl"]) < float(row["upper"]) and float(row["js"]) >= 0


def test_collinear_columns_as_r_keeps_them(credence, tmp_path):
    said = credence("fit", "linear", data.collinear(tmp_path), "--target", "y")
    value = {row["name"]: float(row["value"]) for row in rows_of(said)}
    assert abs(value["a"] - 2) < 0.6 and abs(value["b"] - 1) < 0.6 and value["apb"] == value["a2"] == 0
    assert "its coefficient is not identified and was set to 0" in said.stderr


def test_penalties_are_on_one_scale(credence, tmp_path):
    """Rows twice are the same data: each penalty stands beside the mean of the losses, and shrinks as before."""
    data.biopsy(tmp_path)
    header, *rows = (tmp_path / "biopsy.csv").read_text().splitlines()
    (tmp_path / "twice.csv").write_text("\n".join([header, *rows, *rows]) + "\n")
    for penalty in ("l1", "l2", "elastic"):
        once, twice = ({p["name"]: p["value"] for p in
                        fit(credence, "logistic", file, "--target", "class", "--penalty", penalty, "--lambda", "0.02")["parameters"]}
                       for file in ("biopsy.csv", "twice.csv"))
        assert any(abs(v) > 0.01 for name, v in once.items() if name != "intercept"), penalty
        for name, value in once.items():
            assert math.isclose(value, twice[name], rel_tol=1e-3, abs_tol=1e-3), (penalty, name)


@pytest.mark.parametrize("model", ["linear", "glm", "robust"])
def test_a_constant_column_has_no_coefficient(credence, tmp_path, model):
    data.write(tmp_path, "constant.csv", "x,c,y", [[i, 7, 2 * i + (i * 5) % 7] for i in range(20)])
    said = credence("fit", model, "constant.csv", "--target", "y")
    row, = (row for row in rows_of(said) if row["name"] == "c")
    assert float(row["value"]) == 0 and row["sd"] == row["lower"] == row["upper"] == ""
    assert "'c'" in said.stderr


@pytest.mark.parametrize("model, more", [("bayes-logistic", []), ("gp-classify", ["--optimize", "none"])])
def test_intervals_of_probabilities(credence, tmp_path, model, more):
    data.biopsy(tmp_path)
    assert credence("fit", model, "biopsy.csv", "--target", "class", *more, "-o", "b.cred", "-q").code == 0
    wide, narrow = (rows_of(credence("predict", "b.cred", "biopsy.csv", "--interval", level)) for level in ("0.99", "0.5"))
    for a, b in zip(wide, narrow):
        ends = [float(x) for x in (a["p_lower_malignant"], b["p_lower_malignant"], b["p_upper_malignant"], a["p_upper_malignant"])]
        assert ends == sorted(ends) and 0 <= ends[0] < ends[-1] <= 1


def test_which_class_coefficients_speak_of(credence, tmp_path):
    text = credence("fit", "logistic", data.biopsy(tmp_path), "--target", "class", "--format", "text").stdout
    assert "log odds of malignant against benign" in text
    assert " z " in next(line for line in text.splitlines() if line.split()[:2] == ["name", "value"])


def test_classifiers_are_judged(credence, tmp_path):
    data.biopsy(tmp_path)
    (tmp_path / "loss.csv").write_text("action,benign,malignant\nwait,0,10\ntreat,1,0\n")
    assert credence("fit", "logistic", "biopsy.csv", "--target", "class", "-o", "b.cred").code == 0
    text = credence("evaluate", "b.cred", "biopsy.csv", "--loss", "loss.csv", "--format", "text").stdout
    for word in ("balanced_accuracy", "f1", "average_precision", "precision", "recall", "as malignant", "loss"):
        assert word in text
    said = credence("tune", "knn", "biopsy.csv", "--target", "class", "--over", "k=3|9", "--metric", "f1", "--folds", "3")
    assert said.code == 0, said.stderr


def test_a_perfect_fit_is_said(credence, tmp_path):
    data.write(tmp_path, "perfect.csv", "x,y", [[i, 2 * i + 1] for i in range(20)])
    assert "the fit is essentially perfect" in credence("fit", "linear", "perfect.csv", "--target", "y").stderr


def test_a_category_of_many_levels(credence, tmp_path):
    said = fit(credence, "linear", data.zips(tmp_path), "--target", "y")
    assert len(said["parameters"]) > 1000 and said["seconds"] < 30


# --- limits -------------------------------------------------------------------------------------

def test_time_limits_give_what_there_is(credence, tmp_path):
    data.linear(tmp_path, "long.csv", 3, 400, 4)
    said = credence("fit", "gp", "long.csv", "--target", "y", "--time-limit", "1s", "-o", "g.cred")
    assert said.code == 0 and (tmp_path / "g.cred").is_file(), said.stderr


def test_gibbs_answers_in_the_time_that_there_is(credence, burglary):
    ask = ["query", burglary, "P(alarm | john=yes)", "--json"]
    exact, = json.loads(credence(*ask).stdout)["results"]
    said = credence(*ask, "--method", "gibbs", "--samples", "15000000", "--time-limit", "2s")
    assert said.code == 0 and "time limit" in said.stderr, said.stderr
    part, = json.loads(said.stdout)["results"]
    for level, p in exact["marginals"]["alarm"].items():
        assert abs(part["marginals"]["alarm"][level] - p) < 0.05


def test_predict_answers_as_rows_come(program, tmp_path):
    data.linear(tmp_path, "d.csv", 1, 30, 2)
    run = subprocess.run([program, "fit", "linear", "d.csv", "--target", "y", "-o", "m.cred"], cwd=tmp_path,
                         stdout=subprocess.DEVNULL)
    assert run.returncode == 0
    with subprocess.Popen([program, "predict", "m.cred", "-", "--stream", "--block", "1"], cwd=tmp_path, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write("x0,x1\n1,2\n2,1\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("mean")
        assert float(process.stdout.readline().split(",")[0])  # while the pipe is still open
        process.stdin.close()
        assert process.wait(60) == 0
