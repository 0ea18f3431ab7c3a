"""Approximate answers about networks: query and infer with --method."""
import csv
import io
import json
import math
import random
import subprocess
import time

import pytest

from networks import BN

TRUTH = 0.284171835364393  # P(burglary | john=yes, mary=yes)
LOG_E = math.log(0.002084100239)
QUESTION = "P(burglary | john=yes, mary=yes)"
MESSAGES = ["bp", "trw", "gbp", "mean-field"]
SAMPLES = ["forward", "rejection", "likelihood-weighting", "importance", "gibbs", "annealed"]


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
    answer, = ask(credence, burglary, QUESTION, "--method", method, warns=method == "mean-field")  # 0.22 off
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
    assert best["log_joint"] == pytest.approx(math.log(p), abs=1e-12)
    assert best["log_joint_upper"] == pytest.approx(math.log(p), abs=1e-6)
    assert some["assignment"] == {"burglary": "no", "mary": "no"} and "log_joint_upper" not in some
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
    assert "best found" in text and "no assignment exceeds" in text
    assert "approximate" not in credence("query", burglary, QUESTION, "--format", "text").stdout


def test_csv_says_so(credence, burglary):
    rows = list(csv.DictReader(io.StringIO(
        credence("query", burglary, "P(* | john=yes)", "--method", "gibbs", "--format", "csv").stdout)))
    assert all(r["method"] == "gibbs" and 0 < float(r["se"]) < 0.1 and r["converged"] == "true" for r in rows)
    exact = credence("query", burglary, QUESTION, "--format", "csv").stdout
    assert exact.splitlines()[0] == "query,variable,state,value"


def test_best_is_exact_or_nothing(credence, burglary):
    said = credence("query", burglary, "best(1; john, mary)", "P(john, mary)", "--format", "csv", "--method", "gbp")
    assert said.code == 2 and "best(...) is always exact" in said.stderr
    assert {r["query"] for r in csv.DictReader(io.StringIO(said.stdout))} == {"P(john, mary)"}


def test_long_lists_are_whole_in_csv(credence, tmp_path):
    names = [f"a_rather_long_name_of_a_variable_{v}" for v in range(200)]
    text = "".join(f"variable {n} {{ type discrete [2] {{ yes, no }}; }}\nprobability ( {n} ) {{ table 0.3, 0.7; }}\n"
                   for n in names)
    path = tmp_path / "long.bif"
    path.write_text(text)
    row, = csv.DictReader(io.StringIO(credence("query", path, "best(1; *)", "--format", "csv").stdout))
    assert row["variable"].split(",") == names and row["state"].split(",") == ["no"] * 200


# --- argmax ----------------------------------------------------------------------------------------

def test_argmax_has_the_true_probability(credence, examples):
    net = examples / "networks/misconception.uai"
    exact, = ask(credence, net, "argmax(*)")
    for method in MESSAGES + ["gibbs", "importance"]:
        about, = ask(credence, net, "argmax(*)", "--method", method)
        assert about["assignment"] == exact["assignment"] and about["exact"] is False
        assert about["probability"] == pytest.approx(exact["probability"], rel=1e-12)
        assert about["log_evidence"] == pytest.approx(exact["log_evidence"], rel=1e-12)


def test_argmax_of_one_variable_by_samples(credence, burglary):
    question = "argmax(alarm | john=yes)"
    about, = ask(credence, burglary, question, "--method", "gibbs")
    assert about["probability"] == pytest.approx(0.9567, abs=0.02) and about["log_joint"] is None
    assert about["log_probability"] == pytest.approx(math.log(about["probability"]), abs=1e-12)
    row, = csv.DictReader(io.StringIO(
        credence("query", burglary, question, "--method", "gibbs", "--format", "csv").stdout))
    assert float(row["value"]) == about["probability"]
    text = credence("query", burglary, question, "--method", "gibbs", "--format", "text").stdout
    assert "probability given the evidence, about 0.95" in text and "best found" not in text


@pytest.mark.slow
def test_argmax_that_is_not_proven(credence, refused, examples):
    net = examples / "networks/spins.uai.gz"
    said = credence("query", net, "argmax(*)", "--budget", "1", "--json")
    answer, = json.loads(said.stdout)["results"]
    assert answer["exact"] is False and answer["log_joint"] < answer["log_joint_upper"]
    assert "argmax(*): not proven to be the best" in said.stderr
    refused(4, "query", net, "argmax(*)", "--budget", "1", "--strict", says="not proven to be the best")


