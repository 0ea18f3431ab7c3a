"""Networks on the command line: query, infer, convert, describe, check, completion."""
import csv
import gzip
import json
import math
import random
import subprocess

import pytest

from networks import BN, ask, rows

NETWORKS = "asia cancer earthquake sachs survey alarm child insurance hailfinder win95pts".split()


# --- query -----------------------------------------------------------------------------------------

def test_the_burglary(credence, burglary):
    answer, = ask(credence, burglary, "P(burglary | john=yes, mary=yes)")
    assert answer["marginals"]["burglary"]["yes"] == pytest.approx(0.284171835364393, abs=1e-12)
    assert answer["exact"] is True and answer["method"] == "ve"
    assert answer["log_evidence"] == pytest.approx(math.log(0.002084100239), abs=1e-9)
    assert answer["cost"]["operations"] > 0


def test_every_question(credence, burglary):
    best, event, joint, apart, trail, entropy, mutual, next_ = ask(
        credence, burglary, "argmax(* | john=yes)", "P(john=yes)", "P(burglary, mary | alarm=on)",
        "burglary _|_ mary | alarm", "burglary _|_ earthquake | john", "H(alarm)", "I(john; mary)",
        "I(burglary; * | john=yes)")
    assert best["assignment"] == {"burglary": "no", "earthquake": "no", "alarm": "off", "mary": "no"}
    p = 0.999 * 0.998 * 0.999 * 0.05 * 0.99
    assert best["log_joint"] == pytest.approx(math.log(p), abs=1e-12)
    assert best["probability"] == pytest.approx(p / event["probability"], abs=1e-12)
    assert best["log_probability"] == pytest.approx(math.log(best["probability"]), abs=1e-12)
    assert best["log_joint"] == pytest.approx(best["log_probability"] + best["log_evidence"], abs=1e-12)
    assert len(joint["table"]) == 4 and sum(r["p"] for r in joint["table"]) == pytest.approx(1)
    assert joint["table"][1]["states"] == {"burglary": "yes", "mary": "no"}
    assert apart["independent"] is True and "trail" not in apart
    assert trail["independent"] is False and trail["trail"] == ["burglary", "alarm", "earthquake"]
    assert entropy["unit"] == "bits" and 0 < entropy["entropy"] < 1
    assert 0 < mutual["information"] < entropy["entropy"]
    assert next_["informative"][0]["variable"] == "alarm"
    nats = json.loads(credence("query", burglary, "H(alarm)", "--unit", "nats", "--json").stdout)["results"][0]
    assert nats["entropy"] == pytest.approx(entropy["entropy"] * math.log(2))


def test_monty_hall(credence, examples):
    answer, = ask(credence, examples / "networks/monty-hall.bif", "P(prize | choice=left, opened=right)")
    assert answer["marginals"]["prize"] == pytest.approx({"left": 1 / 3, "middle": 2 / 3, "right": 0})


def test_misconception(credence, examples):
    """Koller & Friedman (2009), figure 4.2: Z = 7 201 840, P(a0, b1) = 0.69."""
    answer, = ask(credence, examples / "networks/misconception.uai", "P(x0, x1)")
    assert answer["log_evidence"] == pytest.approx(math.log(7201840), abs=1e-12)
    assert answer["table"][1]["p"] == pytest.approx(5001500 / 7201840, abs=1e-12)


def test_two_steps(credence, examples):
    answer, = ask(credence, examples / "networks/hmm.bif", "P(weather2 | weather1=rain)")
    assert answer["marginals"]["weather2"] == pytest.approx({"rain": 0.7, "sun": 0.3})


def test_evidence_of_every_kind(credence, burglary, tmp_path):
    def p(question, *more):
        return float(rows(credence("query", burglary, question, *more))[0]["value"])
    on, off = p("P(burglary=yes | alarm=on)"), p("P(burglary=yes | alarm=off)")
    assert p("P(burglary=yes | alarm:={on:0.7, off:0.3})") == pytest.approx(0.7 * on + 0.3 * off, abs=1e-13)
    a = p("P(alarm=on)")
    virtual = (3 * a * on + (1 - a) * off) / (3 * a + (1 - a))
    assert p("P(burglary=yes | alarm~{on:3, off:1})") == pytest.approx(virtual, abs=1e-13)
    assert p("P(burglary=yes | alarm in {on, off})") == pytest.approx(0.001, abs=1e-15)
    assert p("P(burglary=yes | alarm!=off)") == pytest.approx(on, abs=1e-15)
    assert p("P(burglary=yes | do(alarm=on))") == pytest.approx(0.001, abs=1e-15)
    (tmp_path / "e.json").write_text('{"alarm": {"on": 3, "off": 1}}')
    assert p("P(burglary=yes)", "--evidence", "e.json") == pytest.approx(virtual, abs=1e-13)
    (tmp_path / "e.evid").write_text("1 2 0")
    assert p("P(burglary=yes)", "--evidence", "e.evid") == pytest.approx(on, abs=1e-13)


