"""Gaussian processes at the command line: bounds that are bounds, and what is said of options."""
import json
import math
import random

import pytest


def fit(credence, *options):
    result = credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--json", *options)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("inducing", [20, 30, 40])
def test_the_variational_bound_is_not_above_the_evidence(credence, examples, inducing):
    """Also where the inducing inputs stand so near to each other that K is singular up to rounding."""
    best = fit(credence)["log_evidence"]
    bound = fit(credence, "--approx", "vfe", "--inducing", inducing)["log_evidence"]
    assert best - 0.05 < bound < best + 1e-8 * abs(best)


def test_inducing_inputs_of_an_exact_process_are_not_passed_over(credence, examples):
    said = fit(credence, "--inducing", "20")
    assert said["statistics"]["approx"] == "exact"
    assert any("--inducing 20 has no effect" in w for w in said["warnings"])
    assert fit(credence)["warnings"] == []


def test_without_leave_one_out_all_else_is_the_same(credence, examples):
    given = ["--kernel", "2000*rbf(l=5)", "--noise", "500", "--optimize", "none"]
    whole, less = fit(credence, *given), fit(credence, *given, "--no-loo")
    assert whole["statistics"].pop("loo_rmse") > 0 and less["statistics"].pop("loo_rmse") is None
    assert whole["statistics"].pop("loo_log_score") < 0 and less["statistics"].pop("loo_log_score") is None
    assert whole["statistics"] == less["statistics"] and whole["log_evidence"] == less["log_evidence"]
    said = fit(credence, "--approx", "vfe", "--inducing", "20", "--no-loo")
    assert any("--no-loo has no effect" in w for w in said["warnings"])


def test_a_category_is_for_the_classifier(refused, examples):
    for model in ("gp", "gp-online"):
        refused(3, "fit", model, "examples/iris.csv", "--target", "species", says="gp-classify")


@pytest.mark.parametrize("options", [["--approx", "svgp", "--inducing", "20"], ["--approx", "rff"],
                                     ["--approx", "nystrom", "--inducing", "20"], ["--solver", "cg"]])
def test_functions_of_every_approximation_can_be_drawn(credence, examples, options):
    fit(credence, "-o", "m.cred", "--kernel", "2000*rbf(l=5)", "--noise", "500", "--optimize", "none", *options)
    result = credence("plot", "m.cred", "examples/mcycle.csv", "--draws", "3", "--json")
    assert result.code == 0, result.stderr
    assert any(s["name"] == "3 draws" for s in json.loads(result.stdout)["series"])



def test_maps_of_classes(credence, refused, examples, tmp_path):
    """The text of a map is denser where the probability is higher: as predict tells it in the corners."""
    lines = (examples / "iris.csv").read_text().splitlines()
    (tmp_path / "two.csv").write_text("\n".join(lines[:1] + lines[51:]) + "\n")
    for data, words in (("two.csv", ["probability of species = virginica", "entropy in bits"]),
                        ("examples/iris.csv", ["largest probability", "entropy in bits"])):
        assert credence("fit", "gp-classify", data, "--target", "species", "--features", "petal*", "-o",
                        "m.cred").code == 0
        text = credence("plot", "m.cred", data, "--kind", "map", "--format", "text").stdout
        assert all(word in text for word in words), text
        assert credence("plot", "m.cred", data, "--kind", "map", "-o", "m.svg").code == 0
        svg = (tmp_path / "m.svg").read_text()
        assert all(word in svg for word in words)
        if data == "two.csv":
            shades = " .:-=+*#%@"
            rows = [line.split("|")[1] for line in text.split("entropy")[0].splitlines() if line.count("|") == 2
                    and "rows" not in line]
            middle = len(rows) // 2
            left, right = (shades.index(rows[middle][i]) for i in (1, -2))
            ends = credence("predict", "m.cred", "-", input="petal_length_cm,petal_width_cm\n2.9,1.75\n7,1.75\n").stdout
            p = [float(line.split(",")[2]) for line in ends.splitlines()[1:]]
            assert abs(left - 10 * p[0]) < 1.5 and abs(right - 10 * p[1]) < 1.5
    assert credence("fit", "normal", "two.csv", "--features", "petal_length_cm,petal_width_cm", "-o", "n.cred").code == 0
    refused(2, "plot", "n.cred", "two.csv", "--kind", "map", "-o", "x.svg", says="neither a number nor a class")


