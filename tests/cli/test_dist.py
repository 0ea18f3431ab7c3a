"""credence dist: the distribution calculator on the command line."""
import json
import math
import pathlib
import statistics

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ask(credence, *args):
    result = credence("dist", *args, "--json")
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def names(credence):
    return [d["name"] for d in ask(credence)["distributions"]]


def example(credence, name):
    """The example parameters that the page of a distribution shows."""
    return [p["example"] for p in ask(credence, name)["parameters"]]


def test_beta(credence):
    got = ask(credence, "beta", 12, 3, "--mean", "--sd", "--cdf", "0.8", "--quantile", "0.025,0.975",
              "--sample", 5)
    assert got["schema"] == "credence.dist/1"
    assert got["distribution"] == "beta" and got["parameters"] == {"a": 12, "b": 3}
    assert got["mean"] == pytest.approx(0.8, rel=1e-15)
    assert got["sd"] == pytest.approx(0.1, rel=1e-14)
    # 1 - I_0.2(3, 12) by the binomial sum
    below = sum(math.comb(14, k) * 0.8**k * 0.2**(14 - k) for k in range(12, 15))
    assert got["cdf"] == [pytest.approx(below, rel=1e-13)]
    assert len(got["quantile"]) == 2 and got["quantile"][0] < 0.8 < got["quantile"][1]
    assert len(got["sample"]) == 5 and all(0 < x < 1 for x in got["sample"])
    assert got["seed"] == 0


def test_every_quantity_once(credence):
    got = ask(credence, "gamma", 2, 3, "--mean", "--variance", "--sd", "--mode", "--entropy", "--pdf", "1,2",
              "--logpdf", "1", "--cdf", "1", "--sf", "1", "--logcdf", "1", "--logsf", "1", "--quantile", "0.5",
              "--interval", "0.9", "--hdi", "0.9", "--natural", "--kl", "2,4", "--sample", "2", "--plot")
    assert got["mean"] == pytest.approx(2 / 3) and got["variance"] == pytest.approx(2 / 9)
    assert got["mode"] == pytest.approx(1 / 3)
    assert got["pdf"] == pytest.approx([9 * x * math.exp(-3 * x) for x in (1, 2)])
    assert got["cdf"][0] == pytest.approx(1 - 4 * math.exp(-3))
    assert got["sf"][0] == pytest.approx(4 * math.exp(-3), rel=1e-14)
    assert got["logsf"][0] == pytest.approx(math.log(4) - 3)
    assert got["kl"] == pytest.approx(2 * (1 / 3 - math.log(4 / 3)))
    assert got["hdi"][1] - got["hdi"][0] < got["interval"][1] - got["interval"][0]
    assert got["natural"]["parameters"] == [1, -3] and got["natural"]["statistics"] == ["log x", "x"]
    assert len(got["plot"]["x"]) == len(got["plot"]["density"]) == 60


def test_same_seed_same_draws(credence):
    first = ask(credence, "normal", 0, 1, "--sample", 4, "--seed", 7)
    assert first == ask(credence, "normal", 0, 1, "--sample", 4, "--seed", 7)
    assert first["sample"] != ask(credence, "normal", 0, 1, "--sample", 4, "--seed", 8)["sample"]


def test_list_and_pages(credence):
    assert len(names(credence)) >= 36
    text = credence("dist", "--format", "text").stdout
    for name in names(credence):
        assert f" {name} " in text
        page = credence("dist", name, "--format", "text").stdout
        assert page.startswith(f"{name} - ") and "Parameters:" in page and "Reference:" in page


def test_the_manual_lists_all(credence):
    page = (ROOT / "docs/distributions.md").read_text()
    for found in json.loads(credence("dist", "--json").stdout)["distributions"]:
        about = json.loads(credence("dist", found["name"], "--json").stdout)
        parameters = ", ".join(f"`{p['name']}` ({p['domain']})" for p in about["parameters"])
        formula = about["formula"].splitlines()[0].replace("|", "\\|")
        assert f"| `{found['name']}` | {parameters} | {formula} |\n" in page


