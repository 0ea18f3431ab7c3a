"""Hints that work when they are typed."""
import re

import pytest


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
    said = refused(2, "plot", "m.cred", "examples/iris.csv", "-o", "f.svg", says="predicts classes").stderr
    for kind in ("roc", "pr", "calibration"):
        assert f"--kind {kind}" in said
        assert credence("plot", "m.cred", "examples/iris.csv", "--kind", kind, "-o", "f.svg").code == 0


def test_what_an_update_keeps(credence, refused, examples):
    assert "hyper-parameters stay as the fit learned them" in credence("models", "gp").stdout
    assert "the same as a fit on all rows" in credence("models", "bayes-linear").stdout
    assert "New rows cannot be added" in credence("models", "lasso").stdout
    gp = ["fit", "gp", "examples/diabetes.csv", "--target", "progression", "--stream"]
    refused(2, *gp, says="its hyper-parameters are learned from all rows at once")