@pytest.mark.parametrize("method", ["ve", "jt", "enumerate"])
def test_methods(credence, burglary, method):
    command = ["query", burglary, "P(* | mary=yes)", "P(john, burglary | mary=yes)", "argmax(* | mary=yes)"]
    expected, got = rows(credence(*command)), rows(credence(*command, "--method", method))
    assert [r["state"] for r in got] == [r["state"] for r in expected]
    assert [float(r["value"]) for r in got] == pytest.approx([float(r["value"]) for r in expected], abs=1e-14)
    answer = json.loads(credence(*command, "--method", method, "--json").stdout)["results"][0]
    assert answer["method"] == method


def test_forms(credence, burglary):
    text = credence("query", burglary, "P(mary | alarm=on)", "burglary _|_ mary", "--format", "text")
    assert text.code == 1 and "0.7" in text.stdout and "burglary -> alarm -> mary is active" in text.stdout
    said = credence("query", burglary, "P(mary)", "--verbose").stderr
    assert "operations" in said and "exact" in said
    assert credence("query", burglary, "burglary _|_ mary | alarm").code == 0
    assert credence("query", burglary, "P(mary)", "-o", "out.csv").stdout == ""
    piped = credence("query", "-", "P(mary)", input=burglary.read_bytes())
    assert piped.stdout == credence("query", burglary, "P(mary)").stdout


@pytest.mark.parametrize("question, code, says", [
    ("P(burglry)", 2, ["there is no variable 'burglry'", "  P(burglry)\n    ^~~~~~~", "did you mean 'burglary'?",
                       "'P(burglary)'"]),
    ("P(burglary | alarm=onn)", 2, ["'alarm' has no state 'onn'", "did you mean 'on'?", "alarm=on)'"]),
    ("P(burglary | alarm)", 2, ["what is the evidence on 'alarm'?", "write alarm=on"]),
    ("P(burglary", 2, ["expected ')'"]),
    ("Q(burglary)", 2, ["there is no question 'Q'"]),
    ("burglary mary", 2, ["expected _|_"]),
])
def test_mistakes(credence, burglary, refused, question, code, says):
    refused(code, "query", burglary, question, says=says)


def test_impossible_evidence(credence, examples, refused):
    net = examples / "networks/monty-hall.bif"
    refused(3, "query", net, "P(prize | choice=left, opened=left)",
            says=["the evidence is impossible", "opened=left is impossible"])
    assert rows(credence("query", net, "P(choice=left, opened=left)"))[0]["value"] == "0"


def test_too_much_is_refused(credence, refused, tmp_path):
    """A grid of 50 x 50 has a width of 50: 2^50 entries."""
    n = 50
    edges = [(i * n + j, i * n + j + 1) for i in range(n) for j in range(n - 1)]
    edges += [(i * n + j, (i + 1) * n + j) for i in range(n - 1) for j in range(n)]
    text = f"MARKOV\n{n * n}\n{' 2' * (n * n)}\n{len(edges)}\n" + "".join(f"2 {a} {b}\n" for a, b in edges)
    (tmp_path / "grid.uai").write_text(text + "4 1 2 2 1\n" * len(edges))
    result = refused(6, "query", "grid.uai", "P(*)", "--method", "exact", "--time-limit", "100")
    assert "GB (induced width 50), but only " in result.stderr


def test_what_does_not_fit_goes_in_runs(credence, tmp_path):
    """All pairs of 18 spins: a tree of one clique of 2^18 entries, or many smaller ones."""
    n = 18
    pairs = [(a, b) for b in range(n) for a in range(b)]
    text = f"MARKOV\n{n}\n{' 2' * n}\n{len(pairs)}\n" + "".join(f"2 {a} {b}\n" for a, b in pairs)
    (tmp_path / "all.uai").write_text(text + "".join(f"4 1 {1 + 0.01 * a} {1 + 0.02 * b} 1.1\n" for a, b in pairs))
    whole = json.loads(credence("query", "all.uai", "P(*)", "P(x3)", "P(x3=1)", "--json").stdout)["results"]
    runs = credence("query", "all.uai", "P(*)", "P(x3)", "P(x3=1)", "--json", "--memory-limit", "900K", "--verbose")
    assert "held fixed in turn, in " in runs.stderr
    for a, b in zip(whole, json.loads(runs.stdout)["results"]):
        assert b["exact"] and b["log_evidence"] == pytest.approx(a["log_evidence"], abs=1e-10)
        assert "runs" not in a["cost"]
        for v, states in a.get("marginals", {}).items():
            assert b["marginals"][v] == pytest.approx(states, abs=1e-11)
    assert json.loads(runs.stdout)["results"][0]["cost"]["runs"] >= 2


