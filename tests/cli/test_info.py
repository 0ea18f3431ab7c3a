"""credence info: entropy, mutual information, divergence, surprise and typical sets on the command line."""
import csv
import io
import itertools
import json
import math
import random

import pytest


def ask(credence, *args):
    result = credence("info", *args, "--json")
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def entropy(counts):
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n)


@pytest.fixture
def weather(tmp_path):
    """Two categories that hang together, a number that one of them moves, and holes."""
    rng = random.Random(3)
    rows = ["sky,wind,heat,same,gone"]
    for i in range(200):
        sky = rng.choice(["clear", "clouds", "rain"])
        wind = "strong" if rng.random() < {"clear": 0.1, "clouds": 0.5, "rain": 0.8}[sky] else "weak"
        heat = "" if i % 20 == 0 else repr(20 - 5 * (sky == "rain") + rng.gauss(0, 1))
        rows.append(f"{sky},{wind},{heat},1.5,x")
    (tmp_path / "weather.csv").write_text("\n".join(rows) + "\n")
    return [row.split(",") for row in rows[1:]]


def test_list(credence, weather):
    result = credence("info", "weather.csv", "--json")
    got = json.loads(result.stdout)
    by_name = {c["name"]: c for c in got["columns"]}
    sky = by_name["sky"]
    counts = [sum(row[0] == level for row in weather) for level in ("clear", "clouds", "rain")]
    assert sky["plugin"] == pytest.approx(entropy(counts), rel=1e-12)
    assert sky["plugin"] < sky["entropy"] and sky["lower"] < sky["entropy"]
    assert sky["lower"] < sky["plugin"] < sky["upper"] <= math.log2(3) + 1e-12  # three levels have no more
    assert (sky["method"], sky["levels"], sky["missing"], sky["resolution"]) == ("counts", 3, 0, None)
    heat = by_name["heat"]
    assert (heat["method"], heat["rows"], heat["missing"], heat["plugin"]) == ("neighbours", 190, 10, None)
    assert heat["lower"] < heat["entropy"] < heat["upper"]
    assert by_name["same"]["entropy"] is None and by_name["gone"]["entropy"] == 0
    assert len(got["warnings"]) == 1 and "'same'" in got["warnings"][0] and "constant" in got["warnings"][0]
    assert got["unit"] == "bits" and got["seed"] == 0 and got["estimator"] == "schuermann"
    nats = ask(credence, "weather.csv", "--unit", "nats", "--bootstrap", 0)
    assert nats["columns"][0]["entropy"] == pytest.approx(sky["entropy"] * math.log(2), rel=1e-12)
    assert nats["columns"][0]["lower"] is None


def test_chain_rules(credence, weather):
    def h(*args):
        return ask(credence, "weather.csv", *args, "--bootstrap", 0)["joint"]["entropy"]
    sky, both = h("--columns", "sky"), h("--columns", "sky,wind")
    assert both == pytest.approx(sky + h("--columns", "wind", "--given", "sky"), rel=1e-12)
    mutual = ask(credence, "weather.csv", "--mutual", "sky,wind", "--permutations", 99)["mutual"]
    assert mutual["mutual"] == pytest.approx(sky - h("--columns", "sky", "--given", "wind"), rel=1e-12)
    assert mutual["p"] == 0.01 and mutual["columns"] == ["sky", "wind"] and mutual["given"] == []
    assert mutual["lower"] < mutual["mutual"] < mutual["upper"]


@pytest.mark.parametrize("name", "plugin miller-madow chao-shen grassberger schuermann".split())
def test_estimators(credence, weather, name):
    got = ask(credence, "weather.csv", "--columns", "sky,wind", "--estimator", name, "--bootstrap", 0)
    assert got["estimator"] == name and 2 < got["joint"]["entropy"] < 2.6
    assert (got["joint"]["entropy"] == got["joint"]["plugin"]) == (name == "plugin")


