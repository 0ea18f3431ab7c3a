"""predict beyond mean and interval: columns carried along, draws, decisions; and what it refuses."""
import csv
import io
import json
import math
import random
import subprocess

import pytest


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def line(credence, tmp_path):
    """A straight line through ten points, with names that are numbers with zeros before them."""
    (tmp_path / "d.csv").write_text("name,x,y,kind\n" + "".join(
        f"{i:03d},{i},{2 * i + (-1) ** i * 0.5},{'ab'[i % 2]}\n" for i in range(10)))
    assert credence("fit", "linear", "d.csv", "--target", "y", "--features", "x", "-o", "m.cred").code == 0
    return tmp_path


# --- the function without noise


def test_function_slopes_covariance_and_prior(credence, tmp_path):
    (tmp_path / "d.csv").write_text("x,g,y\n" + "".join(
        f"{i / 4},{'ab'[i % 2]},{3 + math.sin(i / 4) + 0.1 * (-1) ** i}\n" for i in range(24)))
    assert credence("fit", "gp", "d.csv", "--target", "y", "--noise", "0.02", "-o", "m.cred").code == 0
    seen = table(credence("predict", "m.cred", "d.csv").stdout)
    run = credence("predict", "m.cred", "d.csv", "--latent", "--slopes", "--draws", "2", "--covariance", "c.csv")
    rows = table(run.stdout)
    assert list(rows[0]) == ["mean", "sd", "lower", "upper", "slope_x", "draw1", "draw2"]
    matrix = [[float(cell) for cell in row.values()] for row in table((tmp_path / "c.csv").read_text())]
    for i, (one, other) in enumerate(zip(rows, seen)):
        assert one["mean"] == other["mean"]
        assert math.isclose(float(one["sd"]) ** 2 + 0.02, float(other["sd"]) ** 2, rel_tol=1e-9)
        assert math.isclose(matrix[i][i], float(one["sd"]) ** 2, rel_tol=1e-9, abs_tol=1e-12)
        assert all(math.isclose(matrix[i][k], matrix[k][i], abs_tol=1e-12) for k in range(24))
        assert abs(float(one["draw1"]) - float(one["mean"])) < 6 * float(one["sd"])
    answer = json.loads(credence("predict", "m.cred", "d.csv", "--slopes", "--json").stdout)
    assert answer["predictions"][5]["slopes"] == {"x": float(rows[5]["slope_x"])}
    before = table(credence("predict", "m.cred", "d.csv", "--prior").stdout)
    assert len({row["sd"] for row in before}) == 1 and float(before[0]["sd"]) > float(rows[0]["sd"])
    means = table(credence("predict", "m.cred", "d.csv", "--mean-only").stdout)
    assert [row["mean"] for row in means] == [row["mean"] for row in seen] and list(means[0]) == ["mean"]


def test_log_joint(credence, tmp_path):
    """With its own class it adds up over the rows to the log likelihood, categories and gaps included."""
    (tmp_path / "d.csv").write_text("kind,size,colour\n" + "".join(
        f"{'ab'[i % 3 == 0]},{'' if i % 5 == 4 else i % 7 + 3 * (i % 3)},{'red blue grey'.split()[i * i % 3]}\n"
        for i in range(30)))
    fit = credence("fit", "naive-bayes", "d.csv", "--target", "kind", "--predictive", "plugin", "-o", "m.cred", "--json")
    rows = json.loads(credence("predict", "m.cred", "d.csv", "--log-joint", "--json").stdout)["predictions"]
    kinds = [row["kind"] for row in table((tmp_path / "d.csv").read_text())]
    total = sum(row["log_joint"][kind] for row, kind in zip(rows, kinds))
    assert math.isclose(total, json.loads(fit.stdout)["log_likelihood"], rel_tol=1e-12)
    for row in rows:
        density = math.log(sum(math.exp(x) for x in row["log_joint"].values()))
        assert math.isclose(density, row["log_density"], abs_tol=1e-12)
        assert math.isclose(row["p"]["a"], math.exp(row["log_joint"]["a"] - density), abs_tol=1e-12)


