"""Estimators of all kinds: densities, clusters, coordinates, both of regression and classification; draws and
decisions.  On the library with the toy models (CREDENCE_TOY_LIBRARY), else left out."""
import inspect
import json

import numpy as np
import pandas as pd
import pytest
from conftest import data
from scipy import stats

import credence

pytestmark = pytest.mark.skipif(not hasattr(credence, "ToyNormal"), reason="the library has no toy models")


def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"x": rng.normal(3, 2, 40), "c": rng.choice(["red", "blue"], 40), "z": rng.normal(size=40)})


# --- densities


def test_density_is_that_of_the_model():
    X = data()[0]
    model = credence.ToyNormal(shape=2).fit(X)
    n, mean = len(X), X.mean(axis=0)
    kappa, a = n + 0.01, 2 + n / 2
    b = 1 + 0.5 * n * X.var(axis=0) + 0.5 * 0.01 * n * mean ** 2 / kappa
    t = stats.t(2 * a, n * mean / kappa, np.sqrt(b * (kappa + 1) / (a * kappa)))
    np.testing.assert_allclose(model.score_samples(X), t.logpdf(X).sum(axis=1), rtol=1e-10)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean(), rel=1e-14)
    w = np.arange(n)
    assert model.score(X, sample_weight=w) == pytest.approx(np.average(model.score_samples(X), weights=w), rel=1e-13)
    told = model.predict_next(level=0.9)
    assert list(told) == ["x1", "x2", "x3", "x4"]
    np.testing.assert_allclose([told[k]["lower"] for k in told], t.ppf(0.05), rtol=1e-7)
    np.testing.assert_allclose([told[k]["sd"] for k in told], t.std(), rtol=1e-10)
    assert np.isfinite(model.log_evidence_)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        model.predict_next(1)


def test_the_next_levels_have_probabilities(shell, tmp_path):
    f = pd.DataFrame({"a": ["no", "yes", "yes", "yes"], "x": [1, 0, 0, 0], "c": ["u", "v", "w", "w"]})
    told = credence.BetaBernoulli().fit(f[["a", "x"]]).predict_next()
    assert list(told) == ["a", "x"]
    assert told["a"]["probability"] == pytest.approx({"yes": 4 / 6, "no": 2 / 6})
    assert told["x"]["mean"] == pytest.approx(2 / 6)
    model = credence.DirichletCategorical(prior="uniform").fit(f[["c", "x"]])
    assert model.predict_next()["c"]["probability"] == pytest.approx({"u": 2 / 7, "v": 2 / 7, "w": 3 / 7})
    assert model.predict_next()["x"]["probability"] == pytest.approx({"0": 4 / 6, "1": 2 / 6})
    model.save(tmp_path / "d.cred")
    rows = json.loads(shell("predict", "d.cred", "--json"))["predictions"]
    assert [row["probability"] for row in rows] == [p for column in model.predict_next().values()
                                                    for p in column["probability"].values()]


def test_evidence_is_the_chain_of_densities():
    X = data(rows=7)[0]
    first = credence.ToyNormal().fit(X[:1])
    total = first.log_evidence_
    for i in range(1, 7):
        total += credence.ToyNormal().fit(X[:i]).score_samples(X[i:i + 1])[0]
    assert credence.ToyNormal().fit(X).log_evidence_ == pytest.approx(total, rel=1e-12)


