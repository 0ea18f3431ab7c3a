"""Figures from inside a model: fits with draws, parts of a sum, maps, the evidence."""
import json
import math
import re
import shutil
import statistics
import xml.etree.ElementTree as xml

import pytest

GP = ["--target", "y", "--optimize", "none", "--noise", "0.1"]


@pytest.fixture
def waves(tmp_path):
    rows = "".join(f"{i / 5},{(i * 7 % 11) / 3},{(i * i % 13) / 6 + i / 9}\n" for i in range(30))
    (tmp_path / "d.csv").write_text("t,z,y\n" + rows)
    return "d.csv"


def draw(credence, tmp_path, *options):
    """The figure as XML and as text."""
    done = credence("plot", "m.cred", "d.csv", *options, "-o", "f.svg")
    assert done.code == 0, done.stderr
    text = credence("plot", "m.cred", "d.csv", *options)
    assert text.code == 0, text.stderr
    return xml.parse(tmp_path / "f.svg").getroot(), text.stdout


def words(root):
    return [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]


def test_fit_with_draws(credence, tmp_path, waves):
    assert credence("fit", "gp", waves, *GP, "--features", "t", "--kernel", "rbf", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path, "--draws", "4", "--range", "-2,9", "--interval", "0.5")
    assert "4 draws" in words(root) and "50 % predictive interval" in words(root)
    assert "~ 4 draws" in text and "30 rows" in text and "-2 " in text
    again, _ = draw(credence, tmp_path, "--draws", "4", "--range", "-2,9", "--interval", "0.5")
    assert xml.tostring(root) == xml.tostring(again)  # the seed is the model's