@pytest.mark.parametrize("options, said", [
    (["--latent"], "the model linear predicts observations only"),
    (["--slopes"], "the model linear has no slopes"),
    (["--log-joint"], "the model linear has no distribution of the columns"),
    (["--prior", "--draws", "1"], "observations only"),
    (["--covariance", "c.txt"], "a matrix is written as CSV or NPY"),
    (["--mean-only", "--loss", "absolute"], "--mean-only cannot be combined with --loss"),
])
def test_what_has_no_function(credence, line, options, said):
    run = credence("predict", "m.cred", "d.csv", *options)
    assert run.code != 0 and said in run.stderr and run.stdout == ""


# --- columns carried along


def test_ids_are_as_they_are_written(credence, line):
    rows = table(credence("predict", "m.cred", "d.csv", "--id", "name,kind,y").stdout)
    assert list(rows[0]) == ["name", "kind", "y", "mean", "sd", "lower", "upper"]
    assert [row["name"] for row in rows] == [f"{i:03d}" for i in range(10)]
    assert [row["kind"] for row in rows] == ["ab"[i % 2] for i in range(10)]
    plain = table(credence("predict", "m.cred", "d.csv").stdout)
    assert [row["mean"] for row in rows] == [row["mean"] for row in plain]
    answer = json.loads(credence("predict", "m.cred", "d.csv", "--id", "name,x", "--json").stdout)
    assert answer["predictions"][7]["id"] == {"name": "007", "x": 7}   # x is a feature: a number
    text = credence("predict", "m.cred", "d.csv", "--id", "name", "--format", "text").stdout.splitlines()
    assert text[0].split() == ["name", "mean", "sd", "lower", "upper"] and text[1].split()[0] == "000"


def test_ids_of_rows_left_out(credence, line):
    (line / "gap.csv").write_text("x,who\n1,ann\n,bob\n3,\n")
    credence("fit", "linear", "d.csv", "--target", "y", "--features", "x", "--missing", "drop", "-o", "drop.cred")
    rows = table(credence("predict", "drop.cred", "gap.csv", "--id", "who").stdout)
    assert [row["who"] for row in rows] == ["ann", "bob", ""]
    assert rows[1]["mean"] == "" and rows[0]["mean"] != ""


def test_ids_with_commas(credence, line):
    (line / "odd.csv").write_text('x,"a,b"\n1,"say ""hi"", you"\n')
    out = credence("predict", "m.cred", "odd.csv", "--id", '"a,b"').stdout
    assert out.splitlines()[0].startswith('"a,b",mean') and table(out)[0]["a,b"] == 'say "hi", you'


def test_unknown_id(refused, line):
    refused(3, "predict", "m.cred", "d.csv", "--id", "nme", says=["column 'nme' not found", "--id name"])


# --- draws


def test_draws(credence, line):
    rows = table(credence("predict", "m.cred", "d.csv", "--draws", "400", "--seed", "3").stdout)
    assert list(rows[0])[4:7] == ["draw1", "draw2", "draw3"] and len(rows[0]) == 404
    for row in rows:
        draws = [float(row[f"draw{k}"]) for k in range(1, 401)]
        mean, sd = float(row["mean"]), float(row["sd"])
        assert abs(sum(draws) / 400 - mean) < 5 * sd / 20
        inside = sum(float(row["lower"]) < d < float(row["upper"]) for d in draws)
        assert 355 <= inside <= 400
    same = [credence("predict", "m.cred", "d.csv", "--draws", "2", "--seed", s).stdout for s in ("3", "3", "4")]
    assert same[0] == same[1] != same[2]
    assert table(same[0])[0]["draw2"] == rows[0]["draw2"]
    answer = json.loads(credence("predict", "m.cred", "d.csv", "--draws", "2", "--seed", "3", "--json").stdout)
    assert answer["seed"] == 3 and answer["predictions"][0]["draws"] == [float(rows[0][f"draw{k}"]) for k in (1, 2)]


# --- decisions