def test_argmax_answers_within_a_time_limit(credence, tmp_path):
    """Neither an order for P(e), which is only for show, nor messages use up the time that telling takes."""
    side, rng = 150, random.Random(3)
    pairs = [(i, i + 1) for i in range(side * side) if (i + 1) % side] + [(i, i + side) for i in range(side * (side - 1))]
    tables = [f"4 {w} {1 / w} {1 / w} {w}" for w in (math.exp(rng.gauss(0, 1)) for _ in pairs)]
    text = f"MARKOV\n{side * side}\n{'2 ' * side * side}\n{len(pairs)}\n"
    (tmp_path / "spins.uai").write_text(text + "\n".join([f"2 {a} {b}" for a, b in pairs] + tables))
    began = time.monotonic()
    said = credence("query", tmp_path / "spins.uai", "argmax(*)", "--time-limit", "6s", "--json")
    assert said.code == 0 and time.monotonic() - began < 8
    answer, = json.loads(said.stdout)["results"]
    assert answer["gap"] == pytest.approx(answer["log_joint_upper"] - answer["log_joint"]) and answer["gap"] > 0


# --- what each would tell --------------------------------------------------------------------------

def test_informative_of_a_wide_network(credence, grid):
    """As many runs as x0 has states, and one; not one for every variable."""
    answer, = ask(credence, grid, "I(x0; *)", "--cluster", "64", warns=True)
    gains = {row["variable"]: row["information"] for row in answer["informative"]}
    assert len(gains) == 26 * 26 - 1 and answer["method"] == "gbp"
    assert set(list(gains)[:2]) == {"x1", "x26"}  # its neighbours
    near, = ask(credence, grid, "I(x0; x1)", "--cluster", "64", warns=True)
    assert gains["x1"] == pytest.approx(near["information"], abs=0.01)


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
            says=["which a Markov network does not have", "importance"])


def test_nothing_agrees(refused, tmp_path):
    lines = ["BAYES", "6", "2 2 2 2 2 2", "6", "1 0"] + [f"2 {v - 1} {v}" for v in range(1, 6)]
    lines += ["2 0.5 0.5"] + ["4 1 0 0 1"] * 5
    net = tmp_path / "copies.uai"
    net.write_text("\n".join(lines) + "\n")
    refused(4, "query", net, "P(x2 | x0=0, x5=1)", "--method", "likelihood-weighting", "--samples", "500",
            says=["none of 500 samples is consistent", "--method gbp"])


def test_long_work_is_told_before(credence, refused, examples, program):
    """The figures are the same in the warning of auto, in the refusal, and before work that begins."""
    net = examples / "networks/spins.uai.gz"
    auto = credence("query", net, "P(x0)", "--cluster", "16", "--max-iter", "3", "--samples", "40",
                    "--chains", "1")
    assert "an exact answer would take about 1.8e+04 s and 17 GB" in auto.stderr
    refused(6, "query", net, "P(x0)", "--method", "exact", "--memory-limit", "20M", says="about 1.8e+04 s, and 17.2 GB")
    running = subprocess.Popen([program, "query", str(net), "P(x0 | x400=1)", "--method", "ve"], stderr=subprocess.PIPE)
    try:
        assert b"exact answer takes about" in running.stderr.readline()
    finally:
        running.kill()
        running.wait()


def test_argmax_in_time(credence, refused, examples):
    """What the search has found is told though the time is up; --budget makes it shorter or longer."""
    net = examples / "networks/spins.uai.gz"
    result = credence("query", net, "argmax(*)", "--time-limit", "0.6s", "--json")
    assert result.code == 0 and "stopped by the time limit" in result.stderr
    answer, = json.loads(result.stdout)["results"]
    assert not answer["exact"] and len(answer["assignment"]) == 900
    assert answer["log_joint"] < answer["log_joint_upper"]
    refused(4, "query", net, "argmax(*)", "--time-limit", "0.6s", "--strict", says="time limit")
    work = [ask(credence, net, "argmax(*)", "--budget", budget, "--max-iter", "20", warns=True)[0]["cost"]["operations"]
            for budget in ("1", "5")]
    assert 3e6 < work[0] < 9e6 < work[1] < 4e7