def test_the_plan_is_shown(credence, burglary):
    """Before the work, with --verbose: what is going to compute it, at which cost, and why."""
    result = credence("query", burglary, "P(burglary | john=yes)", "P(*)", "argmax(*)", "--json", "--verbose")
    plans = [line for line in result.stderr.splitlines() if line.startswith("credence: plan: ")]
    assert [line.split()[2] for line in plans] == ["ve,", "jt,", "ve,"] and "budget" in plans[0]
    for answer in json.loads(result.stdout)["results"]:
        plan = answer["plan"]
        assert plan["method"] == answer["method"] and plan["why"]
        assert [plan[k] for k in ("width", "operations", "bytes")] == [answer["cost"][k] for k in
                                                                       ("width", "operations", "bytes")]
    quiet = credence("query", burglary, "P(burglary | john=yes)", "--json")
    assert '"plan"' not in quiet.stdout and "plan:" not in quiet.stderr


def test_long_lists_are_refused(refused, examples):
    """The best of many noisy causes: one maximisation would take hours and gigabytes."""
    result = refused(6, "query", examples / "networks/alarms.json", "best(12; *)", "--memory-limit", "2G")
    assert "best(...) is always exact, but this network is too wide" in result.stderr


def test_evidence_by_numbers(credence, examples, tmp_path):
    """States that look like numbers need no quotes in JSON."""
    net = examples / "networks/misconception.uai"
    (tmp_path / "e.json").write_text('{"x0": 1, "x2": [0, 1]}')
    done = credence("query", net, "P(x1)", "--evidence", "e.json")
    assert [r["value"] for r in rows(done)] == [r["value"] for r in rows(credence("query", net, "P(x1 | x0=1)"))]


def test_mistakes_of_new_users(credence, burglary, refused):
    for question, says in [
            ("MAP(burglary)", "did you mean argmax(...)?"),
            ("pr(burglary)", "did you mean P(...)?"),
            ("burglary", "its distribution is P(burglary)"),
            ("P burglary", "expected '(' after P"),
            ("P(burglary, *)", "* must stand alone"),
            ("causes(*)", "causes(* | x=a)"),
            ("burglary _|_ john | alarm=on", "name the variable alone: ... | alarm"),
            ("P(mary | alarm=on; john=yes)", "expected ',' or ')' here"),
            ("P(mary | alarm~on)", "for example alarm~{on:0.5, off:0.5}")]:
        refused(2, "query", burglary, question, says=says)
    refused(5, "query", "P(mary)", burglary, says="put the network first: credence query NET")
    hint = credence("query", burglary, "P(mary | alarm in {on,of})").stderr.splitlines()[-1]
    assert "did you mean 'off'?" in hint and "'P(mary | alarm in {on,off})'" in hint
    assert ask(credence, burglary, "P(mary | alarm in {on,off})")[0]["exact"] is True
    none = credence("query", burglary, "causes(* | burglary=yes)", "--format", "text").stdout
    assert "none: no unobserved variable precedes the evidence" in none
    assert json.loads(credence("query", burglary, "causes(* | burglary=yes)", "--json").stdout)["results"][0]["causes"] == []
    known = "P(* | burglary=yes, earthquake=no, alarm=on, john=yes, mary=yes)"
    assert "none: every variable is known" in credence("query", burglary, known, "--format", "text").stdout


# --- infer -----------------------------------------------------------------------------------------

def test_infer_is_query_of_every_row(credence, burglary, examples):
    got = rows(credence("infer", burglary, examples / "networks/calls.csv", "--target", "burglary"))
    assert len(got) == 4 and list(got[0]) == ["log_evidence", "burglary=yes", "burglary=no"]
    for row, known in zip(got, ["john=yes, mary=yes", "john=yes, mary=no",
                                "john=yes, mary=yes, earthquake=yes", "earthquake=no"]):
        answer, = ask(credence, burglary, f"P(burglary | {known})")
        assert float(row["burglary=yes"]) == pytest.approx(answer["marginals"]["burglary"]["yes"], abs=1e-14)
        assert float(row["log_evidence"]) == pytest.approx(answer["log_evidence"], abs=1e-12)
    everything = rows(credence("infer", burglary, examples / "networks/calls.csv"))
    assert len(everything[0]) == 11


def test_infer_states_that_look_like_numbers(credence, tmp_path):
    (tmp_path / "n.bif").write_text("variable x { type discrete [2] { 0, 1 }; }\nvariable y { type discrete [2] "
                                    "{ 007, 8 }; }\nprobability ( x ) { table 0.5, 0.5; }\n"
                                    "probability ( y | x ) { (0) 0.1, 0.9; (1) 0.3, 0.7; }\n")
    (tmp_path / "cases.csv").write_text("y,other\n007,1\n8,2\n,3\n")
    for given in (["cases.csv"], ["-"]):
        done = credence("infer", "n.bif", *given, input=(tmp_path / "cases.csv").read_bytes())
        assert [float(r["x=0"]) for r in rows(done)] == pytest.approx([0.25, 0.9 / 1.6, 0.5])
        assert "column 'other' does not match a variable" in done.stderr


