"""Kernels of texts, and of saved models, from the command line."""
import csv
import io
import json
import random

import pytest

MODELS = [("gp", "y"), ("gp-online", "y"), ("gp-classify", "c"), ("kernel-ridge", "y"), ("kernel-pca", None)]


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def words(tmp_path):
    """Words over three letters with a number each: how often "ab" is in them; new.csv has other words."""
    rng = random.Random(3)
    rows = []
    for i in range(50):
        word = "".join(rng.choice("abc") for _ in range(rng.randint(3, 12))) + ("" if i < 40 else "d")
        rows.append((word, round(rng.random(), 3), word.count("ab") + rng.gauss(0, 0.1), "yn"["ab" in word]))
    for name, part in (("d.csv", rows[:40]), ("new.csv", rows[40:])):
        with open(tmp_path / name, "w", encoding="utf-8") as f:
            csv.writer(f).writerows([("word", "x", "y", "c"), *part])
    return tmp_path


@pytest.mark.parametrize("model,target", MODELS)
def test_every_model_takes_texts(credence, words, model, target):
    target = ["--target", target] if target else []
    fit = credence("fit", model, "d.csv", *target, "--features", "word,x", "--kernel",
                   "spectrum(word; k=2) + rbf(x)", *(["--hyper", "map"] if model == "gp" else []), "-o", "m.cred")
    assert fit.code == 0, fit.stderr
    rows = table(credence("predict", "m.cred", "new.csv").stdout)
    assert len(rows) == 10 and all("" not in row.values() for row in rows)
    if model == "gp":
        metrics = json.loads(credence("evaluate", "m.cred", "new.csv", "--json").stdout)["metrics"]
        assert metrics["rmse"] < 0.3
        assert credence("update", "m.cred", "new.csv", "-o", "u.cred").code == 0
        assert json.loads(credence("evaluate", "u.cred", "new.csv", "--json").stdout)["metrics"]["rmse"] < metrics["rmse"]
        one = credence("predict", "u.cred", "-", input="word,x\nzzz,0.5\n")
        assert one.code == 0 and len(table(one.stdout)) == 1


def test_texts_with_tests_of_two_files(credence, words):
    same = json.loads(credence("info", "--mmd", "d.csv", "new.csv", "--columns", "word", "--kernel",
                               "spectrum(word; k=2)", "--json").stdout)
    assert "spectrum(word; k=2" in json.dumps(same)


def test_what_is_refused(refused, words):
    fit = ["fit", "gp", "d.csv", "--target", "y", "--kernel"]
    refused(2, *fit, "spectrum(wort)", says=["there is no column 'wort'", "did you mean 'word'"])
    refused(2, *fit, "rbf(y)", says=["column 'y' is the target", "^"])
    refused(2, *fit, "spectrum(x)", says=["contains numbers, but spectrum acts on texts", "--category x"])
    (words / "gap.csv").write_text("word,x,y\nab,1,2\n,2,3\nbc,3,1\n")
    refused(3, "fit", "gp", "gap.csv", "--target", "y", "--kernel", "spectrum(word)", says=["gap.csv:3", "has no value"])


def test_fisher_kernel_needs_its_file_no_more(credence, refused, words):
    assert credence("fit", "normal", "d.csv", "--features", "x", "-o", "n.cred").code == 0
    fit = ["fit", "gp", "d.csv", "--target", "y", "--features", "x", "--kernel"]
    assert credence(*fit, 'fisher(file="n.cred")', "-o", "f.cred").code == 0
    before = credence("predict", "f.cred", "new.csv").stdout
    (words / "n.cred").unlink()
    assert credence("predict", "f.cred", "new.csv").stdout == before and before.count("\n") == 11
    refused(5, *fit, 'fisher(file="n.cred")', says=["cannot read n.cred"])
    refused(2, *fit, 'fisher(file="f.cred")', says=["is a model 'gp'", "beta-bernoulli have one"])


def test_fisher_kernel_of_scaled_columns(credence, words):
    """The kernel does not depend on the units of the columns: it is that of the model."""
    assert credence("fit", "mvn", "d.csv", "--features", "x,y", "-o", "n.cred").code == 0
    fit = ["fit", "kernel-pca", "d.csv", "--features", "x,y", "--kernel", 'fisher(file="n.cred")', "--components", "2"]
    rows = []
    for scale in ("none", "standard"):
        assert credence(*fit, "--scale", scale, "-o", "p.cred").code == 0
        rows.append([float(v) for row in table(credence("predict", "p.cred", "new.csv").stdout) for v in row.values()])
    assert rows[0] == pytest.approx(rows[1], rel=1e-9)


