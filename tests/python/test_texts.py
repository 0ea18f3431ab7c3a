"""Columns of texts in kernels: objects, strings of numpy and pandas, with texts that are new in predict."""
import pickle

import numpy as np
import pandas as pd
import pytest

import credence


def words(rows, letters, seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(3, 12))) for _ in range(rows)]


def pieces(word):
    return [word[i:i + 2] for i in range(len(word) - 1)]


def spectrum(a, b):
    return np.array([[sum(pieces(s).count(u) for u in pieces(t)) for t in b] for s in a], float)


def test_texts_against_numpy():
    train, new = words(30, "abc", 1), words(8, "abcd", 2) + [""]
    x, z = np.linspace(0, 1, 30), np.linspace(0, 1, 9)
    y = np.array([w.count("ab") for w in train]) + np.sin(5 * x)
    K = spectrum(train, train) + 2 * np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / 0.3 ** 2)
    C = spectrum(new, train) + 2 * np.exp(-0.5 * np.subtract.outer(z, x) ** 2 / 0.3 ** 2)
    wanted = C @ np.linalg.solve(K + 0.1 * np.eye(30), y)
    model = credence.Gp(kernel="1*spectrum(word; k=2) + 2*rbf(x; l=0.3)", noise=0.1, mean="zero", optimize="none")
    for kind in (object, "string", "category"):
        frame = pd.DataFrame({"word": pd.Series(train, dtype=kind), "x": x})
        other = pd.DataFrame({"word": pd.Series(new, dtype=kind), "x": z})
        fitted = model.fit(frame, y)
        np.testing.assert_allclose(fitted.predict(other), wanted, rtol=1e-9)
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.predict(other), fitted.predict(other))


def test_arrays_of_texts():
    train, new = np.array(words(30, "abc", 3)), np.array(words(9, "abc", 4))
    label = np.where(np.char.count(train, "ab") > 0, "yes", "no")
    model = credence.GpClassify(kernel="spectrum(x1; k=2)")
    flat = model.fit(train.reshape(-1, 1), label).predict_proba(new.reshape(-1, 1))
    objects = model.fit(train.reshape(-1, 1).astype(object), label).predict_proba(new.reshape(-1, 1).astype(object))
    assert np.array_equal(flat, objects) and flat.shape == (9, 2)


def test_missing_text_is_refused():
    frame = pd.DataFrame({"word": ["ab", None, "bc"], "x": [1.0, 2, 3]})
    with pytest.raises(ValueError, match="has no value"):
        credence.Gp(kernel="spectrum(word)").fit(frame, [1.0, 2, 3])
