"""Hints that work when they are typed."""
import re
import shlex

import pytest

from conftest import hinted


def test_every_prior_is_on_the_page_of_its_model(credence, examples):
    """What a refused prior lists as known, the page of the model lists too."""
    for model in ("normal", "poisson", "exponential", "beta-bernoulli", "mvn", "uniform", "von-mises"):
        data = ["examples/aspirin.csv"] if model == "beta-bernoulli" else ["examples/diabetes.csv", "--features", "bmi"]
        refused = credence("fit", model, *data, "--prior", "nonsense")
        assert refused.code == 2, refused
        listed = refused.stderr.split("priors: ")[1].splitlines()[0]
        page = " ".join(credence("models", model).stdout.split())
        for word in re.findall(r"[a-z0-9_]+=[A-Z]|jeffreys|flat|uniform|haldane", listed):
            assert word in page, (model, word)


def test_groups_without_evidence(refused, examples):
    by = ["--target", "progression", "--by", "sex"]
    said = refused(2, "compare", "ridge", "examples/diabetes.csv", *by, says="bayes-linear has one").stderr
    assert "--prior" not in said


@pytest.mark.parametrize("args, says", [
    (["gamma", "2", "scale=3"], "rate, which is 1 / scale: rate=0.333333333333"),
    (["normal", "0", "variance=4"], "the root of the variance: sd=2"),
    (["normal", "0", "precision=0.25"], "sd=2"),
    (["gamma", "2", "scale=x"], "rate, which is 1 / scale"),
    (["gamma", "2", "rat=3"], "credence dist gamma 2 rate=3"),
])
def test_other_words_for_a_parameter(refused, args, says):
    refused(2, "dist", *args, says=says)


def test_figures_of_classes(credence, refused, examples):
    assert credence("fit", "lda", "examples/iris.csv", "--target", "species", "-o", "m.cred").code == 0
    said = refused(2, "plot", "m.cred", "examples/iris.csv", "--over", "petal_length_cm", "--draws", "3", "-o", "f.svg",
                   says="predicts classes").stderr
    for kind in ("roc", "pr", "calibration"):
        assert f"--kind {kind}" in said
        assert credence("plot", "m.cred", "examples/iris.csv", "--kind", kind, "-o", "f.svg").code == 0


def test_what_an_update_keeps(credence, refused, examples):
    assert "hyper-parameters stay as first learned" in credence("models", "gp").stdout
    assert "the same as a fit to all rows" in credence("models", "bayes-linear").stdout
    assert "New rows cannot be added" in credence("models", "lasso").stdout
    gp = ["fit", "gp", "examples/diabetes.csv", "--target", "progression", "--stream"]
    refused(2, *gp, says="its hyper-parameters are learned from all rows at once")


@pytest.mark.parametrize("args, means", [
    (["dist", "t", "3"], "student-t"), (["dist", "gaussian", "0", "1"], "normal"), (["dist", "chi2", "3"], "chi-square"),
    (["dist", "chi_squared", "3"], "chi-square"), (["dist", "neg-binomial", "3", "0.5"], "negative-binomial"), (["help", "norml"], "normal"), (["help", "predit"], "predict"),
])
def test_other_names(credence, refused, args, means):
    said = refused(2, *args, says=f"did you mean '{means}'?").stderr
    assert said.rstrip().endswith("credence " + " ".join([args[0], means, *args[2:]]))


@pytest.mark.parametrize("args", [
    ["cv", "linear", "examples/diabetes.csv", "--target", "progression", "--cv", "5"],
    ["tune", "ridge", "examples/diabetes.csv", "--target", "progression", "--over", "lambda=0.1|1", "--n-splits=4"],
    ["fit", "linear", "examples/diabetes.csv", "--target", "progression", "--format", "table"],
    ["fit", "linear", "examples/diabetes.csv", "--response", "progression", "--format", "text"],
    ["fit", "kmeans", "examples/diabetes.csv", "--features", "bmi,bp", "--clusters", "3"],
    ["fit", "fa", "examples/diabetes.csv", "--factors=2"],
    ["fit", "pca", "examples/diabetes.csv", "--n-components", "2"],
    ["fit", "lasso", "examples/diabetes.csv", "--target", "progression", "--alpha", "0.5"],
    ["fit", "ridge", "examples/diabetes.csv", "--target", "progression", "--alpha", "2"],
])
def test_options_of_other_programs(credence, refused, examples, args):
    """The command that the hint shows works."""
    said = refused(2, *args, says="did you mean --").stderr
    done = credence(*hinted(said))
    assert done.code == 0, done.stderr


