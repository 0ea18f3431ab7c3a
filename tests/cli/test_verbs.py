"""Every verb with every option once; its three formats; what its JSON promises."""
import csv
import gzip
import io
import json
import math
import pathlib
import random
import re
import subprocess

import pytest

FIT = ["fit", "bayes-linear", "examples/diabetes.csv", "--target", "progression"]
PREDICT = ["predict", "model.cred", "examples/diabetes.csv"]
EVALUATE = ["evaluate", "model.cred", "examples/diabetes.csv"]
UPDATE = ["update", "model.cred", "examples/diabetes.csv", "--quiet"]
CV = ["cv", "linear", "examples/diabetes.csv", "--target", "progression", "--folds", "3"]
COMPARE = ["compare", "beta-bernoulli", "examples/aspirin.csv", "--by", "arm", "--weights", "people"]
MODELS = ["compare", "linear", "linear:basis=poly:2,missing=drop", "examples/diabetes.csv", "--target", "progression",
          "--features", "bmi,bp", "--folds", "3"]
TUNE = ["tune", "ridge", "examples/diabetes.csv", "--target", "progression", "--over", "lambda=0.1..10:log:3",
        "--over", "basis=poly:1|poly:2", "--features", "bmi,bp", "--folds", "3"]
DESCRIBE = ["describe", "examples/diabetes.csv"]

# verb -> a command that works, and the members of its JSON
VERBS = {
    "fit": (FIT, "model task rows features target seed log_evidence parameters iterations stop seconds"),
    "fit linear": (["fit", "linear", *FIT[2:]], "log_likelihood parameters statistics settings"),
    "fit ridge": (["fit", "ridge", *FIT[2:]], "log_likelihood parameters statistics settings"),
    "predict": (PREDICT, "model rows interval seed predictions"),
    "evaluate": (EVALUATE, "model rows interval seed metrics"),
    "update": (UPDATE, "model task rows features target seed parameters iterations stop seconds"),
    "cv": (CV, "model rows metrics se folds seed"),
    "compare": (COMPARE, "model by rows pooled_log_evidence separate_log_evidence log_bayes_factor prior_odds"
                         " probability evidence seed groups differences"),
    "compare models": (MODELS, "rows seed models best weights"),
    "compare average": ([*MODELS, "--average"], "models average"),
    "tune": (TUNE, "model rows seed metric search rule folds repeats chosen best candidates"),
    "cv bootstrap": ([*CV[:-2], "--bootstrap", "30", "--bias-variance"], "model rows seed bootstrap"),
    "cv curve": ([*CV, "--learning-curve", "0.3,1"], "model rows seed learning_curve"),
    "fit columns": (["fit", "normal", "examples/diabetes.csv", "--features", "bmi"],
                    "log_likelihood parameters statistics distributions"),
    "describe": (DESCRIBE, "file kind rows columns"),
    "describe model": (["describe", "model.cred"], "file kind model parameters settings seed"),
    "models": (["models"], "models"),
    "models one": (["models", "ridge"], "name task summary formulas reference options"),
    "check": (["check", "examples/diabetes.csv"], "file kind sound"),
    "check model": (["check", "model.cred"], "file kind sound"),
    "dist": (["dist"], "distributions"),
    "dist one": (["dist", "beta"], "name summary formula support discrete reference parameters offers"),
    "dist answer": (["dist", "beta", "12", "3", "--mean", "--cdf", "0.8"], "distribution parameters mean cdf"),
    "info": (["info", "examples/iris.csv", "--bootstrap", "10"], "unit seed rows estimator level columns"),
    "info mutual": (["info", "examples/diabetes.csv", "--mutual", "bmi,sex", "--permutations", "3"], "mutual"),
    "info matrix": (["info", "examples/diabetes.csv", "--matrix", "--columns", "bmi,sex,s5"], "pairs"),
    "info rows": (["info", "examples/diabetes.csv", "--columns", "age,sex,bmi,bp", "--rows", "--top", "4"], "surprise"),
    "info source": (["info", "--source", "0.1,0.9"], "source"),
    "describe network": (["describe", "examples/networks/burglary.bif"], "file kind network variables"),
    "check network": (["check", "examples/networks/burglary.bif"], "file kind sound"),
    "query": (["query", "examples/networks/burglary.bif", "P(burglary | john=yes)"], "network results seconds seed"),
    "infer": (["infer", "examples/networks/burglary.bif", "examples/networks/calls.csv"],
              "network rows method exact results seed"),
    "denoise": (["denoise", "examples/denoise/noisy.pgm"], "image width height labels method exact energy changed seed seconds"),
    "version": (["version"], "version threads blas"),
    "help": (["help"], "verbs"),
    "help one": (["help", "fit"], "name usage summary options"),
}