def test_help_of_kernels(credence, refused):
    assert credence("help", "kernels").stdout == credence("models", "kernels").stdout
    assert "Leslie" in credence("help", "kernels", "spectrum").stdout
    refused(2, "help", "rbf", says=["'rbf' is a kernel", "credence help kernels rbf"])
    refused(2, "help", "fit", "rbf", says=["one argument too many"])


SIGMOID = [(["fit", "gp", "d.csv", "--target", "y"], "no Gaussian process has such a covariance"),
           (["fit", "gp-classify", "d.csv", "--target", "c"], "no Gaussian process has such a covariance"),
           (["fit", "kernel-ridge", "d.csv", "--target", "y"], "the penalty of some functions would be negative"),
           (["fit", "kernel-pca", "d.csv"], "some components would have a negative variance"),
           (["info", "--mmd", "d.csv", "new.csv"], "the distance of two means could be the root of a negative number")]


@pytest.mark.parametrize("command,why", SIGMOID)
def test_sigmoid_is_refused_for_what_it_does_and_the_hint_works(credence, refused, words, command, why):
    command = command + (["--features", "x"] if command[0] == "fit" else [])
    if command[0] == "info":  # numbers only
        for name in ("d.csv", "new.csv"):
            rows = table((words / name).read_text())
            (words / name).write_text("x\n" + "".join(row["x"] + "\n" for row in rows))
    refused(2, *command, "--kernel", "sigmoid", says=why)
    result = credence(*command, "--kernel", "poly(degree=3, c=1)")
    assert result.code == 0, result.stderr


def test_a_normalised_kernel_is_learned_and_kept(credence, words):
    fit = credence("fit", "gp", "d.csv", "--target", "y", "--features", "word,x", "--kernel",
                   "normalise(spectrum(word; k=2)) + normalise(poly(x; degree=2, c=1))", "-o", "m.cred", "--json")
    assert fit.code == 0, fit.stderr
    assert "polynomial.c" in [p["name"] for p in json.loads(fit.stdout)["parameters"]]
    direct = credence("fit", "gp", "d.csv", "--target", "y", "--features", "word", "--kernel",
                      "normalise(spectrum(word; k=2))", "-o", "a.cred", "--json")
    option = credence("fit", "gp", "d.csv", "--target", "y", "--features", "word", "--kernel",
                      "spectrum(word; k=2, normalise=1)", "--json")
    assert abs(json.loads(direct.stdout)["log_evidence"] - json.loads(option.stdout)["log_evidence"]) < 1e-6
    assert len(table(credence("predict", "a.cred", "new.csv").stdout)) == 10


CENTRED = "centre(spectrum(word; k=2)) + centre(rbf(x))"


@pytest.mark.parametrize("model,target", MODELS)
def test_every_model_takes_a_centred_kernel_and_keeps_its_rows(credence, words, model, target):
    target = ["--target", target] if target else []
    fit = credence("fit", model, "d.csv", *target, "--features", "word,x", "--kernel", CENTRED, "-o", "m.cred")
    assert fit.code == 0, fit.stderr
    (words / "d.csv").unlink()
    rows = table(credence("predict", "m.cred", "new.csv").stdout)
    assert len(rows) == 10 and all("" not in row.values() for row in rows)
    assert "centre(" in credence("describe", "m.cred", "--json").stdout


def test_where_the_zero_of_a_column_is_does_not_matter_to_a_centred_kernel(credence, tmp_path):
    evidence = {}
    for zero in (0, 273):
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{x + zero},{0.3 * x * x - x}\n" for x in range(9)))
        for kernel in ("(centre(linear) + 1)^2", "(linear + 1)^2"):
            fit = credence("fit", "gp", "t.csv", "--target", "y", "--kernel", kernel, "--noise", "0.1", "--optimize", "none",
                           "--json")
            evidence[zero, kernel[:3]] = json.loads(fit.stdout)["log_evidence"]
    assert abs(evidence[0, "(ce"] - evidence[273, "(ce"]) < 1e-6 < 0.1 < abs(evidence[0, "(li"] - evidence[273, "(li"])


def test_two_files_do_not_see_that_a_kernel_is_centred(credence, words):
    mmd = [json.loads(credence("info", "--mmd", "d.csv", "new.csv", "--columns", "x", "--kernel", kernel, "--json").stdout)["mmd"]
           for kernel in ("rbf(l=0.5)", "centre(rbf(l=0.5))")]
    assert abs(mmd[0]["mmd2"] - mmd[1]["mmd2"]) < 1e-12 and mmd[0]["p"] == mmd[1]["p"]