def test_drawn_rows():
    X = data(rows=30)[0]
    model = credence.ToyNormal(seed=4).fit(X)
    drawn = model.sample(2000, random_state=1)
    assert drawn.shape == (2000, 4) and drawn.dtype == np.float64
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=5 * drawn.std(axis=0).max() / np.sqrt(2000))
    np.testing.assert_array_equal(drawn[:3], model.sample(3, random_state=1))
    np.testing.assert_array_equal(model.sample(3), model.sample(3, random_state=4))   # the seed of the model
    a, b = (model.sample(3, random_state=np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(model.sample(2, np.random.RandomState(3)), model.sample(2, np.random.RandomState(3)))
    for wrong in ({"n_samples": 0}, {"n_samples": 1.5}, {"random_state": -1}, {"random_state": "x"}):
        with pytest.raises(ValueError, match="n_samples|random_state"):
            model.sample(**wrong)
    with pytest.raises(ValueError, match="not fitted"):
        credence.ToyNormal().sample()


def test_frames_with_texts():
    f = frame()
    model = credence.ToyNormal().fit(f)
    assert model.n_features_in_ == 3 and list(model.feature_names_in_) == ["x", "c", "z"]
    drawn = model.sample(50)
    assert set(drawn[:, 1]) == {"red", "blue"} and all(isinstance(v, float) for v in drawn[:, 0])
    assert list(model.predict_next()) == ["x", "z"]
    gaps = f.copy()
    gaps.loc[3, "x"] = np.nan
    assert np.isfinite(model.score_samples(gaps)).all()   # this model integrates them out
    table = credence.Table(f)
    np.testing.assert_array_equal(credence.ToyNormal().fit(table).score_samples(table), model.score_samples(f))
    np.testing.assert_array_equal(credence.ToyNormal(weights="z").fit(f.assign(z=1.0)).score_samples(f),
                                  credence.ToyNormal().fit(f[["x", "c"]]).score_samples(f[["x", "c"]]))


def test_y_is_not_looked_at():
    X, y = data()
    np.testing.assert_array_equal(credence.ToyNormal().fit(X, y).score_samples(X),
                                  credence.ToyNormal().fit(X).score_samples(X))


def test_parameters_without_a_target():
    for made in (credence.ToyNormal, credence.ToyCentres, credence.ToyAxes):
        names = set(inspect.signature(made).parameters)
        assert not names & {"target", "task", "class_weights", "scale_target"} and "weights" in names
        assert not hasattr(made(), "coef_")


def test_assessment_of_densities():
    X = data(rows=40)[0]
    model = credence.ToyNormal().fit(X)
    scores = model.score_samples(X)
    found = credence.evaluate(model, X)
    assert found == pytest.approx({"log_score": scores.mean(), "log_score_se": stats.sem(scores)}, rel=1e-12)
    cv = credence.cross_validate(credence.ToyNormal(), X, folds=4)
    assert set(cv["mean"]) == {"log_score"} and len(cv["folds"]) == 4
    with pytest.raises(NotImplementedError, match="neither a target nor a density"):
        credence.evaluate(credence.ToyAxes().fit(X), X)


# --- clusters and coordinates


def blobs():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 90)
    return rng.normal(size=(90, 2)) + 10 * np.array([[0, 0], [1, 0], [0, 1]])[truth], truth


def test_clusters():
    X, truth = blobs()
    model = credence.ToyCentres()
    labels = model.fit_predict(X)
    assert labels.dtype.kind == "i" and len(set(zip(labels, truth))) == 3
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(labels, model.predict_proba(X).argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert list(model.cluster_names_) == ["1", "2", "3"] and model.n_iter_ >= 1
    assert model.score_samples(X).shape == (90,) and model.sample(5).shape == (5, 2)   # it has densities too
    assert set(credence.evaluate(model, X)) == {"log_score", "log_score_se"}


def test_coordinates():
    X = data()[0]
    model = credence.ToyAxes().fit(X)
    expected = np.column_stack([X.mean(axis=1) - X.mean(), X.std(axis=1)])
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-12)
    np.testing.assert_array_equal(credence.ToyAxes().fit_transform(X), model.transform(X))
    assert list(model.get_feature_names_out()) == ["level", "spread"]
    assert list(model.get_feature_names_out(["a", "b", "c", "d"])) == ["level", "spread"]
    with pytest.raises(ValueError, match="should have length equal"):
        model.get_feature_names_out(["a"])
    named = credence.ToyAxes().fit(pd.DataFrame(X, columns=list("abcd")))
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["a", "b", "c", "e"])
    assert not hasattr(model, "inverse_transform")