@pytest.mark.parametrize("name", VERBS)
def test_json(credence, examples, model, name):
    command, members = VERBS[name]
    result = credence(*command, "--json")
    assert (result.code, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert list(answer)[0] == "schema"
    assert answer["schema"] == f"credence.{command[0]}/1"
    assert answer["warnings"] == []
    assert set(members.split()) <= set(answer), answer.keys()


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("form", ["text", "csv"])
def test_text_and_csv(credence, examples, model, name, form):
    result = credence(*VERBS[name][0], "--format", form)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.endswith("\n") and "\t" not in result.stdout
    assert not [line for line in result.stdout.splitlines() if line != line.rstrip()]
    assert not re.search(r"\bnan\b", result.stdout.lower())


# --- what is in the answers ------------------------------------------------------------------------

def read_json(result):
    assert result.code == 0, result
    return json.loads(result.stdout)


def read_csv(result):
    assert result.code == 0, result
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_fit_json_in_detail(credence, examples):
    answer = read_json(credence(*FIT, "--json", "--seed", "12"))
    assert (answer["model"], answer["task"], answer["rows"]) == ("bayes-linear", "regression", 442)
    assert answer["features"] == ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    assert (answer["target"], answer["seed"]) == ("progression", 12)
    assert answer["stop"] == "closed form" and answer["seconds"] >= 0
    assert answer["parameters"][0]["name"] == "intercept"
    assert [p["name"] for p in answer["parameters"][1:]] == answer["features"]
    assert all({"name", "value", "sd"} <= set(p) for p in answer["parameters"])
    assert isinstance(answer["log_evidence"], float)


def test_least_squares_of_one_column(credence, tmp_path):
    """b = Sxy / Sxx and a = mean y - b mean x, from the definition."""
    rng = random.Random(4)
    x = [rng.gauss(3, 2) for _ in range(50)]
    y = [1.5 * a - 7 + rng.gauss(0, 1) for a in x]
    (tmp_path / "xy.csv").write_text("x,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(x, y)))
    mx, my = math.fsum(x) / 50, math.fsum(y) / 50
    slope = math.fsum((a - mx) * (b - my) for a, b in zip(x, y)) / math.fsum((a - mx) ** 2 for a in x)
    rows = read_csv(credence("fit", "linear", "xy.csv", "--target", "y"))
    assert [r["name"] for r in rows] == ["intercept", "x"]
    assert float(rows[1]["value"]) == pytest.approx(slope, rel=1e-13)
    assert float(rows[0]["value"]) == pytest.approx(my - slope * mx, rel=1e-13)


def test_csv_and_json_are_the_same_numbers(credence, examples, model):
    for command, key in ((FIT, "parameters"), (PREDICT, "predictions"), (DESCRIBE, "columns")):
        rows, items = read_csv(credence(*command)), read_json(credence(*command, "--json"))[key]
        assert len(rows) == len(items)
        for row, item in zip(rows, items):
            for name, text in row.items():
                if isinstance(item[name], (int, float)):
                    assert float(text) == item[name], (command, name)
                else:
                    assert text == (item[name] or "")


def test_numbers_survive_a_round_trip(credence, tmp_path):
    rng = random.Random(8)
    numbers = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300) for _ in range(500)]
    numbers += [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0 ** 53, -0.0]
    (tmp_path / "in.csv").write_text("x,y\n" + "".join(f"{x!r},0\n" for x in numbers))
    back = read_csv(credence("convert", "in.csv", "-"))
    assert [float(row["x"]).hex() for row in back] == [x.hex() for x in numbers]