def test_components(credence, tmp_path, waves):
    kernel = "2*rbf(t; l=3) + periodic(t; p=1.5) + linear(z) + rbf(t, z)"
    assert credence("fit", "gp", waves, *GP, "--kernel", kernel, "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path, "--kind", "components")
    for part in ("2*rbf(t; l=3)", "1*periodic(t; l=1, p=1.5)", "1*linear(z"):
        assert any(part in w for w in words(root)), part
        assert part in text
    assert "Not shown: 1 part of several columns, or for lack of space." in words(root)


@pytest.fixture
def mixed(tmp_path):
    rows = "".join(f"{i / 5},{'abc'[i % 3]},{math.sin(i / 5) + i % 3}\n" for i in range(30))
    (tmp_path / "d.csv").write_text("x,z,y\n" + rows)
    return "d.csv"


def test_components_of_categories(credence, tmp_path, mixed):
    """A part of one category stands at its levels; one of numbers beside it is a curve as ever."""
    assert credence("fit", "gp", mixed, *GP, "--kernel", "rbf(x) + hamming(z)", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path, "--kind", "components")
    assert {"a", "b", "c", "x", "z", "posterior mean"} <= set(words(root))
    assert "1*rbf(x; l=1)" in text and "hamming(z" in text and "Not shown" not in text
    figure = json.loads(credence("plot", "m.cred", mixed, "--kind", "components", "--json").stdout)
    parts = figure["parts"]
    curve, levels = ({s["name"]: s for s in p["series"]} for p in parts)
    assert [p["x_title"] for p in parts] == ["x", "z"] and levels["posterior mean"]["x"] == ["a", "b", "c"]
    assert levels["posterior mean"]["form"] == "points" and levels["95 % interval"]["form"] == "bars"
    at = curve["posterior mean"]["x"]
    (tmp_path / "n.csv").write_text("x,z\n" + "".join(f"{at[0]!r},{z}\n" for z in "abc"))
    whole = json.loads(credence("predict", "m.cred", "n.csv", "--json").stdout)["predictions"]
    for row, level in zip(whole, levels["posterior mean"]["y"]):
        assert curve["posterior mean"]["y"][0] + level + figure["constant"] == pytest.approx(row["mean"], abs=1e-9)


def test_components_of_many_levels(credence, tmp_path, refused):
    (tmp_path / "d.csv").write_text("z,y\n" + "".join(f"l{i % 40},{i % 7}\n" for i in range(80)))
    assert credence("fit", "gp", "d.csv", *GP, "--kernel", "hamming(z)", "-o", "m.cred").code == 0
    refused(2, "plot", "m.cred", "d.csv", "--kind", "components", says="of at most 30 levels")


def test_map_and_evidence(credence, tmp_path, waves, refused):
    assert credence("fit", "gp", waves, *GP, "--kernel", "rbf", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path, "--kind", "map")
    assert "mean of y" in words(root) and "standard deviation of a new row" in text
    root, text = draw(credence, tmp_path, "--kind", "evidence", "--parameters", "noise,rbf.l")
    assert "gp: log evidence over noise and rbf.l" in words(root) and "X learned" in text
    refused(2, "plot", "m.cred", waves, "--kind", "evidence", "--parameters", "noise,rbf.k", says="did you mean 'rbf.l'")


def test_maps_as_numbers(credence, tmp_path, waves):
    assert credence("fit", "gp", waves, *GP, "--kernel", "rbf", "-o", "m.cred").code == 0
    plane = json.loads(credence("plot", "m.cred", waves, "--kind", "map", "--json").stdout)
    assert [m["name"] for m in plane["maps"]] == ["mean of y", "standard deviation of a new row"]
    assert len(plane["points"]["x"]) == 30 and (plane["x_title"], plane["y_title"]) == ("t", "z")
    (tmp_path / "n.csv").write_text(f"t,z\n{plane['x'][5]!r},{plane['y'][40]!r}\n")
    row = json.loads(credence("predict", "m.cred", "n.csv", "--json").stdout)["predictions"][0]
    assert [m["z"][40][5] for m in plane["maps"]] == pytest.approx([row["mean"], row["sd"]])
    plane = json.loads(credence("plot", "m.cred", waves, "--kind", "evidence", "--json").stdout)
    assert plane["mark"] == {"name": "learned", "x": pytest.approx(1), "y": pytest.approx(0.1)}
    best, same = plane["maps"][0]["z"], json.loads(credence("describe", "m.cred", "--json").stdout)
    x, y = plane["x"][3], plane["y"][20]
    assert credence("fit", "gp", waves, "--target", "y", "--optimize", "none", "--noise", repr(y),
                    "--kernel", f"rbf(l={x!r})", "-o", "o.cred").code == 0
    other = json.loads(credence("describe", "o.cred", "--json").stdout)
    assert best[20][3] == pytest.approx(other["log_evidence"] - same["log_evidence"], rel=1e-6)


def test_only_models_that_have_them(credence, waves, refused):
    assert credence("fit", "ridge", waves, "--target", "y", "-o", "m.cred").code == 0
    for kind, says in (("components", "not a sum of parts"), ("evidence", "no evidence")):
        refused(2, "plot", "m.cred", waves, "--kind", kind, says=says)
    refused(2, "plot", "m.cred", waves, "--draws", "3", says="one numeric column")
    assert "predicted = observed" in credence("plot", "m.cred", waves).stdout


def points(credence, *args):
    done = credence("plot", "m.cred", *args, "--json")
    assert done.code == 0, done.stderr
    return {s["name"]: s for s in json.loads(done.stdout)["series"]}


def test_the_points_of_a_figure(credence, examples, refused, tmp_path):
    data = "examples/diabetes.csv"
    assert credence("fit", "logistic", data, "--target", "sex", "-o", "m.cred").code == 0
    scores = json.loads(credence("evaluate", "m.cred", data, "--json").stdout)["metrics"]
    roc = points(credence, data, "--kind", "roc")[f"2: AUC {scores['auc']:.3f}"]
    area = sum((b - a) * (y + z) / 2 for a, b, y, z in zip(roc["x"], roc["x"][1:], roc["y"], roc["y"][1:]))
    assert roc["form"] == "line" and area == pytest.approx(scores["auc"])
    bins = points(credence, data, "--kind", "calibration")
    bars, dots = bins["95 % interval"], bins["came true"]
    assert all(a <= y <= b for a, y, b in zip(bars["lower"], dots["y"], bars["upper"])) and bars["x"] == dots["x"]
    assert credence("plot", "m.cred", data, "--kind", "pr", "--json", "-o", "p.json").code == 0
    assert json.loads((tmp_path / "p.json").read_text())["kind"] == "pr"
    refused(2, "plot", "m.cred", data, "--kind", "pr", "--json", "-o", "p.svg", says="-o points.json")
    refused(2, "plot", "m.cred", data, "--kind", "pr", "-o", "q.json", says="--json -o q.json writes the points")
    refused(2, "plot", "examples/networks/burglary.bif", "--json", says="credence query")
    assert credence("fit", "ridge", data, "--target", "progression", "-o", "m.cred").code == 0
    left = points(credence, data, "--kind", "residuals")["residual"]
    mse = sum(y * y for y in left["y"]) / len(left["y"])
    scores = json.loads(credence("evaluate", "m.cred", data, "--json").stdout)["metrics"]
    assert len(left["y"]) == 442 and mse ** 0.5 == pytest.approx(scores["rmse"])


def test_a_process_by_conjugate_gradients(credence, examples):
    """It has functions and parts to draw, by its root; no evidence over two parameters, and says so."""
    assert credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--solver", "cg", "--optimize", "none",
                    "-o", "m.cred").code == 0
    for option in (["--draws", "3"], ["--kind", "components"]):
        assert credence("plot", "m.cred", "examples/mcycle.csv", *option, "-o", "f.svg").code == 0
    refused = credence("plot", "m.cred", "examples/mcycle.csv", "--kind", "evidence", "-o", "f.svg")
    assert refused.code not in (0, -11) and "--solver cholesky" in refused.stderr


