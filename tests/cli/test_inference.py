"""Approximate answers about networks: query and infer with --method."""
import csv
import io
import json
import math
import pathlib
import random

import pytest

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared/data/bn"
shared = pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data")

TRUTH = 0.284171835364393  # P(burglary | john=yes, mary=yes)
LOG_E = math.log(0.002084100239)
QUESTION = "P(burglary | john=yes, mary=yes)"
MESSAGES = ["bp", "trw", "gbp", "mean-field"]
SAMPLES = ["forward", "rejection", "likelihood-weighting", "importance", "gibbs", "annealed"]


@pytest.fixture
def burglary(examples):
    return examples / "networks/burglary.bif"


@pytest.fixture(scope="session")
def grid(tmp_path_factory):
    """26 x 26 variables, each tied to its neighbours: width 26."""
    rng, n, tables = random.Random(1), 26, []
    for v in range(n * n):
        tables.append(([v], [math.exp(rng.gauss(0, 0.3)) for _ in range(2)]))
        for u in ([v + 1] if v % n < n - 1 else []) + ([v + n] if v < n * (n - 1) else []):
            c = rng.uniform(-0.5, 0.5)
            tables.append(([v, u], [math.exp(c), math.exp(-c), math.exp(-c), math.exp(c)]))
    path = tmp_path_factory.mktemp("grid") / "grid.uai"
    lines = ["MARKOV", str(n * n), " ".join("2" * (n * n)), str(len(tables))]
    lines += [" ".join(map(str, [len(s), *s])) for s, _ in tables]
    lines += [f"{len(t)} " + " ".join(f"{x:.6g}" for x in t) for _, t in tables]
    path.write_text("\n".join(lines) + "\n")
    return path


def ask(credence, net, *rest, warns=False):
    result = credence("query", net, *rest, "--json")
    assert result.code == 0 and bool(result.stderr) == warns, result
    return json.loads(result.stdout)["results"]