@pytest.mark.parametrize("flag", ["--data", "--file="])
def test_the_data_as_an_option(credence, refused, examples, flag):
    """The command that the hint shows works."""
    data = [flag + "examples/diabetes.csv"] if "=" in flag else [flag, "examples/diabetes.csv"]
    for before in (["fit", "linear", "--target", "progression"], ["describe"]):
        said = refused(2, *before, *data, says="the file stands without an option").stderr
        command = said.split("without an option: ")[1].strip()
        assert command == " ".join(["credence", *before, "examples/diabetes.csv"])
        assert credence(*shlex.split(command)[1:]).code == 0


def test_the_model_is_missing(refused, examples):
    for verb in ("fit", "cv"):
        said = refused(2, verb, "examples/diabetes.csv", "--target", "bp", says="the model before it is missing").stderr
        assert f"credence {verb} MODEL examples/diabetes.csv --target bp; credence models lists them" in said
    refused(2, "fit", "linear", says="the argument DATA is missing")
    for name in ("randomforest", "rf"):
        said = refused(2, "fit", name, "examples/diabetes.csv", says="adaboost combines trees").stderr
        assert said.rstrip().endswith("tree is a single one")


@pytest.mark.parametrize("args, says", [
    (["normal", "0", "1", "--kl", "1"], ["--kl: it needs all 2 parameters of the other normal, but there is 1"]),
    (["normal", "--fit", "examples/diabetes.csv:bmi,bp"], ["one variable", "'bmi,bp' names more", "dist mvn"]),
])
def test_dist_says_what_it_needs(refused, examples, args, says):
    refused(2, "dist", *args, says=says)


def test_the_posterior_of_an_end_is_a_distribution(credence, tmp_path):
    """What uniform calls its posterior, dist knows, with the same interval."""
    import json
    (tmp_path / "u.csv").write_text("x\n2\n3.5\n7\n4\n")
    fit = credence("fit", "uniform", "u.csv", "--json")
    end = json.loads(fit.stdout)["parameters"][0]
    known = end["posterior"]
    values = [f"{name}={known[name]}" for name in ("location", "scale", "shape")]
    dist = json.loads(credence("dist", known["family"], *values, "--quantile", "0.025,0.975", "--json").stdout)
    assert dist["quantile"] == pytest.approx([end["lower"], end["upper"]])


def test_kernels_say_what_to_write(credence, refused, examples, tmp_path):
    (tmp_path / "s.csv").write_text("x 1,y\n1,2\n2,3\n3,5\n4,4\n5,7\n")
    refused(2, "fit", "gp", "s.csv", "--target", "y", "--kernel", "rbf(x 1)", says='rbf("x 1")')
    assert credence("fit", "gp", "s.csv", "--target", "y", "--kernel", 'rbf("x 1")').code == 0
    refused(3, "fit", "kernel-ridge", "s.csv", "--target", "y", "--kernel", "chi2", says="--scale none")
    assert credence("fit", "kernel-ridge", "s.csv", "--target", "y", "--kernel", "chi2", "--scale", "none").code == 0
    refused(2, "compare", "gp --kernel rbf", "ridge", "s.csv", "--target", "y", says="'gp:kernel=rbf'")
    assert "standardised features" in credence("fit", "kernel-ridge", "s.csv", "--target", "y", "--json").stdout


def test_white_is_noise(credence, examples):
    told = [float(re.search(r'"noise_sd": ([-+.e\d]+)', credence("fit", "gp", "examples/mcycle.csv", "--target", "accel",
                                                               "--kernel", kernel, "--json").stdout)[1])
            for kernel in ("rbf", "rbf + white")]
    assert abs(told[0] - told[1]) < 1e-2 * told[0]


CARS = "speed,dist,kind\n" + "".join(f"{4 + i % 9},{2 + 3 * (i % 9) + i % 4},{1 + i % 3}\n" for i in range(40))