def test_no_figure_under_strict(credence, refused, examples):
    """What a figure warns of, its fits too, is known before the file is there."""
    data = "examples/iris.csv"
    assert credence("fit", "logistic", data, "--target", "species", "-o", "m.cred").code == 0
    assert credence("plot", "m.cred", data, "--kind", "learning-curve", "-o", "f.svg").stderr.count("warning") > 0
    refused(4, "plot", "m.cred", data, "--kind", "learning-curve", "-o", "g.svg", "--strict", says="separated")
    assert credence("plot", "m.cred", data, "--kind", "roc", "-o", "g.svg", "--strict").code == 0


def test_coordinates_of_rows(credence, tmp_path, waves):
    assert credence("fit", "kernel-pca", waves, "--components", "3", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path)
    assert "kernel-pca: the first two of 3 coordinates (30 rows)" in words(root) and "z2" in text
    points = json.loads(credence("plot", "m.cred", "d.csv", "--json").stdout)["series"][0]
    rows = [line.split(",") for line in credence("predict", "m.cred", "d.csv").stdout.split()[1:]]
    assert points["x"] == [float(row[0]) for row in rows] and points["y"] == [float(row[1]) for row in rows]
    assert credence("fit", "kernel-pca", waves, "--components", "1", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path)
    assert "kernel-pca: its coordinate (30 rows)" in words(root)


@pytest.mark.parametrize("likelihood", ["logit", "probit"])
def test_probabilities_over_one_column(credence, refused, tmp_path, likelihood):
    (tmp_path / "d.csv").write_text("x,c\n" + "".join(f"{i / 10},{'ab'[i + i * 7 % 5 > 22]}\n" for i in range(40)))
    fit = ["--target", "c", "--likelihood", likelihood, "--optimize", "none", "--kernel", "3*rbf", "-o", "m.cred"]
    assert credence("fit", "gp-classify", "d.csv", *fit).code == 0
    root, text = draw(credence, tmp_path, "--interval", "0.8", "--range", "0,5")
    assert {"P(b)", "80 % interval of the probability", "observed: b above, a below"} <= set(words(root))
    assert "gp-classify: probabilities of c over x (40 rows)" in text
    series = {s["name"]: s for s in json.loads(credence("plot", "m.cred", "d.csv", "--interval", "0.8", "--range", "0,5",
                                                        "--json").stdout)["series"]}
    curve, band = series["P(b)"], series["80 % interval of the probability"]
    (tmp_path / "g.csv").write_text("x\n" + "".join(f"{x!r}\n" for x in curve["x"]))
    rows = [line.split(",") for line in credence("predict", "m.cred", "g.csv").stdout.split()[1:]]
    latent = [line.split(",") for line in credence("predict", "m.cred", "g.csv", "--coordinates").stdout.split()[1:]]
    normal = statistics.NormalDist()
    link = normal.cdf if likelihood == "probit" else lambda f: 1 / (1 + math.exp(-f))
    z = normal.inv_cdf(0.9)
    for i, (row, f) in enumerate(zip(rows, latent)):
        mean, sd = float(f[0]), float(f[1])
        assert math.isclose(curve["y"][i], float(row[-1]), rel_tol=1e-12)
        assert math.isclose(band["lower"][i], link(mean - z * sd), rel_tol=1e-7)
        assert math.isclose(band["upper"][i], link(mean + z * sd), rel_tol=1e-7)
    assert series["observed: b above, a below"]["y"].count(1) == sum(i + i * 7 % 5 > 22 for i in range(40))