# --- infer -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["jt", "exact", "ve", "enumerate", "bp", "gbp", "trw", "importance", "gibbs"])
def test_infer(credence, burglary, method):
    result = credence("infer", burglary, burglary.with_name("calls.csv"), "--target", "burglary", "--method", method,
                      "--json")
    assert result.code == 0, result
    whole = json.loads(result.stdout)
    exact = method in ("jt", "exact", "ve", "enumerate")
    assert whole["method"] == (method if method != "exact" else "jt") and whole["exact"] is exact
    assert whole["results"][0]["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=0.03)
    assert ("error" in whole["results"][0]) is not exact
    if exact:
        assert whole["results"][0]["marginals"]["burglary"]["yes"] == pytest.approx(TRUTH, abs=1e-12)
        assert whole["results"][0]["log_evidence"] == pytest.approx(LOG_E, abs=1e-9)


def test_infer_says_how_rows_came(credence, refused, burglary):
    command = ["infer", burglary, burglary.with_name("calls.csv"), "--target", "burglary", "--format", "csv"]
    assert credence(*command).stdout.splitlines()[0] == "log_evidence,burglary=yes,burglary=no"
    rows = list(csv.DictReader(io.StringIO(credence(*command, "--method", "gibbs").stdout)))
    assert [r["method"] for r in rows] == ["gibbs"] * 4 and all(0 < float(r["se"]) < 0.1 for r in rows)
    assert all(r["converged"] == "true" for r in rows)
    rows = list(csv.DictReader(io.StringIO(credence(*command, "--method", "bp").stdout)))
    assert all(r["method"] == "bp" and r["se"] == "" and r["converged"] == "true" for r in rows)
    few = credence(*command, "--method", "rejection")
    assert "fewer than 100 effective samples in 1 of 4 rows" in few.stderr
    refused(4, *command, "--budget", "0", "--strict", says=["would take", "gbp was used for all rows"])
    assert credence(*command, "--strict", "--method", "bp").code == 0
    text = credence(*command[:-1], "text", "--method", "gibbs").stdout
    assert "approximate, by gibbs, standard error at most 0.00" in text


def test_infer_that_does_not_converge(credence, refused, grid, tmp_path):
    (tmp_path / "cases.csv").write_text("x1\n0\n1\n")
    command = ["infer", grid, "cases.csv", "--target", "x0", "--method", "bp", "--max-iter", "1"]
    done = credence(*command, "--format", "csv")
    assert all(r["converged"] == "false" for r in csv.DictReader(io.StringIO(done.stdout)))
    assert "bp has not converged in 2 of 2 rows" in done.stderr
    assert credence(*command, "--strict").code == 4


def test_infer_auto(credence, burglary):
    result = credence("infer", burglary, burglary.with_name("calls.csv"), "--budget", "0", "--json")
    assert json.loads(result.stdout)["method"] == "gbp" and "an exact answer would take" in result.stderr


# --- networks of others ----------------------------------------------------------------------------

@pytest.mark.parametrize("name, method", [(n, m) for n in ("alarm", "hailfinder")
                                          for m in ("likelihood-weighting", "importance", "gibbs")]
                         + [("alarm", m) for m in ("forward", "rejection", "annealed")])
def test_reference(credence, name, method):
    case = json.loads((BN / "reference.json").read_text())[name][3]
    known = ", ".join(f'{v}="{s}"' for v, s in case["evidence"].items())
    samples = {"annealed": "500", "forward": "200000", "rejection": "200000"}.get(method, "2000")
    answer, = ask(credence, BN / f"{name}.bif", f"P(* | {known})", "--method", method, "--samples", samples)
    for variable, states in case["marginals"].items():
        for state, p in states.items():
            se = answer["standard_errors"][variable][state]
            assert abs(p - answer["marginals"][variable][state]) <= 4 * se + 1e-9, (variable, state)


def test_two_steps_of_a_chain(credence, examples):
    exact, = ask(credence, examples / "networks/hmm.bif", "P(*)")
    about, = ask(credence, examples / "networks/hmm.bif", "P(*)", "--method", "bp")
    for variable, states in exact["marginals"].items():
        assert about["marginals"][variable] == pytest.approx(states, abs=1e-9)
    next_, = ask(credence, examples / "networks/hmm.bif", "P(weather2 | weather1=rain)", "--method", "bp")
    assert next_["exact"] is False and next_["method"] == "bp"
    assert next_["marginals"]["weather2"] == pytest.approx({"rain": 0.7, "sun": 0.3}, abs=1e-12)


def test_a_code_is_decoded_by_messages(credence, examples):
    """One flipped bit in each place: the marginals of loopy messages have the word that was sent."""
    sent, net = dict(d1=1, d2=0, d3=1, d4=1, p1=0, p2=1, p3=0), examples / "networks/hamming.bif"
    questions = ["P(* | " + ", ".join(f"r_{bit}={value ^ (bit == flipped)}" for bit, value in sent.items()) + ")"
                 for flipped in sent]
    for flipped, question, exact in zip(sent, questions, ask(credence, net, *questions)):
        said = credence("query", net, question, "--method", "bp", "--json")
        answer, = json.loads(said.stdout)["results"]
        off = max(abs(p - answer["marginals"][v][s]) for v in exact["marginals"] for s, p in exact["marginals"][v].items())
        assert answer["error"]["probability_difference"] == pytest.approx(off, abs=0.02)  # small clusters are right here
        assert ("bp has converged, but" in said.stderr) == (answer["error"]["probability_difference"] > 0.1)
        for bit in ("d1", "d2", "d3", "d4"):
            assert answer["marginals"][bit][str(sent[bit])] > 0.5, (flipped, bit)


# --- evidence from files ---------------------------------------------------------------------------

def test_evidence_of_all_rows(credence, burglary, tmp_path):
    """infer with a file = query with the same evidence and that of the row."""
    rows = tmp_path / "rows.csv"
    rows.write_text("john\nyes\nno\n")
    for evidence, known in [({"mary": "yes"}, "mary=yes"), ({"alarm": {"on": 3, "off": 1}}, "alarm~{on:3, off:1}"),
                            ({"alarm": {"do": "on"}}, "do(alarm=on)"), ({"mary": ["yes"]}, "mary in {yes}")]:
        path = tmp_path / "e.json"
        path.write_text(json.dumps(evidence))
        each = ask(credence, burglary, f"P(* | john=yes, {known})", f"P(* | john=no, {known})")
        for method in "jt", "ve", "enumerate":
            out = json.loads(credence("infer", burglary, rows, "--evidence", path, "--method", method, "--json").stdout)
            assert len(out["results"]) == 2
            for row, want in zip(out["results"], each):
                assert set(row["marginals"]) >= set(want["marginals"]) - set(evidence)
                for variable, p in want["marginals"].items():
                    if variable in row["marginals"]:
                        assert row["marginals"][variable] == pytest.approx(p, abs=1e-12)
    path.write_text('{"john": "yes"}')
    result = credence("infer", burglary, rows, "--evidence", path)
    assert result.code == 3 and "'john' is given in" in result.stderr and "leave one of them out" in result.stderr
    path.write_text('{"mary": {"soft": {"yes": 0.3, "no": 0.7}}}')
    result = credence("infer", burglary, rows, "--evidence", path)
    assert result.code == 2 and "infer does not take soft evidence" in result.stderr


def test_soft_evidence_and_actions_in_files(credence, burglary, tmp_path):
    path = tmp_path / "e.json"
    for evidence, known in [({"alarm": {"soft": {"on": 0.7, "off": 0.3}}}, "alarm:={on:0.7, off:0.3}"),
                            ({"alarm": {"soft": {"on": 1}}}, "alarm:={on:1}"),
                            ({"alarm": {"do": "on"}, "mary": "no"}, "do(alarm=on), mary=no")]:
        path.write_text(json.dumps(evidence))
        got, = ask(credence, burglary, "P(burglary)", "--evidence", path)
        want, = ask(credence, burglary, f"P(burglary | {known})")
        assert got["marginals"]["burglary"] == pytest.approx(want["marginals"]["burglary"], abs=1e-14)
    for text, message in [('{"alarm": {"soft": {"on": 0.7}}}', "sums to 0.7, expected 1"),
                          ('{"alarm": {"soft": {"up": 1}}}', "has no state 'up'"),
                          ('{"alarm": {"do": ["on"]}}', "do needs the state that 'alarm' is set to"),
                          ('{"alarm": 1.5}', "should have a state, a list of states")]:
        path.write_text(text)
        result = credence("query", burglary, "P(burglary)", "--evidence", path)
        assert result.code in (2, 3) and message in result.stderr, result
