"""Networks with slices on the command line: questions about slices, tables whose rows are slices, files."""
import csv
import io
import itertools
import json
import math
import random

import pytest


@pytest.fixture
def umbrella(examples):
    return examples / "networks" / "umbrella.json"


def ask(credence, net, *arguments):
    result = credence("query", net, *arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.stdout)["results"]


STAY, BRING = 0.7, {True: 0.9, False: 0.2}


def posterior(umbrellas, wanted):
    """P(rain on each day of `wanted` | umbrellas) by a sum over all paths; None where the umbrella was not seen."""
    weight = {True: 0.0, False: 0.0}
    for path in itertools.product([True, False], repeat=len(umbrellas)):
        p = 0.5 * math.prod(STAY if a == b else 1 - STAY for a, b in zip(path, path[1:]))
        for rain, seen in zip(path, umbrellas):
            p *= 1 if seen is None else BRING[rain] if seen else 1 - BRING[rain]
        weight[path[wanted]] += p
    return weight[True] / sum(weight.values()), sum(weight.values())


def test_filter_smooth_predict(credence, umbrella):
    for seen, day in [((True, True), 1), ((True, True), 0), ((True, True, None, None), 3), ((False, True, None, True), 2)]:
        known = ", ".join(f"umbrella[t={t + 1}]={'yes' if s else 'no'}" for t, s in enumerate(seen) if s is not None)
        answer, = ask(credence, umbrella, f"P(rain[t={day + 1}] | {known})")
        p, evidence = posterior(seen, day)
        assert answer["marginals"][f"rain[t={day + 1}]"]["yes"] == pytest.approx(p, abs=1e-12)
        assert answer["log_evidence"] == pytest.approx(math.log(evidence), abs=1e-12)


def test_long_and_short_agree(credence, umbrella):
    """A slice far behind changes nothing, but makes the network too long to be put side by side."""
    short, long = ("P(rain[t=2] | umbrella[t=1..2]=yes{})".format(x) for x in ("", ", umbrella[t=5000]=yes"))
    a, b = ask(credence, umbrella, short, long)
    assert (a["method"], b["method"]) == ("ve", "interface")
    assert b["marginals"]["rain[t=2]"]["yes"] == pytest.approx(a["marginals"]["rain[t=2]"]["yes"], abs=1e-12)
    result = credence("query", umbrella, short, long, "--verbose")
    assert "plan: unrolled, 2 slices are a network of 4 variables" in result.stderr
    assert "plan: interface, width 1" in result.stderr and "5000 slices one after another" in result.stderr


def test_viterbi(credence, umbrella):
    seen = [True, True, False, True, True]
    known = ", ".join(f"umbrella[t={t + 1}]={'yes' if s else 'no'}" for t, s in enumerate(seen))
    answer, = ask(credence, umbrella, f"argmax(* | {known})")
    assert list(answer["assignment"].values()) == ["yes", "yes", "no", "yes", "yes"]


def test_evidence_from_a_file(credence, umbrella, tmp_path):
    file = tmp_path / "e.json"
    file.write_text('{"umbrella[t=1]": "yes", "umbrella[t=2]": "yes"}')
    answer, = ask(credence, umbrella, "P(rain[t=2])", "--evidence", file)
    assert answer["marginals"]["rain[t=2]"]["yes"] == pytest.approx(posterior((True, True), 1)[0], abs=1e-12)
    file.write_text('{"umbrella": "yes"}')
    result = credence("query", umbrella, "P(rain[t=2])", "--evidence", file)
    assert result.code == 3 and "in every slice" in result.stderr


@pytest.mark.parametrize("filtered", [False, True])
def test_rows_are_slices(credence, umbrella, tmp_path, filtered):
    rng = random.Random(3)
    seen = {who: [rng.choice([True, False, None]) for _ in range(n)] for who, n in [("a", 6), ("b", 1), ("c", 4)]}
    rows = [(who, day, s) for who, list_ in seen.items() for day, s in enumerate(list_)]
    rng.shuffle(rows)
    table = tmp_path / "days.csv"
    table.write_text("who,day,umbrella\n" + "".join(
        f"{who},{day},{'' if s is None else 'yes' if s else 'no'}\n" for who, day, s in rows))
    result = credence("infer", umbrella, table, "--sequence", "who", "--time", "day", "--target", "rain",
                      *["--filtered"] * filtered, "--format", "csv")
    assert result.code == 0 and result.stderr == ""
    answers = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(answers) == len(rows)
    total = {}
    for (who, day, _), answer in zip(rows, answers):
        known = seen[who][:day + 1] if filtered else seen[who]
        assert float(answer["rain=yes"]) == pytest.approx(posterior(known, day)[0], abs=1e-12)
        total[who] = total.get(who, 0) + float(answer["log_evidence"])
    for who, s in seen.items():
        assert total[who] == pytest.approx(math.log(posterior(s, 0)[1]), abs=1e-12)


def test_impossible_rows(credence, tmp_path):
    net, table = tmp_path / "n.json", tmp_path / "t.csv"
    net.write_text(json.dumps({"network": "bayes", "slices": 2, "variables": {
        "x": {"states": 2, "initial": {"table": [0.5, 0.5]}, "parents": ["x[-1]"], "table": [[1, 0], [0, 1]]}}}))
    table.write_text("s,x\na,0\na,1\nb,1\nb,1\n")
    for how, possible in [((), [False, False, True, True]), (("--filtered",), [True, False, True, True])]:
        result = credence("infer", net, table, "--sequence", "s", "--json", *how)
        assert result.code == 0 and "impossible" in result.stderr
        assert ["impossible" not in row for row in json.loads(result.stdout)["results"]] == possible