def test_missing_values_are_told(credence, weather):
    result = credence("info", "weather.csv", "--mutual", "sky,heat", "--bootstrap", 20)
    assert result.code == 0 and "10 of 200 rows of weather.csv have missing values" in result.stderr
    got = ask(credence, "weather.csv", "--mutual", "sky,heat", "--given", "wind", "--bootstrap", 0)["mutual"]
    assert (got["rows"], got["missing"], got["given"]) == (190, 10, ["wind"])
    strict = credence("info", "weather.csv", "--mutual", "sky,heat", "--strict")
    assert strict.code == 4


def test_few_rows_are_doubted(credence, tmp_path):
    """Intervals that hold too rarely are said to."""
    def said(n, *args):
        rows = "".join(f"{'abc'[i % 3]},{'uvw'[i * i // 3 % 3]},{i * 7 % 11},{i * 5 % 13}\n" for i in range(n))
        (tmp_path / "d.csv").write_text("x,y,p,q\n" + rows)
        done = credence("info", "d.csv", *args)
        assert done.code == 0, done.stderr
        return done.stderr

    assert "few for an interval" in said(10, "--columns", "x", "--given", "y")
    assert "few for an interval" not in said(60, "--columns", "x", "--given", "y")
    assert "few for an interval" not in said(10, "--columns", "x", "--given", "y", "--bootstrap", "0")
    assert "20 rows are few for an interval by neighbours" in said(20, "--mutual", "p,q")
    assert "few for" not in said(50, "--mutual", "p,q")


def test_matrix(credence, examples):
    args = ["examples/diabetes.csv", "--matrix", "--columns", "sex,bmi,s5"]
    pairs = ask(credence, *args)["pairs"]
    assert [(p["a"], p["b"]) for p in pairs] == [("sex", "bmi"), ("sex", "s5"), ("bmi", "s5")]
    for p in pairs:
        one = ask(credence, "examples/diabetes.csv", "--mutual", f"{p['a']},{p['b']}", "--bootstrap", 0)
        assert one["mutual"]["mutual"] == p["mutual"]
        assert p["normalised"] == pytest.approx(math.sqrt(1 - 2 ** (-2 * max(0, p["mutual"]))))
    text = credence("info", *args, "--permutations", 2, "--format", "text").stdout
    assert text.count("\n  bmi ") == 3 and f"{pairs[2]['mutual']:.3f}" in text and "p-values" in text
    rows = list(csv.DictReader(io.StringIO(credence("info", *args, "--format", "csv").stdout)))
    assert [float(r["mutual"]) for r in rows] == [p["mutual"] for p in pairs]


def test_matrix_of_categories(credence, weather):
    got = ask(credence, "weather.csv", "--matrix", "--columns", "sky,wind,gone")
    first = got["pairs"][0]
    h = [ask(credence, "weather.csv", "--columns", c, "--bootstrap", 0)["joint"]["entropy"] for c in ("sky", "wind")]
    assert first["normalised"] == pytest.approx(2 * first["mutual"] / sum(h), rel=1e-12)
    assert got["pairs"][1]["mutual"] is None and any("one level" in w for w in got["warnings"])