@pytest.mark.parametrize("formula, options, terms", [
    ("dist ~ speed", "--target dist --terms speed", ["intercept", "speed"]),
    ("dist ~ .", "--target dist", ["intercept", "speed", "kind"]),
    ("dist ~ speed - 1", "--target dist --terms speed --no-intercept", ["speed"]),
    ("dist~0+speed", "--target dist --terms speed --no-intercept", ["speed"]),
    ("dist ~ speed + I(speed^2)", "--target dist --terms 'speed + I(speed^2)'", ["intercept", "speed", "speed^2"]),
    ("dist ~ factor(kind)", "--target dist --terms kind --category kind", ["intercept", "kind=2", "kind=3"]),
    ("dist ~ speed:factor(kind) + 1", "--target dist --terms 'speed:kind' --category kind",
     ["intercept", "speed:kind=1", "speed:kind=2", "speed:kind=3"]),
    ("log(dist) ~ log(speed)", "--target dist --transform-target log --terms 'log(speed)'", ["intercept", "log(speed)"]),
    ("dist ~ . - kind", "--target dist --terms '. - kind'", ["intercept", "speed"]),
    ("dist ~ (speed + kind)^2", "--target dist --terms 'speed + kind + speed:kind'",
     ["intercept", "speed", "kind", "speed:kind"]),
    ("dist ~ speed*kind", "--target dist --terms 'speed*kind'", ["intercept", "speed", "kind", "speed:kind"]),
    ("dist ~ ns(speed,3)", "--target dist --terms 'natural(speed,4)'",
     ["intercept", "speed[natural 2]", "speed[natural 3]", "speed[natural 4]"]),
    ("dist ~ ns(speed, df = 2) + kind", "--target dist --terms 'natural(speed,3) + kind'",
     ["intercept", "speed[natural 2]", "speed[natural 3]", "kind"]),
    ("dist ~ kind + bs(speed)", "--target dist --terms 'kind + bspline(speed,4)'",
     ["intercept", "kind", "speed[bspline 2]", "speed[bspline 3]", "speed[bspline 4]"]),
    ("dist ~ kind %in% speed", "--target dist --terms 'kind:speed'", ["intercept", "kind:speed"]),
])
def test_a_formula_of_r(credence, refused, tmp_path, formula, options, terms):
    """What is said instead of taking it gives the terms that R would have."""
    (tmp_path / "cars.csv").write_text(CARS)
    for args in ([formula, "cars.csv"], ["cars.csv", formula]):
        said = refused(2, "fit", "linear", *args, says="is a formula").stderr
        command = said.split("hint: ")[1].strip()
        assert command.replace("'", "").split() == f"credence fit linear cars.csv {options}".replace("'", "").split()
    told = refused(2, "fit", "linear", "cars.csv", "--terms", formula, says="is a formula").stderr
    assert told.split("hint: write ")[1].strip() == options
    fitted = credence(*shlex.split(command)[1:])
    assert fitted.code == 0, fitted.stderr
    assert [line.split(",")[0] for line in fitted.stdout.splitlines()[1:]] == terms


def test_formulas_without_options(refused, tmp_path):
    (tmp_path / "cars.csv").write_text(CARS)
    for formula, says in [("dist ~ 1", "the model normal"), ("dist ~ s(speed)", "the model spline"),
                          ("dist ~ speed + offset(kind)", "glm has --offset COLUMN"),
                          ("dist ~ I(speed/100)", "the column alone gives the same fit"),
                          ("dist ~ speed + (speed | kind)", "no varying slopes"),
                          ("dist ~ (speed + kind)^3", "no brackets around sums"),
                          ("dist ~ kind + bs(speed, knots=c(1, 2))", "bspline(COLUMN,K) has K - 1 terms"),
                          ("dist ~ poly(speed, 2, raw=TRUE)", "write poly(COLUMN,K)"),
                          ("cbind(dist, kind) ~ speed", "--trials COLUMN"),
                          ("dist ~ speed + (1 | kind)", "bayes-linear and glm have varying intercepts")]:
        said = refused(2, "fit", "linear", formula, "cars.csv", says=says).stderr
        assert "--terms 's(" not in said and "offset(" not in said.split("hint")[1]
        refused(2, "fit", "linear", "cars.csv", "--terms", formula, says=says)
    for terms, says in [("I(speed/100)", "the column alone gives the same fit"), ("s(speed)", "spline and gp"),
                        ("offset(kind)", "glm has --offset"), ("ns(speed,3)", "natural(COLUMN,K) has K - 1 terms"),
                        ("speed %in% kind", "write a:b for a %in% b"), ("(speed+kind)^2", "a*b")]:
        refused(2, "fit", "linear", "cars.csv", "--target", "dist", "--terms", terms, says=says)
    refused(2, "fit", "linear", "exp(dist) ~ speed", "cars.csv", says="write --target COLUMN")
    assert "--no-intercept" not in refused(2, "cv", "knn", "dist ~ speed - 1", "cars.csv", says="--terms speed").stderr
    refused(2, "fit", "linear", "cars.csv", "--target", "dist", "--terms", "0 + speed", says="--no-intercept")
    refused(2, "fit", "linear", "cars.csv", "--target", "dist", "--terms", "factor(kind)", says="--category")
    refused(2, "fit", "dist ~ speed", "cars.csv", says="there is no model")