def test_every_page_example_runs(credence):
    for name in names(credence):
        got = ask(credence, name, *example(credence, name), "--sample", 2)
        assert len(got["sample"]) == 2
        summary = ask(credence, name, *example(credence, name))
        assert set(summary) > {"distribution", "parameters"}
        assert len(summary) >= 5, name


def test_formats(credence):
    assert credence("dist", "exponential", 2, "--mean", "--cdf", "1", "--format", "csv").stdout == \
        f"quantity,at,value\nmean,,0.5\ncdf,1,{1 - math.exp(-2)!r}\n"
    assert "exponential(2)" in credence("dist", "exponential", 2, "--mean", "--format", "text").stdout


def test_named_and_negative_parameters(credence):
    assert ask(credence, "normal", -1.5, 2, "--mean")["mean"] == -1.5
    assert ask(credence, "normal", "sd=2", "mean=-1.5", "--mean", "--sd") == \
        ask(credence, "normal", "-1.5", "2", "--mean", "--sd")
    assert ask(credence, "normal", 0, 1, "--cdf", "-1")["cdf"][0] == pytest.approx(0.15865525393145705)


@pytest.mark.parametrize("short,full", [
    (["normal"], ["normal", 0, 1]), (["normal", "sd=3"], ["normal", 0, 3]), (["student-t", 3], ["student-t", 3, 0, 1]),
    (["cauchy"], ["cauchy", 0, 1]), (["uniform"], ["uniform", 0, 1]), (["logistic", 2], ["logistic", 2, 1]),
])
def test_standard_location_and_scale(credence, short, full):
    assert ask(credence, *short, "--quantile", "0.975") == ask(credence, *full, "--quantile", "0.975")


def test_vectors(credence):
    got = ask(credence, "dirichlet", 2, 3, 5, "--mean", "--logpdf", "0.2,0.3,0.5", "--sample", 3)
    assert got["mean"] == pytest.approx([0.2, 0.3, 0.5])
    assert got == ask(credence, "dirichlet", "2,3,5", "--mean", "--logpdf", "0.2,0.3,0.5", "--sample", 3)
    assert [sum(x) for x in got["sample"]] == pytest.approx([1, 1, 1])
    mvn = ask(credence, "mvn", "0,1", "2,0.6;0.6,1", "--logpdf", "0,1;1,1", "--variance", "--entropy")
    assert mvn["variance"] == [2, 1]
    assert mvn["logpdf"][0] == pytest.approx(-math.log(2 * math.pi) - 0.5 * math.log(1.64))
    assert mvn["parameters"] == {"mean": [0, 1], "covariance": [2, 0.6, 0.6, 1]}


def test_infinite_values(credence):
    got = ask(credence, "student-t", 1.5, 0, 1, "--variance", "--quantile", "0,1")
    assert got["variance"] is None and got["quantile"] == [None, None]
    assert ask(credence, "uniform", 0, 1, "--logpdf", "2")["logpdf"] == [None]
    table = credence("dist", "student-t", 1.5, 0, 1, "--variance", "--quantile", "0,1", "--format", "csv").stdout
    assert table == "quantity,at,value\nvariance,,inf\nquantile,0,-inf\nquantile,1,inf\n"


def test_fit(credence, tmp_path):
    drawn = credence("dist", "gamma", 2, 3, "--sample", 3000, "--seed", 5)  # one column in a pipe
    assert drawn.stdout.startswith("x\n")
    (tmp_path / "x.csv").write_text(drawn.stdout)
    got = ask(credence, "gamma", "--fit", "x.csv", "--mean")
    assert got["parameters"]["shape"] == pytest.approx(2, rel=0.1)
    values = [float(line) for line in drawn.stdout.split()[1:]]
    assert got["mean"] == pytest.approx(statistics.fmean(values), rel=1e-12)
    assert got["rows"] == 3000 and got["log_likelihood"] < 0
    (tmp_path / "y.csv").write_text("a,b\n1,3\n2,4\n,5\n4,9\n")
    fitted = credence("dist", "normal", "--fit", "y.csv:a", "--json")
    assert json.loads(fitted.stdout)["parameters"]["mean"] == pytest.approx(7 / 3)
    assert "1 missing" in fitted.stderr
    assert ask(credence, "binomial", 10, "--fit", "y.csv:b")["parameters"]["p"] == pytest.approx(0.525)
    assert ask(credence, "categorical", "--fit", "y.csv:a")["parameters"]["p"][1] == pytest.approx(1 / 3)