@pytest.mark.parametrize("name", ["ToyNormal", "ToyCentres", "ToyAxes", "ToySmoothRegressor", "ToySmoothClassifier"])
def test_save_and_load(name, tmp_path):
    X, y = data()
    made = getattr(credence, name)
    y = np.where(y > np.median(y), 1, -1) if name.endswith("Classifier") else y
    model = made().fit(X, y)
    model.save(tmp_path / "m.cred")
    back = credence.load(tmp_path / "m.cred")
    assert type(back) is made and back.get_params()["seed"] == 0
    for ask in ("predict", "predict_proba", "score_samples", "transform"):
        if hasattr(model, ask):
            np.testing.assert_array_equal(getattr(back, ask)(X), getattr(model, ask)(X))


# --- regression and classification by one model


def test_one_model_two_estimators():
    X, y = data()
    for made in (credence.ToySmoothRegressor, credence.ToySmoothClassifier):
        assert "task" not in inspect.signature(made).parameters
    whole = np.round(y)   # whole numbers: the class of the estimator says what they mean
    regressor = credence.ToySmoothRegressor(width=3).fit(X, whole)
    classifier = credence.ToySmoothClassifier(width=3).fit(X, whole)
    assert regressor.describe()["task"] == "regression" and classifier.describe()["task"] == "classification"
    np.testing.assert_array_equal(classifier.classes_, np.unique(whole))
    assert classifier.predict(X).dtype == whole.dtype
    table = credence.Table({"x": X[:, 0], "y": np.where(y > 0, 1, 0)})   # numbers in a table
    found = credence.ToySmoothClassifier(target="y").fit(table)
    np.testing.assert_array_equal(found.classes_, [0, 1])
    cv = credence.cross_validate(credence.ToySmoothClassifier(), X, np.where(y > 0, 1, 0), folds=3)
    assert "accuracy" in cv["mean"]
    with pytest.raises(TypeError, match="no parameter 'task'"):
        credence.ToySmoothRegressor(task="regression")
    assert "class_weights" not in inspect.signature(credence.ToySmoothRegressor).parameters


def test_class_weights():
    X, y = data()
    y = np.where(y > np.quantile(y, 0.8), "rare, but", "often")
    balanced = credence.ToySmoothClassifier(class_weights="balanced", width=2).fit(X, y)
    counts = pd.Series(y).value_counts()
    given = {k: len(y) / (2 * n) for k, n in counts.items()}   # as scikit-learn balances
    by_hand = credence.ToySmoothClassifier(width=2).fit(X, y, [given[k] for k in y])
    by_name = credence.ToySmoothClassifier(width=2, class_weights=given).fit(X, y)
    for other in (by_hand, by_name):
        np.testing.assert_allclose(balanced.predict_proba(X), other.predict_proba(X), rtol=1e-12)
    numbers = credence.ToySmoothClassifier(width=2, class_weights={1: 3.0, 0: 1}).fit(X, (y != "often") * 1)
    text = credence.ToySmoothClassifier(width=2, class_weights="1=3,0=1").fit(X, (y != "often") * 1)
    np.testing.assert_array_equal(numbers.predict_proba(X), text.predict_proba(X))
    with pytest.raises(ValueError, match="has no class 'seldom'"):
        credence.ToySmoothClassifier(class_weights={"seldom": 2}).fit(X, y)


def test_partial_fit_of_classes():
    X, y = data(rows=120)
    y = np.digitize(y, np.quantile(y, [0.4, 0.9]))
    order = np.argsort(y, kind="stable")   # the first rows have only one class
    X, y = X[order], y[order]
    parts = credence.ToySmoothClassifier(width=2).partial_fit(X[:30], y[:30], classes=[0, 1, 2])
    np.testing.assert_array_equal(parts.classes_, [0, 1, 2])
    parts.partial_fit(X[30:], y[30:])
    whole = credence.ToySmoothClassifier(width=2).fit(X, y)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-10)
    f = pd.DataFrame(X, columns=list("abcd"))
    named = credence.ToySmoothClassifier(width=2).partial_fit(f[:30], y[:30], classes=[0, 1, 2])
    named.partial_fit(f[30:], y[30:])
    np.testing.assert_array_equal(named.predict_proba(f), parts.predict_proba(X))
    with pytest.raises(ValueError, match="has not seen"):
        credence.ToySmoothClassifier().partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])