def test_decisions_of_numbers(credence, line):
    ask = ["predict", "m.cred", "d.csv", "--interval", "0.8"]
    for loss, action, expected in (("squared", lambda r: r["mean"], lambda r: r["sd"] ** 2),
                                   ("absolute", lambda r: r["mean"], None),
                                   ("quantile:0.9", lambda r: r["upper"], None),
                                   ("quantile:0.1", lambda r: r["lower"], None),
                                   ("0-1", lambda r: r["mean"], lambda r: 1)):
        for row in json.loads(credence(*ask, "--loss", loss, "--json").stdout)["predictions"]:
            assert row["action"] == pytest.approx(action(row), rel=1e-12)
            if expected:
                assert row["expected_loss"] == pytest.approx(expected(row), rel=1e-12)
            elif loss == "absolute":   # between 0.75 and 0.8 of the sd for Student's t
                assert 0.7 * row["sd"] < row["expected_loss"] < 0.8 * row["sd"]
    rows = table(credence(*ask, "--loss", "absolute").stdout)
    assert list(rows[0])[-2:] == ["action", "expected_loss"]
    both = [float(table(credence(*ask, "--loss", f"quantile:{q}").stdout)[0]["expected_loss"]) for q in (0.3, 0.7)]
    assert both[0] == pytest.approx(both[1], rel=1e-12)   # a symmetric distribution


def test_infinite_losses_are_told(credence, line):
    """Three points, a line and its noise: one degree of freedom, no variance."""
    (line / "few.csv").write_text("x,y\n0,1\n1,2\n2,5\n")
    credence("fit", "linear", "few.csv", "--target", "y", "-o", "few.cred")
    result = credence("predict", "few.cred", "few.csv", "--loss", "absolute")
    assert result.code == 0 and "infinite for any action in 3 of 3 rows" in result.stderr
    rows = table(result.stdout)
    assert all(row["expected_loss"] == "inf" and math.isfinite(float(row["action"])) for row in rows)
    squared = table(credence("predict", "few.cred", "few.csv", "--loss", "squared", "-q").stdout)
    assert all(row["action"] == "" for row in squared)   # there is no mean
    answer = json.loads(credence("predict", "few.cred", "few.csv", "--loss", "squared", "--json", "-q").stdout)
    assert answer["loss"] == "squared" and answer["predictions"][0]["expected_loss"] is None
    assert credence("predict", "few.cred", "few.csv", "--loss", "absolute", "--strict").code == 4


def test_refusals(refused, line):
    (line / "l.csv").write_text("action,a,b\nx,0,1\n")
    (line / "bad.csv").write_text("action,a,b\nx,0,\n")
    refused(2, "predict", "m.cred", "d.csv", "--loss", "l.csv", says=["classes or counts", "the loss is squared"])
    refused(3, "predict", "m.cred", "d.csv", "--loss", "bad.csv", says="bad.csv:2: the loss in column 'b'")
    refused(2, "predict", "m.cred", says=["DATA is missing", "linear needs rows to predict"])
    refused(2, "sample", "m.cred", "-n", "3", says=["linear does not draw rows", "predict m.cred DATA --draws N"])


# --- evaluate


def test_evaluate_rows(credence, line):
    out = credence("evaluate", "m.cred", "d.csv", "--rows").stdout.split()
    whole = json.loads(credence("evaluate", "m.cred", "d.csv", "--rows", "--json").stdout)
    assert out[0] == "log_density" and [float(x) for x in out[1:]] == whole["log_density"]
    assert whole["metrics"]["log_score"] == pytest.approx(sum(whole["log_density"]) / 10, rel=1e-12)


def test_points_without_spread_are_told(credence, line):
    (line / "two.csv").write_text("x,y\n0,1\n1,2\n")
    credence("fit", "linear", "two.csv", "--target", "y", "-o", "two.cred", "-q")
    result = credence("evaluate", "two.cred", "d.csv", "--json")
    assert "without a standard deviation" in result.stderr
    answer = json.loads(result.stdout)
    assert answer["metrics"]["crps"] is None and answer["metrics"]["rmse"] > 0 and answer["warnings"]