def test_a_very_wide_matrix(credence, tmp_path):
    names = [f"c{j}" for j in range(45)]
    lines = [",".join(names)] + [",".join(str((i * (j + 1)) % 3) for j in range(45)) for i in range(60)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    result = credence("info", "wide.csv", "--matrix", "--format", "text", "--quiet")
    assert result.code == 0 and len(result.stdout.splitlines()) == 45 * 44 // 2 + 3


def test_two_files(credence, tmp_path):
    (tmp_path / "a.csv").write_text("c,n,only\n" + "\n".join(f"{'ppq'[i % 3]},{i * i % 101 / 7},1" for i in range(90)))
    (tmp_path / "b.csv").write_text("c,n\n" + "\n".join(f"{'pqq'[i % 3]},{3 + i * i % 103 / 7}" for i in range(90)))
    result = credence("info", "a.csv", "b.csv", "--json")
    got = json.loads(result.stdout)["divergence"]
    assert [d["columns"] for d in got] == [["c"], ["n"]]
    assert got[0]["kl"] == pytest.approx(1 / 3, rel=1e-12)        # 2/3 log2 2 + 1/3 log2 1/2
    assert got[0]["lower"] <= got[0]["kl"] <= got[0]["upper"]
    assert got[1]["kl"] == pytest.approx(got[1]["cross_entropy"] - got[1]["entropy"])
    assert got[1]["method"] == "neighbours" and 0 < got[0]["js"] < 1
    assert "'only' is not in b.csv" in json.loads(result.stdout)["warnings"][0]
    (tmp_path / "d.csv").write_text("c\n" + "p\n" * 30)
    infinite = credence("info", "a.csv", "d.csv", "--columns", "c", "--format", "csv")
    assert "infinite; --smoothing" in infinite.stderr and ",inf," in infinite.stdout
    assert ask(credence, "a.csv", "d.csv", "--columns", "c")["divergence"][0]["kl"] is None
    smooth = ask(credence, "a.csv", "d.csv", "--columns", "c", "--smoothing", 0.5)["divergence"][0]
    p, q = (60.5 / 91, 30.5 / 91), (30.5 / 31, 0.5 / 31)
    assert smooth["kl"] == pytest.approx(sum(x * math.log2(x / y) for x, y in zip(p, q)), rel=1e-12)


def test_two_sample_test(credence, tmp_path):
    for name, shift in (("a", 0), ("b", 2), ("same", 0)):
        rng = random.Random(name)
        rows = "\n".join(f"{rng.gauss(shift, 1)},{'uv'[i % 2]}" for i in range(40))
        (tmp_path / f"{name}.csv").write_text("x,c\n" + rows + "\n")
    far = ask(credence, "a.csv", "b.csv", "--mmd")["mmd"]
    assert far["p"] == 0.001 and far["permutations"] == 999 and far["mmd2_biased"] > far["mmd2"] > 0.1
    assert far["columns"] == ["x", "c"] and "hamming" in far["kernel"] and far["method"] == "relabellings"
    near = ask(credence, "a.csv", "same.csv", "--mmd", "--permutations", 199, "--kernel", "rbf(x; l=1)")["mmd"]
    assert near["p"] > 0.05 and near["p_se"] > 0 and near["kernel"] == "rbf(x; l=1)"
    fast = ask(credence, "a.csv", "b.csv", "--mmd", "--linear", "--columns", "x")["mmd"]
    assert fast["method"] == "pairs" and fast["p"] < 0.05 and fast["se"] > 0
    assert ask(credence, "a.csv", "b.csv", "--mmd", "--seed", 5)["mmd"] == ask(
        credence, "a.csv", "b.csv", "--mmd", "--seed", 5, "--threads", 3)["mmd"]
    assert "p_se" in credence("info", "a.csv", "b.csv", "--mmd", "--format", "text").stdout


def test_columns_together(credence, tmp_path):
    for name, shift in (("a", 0), ("b", 1)):
        rng = random.Random(name)
        rows = "\n".join(f"{rng.gauss(shift, 1)},{rng.gauss(0, 1)},u" for _ in range(150))
        (tmp_path / f"{name}.csv").write_text("x,y,c\n" + rows + "\n")
    got = ask(credence, "a.csv", "b.csv", "--columns", "x,y", "--bootstrap", 0)["divergence"]
    assert [d["columns"] for d in got] == [["x"], ["y"], ["x", "y"]] and got[2]["kl"] > 0.2
    mixed = credence("info", "a.csv", "b.csv", "--columns", "x,c")
    assert mixed.code == 2 and "numbers and categories cannot be compared together" in mixed.stderr
    same = credence("info", "a.csv", "a.csv", "--columns", "x")
    assert "150 values occur in both files" in same.stderr


def test_rows(credence, weather):
    got = ask(credence, "weather.csv", "--rows", "--columns", "sky,wind")["surprise"]
    assert [r["row"] for r in got] == list(range(1, 201))
    skies = [sum(row[0] == r[0] for row in weather) for r in weather]
    winds = [sum(row[1] == r[1] for row in weather) for r in weather]
    for r, s, w in zip(got, skies, winds):
        assert r["information"] == pytest.approx(-math.log2(s / 200) - math.log2(w / 200), rel=1e-12)
        assert r["most"] == ("sky" if s <= w else "wind")
    joint = ask(credence, "weather.csv", "--rows", "--joint", "--columns", "sky,wind", "--top", 3)["surprise"]
    rarest = min(sum(row[:2] == r[:2] for row in weather) for r in weather)
    assert len(joint) == 3 and joint[0]["information"] == pytest.approx(-math.log2(rarest / 200))
    assert "most" not in joint[0]
    ranked = ask(credence, "weather.csv", "--rows", "--columns", "heat", "--top", 5)["surprise"]
    values = [r["information"] for r in ranked]
    assert values == sorted(values, reverse=True)


def test_source_by_enumeration(credence):
    p, length, beta, delta = (0.2, 0.5, 0.3), 7, 0.17, 0.05
    got = ask(credence, "--source", "0.2,0.5,0.3", "--length", length, "--beta", beta, "--delta", delta)["source"]
    h = -sum(x * math.log2(x) for x in p)
    strings = sorted(math.prod(s) for s in itertools.product(p, repeat=length))
    typical = [x for x in strings if abs(-math.log2(x) / length - h) < beta]
    gone, mass = 0, 0.0
    while mass + strings[gone] <= delta:
        mass, gone = mass + strings[gone], gone + 1
    assert got["entropy"] == pytest.approx(h, rel=1e-12) and got["types"] == 36
    assert got["typical_size"] == pytest.approx(math.log2(len(typical)), rel=1e-12)
    assert got["typical_probability"] == pytest.approx(sum(typical), rel=1e-12)
    assert got["essential"] == pytest.approx(math.log2(len(strings) - gone), rel=1e-12)
    assert got["essential_per_letter"] == pytest.approx(got["essential"] / length, rel=1e-12)


def test_source_of_a_column(credence, weather):
    got = ask(credence, "weather.csv", "--source", "sky", "--length", 50)["source"]
    counts = sorted(sum(row[0] == level for row in weather) for level in ("clear", "clouds", "rain"))
    assert sorted(got["probabilities"]) == pytest.approx([n / 200 for n in counts])
    assert got["raw"] == pytest.approx(math.log2(3)) and got["length"] == 50


@pytest.mark.parametrize("args, code, phrases", [
    (["weather.csv", "--columns", "skye"], 3, ["column 'skye' not found", "did you mean 'sky'?"]),
    (["weather.csv", "--columns", "sky,sky"], 2, ["'sky' is named twice"]),
    (["weather.csv", "--columns", "same"], 3, ["constant", "--category same"]),
    (["weather.csv", "--mutual", "sky"], 2, ["two columns, not 1"]),
    (["weather.csv", "--mutual", "sky,gone"], 3, ["one level"]),
    (["weather.csv", "--mutual", "sky,wind", "--matrix"], 2, ["cannot be combined"]),
    (["weather.csv", "--mutual", "sky,wind", "--given", "heat", "--permutations", "9"], 2, ["no p-value"]),
    (["weather.csv", "--given", "sky"], 2, ["--given requires"]),
    (["weather.csv", "--top", "3"], 2, ["--top requires --rows"]),
    (["weather.csv", "--permutations", "9"], 2, ["--permutations requires"]),
    (["weather.csv", "--mmd"], 2, ["--mmd compares two files"]),
    (["weather.csv", "weather.csv", "--linear"], 2, ["--linear requires --mmd"]),
    (["weather.csv", "weather.csv", "--kernel", "rbf"], 2, ["--kernel requires --mmd"]),
    (["weather.csv", "weather.csv", "--mmd", "--kernel", "rbf("], 2, ["rbf("]),
    (["weather.csv", "--smoothing", "1"], 2, ["--smoothing requires two files"]),
    (["weather.csv", "weather.csv", "--rows"], 2, ["need a single file"]),
    (["weather.csv", "--matrix", "--columns", "sky"], 2, ["at least two columns"]),
    (["weather.csv", "--source", "heat"], 3, ["contains numbers", "--category heat"]),
    (["weather.csv", "--neighbours", "0"], 2, ["neighbours"]),
    (["--source", "0.1,0.8"], 2, ["sum to 0.9, expected 1"]),
    (["--source", "0.1,many"], 2, ["'many' is not a number"]),
    (["--source", "0.1,0.2,0.15,0.25,0.3", "--length", "1000"], 2, ["types", "shorter"]),
    ([], 2, ["the argument DATA is missing"]),
])
def test_refusals(credence, weather, args, code, phrases):
    result = credence("info", *args)
    assert result.code == code and result.stdout == "", result
    for phrase in phrases:
        assert phrase in result.stderr


def test_too_few_rows(credence, tmp_path):
    (tmp_path / "few.csv").write_text("x,y\n1.5,2\n2.5,4\n,1\n")
    result = credence("info", "few.csv", "--mutual", "x,y")
    assert result.code == 3 and "2 rows with values: neighbour 3 needs at least 4" in result.stderr


def test_threads_and_seed(credence, examples):
    args = ["examples/diabetes.csv", "--mutual", "bmi,s5", "--bootstrap", 30]

    def answer(*more):
        return {k: v for k, v in ask(credence, *args, *more).items() if k != "seconds"}
    assert answer("--threads", 1) == answer("--threads", 4)
    assert answer()["mutual"]["se"] != answer("--seed", 1)["mutual"]["se"]


def test_output_file(credence, weather, tmp_path):
    result = credence("info", "weather.csv", "--matrix", "--columns", "sky,wind", "--format", "text", "-o", "m.txt")
    assert result.code == 0 and result.stdout == "" and "mutual information" in (tmp_path / "m.txt").read_text()


def test_no_entropy_in_the_list_is_impossible(credence, tmp_path):
    (tmp_path / "d.csv").write_text("g,h\n" + "".join(f"{'abc'[i % 3]},{'ab'[i % 2]}\n" for i in range(60)))
    for column in ask(credence, "d.csv")["columns"]:
        assert column["lower"] <= column["entropy"] <= column["upper"] <= math.log2(column["levels"]) + 1e-12


def test_weights_count_rows(credence, refused, tmp_path):
    """Counts say what the single rows say, to the last bit; what is no count is refused."""
    cells = [("a", 1, "no", 9), ("a", 2, "yes", 3), ("b", 1, "no", 0), ("b", 2, "yes", 8), ("b", 1, "yes", 5)]
    (tmp_path / "n.csv").write_text("g,x,y,n,half\n" + "".join(f"{g},{x},{y},{n},0.5\n" for g, x, y, n in cells))
    (tmp_path / "all.csv").write_text("g,x,y,half\n" + "".join(f"{g},{x},{y},0.5\n" * n for g, x, y, n in cells))
    for options in ([], ["--mutual", "g,y", "--permutations", "19"], ["--matrix"], ["--columns", "g,y"]):
        counted, single = (credence("info", *data, *options, "--format", "csv") for data in (["n.csv", "--weights", "n"], ["all.csv"]))
        assert counted.code == 0 and counted.stdout == single.stdout, (counted, single)
    two, plain = (credence("info", f, f, *w, "--columns", "g,y", "--format", "csv")
                  for f, w in (("n.csv", ["--weights", "n"]), ("all.csv", [])))
    assert two.code == 0 and two.stdout == plain.stdout
    refused(3, "info", "n.csv", "--weights", "half", says="row 1 of the weights 'half' is not a whole number")
    refused(3, "info", "n.csv", "--weights", "g", says="the weights 'g' are text")
    refused(2, "info", "n.csv", "--weights", "n", "--rows", says="cannot be combined")
