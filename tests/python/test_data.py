"""Data in every form: arrays without copies, frames with their types, missing values, tables."""
import numpy as np
import pandas as pd
import pytest
from conftest import data

import credence
from credence import Linear, Ridge, Table


def frame(rows=40, seed=0):
    """Numbers, whole numbers, truth values, a category and texts; a target that depends on all."""
    rng = np.random.default_rng(seed)
    f = pd.DataFrame({"area": rng.normal(size=rows), "rooms": rng.integers(1, 6, rows),
                      "garden": rng.integers(0, 2, rows).astype(bool),
                      "kind": pd.Categorical(rng.choice(["flat", "house", "barn"], rows)),
                      "town": rng.choice(["Ulm", "Ems"], rows)})
    price = f.area + 2 * f.rooms + 3 * f.garden + 4.0 * (f.kind == "house") - 5.0 * (f.town == "Ulm")
    return f, (price + 0.01 * rng.normal(size=rows)).rename("price")


# --- arrays


@pytest.mark.parametrize("form", [
    np.asfortranarray, lambda X: X.tolist(), lambda X: X.astype(object), lambda X: X.astype(">f8"),
    lambda X: np.repeat(X, 2, axis=1)[:, ::2], lambda X: np.vstack([X, X])[:len(X)], lambda X: X[::-1][::-1],
    lambda X: np.lib.stride_tricks.as_strided(np.append(X, X), X.shape, X.strides), pd.DataFrame,
    lambda X: X.astype(str), lambda X: X.astype(np.longdouble)],
    ids=["fortran", "lists", "objects", "swapped", "strided", "slice", "reversed", "view", "frame", "texts",
         "long"])
def test_every_form_gives_the_same(form):
    X, y = data()
    expected = Linear().fit(X, y).predict(X)
    np.testing.assert_array_equal(Linear().fit(form(X), y).predict(form(X)), expected)


def test_negative_strides_and_broadcasts():
    X, y = data()
    np.testing.assert_allclose(Linear().fit(X[::-1], y[::-1]).predict(X), Linear().fit(X, y).predict(X))
    constant = np.broadcast_to(X[0], X.shape)
    model = Linear().fit(X, y)
    np.testing.assert_array_equal(model.predict(constant), [model.predict(X)[0]] * 60)


def test_masked_values_are_missing():
    """What a mask hides is not used as data: the same as NaN or None in its place."""
    X, y = data()
    hidden = np.zeros(X.shape, dtype=bool)
    hidden[[3, 7], [0, 1]] = True
    masked, holed = np.ma.MaskedArray(np.where(hidden, 1e6, X), hidden), np.where(hidden, np.nan, X)
    with pytest.warns(credence.CredenceWarning, match="2 of 60 rows"):
        model, expected = Linear(missing="drop").fit(masked, y), Linear(missing="drop").fit(holed, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    np.testing.assert_array_equal(expected.predict(masked), expected.predict(holed))
    whole = np.ma.MaskedArray([1, 2, 999], [False, False, True])
    texts = np.ma.MaskedArray(np.array(["a", "b", "none"]), [False, False, True])
    table = Table({"n": whole, "t": texts})
    assert np.isnan(table["n"][2]) and table["n"][1] == 2
    assert list(table["t"])[:2] == ["a", "b"] and list(table["t"])[2] is None
    with pytest.raises(ValueError):
        credence.Lda().fit(X, np.ma.MaskedArray(np.arange(60) % 2, np.arange(60) == 5))


def test_other_types():
    X, y = data()
    for dtype in (np.float32, np.int64, np.int8, bool):
        Z = X.astype(dtype)
        np.testing.assert_array_equal(Ridge().fit(Z, y).predict(Z),
                                      Ridge().fit(Z.astype(float), y).predict(Z.astype(float)))


def test_doubles_are_not_copied():
    X, y = data()
    table = Table._empty(len(X))
    table._add_matrix(X)
    assert [c.values for c in table._columns()] == [X[:, j].ctypes.data for j in range(4)]
    assert credence._inputs.read_features(X).matrix is X
    f = pd.DataFrame(X)
    assert np.shares_memory(credence._inputs.read_features(f).matrix, f.to_numpy())


def test_input_is_left_as_it_was():
    X, y = data()
    kept = X.copy(), y.copy()
    X.setflags(write=False), y.setflags(write=False)
    Ridge().fit(X, y).predict(X)
    np.testing.assert_array_equal(X, kept[0]), np.testing.assert_array_equal(y, kept[1])


def test_texts_in_an_array():
    X = np.array([["red", 1.0], ["blue", 2.0], ["red", 3.0], ["blue", 4.5]], dtype=object)
    model = Ridge().fit(X, [1, 2, 3, 4])
    assert [p["name"] for p in model.parameters_] == ["intercept", "x1=red", "x2"]
    with pytest.raises(ValueError, match="level 'green', which the model has not seen"):
        model.predict(np.array([["green", 1.0]], dtype=object))


# --- frames


def test_frame_types_and_terms():
    f, price = frame()
    model = Linear().fit(f, price)
    assert list(model.feature_names_in_) == list(f.columns) and model.n_features_in_ == 5
    value = {p["name"]: p["value"] for p in model.parameters_}
    assert set(value) == {"intercept", "area", "rooms", "garden", "kind=flat", "kind=house", "town=Ulm"}
    assert value["rooms"] == pytest.approx(2, abs=0.05) and value["town=Ulm"] == pytest.approx(-5, abs=0.05)
    assert model.describe()["target"] == "price"
    assert model.score(f, price) > 0.99


def test_columns_without_text_names():
    X, y = data()
    model = Linear().fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(X), Linear().fit(X, y).predict(X))
    with pytest.raises(TypeError, match="string names"):
        Linear().fit(pd.DataFrame(X[:, :2], columns=["a", 1]), y)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "float32", "int8", "bool", "string",
                                   "object"])