@pytest.mark.parametrize("name, meant", [("lm", "linear"), ("regression", "linear"), ("xgboost", "adaboost"),
                                         ("decision-tree", "tree"), ("elastic-net", "lasso"), ("svc", "svm")])
def test_models_by_other_names(credence, diabetes, name, meant):
    result = credence("fit", name, diabetes, "--target", "progression")
    assert result.code == 2 and hinted(result.stderr)[:2] == ["fit", meant], result.stderr
    assert credence("models", meant).code == 0


@pytest.mark.parametrize("name, near", [("random-forest", "adaboost")])
def test_models_that_are_not_there(refused, diabetes, name, near):
    refused(2, "fit", name, diabetes, "--target", "progression", says=["hint: there are no ", near])


@pytest.mark.parametrize("name, meant", [("train", "fit"), ("summary", "describe"), ("score", "evaluate")])
def test_verbs_by_other_names(credence, diabetes, name, meant):
    result = credence(name, diabetes)
    assert result.code == 2 and hinted(result.stderr)[0] == meant, result.stderr


def test_values_with_commas(credence, refused, diabetes):
    tune = ["tune", "ridge", diabetes, "--target", "progression", "--folds", "3"]
    refused(2, *tune, "--over", "lambda=0.1,1,10", says=["separated by |", "hint: --over 'lambda=0.1|1|10'"])
    assert credence(*tune, "--over", "lambda=0.1|1|10").code == 0


@pytest.mark.parametrize("values, n", [("1..15", 15), ("1..20", 20), ("1..40", 10), ("1..15:5", 5), ("1..4", 4)])
def test_all_of_few_whole_numbers(credence, diabetes, values, n):
    result = credence("tune", "knn", diabetes, "--target", "progression", "--folds", "3", "--over", f"k={values}")
    assert result.code == 0 and len(result.stdout.splitlines()) == 1 + n, result


def test_a_share_in_percent(refused, diabetes, model):
    refused(2, "predict", model, diabetes, "--interval", "95", says="hint: did you mean --interval 0.95?")
    refused(2, "predict", model, diabetes, "--interval", "-3", says="hint: for example --interval 0.9")


