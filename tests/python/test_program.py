"""A model that is stated as a program: what it learns is its posterior, and it has no predictions yet."""
import pickle

import pandas
import pytest

import credence

TEXT = "y ~ normal(a + b * x, s); a ~ normal(0, 10); b ~ normal(0, 10); s ~ exponential(1)"
ROWS = pandas.DataFrame({"x": [float(i) for i in range(30)], "y": [1 + 0.5 * i + ((7 * i) % 5 - 2) / 4 for i in range(30)],
        "note": [None] * 30})


@pytest.fixture(scope="module")
def fitted():
    return credence.Program(program=TEXT, draws=500, seed=3).fit(ROWS)


def test_the_posterior_is_reported(fitted):
    rows = {row["name"]: row for row in fitted.describe()["parameters"]}
    assert list(rows) == ["a", "b", "s"]
    assert rows["b"]["value"] == pytest.approx(0.5, abs=4 * rows["b"]["sd"])
    assert rows["b"]["r_hat"] < 1.05 and rows["b"]["ess_bulk"] > 200


def test_it_survives_pickling(fitted):
    assert pickle.loads(pickle.dumps(fitted)).describe() == fitted.describe()


def test_nothing_is_predicted(fitted):
    assert not hasattr(fitted, "predict")


def test_a_program_is_needed():
    with pytest.raises(ValueError, match="there is no program to fit"):
        credence.Program().fit(ROWS)
    with pytest.raises(ValueError, match="'sgm' is neither a column"):
        credence.Program(program=TEXT.replace("s)", "sgm)")).fit(ROWS)