# --- draws and decisions


def test_draws_of_targets():
    X, y = data()
    model = credence.BayesLinear().fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    draws = model.sample(X, 4000, random_state=3)
    assert draws.shape == (60, 4000)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5 * sd.max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=1), sd, rtol=0.1)
    np.testing.assert_array_equal(model.sample(X, 2, 3), draws[:, :2])
    assert model.sample(X).shape == (60, 1)
    labels = np.where(y > 0, "up", "down")
    classifier = credence.ToySmoothClassifier(width=2).fit(X, labels)
    drawn = classifier.sample(X, 3000, random_state=1)
    assert drawn.dtype == classifier.classes_.dtype
    np.testing.assert_allclose((drawn == "up").mean(axis=1), classifier.predict_proba(X)[:, 1], atol=0.05)
    numbers = credence.ToySmoothClassifier(width=2).fit(X, np.where(y > 0, 10, 9))   # "10" < "9" as texts
    np.testing.assert_allclose((numbers.sample(X, 3000, random_state=1) == 10).mean(axis=1),
                               numbers.predict_proba(X)[:, 1], atol=0.05)


def test_decisions_about_numbers():
    X, y = data()
    model = credence.Linear().fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    action, loss = model.decide(X)
    np.testing.assert_array_equal(action, mean)
    np.testing.assert_allclose(loss, sd ** 2, rtol=1e-12)
    action, loss = model.decide(X, "quantile:0.975")
    np.testing.assert_allclose(action, model.predict_interval(X)[1], rtol=1e-12)
    draws = model.sample(X, 20000, random_state=0)
    miss = draws - action[:, None]
    np.testing.assert_allclose(np.where(miss > 0, 0.975 * miss, -0.025 * miss).mean(axis=1), loss, rtol=0.1)
    with pytest.raises(ValueError, match="neither a loss nor a file"):
        model.decide(X, "squred")
    counts = credence.ToySmoothRegressor(family="poisson").fit(X, np.round(np.abs(y)))
    action, _ = counts.decide(X, "absolute")
    np.testing.assert_array_equal(action, stats.poisson(counts.predict(X)).median())


def test_decisions_about_counts_by_a_matrix(tmp_path):
    X, y = data()
    (tmp_path / "l.csv").write_text("action,0,1+\nstay,0,3\ngo,1,0\n")
    counts = credence.ToySmoothRegressor(family="poisson").fit(X, np.round(np.abs(y)))
    action, loss = counts.decide(X, tmp_path / "l.csv")
    none = np.exp(-counts.predict(X))
    np.testing.assert_array_equal(action, np.where(3 * (1 - none) < none, "stay", "go"))
    np.testing.assert_allclose(loss, np.minimum(3 * (1 - none), none), rtol=1e-9)


def test_decisions_about_classes(tmp_path):
    X, y = data()
    model = credence.ToySmoothClassifier(width=3).fit(X, np.digitize(y, np.quantile(y, [0.3, 0.7])) * 5 + 5)   # 5, 10, 15
    p = model.predict_proba(X)
    action, loss = model.decide(X)
    np.testing.assert_array_equal(action, model.predict(X))
    np.testing.assert_allclose(loss, 1 - p.max(axis=1), rtol=1e-12)
    losses = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0], [0.4, 0.4, 0.4]])
    action, loss = model.decide(X, losses, actions=["a", "b", "c", "ask"])
    np.testing.assert_array_equal(action, np.array(["a", "b", "c", "ask"])[(p @ losses.T).argmin(axis=1)])
    np.testing.assert_allclose(loss, (p @ losses.T).min(axis=1), rtol=1e-12)
    action, _ = model.decide(X, losses[:3])
    np.testing.assert_array_equal(action, model.classes_[(p @ losses[:3].T).argmin(axis=1)])
    (tmp_path / "l.csv").write_text("action,15,5,10\na,4,0,1\nb,1,2,0\n")
    action, _ = model.decide(X, tmp_path / "l.csv")
    np.testing.assert_array_equal(action, np.where((p @ losses[:2].T).argmin(axis=1) == 0, "a", "b"))
    for wrong, said in ((losses[:, :2], "one column for each class"), (losses, "4 rows"), ("squared", "for numbers"),
                        (losses[:3] * np.nan, "finite")):
        with pytest.raises(ValueError, match=said):
            model.decide(X, wrong)


