"""Answers that would look good and be wrong are refused, or said to be doubtful."""
import json
import random
import zipfile

import pytest


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_predictions_that_overflow(credence, tmp_path):
    data = write(tmp_path, "d.csv", "x,y\n1,2\n2,3.5\n3,7\n4,7.5\n")
    model = str(tmp_path / "m.cred")
    assert credence("fit", "linear", data, "--target", "y", "-o", model)[0] == 0
    code, out, err = credence("predict", model, write(tmp_path, "far.csv", "x\n1\n1e308\n"))
    assert (code, out) == (4, "") and "far.csv:3: the values are so large that the prediction overflows" in err


def test_one_column_in_two_roles(credence, tmp_path):
    data = write(tmp_path, "d.csv", "x,y\n1,2\n2,3\n3,7\n")
    code, _, err = credence("fit", "linear", data, "--target", "y", "--weights", "y")
    assert code == 2 and "cannot be both the target and the weights" in err


def test_one_bad_cell_makes_a_category(credence, tmp_path):
    rows = "".join(f"{i}.5,{3 * i}\n" for i in range(1, 41)) + "n.a.,7\n"
    data = write(tmp_path, "d.csv", "rooms,y\n" + rows)
    code, _, err = credence("fit", "ridge", data, "--target", "y")
    assert code == 0 and "column 'rooms' is read as a category of 41 levels, because 'n.a.' is not a number" in err
    code, _, err = credence("fit", "ridge", data, "--target", "y", "--missing-values", "n.a.", "--missing", "drop")
    assert code == 0 and "category" not in err


def test_a_category_of_every_row(credence, tmp_path):
    rows = "".join(f"day{i},{i % 7}\n" for i in range(30))
    code, _, err = credence("fit", "ridge", write(tmp_path, "d.csv", "date,y\n" + rows), "--target", "y")
    assert code == 0 and "column 'date' is a category of 30 levels in 30 rows" in err


def test_no_error_of_leaving_out_without_degrees_of_freedom(credence, tmp_path):
    data = write(tmp_path, "d.csv", "x,y\n1,2\n2,3\n")
    fit = json.loads(credence("fit", "linear", data, "--target", "y", "--json")[1])
    assert fit["statistics"]["loocv"] is None and fit["log_likelihood"] is None


def test_text_target_names_the_way_on(credence, tmp_path):
    data = write(tmp_path, "d.csv", "x,price\n1,cheap\n2,dear\n3,5\n")
    code, _, err = credence("fit", "linear", data, "--target", "price")
    assert code == 3 and "--real price finds the cell" in err
    code, _, err = credence("fit", "linear", data, "--target", "price", "--real", "price")
    assert code == 3 and "d.csv:2:3: 'cheap' in column 'price' is not a number" in err


def test_the_kernel_is_known(credence):
    blas = json.loads(credence("version", "--json")[1])["blas"]
    assert "OpenBLAS" in blas["library"] and blas["kernel"] not in ("", "unknown")


def test_no_option_is_passed_over(credence, refused, examples, tmp_path):
    """What would have no effect is refused."""
    data = "examples/iris.csv"
    assert credence("fit", "fisher", data, "--target", "species", "-o", "f.cred").code == 0
    assert credence("fit", "dirichlet-categorical", data, "--features", "species", "-o", "d.cred").code == 0
    for option in (["--loss", "0-1"], ["--draws", "2"], ["--id", "species"], ["--leverage"]):
        refused(2, "predict", "f.cred", data, "--coordinates", *option, says=[option[0], "--coordinates"])
    refused(2, "predict", "d.cred", "--coordinates", says="--coordinates needs rows of data")
    refused(2, "convert", data, "out.csv", "--to", "bif", says="--to is the format of a network")
    refused(2, "plot", "f.cred", data, "--evidence", "e.json", says="--evidence is for networks")