def test_fit_vectors(credence, tmp_path):
    rows = [[1, 2, 4], [2, 1, 3], [4, 4, 1], [3, 6, 2], [7, 5, 9]]
    (tmp_path / "p.csv").write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    got = ask(credence, "mvn", "--fit", "p.csv", "--mean")
    mean = [statistics.fmean(column) for column in zip(*rows)]
    assert got["mean"] == got["parameters"]["mean"] == pytest.approx(mean)
    covariance = [statistics.fmean((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows)
                  for i in range(3) for j in range(3)]
    assert got["parameters"]["covariance"] == pytest.approx(covariance)
    points = ",".join(str(x) for row in rows for x in row)
    logpdf = ask(credence, "mvn", ",".join(map(repr, got["mean"])), ",".join(map(repr, covariance)),
                 "--logpdf", points)["logpdf"]
    assert got["rows"] == 5 and got["log_likelihood"] == pytest.approx(sum(logpdf), rel=1e-12)
    two = ask(credence, "mvn", "--fit", "p.csv:c,a")["parameters"]
    assert two["mean"] == pytest.approx([mean[2], mean[0]])
    text = credence("dist", "mvn", "--fit", "p.csv:a,b", "--mode", "--format", "csv").stdout
    assert "parameter,mean 2,3.6\n" in text and 'parameter,"covariance 1,2",' in text


def test_fit_vectors_of_every_kind(credence, tmp_path):
    """Drawn with known parameters, read back from a file, and found again."""
    for name, given in [("dirichlet", []), ("multinomial", [10]), ("wishart", []), ("inverse-wishart", []),
                        ("normal-inverse-gamma", []), ("normal-inverse-wishart", []), ("mvn-information", [])]:
        drawn = ask(credence, name, *example(credence, name), "--sample", 4000)
        width = len(drawn["sample"][0])
        (tmp_path / "x.csv").write_text("\n".join([",".join(f"x{i}" for i in range(width))] +
                                                  [",".join(map(repr, x)) for x in drawn["sample"]]) + "\n")
        fitted = ask(credence, name, *given, "--fit", "x.csv", "--natural")
        for key, value in drawn["parameters"].items():
            assert fitted["parameters"][key] == pytest.approx(value, rel=0.2, abs=0.1), (name, key)
        assert len(fitted["natural"]["parameters"]) == len(set(fitted["natural"]["statistics"])) > 1


def test_natural_of_vectors(credence):
    got = ask(credence, "mvn", "1,2", "2,0.5;0.5,1", "--natural")["natural"]
    assert got["statistics"] == ["x[1]", "x[2]", "x[1]^2", "x[1] x[2]", "x[2]^2"]
    assert got["mean_statistics"] == pytest.approx([1, 2, 3, 2.5, 5])
    assert got["parameters"] == pytest.approx([0, 2, -0.5 / 1.75, 0.5 / 1.75, -1 / 1.75])
    assert ask(credence, "categorical", 0.2, 0.3, 0.5, "--natural")["natural"]["statistics"] == \
        ["[x = 1]", "[x = 2]"]


def test_divergences_that_are_integrals(credence):
    cauchy = math.log((3**2 + 4**2) / (4 * 1 * 2))  # of student-t with one degree of freedom
    assert ask(credence, "student-t", 1, 0, 1, "--kl", "1,4,2")["kl"] == pytest.approx(cauchy, rel=1e-10)
    assert ask(credence, "mvt", 1, 0, 1, "--kl", "1,4,4")["kl"] == pytest.approx(cauchy, rel=1e-10)
    assert ask(credence, "logistic", 0, 1, "--kl", "3,1")["kl"] == \
        pytest.approx(3 / math.tanh(1.5) - 2, rel=1e-10)


@pytest.mark.parametrize("args, code, says", [
    (["bata", 1, 2], 2, "did you mean 'beta'"),
    (["beta", 1], 2, "b is missing"),
    (["beta", 1, 2, 3], 2, "'3' is one parameter too many"),
    (["beta", 1, "x"], 2, "'x' is not a number"),
    (["beta", "c=1", 2], 2, "no parameter 'c'"),
    (["beta", "a=1", "a=2"], 2, "a is given twice"),
    (["beta", -1, 2, "--mean"], 2, "a is -1, but must be >0"),
    (["beta", "nan", 2, "--mean"], 2, "a is nan, but must be >0"),
    (["binomial", 2.5, 0.1, "--mean"], 2, "trials is 2.5, but must be whole"),
    (["beta", 1, 2, "--quantile", 1.5], 2, "the probability is 1.5"),
    (["beta", 1, 2, "--cdf", "a"], 2, "--cdf: 'a' is not a number"),
    (["beta", 1, 2, "--interval", 1], 2, "--interval"),
    (["beta", 1, 2, "--kl", "1"], 2, "needs all 2 parameters of the other beta"),
    (["cauchy", 0, 1, "--mean"], 2, "cauchy does not offer its mean"),
    (["student-t", 1, 0, 1, "--mean"], 4, "the mean does not exist"),
    (["mvn", "0,0", "1,2,2,1", "--mean"], 2, "not positive definite"),
    (["dirichlet", 1, 2, "--cdf", "0.5"], 2, "distribution of vectors"),
    (["dirichlet", 1, 2, "--plot"], 2, "does not offer a plot"),
    (["normal", "--fit", "none.csv"], 5, "none.csv"),
    (["gamma", "--fit", "two.csv"], 2, "which one?"),
    (["gamma", "--fit", "two.csv:c"], 3, "column 'c' not found"),
    (["gamma", "--fit", "two.csv:a"], 3, "value 2 is -1, but must be >0"),
    (["gamma", "--fit", "two.csv:name"], 3, "does not contain numbers"),
    (["gamma", "--fit", "two.csv:b"], 3, "all values are 2"),
    (["mvn", "--fit", "two.csv"], 3, "column 'name' of two.csv does not contain numbers"),
    (["mvn", "--fit", "two.csv:a,b"], 3, "entry 2 of the points does not vary"),
    (["mvn", "--fit", "two.csv:a,c"], 3, "column 'c' not found"),
    (["mvn", "0,1", "--fit", "two.csv:a,b"], 2, "mean is fitted, so it cannot also be given"),
    (["wishart", "--fit", "two.csv:a,b"], 3, "a point cannot have 2 entries"),
    (["multinomial", "--fit", "two.csv:a,b"], 2, "trials is missing"),
    (["multinomial", 3, "--fit", "two.csv:a,b"], 3, "point 2 is not counts that sum to the 3 trials"),
    (["mvt", "--fit", "two.csv:a,b"], 2, "mvt does not offer a fit"),
    (["mvt", 4, "0,0", "1,0,0,1", "--natural"], 2, "mvt does not offer natural parameters"),
])
def test_errors(credence, tmp_path, args, code, says):
    (tmp_path / "two.csv").write_text("a,b,name\n1,2,x\n-1,2,y\n")
    result = credence("dist", *args)
    assert says in result.stderr and result.code == code
    assert result.stdout == ""


def test_plot(credence):
    lines = credence("dist", "normal", 0, 1, "--plot", "--format", "text").stdout.splitlines()
    bars = [line for line in lines if "│" in line or "┤" in line]
    assert len(bars) == 12 and any("█" in line for line in bars)
    assert lines[-2].strip().startswith("└") and "3.0" in lines[-1]
    assert bars[0].strip().startswith("0.398")  # near 1 / sqrt(2 pi), at the middle of a column
    assert max(len(line) for line in bars) <= 12 + 60
    assert "█" in credence("dist", "beta", 0.5, 0.5, "--plot", "--format", "text").stdout
    assert "█" in credence("dist", "bernoulli", 0.5, "--plot", "--format", "text").stdout
