"""Nothing leaks, and nothing is freed too early."""
import gc
import threading

import numpy as np
import pandas as pd
import pytest
from conftest import ESTIMATORS, answers, assert_no_leak, brief, columns_for, data, target_for

import credence
from credence import _context


@pytest.mark.parametrize("made", ESTIMATORS)
@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_no_leak_over_many_fits(made, times):
    X, y = data(rows=20)
    X, y = columns_for(made, X), target_for(made, y)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]} if y is None else {"a": X[:, 0], "b": list("ab") * 10})

    def use():
        model = brief(made).fit(X, y)
        answers(model, X), model.parameters_, model._model.to_bytes()
        answers(brief(made).fit(frame, y), frame)
        with pytest.raises(ValueError):
            brief(made, missing="error").fit(X * np.nan, y)
    assert_no_leak(use, times)   # to the byte: one leak in one fit would show


def test_studies_and_tables_leave_nothing(tmp_path):
    X, y = data(rows=30)
    model = credence.Ridge().fit(X, y)
    credence.Table({"a": [1.0, 2], "b": ["x", None]}).write(tmp_path / "t.csv")

    def use():
        credence.evaluate(model, X, y)
        credence.cross_validate(credence.Ridge(), X, y, folds=3)
        credence.plot(model, X, y, path=tmp_path / "f.svg")
        credence.read_table(tmp_path / "t.csv", category=["a", "b"])["b"]
        with pytest.raises(ValueError):
            credence.cross_validate(credence.Ridge(), X, y, folds=1)
    assert_no_leak(use, 3)


def test_models_outlive_their_thread():
    X, y = data()
    kept = []
    thread = threading.Thread(target=lambda: kept.append(credence.Ridge().fit(X, y)))
    thread.start()
    thread.join()
    del thread
    gc.collect()
    expected = credence.Ridge().fit(X, y).predict(X)
    np.testing.assert_array_equal(kept[0].predict(X), expected)
    context = kept[0]._model._handle.context
    assert context is not _context.current() and context.memory() > 0
    kept.clear()
    gc.collect()
    assert context.memory() == 0


def test_cycles_are_freed_in_any_order(python):
    """A context and what it made, in one cycle that only the collector finds."""
    code, out, err = python("""
import gc, threading, numpy as np, credence
X = np.random.default_rng(0).normal(size=(30, 3))
def work():
    model = credence.Ridge().fit(X, X[:, 0])
    model.cycle_ = [model, credence._context.current(), lambda: model]
for _ in range(50):
    t = threading.Thread(target=work); t.start(); t.join()
gc.collect()
m = credence.Ridge().fit(X, X[:, 0]); f = lambda: m       # and one that is there at the end
print("well")
""")
    assert (code, out) == (0, "well\n"), err


def test_the_array_lives_as_long_as_the_table():
    table = credence.Table({"a": np.arange(100000.0)})
    gc.collect()
    np.ones(100000)
    np.testing.assert_array_equal(table["a"], np.arange(100000.0))
