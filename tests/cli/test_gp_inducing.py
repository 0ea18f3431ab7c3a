"""Inducing inputs that are given or told, what a process holds of them, and the gradient of the evidence."""
import csv
import io
import json
import math

import pytest

GIVEN = [4, 13, 17.5, 22, 29, 41, 55]
KERNEL, NOISE = "1800*rbf(l=6)", "450"


@pytest.fixture
def inputs(tmp_path):
    """A file of inducing inputs, and others that do not belong to it."""
    path = tmp_path / "z.csv"
    path.write_text("note,times\n" + "".join(f"n{i},{z}\n" for i, z in enumerate(GIVEN)))
    return path


def fit(credence, *options, data="examples/mcycle.csv", target="accel"):
    result = credence("fit", "gp", data, "--target", target, "--json", *options)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def told(credence, *options):
    result = credence("describe", "m.cred", "--inducing", "--json", *options)
    assert result.code == 0, result.stderr
    said = json.loads(result.stdout)
    return said["inducing"], said["inducing_covariance"]


def close(a, b, tolerance):
    assert math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance), (a, b)


# --- dense formulas ---------------------------------------------------------------------------------

def solve(A, B):
    """A^-1 B by elimination with pivots."""
    n, M = len(A), [row[:] + extra[:] for row, extra in zip(A, B)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(M[i][k]))
        M[k], M[p] = M[p], M[k]
        for i in range(n):
            if i != k:
                f = M[i][k] / M[k][k]
                M[i] = [a - f * b for a, b in zip(M[i], M[k])]
    return [[x / M[i][i] for x in M[i][n:]] for i in range(n)]


def times(A, B):
    columns = list(zip(*B))
    return [[sum(a * b for a, b in zip(row, c)) for c in columns] for row in A]


def flip(A):
    return [list(row) for row in zip(*A)]


def rbf(a, b):
    return [[1800 * math.exp(-(x - y) ** 2 / 72) for y in b] for x in a]


def dense(Z, x, y, approx, constant):
    """Mean and covariance of the function at Z by Gauss's rules, all rows by themselves, nothing merged: u and
    the rows have covariances K_uu, K_uf and Q + D; a constant of flat prior is at its posterior."""
    Kuu, Kuf = rbf(Z, Z), rbf(Z, x)
    Q = times(flip(Kuf), solve(Kuu, Kuf))
    C = [[Q[i][j] + ((450 + (1800 - Q[i][i] if approx == "fitc" else 0)) if i == j else 0)
          for j in range(len(x))] for i in range(len(x))]
    right = [[v, 1.0] + [Kuf[k][i] for k in range(len(Z))] for i, v in enumerate(y)]
    S = solve(C, right)                                   # C^-1 y, C^-1 1, C^-1 K_fu
    A = sum(row[1] for row in S)
    b = sum(row[0] for row in S) / A if constant else 0
    mean = [b + sum(Kuf[k][i] * (S[i][0] - b * S[i][1]) for i in range(len(x))) for k in range(len(Z))]
    R = [1 - sum(Kuf[k][i] * S[i][1] for i in range(len(x))) for k in range(len(Z))]
    cov = [[Kuu[k][l] - sum(Kuf[k][i] * S[i][2 + l] for i in range(len(x)))
            + (R[k] * R[l] / A if constant else 0) for l in range(len(Z))] for k in range(len(Z))]
    return mean, cov


@pytest.mark.parametrize("approx", ["vfe", "dtc", "sor", "fitc", "svgp"])
@pytest.mark.parametrize("mean", ["zero", "constant"])
def test_what_is_held_of_the_inducing_values(credence, examples, inputs, approx, mean):
    fit(credence, "--approx", approx, "--inducing-inputs", "z.csv", "--kernel", KERNEL, "--noise", NOISE, "--mean",
        mean, "--optimize", "none", "-o", "m.cred")
    rows, covariance = told(credence)
    assert [row["times"] for row in rows] == GIVEN
    data = list(csv.DictReader((examples / "mcycle.csv").open()))
    x, y = [float(r["times"]) for r in data], [float(r["accel"]) for r in data]
    m, S = dense(GIVEN, x, y, approx, mean == "constant")
    for k, row in enumerate(rows):
        close(row["q_mean"], m[k], 1e-6)
        close(row["q_sd"], math.sqrt(S[k][k]), 1e-6)
        for l in range(len(rows)):
            assert abs(covariance[k][l] - S[k][l]) < 1e-6 * math.sqrt(S[k][k] * S[l][l])


