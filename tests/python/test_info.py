"""Information in tables: the names and numbers of the shell."""
import json

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, assert_no_leak, interrupted

import credence

DIABETES, IRIS = ROOT / "examples/diabetes.csv", ROOT / "examples/iris.csv"


def printed(text):
    return {name: value for name, value in json.loads(text).items() if name not in ("schema", "warnings", "seconds")}


@pytest.mark.parametrize("options, flags", [
    ({}, []), ({"unit": "nats", "bootstrap": 0}, ["--unit", "nats", "--bootstrap", 0]),
    ({"columns": ["species", "petal_width_cm"], "seed": 3}, ["--columns", "species,petal_width_cm", "--seed", 3]),
    ({"columns": "species", "given": ["petal_width_cm"]}, ["--columns", "species", "--given", "petal_width_cm"]),
    ({"mutual": ["species", "petal_width_cm"], "permutations": 19}, ["--mutual", "species,petal_width_cm", "--permutations", 19]),
    ({"matrix": True}, ["--matrix"]), ({"rows": True, "top": 4}, ["--rows", "--top", 4]),
    ({"blanket": "species"}, ["--blanket", "species"]),
    ({"source": "species", "length": 20}, ["--source", "species", "--length", 20])])
def test_answers_are_those_of_the_shell(options, flags, shell):
    wanted = printed(shell("info", IRIS, *flags, "--json"))
    for data in (IRIS, credence.read_table(IRIS), pd.read_csv(IRIS)):
        ours = json.loads(json.dumps(credence.info(data, **options)))
        assert ours == wanted


def test_descriptions_are_those_of_the_shell(shell, tmp_path):
    (tmp_path / "mixed.csv").write_text("a,b,c,d\n1,x,true,\n2.5,,false,\n,y,true,\n4,x,,\n")
    (tmp_path / "s.libsvm").write_text("1 1:2 3:4\n0 2:1.5\n1\n")
    for file in (IRIS, DIABETES, tmp_path / "mixed.csv", tmp_path / "s.libsvm"):
        found = credence.describe(file)
        assert json.loads(json.dumps(found)) == printed(shell("describe", file, "--json"))
        assert len(found.to_pandas()) == len(found.columns)
    frame = credence.describe({"a": [1.0, 2, np.nan], "b": ["u", "u", "v"]}).to_pandas()
    assert frame["mean"][0] == 1.5 and frame["sd"][0] == pytest.approx(np.sqrt(0.5)) and frame.missing[0] == 1
    assert frame.frequent[1] == "u" and frame.levels[1] == 2
    net = credence.Network(ROOT / "examples/networks/burglary.bif")
    assert credence.describe(net) == net.describe()


@pytest.mark.parametrize("options, flags", [({}, []), ({"columns": ["bmi", "age"]}, ["--columns", "bmi,age"]),
                                            ({"mmd": True, "columns": ["bmi"], "permutations": 49},
                                             ["--mmd", "--columns", "bmi", "--permutations", 49])])
def test_two_tables(options, flags, shell, tmp_path):
    frame = pd.read_csv(DIABETES)
    frame[:100].to_csv(tmp_path / "a.csv", index=False), frame[200:330].to_csv(tmp_path / "b.csv", index=False)
    wanted = printed(shell("info", "a.csv", "b.csv", *flags, "--json"))
    found = credence.info(tmp_path / "a.csv", tmp_path / "b.csv", **options)
    assert json.loads(json.dumps(found)) == wanted
    assert len(found.to_pandas()) == (1 if "mmd" in options else len(wanted["divergence"]))


def test_by_hand():
    table = {"a": ["x"] * 30 + ["y"] * 10, "b": list("uv") * 20}
    found = credence.info(table, unit="nats", bootstrap=0, estimator="plugin")
    p = np.array([0.75, 0.25])
    assert found.columns[0]["plugin"] == pytest.approx(-(p * np.log(p)).sum(), rel=1e-12)
    assert found.to_pandas().name.tolist() == ["a", "b"]
    together = credence.info(table, mutual=["a", "b"], bootstrap=0, estimator="plugin").mutual
    assert together["mutual"] == pytest.approx(0, abs=1e-12) and together["columns"] == ["a", "b"]
    source = credence.info(source=[0.1, 0.9], length=50).source
    assert source["entropy"] == pytest.approx(-0.1 * np.log2(0.1) - 0.9 * np.log2(0.9), rel=1e-12)
    masked = {"a": np.ma.masked_array([1, 1, 2, 2, 3] * 20, [False] * 95 + [True] * 5)}
    assert credence.info(masked, bootstrap=0).columns[0]["missing"] == 5


@pytest.mark.parametrize("options, exception, words", [
    ({"mutal": ["a"]}, TypeError, "info has no option 'mutal'"),
    ({"mutual": ["species"]}, ValueError, "two columns"),
    ({"mutual": ["species", "petal_widht_cm"]}, ValueError, "did you mean 'petal_width_cm'"),
    ({"matrix": True, "rows": True}, ValueError, "cannot be combined"),
    ({"given": ["species"]}, ValueError, "given"), ({"level": 2}, ValueError, "level: '2'")])
def test_refusals(options, exception, words):
    with pytest.raises(exception, match=words) as e:
        credence.info(IRIS, **options)
    assert "--" not in str(e.value)


def test_neither_data_nor_source():
    with pytest.raises(ValueError, match="info needs data"):
        credence.info()


def test_no_leak_and_ctrl_c():
    def use():
        credence.info({"a": list("xyz") * 9, "b": list("uvw") * 9}, bootstrap=5)
        with pytest.raises(ValueError):
            credence.info({"a": [1.0, 2]}, mutual=["a", "q"])
    assert_no_leak(use, 500)
    with interrupted():
        credence.info(DIABETES, matrix=True, permutations=100000)