@pytest.mark.parametrize("state", ["NA", "nan", "null", "?", "N/A"])
def test_infer_states_that_look_missing(credence, tmp_path, state):
    """A cell that names a state is one, however it is called; an empty one is none."""
    (tmp_path / "n.bif").write_text(f'variable x {{ type discrete [2] {{ a, b }}; }}\nvariable y {{ type discrete [2] '
                                    f'{{ "{state}", d }}; }}\nprobability ( x ) {{ table 0.5, 0.5; }}\n'
                                    "probability ( y | x ) { (a) 0.2, 0.8; (b) 0.6, 0.4; }\n")
    data = f"y\n{state}\nd\n\"\"\n".encode()
    (tmp_path / "cases.csv").write_bytes(data)
    for given in (["cases.csv"], ["-"], ["-", "--target", "x"], ["cases.csv", "--target", "x"]):
        done = rows(credence("infer", "n.bif", *given, input=data))
        assert [float(r["x=a"]) for r in done] == pytest.approx([0.25, 0.8 / 1.2, 0.5])
        done = json.loads(credence("infer", "n.bif", *given, "--json", input=data).stdout)
        assert [r["marginals"]["x"]["a"] for r in done["results"]] == pytest.approx([0.25, 0.8 / 1.2, 0.5])
    done = rows(credence("infer", "n.bif", "cases.csv", "--target", "x", "--missing-values", state))
    assert float(done[0]["x=a"]) == pytest.approx(0.5)


def test_infer_refuses(credence, burglary, examples, refused, tmp_path):
    (tmp_path / "bad.csv").write_text("john,mary\nyes,yes\nyes,maybe\n")
    refused(3, "infer", burglary, "bad.csv", says=["bad.csv:3:5: row 2", "'mary' has no state 'maybe'"])
    (tmp_path / "none.csv").write_text("a,b\n1,2\n")
    refused(3, "infer", burglary, "none.csv", says="names a variable")
    refused(2, "infer", burglary, examples / "networks/calls.csv", "--target", "burglry",
            says="did you mean 'burglary'?")


def test_infer_columns(credence, burglary, examples, refused, tmp_path):
    (tmp_path / "twice.csv").write_text("john,mary,john\nyes,yes,no\n")
    refused(3, "infer", burglary, "twice.csv", "--target", "burglary", says="columns 1 and 3 of twice.csv are both 'john'")
    refused(3, "infer", burglary, "-", "--target", "burglary", input=b"john,john\nyes,no\n",
            says="columns 1 and 2 of stdin are both 'john'")
    (tmp_path / "other.csv").write_text("jon,mary,age\nyes,no,3\n")
    done = credence("infer", burglary, "other.csv")
    assert done.stderr.count("warning") == 1
    assert "2 columns do not match a variable of the network; left out: 'jon' (did you mean 'john'?), 'age'" in done.stderr
    refused(2, "infer", burglary, examples / "networks/calls.csv", "--target", "john,john", says="'john' twice")
    # columns without names must not become variables that happen to be called x1, x2
    (tmp_path / "bare.csv").write_text("0,1\n1,1\n")
    refused(3, "infer", examples / "networks/misconception.uai", "bare.csv", says="names a variable")
    refused(2, "infer", examples / "networks/misconception.uai", "bare.csv", "--header", "no",
            says="infer matches columns by name")


def test_infer_from(credence, burglary, examples):
    """--from is of the network where it names a format of networks."""
    cases = examples / "networks/calls.csv"
    plain = credence("infer", burglary, cases)
    assert credence("infer", burglary, cases, "--from", "bif").stdout == plain.stdout
    assert credence("infer", burglary, "-", "--from", "bif", input=cases.read_bytes()).stdout == plain.stdout


def test_infer_impossible_rows(credence, examples, tmp_path):
    (tmp_path / "doors.csv").write_text("choice,opened\nleft,left\nleft,right\n")
    done = credence("infer", examples / "networks/monty-hall.bif", "doors.csv", "--target", "prize")
    first, second = rows(done)
    assert first["log_evidence"] == "-inf" and first["prize=left"] == ""
    assert float(second["prize=middle"]) == pytest.approx(2 / 3)
    assert "1 of 2 rows are impossible" in done.stderr
    answer = json.loads(credence("infer", examples / "networks/monty-hall.bif", "doors.csv", "--json").stdout)
    assert answer["results"][0]["log_evidence"] is None and answer["rows"] == 2
    assert answer["results"][0]["impossible"] is True and "impossible" not in answer["results"][1]
    assert "1 of 2 rows are impossible" in answer["warnings"][0]


def test_messages_of_networks(credence, refused, burglary, examples, tmp_path):
    once, twice = (ask(credence, burglary, f"P(burglary | {known})")[0]["marginals"]
                   for known in ("john=yes", "john=yes, john=yes"))
    assert once == twice
    refused(2, "query", burglary, "P(burglary | john=yes, john=no)", says=["already", "multiplying their likelihoods", "john~{"])
    refused(6, "query", examples / "networks/spins.uai.gz", "best(3; *)", says=["too wide", "width 30"])
    refused(2, "plot", burglary, "--kind", "roc", says="is a network")
    (tmp_path / "none.uai").write_text("MARKOV\n1\n2\n2\n1 0\n1 0\n2\n0 1\n2\n1 0\n")
    refused(3, "query", "none.uai", "P(*)", says="excludes every assignment")
    (tmp_path / "tab.bif").write_text('variable x { type discrete [2] { "\t", b }; }\nprobability ( x ) { table 0.5, 0.5; }\n')
    refused(3, "convert", "tab.bif", "tab.xmlbif", says=["blanks around", ".json"])
    assert credence("convert", "tab.bif", "tab.json").code == 0
    assert credence("query", "tab.json", "P(x=b)").code == 0
    said = credence("query", burglary, "P(burglary)", "--method", "bp", "--verbose").stderr
    assert "by bp, approximate" in said and "0 variables" not in said