def test_landmarks_are_rows_of_the_data(credence, examples):
    fit(credence, "--approx", "nystrom", "--inducing", "6", "--kernel", KERNEL, "--noise", NOISE, "--mean", "zero",
        "--optimize", "none", "-o", "m.cred")
    rows, covariance = told(credence)
    data = list(csv.DictReader((examples / "mcycle.csv").open()))
    x, y = [float(r["times"]) for r in data], [float(r["accel"]) for r in data]
    Z = [row["times"] for row in rows]
    assert len(Z) == len(set(Z)) == 6 and set(Z) <= set(x)
    m, S = dense(Z, x, y, "sor", False)
    for k, row in enumerate(rows):
        close(row["q_mean"], m[k], 1e-6)
        assert all(abs(covariance[k][l] - S[k][l]) < 1e-6 * math.sqrt(S[k][k] * S[l][l]) for l in range(6))


# --- inputs that are given --------------------------------------------------------------------------

def test_given_inputs_are_kept_or_moved(credence, examples, inputs):
    kept = fit(credence, "--inducing-inputs", "z.csv", "-o", "m.cred")
    assert kept["statistics"]["approx"] == "vfe" and kept["statistics"]["inducing_inputs"] == len(GIVEN)
    assert [row["times"] for row in told(credence)[0]] == GIVEN
    moved = fit(credence, "--inducing-inputs", "z.csv", "--optimize-inducing", "-o", "m.cred")
    assert moved["log_evidence"] > kept["log_evidence"] + 0.1
    assert [row["times"] for row in told(credence)[0]] != GIVEN


def test_what_is_told_can_be_given(credence, examples, inputs, tmp_path):
    """Also of standardised columns and a category: the CSV is in the units of the data."""
    lines = (examples / "mcycle.csv").read_text().splitlines()
    (tmp_path / "d.csv").write_text("\n".join([lines[0] + ",half"] + [
        line + (",late" if i > 60 else ",early") for i, line in enumerate(lines[1:])]) + "\n")
    options = ["--approx", "vfe", "--scale", "standard", "--scale-target", "standard", "--noise", "0.2",
               "--optimize", "none", "--kernel", "rbf(l=0.4)*hamming"]
    first = fit(credence, "--inducing", "9", *options, "-o", "m.cred", data="d.csv")
    listing = credence("describe", "m.cred", "--inducing", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(listing)))
    assert len(rows) == 9 and {row["half"] for row in rows} == {"early", "late"}
    (tmp_path / "again.csv").write_text(listing)
    again = fit(credence, "--inducing-inputs", "again.csv", *options, "-o", "n.cred", data="d.csv")
    close(first["log_evidence"], again["log_evidence"], 1e-9)
    predicted = credence("predict", "m.cred", "again.csv", "--latent", "--covariance", "cov.csv", "--json")
    assert predicted.code == 0, predicted.stderr
    held, covariance = told(credence)
    for row, got in zip(held, json.loads(predicted.stdout)["predictions"]):
        close(row["q_mean"], got["mean"], 1e-9)
        close(row["q_sd"], got["sd"], 1e-7)
    written = [[float(v) for v in line] for line in list(csv.reader((tmp_path / "cov.csv").open()))[1:]]
    assert all(abs(a - b) < 1e-8 * covariance[0][0] for p, q in zip(written, covariance) for a, b in zip(p, q))


def test_given_inputs_that_do_not_do(credence, refused, examples, inputs, tmp_path):
    FIT = ["fit", "gp", "examples/mcycle.csv", "--target", "accel", "--inducing-inputs"]
    refused(5, *FIT, "no.csv", says="no.csv")
    (tmp_path / "other.csv").write_text("x\n1\n2\n")
    refused(3, *FIT, "other.csv", says="times")
    (tmp_path / "gap.csv").write_text("times,u\n1,1\n,2\n")
    refused(3, *FIT, "gap.csv", "--missing", "drop", says="1 of 2 inducing inputs have missing values")
    (tmp_path / "none.csv").write_text("times\n")
    refused(3, *FIT, "none.csv", says="no ")
    refused(2, *FIT, "z.csv", "--approx", "exact", says="--inducing-inputs")
    refused(2, *FIT, "z.csv", "--approx", "nystrom", says="--inducing-inputs")
    refused(2, *FIT, "z.csv", "--solver", "cg", says="--inducing-inputs")
    said = fit(credence, "--inducing-inputs", "z.csv", "--inducing", "8")
    assert any("--inducing 8 has no effect" in w for w in said["warnings"])
    (tmp_path / "low.csv").write_text("times\n3\n-1\n")
    refused(3, *FIT, "low.csv", "--kernel", "chi2", says="low.csv:3: column 'times' is -1")


def test_models_without_inducing_inputs_say_so(credence, refused, examples, inputs):
    fit(credence, "-o", "m.cred", "--optimize", "none", "--kernel", KERNEL, "--noise", NOISE)
    refused(2, "describe", "m.cred", "--inducing", says="exact")
    assert credence("fit", "linear", "examples/mcycle.csv", "--target", "accel", "-o", "l.cred").code == 0
    refused(2, "describe", "l.cred", "--inducing", says="no inducing inputs")
    refused(2, "describe", "examples/mcycle.csv", "--inducing", says="contains data")
    refused(2, "describe", "m.cred", "--inducing", "--covariance", says="cannot be combined")