def test_a_column_without_values_can_be_left_out(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("a,b,y\n" + "".join(f"{i % 5},,{i * i % 7}\n" for i in range(20)))
    refused(3, "fit", "linear", "d.csv", "--target", "y", says="hint: --features '!b' leaves the column out")
    assert credence("fit", "linear", "d.csv", "--target", "y", "--features", "!b").code == 0


def test_counts_are_for_other_families(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,n,size\n" + "".join(f"{i % 5},{i * i % 7},{i * 1.5}\n" for i in range(20)))
    says = "looks like counts: --family poisson"
    assert says in credence("fit", "glm", "d.csv", "--target", "n").stderr
    for args in (["n", "--family", "poisson"], ["n", "--link", "identity"], ["size"]):
        assert says not in credence("fit", "glm", "d.csv", "--target", *args).stderr
    refused(2, "fit", "poisson", "d.csv", "--target", "n", says="--family poisson")


def test_rules_of_large_numbers_can_be_read(credence, tmp_path):
    (tmp_path / "d.csv").write_text("t,y\n" + "".join(f"{1672531200 + i},{i // 25}\n" for i in range(100)))
    rules = credence("fit", "tree", "d.csv", "--target", "y", "--task", "regression", "--format", "text").stdout
    for at in (24.5, 49.5, 74.5):
        assert f"t <= {1672531200 + at}:" in rules


def test_metric_of_the_model_or_of_tune(refused, examples):
    """knn has an option of that name too: the hint says which is which, and how the other is set."""
    tune = ["tune", "knn", "examples/iris.csv", "--target", "species", "--folds", "2", "--over", "k=3|4"]
    refused(2, *tune, "--metric", "max", says="--over 'metric=max' sets that of knn")


def test_an_unknown_number_of_things(credence, refused, tmp_path):
    """Of many levels that differ in a digit none is meant; of names one is."""
    (tmp_path / "l.csv").write_text("id,x,y\n" + "".join(f"k{7 * i % 40:03d},{i % 7},{i % 5}\n" for i in range(60)))
    assert credence("fit", "linear", "l.csv", "--target", "y", "-o", "l.cred").code == 0
    (tmp_path / "n.csv").write_text("id,x\nk999,3\n")
    said = refused(3, "predict", "l.cred", "n.csv", says="--features '!id' leaves the column out").stderr
    assert "did you mean" not in said and "levels: 40, such as k000, k001 and k002" in said
    colours = "black white grey silver red orange yellow green cyan blue indigo violet purple pink brown beige " \
              "olive maroon navy teal turquoise magenta".split()
    (tmp_path / "c.csv").write_text("id,y\n" + "".join(f"{c},{i % 5}\n{c},{i % 3}\n" for i, c in enumerate(colours)))
    assert credence("fit", "linear", "c.csv", "--target", "y", "-o", "c.cred").code == 0
    (tmp_path / "n.csv").write_text("id\ngren\n")
    refused(3, "predict", "c.cred", "n.csv", says="did you mean 'green'?")


def test_texts_where_the_model_needs_something_else(credence, refused, tmp_path):
    (tmp_path / "b.csv").write_text("g,y\nTRUE,1\nFALSE,2\nTRUE,1.5\nFALSE,2.2\n")
    assert credence("fit", "linear", "b.csv", "--target", "y", "-o", "b.cred").code == 0
    for cells, line, text in ((["yes"], 2, "yes"), (["TRUE", "T"], 3, "T")):
        (tmp_path / "n.csv").write_text("g\n" + "".join(c + "\n" for c in cells))
        refused(3, "predict", "b.cred", "n.csv",
                says=f"n.csv:{line}: column 'g' contains text ('{text}'), but the model needs true or false")
    (tmp_path / "s.csv").write_text("x,y\n1,2\n2,4\n3,7\n")
    assert credence("fit", "linear", "s.csv", "--target", "y", "-o", "s.cred").code == 0
    piped = credence("predict", "s.cred", "-", input="x\n7\nfoo\n")
    assert piped.code == 3 and "--missing-values 'foo'" in piped.stderr and "describe -" not in piped.stderr
    piped = credence("predict", "s.cred", "-", input="6\n7\n")
    assert piped.code == 3 and "--names a,b,... names the columns" in piped.stderr
    assert credence("predict", "s.cred", "-", "--names", "x", input="6\n7\n").code == 0


def test_dependence_on_a_date(credence, tmp_path):
    (tmp_path / "d.csv").write_text("date,z,y\n" + "".join(
        f"2021-{1 + i // 5:02d}-{1 + 5 * (i % 5):02d},{7 * i % 11},{i + i % 3}\n" for i in range(60)))
    assert credence("fit", "linear", "d.csv", "--target", "y", "-o", "d.cred").code == 0
    assert credence("plot", "d.cred", "d.csv", "--kind", "dependence", "-o", "d.svg").code == 0
    assert ">2021-03<" in (tmp_path / "d.svg").read_text()


def test_mean_field_says_how_far_off_it_may_be(credence, tmp_path):
    """Exclusive or: it settles on one of two assignments."""
    (tmp_path / "xor.bif").write_text(
        "network x { }\n" + "".join(f"variable {v} {{ type discrete [ 2 ] {{ f, t }}; }}\n" for v in "abc")
        + "probability ( a ) { table 0.6, 0.4; }\nprobability ( b ) { table 0.5, 0.5; }\n"
        "probability ( c | a, b ) { (f, f) 1, 0; (f, t) 0, 1; (t, f) 0, 1; (t, t) 1, 0; }\n")
    result = credence("query", "xor.bif", "P(a | c=t)", "--method", "mean-field")
    assert result.code == 0 and "differ from it, by up to 0.4 in a probability" in result.stderr
    assert not credence("query", "xor.bif", "P(a | c=t)", "--method", "bp").stderr


def test_a_model_of_numbers_for_classes(refused, examples):
    refused(3, "fit", "spline", "examples/iris.csv", "--target", "species", says="credence fit logistic predicts classes")


def test_small_tables_in_figures_and_folds(credence, refused, tmp_path):
    (tmp_path / "s.csv").write_text("x,y,c,w\n1,2,u,3\n2,4,v,5\n3,7,u,2\n4,7.5,v,9\n5,11,v,1\n")
    refused(3, "cv", "linear", "s.csv", "--target", "y", "--features", "x", says="--folds 5 leaves out one row at a time")
    assert credence("cv", "linear", "s.csv", "--target", "y", "--features", "x", "--folds", "5").code == 0
    assert credence("fit", "linear", "s.csv", "--target", "y", "--features", "x", "-o", "l.cred").code == 0
    assert credence("plot", "l.cred", "s.csv", "--kind", "residuals", "-o", "r.svg").code == 0
    assert "mean of neighbours" not in (tmp_path / "r.svg").read_text()
    fit = ["--target", "c", "--features", "x", "--lambda", "0.1"]
    for weights, says in (([], "(5 rows)"), (["--weights", "w"], "(5 rows of weight 20)")):
        assert credence("fit", "logistic", "s.csv", *fit, *weights, "-o", "c.cred").code == 0
        for kind in ("roc", "pr", "calibration"):
            assert says in credence("plot", "c.cred", "s.csv", "--kind", kind).stdout


def typed(stderr):
    """The arguments of the command that a hint gives, without what is said behind it."""
    return shlex.split(re.search(r"^  hint: .*?credence (.*)$", stderr, re.MULTILINE)[1].split("; ")[0])


def test_hints_of_formulas_work(credence, refused, tmp_path):
    """What a formula of lme4 or lattice is answered with can be typed."""
    (tmp_path / "g.csv").write_text("y,x,g\n" + "".join(f"{i % 7 + i / 9},{i % 5},{'abc'[i % 3]}\n" for i in range(40)))
    said = refused(2, "fit", "linear", "y ~ x + (1|g)", "g.csv", says="is a formula").stderr
    command = typed(said)
    assert command[:3] == ["fit", "bayes-linear", "g.csv"] and credence(*command).code == 0
    said = refused(2, "fit", "linear", "y~x|g", "g.csv", says="(1 | COLUMN)").stderr
    assert "--terms 'x|g'" not in said


def test_tune_without_values_to_try(credence, refused, examples):
    for model, name in (("ridge", "lambda"), ("knn", "k")):
        said = refused(2, "tune", model, "examples/diabetes.csv", "--target", "progression", says="--over is missing").stderr
        command = typed(said)
        assert any(word.startswith(f"{name}=") for word in command) and credence(*command).code == 0


@pytest.mark.parametrize("args, says", [
    (["fit", "gmm", "examples/iris.csv", "--components", "3"], "did you mean --k?"),
    (["help", "data"], "credence help fit"), (["help", "terms"], "credence help fit"),
    (["fit", "glm", "examples/diabetes.csv", "--target", "progression", "--family", "quasipoisson"], "--dispersion pearson"),
])
def test_words_of_other_programs(refused, examples, args, says):
    refused(2, *args, says=says)


def test_names_of_rows_are_left_out(credence, tmp_path):
    """As R writes them; a column that is asked for, or the only one, stays."""
    rows = [(f"car {i}", i % 7, (i * 37 % 11) + i % 7) for i in range(30)]
    (tmp_path / "cars.csv").write_text('"",x,y\n' + "".join(f"{n},{x},{y}\n" for n, x, y in rows))
    made = credence("fit", "linear", "cars.csv", "--target", "y", "-o", "m.cred")
    assert made.code == 0 and "has another text in every row" in made.stderr and "as rows" not in made.stderr
    assert [line.split(",")[0] for line in made.stdout.split()][1:] == ["intercept", "x"]
    (tmp_path / "new.csv").write_text("x\n3\n")
    assert credence("predict", "m.cred", "new.csv").code == 0
    asked = credence("fit", "ridge", "cars.csv", "--target", "y", "--features", "*")
    assert asked.code == 0 and "another text" not in asked.stderr and "x1=car 3" in asked.stdout