def test_columns_are_not_lost_for_their_names(credence, tmp_path):
    """Names that were not UTF-8, and lists longer than a line."""
    (tmp_path / "l.csv").write_bytes(b"a\xff,b,c\n1,2,3\n2,3,1\n3,1,2\n4,4,4\n5,2,2\n")
    shown = credence("info", "l.csv", "--matrix", "--format", "text", binary=True).stdout
    assert shown.splitlines()[2].split() == [b"a\xc3\xbf", b"b", b"c"]  # a terminal gets no stray bytes
    shown = credence("info", "l.csv", "--matrix", "--format", "csv", binary=True).stdout
    assert b"a\xc3\xbf" in shown
    names = [f"a_rather_long_name_of_a_column_{i}" for i in range(50)]
    write(tmp_path, "w.csv", "\n".join([",".join(names), *(",".join("yn"[(i * k) % 3 == 0] for k in range(50))
                                                            for i in range(9))]) + "\n")
    told = credence("info", "w.csv", "--columns", ",".join(names), "--format", "csv")
    assert told.code == 0 and ",".join(names) in told.stdout


def test_a_category_of_one_level_is_named(credence, tmp_path):
    (tmp_path / "g.csv").write_text("x,g,y\n1,k,1\n2,k,3\n3,k,2\n4,k,5\n")
    assert "'g' is 'k' in every row" in credence("fit", "linear", "g.csv", "--target", "y").stderr
    assert "in every row" not in credence("fit", "linear", "g.csv", "--target", "y", "--features", "x").stderr