def test_predict_numbers(credence, examples, model):
    rows = read_csv(credence(*PREDICT))
    assert len(rows) == 442 and list(rows[0]) == ["mean", "sd", "lower", "upper"]
    wide, narrow = (read_csv(credence(*PREDICT, "--interval", p)) for p in ("0.99", "0.5"))
    for normal, w, n in zip(rows, wide, narrow):
        assert float(w["lower"]) < float(normal["lower"]) < float(n["lower"]) < float(n["mean"])
        assert w["mean"] == normal["mean"] and w["sd"] == normal["sd"]
    assert list(read_csv(credence(*PREDICT, "--leverage"))[0])[-1] == "leverage"


def test_evaluate_by_hand(credence, examples, model):
    """RMSE, MAE and coverage, from the predictions of the same model."""
    with open(examples / "diabetes.csv") as f:
        truth = [float(row["progression"]) for row in csv.DictReader(f)]
    rows = read_csv(credence(*PREDICT, "--interval", "0.8"))
    error = [float(r["mean"]) - y for r, y in zip(rows, truth)]
    inside = [float(r["lower"]) <= y <= float(r["upper"]) for r, y in zip(rows, truth)]
    answer = read_json(credence(*EVALUATE, "--json", "--interval", "0.8"))
    metrics = answer["metrics"]
    assert answer["rows"] == 442 and answer["interval"] == 0.8
    assert metrics["rmse"] == pytest.approx(math.sqrt(sum(e * e for e in error) / 442))
    assert metrics["mae"] == pytest.approx(sum(map(abs, error)) / 442)
    assert metrics["coverage"] == pytest.approx(sum(inside) / 442)
    table = {r["metric"]: float(r["value"]) for r in read_csv(credence(*EVALUATE, "--interval", "0.8"))}
    assert table == metrics


def test_cv_in_detail(credence, examples):
    with open(examples / "diabetes.csv") as f:
        truth = [float(row["progression"]) for row in csv.DictReader(f)]
    total = sum((y - sum(truth) / 442) ** 2 for y in truth)
    answer = read_json(credence(*CV, "--json", "--seed", "3"))
    assert answer["seed"] == 3 and len(answer["folds"]) == 3
    assert sum(fold["rows"] for fold in answer["folds"]) == answer["rows"] == 442
    for name, mean in answer["metrics"].items():
        values = [fold[name] for fold in answer["folds"]]
        if name == "r2":  # the sums of squares of all rows; test_assess.c has its standard error
            assert mean == pytest.approx(1 - 442 * answer["metrics"]["rmse"] ** 2 / total)
            continue
        if name == "rmse":  # of the rows of all folds; its parts by the delta method
            rows = [fold["rows"] for fold in answer["folds"]]
            values = [mean / 2 + 3 * n * v * v / 442 / (2 * mean) for n, v in zip(rows, values)]
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / 2 / 3)
        assert mean == pytest.approx(sum(values) / 3)
        assert answer["se"][name] == pytest.approx(spread)


def test_cv_depends_on_the_seed_as_a_number(credence, examples):
    same, other = (credence(*CV, "--seed", s).stdout for s in ("1e2", "1"))
    assert same == credence(*CV, "--seed", "100").stdout != other


def test_compare_by_hand(credence, examples):
    """The beta functions of the two arms against that of both together."""
    def lbeta(a, b):
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    answer = read_json(credence(*COMPARE, "--json", "--prior-odds", "0.5"))
    separate, pooled = lbeta(105, 10934) + lbeta(190, 10846), lbeta(294, 21779)
    assert answer["separate_log_evidence"] == pytest.approx(separate)
    assert answer["pooled_log_evidence"] == pytest.approx(pooled)
    assert answer["log_bayes_factor"] == pytest.approx(separate - pooled)
    odds = 0.5 * math.exp(answer["log_bayes_factor"])
    assert answer["probability"] == pytest.approx(odds / (1 + odds))
    assert [g["group"] for g in answer["groups"]] == ["aspirin", "placebo"]
    assert answer["groups"][0]["parameters"][0]["posterior"] == {"family": "beta", "a": 105, "b": 10934}
    assert answer["differences"][0]["probability"] < 1e-6
    rows = read_csv(credence(*COMPARE, "--prior-odds", "0.5"))
    answers = {r["quantity"]: r for r in rows}
    for name in ("pooled_log_evidence", "separate_log_evidence", "log_bayes_factor", "probability"):
        assert float(answers[name]["value"]) == answer[name] and answers[name]["group"] == ""
    greater = answers["probability_greater"]
    assert (greater["name"], greater["group"], greater["than"]) == ("attack=yes", "aspirin", "placebo")
    assert float(greater["value"]) == answer["differences"][0]["probability"]
    assert [float(r["value"]) for r in rows if r["quantity"] == "log_evidence"] == \
        [g["log_evidence"] for g in answer["groups"]]
    rows = [r for r in rows if r["quantity"] == "parameter"]
    assert [(r["group"], r["name"]) for r in rows] == [("aspirin", "attack=yes"), ("placebo", "attack=yes")]
    assert rows[0]["posterior"] == "beta(a=105, b=10934)"