def test_probabilities_of_other_classifiers(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,z,c\n" + "".join(f"{i / 10},{i % 3},{'abc'[i * 3 // 41]}\n" for i in range(40)))
    assert credence("fit", "logistic", "d.csv", "--target", "c", "--features", "x", "-o", "m.cred").code == 0
    root, _ = draw(credence, tmp_path)
    assert {"P(a)", "P(b)", "P(c)"} <= set(words(root))
    assert credence("fit", "logistic", "d.csv", "--target", "c", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path)
    assert "logistic: ROC curve of c (40 rows)" in words(root) and "AUC" in text
    refused(2, "plot", "m.cred", "d.csv", "--over", "x,z", says="drawn over one column")


@pytest.mark.parametrize("approx", ["laplace", "svgp"])
def test_the_evidence_of_a_classifier(credence, tmp_path, approx):
    """That of fits at the same values."""
    rows = "".join(f"{i / 5},{'ab'[math.sin(i) > 0.3 * (i % 4)]}\n" for i in range(30))
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    fit = ["fit", "gp-classify", "d.csv", "--target", "y", "--approx", approx, "--inducing", "12", "--optimize", "none"]
    assert credence(*fit, "--kernel", "2*rbf(l=1)", "-o", "m.cred").code == 0
    root, text = draw(credence, tmp_path, "--kind", "evidence")
    assert "gp-classify: log evidence over rbf.l and rbf.variance" in words(root) and "X learned" in text
    plane = json.loads(credence("plot", "m.cred", "d.csv", "--kind", "evidence", "--json").stdout)
    l, variance = plane["x"][3], plane["y"][20]
    assert credence(*fit, "--kernel", f"{variance!r}*rbf(l={l!r})", "-o", "o.cred").code == 0
    here, there = (json.loads(credence("describe", f, "--json").stdout)["log_evidence"] for f in ("m.cred", "o.cred"))
    assert plane["maps"][0]["z"][20][3] == pytest.approx(there - here, abs=1e-5)


IRIS = ["examples/iris.csv", "--features", "*_cm"]


def test_clusters(credence, refused, examples, tmp_path):
    """Without --kind rows by cluster, and without data what chose their number."""
    assert credence("fit", "gmm", *IRIS, "--k", "1:3", "--restarts", "2", "-o", "m.cred").code == 0
    plot = ["plot", "m.cred", "examples/iris.csv"]
    known = json.loads(credence("describe", "m.cred", "--json").stdout)
    series = {s["name"]: s for s in json.loads(credence(*plot, "--json").stdout)["series"]}
    k = known["statistics"]["components"]
    assert sum(len(series[f"cluster {i + 1}"]["x"]) for i in range(k)) == 150 and len(series["centres"]["x"]) == k
    over = json.loads(credence(*plot, "--over", "petal_width_cm,sepal_length_cm", "--json").stdout)
    assert (over["x_title"], over["y_title"]) == ("petal_width_cm", "sepal_length_cm")
    chosen = json.loads(credence("plot", "m.cred", "--json").stdout)
    line = chosen["series"][0]
    assert chosen["y_title"] == "BIC (lower is better)" and line["x"] == [1, 2, 3]
    assert line["y"] == [c["bic"] for c in known["candidates"]]
    for kind in ("components", "responsibilities", "criterion"):
        assert credence(*plot, "--kind", kind, "-o", "f.svg").code == 0
        assert len(words(xml.parse(tmp_path / "f.svg").getroot())) > 5
        assert credence(*plot, "--kind", kind).stdout.startswith("gmm: ")
    refused(2, *plot, "--kind", "components", "--over", "petal_width_cm,sepal_length_cm", says="without --over")
    refused(2, *plot, "--range", "0,1", says="not for figures of clusters")
    refused(2, *plot, "--kind", "scree", says="no coordinates")
    (tmp_path / "d.csv").write_text("a,b\n1,2\n")
    refused(3, "plot", "m.cred", "d.csv", says="'sepal_length_cm' not found in d.csv")


def test_linear_coordinates(credence, refused, examples, tmp_path):
    """Without --kind a biplot, and without data the eigenvalues; loadings are a table, too."""
    assert credence("fit", "pca", *IRIS, "--components", "2", "-o", "m.cred").code == 0
    known = json.loads(credence("describe", "m.cred", "--json").stdout)
    biplot = json.loads(credence("plot", "m.cred", "examples/iris.csv", "--json").stdout)
    assert [s["form"] for s in biplot["series"]] == ["points"] + 4 * ["arrows"] and biplot["kind"] == "fit"
    scree = json.loads(credence("plot", "m.cred", "--json").stdout)["series"][0]
    assert scree["y"] == [known["statistics"][f"eigenvalue(z{j})"] for j in (1, 2)]
    parts = json.loads(credence("plot", "m.cred", "--kind", "loadings", "--json").stdout)["parts"]
    values = [y for part in parts for y in part["series"][1]["y"]]
    assert values == [p["value"] for p in known["parameters"]]
    table = credence("plot", "m.cred", "--kind", "loadings", "--format", "csv").stdout.split("\n")
    assert table[0].startswith("part,series,x") and "sepal_width_cm" in table[2]
    refused(2, "plot", "m.cred", "--kind", "biplot", says="needs data")
    refused(2, "plot", "m.cred", "--kind", "scree", "--over", "x", says="--over is for")


def test_captions_are_wrapped(credence, examples, tmp_path):
    """What stands below a figure is there to its last word, within its edges."""
    assert credence("fit", "lda", "examples/iris.csv", "--target", "species", "-o", "m.cred").code == 0
    ends = {"calibration": r"weighted by rows: [0-9.]+\.", "pr": "mean over the recall.", "importance": "their importance."}
    for kind, end in ends.items():
        assert credence("plot", "m.cred", "examples/iris.csv", "--kind", kind, "-o", "f.svg").code == 0
        svg = (tmp_path / "f.svg").read_text()
        lines = re.findall(r"<text x='20' y='([0-9.]+)'[^>]*>([^<]*)</text>", svg)
        below = [text for y, text in lines if float(y) > 100]
        height = float(re.search(r"height='([0-9.]+)'", svg)[1])
        assert "…" not in svg and re.search(end + "$", " ".join(below)), below
        assert len(below) >= 2 and all(float(y) < height for y, _ in lines)
        assert max(map(len, below)) < 110, below


def seasons(credence, data):
    figure = json.loads(credence("plot", "m.cred", data, "--kind", "seasons", "--json").stdout)
    return figure, {s["name"]: s for s in figure["series"]}


def test_seasons_of_months(credence, tmp_path, examples):
    """The curves of carbon dioxide are the part of the model, month by month, each about its place, with its mean."""
    fit = ["--target", "co2_ppm", "--time", "year", "--components", "trend,seasonal:12"]
    assert credence("fit", "kalman", "examples/co2.csv", *fit, "-o", "m.cred").code == 0
    figure, series = seasons(credence, "examples/co2.csv")
    rows = json.loads(credence("predict", "m.cred", "examples/co2.csv", "--smoothed", "--parts", "--json").stdout)["predictions"]
    part = [row["parts"]["seasonal"] for row in rows]
    curve, mean, band = (series[name] for name in ("given all rows", "mean of a season", "95 % interval"))
    assert figure["x_title"] == "month" and len(curve["y"]) == len(part) + 12
    at = 0
    for month in range(12):
        own = part[month::12]
        assert curve["y"][at:at + len(own)] == pytest.approx(own, abs=1e-9)
        assert curve["x"][at] == pytest.approx(month + 0.6) and curve["x"][at + len(own) - 1] == pytest.approx(month + 1.4)
        assert curve["y"][at + len(own)] is None and band["lower"][at] < own[0] < band["upper"][at]
        assert mean["y"][3 * month:3 * month + 3] == [pytest.approx(sum(own) / len(own), abs=1e-9)] * 2 + [None]
        at += len(own) + 1
    shutil.copy(tmp_path / "examples/co2.csv", tmp_path / "d.csv")
    root, text = draw(credence, tmp_path, "--kind", "seasons")
    assert {"Jan", "Dec", "Each curve is one month over the years, given all rows."} <= set(words(root))
    assert "Jan  Feb" in text and not any(line.endswith(" ") for line in text.splitlines())


def test_seasons_of_dates(credence, tmp_path):
    """From March on, with a gap: each row stands in its month; seasons of another number have numbers."""
    lines = [f"{2000 + m // 12}-{m % 12 + 1:02d}-15,{(m % 12 == 6) * 5 + (m * 7 % 11) / 10}" for m in range(2, 62) if m != 20]
    (tmp_path / "d.csv").write_text("day,y\n" + "\n".join(lines) + "\n")
    fit = ["--target", "y", "--time", "day"]
    assert credence("fit", "kalman", "d.csv", *fit, "--steps", "time", "--components", "level,seasonal:12", "-o", "m.cred").code == 0
    figure, series = seasons(credence, "d.csv")
    mean = series["mean of a season"]
    assert max(range(12), key=lambda month: mean["y"][3 * month]) == 6  # July
    count = [sum(abs(x - month) <= 0.4 + 1e-9 for x, y in zip(*(series["given all rows"][c] for c in "xy")) if y is not None)
             for month in range(1, 13)]
    assert count == [5, 5, 5, 5, 5, 5, 5, 5, 4, 5, 5, 5] and "month" in figure["x_title"]
    assert credence("fit", "kalman", "d.csv", *fit, "--steps", "rows", "--components", "level,seasonal:12", "-o", "m.cred").code == 0
    assert seasons(credence, "d.csv")[0]["x_title"].startswith("season")  # the gap moves the months
    assert credence("fit", "kalman", "d.csv", *fit, "--components", "level,seasonal:4", "-o", "m.cred").code == 0
    figure, series = seasons(credence, "d.csv")
    assert figure["title"] == "kalman: the 4 seasons of y" and len(series["mean of a season"]["y"]) == 12
    root, _ = draw(credence, tmp_path, "--kind", "seasons")
    assert "Jan" not in words(root)


def test_seasons_refused(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},{i % 4}\n" for i in range(20)))
    assert credence("fit", "kalman", "d.csv", "--target", "y", "-o", "m.cred").code == 0
    refused(2, "plot", "m.cred", "d.csv", "--kind", "seasons", says="has no seasonal part")
    refused(2, "plot", "m.cred", "--kind", "seasons", says="needs")
    assert credence("fit", "linear", "d.csv", "--target", "y", "-o", "m.cred").code == 0
    refused(2, "plot", "m.cred", "d.csv", "--kind", "seasons", says="has no seasonal part")
    (tmp_path / "one.csv").write_text("y\n1\n")
    (tmp_path / "y.csv").write_text("y\n" + "".join(f"{i % 4 + (i * 7 % 5) / 10}\n" for i in range(20)))
    assert credence("fit", "kalman", "y.csv", "--target", "y", "--components", "level,seasonal:4", "-o", "m.cred").code == 0
    assert credence("plot", "m.cred", "one.csv", "--kind", "seasons").code == 0