def test_the_figure_of_one_row_shows_its_interval(credence, tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n10,5\n")
    assert credence("fit", "gp", "one.csv", "--target", "y", "-o", "one.cred").code == 0
    text = credence("plot", "one.cred", "one.csv", "--format", "text").stdout
    lower, upper = map(float, credence("predict", "one.cred", "one.csv").stdout.splitlines()[1].split(",")[2:])
    labels = [float(line.split("|")[0]) for line in text.splitlines() if line.split("|")[0].strip() and "|" in line]
    assert max(labels) > upper and min(labels) < lower and ":::" in text


def test_wide_functions_of_three_classes_give_the_right_labels(credence, examples, tmp_path):
    lines = (examples / "iris.csv").read_text().splitlines()
    rows = lines[1:]
    (tmp_path / "train.csv").write_text("\n".join(lines[:1] + [r for i, r in enumerate(rows) if i % 5]) + "\n")
    (tmp_path / "test.csv").write_text("\n".join(lines[:1] + rows[::5]) + "\n")
    assert credence("fit", "gp-classify", "train.csv", "--target", "species", "--optimize", "none", "--kernel",
                    "4000*rbf(l=[2800,3,2,1])", "-o", "m.cred").code == 0
    said = json.loads(credence("evaluate", "m.cred", "test.csv", "--json").stdout)
    assert said["metrics"]["accuracy"] > 0.9, said


@pytest.mark.slow
def test_svgp_of_few_rows_comes_near_to_vfe(credence, tmp_path):
    """Targets without noise, of which few inducing inputs see little: the bound wants much more noise than the rows."""
    draw = random.Random(4)
    rows = [[draw.gauss(0, 1) for _ in range(4)] for _ in range(1100)]
    wave = [math.sin(2 * a) * math.cos(3 * b) + math.sin(2 * c + d) for a, b, c, d in rows]
    (tmp_path / "w.csv").write_text("a,b,c,d,y\n" + "".join(
        ",".join(f"{v:.6f}" for v in [*row, y]) + "\n" for row, y in zip(rows, wave)))
    bound = {}
    for approx in ("svgp", "vfe"):
        result = credence("fit", "gp", "w.csv", "--target", "y", "--kernel", "rbf", "--approx", approx, "--inducing",
                          "15", "--json")
        assert result.code == 0, result.stderr
        bound[approx] = json.loads(result.stdout)["log_evidence"]
    assert bound["svgp"] > 1.02 * bound["vfe"] and bound["vfe"] > -2000, bound


def test_the_lowest_noise_follows_the_variance_not_the_level(credence, tmp_path):
    (tmp_path / "far.csv").write_text("x,y\n" + "".join(f"{i / 5},{1e7 + math.sin(i / 5)}\n" for i in range(60)))
    result = credence("fit", "gp", "far.csv", "--target", "y", "--mean", "zero", "--json")
    assert result.code == 0, result.stderr
    assert json.loads(result.stdout)["statistics"]["noise_sd"] < 10  # a millionth of the level keeps three digits


@pytest.mark.parametrize("model", ["gp", "gp-online", "kernel-ridge"])
def test_a_kernel_of_no_column_is_refused(credence, refused, tmp_path, model):
    (tmp_path / "x.csv").write_text("x,y\n1,2\n2,3\n3,5\n4,4\n")
    (tmp_path / "g.csv").write_text("g,y\nu,2\nv,3\nu,5\nv,4\n")
    refused(3, "fit", model, "x.csv", "--target", "y", "--kernel", "hamming", says="columns of categories")
    refused(3, "fit", model, "x.csv", "--target", "y", "--kernel", "rbf*hamming", says="columns of categories")
    refused(3, "fit", model, "g.csv", "--target", "y", "--kernel", "rbf", says="columns of numbers")
    assert credence("fit", model, "x.csv", "--target", "y", "--kernel", "hamming", "--category", "x").code == 0


def test_smooth_data_without_noise(credence, tmp_path):
    """No setting is positive definite up to rounding: what had to be added is told, and is small."""
    rows = [(i / 40, math.exp(i / 40)) for i in range(200)]
    (tmp_path / "s.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    result = credence("fit", "gp", "s.csv", "--target", "y", "--noise", "0", "-o", "m.cred")
    assert result.code == 0 and "was added to each row" in result.stderr, result.stderr
    scores = json.loads(credence("evaluate", "m.cred", "s.csv", "--json").stdout)["metrics"]
    assert scores["rmse"] < 1e-3


def test_what_goes_with_the_prior(credence, refused, examples):
    fit(credence, "-o", "m.cred", "--kernel", "2000*rbf(l=5)", "--noise", "500", "--optimize", "none")
    refused(2, "predict", "m.cred", "examples/mcycle.csv", "--prior", "--slopes", says="--slopes cannot be combined with --prior")
    refused(2, "predict", "m.cred", "examples/mcycle.csv", "--prior", "--mean-only", says="cannot be combined with --prior")
    assert credence("fit", "gp-classify", "examples/iris.csv", "--target", "species", "--optimize", "none", "--kernel", "rbf",
                    "-o", "c.cred").code == 0
    refused(2, "predict", "c.cred", "examples/iris.csv", "--latent", says="--coordinates shows")


@pytest.mark.slow
def test_more_probes_make_the_evidence_surer(credence, tmp_path):
    """The warning of a large standard error, and its hint."""
    rng = random.Random(3)
    rows = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(2010)]
    (tmp_path / "many.csv").write_text("a,b,c,d,e,f,y\n" + "".join(
        ",".join(f"{v:.4f}" for v in [*r, math.sin(2 * r[0]) + r[5] + 0.1 * rng.gauss(0, 1)]) + "\n" for r in rows))
    errors = []
    for probes in (4, 16):
        result = credence("fit", "gp", "many.csv", "--target", "y", "--solver", "cg", "--optimize", "none", "--kernel",
                          "rbf(variance=2,l=1)", "--noise", "0.05", "--probes", probes, "--json")
        assert result.code == 0, result.stderr
        said = json.loads(result.stdout)
        errors.append(said["statistics"]["log_evidence_se"])
        if probes == 4:
            assert any("--probes 16 would halve it" in w for w in said["warnings"]), said["warnings"]
    assert errors[1] < 0.8 * errors[0]


@pytest.mark.slow
def test_many_rows_without_noise(credence, tmp_path):
    """Some of the rows have a factor where all have none: the search adds what they need, and does not stop there."""
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(
        f"{x!r},{math.sin(x) + 0.3 * math.cos(2.3 * x)!r}\n" for x in (i / 120 for i in range(1200))))
    fit = ["fit", "gp", "d.csv", "--target", "y", "--noise", "0", "--json", "--kernel"]
    best = json.loads(credence(*fit, "matern52").stdout)
    fixed = json.loads(credence(*fit, "0.003*matern52(l=1)", "--optimize", "none").stdout)
    assert not any("not converged" in w for w in best["warnings"])
    assert best["log_evidence"] > fixed["log_evidence"] > 11000


