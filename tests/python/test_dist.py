"""The calculator of distributions: scipy's values, and the numbers of the shell."""
import json
import pickle

import numpy as np
import pytest
from conftest import assert_no_leak, interrupted
from scipy import stats

import credence
from credence import _dist


def example(name):
    """The distribution with the example of each parameter."""
    family = credence.dist(name)
    values = {}
    for p in family._declared:
        numbers = [float(x) for x in p.example.decode().replace(";", ",").split(",")]
        values[p.name.decode()] = numbers[0] if p.shape == 0 else numbers
    return credence.dist(name, **values)


def words(made):
    return [f"{name}={','.join(map(repr, np.ravel(value).tolist()))}" for name, value in made.parameters.items()]


@pytest.mark.parametrize("ours, theirs", [
    (("beta", 12, 3), stats.beta(12, 3)), (("normal", -1, 2.5), stats.norm(-1, 2.5)),
    (("gamma", 2.5, 0.5), stats.gamma(2.5, scale=2)), (("student-t", 3, 1, 2), stats.t(3, 1, 2)),
    (("log-normal", 0.3, 0.7), stats.lognorm(0.7, scale=np.exp(0.3))), (("weibull", 1.7, 2.2), stats.weibull_min(1.7, scale=2.2))])
def test_against_scipy(ours, theirs):
    made, p = credence.dist(*ours), np.linspace(0.01, 0.99, 20).reshape(4, 5)
    x = theirs.ppf(p)
    for mine, other in ((made.pdf, theirs.pdf), (made.logpdf, theirs.logpdf), (made.cdf, theirs.cdf), (made.sf, theirs.sf),
                        (made.logsf, theirs.logsf), (made.logcdf, theirs.logcdf)):
        np.testing.assert_allclose(mine(x), other(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made.quantile(p), x, rtol=1e-7)   # scipy's of Student-t
    assert made.mean() == pytest.approx(theirs.mean(), rel=1e-9) and made.sd() == pytest.approx(theirs.std(), rel=1e-9)
    assert made.entropy() == pytest.approx(theirs.entropy(), rel=1e-9)
    assert made.interval(0.9) == pytest.approx(theirs.interval(0.9), rel=1e-9)
    low, high = made.hdi(0.9)
    assert made.cdf(high) - made.cdf(low) == pytest.approx(0.9) and high - low <= np.diff(made.interval(0.9))[0] + 1e-9


@pytest.mark.parametrize("name", credence.distributions())
def test_all_are_those_of_the_shell(name, shell):
    made = example(name)
    printed = json.loads(shell("dist", name, *words(made), "--json"))
    described = {key: None if value == np.inf else value for key, value in made.describe().items()}   # JSON has no inf
    assert described == {key: value for key, value in printed.items() if key not in ("schema", "warnings")}
    drawn = json.loads(shell("dist", name, *words(made), "--sample", 3, "--seed", 11, "--json"))["sample"]
    assert made.sample(3, random_state=11).tolist() == drawn
    at = ",".join(map(repr, np.ravel(drawn).tolist()))
    assert np.ravel(made.logpdf(drawn)).tolist() == json.loads(shell("dist", name, *words(made), f"--logpdf={at}", "--json"))["logpdf"]


def test_shapes_and_missing_values():
    made = credence.dist("normal", 0, 1)
    assert isinstance(made.cdf(0), float) and made.cdf(0) == 0.5
    assert made.cdf([0, 1]).shape == (2,) and made.cdf(np.zeros((2, 0))).shape == (2, 0)
    assert np.isnan(made.cdf(np.nan)) and np.isnan(made.cdf([0, np.nan])).tolist() == [False, True]
    masked = np.ma.masked_array([0.0, 1.0], [False, True])
    assert np.isnan(made.pdf(masked)).tolist() == [False, True]
    assert credence.dist("poisson", 3).pdf(np.arange(40)).sum() == pytest.approx(1)
    assert made.logsf(40.0) == pytest.approx(stats.norm.logsf(40), rel=1e-12)
    joint = credence.dist("mvn", mean=[0, 1], covariance=[[2, 0.5], [0.5, 1]])
    theirs = stats.multivariate_normal([0, 1], [[2, 0.5], [0.5, 1]])
    x = joint.sample(4, random_state=0)
    assert x.shape == (4, 2) and joint.mean().tolist() == [0, 1]
    np.testing.assert_allclose(joint.logpdf(x), theirs.logpdf(x), rtol=1e-12)
    assert joint.logpdf(x[0]) == pytest.approx(theirs.logpdf(x[0])) and joint.pdf(x).shape == (4,)
    with pytest.raises(ValueError, match="2 entries"):
        joint.logpdf([1, 2, 3])


def test_fits(shell, tmp_path):
    x = np.random.default_rng(0).gamma(2.5, 2, 400)
    np.savetxt(tmp_path / "x.csv", x, header="x", comments="")
    fitted = credence.dist("gamma").fit(x)
    printed = json.loads(shell("dist", "gamma", "--fit", "x.csv", "--json"))
    assert fitted.parameters == printed["parameters"] and fitted.log_likelihood == printed["log_likelihood"]
    assert fitted.log_likelihood == pytest.approx(fitted.logpdf(x).sum(), rel=1e-12)
    assert fitted.log_likelihood >= stats.gamma.logpdf(x, *stats.gamma.fit(x, floc=0)).sum() - 1e-6
    again = pickle.loads(pickle.dumps(fitted))
    assert repr(again) == repr(fitted) and again.log_likelihood == fitted.log_likelihood
    doubled = credence.dist("gamma").fit(x, sample_weight=np.full(400, 2.0))
    assert doubled.parameters == pytest.approx(fitted.parameters) and doubled.log_likelihood == pytest.approx(2 * fitted.log_likelihood)
    with pytest.warns(credence.CredenceWarning, match="1 of 401 rows have missing values"):
        assert credence.dist("gamma").fit([*x, np.nan]).parameters == fitted.parameters
    assert credence.dist("binomial", trials=10).fit([3, 4, 5]).parameters == {"trials": 10, "p": pytest.approx(0.4)}
    assert credence.dist("categorical").fit([0, 1, 2, 2]).parameters["p"].tolist() == [0.25, 0.25, 0.5]
    points = np.random.default_rng(1).normal(size=(60, 3))
    joint = credence.dist("mvn").fit(points)
    np.testing.assert_allclose(joint.parameters["mean"], points.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(joint.parameters["covariance"], np.cov(points.T, bias=True), atol=1e-13)


def test_divergence():
    p, q = credence.dist("normal", 0, 1), credence.dist("normal", 1, 2)
    assert p.kl(q) == pytest.approx(np.log(2) + (1 + 1) / 8 - 0.5, rel=1e-12)
    with pytest.raises(ValueError, match="another normal"):
        p.kl(credence.dist("beta", 1, 1))


def test_standard_location_and_scale():
    assert credence.dist("student-t", 3).quantile(0.975) == credence.dist("student-t", 3, 0, 1).quantile(0.975)
    assert credence.dist("normal", sd=2).cdf(2.0) == credence.dist("normal", 0, 2).cdf(2.0)
    assert credence.dist("normal").fit([1.0, 3.0]).parameters["mean"] == 2


@pytest.mark.parametrize("wrong, exception, words", [
    (lambda: credence.dist("bta", 1), ValueError, "did you mean 'beta'"),
    (lambda: credence.dist("gamma", shape=1, scale=3), TypeError, "its parameter is rate, which is 1 / scale"),
    (lambda: credence.dist("gamma", 1, shape=3), TypeError, "given twice"),
    (lambda: credence.dist("gamma", 1, 2, 3), TypeError, "2 parameters"),
    (lambda: credence.dist("gamma", -1, 2), ValueError, "must be >0"),
    (lambda: credence.dist("gamma", 2).mean(), ValueError, "rate is missing"),
    (lambda: credence.dist("binomial").fit([1.0]), ValueError, "trials is missing"),
    (lambda: credence.dist("gamma").fit([[1.0]]), ValueError, "one dimension"),
    (lambda: credence.dist("normal", 0, 1).quantile(2), ValueError, "must be 0..1"),
    (lambda: credence.dist("cauchy", 0, 1).mean(), NotImplementedError, "does not offer its mean")])
def test_refusals(wrong, exception, words):
    with pytest.raises(exception, match=words):
        wrong()


def test_names_with_underscores():
    assert credence.dist("student_t", 3, 0, 1).name == "student-t" and _dist.distributions() == sorted(_dist.distributions())


def test_no_leak_and_ctrl_c():
    def use():
        made = credence.dist("gamma", 2, 3)
        made.cdf([1.0, 2]), made.sample(5), made.describe(), credence.dist("gamma").fit([1.0, 2, 3])
        with pytest.raises(ValueError):
            made.quantile(3)
    assert_no_leak(use, 2000)
    with interrupted():
        credence.dist("gamma", 2.5, 3).quantile(np.linspace(0.001, 0.999, 20_000_000))