def test_compare_refuses(credence, examples):
    missing = credence("compare", "normal", "examples/diabetes.csv")
    assert missing.code == 2 and "give --by COLUMN" in missing.stderr
    improper = credence("compare", "normal", "examples/diabetes.csv", "--by", "sex", "--features", "bmi")
    assert improper.code != 0 and "no log evidence" in improper.stderr and "--prior" in improper.stderr


def test_columns_update_like_all_rows(credence, tmp_path):
    (tmp_path / "a.csv").write_text("k\n3\n0\n2\n")
    (tmp_path / "b.csv").write_text("k\n5\n1\n")
    (tmp_path / "ab.csv").write_text("k\n3\n0\n2\n5\n1\n")
    prior = ["--prior", "shape=2,rate=0.5"]
    assert credence("fit", "poisson", "a.csv", *prior, "-o", "m.cred").code == 0
    updated = read_json(credence("update", "m.cred", "b.csv", "--json"))
    whole = read_json(credence("fit", "poisson", "ab.csv", *prior, "--json"))
    assert updated["log_evidence"] == pytest.approx(whole["log_evidence"], rel=1e-12)
    assert updated["parameters"] == whole["parameters"]
    assert updated["distributions"][0]["posterior"] == {"family": "gamma", "shape": 13, "rate": 5.5}


def test_update_is_the_fit_of_all_rows(credence, examples, tmp_path):
    lines = (examples / "diabetes.csv").read_text().splitlines(keepends=True)
    (tmp_path / "a.csv").write_text("".join(lines[:200]))
    (tmp_path / "b.csv").write_text(lines[0] + "".join(lines[200:]))
    fixed = ["--optimize", "none", "--alpha", "1", "--noise", "3000", "--scale", "none"]
    assert credence("fit", "bayes-linear", "a.csv", "--target", "progression", "-o", "a.cred",
                    *fixed).code == 0
    updated = read_json(credence("update", "a.cred", "b.csv", "--json", "-o", "ab.cred"))
    whole = read_json(credence(*FIT, "--json", *fixed))
    assert updated["rows"] == whole["rows"] == 442 and updated["output"] == "ab.cred"
    for one, other in zip(updated["parameters"], whole["parameters"]):
        assert one["value"] == pytest.approx(other["value"], rel=1e-7)
        assert one["sd"] == pytest.approx(other["sd"], rel=1e-7)


def test_describe_data(credence, tmp_path):
    (tmp_path / "d.csv").write_text("n,c,b,gap\n1,u,true,2.5\n2,v,false,\n6,u,true,4.5\n")
    answer = read_json(credence("describe", "d.csv", "--json"))
    columns = {c["name"]: c for c in answer["columns"]}
    assert {n: c["type"] for n, c in columns.items()} == {
        "n": "integer", "c": "category", "b": "boolean", "gap": "real"}
    assert columns["gap"]["missing"] == 1 and columns["gap"]["mean"] == 3.5
    assert (columns["n"]["min"], columns["n"]["mean"], columns["n"]["max"]) == (1, 3, 6)
    assert (columns["c"]["levels"], columns["c"]["frequent"]) == (2, "u")
    text = credence("describe", "d.csv", "--format", "text").stdout
    assert text.startswith("d.csv: 3 rows, 4 columns\n")


def test_plot(credence, examples, model, tmp_path):
    assert credence("plot", "model.cred", "examples/diabetes.csv", "-o", "f.svg").code == 0
    assert (tmp_path / "f.svg").read_text().startswith("<svg")
    to_stdout = credence("plot", "model.cred", "examples/diabetes.csv", "-o", "-", "--interval", "0.5")
    assert to_stdout.code == 0 and to_stdout.stdout.startswith("<svg")