def test_only_bounds_that_were_given_are_called_so(credence, tmp_path):
    """The natural limits of a variance or a correlation are nobody's wish."""
    rows = "".join(f"{i * 7 % 30 / 30},{(i * i * 37 % 101) / 50 - 1}\n" for i in range(30))
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    plain = credence("fit", "gp", "d.csv", "--target", "y", "--kernel", "constant", "--hyper", "best", "-o", "m.cred")
    assert "constant.variance (lower)" in plain.stderr and "given" not in plain.stderr
    given = credence("fit", "gp", "d.csv", "--target", "y", "--kernel", "constant(variance=3[2,9])", "--hyper",
                     "best", "-o", "m.cred")
    assert "constant.variance (lower as given); wider bounds than those given" in given.stderr


def test_rows_apart_are_noise_and_it_is_said(credence, tmp_path):
    """Where the kernel is diagonal the evidence knows one variance: that of the target about its mean."""
    (tmp_path / "d.csv").write_text("x,y\n1,2\n2,3\n3,4\n4,3\n5,6\n")
    done = credence("fit", "gp", "d.csv", "--target", "y", "--hyper", "best", "--json", "-o", "m.cred")
    said = json.loads(done.stdout)
    found = {p["name"]: p["value"] for p in said["parameters"]}
    assert found["noise"] == pytest.approx(1.84, rel=1e-3) and found["rbf.variance"] < 1e-6  # 9.2 / 5
    assert sum("signal and noise cannot be separated" in w and "1.84" in w for w in said["warnings"]) == 1
    rows = json.loads(credence("predict", "m.cred", "d.csv", "--json").stdout)["predictions"]
    assert all(abs(r["mean"] - 3.6) < 1e-5 for r in rows)
    (tmp_path / "d.csv").write_text("x,y\n1,2\n2,3\n3,4\n4,3\n5,6\n5,5.9\n1,2.2\n")  # repeated rows tell of noise
    told = json.loads(credence("fit", "gp", "d.csv", "--target", "y", "--hyper", "best", "--json").stdout)
    assert not any("cannot be separated" in w for w in told["warnings"])
    assert next(p["value"] for p in told["parameters"] if p["name"] == "noise") < 0.1