def test_a_centred_kernel_is_refused_where_it_cannot_be_and_the_hints_work(credence, refused, words):
    fit = ["fit", "gp", "d.csv", "--target", "y", "--features", "x", "--kernel", "centre(rbf)"]
    for method in (["--approx", "svgp"], ["--approx", "rff"], ["--solver", "cg"]):
        refused(2, *fit, *method, says=[f"cannot be combined with {method[0]} {method[1]}", "--approx vfe"])
    assert credence(*fit, "--approx", "vfe", "--inducing", "10", "-o", "v.cred").code == 0
    refused(2, *fit[:-1], "centre(rbf + white)", says="white must be outside centre: centre(...) + white(...)")
    assert credence(*fit[:-1], "centre(rbf) + white(0.1)").code == 0
    assert credence(*fit, "--hyper", "map", "-o", "m.cred").code == 0
    refused(2, "update", "m.cred", "new.csv", says=["there is no exact update", "fit it again to all the rows"])


def test_coordinates_lead_back_to_rows(credence, refused, words):
    fit = ["fit", "kernel-pca", "d.csv", "--features", "x,y", "--scale", "standard"]
    assert credence(*fit, "--kernel", "linear", "--components", "2", "-o", "m.cred").code == 0
    rows = table(credence("predict", "m.cred", "new.csv", "--reconstruct", "--id", "word").stdout)
    assert list(rows[0]) == ["word", "z1", "z2", "rec_x", "rec_y", "rec_distance"]
    for row, new in zip(rows, table((words / "new.csv").read_text())):  # two directions are all there are
        assert float(row["rec_x"]) == pytest.approx(float(new["x"]), abs=1e-8)
        assert float(row["rec_y"]) == pytest.approx(float(new["y"]), abs=1e-8)
    answer = json.loads(credence("predict", "m.cred", "new.csv", "--reconstruct", "--json").stdout)["predictions"][3]
    assert answer["reconstruction"] == {"x": float(rows[3]["rec_x"]), "y": float(rows[3]["rec_y"])}
    assert answer["reconstruction_distance"] == float(rows[3]["rec_distance"])
    assert credence(*fit, "--missing", "drop", "-o", "g.cred").code == 0
    gap = credence("predict", "g.cred", "-", "--reconstruct", input="x,y\n0.5,1\n,2\n")
    assert [row["rec_x"] == "" for row in table(gap.stdout)] == [False, True], gap.stderr
    refused(2, "predict", "m.cred", "new.csv", "--reconstruct", "--coordinates", says="--reconstruct requires predictions")
    refused(2, "predict", "m.cred", "--reconstruct", says="DATA is missing")
    assert credence("fit", "linear", "d.csv", "--target", "y", "--features", "x", "-o", "l.cred").code == 0
    refused(2, "predict", "l.cred", "new.csv", "--reconstruct", says="linear cannot reconstruct rows from coordinates")
    mixed = ["fit", "kernel-pca", "d.csv", "--features", "word,x", "--kernel"]
    assert credence(*mixed, "spectrum(word) + rbf(x)", "-o", "t.cred").code == 0
    refused(2, "predict", "t.cred", "new.csv", "--reconstruct", says=["reads categories or text", "a kernel for numbers"])
    assert credence(*mixed, "rbf(x)", "-o", "t.cred").code == 0
    assert credence("predict", "t.cred", "d.csv", "--reconstruct").code == 0


def test_one_sentence_for_a_singular_covariance(credence, refused, tmp_path):
    (tmp_path / "s.csv").write_text("x,y\n1,2\n2,3\n3,1\n4,2\n")
    fit = ["fit", "gp", "s.csv", "--target", "y", "--kernel", "linear"]
    words = "the covariance of the rows is not positive definite in double precision"
    alike = "are the most similar (correlation 1)"
    error = refused(4, *fit, "--noise", "0", says=words).stderr
    assert alike in error and "added to each row" in error and "hint: without --noise it is learned" in error
    fixed = credence(*fit, "--noise", "0", "--optimize", "none")  # both ways of the hint
    assert fixed.code == 0 and words in fixed.stderr and alike in fixed.stderr
    assert credence(*fit).code == 0


def test_a_model_without_parameters_prints_what_it_has(credence, words):
    fit = credence("fit", "kernel-pca", "d.csv", "--features", "x,y", "--kernel", "linear", "-o", "m.cred")
    rows = {row["name"]: float(row["value"]) for row in table(fit.stdout)}
    assert rows["components"] == 2 and abs(rows["eigenvalue(z1)"] + rows["eigenvalue(z2)"] - rows["total"]) < 1e-9
    assert credence("describe", "m.cred").stdout == fit.stdout