# --- options ---------------------------------------------------------------------------------------

DATA = "w,g,x,z,y\n" + "".join(
    f"{1 + i % 3},{'uvw'[i % 3]},{i * 37 % 101},{'' if i == 5 else i * 53 % 89},{i * 29 % 97}\n"
    for i in range(40))

OPTIONS = {
    "fit": ["--features x,z --missing drop", "--features x* --missing error", "--features !z --weights w",
            "--missing impute", "--features x --scale standard", "--features x --scale none",
            "--features x --scale-target standard", "--features x --basis poly:3", "--features x --basis x=bspline:6",
            "--features x --basis natural:4:range=-5;120", "--features x --basis rbf:5:20,x=hinge:3",
            "--terms x*g", "--terms .,x^2 --missing impute", "--features x,w --terms .,x:w,-x",
            "--features g --reference frequent", "--features g --reference none",
            "--features w --category w", "--features x --real x", "--features x --seed 9",
            "--features x --task regression", "--features x --calibrate none --calibrate-folds 3",
            "--target w --features x --transform-target log", "--target w --features x --transform-target boxcox",
            "--features x --calibrate conformal --conformal split --conformal-scale none", "--features x --threads 1", "--features x --quiet", "--features x --verbose",
            "--features x --progress never", "--features x --time-limit 1h",
            "--features x --memory-limit 1G", "--features x --strict", "--features x --no-intercept",
            "--features x --from csv", "--features x --delimiter ,", "--features x --header yes",
            "--features x --missing-values 7,8 --missing drop", "--features x -q", "--features x -v"],
    "cv": ["--features x --folds 4", "--features x --split ordered", "--features x --interval 0.5",
           "--features x --split shuffled --seed 2", "--features x --repeats 2 --folds 3", "--features x --group g --folds 3",
           "--features x --bootstrap 5", "--features x --bias-variance --bootstrap 3",
           "--features x --bootstrap 5 --parameters --interval-method bca", "--features x --jackknife",
           "--features x --learning-curve 0.5,1 --folds 3"],
}

for listing in sorted((pathlib.Path(__file__).parent / "options").glob("*.txt")):   # one for each model
    OPTIONS[f"fit {listing.stem}"] = [line for line in listing.read_text().splitlines() if line]


@pytest.mark.parametrize("line", [f"{verb}|{o}" for verb, lines in OPTIONS.items() for o in lines])
def test_option(credence, tmp_path, line):
    verb, options = line.split("|", 1)
    verb, _, name = verb.partition(" ")
    (tmp_path / "d.csv").write_text(DATA)
    target = [] if "--target" in options or "--no-target" in options else ["--target", "y"]
    options = options.replace("--no-target", "")
    result = credence(verb, name or "linear", "d.csv", *target, *options.split())
    assert result.code == 0, result.stderr
    assert "credence: error" not in result.stderr


def test_every_option_is_tried(credence):
    """No option of any model is missing from its list in options/, or from the table above."""
    for page in read_json(credence("models", "--json"))["models"]:
        tried = " ".join(o for verb in ("fit", f"fit {page['name']}", "cv") for o in OPTIONS.get(verb, []))
        for option in page["options"]:
            name = option["name"].replace("_", "-")
            assert f"--{name}" in tried or f"--no-{name}" in tried, (page["name"], name)


# --- files and streams -----------------------------------------------------------------------------

def test_data_from_stdin_gzip_and_pipes(credence, diabetes, program, tmp_path):
    plain = credence(*DESCRIBE).stdout
    squeezed = gzip.compress(diabetes.read_bytes())
    (tmp_path / "d.csv.gz").write_bytes(squeezed)
    assert credence("describe", "-", input=diabetes.read_bytes()).stdout == plain
    assert credence("describe", "-", input=squeezed).stdout == plain
    assert credence("describe", "d.csv.gz").stdout == plain
    for verb in ("describe", "check"):
        shell = subprocess.run(["bash", "-c", f'"$0" {verb} <(cat "$1")', program, diabetes],
                               capture_output=True, text=True, check=True)
        if verb == "describe":
            assert shell.stdout == plain


