"""Models of series: what was predicted, what is known in hindsight, and what comes next."""
import pickle

import numpy as np
import pytest
from conftest import SERIES

import credence


@pytest.fixture(scope="module")
def series():
    """A level that moves, with noise; X is a column that says nothing."""
    rng = np.random.default_rng(4)
    y = 10 + np.cumsum(rng.normal(0, 0.5, 120)) + rng.normal(0, 1, 120)
    return rng.normal(size=(120, 1)), y


def test_kalman_is_one():
    assert credence.Kalman in SERIES


def test_one_step_and_hindsight(series):
    X, y = series
    model = credence.Kalman().fit(X, y)
    ahead, spread = model.predict_filtered(X, y)
    known, less = model.predict_smoothed(X, y)
    assert np.isnan(ahead[0]) and not np.isnan(ahead[1:]).any() and not np.isnan(known).any()
    assert np.mean(np.abs(known - y)) < np.mean(np.abs(ahead[1:] - y[1:])) and (less[1:] < spread[1:]).all()
    assert 0.85 < np.mean(np.abs(y - ahead)[1:] < 1.96 * spread[1:]) < 1


def test_forecast_and_copies(series):
    X, y = series
    model = credence.Kalman().fit(X, y)
    rows = model.forecast(3)
    assert [row["ahead"] for row in rows] == [1, 2, 3]
    assert rows[0]["sd"] < rows[1]["sd"] < rows[2]["sd"]
    assert pickle.loads(pickle.dumps(model)).forecast(3) == rows
    assert model.forecast(3, X, y)[0]["mean"] == pytest.approx(rows[0]["mean"])


def test_regression_on_a_column():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 1))
    y = 3 * X[:, 0] + np.cumsum(rng.normal(0, 0.2, 200)) + rng.normal(0, 0.5, 200)
    model = credence.Kalman(components="level,regression").fit(X, y)
    step = model.predict(np.array([[0.0], [1.0]]))  # rows without a target follow the series
    assert step[1] - step[0] == pytest.approx(3, abs=0.3)


def test_a_table_without_the_series_is_refused(series):
    X, y = series
    with pytest.raises(ValueError, match="not found"):
        credence.Kalman().fit(X, y).predict(X)


def test_a_series_without_columns(series):
    """As with a column that is not looked at."""
    X, y = series
    there = credence.Kalman(components="level").fit(X, y).forecast(3)
    for nothing in (None, np.zeros((len(y), 0))):
        model = credence.Kalman(components="level").fit(nothing, y)
        assert [row["mean"] for row in model.forecast(3)] == pytest.approx([row["mean"] for row in there])
        known, _ = model.predict_smoothed(nothing, y)
        assert known.shape == y.shape
    with pytest.raises(ValueError, match="Expected 2D"):
        credence.Linear().fit(None, y)


def test_messages_speak_python(series):
    X, y = series
    with pytest.raises(ValueError, match=r"forecast\(n\) gives the n rows") as refused:
        credence.Kalman(components="level").fit(X, y).predict(X)
    assert "--" not in str(refused.value)


def test_outliers_as_in_scikit_learn():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    model = credence.OneClassSvm(nu=0.1).fit(X)
    said = model.predict(np.vstack([X, [[9, 9]]]))
    assert set(said) == {1, -1} and said[-1] == -1 and 0.05 < np.mean(said[:-1] == -1) < 0.15
    assert (np.sign(model.decision_function(X)) >= 0).sum() == (said[:-1] == 1).sum()