# --- methods ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", MESSAGES)
def test_messages(credence, burglary, method):
    answer, = ask(credence, burglary, QUESTION, "--method", method)
    error = answer["error"]
    assert answer["exact"] is False and answer["method"] == method
    assert error["converged"] is True and error["iterations"] >= 1 and error["residual"] <= 1e-9
    if method == "mean-field":
        assert answer["log_evidence"] == error["lower"] < LOG_E
    else:  # the graph is a tree of tables
        assert answer["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=1e-7)
        assert answer["log_evidence"] == pytest.approx(LOG_E, abs=1e-7)
    if method == "trw":
        assert error["upper"] >= LOG_E - 1e-9


@pytest.mark.parametrize("method", SAMPLES)
def test_samples(credence, burglary, method):
    extra = ["--samples", "400", "--steps", "20"] if method == "annealed" else []
    answer, every = ask(credence, burglary, QUESTION, "P(* | john=yes, mary=yes)", "--method", method, *extra)
    error = answer["error"]
    assert answer["exact"] is False and answer["method"] == method
    assert abs(answer["marginals"]["burglary"]["yes"] - TRUTH) < 4 * error["standard_error"] < 0.3
    assert error["samples"] > 100 and 10 < error["effective"] <= error["samples"]
    assert every["standard_errors"]["burglary"]["yes"] <= error["standard_error"]
    if method == "gibbs":
        assert error["chains"] == 4 and error["rhat"] < 1.05 and answer["log_evidence"] is None
    else:
        assert abs(answer["log_evidence"] - LOG_E) < 4 * error["log_evidence_se"] < 1


@pytest.mark.parametrize("options", [["--schedule", "flooding"], ["--schedule", "sequential"], ["--damping", "0.3"],
                                     ["--tol", "1e-4"], ["--max-iter", "50"]])
def test_message_options(credence, burglary, options):
    answer, = ask(credence, burglary, QUESTION, "--method", "bp", *options)
    assert answer["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=1e-3)


def test_weights_of_trees(credence, tmp_path):
    """Three spins that all pull at each other: better weights, a smaller upper bound."""
    (tmp_path / "ring.uai").write_text("MARKOV\n3\n2 2 2\n3\n2 0 1\n2 1 2\n2 0 2\n" + "4 3 1 1 2\n4 1 4 5 1\n4 1 6 1 1\n")
    exact = ask(credence, "ring.uai", "P(x0)")[0]["log_evidence"]
    bound = [ask(credence, "ring.uai", "P(x0)", "--method", "trw", "--reweigh", str(k))[0]["error"]["upper"] for k in (0, 20)]
    assert exact <= bound[1] + 1e-9 and bound[1] < bound[0]


@pytest.mark.parametrize("method, options", [("gbp", ["--cluster", "2"]), ("gibbs", ["--block", "1", "--chains", "2"]),
                                             ("annealed", ["--steps", "20", "--samples", "300", "--block", "1"])])
def test_size_options(credence, burglary, method, options):
    answer, = ask(credence, burglary, QUESTION, "--method", method, *options)
    assert answer["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=0.15)


def test_seed_and_threads(credence, burglary):
    for method in ["importance", "gibbs", "likelihood-weighting"]:
        base = [burglary, QUESTION, "--method", method, "--samples", "1000", "--format", "csv"]
        first = credence("query", *base).stdout
        assert credence("query", *base, "--threads", "1").stdout == first
        assert credence("query", *base, "--threads", "3").stdout == first
        assert credence("query", *base, "--seed", "7").stdout != first


def test_every_question(credence, burglary):
    best, some, event, joint, entropy, cut = ask(
        credence, burglary, "argmax(* | john=yes)", "argmax(burglary, mary | john=yes)",
        "P(burglary=yes, earthquake=no | john=yes)", "P(burglary, mary | alarm=on)", "H(alarm)",
        "burglary _|_ mary | alarm", "--method", "gbp")
    assert best["method"] == "max-product"
    p = 0.999 * 0.998 * 0.999 * 0.05 * 0.99
    assert best["log_probability"] == pytest.approx(math.log(p), abs=1e-12)
    assert best["log_probability_upper"] == pytest.approx(math.log(p), abs=1e-6)
    assert some["assignment"] == {"burglary": "no", "mary": "no"} and "log_probability_upper" not in some
    exact = ask(credence, burglary, "P(burglary=yes, earthquake=no | john=yes)", "P(burglary, mary | alarm=on)",
                "H(alarm)")
    assert event["probability"] == pytest.approx(exact[0]["probability"], abs=1e-9)
    assert [r["p"] for r in joint["table"]] == pytest.approx([r["p"] for r in exact[1]["table"]], abs=1e-9)
    assert entropy["entropy"] == pytest.approx(exact[2]["entropy"], abs=1e-9)
    assert cut["exact"] is True and cut["method"] == "graph" and "error" not in cut


def test_soft_evidence(credence, burglary):
    question = "P(burglary | alarm:={on:0.7, off:0.3})"
    exact, = ask(credence, burglary, question)
    about, = ask(credence, burglary, question, "--method", "bp")
    assert about["marginals"]["burglary"] == pytest.approx(exact["marginals"]["burglary"], abs=1e-7)


# --- how it is shown -------------------------------------------------------------------------------

def test_text_says_so(credence, burglary):
    text = credence("query", burglary, QUESTION, "--method", "importance", "--format", "text").stdout
    assert "approximate, by importance, standard error at most" in text
    text = credence("query", burglary, "argmax(*)", "--method", "bp", "--format", "text").stdout
    assert "best found" in text and "no assignment has more than" in text
    assert "approximate" not in credence("query", burglary, QUESTION, "--format", "text").stdout


def test_csv_says_so(credence, burglary):
    rows = list(csv.DictReader(io.StringIO(
        credence("query", burglary, "P(* | john=yes)", "--method", "gibbs", "--format", "csv").stdout)))
    assert all(r["method"] == "gibbs" and 0 < float(r["se"]) < 0.1 for r in rows)
    exact = credence("query", burglary, QUESTION, "--format", "csv").stdout
    assert exact.splitlines()[0] == "query,variable,state,value"


# --- auto ------------------------------------------------------------------------------------------

def test_auto_is_exact_where_it_fits(credence, burglary):
    answer, = ask(credence, burglary, QUESTION, "--method", "auto")
    assert answer["exact"] is True and "reason" not in answer
    answer, = ask(credence, burglary, QUESTION, "--budget", "0", warns=True)
    assert answer["exact"] is False and "an exact answer would take" in answer["reason"]
    answer, = ask(credence, burglary, QUESTION, "--budget", "0", "--method", "exact")
    assert answer["exact"] is True


def test_auto_answers_what_is_too_wide(credence, refused, grid):
    answer, = ask(credence, grid, "P(x0 | x1=1)", "--cluster", "64", warns=True)
    assert answer["exact"] is False and answer["method"] == "gbp" and answer["error"]["converged"] is True
    assert "width" in answer["reason"] and sum(answer["marginals"]["x0"].values()) == pytest.approx(1)
    refused(6, "query", grid, "P(x0 | x1=1)", "--method", "jt", "--memory-limit", "100M", says="would take")
    refused(4, "query", grid, "P(x0 | x1=1)", "--cluster", "64", "--strict", says="would take")


def test_not_converged_is_said(credence, grid):
    result = credence("query", grid, "P(x0)", "--method", "bp", "--max-iter", "1", "--json")
    assert result.code == 0 and "has not converged after 1 sweep" in result.stderr
    assert json.loads(result.stdout)["results"][0]["error"]["converged"] is False


# --- refusals --------------------------------------------------------------------------------------

def test_impossible(refused, examples):
    net = examples / "networks/monty-hall.bif"
    question = "P(prize | choice=left, opened=left)"
    for method in ["exact", "bp", "gbp", "gibbs", "importance"]:
        refused(3, "query", net, question, "--method", method, says="impossible")
    refused(2, "query", examples / "networks/misconception.uai", "P(x0)", "--method", "rejection",
            says=["a Markov network has neither", "importance"])


def test_nothing_agrees(refused, tmp_path):
    lines = ["BAYES", "6", "2 2 2 2 2 2", "6", "1 0"] + [f"2 {v - 1} {v}" for v in range(1, 6)]
    lines += ["2 0.5 0.5"] + ["4 1 0 0 1"] * 5
    net = tmp_path / "copies.uai"
    net.write_text("\n".join(lines) + "\n")
    refused(4, "query", net, "P(x2 | x0=0, x5=1)", "--method", "likelihood-weighting", "--samples", "500",
            says=["none of 500 samples agrees", "--method gbp"])


# --- infer -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["jt", "bp", "gbp", "trw", "importance", "gibbs"])
def test_infer(credence, burglary, method):
    result = credence("infer", burglary, burglary.with_name("calls.csv"), "--target", "burglary", "--method", method,
                      "--json")
    assert result.code == 0, result
    whole = json.loads(result.stdout)
    assert whole["method"] == method and whole["exact"] is (method == "jt")
    assert whole["results"][0]["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=0.03)
    assert ("error" in whole["results"][0]) is (method != "jt")


def test_infer_auto(credence, burglary):
    result = credence("infer", burglary, burglary.with_name("calls.csv"), "--budget", "0", "--json")
    assert json.loads(result.stdout)["method"] == "gbp" and "an exact answer would take" in result.stderr


# --- networks of others ----------------------------------------------------------------------------

@shared
@pytest.mark.parametrize("method", ["likelihood-weighting", "importance", "gibbs"])
@pytest.mark.parametrize("name", ["alarm", "hailfinder"])
def test_reference(credence, name, method):
    case = json.loads((SHARED / "reference.json").read_text())[name][3]
    known = ", ".join(f'{v}="{s}"' for v, s in case["evidence"].items())
    answer, = ask(credence, SHARED / f"{name}.bif", f"P(* | {known})", "--method", method, "--samples", "2000")
    for variable, states in case["marginals"].items():
        for state, p in states.items():
            se = answer["standard_errors"][variable][state]
            assert abs(p - answer["marginals"][variable][state]) <= 4 * se + 1e-9, (variable, state)


def test_two_steps_of_a_chain(credence, examples):
    exact, = ask(credence, examples / "networks/hmm.bif", "P(*)")
    about, = ask(credence, examples / "networks/hmm.bif", "P(*)", "--method", "bp")
    for variable, states in exact["marginals"].items():
        assert about["marginals"][variable] == pytest.approx(states, abs=1e-9)
