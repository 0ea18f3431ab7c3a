"""What the estimators do beyond the checks of scikit-learn: parameters, distributions, updates, weights."""
import copy
import inspect
import warnings

import functools

import numpy as np
import pytest
from conftest import ESTIMATORS, REGRESSORS, SUPERVISED, UPDATING, answers, brief, columns_for, data, part, target_for

import credence

# --- parameters and looks


@pytest.mark.parametrize("made", ESTIMATORS)
def test_signature_is_explicit(made):
    parameters = list(inspect.signature(made).parameters.values())
    assert [p.name for p in parameters] == list(made().get_params())
    assert all(p.kind is p.KEYWORD_ONLY and isinstance(p.annotation, str) for p in parameters)
    for p in parameters:
        assert f"{p.name} : " in made.__doc__
    for section in ("Parameters", "Attributes", "Statistics", "References"):
        assert f"\n{section}\n---" in made.__doc__


def test_names_and_defaults_come_from_the_library():
    assert credence.Ridge().get_params()["lambda_"] == 1.0
    assert credence.BayesLinear().alpha is None and credence.BayesLinear().max_iter == 10000
    assert credence.Linear().intercept is True and credence.Linear().solver == "auto"
    assert "minimise" in credence.Ridge.__doc__ and "Hoerl" in credence.Ridge.__doc__


def test_repr_shows_what_differs():
    assert repr(credence.Ridge()) == "Ridge()"
    assert repr(credence.Ridge(lambda_=2, missing="drop")) == "Ridge(lambda_=2, missing='drop')"


def test_unknown_parameter():
    with pytest.raises(TypeError, match="Ridge has no parameter 'lamda'; did you mean 'lambda_'"):
        credence.Ridge(lamda=1)


def test_parameters_reach_the_library(Xy):
    X, y = Xy
    from sklearn.linear_model import Ridge
    ours = credence.Ridge(lambda_=np.float32(2.5), scale="none").fit(X, y)
    theirs = Ridge(alpha=2.5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-10)
    assert credence.Ridge(lambda_=2.5, scale="none", intercept=False).fit(X, y).intercept_ == 0
    assert credence.Ridge(lambda_=1 / 3).fit(X, y).statistics_["lambda"] == 1 / 3
    used = credence.Ridge(features=["x1", "x3"]).fit(X, y)
    assert [p["name"] for p in used.parameters_] == ["intercept", "x1", "x3"] and used.n_features_in_ == 4


@pytest.mark.parametrize("made", ESTIMATORS)
def test_what_a_fit_leaves_behind(made, Xy):
    X, y = columns_for(made, Xy[0]), target_for(made, Xy[1])
    model = brief(made)
    for name in ("n_features_in_", "parameters_", "report_", "log_evidence_", "coef_", "n_iter_", "labels_"):
        assert not hasattr(model, name)
    model.fit(X, y)
    assert model.n_features_in_ == 4 and not hasattr(model, "feature_names_in_")
    assert model.report_["rows"] == 60 and model.report_["seconds"] > 0
    assert model.describe()["model"] == made._model_name
    assert hasattr(model, "n_iter_") == ("max_iter" in model.get_params())


def test_evidence_and_parameters(Xy):
    X, y = Xy
    model = credence.BayesLinear().fit(X, y)
    assert np.isfinite(model.log_evidence_) and not hasattr(model, "log_likelihood_")
    assert not hasattr(credence.Linear().fit(X, y), "log_evidence_")
    names = [p["name"] for p in model.parameters_]
    assert names == ["intercept", "x1", "x2", "x3", "x4"] and all(p["sd"] > 0 for p in model.parameters_)
    assert model.n_iter_ >= 1 and model.statistics_["alpha"] > 0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-12)


# --- distributions


@pytest.mark.parametrize("made", REGRESSORS)
def test_intervals(made):
    X, y = data(rows=200)
    model = brief(made).fit(X, target_for(made, y))
    mean, sd = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    lower, upper = model.predict_interval(X, level=0.9)
    inner = model.predict_interval(X, level=0.5)
    assert (lower <= inner[0]).all() and (inner[0] <= inner[1]).all() and (inner[1] <= upper).all()
    assert (sd >= 0).all()


@pytest.mark.parametrize("made", [credence.Linear, credence.Ridge, credence.BayesLinear])
def test_intervals_are_those_of_the_distribution(made):
    X, y = data(rows=2000)
    model = made().fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    lower, upper = model.predict_interval(X, level=0.9)
    np.testing.assert_allclose((lower + upper) / 2, mean, rtol=1e-12)
    np.testing.assert_allclose((upper - lower) / 2, 1.645 * sd, rtol=2e-3)   # almost normal
    assert 0.87 < np.mean((lower < y) & (y < upper)) < 0.93
    for level in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match="not between 0 and 1"):
            model.predict_interval(X, level)