def test_the_same_as_the_program(shell, tmp_path):
    f = frame()
    f.to_csv(tmp_path / "d.csv", index=False)
    credence.ToyNormal().fit(f).save(tmp_path / "n.cred")
    model = credence.load(tmp_path / "n.cred")
    rows = json.loads(shell("sample", "n.cred", "-n", 4, "--seed", 9, "--json"))["sample"]
    assert [list(row["values"].values()) for row in rows] == model.sample(4, random_state=9).tolist()
    lines = shell("predict", "n.cred", "d.csv").split()
    np.testing.assert_array_equal(np.array(lines[1:], dtype=float), model.score_samples(f))
    told = json.loads(shell("predict", "n.cred", "--json"))["predictions"]
    assert {row["column"]: row["upper"] for row in told} == {k: v["upper"] for k, v in model.predict_next().items()}
    credence.Linear().fit(f[["x"]], f.z).save(tmp_path / "l.cred")
    found = json.loads(shell("predict", "l.cred", "d.csv", "--loss", "quantile:0.9", "--draws", 2, "--json"))
    linear = credence.load(tmp_path / "l.cred")
    np.testing.assert_array_equal([row["action"] for row in found["predictions"]],
                                  linear.decide(f[["x"]], "quantile:0.9")[0])
    np.testing.assert_array_equal([row["draws"] for row in found["predictions"]], linear.sample(f[["x"]], 2))