def test_extension_types(dtype):
    plain = pd.Series([0, 1, 1, 0, 1, 0, 0, 1])
    texts = dtype in ("string", "object")
    column = (plain.map({0: "no", 1: "yes"}) if texts else plain).astype(dtype)
    y = np.arange(8) % 3
    fitted = Linear().fit(pd.DataFrame({"a": column}), y)
    np.testing.assert_allclose(fitted.predict(pd.DataFrame({"a": column})),
                               Linear().fit(plain.to_frame("a"), y).predict(plain.to_frame("a")))


@pytest.mark.parametrize("values", [
    pd.array([1, None, 3, 4, 9], dtype="Int64"), [1.0, np.nan, 3, 4, 9],
    np.array([1, None, 3, 4, 9], dtype=object),
    pd.array([1, pd.NA, 3, 4, 9], dtype="Float64"), ["a", None, "b", "a", "b"], ["a", np.nan, "b", "a", "b"],
    pd.array(["a", pd.NA, "b", "a", "b"], dtype="string"), pd.Categorical(["a", None, "b", "a", "b"]),
    pd.array([True, None, False, True, False], dtype="boolean")],
    ids=["Int64", "nan", "None", "NA", "text-None", "text-nan", "string", "category", "boolean"])
def test_missing(values):
    f, y = pd.DataFrame({"a": values, "b": [1.0, 5, 2, 7, 3]}), [1.0, 2, 3, 5, 4]
    assert Table(f).missing == {"a": 1, "b": 0}
    with pytest.raises(ValueError, match="column 'a'.*missing"):
        Ridge().fit(f, y)
    dropped = Ridge(missing="drop")
    with pytest.warns(credence.CredenceWarning, match="1 of 5 rows"):
        dropped.fit(f, y)
    kept = [0, 2, 3, 4]
    np.testing.assert_array_equal(np.isnan(dropped.predict(f)), [False, True, False, False, False])
    expected = Ridge().fit(f.iloc[kept], np.array(y)[kept])
    np.testing.assert_array_equal(dropped.predict(f)[kept], expected.predict(f.iloc[kept]))
    with pytest.warns(credence.CredenceWarning, match="filled in"):
        assert np.isfinite(Ridge(missing="impute").fit(f, y).predict(f)).all()


def test_nan_speaks_like_sklearn():
    X, y = data()
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN.*row 4.*'x2'.*missing") as e:
        Ridge().fit(bad, y)
    assert "missing='drop'" in str(e.value) and "--" not in str(e.value)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        Ridge().fit(X, np.where(np.arange(60) == 5, np.nan, y))
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity.*'x2' is infinite"):
        Ridge().fit(X, y).predict(bad)


def test_odd_columns_are_refused():
    y = [1.0, 2, 3]
    for values, words in ((pd.to_timedelta([1, 2, 3], unit="D"), "neither numbers nor texts"),
                          ([1j, 2, 3], "Complex"), (["a", 1, 2.5], "mixes texts"),
                          (["a\0b", "a", "a"], "null")):
        with pytest.raises(ValueError, match=words):
            Ridge().fit(pd.DataFrame({"a": values}), y)


