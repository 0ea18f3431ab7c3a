"""Gaussian processes at the command line: bounds that are bounds, and what is said of options."""
import json

import pytest


def fit(credence, *options):
    result = credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--json", *options)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("inducing", [20, 30, 40])
def test_the_variational_bound_is_not_above_the_evidence(credence, examples, inducing):
    """Also where the inducing inputs stand so near to each other that K is singular up to rounding."""
    best = fit(credence)["log_evidence"]
    bound = fit(credence, "--approx", "vfe", "--inducing", inducing)["log_evidence"]
    assert best - 0.05 < bound < best + 1e-8 * abs(best)


def test_inducing_inputs_of_an_exact_process_are_not_passed_over(credence, examples):
    said = fit(credence, "--inducing", "20")
    assert said["statistics"]["approx"] == "exact"
    assert any("--inducing 20 does nothing" in w for w in said["warnings"])
    assert fit(credence)["warnings"] == []


def test_a_category_is_for_the_classifier(refused, examples):
    for model in ("gp", "gp-online"):
        refused(3, "fit", model, "examples/iris.csv", "--target", "species", says="gp-classify")


@pytest.mark.parametrize("options", [["--approx", "svgp", "--inducing", "20"], ["--approx", "rff"],
                                     ["--approx", "nystrom", "--inducing", "20"], ["--solver", "cg"]])
def test_functions_of_every_approximation_can_be_drawn(credence, examples, options):
    """Their mean and spread over many draws are those of the function: of the prediction less the noise."""
    model = fit(credence, "-o", "m.cred", "--kernel", "2000*rbf(l=5)", "--noise", "500", "--optimize", "none", *options)
    assert model["statistics"]["noise_sd"] == pytest.approx(500 ** 0.5)
    result = credence("plot", "m.cred", "examples/mcycle.csv", "--draws", "200", "--json")
    assert result.code == 0, result.stderr
    series = json.loads(result.stdout)["series"]
    band, mean = (next(s for s in series if word in s["name"]) for word in ("interval", "mean"))
    draws = next(s["y"] for s in series if s["name"] == "200 draws")  # with a gap between two of them
    step = len(band["x"]) + 1
    assert len(draws) in (200 * step, 200 * step - 1)
    for i in range(0, step - 1, 40):
        values = draws[i::step]
        centre = sum(values) / 200
        variance = sum((v - centre) ** 2 for v in values) / 199
        expected = ((band["upper"][i] - band["lower"][i]) / 2 / 1.959964) ** 2 - 500
        assert variance == pytest.approx(expected, rel=0.5)
        assert abs(centre - mean["y"][i]) < 5 * (expected / 200) ** 0.5


def test_maps_of_classes(credence, refused, examples, tmp_path):
    """The text of a map is darker where the probability is lower: as predict tells it in the corners."""
    lines = (examples / "iris.csv").read_text().splitlines()
    (tmp_path / "two.csv").write_text("\n".join(lines[:1] + lines[51:]) + "\n")
    for data, words in (("two.csv", ["probability of species = virginica", "entropy in bits"]),
                        ("examples/iris.csv", ["probability of the likeliest", "entropy in bits"])):
        assert credence("fit", "gp-classify", data, "--target", "species", "--features", "petal*", "-o",
                        "m.cred").code == 0
        text = credence("plot", "m.cred", data, "--kind", "map", "--format", "text").stdout
        assert all(word in text for word in words), text
        assert credence("plot", "m.cred", data, "--kind", "map", "-o", "m.svg").code == 0
        svg = (tmp_path / "m.svg").read_text()
        assert all(word in svg for word in words)
        if data == "two.csv":
            shades = "@%#*+=-:. "
            rows = [line.split("|")[1] for line in text.split("entropy")[0].splitlines() if line.count("|") == 2
                    and "rows" not in line]
            middle = len(rows) // 2
            left, right = (shades.index(rows[middle][i]) for i in (1, -2))
            ends = credence("predict", "m.cred", "-", input="petal_length_cm,petal_width_cm\n2.9,1.75\n7,1.75\n").stdout
            p = [float(line.split(",")[2]) for line in ends.splitlines()[1:]]
            assert abs(left - 10 * p[0]) < 1.5 and abs(right - 10 * p[1]) < 1.5
    assert credence("fit", "normal", "two.csv", "--features", "petal_length_cm,petal_width_cm", "-o", "n.cred").code == 0
    refused(2, "plot", "n.cred", "two.csv", "--kind", "map", "-o", "x.svg", says="neither a number nor a class")