def test_a_function_without_noise():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 4, (40, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(40)
    model = credence.Gp(noise=0.01).fit(X, y)
    at = rng.uniform(0, 4, (7, 2))
    mean, sd = model.predict_function(at, return_std=True)
    same, covariance = model.predict_function(at, return_cov=True)
    seen, with_noise = model.predict(at, return_std=True)
    np.testing.assert_array_equal(mean, seen)
    np.testing.assert_allclose(same, mean, atol=1e-10)
    np.testing.assert_allclose(sd ** 2 + 0.01, with_noise ** 2, rtol=1e-9)
    np.testing.assert_allclose(np.diag(covariance), sd ** 2, rtol=1e-6, atol=1e-10)
    draws = model.sample_functions(at, 4000, random_state=1)
    np.testing.assert_allclose(np.cov(draws), covariance, atol=6 * np.max(sd) ** 2 / np.sqrt(4000))
    slopes = model.predict_slopes(at)
    for j in range(2):
        step = np.eye(2)[j] * 1e-4
        by = (model.predict(at + step) - model.predict(at - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, j], by, rtol=1e-4, atol=1e-5)
    assert np.all(model.predict_function(at, return_std=True, prior=True)[1] > sd)
    assert not hasattr(credence.Ridge(), "predict_slopes")
    assert not hasattr(model, "predict_log_joint")
    with pytest.raises(ValueError, match="exclude each other"):
        model.predict_function(at, return_std=True, return_cov=True)


def test_inducing_values(tmp_path):
    """Given inputs are told again; what is held of them is what is predicted there."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 4, (50, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(50)
    given = rng.uniform(0, 4, (6, 2))
    np.savetxt(tmp_path / "z.csv", given, delimiter=",", header="x1,x2", comments="", fmt="%.17g")
    model = credence.Gp(noise=0.01, approx="vfe", inducing_inputs=str(tmp_path / "z.csv"), gradient=True, hyper="best")
    model.fit(X, y)
    Z, mean, covariance = model.inducing_values()
    np.testing.assert_array_equal(Z, given)
    at, same = model.predict_function(Z, return_cov=True)
    np.testing.assert_allclose(mean, at, rtol=1e-12)
    np.testing.assert_allclose(covariance, same, rtol=1e-10, atol=1e-14)
    gradient = {p["name"]: p["gradient"] for p in model.describe()["parameters"]}
    assert abs(gradient["rbf.variance"]) < 0.02 and gradient["mean.intercept"] is None
    with pytest.raises(NotImplementedError, match="exact"):
        credence.Gp(noise=0.01, optimize="none").fit(X, y).inducing_values()


def test_intervals_of_probabilities():
    rng = np.random.default_rng(6)
    y = np.array(["z", "a", "m"])[rng.integers(0, 3, 90)]
    X = rng.normal(size=(90, 2)) + (y == "z")[:, None]
    model = credence.BayesLogistic().fit(X, y)
    p, (lower, upper) = model.predict_proba(X), model.predict_proba_interval(X, level=0.99)
    assert lower.shape == p.shape and (lower < p).all() and (p < upper).all()
    inner = model.predict_proba_interval(X, level=0.5)
    assert (inner[0] > lower).all() and (inner[1] < upper).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_proba_interval(X, level=1)
    assert not hasattr(credence.Logistic(), "predict_proba_interval")


def test_intervals_of_a_process_and_of_means():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
    model = credence.GpClassify().fit(X, y)
    p, (lower, upper) = model.predict_proba(X), model.predict_proba_interval(X, level=0.9)
    assert lower.shape == p.shape and (lower < upper).all() and ((lower < p) & (p < upper)).mean() > 0.99
    np.testing.assert_allclose(lower[:, 0] + upper[:, 1], 1, rtol=1e-12)
    counts = rng.poisson(np.exp(0.5 + 0.4 * X[:, 0]))
    model = credence.Glm(family="poisson").fit(X, counts)
    mean, (lower, upper) = model.predict(X), model.predict_mean_interval(X, level=0.8)
    assert (lower < mean).all() and (mean < upper).all()
    np.testing.assert_allclose(lower * upper, mean**2, rtol=1e-9)     # of the log link
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_mean_interval(X, level=0)
    model = credence.Linear().fit(X, counts)
    Z = np.column_stack([np.ones(60), X])
    residual = counts - model.predict(X)
    scale = np.sqrt(residual @ residual / 57 * np.einsum("ij,jk,ik->i", Z, np.linalg.inv(Z.T @ Z), Z))
    lower, upper = model.predict_mean_interval(X, level=0.95)
    np.testing.assert_allclose((upper - lower) / 2, 2.0024654581 * scale, rtol=1e-8)     # t of 57 degrees of freedom
    assert not hasattr(credence.TreeRegressor(), "predict_mean_interval")


def test_joint_densities_of_rows_and_classes():
    rng = np.random.default_rng(5)
    y = np.array(["z", "a", "m"])[rng.integers(0, 3, 60)]
    X = rng.normal(size=(60, 2)) + 2 * (y == "z")[:, None]
    for estimator in (credence.Lda(), credence.Qda(), credence.NaiveBayes(predictive="plugin")):
        joint = estimator.fit(X, y).predict_log_joint(X)
        each = np.exp(joint - np.max(joint, axis=1, keepdims=True))
        np.testing.assert_allclose(each / each.sum(axis=1, keepdims=True), estimator.predict_proba(X), atol=1e-10)
    mean, var = X[y == "m"].mean(axis=0), X[y == "m"].var(axis=0)
    density = -0.5 * np.sum((X - mean) ** 2 / var + np.log(2 * np.pi * var), axis=1)
    np.testing.assert_allclose(joint[:, 1], density + np.log(np.mean(y == "m")), rtol=1e-9)