def test_the_next_row_of_categories(credence, examples, refused, tmp_path):
    """Probabilities of the levels by hand, also as decisions."""
    data = ["examples/aspirin.csv", "--features", "arm,attack", "--weights", "people", "-o", "m.cred"]
    for model in ("dirichlet-categorical", "beta-bernoulli"):
        assert credence("fit", model, *data).code == 0
        rows = list(csv.DictReader(io.StringIO(credence("predict", "m.cred").stdout)))
        found = {(r["column"], r["level"]): float(r["probability"]) for r in rows}
        assert found["attack", "yes"] == pytest.approx(294 / 22073)      # one more of each, in 22071
        assert found["arm", "aspirin"] == pytest.approx(11038 / 22073)
        for column in ("arm", "attack"):
            assert sum(p for (c, _), p in found.items() if c == column) == pytest.approx(1)
        best = {r["column"]: r for r in json.loads(credence("predict", "m.cred", "--loss", "0-1", "--json").stdout)["predictions"]}
        assert best["attack"]["action"] == "no"
        assert best["attack"]["expected_loss"] == pytest.approx(294 / 22073)
        refused(2, "predict", "m.cred", "--loss", "squared", says="the loss is 0-1")
        refused(2, "predict", "m.cred", "--draws", "3", says="credence sample")
    assert credence("fit", "beta-bernoulli", "examples/aspirin.csv", "--features", "arm", "--success", "aspirin",
                    "--weights", "people", "-o", "m.cred").code == 0
    assert [r["level"] for r in table(credence("predict", "m.cred").stdout)] == ["aspirin", "placebo"]
    (tmp_path / "loss.csv").write_text("action,no,yes\nwait,0,1000\ntreat,1,0\n")
    assert credence("fit", "beta-bernoulli", "examples/aspirin.csv", "--features", "attack", "--weights", "people",
                    "-o", "m.cred").code == 0
    assert "attack,treat," in credence("predict", "m.cred", "--loss", "loss.csv").stdout
    (tmp_path / "mix.csv").write_text("x,k\n1,a\n0,b\n1,a\n")
    assert credence("fit", "beta-bernoulli", "mix.csv", "-o", "m.cred").code == 0
    mixed = credence("predict", "m.cred")
    assert "columns of categories are left out" in mixed.stderr and mixed.stdout.splitlines()[1].startswith("x,")


# --- no rows


NETWORK = ('{"network": "bayes", "slices": 2, "variables": {"g": {"states": ["a", "b", "c"], "table": [0.3, 0.3, 0.4]},'
           ' "h": {"states": 2, "initial": {"table": [0.5, 0.5]}, "parents": ["h[-1]"], "table": [[0.5, 0.5], [0.5, 0.5]]}}}')
TRIES = [["--target", "y", "--features", "x,z,g"], ["--target", "c", "--features", "x,z,g"],
         ["--target", "c", "--features", "x,z"], ["--features", "x,z"], ["--features", "k"], ["--features", "g"],
         ["--features", "g", "--network", NETWORK], ["--features", "c"]]


@pytest.mark.slow
def test_a_header_alone_gets_an_answer_without_rows_from_every_model(credence, tmp_path):
    rng = random.Random(4)
    lines = ["g,x,z,y,c,k"]
    for i in range(30):
        x, z = rng.random(), rng.random()
        lines.append(f"{rng.choice('abc')},{x},{z},{2 * x + z + rng.gauss(0, 0.2)},{'yn'[x + rng.gauss(0, 0.3) > 0.5]},"
                     f"{rng.randint(0, 4)}")
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "h.csv").write_text(lines[0] + "\n")
    for model in json.loads(credence("models", "--json").stdout)["models"]:
        if model["name"] == "program":  # what it states are parameters: it does not speak of rows
            continue
        assert any(credence("fit", model["name"], "d.csv", *tried, "-o", "m.cred").code == 0 for tried in TRIES), model
        rows, none = credence("predict", "m.cred", "d.csv"), credence("predict", "m.cred", "h.csv")
        assert none.code == 0, none.stderr
        assert none.stdout == rows.stdout.split("\n")[0] + "\n", model
        said = json.loads(credence("predict", "m.cred", "h.csv", "--json").stdout)
        assert said["rows"] == 0 and said["predictions"] == []


