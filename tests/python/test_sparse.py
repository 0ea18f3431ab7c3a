"""scipy.sparse matrices in place of X: the same answers as dense ones, without copies."""
import os

import numpy as np
import pytest

import credence
from credence import BayesLinear, Linear, Ridge, Table

sparse = pytest.importorskip("scipy.sparse")


def data(rows=80, width=12, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    X = sparse.random(rows, width, density=density, format="csr", random_state=seed)
    return X, X @ rng.normal(size=width) + 0.1 * rng.normal(size=rows)


@pytest.mark.parametrize("estimator", [Linear, Ridge, BayesLinear])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_same_as_dense(estimator, form):
    X, y = data()
    given = X.asformat(form)
    model, dense = estimator().fit(given, y), estimator().fit(X.toarray(), y)
    assert model.n_features_in_ == 12
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-11)
    np.testing.assert_allclose(model.predict(given), dense.predict(X.toarray()), rtol=1e-11)
    np.testing.assert_array_equal(model.predict(X.toarray()), model.predict(given))
    assert model.score(given, y) == pytest.approx(dense.score(X.toarray(), y))


def test_arrays_and_types():
    X, y = data()
    expected = Ridge().fit(X, y).predict(X)
    for other in (sparse.csr_array(X), X.astype(np.float32).astype(float), X.tobsr()):
        np.testing.assert_allclose(Ridge().fit(other, y).predict(other), expected, rtol=1e-5)
    whole = (X > 0).astype(np.int8)
    np.testing.assert_allclose(Ridge().fit(whole, y).predict(whole),
                               Ridge().fit(whole.toarray(), y).predict(whole.toarray()), rtol=1e-11)
    assert np.isfinite(Ridge().fit(X > 0, y).coef_).all()


def test_entries_out_of_order_are_left_as_they_were():
    X = sparse.csr_matrix((np.array([1.0, 2, 3, 4]), np.array([2, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    kept = X.data.copy(), X.indices.copy()
    csr = credence._columns.as_csr(X)
    np.testing.assert_array_equal(csr.toarray(), [[5, 0, 1], [0, 4, 0]])
    np.testing.assert_array_equal(X.data, kept[0]), np.testing.assert_array_equal(X.indices, kept[1])


def test_doubles_are_not_copied():
    X, _ = data()
    table = Table._empty(80)
    table._add_csr(credence._columns.as_csr(X))
    assert table._sparse().value.ctypes.data == X.data.ctypes.data
    assert table._sparse().column.ctypes.data == X.indices.ctypes.data
    assert (table.to_csr() != X).nnz == 0
    assert table.columns == [f"x{j + 1}" for j in range(12)] and table.types["x3"] == "real"
    np.testing.assert_array_equal(table["x5"], X.toarray()[:, 4])
    assert Table({"a": [1.0]}).to_csr() is None


def test_missing_and_infinite():
    X, y = data()
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN.*no value"):
        Ridge().fit(X, y)
    with pytest.warns(UserWarning, match="filled in"):
        np.testing.assert_allclose(Ridge(missing="impute").fit(X, y).coef_,
                                   Ridge(missing="impute").fit(X.toarray(), y).coef_, rtol=1e-11)
    X.data[3] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        Ridge().fit(X, y)


def test_shapes():
    X, y = data()
    model = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="X has 11 features, but Ridge is expecting 12"):
        model.predict(X[:, :11])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="Complex data not supported"):
        Ridge().fit(X * 1j, y)


def test_names_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y = data()
    model = Ridge().fit(pandas.DataFrame(X.toarray(), columns=list("abcdefghijkl")), y)
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_allclose(model.predict(X), Ridge().fit(X, y).predict(X), rtol=1e-11)


def test_partial_fit():
    X, y = data()
    both = BayesLinear().fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(both.coef_.shape, (12,))
    assert both.report_["rows"] == 80


def test_files(tmp_path):
    X, y = data(60, 50, density=0.1)
    sparse.save_npz(tmp_path / "x.npz", X)
    table = credence.read_table(tmp_path / "x.npz")
    assert (table.to_csr() != X).nnz == 0
    with_y = Table._empty(60)
    with_y._add_csr(credence._columns.as_csr(X))
    with_y._add_numbers("y", y)
    with_y.write(tmp_path / "d.libsvm")
    again = credence.read_table(tmp_path / "d.libsvm")
    np.testing.assert_array_equal(again["y"], y)
    width = again.to_csr().shape[1] if again.to_csr() is not None else 0
    assert width and (again.to_csr() != X[:, :width]).nnz == 0
    model = Ridge(target="y").fit(again)
    np.testing.assert_allclose(model.predict(again), Ridge().fit(X[:, :width], y).predict(X[:, :width]),
                               rtol=1e-11)


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="there a refused allocation aborts")
def test_what_does_not_fit_dense():
    X = sparse.csr_matrix((np.ones(50), (np.arange(50), 20000 * np.arange(50))), shape=(50, 10**6))
    with pytest.raises(MemoryError, match="each matrix of columns by columns takes 8e\\+03 GB"):
        credence.Lda().fit(X, ["a", "b"] * 25)
    assert BayesLinear().fit(X, np.arange(50.0)).n_features_in_ == 10**6   # in the dual