def test_infer_streams(credence, program, burglary, tmp_path):
    """The same from a file, a pipe that streams, and as a whole; rows come out as they go in."""
    lines = ["john,mary,note"] + [f"{'yes' if i % 3 else 'no'},{['yes', '', 'no'][i % 7 % 3]},\"a, {i}\"" for i in range(500)]
    data = "\n".join(lines).encode()
    (tmp_path / "cases.csv").write_bytes(data)
    options = ["--target", "burglary", "--quiet"]
    whole = credence("infer", burglary, "cases.csv", *options)
    assert len(rows(whole)) == 500
    assert credence("infer", burglary, "-", *options, input=data).stdout == whole.stdout
    answer = json.loads(credence("infer", burglary, "-", *options, "--json", input=data).stdout)
    assert answer["rows"] == 500
    assert answer == json.loads(credence("infer", burglary, "cases.csv", *options, "--json").stdout)
    late = credence("infer", burglary, "-", *options, input=data + b"\nmaybe,yes,x\n")
    assert late.code == 3 and "row 501: 'john' has no state 'maybe'" in late.stderr
    process = subprocess.Popen([program, "infer", str(burglary), "-", "--target", "burglary"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line, first in ((b"john,mary\n", b"log_evidence"), (b"yes,yes\n", b"-6.17"), (b"no,no\n", b"-0.06")):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline().startswith(first)
    process.stdin.close()
    assert process.wait() == 0 and process.stdout.read() == b""


# --- files -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "uai", "cred", "json"])
def test_convert(credence, burglary, ending):
    assert credence("convert", burglary, f"n.{ending}").code == 0
    assert credence("check", f"n.{ending}", "--format", "text").stdout.startswith(f"n.{ending}: a sound network")
    description = json.loads(credence("describe", f"n.{ending}", "--json").stdout)
    assert description["kind"] == "network" and description["network"]["parameters"] == 10
    assert credence("convert", f"n.{ending}", "back.bif").code == 0
    values = [r["value"] for r in rows(credence("query", burglary, "P(*)"))]
    assert [r["value"] for r in rows(credence("query", "back.bif", "P(*)"))] == values
    if ending != "uai":
        assert rows(credence("query", "back.bif", "P(*)")) == rows(credence("query", burglary, "P(*)"))


def test_formats_by_name_and_by_option(credence, burglary, refused, tmp_path):
    assert credence("convert", burglary, "plain", "--to", "uai").code == 0
    assert credence("convert", burglary, "n.uai.gz").code == 0
    assert gzip.decompress((tmp_path / "n.uai.gz").read_bytes()) == (tmp_path / "plain").read_bytes()
    assert credence("convert", burglary, "n.bif.zst").code == 0
    assert (tmp_path / "n.bif.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert credence("convert", "n.bif.zst", "-", "--to", "uai").stdout == (tmp_path / "plain").read_text()
    refused(2, "convert", burglary, "n.cred.gz", says="not compressed again")
    assert (tmp_path / "plain").read_text().startswith("BAYES")
    assert credence("check", "plain", "--format", "text").stdout.startswith("plain: a sound network")
    assert credence("convert", burglary, "-", "--to", "net").stdout.startswith("net")
    packed = tmp_path / "b.bif.gz"
    packed.write_bytes(gzip.compress(burglary.read_bytes()))
    assert credence("query", packed, "P(mary)").stdout == credence("query", burglary, "P(mary)").stdout
    piped = credence("describe", "-", "--from", "bif", "--json", input=burglary.read_bytes())
    assert json.loads(piped.stdout)["network"]["nodes"] == 5
    refused(2, "convert", burglary, "x.csv", says="cannot tell the format of the network")
    refused(2, "convert", burglary, "-", says="--to")
    refused(2, "convert", burglary, burglary, says="would replace the input")


def test_from_cred(credence, burglary, examples, model, tmp_path):
    credence("convert", burglary, "n.cred")
    for name in ("n.cred", "n"):
        (tmp_path / "n").write_bytes((tmp_path / "n.cred").read_bytes())
        assert json.loads(credence("describe", name, "--from", "cred", "--json").stdout)["kind"] == "network"
        assert json.loads(credence("check", name, "--from", "cred", "--json").stdout)["sound"] is True
        assert credence("convert", name, "back.bif", "--from", "cred").code == 0
        cases = examples / "networks/calls.csv"
        assert credence("infer", name, cases, "--from", "cred").stdout == credence("infer", burglary, cases).stdout
    assert json.loads(credence("describe", model, "--from", "cred", "--json").stdout)["kind"] == "model"


def test_data_are_compressed_by_name(credence, examples, tmp_path):
    assert credence("convert", examples / "diabetes.csv", "d.csv.gz").code == 0
    assert credence("convert", "d.csv.gz", "d.csv").code == 0
    assert gzip.decompress((tmp_path / "d.csv.gz").read_bytes()) == (tmp_path / "d.csv").read_bytes()


def test_results_are_compressed_by_name(credence, burglary, tmp_path):
    plain = credence("query", burglary, "P(*)", "--format", "csv").stdout
    assert credence("query", burglary, "P(*)", "--format", "csv", "-o", "r.csv.gz").code == 0
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()).decode() == plain
    assert credence("query", burglary, "P(*)", "--format", "csv", "-o", "r.csv.zst").code == 0
    assert credence("convert", "r.csv.zst", "-").stdout.count("\n") == plain.count("\n")


def test_what_is_wrong_has_its_place(credence, refused, tmp_path):
    (tmp_path / "m.uai").write_text("MARKOV\n1\n2\n1\n1 0\n\n2\n 0 0\n")
    zeros = credence("check", "m.uai")
    assert zeros.code == 3 and "warning: m.uai:8: table 1 is all zeros" in zeros.stderr
    assert "error: m.uai: table 1 is all zeros: nothing is possible" in zeros.stderr
    (tmp_path / "m.uai").write_text("MARKOV\n1\n2\n1\n1 0\n\n2\n 1 -2\n")
    refused(3, "check", "m.uai", says=["m.uai:8:4: an entry should be", "|    ^~"])
    (tmp_path / "m.uai").write_text("MARKOV\n1\n2\n1\n1 0\n\n2\n 1 2 3\n")
    refused(3, "check", "m.uai", says="m.uai:8:6: the file should end here, after table 1")
    (tmp_path / "m.bif").write_text("variable a { type discrete [1] {x}; }\nvariable b { type discrete [1] {x}; }\n"
                                    "probability (a|b) { (x) 1; }\nprobability (b|a) { (x) 1; }\n")
    refused(3, "check", "m.bif", says="m.bif:3:14: the arcs of the network form a cycle: a <- b <- a")


def test_a_row_that_does_not_sum_to_one(burglary, refused):
    burglary.write_text(burglary.read_text().replace("(no, yes) 0.29, 0.71;", "(no, yes) 0.29, 0.61;"))
    refused(3, "check", burglary, says=["burglary.bif:28:13: probabilities sum to 0.9, expected 1",
                                        "(no, yes) 0.29, 0.61;", "^~~~~~~~~~"])


def test_describe(credence, burglary):
    structure = {"chordal", "order", "children", "blanket"}  # test_network_graph.py has these
    answer = json.loads(credence("describe", burglary, "--json").stdout, object_hook=lambda o: {
        key: value for key, value in o.items() if key not in structure})
    assert answer["network"] | {"operations": 0, "bytes": 0} == {
        "name": "burglary", "type": "bayes", "nodes": 5, "arcs": 4, "tables": 5, "entries": 20, "parameters": 10,
        "most_states": 2, "most_parents": 2, "width": 2, "operations": 0, "bytes": 0}
    assert answer["variables"][2] == {"name": "alarm", "states": ["on", "off"], "parents": ["burglary", "earthquake"],
                                      "kind": "table"}
    assert "Bayesian network" in credence("describe", burglary, "--format", "text").stdout


def test_a_network_is_not_a_model(credence, burglary, examples, refused):
    credence("convert", burglary, "n.cred")
    refused(3, "predict", "n.cred", examples / "networks/calls.csv", says="is a network, not a fitted model")


# --- published networks ----------------------------------------------------------------------------

@pytest.mark.parametrize("name", NETWORKS)
def test_reference(credence, name):
    cases = json.loads((BN / "reference.json").read_text())[name]
    for case in cases[::2]:
        known = ", ".join(f'{v}="{s}"' for v, s in case["evidence"].items())
        bar = f" | {known}" if known else ""
        every, best = ask(credence, BN / f"{name}.bif", f"P(*{bar})", f"argmax(*{bar})")
        assert every["log_evidence"] == pytest.approx(case["log_evidence"], abs=1e-9)
        assert best["log_joint"] == pytest.approx(case["mpe_logprob"], abs=1e-9)
        for variable, p in case["marginals"].items():
            assert every["marginals"][variable] == pytest.approx(p, abs=1e-9)


# --- completion ------------------------------------------------------------------------------------

@pytest.mark.parametrize("typed, ends", [
    ("P(", ["burglary", "earthquake", "alarm", "john", "mary"]),
    ("P(burglary | al", ["alarm"]),
    ("P(burglary | alarm=", ["on", "off"]),
    ("P(burglary | alarm in {on, of", ["off"]),
    ("P(burglary | alarm~{o", ["on", "off"]),
    ("arg", ["argmax("]),
])
def test_completion(credence, burglary, typed, ends):
    done = credence("complete", "--", "query", burglary, typed)
    stem = typed[:max(typed.rfind(c) for c in "(,|;={ ") + 1]
    assert done.stdout.splitlines() == [stem + end for end in ends]


def test_completion_of_targets(credence, burglary):
    done = credence("complete", "--", "infer", burglary, "x.csv", "--target", "mary,j")
    assert done.stdout.splitlines() == ["mary,john"]


def test_a_code_corrects_one_error(credence, examples):
    """Any one flip of any word is mended, and bit by bit, too."""
    parity = {"p1": "d1 d2 d4", "p2": "d1 d3 d4", "p3": "d2 d3 d4"}
    questions, sent = [], []
    for k in range(16):
        word = {f"d{i + 1}": k >> i & 1 for i in range(4)}
        word |= {p: sum(word[d] for d in ds.split()) % 2 for p, ds in parity.items()}
        flip = list(word)[k % 7]
        known = ", ".join(f"r_{v}={b ^ (v == flip)}" for v, b in word.items())
        questions += [f"argmax(d1, d2, d3, d4 | {known})", f"P(* | {known})"]
        sent.append(word)
    answers = ask(credence, examples / "networks/hamming.bif", *questions)
    for word, best, bits in zip(sent, answers[::2], answers[1::2]):
        assert {v: int(s) for v, s in best["assignment"].items()} == {v: word[v] for v in ("d1", "d2", "d3", "d4")}
        assert all(bits["marginals"][v][str(b)] > 0.5 for v, b in word.items())


# --- lists -----------------------------------------------------------------------------------------

def test_lists(credence, burglary):
    best, causes, slopes = ask(credence, burglary, "best(3; * | john=yes)", "causes(* | john=yes, mary=yes)",
                               "sensitivity(4; burglary=yes | john=yes, mary=yes)")
    assert [len(b["states"]) for b in best["assignments"]] == [4, 4, 4]
    assert best["assignments"][0]["p"] == pytest.approx(0.999 * 0.998 * 0.999 * 0.05 * 0.99 / 0.052138975641)
    assert [c["variable"] for c in causes["causes"]] == ["alarm", "burglary", "earthquake"]
    assert causes["causes"][1]["before"] == pytest.approx(0.001, rel=1e-12)
    assert causes["causes"][1]["after"] == pytest.approx(0.284171835364393, abs=1e-12)
    assert slopes["probability"] == pytest.approx(0.284171835364393, abs=1e-12)
    first, _, third, _ = slopes["parameters"]
    assert (first["variable"], first["state"], first["given"]) == ("burglary", "yes", {})
    assert third["given"] == {"burglary": "no", "earthquake": "no"} and third["derivative"] < 0
    p = 0.284171835364393  # of the prior q the posterior has the odds q / (1 - q) times a constant
    assert first["derivative"] == pytest.approx(p * (1 - p) / (0.001 * 0.999), rel=1e-9)
    table = rows(credence("query", burglary, "best(2; alarm, mary)", "sensitivity(1; alarm=on)", "causes(* | alarm=on)"))
    assert table[0]["variable"] == "alarm,mary" and table[0]["state"] == "off,no"
    assert len(table) == 5
    assert list(table[0]) == ["query", "variable", "state", "value", "before", "after", "parameter"]
    assert [r["before"] for r in table[:3]] == [""] * 3 and [r["parameter"] for r in table[3:]] == [""] * 2
    assert float(table[2]["parameter"]) == 0.001 and float(table[2]["value"]) == pytest.approx(0.999 * 0.998, rel=1e-12)
    for row in table[3:]:  # the factor is the ratio of the odds
        before, after = float(row["before"]), float(row["after"])
        assert float(row["value"]) == pytest.approx(after / (1 - after) * (1 - before) / before, rel=1e-9)
    assert list(rows(credence("query", burglary, "P(alarm)"))[0]) == ["query", "variable", "state", "value"]
    text = credence("query", burglary, "best(2; *)", "causes(* | alarm=on)", "sensitivity(alarm=on)", "--format", "text")
    assert "P(alarm=on | burglary=no, earthquake=no)" in text.stdout and "factor" in text.stdout


def test_lists_of_a_larger_network(credence):
    net = BN / "alarm.bif"
    best, one = ask(credence, net, "best(4; * | HR=LOW)", "argmax(* | HR=LOW)")
    assert best["assignments"][0]["p"] == pytest.approx(one["probability"], rel=1e-9)
    assert all(a["p"] >= b["p"] for a, b in zip(best["assignments"], best["assignments"][1:]))
    assert "differs in" in credence("query", net, "best(3; *)", "--format", "text").stdout


def test_best_by_search(credence, tmp_path):
    """A grid of 900 spins in strong fields: far too wide for tables, but proven by search."""
    n, rng = 30, random.Random(2)
    pairs = [(i * n + j, k) for i in range(n) for j in range(n)
             for k in ([i * n + j + 1] if j + 1 < n else []) + ([i * n + j + n] if i + 1 < n else [])]
    lines = ["MARKOV", str(n * n), " ".join(["2"] * n * n), str(n * n + len(pairs))]
    lines += [f"1 {i}" for i in range(n * n)] + [f"2 {a} {b}" for a, b in pairs]
    fields = [rng.uniform(-2, 2) for _ in range(n * n)]
    lines += [f"2 {math.exp(h)} {math.exp(-h)}" for h in fields]
    lines += ["4 1.1 1 1 1.1"] * len(pairs)
    (tmp_path / "grid.uai").write_text("\n".join(lines) + "\n")
    answer, = ask(credence, "grid.uai", "argmax(*)")
    assert answer["method"] == "search" and answer["exact"] and answer["log_evidence"] is None
    states = [int(answer["assignment"][f"x{i}"]) for i in range(n * n)]
    value = sum(-h if s else h for h, s in zip(fields, states)) + sum(
        math.log(1.1) for a, b in pairs if states[a] == states[b])
    assert value == pytest.approx(answer["log_joint"], abs=1e-9)
    for i in range(n * n):  # at least no single spin can do better
        near = [b if a == i else a for a, b in pairs if i in (a, b)]
        agree = sum(states[b] == states[i] for b in near)
        gain = (2 * fields[i] if states[i] else -2 * fields[i]) + math.log(1.1) * (len(near) - 2 * agree)
        assert gain <= 1e-9


# --- plot ------------------------------------------------------------------------------------------

def test_plot_of_a_network(credence, burglary, tmp_path, refused):
    (tmp_path / "e.json").write_text('{"mary": "yes"}')
    drawn = credence("plot", burglary, "P(* | john=yes)", "--evidence", "e.json", "-o", "net.svg")
    assert drawn.code == 0 and drawn.stdout == "" and drawn.stderr == ""
    svg = (tmp_path / "net.svg").read_text()
    assert svg.startswith("<svg") and svg.count(">observed<") == 2 and ">28.4%<" in svg
    assert "P(e) = 0.002084" in svg
    text = credence("plot", burglary, "P(* | john=yes, mary=yes)")
    assert "alarm \u2190 burglary, earthquake" in text.stdout and "28.4%" in text.stdout
    assert credence("plot", burglary, "-o", "-").stdout.startswith("<svg")
    refused(2, "plot", burglary, "P(john)", says=["marginals of all", "P(* | ...)"])
    refused(2, "plot", burglary, "-o", "net.png", says="writes SVG")


def test_plot_of_a_network_too_wide(credence, tmp_path):
    n = 30
    pairs = [(i * n + j, k) for i in range(n) for j in range(n)
             for k in ([i * n + j + 1] if j + 1 < n else []) + ([i * n + j + n] if i + 1 < n else [])]
    lines = ["MARKOV", str(n * n), " ".join(["2"] * n * n), str(len(pairs))]
    lines += [f"2 {a} {b}" for a, b in pairs] + ["4 1 2 2 1"] * len(pairs)
    (tmp_path / "grid.uai").write_text("\n".join(lines) + "\n")
    assert credence("plot", "grid.uai", "-o", "grid.svg", "--memory-limit", "100M").code == 0
    figure = (tmp_path / "grid.svg").read_text()
    assert figure.count(">x") >= n * n and "approximate" in figure
    assert credence("plot", "grid.uai").stdout.startswith("approximate\n")


@pytest.mark.parametrize("method", ["likelihood-weighting", "importance", "gibbs", "bp"])
def test_causes_by_approximations(credence, burglary, method):
    """Samples come with the standard error of the factor."""
    exact, = ask(credence, burglary, "causes(* | alarm=on)")
    text = credence("query", burglary, "causes(* | alarm=on)", "--method", method, "--samples", 40000, "--seed", 3)
    table = rows(text)
    assert {r["variable"] for r in table} == {"burglary", "earthquake"} and table[0]["method"] == method
    for row in table:
        right, = [c for c in exact["causes"] if c["variable"] == row["variable"]]
        spread = 5 * float(row["se"]) if row["se"] else 1e-6
        assert spread > 0 and abs(float(row["value"]) - right["factor"]) < spread
    answer, = json.loads(credence("query", burglary, "causes(* | alarm=on)", "--method", method, "--json").stdout)["results"]
    assert answer["exact"] is False and ("factor_se" in answer["causes"][0]) == (method != "bp")


@pytest.mark.parametrize("question", ["best(3; * | john=yes)", "sensitivity(burglary=yes | john=yes)"])
def test_lists_are_exact_or_refused(credence, burglary, question):
    """Numbers of an approximation and of a tree are not mixed."""
    refused = credence("query", burglary, question, "--method", "gibbs")
    assert refused.code != 0 and "is always exact" in refused.stderr and "--method exact" in refused.stderr
    assert credence("query", burglary, question, "--method", "exact").code == 0


@pytest.mark.slow
def test_best_found_is_no_worse_than_messages(credence, examples):
    """Even a search on a small budget."""
    def log_of(*options):
        answer = json.loads(credence("query", "examples/networks/spins.uai.gz", "argmax(*)", "--json", *options).stdout)
        return answer["results"][0]["log_joint"]
    assert log_of("--budget", "1") >= log_of("--method", "bp") - 1e-9