def test_models_from_stdin_and_pipes(credence, examples, model, program, tmp_path):
    for verb in ("describe", "check"):
        direct, piped = credence(verb, model), credence(verb, "-", input=model.read_bytes())
        assert piped.code == 0
        assert piped.stdout.replace("stdin", str(model)) == direct.stdout
    predictions = credence(*PREDICT).stdout
    assert credence("predict", "-", "examples/diabetes.csv", input=model.read_bytes()).stdout == predictions
    pipe = f'"$0" fit bayes-linear examples/diabetes.csv --target progression -o - | "$0" predict - examples/diabetes.csv'
    shell = subprocess.run(["bash", "-o", "pipefail", "-c", pipe, program], cwd=tmp_path,
                           capture_output=True, text=True, check=True)
    assert shell.stdout == predictions


def test_model_to_stdout_is_the_file(credence, examples, model):
    assert credence(*FIT, "-o", "-", binary=True).stdout == model.read_bytes()


@pytest.mark.parametrize("command", [PREDICT, EVALUATE, CV, COMPARE, DESCRIBE, ["describe", "model.cred"],
                                     ["models"], ["check", "model.cred"], ["version"], ["help"]])
def test_output_to_a_file(credence, examples, model, tmp_path, command):
    for options in ([], ["--json"], ["--format", "text"]):
        shown = credence(*command, *options).stdout
        result = credence(*command, *options, "-o", "out")
        assert result == (0, "", "")
        assert (tmp_path / "out").read_text() == shown
    assert credence(*command, "-o", "-").stdout == credence(*command).stdout


def test_update_in_place(credence, examples, model):
    before = model.read_bytes()
    assert credence(*UPDATE, "-o", "model.cred").code == 0
    assert model.read_bytes() != before
    assert credence("check", "model.cred").code == 0


def test_convert(credence, diabetes, tmp_path):
    assert credence("convert", diabetes, "d.npy") == (0, "", "")
    assert credence("describe", "d.npy").stdout.count("\n") == 12
    assert credence("convert", diabetes, "-o", "a.csv") == (0, "", "")
    assert credence("convert", "a.csv", "b.csv") == (0, "", "")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert credence("convert", "a.csv", "-").stdout == (tmp_path / "a.csv").read_text()


# --- laws ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["linear", "ridge", "bayes-linear"])
def test_threads_do_not_change_a_byte(credence, tmp_path, name):
    rng = random.Random(5)
    with open(tmp_path / "many.csv", "w") as f:
        f.write("a,b,c,d,y\n")
        for _ in range(6000):
            row = [rng.gauss(0, 1) for _ in range(4)]
            f.write(",".join(map(repr, row + [sum(row) + rng.gauss(0, 1)])) + "\n")
    seen = set()
    for threads in (1, 2, 4):
        fit = credence("fit", name, "many.csv", "--target", "y", "-o", "m.cred", "--threads", threads)
        out = credence("predict", "m.cred", "many.csv", "--threads", threads)
        score = credence("evaluate", "m.cred", "many.csv", "--threads", threads)
        seen.add((fit.stdout, out.stdout, score.stdout, (tmp_path / "m.cred").read_bytes()))
        assert (fit.code, out.code, score.code) == (0, 0, 0)
    assert len(seen) == 1


def test_same_seed_same_bytes(credence, examples, tmp_path):
    for name in ("a.cred", "b.cred"):
        assert credence(*FIT, "--seed", "3", "-o", name).code == 0
    assert (tmp_path / "a.cred").read_bytes() == (tmp_path / "b.cred").read_bytes()


def test_seed_is_in_every_result(credence, examples, model):
    assert "seed 7" in credence(*FIT, "--seed", "7", "--format", "text", "-o", "7.cred").stdout
    assert "seed 7" in credence(*CV, "--seed", "7", "--format", "text").stdout
    assert "seed 7" in credence("evaluate", "7.cred", "examples/diabetes.csv", "--format", "text").stdout
    assert "seed 7" in credence("describe", "7.cred", "--format", "text").stdout
    for command in (["predict", "7.cred", "examples/diabetes.csv"], ["describe", "7.cred"],
                    ["evaluate", "7.cred", "examples/diabetes.csv"]):
        assert read_json(credence(*command, "--json"))["seed"] == 7


# --- warnings --------------------------------------------------------------------------------------

GAPS = "a,y\n1,2\n2,\n3,5\n4,4\n5,7\n"
WARNS = ["fit", "linear", "gaps.csv", "--target", "y", "--missing", "drop"]