# --- weights, updates, threads


WITHOUT_FOLDS = {"Lasso": {"choose": "bic"}}    # a row stays in one fold, its repetitions do not


@pytest.mark.parametrize("made", ESTIMATORS)
def test_weights_are_repetitions(made, Xy):
    X, y = columns_for(made, Xy[0]), target_for(made, Xy[1])
    w = np.random.default_rng(2).integers(0, 4, size=len(X))
    options = WITHOUT_FOLDS.get(made.__name__, {})
    weighted = brief(made, **options).fit(X, y, sample_weight=w)
    repeated = brief(made, **options).fit(np.repeat(X, w, axis=0), part(y, np.repeat(np.arange(len(X)), w)))
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(answers(brief(made).fit(X, y, 1.0), X), answers(brief(made).fit(X, y), X))


# What an update keeps from the first fit, held at the same values in all fits.
KEPT = {"Gp": {"kernel": "20*rbf(l=6)", "noise": 0.25, "optimize": "none"},
        "GpOnline": {"kernel": "20*matern12(l=3)", "noise": 0.25, "optimize": "none", "mean": "zero",
                     "method": "basis", "inducing": 400}}


@pytest.mark.parametrize("made", UPDATING)
def test_partial_fit_is_a_fit_on_all_rows(made):
    X, y = data(rows=300)
    X, y, made = columns_for(made, X), target_for(made, y), functools.partial(made, **KEPT.get(made.__name__, {}))
    w = np.random.default_rng(3).uniform(0.5, 2, size=300)
    first, rest = slice(100), slice(100, None)
    parts = made().partial_fit(X[first], part(y, first))
    parts.partial_fit(X[rest], part(y, rest), sample_weight=w[rest])
    with warnings.catch_warnings():
        warnings.simplefilter("error")   # no weights: each row counts once, as it should
        made().partial_fit(X[first], part(y, first)).partial_fit(X[rest], part(y, rest))
    whole = made().fit(X, y, np.append(np.ones(100), w[100:]))
    np.testing.assert_allclose(answers(parts, X), answers(whole, X), rtol=1e-8)
    assert parts.report_["rows"] == 300
    with pytest.raises(ValueError, match="fitted without weights"):
        made().fit(X, y).partial_fit(X, y, sample_weight=w)
    if made in SUPERVISED:
        with pytest.raises(ValueError, match="requires y"):
            parts.partial_fit(X)


def test_partial_fit_by_the_names_of_a_frame():
    """Target and weights as columns of X, in every call."""
    import pandas as pd
    X, y = data(rows=90)
    f = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=np.random.default_rng(3).uniform(0.5, 2, size=90))
    parts = credence.Ridge(target="y", weights="w").partial_fit(f[:40]).partial_fit(f[40:])
    whole = credence.Ridge(target="y", weights="w").fit(f)
    np.testing.assert_allclose(answers(parts, f), answers(whole, f), rtol=1e-8)
    assert credence.evaluate(whole, f)["rmse"] == pytest.approx(
        np.sqrt(np.average((f.y - whole.predict(f)) ** 2, weights=f.w)), rel=1e-12)


def test_partial_fit_only_where_it_is_exact():
    assert not hasattr(credence.Lasso(), "partial_fit")
    assert UPDATING


@pytest.mark.parametrize("made", ESTIMATORS)
def test_threads_do_not_change_a_bit(made):
    # What costs the square of the rows gets fewer; a gp shares its work from 257 rows on.
    pairs = "kernel" in made().get_params() or made is credence.VonMises
    dear = made._model_name in ("adaboost", "kmeans", "knn", "spline", "toy-smooth")
    X, y = data(rows=300 if pairs else 1500 if dear else 5000, columns=12)
    X, found = columns_for(made, X), []
    try:
        for threads in (1, 2, 4):
            credence.set_threads(threads)
            assert credence.get_threads() == threads
            found.append(answers(brief(made).fit(X, target_for(made, y)), X))
    finally:
        credence.set_threads(0)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    for wrong in (-1, 1.5):
        with pytest.raises(ValueError, match="number of threads"):
            credence.set_threads(wrong)


# --- copies and studies