def test_glm_of_as_many_coefficients_as_rows(credence, tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n1,2\n")
    warned = credence("fit", "glm", "one.csv", "--target", "y").stderr
    assert "there are as many coefficients as rows" in warned


def test_sparse_data_that_a_model_spreads_out(credence, tmp_path):
    rows = [f"{i % 2} " + " ".join(f"{j}:1" for j in range(1 + i, 400000, 40000 + i)) for i in range(300)]
    (tmp_path / "s.libsvm").write_text("\n".join(rows) + "\n")
    for model in ("robust", "lda", "tree", "knn"):
        said = credence("fit", model, "s.libsvm", "--target", "y", "--memory-limit", "100M")
        assert said.code == 6 and "the data are sparse" in said.stderr, said.stderr


def test_calibration_is_shown(credence, examples):
    fit = ["fit", "lda", "examples/iris.csv", "--target", "species"]
    platt = json.loads(credence(*fit, "--calibrate", "platt", "--json", "-o", "p.cred").stdout)["calibration"]
    assert [m["class"] for m in platt] == ["setosa", "versicolor", "virginica"] and all("a" in m for m in platt)
    assert json.loads(credence("describe", "p.cred", "--json").stdout)["calibration"] == platt
    assert "calibration" in credence("describe", "p.cred", "--format", "text").stdout
    knots = json.loads(credence(*fit, "--calibrate", "isotonic", "--json").stdout)["calibration"]
    assert all(0 <= k["from"] <= 1 and 0 < k["to"] < 1 for k in knots)
    assert "calibration" not in json.loads(credence(*fit, "--json").stdout)


def test_warnings_of_a_stream_are_of_all_rows(credence, tmp_path):
    lines = ["a,c,y"] + [f"{i * 7 % 13},{1 if i < 60 else i % 5},{i % 11}" for i in range(200)]
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    whole = credence("fit", "linear", "s.csv", "--target", "y", "--stream", "--block", "50", "--strict")
    assert whole.code == 0 and "warning" not in whole.stderr


def test_a_stream_of_a_file_has_the_design_of_the_whole(credence, tmp_path):
    """Types and levels are those of all rows, however late they show."""
    lines = ["whole,turns,real,flag,late,color,y"]
    lines += [f"{i},{i if i < 3500 else i + 0.5},{i / 7 + 0.1},{str(i % 3 == 0).lower()},"
              f"{i % 9 if i < 3999 else 'none'},{'rgb'[i * i % 3]},{i % 11}" for i in range(4000)]
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    fit = ["fit", "ridge", "s.csv", "--target", "y"]
    designs = []
    for name, stream in (("a", []), ("b", ["--stream"]), ("c", ["--stream", "--block", "50"])):
        assert credence(*fit, *stream, "-o", f"{name}.cred").code == 0
        with zipfile.ZipFile(tmp_path / f"{name}.cred") as model:
            designs.append(json.loads(model.read("model.json"))["design"])
    assert [c["type"] for c in designs[0]["columns"]] == ["integer", "real", "real", "boolean", "category", "category"]
    assert designs[0] == designs[1] == designs[2]


def test_a_stream_is_not_calibrated_by_its_first_block(credence, examples, refused):
    refused(2, "fit", "lda", "examples/iris.csv", "--target", "species", "--calibrate", "platt", "--stream",
            says=["--calibrate platt needs all rows at once", "without --stream"])


def test_columns_that_are_the_same_in_every_row(credence, tmp_path):
    (tmp_path / "c.csv").write_text("x,k,c\n" + "".join(f"{i},7,{'ab'[i % 2]}\n" for i in range(12)))
    for model in ("lda", "qda", "naive-bayes"):
        said = credence("fit", model, "c.csv", "--target", "c", "--json")
        spread = {p["name"]: p["spread"] for p in json.loads(said.stdout)["parameters"]}
        assert spread["k | a"] == spread["k | b"] == 0 and spread["x | a"] > 3, model
        assert "'k' is constant" in said.stderr
    said = credence("fit", "lda", "c.csv", "--target", "c", "--features", "x")
    assert said.code == 0 and "constant" not in said.stderr and "overconfident with so few rows" in said.stderr


def test_an_update_without_a_file(credence, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,2\n2,3\n3,7\n4,6\n")
    assert credence("fit", "linear", "d.csv", "--target", "y", "-o", "m.cred").code == 0
    said = credence("update", "m.cred", "d.csv", "--strict")
    assert said.code == 0 and "not saved: use -o FILE to save it" in said.stderr
    assert credence("update", "m.cred", "d.csv", "-o", "n.cred").stderr == ""


def test_the_column_of_trials_at_prediction(credence, tmp_path):
    (tmp_path / "b.csv").write_text("x,y,tr\n" + "".join(f"{i},{i % 5},9\n" for i in range(12)))
    assert credence("fit", "glm", "b.csv", "--target", "y", "--family", "binomial", "--trials", "tr", "-o",
                    "m.cred").code == 0
    (tmp_path / "new.csv").write_text("x\n1\n")
    said = credence("predict", "m.cred", "new.csv")
    assert said.code == 3 and "column 'tr' not found" in said.stderr and "number of trials" in said.stderr


def test_as_many_folds_as_groups(credence, tmp_path):
    (tmp_path / "g.csv").write_text("x,g,y\n" + "".join(f"{i},{i % 9},{i * i % 7}\n" for i in range(45)))
    said = credence("cv", "linear", "g.csv", "--target", "y", "--group", "g")
    assert said.code == 2 and "10 folds of 9 groups" in said.stderr and "--folds 9" in said.stderr
    assert credence("cv", "linear", "g.csv", "--target", "y", "--group", "g", "--folds", "9").code == 0


def test_a_first_block_of_one_class(credence, tmp_path):
    (tmp_path / "s.csv").write_text("x,c\n" + "".join(f"{i % 7},{'ab'[i > 60 and i % 3 > 0]}\n" for i in range(120)))
    fit = ("fit", "logistic", "s.csv", "--target", "c", "--json")
    whole = json.loads(credence(*fit).stdout)["parameters"]
    blocks = json.loads(credence(*fit, "--stream", "--block", "50").stdout)["parameters"]
    assert [p["value"] for p in blocks] == pytest.approx([p["value"] for p in whole], rel=1e-6)
    piped = credence("fit", "logistic", "-", *fit[3:], "--stream", "--block", "50", input=(tmp_path / "s.csv").read_bytes())
    assert json.loads(piped.stdout)["parameters"] == blocks


def test_more_iterations_are_hinted(credence, examples):
    said = credence("fit", "robust", "examples/diabetes.csv", "--target", "progression", "--max-iter", "2")
    assert "a larger --max-iter lets it continue" in said.stderr


def test_lasso_has_the_sds_of_least_squares(credence, examples):
    data = ("examples/diabetes.csv", "--target", "progression", "--features", "bmi,s5", "--json")
    one = json.loads(credence("fit", "linear", *data).stdout)["parameters"]
    two = json.loads(credence("fit", "lasso", *data, "--lambda", "1e-9").stdout)["parameters"]
    for a, b in zip(one, two):
        assert abs(a["sd"] / b["sd"] - 1) < 1e-6 and abs(a["lower"] - b["lower"]) < 1e-3


def test_few_rows_of_huber(credence, tmp_path):
    rows = "".join(f"{i},{2 * i + (i * 7) % 5}\n" for i in range(20))
    said = credence("fit", "robust", write(tmp_path, "d.csv", "x,y\n" + rows), "--target", "y", "--method", "huber")
    assert said[0] == 0 and "with fewer than 50 rows the intervals of --method huber are too narrow" in said[2]


def test_few_rows_of_families_with_a_spread(credence, tmp_path):
    """Intervals of a learned spread are Student's, and wider than those of the standard errors; the inverse Gaussian warns."""
    rows = "".join(f"{i % 10},{1 + (i * 7) % 5 + i % 10}\n" for i in range(20))
    data = write(tmp_path, "d.csv", "x,y\n" + rows)
    words = "with fewer than 200 rows, 95 % intervals of --family inverse-gaussian"
    for family, warns in (("gamma", False), ("inverse-gaussian", True), ("poisson", False)):
        said = credence("fit", "glm", data, "--target", "y", "--family", family, "--json")
        assert said[0] == 0 and (words in said[2]) == warns, (family, said[2])
        parameter = json.loads(said[1])["parameters"][1]
        reach = (parameter["upper"] - parameter["value"]) / parameter["sd"]
        assert (abs(reach - 1.96) < 0.001) == (family == "poisson"), (family, reach)


@pytest.mark.parametrize("model", ["linear", "ridge", "lasso", "glm", "glm --family gamma", "kernel-ridge", "spline", "tree", "knn"])
def test_a_target_of_one_value(credence, tmp_path, model):
    rows = "".join(f"{i},5\n" for i in range(12))
    code, _, err = credence("fit", *model.split(), write(tmp_path, "d.csv", "x,y\n" + rows), "--target", "y")
    assert code == 0 and "the target 'y' has the same value in every row" in err
    assert credence("fit", *model.split(), str(tmp_path / "d.csv"), "--target", "y", "--strict")[0] != 0


def test_folds_warn_once(credence, tmp_path):
    """What every fold has to say with other numbers is said once, with how many of them said it."""
    rows = "".join(f"{'' if i % 9 == 0 else i},{i * i % 7}\n" for i in range(60))
    data = write(tmp_path, "d.csv", "x,y\n" + rows)
    for args in (["cv", "linear"], ["compare", "linear", "ridge"], ["tune", "ridge", "--over", "lambda=1|2"]):
        said = credence(*args, data, "--target", "y", "--missing", "drop", "--folds", "5").stderr
        left_out = [line for line in said.splitlines() if "were left out because of missing values" in line]
        assert 0 < len(left_out) <= 4 and any("times)" in line for line in left_out), said


def test_means_above_their_interval(credence, tmp_path):
    """After the way back from a logarithm a mean may lie far above the median; which is shown too."""
    rows = "".join(f"{i},{2.0 ** i * (1.7 if i % 2 else 1)}\n" for i in range(1, 8))
    data, model = write(tmp_path, "l.csv", "x,y\n" + rows), str(tmp_path / "m.cred")
    assert credence("fit", "linear", data, "--target", "y", "--transform-target", "log", "-o", model).code == 0
    near = credence("predict", model, "-", input="x\n3\n")
    far = credence("predict", model, "-", "--json", input="x\n3\n90\n9000\n")
    assert near.stdout.startswith("mean,sd,lower,upper,median\n") and near.stderr == ""
    assert "some means lie above their own interval" in far.stderr and "1 of 3 rows lies so far" in far.stderr
    rows = json.loads(far.stdout)["predictions"]
    for row in rows[:2]:
        assert row["lower"] < row["median"] < row["upper"]
    assert rows[0]["mean"] < rows[0]["upper"] and rows[1]["mean"] > rows[1]["upper"]
    assert rows[2]["mean"] is None  # of JSON, which has no infinity
    judged = credence("evaluate", model, "-", "--format", "csv", input="x,y\n3,8\n4,17\n9000,5\n").stdout
    assert "rmse,inf" in judged and "coverage,0.666" in judged


def test_a_reference_level(credence, refused, examples, tmp_path):
    """The level that others are compared with; a file keeps it."""
    rows = "".join(f"{'abc'[i % 3]},{'uv'[i % 2]},{i % 3 + 10 * (i % 2) + i % 5}\n" for i in range(30))
    fit = ["fit", "linear", write(tmp_path, "d.csv", "kind,side,y\n" + rows), "--target", "y", "--json"]

    def values(*more):
        done = credence(*fit, *more)
        assert done.code == 0, done.stderr
        return {p["name"]: p["value"] for p in json.loads(done.stdout)["parameters"]}

    first, other = values(), values("--reference", "kind=c,side=v", "-o", "m.cred")
    assert list(other) == ["intercept", "kind=a", "kind=b", "side=u"]
    assert other["kind=a"] == pytest.approx(-first["kind=c"])
    assert other["kind=b"] == pytest.approx(first["kind=b"] - first["kind=c"])
    assert values("--reference", "frequent,kind=b", "--reference", "kind=c")["kind=a"] == pytest.approx(other["kind=a"])
    assert "kind=a:side=u" in values("--reference", "kind=c,side=v", "--terms", "kind*side")
    text = "kind,side\na,u\nc,v\n"
    assert credence(*fit, "-o", "n.cred").code == 0
    one, two = (credence("predict", m, "-", "--json", input=text) for m in ("m.cred", "n.cred"))
    assert [p["mean"] for p in json.loads(one.stdout)["predictions"]] == pytest.approx(
        [p["mean"] for p in json.loads(two.stdout)["predictions"]])
    for text, code, says in (("kind=d", 2, "levels: a, b, c"), ("kin=a", 3, "did you mean 'kind'"),
                             ("y=1", 2, "is not a feature"), ("none,kind=a", 2, "cannot be combined"),
                             ("last", 2, "--reference COLUMN=LEVEL")):
        refused(code, *fit, "--reference", text, says=says)


def test_a_prior_that_decides(credence, tmp_path):
    """Two groups far apart: with a prior that expects such numbers they differ; with one far wider the prior decides,
    and is named."""
    rows = "".join(f"a,{i % 5}\nb,{i % 5 + 3}\n" for i in range(20))
    by = ["compare", "normal", write(tmp_path, "g.csv", "g,y\n" + rows), "--by", "g", "--json", "--prior"]
    fair, vague = (credence(*by, f"mean0=3,kappa0={k},nu0=2,var0=3") for k in ("0.1", "1e-30"))
    assert json.loads(fair.stdout)["probability"] > 0.99 and "the prior decides" not in fair.stderr
    assert json.loads(vague.stdout)["probability"] < 0.01 and "the prior decides here: the posteriors of y.mean" in vague.stderr


def write_columns(path, **columns):
    """A CSV file of columns of the same length."""
    rows = zip(*columns.values())
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_network_of_few_rows_warns(credence, tmp_path):
    """Columns without any bearing on the class: a network of 15 rows loses more than the shares of the classes."""
    warned = 0
    for seed in range(12):
        draw = random.Random(seed)
        write_columns(tmp_path / "few.csv", y=["no", "yes"] * 7 + ["no"],
                      **{f"x{j}": [draw.choice("abc"[:2 + j % 2]) for _ in range(15)] for j in range(4)})
        made = credence("fit", "bn", "few.csv", "--target", "y", "--structure", "naive")
        warned += "bn is overconfident with so few rows" in made.stderr and "--prior bdeu:10" in made.stderr
    assert warned >= 8
    draw = random.Random(1)
    y = [draw.choice(("no", "yes")) for _ in range(30)]
    write_columns(tmp_path / "clear.csv", y=y, x=[v if draw.random() < 0.95 else "no" for v in y])
    assert "overconfident" not in credence("fit", "bn", "clear.csv", "--target", "y", "--structure", "naive").stderr


def test_mixture_densities_of_few_rows_warn(credence, tmp_path):
    draw = random.Random(4)
    for n, warns in ((10, True), (400, False)):
        write_columns(tmp_path / "rows.csv", u=[draw.gauss(0, 1) for _ in range(n)], v=[draw.gauss(0, 1) for _ in range(n)])
        for model in ("gmm", "mixture"):
            made = credence("fit", model, "rows.csv").stderr
            assert ("gmm --infer vb and mvn" in made) == warns, (n, model, made)
        assert "rows are few" not in credence("fit", "gmm", "rows.csv", "--infer", "vb").stderr


def test_densities_are_compared(credence, refused, tmp_path):
    """Whatever else the models are for, cv scores them alike."""
    draw = random.Random(7)
    u = [draw.gauss(0, 1) for _ in range(60)]
    write_columns(tmp_path / "rows.csv", u=u, v=[x + draw.gauss(0, 1) for x in u])
    command = ["rows.csv", "--folds", "4", "--json"]
    answer = json.loads(credence("compare", "mvn", "gmm", "glasso", *command).stdout)
    for model in answer["models"]:
        alone = json.loads(credence("cv", model["model"], *command).stdout)
        assert model["metrics"]["log_score"] == pytest.approx(alone["metrics"]["log_score"])
    refused(2, "compare", "mvn", "kmeans", "rows.csv", says="cannot be compared")


def test_arcs_that_no_data_can_point(credence, tmp_path):
    """Of three columns that all depend on each other, every order of them fits as well."""
    draw = random.Random(3)
    a = [draw.randrange(2) for _ in range(400)]
    b = [x if draw.random() < 0.8 else 1 - x for x in a]
    c = [x + y if draw.random() < 0.8 else draw.randrange(3) for x, y in zip(a, b)]
    names = {"a": [f"a{x}" for x in a], "b": [f"b{x}" for x in b], "c": [f"c{x}" for x in c]}
    write_columns(tmp_path / "three.csv", **names)
    arcs = json.loads(credence("fit", "bn", "three.csv", "--json").stdout)["arcs"]
    assert len(arcs) == 3
    assert all(arc["direction"] == 0.5 and not arc["compelled"] for arc in arcs)
    fixed = json.loads(credence("fit", "bn", "three.csv", "--order", "c,b,a", "--json").stdout)["arcs"]
    assert all(arc["direction"] == 1 for arc in fixed)


def test_rows_that_the_fit_does_not_determine(credence, refused, tmp_path):
    """An answer outside the span of the rows is marked, and an error under --strict."""
    draw = random.Random(5)
    a = [draw.gauss(0, 1) for _ in range(20)]
    write_columns(tmp_path / "double.csv", a=a, b=[2 * x for x in a], y=[x + draw.gauss(0, 0.1) for x in a])
    (tmp_path / "new.csv").write_text("a,b\n1,2\n1,20\n")
    for model in ("linear", "glm", "robust"):
        credence("fit", model, "double.csv", "--target", "y", "-o", "m.cred")
        shown = credence("predict", "m.cred", "new.csv")
        assert "new.csv:3" in shown.stderr and "'b'" in shown.stderr and "1 of 2 rows" in shown.stderr
        table = [line.split(",") for line in credence("predict", "m.cred", "new.csv").stdout.split()]
        assert float(table[1][1]) < 1 and table[2][1:] == ["inf", "-inf", "inf"]
        refused(4, "predict", "m.cred", "new.csv", "--strict", says="do not determine")


def test_fields_of_few_rows_warn(credence, tmp_path):
    draw = random.Random(8)
    for n, warns in ((12, True), (120, False)):
        write_columns(tmp_path / "rows.csv", u=[draw.gauss(0, 1) for _ in range(n)], y=[draw.choice("ab") for _ in range(n)])
        assert ("the probabilities are too sure" in credence("fit", "crf", "rows.csv", "--target", "y").stderr) == warns