@pytest.fixture
def gaps(tmp_path):
    (tmp_path / "gaps.csv").write_text(GAPS)


def test_warnings(credence, gaps):
    result = credence(*WARNS, "--json")
    warning = "1 of 5 rows of gaps.csv were left out because of missing values"
    assert result.stderr == f"credence: warning: {warning}\n"
    assert read_json(result)["warnings"] == [warning]
    quiet = credence(*WARNS, "--json", "--quiet")
    assert (quiet.code, quiet.stderr) == (0, "") and read_json(quiet)["warnings"] == [warning]


def test_strict(credence, gaps, refused):
    refused(4, *WARNS, "--strict", "-o", "m.cred", says=["--strict", "left out because of missing values"])
    refused(4, *WARNS, "--strict", "--quiet", "-o", "m.cred", says="left out")
    assert credence(*WARNS, "-o", "m.cred").code == 0
    assert credence("fit", "linear", "gaps.csv", "--target", "a", "--features", "a*,!y",
                    "--strict").code != 0
    refused(4, "cv", *WARNS[1:], "--folds", "2", "--strict", "-o", "cv.csv", says="left out")


def test_rows_without_prediction(credence, tmp_path, refused):
    (tmp_path / "gaps.csv").write_text("a,y\n1,2\n,3\n3,5\n4,4\n5,7\n")
    assert credence(*WARNS, "-o", "m.cred").code == 0
    result = credence("predict", "m.cred", "gaps.csv")
    assert "1 of 5 rows have missing values and get no prediction" in result.stderr
    assert result.stdout.splitlines()[2] == ",,,"
    answer = read_json(credence("predict", "m.cred", "gaps.csv", "--json"))["predictions"]
    assert answer[1]["mean"] is None and answer[1]["sd"] is None and answer[2]["mean"] is not None
    text = credence("predict", "m.cred", "gaps.csv", "--format", "text").stdout.splitlines()
    assert len(text) == 6 and text[2] == ""
    refused(4, "predict", "m.cred", "gaps.csv", "--strict", "-o", "p.csv", says="no prediction")
    refused(4, "evaluate", "m.cred", "gaps.csv", "--strict", says="not scored")


def test_iteration_limit(credence, examples, refused):
    short = [*FIT, "--optimize", "em", "--max-iter", "1"]
    result = credence(*short, "--json")
    assert result.code == 0 and "not converged" in result.stderr
    assert read_json(result)["stop"] == "iteration limit"
    refused(4, *short, "--strict", "-o", "m.cred", says="not converged")


@pytest.mark.parametrize("model", ["linear", "ridge", "bayes-linear", "logistic"])
def test_powers_do_not_depend_on_where_a_column_begins(credence, tmp_path, model):
    """Fits to powers of years, of years since 1900, and of seconds since 1970 predict the same."""
    years = [1875 + i for i in range(98)]
    level = [round(580 - 0.02 * i + 1e-3 * (i - 50) ** 2 + (7 * i % 13) / 5, 3) for i in range(98)]
    target = ["yes" if y > 580.5 else "no" for y in level] if model == "logistic" else level
    units = {"a": lambda y: y, "b": lambda y: y - 1900, "c": lambda y: (y - 1970) * 31557600 + 2 ** 31}
    predicted = []
    for name, of in units.items():
        (tmp_path / f"{name}.csv").write_text("year,level\n" + "".join(f"{of(y)},{t}\n" for y, t in zip(years, target)))
        fit = credence("fit", model, f"{name}.csv", "--target", "level", "--basis", "poly:3", "-o", "m.cred", "--json")
        assert fit.code == 0 and not fit.stderr, fit
        if model == "ridge" and name == "b":
            assert [p["name"] for p in json.loads(fit.stdout)["parameters"]] == ["intercept", "year", "(year - 23.5)^2",
                                                                                 "(year - 23.5)^3"]
        lines = credence("predict", "m.cred", f"{name}.csv").stdout.splitlines()
        predicted.append([float(line.split(",")[1 if model == "logistic" else 0]) for line in lines[1:]])
    assert predicted[1] == pytest.approx(predicted[0], rel=1e-6)
    assert predicted[2] == pytest.approx(predicted[0], rel=1e-6)