def test_names_must_match():
    f, price = frame()
    model = Ridge().fit(f, price)
    with pytest.raises(ValueError, match="same order"):
        model.predict(f[f.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- extra"):
        model.predict(f.assign(extra=1))
    with_target = f.assign(price=0.0)
    np.testing.assert_array_equal(model.predict(with_target), model.predict(f))


# --- the names of y and the weights


def test_target_by_name_and_reserved_names():
    f, price = frame()
    whole = Ridge(target="price").fit(f.assign(price=price))
    np.testing.assert_array_equal(whole.predict(f), Ridge().fit(f, price).predict(f))
    assert list(whole.feature_names_in_) == list(f.columns)
    X, y = data(columns=2)
    assert Ridge().fit(X, y).describe()["target"] == "y"
    assert Ridge(target="z").fit(X, y).describe()["target"] == "z"
    named = pd.DataFrame(X, columns=["y", "sample_weight"])
    model = Ridge().fit(named, pd.Series(y, name="y"), np.ones(60))
    assert model.describe()["target"] == "y_" and model._model.weights == "sample_weight_"
    np.testing.assert_array_equal(model.predict(named), Ridge().fit(X, y).predict(X))


def test_weights_by_name():
    f, price = frame()
    w = np.random.default_rng(0).uniform(1, 2, 40)
    by_name = Ridge(weights="w").fit(f.assign(w=w), price)
    np.testing.assert_array_equal(by_name.predict(f), Ridge().fit(f, price, w).predict(f))
    assert list(by_name.feature_names_in_) == list(f.columns)


# --- tables


def test_tables(tmp_path):
    f, price = frame()
    f.assign(price=price).to_csv(tmp_path / "houses.csv", index=False)
    table = credence.read_table(tmp_path / "houses.csv")
    assert len(table) == 40 and table.columns == [*f.columns, "price"] and "40 rows" in repr(table)
    assert table.types == {"area": "real", "rooms": "integer", "garden": "boolean", "kind": "category",
                           "town": "category", "price": "real"}
    np.testing.assert_array_equal(table["area"], f.area)
    assert list(table["kind"]) == list(f.kind) and table["kind"].dtype == object
    model = Ridge(target="price").fit(table)
    assert model.score(table) == pytest.approx(model.score(f, price)) and model.score(table) > 0.9
    np.testing.assert_array_equal(model.predict(table), model.predict(f))
    assert credence.evaluate(model, table)["r2"] == pytest.approx(model.score(table))
    with pytest.raises(KeyError, match="'cost' not found"):
        table["cost"]
    with pytest.raises(ValueError, match="a Table holds its target"):
        Ridge().fit(table, price)
    with pytest.raises(ValueError, match="requires y"):
        Ridge().fit(table)


def test_a_table_for_a_model_has_its_missing_values(tmp_path):
    (tmp_path / "codes.csv").write_text("a,y\n1,2\n2,4.5\n-9,9\n3,6\n4,7.5\n")
    model = Ridge(target="y", missing="drop").fit(credence.read_table(tmp_path / "codes.csv", missing_values="-9"))
    assert model.describe()["reading"] == {"missing_values": "-9"}
    again = credence.read_table(tmp_path / "codes.csv", model=model)
    assert np.isnan(again["a"]).tolist() == [False, False, True, False, False]
    assert np.isnan(model.predict(again)).tolist() == [False, False, True, False, False]
    assert not np.isnan(credence.read_table(tmp_path / "codes.csv")["a"]).any()


def test_tables_match_columns_by_name_and_write(tmp_path):
    f, price = frame()
    model = Ridge().fit(f, price)
    shuffled = Table(f[f.columns[::-1]].assign(other=1))
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(f))
    shuffled.write(tmp_path / "t.csv")
    again = credence.read_table(tmp_path / "t.csv", category="rooms")
    assert again.types["rooms"] == "category" and again.columns == shuffled.columns
    Table({"a": [1, 2.5], "b": [3, np.nan]}).write(tmp_path / "t.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), [[1, 3], [2.5, np.nan]])
    with pytest.raises(ValueError, match="has 2 rows, but the table has 3"):
        Table({"a": [1, 2, 3], "b": [1, 2]})
    assert len(Table({})) == 0 and Table({"a": []})["a"].shape == (0,)


# --- files and frames with ids


@pytest.mark.parametrize("column", [np.array([2 ** 53 + 1, 2 ** 53]), [2 ** 53 + 1, 2 ** 53],
                                    np.array([2 ** 64 - 1, 2], dtype=np.uint64),
                                    pd.array([2 ** 53 + 1, None], dtype="Int64")], ids=["array", "list", "unsigned", "nullable"])
def test_whole_numbers_that_lose_digits_are_texts(column):
    with pytest.warns(credence.CredenceWarning, match="column 'id' is read as text: whole numbers beyond 2"):
        table = Table({"id": column})
    assert list(table["id"]) == [None if v is pd.NA else str(v) for v in column]


def test_whole_numbers_that_keep_their_digits_are_numbers():
    table = Table({"id": np.array([2 ** 53, 10 ** 18, -2 ** 53 - 2])})
    assert list(table["id"]) == [2 ** 53, 10 ** 18, -2 ** 53 - 2]


def test_a_second_file_is_read_in_its_own_number_style(tmp_path):
    euro, plain = tmp_path / "euro.csv", tmp_path / "plain.csv"
    euro.write_text("x;y\n" + "".join(f"{i},5;{2 * i},25\n" for i in range(12)))
    plain.write_text("x,y\n1.500,2.250\n2.500,4.250\n")
    model = Linear(target="y").fit(credence.read_table(euro))
    assert list(credence.read_table(plain, model)["x"]) == [1.5, 2.5]
    with pytest.warns(credence.CredenceWarning, match="as in the file that the model was fitted to"):
        plain.write_text("x;y\n1.500;2.250\n")
        assert list(credence.read_table(plain, model)["x"]) == [1500]