def test_options_of_no_rows(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,g,y\n" + "".join(f"{i / 4},{'ab'[i % 2]},{math.sin(i / 4)}\n" for i in range(24)))
    assert credence("fit", "gp", "d.csv", "--target", "y", "--features", "x", "-o", "m.cred").code == 0
    run = credence("predict", "m.cred", "-", "--latent", "--slopes", "--draws", "2", "--id", "g", "--loss", "squared",
                   "--covariance", "c.csv", input="g,x\n")
    assert run.code == 0, run.stderr
    assert run.stdout == "g,mean,sd,lower,upper,slope_x,action,expected_loss,draw1,draw2\n"
    refused(3, "predict", "m.cred", "-", input="g\n", says="column 'x' not found")
    refused(3, "evaluate", "m.cred", "-", input="x,y\n", says="a header but no row")


# --- rows as they come -----------------------------------------------------------------------------

def test_stream_answers_as_a_table_does(credence, examples, tmp_path):
    assert credence("fit", "lda", "examples/iris.csv", "--target", "species", "-o", "c.cred").code == 0
    assert credence("fit", "bayes-linear", "examples/diabetes.csv", "--target", "progression", "-o", "n.cred").code == 0
    for model, data, more in (("c.cred", "examples/iris.csv", ["--id", "species"]), ("n.cred", "examples/diabetes.csv", []),
                              ("n.cred", "examples/diabetes.csv", ["--loss", "quantile:0.9", "--leverage"])):
        whole = credence("predict", model, data, *more).stdout
        for block in ([], ["--block", "1"], ["--block", "64"]):
            assert credence("predict", model, data, "--stream", *block, *more).stdout == whole
        text = (tmp_path / data).read_text()
        assert credence("predict", model, "-", "--stream", *more, input=text).stdout == whole
    lines = credence("predict", "c.cred", "examples/iris.csv", "--stream", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == json.loads(
        credence("predict", "c.cred", "examples/iris.csv", "--json").stdout)["predictions"]


def test_stream_is_a_filter(credence, program, examples, tmp_path):
    """Each row is answered before the next one comes; columns that the model does not read may hold anything."""
    assert credence("fit", "linear", "examples/diabetes.csv", "--target", "progression", "--missing", "drop", "-o",
                    "model.cred").code == 0
    head = "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6,note"
    rows = ["59,2,32.1,101,157,93.2,38,4,4.8598,87,1", ",1,21.6,87,183,103.2,70,3,3.8918,69,",
            "72,2,30.5,93,156,93.6,41,4,4.6728,85,some text"]
    process = subprocess.Popen([program, "predict", "model.cred", "-", "--stream", "--id", "note", "--format", "csv"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True)
    process.stdin.write(head + "\n" + rows[0] + "\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("note,mean")
    assert process.stdout.readline().startswith("1,")
    for row, begins in zip(rows[1:], (",,", "some text,")):
        process.stdin.write(row + "\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(begins)
    process.stdin.close()
    assert process.wait(10) == 0
    assert "1 of 3 rows have missing values" in process.stderr.read()


def test_stream_takes_the_memory_of_a_block(credence, model, tmp_path):
    row = "59,2,32.1,101,157,93.2,38,4,4.8598,87"
    with open(tmp_path / "long.csv", "w") as f:
        f.write("age,sex,bmi,bp,s1,s2,s3,s4,s5,s6,name\n")
        f.writelines(f"{row},somebody number {i}\n" for i in range(150000))
    told = credence("predict", "model.cred", "long.csv", "--stream", "--block", "500", "--id", "name", "--memory-limit", "32M",
                    "-o", "out.csv", "--threads", "1")
    assert (told.code, told.stderr) == (0, "")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert len(lines) == 150001 and lines[-1].startswith("somebody number 149999,")
    assert credence("predict", "model.cred", "long.csv", "--id", "name", "--memory-limit", "32M").code == 6


def test_stream_refuses_what_needs_all_rows(refused, model, diabetes):
    for option in (["--draws", "3"], ["--covariance", "c.csv"]):
        refused(2, "predict", "model.cred", diabetes, "--stream", *option, says="needs all rows at once")
    refused(2, "predict", "model.cred", diabetes, "--block", "10", says="--block needs --stream")
    refused(2, "predict", "model.cred", "--stream", says="--stream needs data")