@pytest.mark.parametrize("made", ESTIMATORS)
def test_refit_and_copy(made, Xy):
    X, y = columns_for(made, Xy[0]), target_for(made, Xy[1])
    model = brief(made).fit(X, y)
    before = answers(model, X)
    twin = copy.deepcopy(model)
    model.fit(X[:30] + 1, part(y, slice(30)))
    np.testing.assert_array_equal(answers(twin, X), before)
    after = answers(model, X)
    assert after.shape != before.shape or not np.allclose(after, before)   # it may have other clusters


def test_plot_over_columns(Xy, tmp_path):
    X, y = Xy
    model = credence.KernelRidge(lambda_=1).fit(X, y)
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    figure = credence.plot(model, X, y, path=tmp_path / "m.svg", kind="map", over=names[:2]).svg
    assert f"over {names[0]} and {names[1]}" in figure and "Held at median or mode: x3" in figure
    figure = credence.plot(model, X, y, path=tmp_path / "f.svg", over=names[1]).svg
    assert f"y over {names[1]}" in figure
    with pytest.raises(ValueError, match="no column 'z'"):
        credence.plot(model, X, y, path=tmp_path / "f.svg", over="z")


def test_plot_of_clusters_and_coordinates(Xy):
    """Every kind of figure of models without a target; some need no rows."""
    X, _ = Xy
    mixture, components = credence.Gmm(k="1:2", restarts=1).fit(X), credence.Pca(components="2").fit(X)
    for kind in ("fit", "components", "criterion"):
        assert "gmm: " in credence.plot(mixture, X, kind=kind).svg
    assert "x1 and x2" in credence.plot(mixture, X, over=["x1", "x2"]).svg
    assert credence.plot(mixture).svg == credence.plot(mixture, kind="criterion").svg
    for kind in ("fit", "scree", "biplot", "loadings"):
        assert "pca: " in credence.plot(components, X, kind=kind).svg
    assert "eigenvalues of 2" in credence.plot(components).svg
    with pytest.raises(ValueError, match="needs data"):
        credence.plot(components, kind="biplot")


@pytest.mark.parametrize("made", REGRESSORS)
def test_evaluate_and_cross_validate(made, Xy, tmp_path):
    X, y = Xy[0], target_for(made, Xy[1])
    model = brief(made).fit(X, y)
    found = credence.evaluate(model, X, y)
    assert found["r2"] == pytest.approx(model.score(X, y), rel=1e-12)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((y - model.predict(X)) ** 2)), rel=1e-12)
    cv = credence.cross_validate(brief(made), X, y, folds=3, split="ordered")
    assert len(cv["folds"]) == 3 and set(cv["mean"]) == set(cv["se"]) == set(found)
    by_hand = brief(made).fit(X[:15], y[:15])   # in time order: the past predicts the next quarter
    assert cv["folds"][0]["r2"] == pytest.approx(by_hand.score(X[15:30], y[15:30]), rel=1e-9)
    figure = credence.plot(model, X, y, path=tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text() == figure.svg == credence.plot(model, X, y)._repr_svg_()
    assert figure.svg.startswith(("<svg", "<?xml"))
    left_over = credence.plot(model, X, y, path=tmp_path / "r.svg", kind="residuals")
    assert "residual" in left_over.svg and left_over.svg != figure.svg
    with pytest.raises(ValueError, match="no kind 'roc-curve' of figures; kinds: .*roc"):
        credence.plot(model, X, y, path=tmp_path / "r.svg", kind="roc-curve")
    with pytest.raises(ValueError, match="y is needed"):
        credence.evaluate(model, X)
    with pytest.raises(TypeError, match="no option 'fold'"):
        credence.cross_validate(brief(made), X, y, fold=3)


def test_coordinates_and_back():
    X = np.random.default_rng(5).normal(size=(40, 3)) * [1, 2, 0.5] + [3, 0, -1]
    model = credence.KernelPca(kernel="linear", components=3, scale="none").fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    few = credence.KernelPca(kernel="linear", components=1, scale="none").fit(X)
    centred = X - X.mean(axis=0)
    first = np.linalg.svd(centred)[2][0]
    np.testing.assert_allclose(few.inverse_transform(few.transform(X)), X.mean(axis=0) + np.outer(centred @ first, first),
                               atol=1e-8)
    assert np.isnan(few.inverse_transform([[np.nan]])).all() and few.inverse_transform(np.empty((0, 1))).shape == (0, 3)
    with pytest.raises(ValueError, match="rows of 1 numbers"):
        few.inverse_transform(X)
    assert not hasattr(credence.Normal(), "inverse_transform")