def test_inducing_inputs_of_a_stream(credence, examples):
    result = credence("fit", "gp-online", "examples/mcycle.csv", "--target", "accel", "--inducing", "8", "-o", "m.cred")
    assert result.code == 0, result.stderr
    rows, covariance = told(credence)
    assert len(rows) == 8 and len(covariance) == 8
    assert credence("describe", "m.cred", "--inducing", "--format", "csv", "-o", "u.csv").code == 0
    at = json.loads(credence("predict", "m.cred", "u.csv", "--latent", "--json").stdout)["predictions"]
    for row, got in zip(rows, at):
        close(row["q_mean"], got["mean"], 1e-9)


# --- the gradient of the evidence -------------------------------------------------------------------

CASES = {
    "exact": ("{v}*rbf(l={l})", []),
    "linear mean": ("{v}*rbf(l={l})", ["--mean", "linear"]),
    "a sum": ("{v}*matern52(l={l}) + 300*linear", ["--scale", "standard"]),
    "centred": ("{v}*centre(rbf(l={l}))", ["--mean", "zero"]),
    "vfe": ("{v}*rbf(l={l})", ["--approx", "vfe", "--inducing-inputs", "z.csv"]),
    "dtc": ("{v}*rbf(l={l})", ["--approx", "dtc", "--inducing-inputs", "z.csv"]),
    "fitc": ("{v}*rbf(l={l})", ["--approx", "fitc", "--inducing-inputs", "z.csv"]),
    "svgp": ("{v}*rbf(l={l})", ["--approx", "svgp", "--inducing-inputs", "z.csv"]),
    "rff": ("{v}*rbf(l={l})", ["--approx", "rff", "--inducing", "60"]),
    "target": ("{v}*rbf(l={l})", ["--scale-target", "standard"]),
}


@pytest.mark.parametrize("case", CASES)
def test_gradient_by_central_differences(credence, examples, inputs, case):
    kernel, options = CASES[case]
    start = {"v": 0.7 if case == "target" else 1500.0, "l": 0.5 if case == "a sum" else 6.5,
             "n": 0.2 if case == "target" else 480.0}

    def at(**changes):
        values = {k: repr(v) for k, v in {**start, **changes}.items()}
        return fit(credence, "--kernel", kernel.format(**values), "--noise", values["n"], "--optimize", "none",
                   *options, "--gradient")

    said = {p["name"]: p["gradient"] for p in at()["parameters"]}
    for key, name in (("v", ".variance"), ("l", ".l"), ("n", "noise")):
        gradient = next(g for n, g in said.items() if n.endswith(name))
        h = 1e-4
        up, down = (at(**{key: start[key] * math.exp(s)})["log_evidence"] for s in (h, -h))
        assert abs(gradient - (up - down) / (2 * h)) < 1e-5 * max(1, abs(gradient)), (name, gradient)


@pytest.mark.parametrize("options", [[], ["--kernel", "matern32 + linear"], ["--approx", "vfe", "--inducing", "9"]])
def test_gradient_vanishes_at_the_optimum(credence, examples, options):
    said = fit(credence, "--gradient", "--hyper", "best", *options)
    known = [p["gradient"] for p in said["parameters"] if not p["name"].startswith("mean.")]
    assert said["stop"] == "converged" and all(abs(g) < 0.02 for g in known), known
    assert all(p["gradient"] is None for p in said["parameters"] if p["name"].startswith("mean."))


def test_gradient_is_kept_and_only_where_asked_for(credence, refused, examples):
    asked = fit(credence, "--gradient", "-o", "m.cred", "--kernel", "2*rbf(l=5 fixed) + white", "--noise", "0")
    kept = json.loads(credence("describe", "m.cred", "--json").stdout)
    assert [p["gradient"] for p in kept["parameters"]] == [p["gradient"] for p in asked["parameters"]]
    by = {p["name"]: p["gradient"] for p in kept["parameters"]}
    assert by["rbf.l"] is None and by["noise"] is None and by["rbf.variance"] is not None
    assert all("gradient" not in p for p in fit(credence)["parameters"])
    refused(2, "fit", "gp", "examples/mcycle.csv", "--target", "accel", "--gradient", "--hyper", "mcmc", says="--gradient")


def test_texts_that_came_later(credence, tmp_path):
    """Inducing inputs with texts that the first batch did not have are told by these."""
    (tmp_path / "a.csv").write_text("t,y\nab,1\nba,2\nabb,1.5\n")
    (tmp_path / "b.csv").write_text("t,y\nzz,5\nzyz,6\n")
    assert credence("fit", "gp-online", "a.csv", "--target", "y", "--features", "t", "--kernel", "spectrum(t;k=1)",
                    "-o", "a.cred").code == 0
    result = credence("update", "a.cred", "b.csv", "-o", "m.cred")
    assert result.code == 0, result.stderr
    assert {row["t"] for row in told(credence)[0]} & {"zz", "zyz"}