@pytest.mark.parametrize("x, y, says, option", [(1e200, 1, "the largest value of the column 'x' is 2e+200", "--scale"),
                                                (1e-200, 1, "the largest value of the column 'x' is 2e-200", "--scale"),
                                                (1, 1e200, "the largest value of the target 'y' is", "--scale-target"),
                                                (1, 1e-200, "the largest value of the target 'y' is", "--scale-target")])
def test_sizes_whose_squares_are_out_of_range(credence, refused, tmp_path, x, y, says, option):
    """Refused in the words of the data, with a hint that works."""
    rows = "".join(f"{x * i / 10!r},{y * (math.sin(i / 3) + i % 3 / 9)!r}\n" for i in range(1, 21))
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    refused(3, "fit", "gp", "d.csv", "--target", "y", says=says)
    refused(3, "fit", "gp-online", "d.csv", "--target", "y", says=f"{option} standard")
    done = credence("fit", "gp", "d.csv", "--target", "y", option, "standard", "-o", "m.cred")
    assert done.code == 0, done.stderr
    rows = json.loads(credence("predict", "m.cred", "d.csv", "--json").stdout)["predictions"]
    assert abs(rows[4]["mean"] / y - math.sin(5 / 3) - 2 / 9) < 0.2


def test_a_target_that_does_not_vary(credence, tmp_path):
    """Nothing is known of the noise but that none is seen."""
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},5\n" for i in range(6)))
    done = credence("fit", "gp", "d.csv", "--target", "y", "-o", "m.cred")
    assert done.code == 0 and "the noise is assumed to be almost zero" in done.stderr
    row = json.loads(credence("predict", "m.cred", "d.csv", "--json").stdout)["predictions"][0]
    assert row["mean"] == pytest.approx(5) and row["sd"] < 0.01


def test_faults_of_expressions_and_columns(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,s,y\n" + "".join(f"{i},{0.1 if i != 3 else -1},{i * i % 5}\n" for i in range(9)))
    gp = ["fit", "gp", "d.csv", "--target", "y", "--features", "x"]
    refused(2, *gp, "--kernel", "0.5é", says="found '0.5é'")
    refused(2, *gp, "--kernel", "rbf(x; l=1 fix)", says="did you mean 'fixed'")
    refused(2, *gp, "--kernel", "rbf(x; l=1 free)", says="found 'free'")
    refused(2, *gp, "--kernel", "rbf(" + "é" * 90, says="é")
    refused(3, *gp, "--noise-column", "s", says="d.csv:5: the variance of the noise, column 's', is -1")
    (tmp_path / "e.csv").write_text("x,twin,y\n" + "".join(f"{i},{2 * i},{i * i % 5}\n" for i in range(9)))
    said = credence("fit", "gp", "e.csv", "--target", "y", "--mean", "linear", "-o", "e.cred").stderr
    assert "1 term of the mean function depends on others and was left out: twin" in said
    assert credence(*gp, "-o", "m.cred").code == 0
    for other in (["--draws", "3"], ["--covariance", "c.csv"], ["--latent"]):
        refused(2, "predict", "m.cred", "d.csv", "--mean-only", *other, says="cannot be combined with " + other[0])


def test_too_few_draws_of_hyper_parameters(credence, examples):
    few = credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--hyper", "mcmc", "--draws-hyper", "8",
                   "-o", "m.cred")
    assert few.code == 0 and "8 draws of the hyper-parameters are too few" in few.stderr