def test_plot_describe_convert(credence, umbrella, tmp_path):
    result = credence("plot", umbrella, "--format", "text")
    assert result.code == 0 and "rain[t=2] ← rain[t=1]" in result.stdout
    figure = tmp_path / "u.svg"
    assert credence("plot", umbrella, "P(* | umbrella[t=1..3]=yes)", "-o", figure).code == 0
    assert "umbrella[t=3]" in figure.read_text()
    described = json.loads(credence("describe", umbrella, "--json").stdout)
    assert described["network"]["type"] == "dynamic" and described["variables"][0]["parents"] == ["rain[-1]"]
    back = tmp_path / "back.json"
    assert credence("convert", umbrella, back).code == 0
    assert json.loads(back.read_text())["variables"]["rain"] == json.loads(umbrella.read_text())["variables"]["rain"]
    assert credence("check", back).code == 0
    for other in ["n.bif", "n.uai", "n.cred"]:
        result = credence("convert", umbrella, tmp_path / other)
        assert result.code == 2 and "only .json files can hold" in result.stderr


@pytest.mark.parametrize("arguments, code, message", [
    (["query", "NET", "P(rain[t=2])", "--against", "x.MAR"], 2, "without slices"),
    (["query", "NET", "P(rain[t=2])", "-o", "x.MAR"], 2, "without slices"),
    (["convert", "NET", "out.json", "--canonical"], 2, "not for dynamic networks"),
    (["infer", "NET", "T", "--method", "bp"], 2, "always answered exactly"),
    (["infer", "NET", "T", "--evidence", "E"], 2, "in the rows, not in a file"),
    (["infer", "NET", "T", "--time", "umbrela"], 3, "column 'umbrela' not found"),
    (["plot", "NET", "P(* | rain[t=900000]=yes)"], 2, "side by side"),
])
def test_refused(credence, umbrella, tmp_path, arguments, code, message):
    table, evidence = tmp_path / "t.csv", tmp_path / "e.json"
    table.write_text("umbrella\nyes\nno\n")
    evidence.write_text('{"rain[t=1]": "yes"}')
    named = {"NET": umbrella, "T": table, "E": evidence}
    result = credence(*[named.get(a, a) for a in arguments])
    assert result.code == code and message in result.stderr, result
    assert result.stderr.count("error:") == 1


def test_completion(credence, umbrella):
    def offered(question):
        return credence("complete", "--shell", "plain", "--", "query", umbrella, question).stdout.splitlines()
    assert offered("P(ra") == ["P(rain"]
    assert offered("P(rain[t=2] | umbrella[t=1]=") == [f"P(rain[t=2] | umbrella[t=1]={s}" for s in ("no", "yes")]


def test_order_needs_slices(credence, examples):
    for option in (["--time", "x"], ["--sequence", "x"], ["--filtered"]):
        result = credence("infer", examples / "networks/burglary.bif", examples / "networks/calls.csv", *option)
        assert result.code == 2 and f"{option[0]} is for networks with slices" in result.stderr


def test_a_million_slices(credence, umbrella):
    answer, = ask(credence, umbrella, "P(rain[t=1000000] | umbrella[t=999999]=yes)")
    assert answer["marginals"]["rain[t=1000000]"]["yes"] == pytest.approx(0.3 + 0.4 * 9 / 11, abs=1e-12)
    result = credence("query", umbrella, "P(rain[t=1000000] | umbrella[t=1]=yes)", "--time-limit", "0.01")
    assert result.code != 0 and "time limit" in result.stderr


def test_learned(credence, umbrella, examples, tmp_path):
    """What dbn learns is a network to every verb that takes one."""
    data, learned, written = examples / "umbrellas.csv", tmp_path / "m.cred", tmp_path / "m.json"
    order = ["--sequence", "town", "--time", "day"]
    result = credence("fit", "dbn", data, "--network", umbrella, *order, "-o", learned, "--json")
    assert result.code == 0, result
    said = json.loads(result.stdout)
    assert credence("convert", learned, written).code == 0
    a, b = (ask(credence, net, "P(rain[t=2] | umbrella[t=1..2]=yes)")[0] for net in (learned, written))
    assert a["log_evidence"] == pytest.approx(b["log_evidence"], abs=1e-13)
    rows = list(csv.DictReader(io.StringIO(credence("infer", learned, data, *order, "--target", "rain").stdout)))
    assert sum(float(row["log_evidence"]) for row in rows) == pytest.approx(said["log_likelihood"], abs=1e-9)
    assert "rain[t=2]" in credence("plot", learned).stdout
    refused = credence("convert", learned, tmp_path / "m.bif")
    assert refused.code == 2 and "only .json files can hold" in refused.stderr
    again = credence("fit", "dbn", data, "--network", written, *order, "--prior", "0", "--max-iter", "1", "--json",
                     "-o", tmp_path / "n.cred")
    assert json.loads(again.stdout)["log_likelihood"] == pytest.approx(said["log_likelihood"], abs=1e-9)
