"""Networks in Python: the same answers as the shell, and those of enumeration by hand."""
import copy
import gc
import itertools
import json
import os
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, data, interrupted

import credence
from credence import _context

NETWORKS = ROOT / "examples/networks"
BURGLARY = NETWORKS / "burglary.bif"
QUESTIONS = [
    ("burglary.bif", "P(burglary | john=yes, mary=yes)"), ("burglary.bif", "P(* | john=yes)"),
    ("burglary.bif", "P(alarm, burglary | mary=no)"), ("burglary.bif", "P(burglary=yes | do(alarm=on))"),
    ("burglary.bif", "argmax(* | john=yes)"), ("burglary.bif", "best(3; burglary, alarm | john=yes)"),
    ("burglary.bif", "burglary _|_ mary | alarm"), ("burglary.bif", "I(burglary; *)"),
    ("burglary.bif", "causes(* | john=yes)"), ("burglary.bif", "sensitivity(burglary=yes | john=yes)"),
    ("burglary.bif", "blanket(alarm)"), ("burglary.bif", "cliques()"), ("burglary.bif", "P(john=maybe)"),
    ("misconception.uai", "P(*)"), ("monty-hall.bif", "order()"),
    ("temperature.json", "P(* | read_monday=18)"), ("temperature.json", "P(monday, tuesday)"),
    ("umbrella.json", "P(rain[t=2] | umbrella[t=1..2]=yes)"), ("umbrella.json", "P(* | umbrella[t=300]=yes)"),
    ("umbrella.json", "argmax(* | umbrella[t=300]=yes)"), ("umbrella.json", "children(rain[t=1])"),
    ("temperature.json", "argmax(* | do(monday=20))"), ("temperature.json", "I(monday; wednesday)"),
]


@pytest.fixture(scope="module")
def net():
    return credence.Network(BURGLARY)


def plain(answer):
    return json.loads(json.dumps(answer))


@pytest.mark.parametrize("file, question", QUESTIONS)
def test_answers_are_those_of_the_shell(file, question, shell):
    network = credence.Network(NETWORKS / file)
    if "maybe" in question:
        with pytest.raises(ValueError, match="has no state 'maybe'"):
            network.query(question)
        return
    printed = json.loads(shell("query", NETWORKS / file, question, "--json"))["results"][0]
    assert plain(network.query(question)) == printed


def enumerated(john, mary):
    """P(burglary=yes | john, mary) by a sum over all states, from the tables of the textbook."""
    alarm = {(0, 0): 0.001, (0, 1): 0.29, (1, 0): 0.94, (1, 1): 0.95}
    total = np.zeros(2)
    for b, e, a in itertools.product((0, 1), repeat=3):
        p = (0.001 if b else 0.999) * (0.002 if e else 0.998) * (alarm[b, e] if a else 1 - alarm[b, e])
        p *= (0.9 if a else 0.05) if john else (0.1 if a else 0.95)
        p *= (0.7 if a else 0.01) if mary else (0.3 if a else 0.99)
        total[b] += p
    return total[1] / total.sum(), np.log(total.sum())


@pytest.mark.parametrize("john, mary", itertools.product((0, 1), repeat=2))
def test_enumeration(net, john, mary):
    words = ["no", "yes"]
    answer = net.query(f"P(burglary | john={words[john]}, mary={words[mary]})")
    p, log_evidence = enumerated(john, mary)
    assert answer.marginals["burglary"]["yes"] == pytest.approx(p, rel=1e-12)
    assert answer.log_evidence == pytest.approx(log_evidence, rel=1e-12)
    assert answer.exact and answer["method"] == answer.method


def test_evidence_in_all_forms(net):
    def asked(question, **given):
        return net.query(question, **given).marginals["burglary"]["yes"]
    wanted = asked("P(burglary | john=yes, mary=yes)")
    assert asked("P(burglary)", evidence={"john": "yes", "mary": "yes"}) == wanted
    assert asked("P(burglary | john=yes)", evidence={"mary": "yes"}) == wanted
    assert asked("P(burglary)", john="yes", mary="yes") == wanted
    assert asked("P(burglary)", john="yes", mary=["yes"]) == wanted
    assert asked("P(burglary)", evidence={"john": "yes", "mary": "yes", "alarm": None}) == wanted
    for text, given in [("john in {yes, no}", ["yes", "no"]), ("john~{yes:3, no:1}", {"yes": 3, "no": 1}),
                        ("john:={yes:0.7, no:0.3}", {"soft": {"yes": 0.7, "no": 0.3}}), ("do(john=yes)", {"do": "yes"})]:
        assert asked(f"P(burglary | {text})") == pytest.approx(asked("P(burglary)", john=given), rel=1e-13)
    gaussian = credence.Network(NETWORKS / "temperature.json")
    assert gaussian.query("P(monday | read_monday=18)").marginals == \
        gaussian.query("P(monday)", read_monday=np.float64(18)).marginals
    assert gaussian.query("P(tuesday | do(monday=20))").marginals == \
        gaussian.query("P(tuesday)", evidence={"monday": {"do": 20}}).marginals
    assert gaussian.query("P(read_monday)", tuesday={"do": 20}).marginals["read_monday"]["mean"] == pytest.approx(15)


def test_several_questions_and_options(net):
    first, second = net.query("P(burglary)", "H(burglary)", unit="nats", method="jt")
    p = first.marginals["burglary"]["yes"]
    assert first.method == "jt" and second.unit == "nats"
    assert second.entropy == pytest.approx(-p * np.log(p) - (1 - p) * np.log(1 - p), rel=1e-12)
    drawn = [net.query("P(burglary | john=yes)", method="gibbs", samples=2000, seed=seed) for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2] and not drawn[0].exact and drawn[0].error["samples"] > 0
    with pytest.raises(TypeError, match="neither an option nor a variable"):
        net.query("P(burglary)", jonn="yes")
    with pytest.raises(TypeError, match="takes a question"):
        net.query()
    with pytest.raises(ValueError, match=r"(?s)method: 'magic' is not one of.*method='bp'"):
        net.query("P(burglary)", method="magic")


def test_approximations_are_those_of_the_shell(net, shell):
    printed = json.loads(shell("query", BURGLARY, "P(burglary | john=yes)", "--method", "gibbs", "--samples", 3000,
                               "--seed", 5, "--json"))["results"][0]
    assert plain(net.query("P(burglary | john=yes)", method="gibbs", samples=3000, seed=5)) == printed


def test_variables_and_states(net):
    assert net.variables == ["burglary", "earthquake", "alarm", "john", "mary"]
    assert net.states("alarm") == ["on", "off"]
    with pytest.raises(KeyError, match="there is no variable 'alarms'"):
        net.states("alarms")
    assert credence.Network(NETWORKS / "temperature.json").states("monday") == []
    assert repr(net) == "<credence.Network 'burglary.bif': 5 variables>"


@pytest.mark.parametrize("file", ["burglary.bif", "temperature.json", "misconception.uai"])
def test_descriptions_are_those_of_the_shell(file, shell):
    printed = json.loads(shell("describe", NETWORKS / file, "--json"))
    ours = credence.Network(NETWORKS / file).describe()
    assert plain(ours) == {name: value for name, value in printed.items() if name not in ("schema", "file", "warnings")}
    assert len(ours.to_pandas()) == ours["network"]["nodes"]


def test_rows_are_those_of_the_shell(net, shell):
    printed = json.loads(shell("infer", BURGLARY, NETWORKS / "calls.csv", "--json"))
    for cases in (NETWORKS / "calls.csv", credence.read_table(NETWORKS / "calls.csv"),
                  pd.read_csv(NETWORKS / "calls.csv", keep_default_na=True, dtype=object)):
        found = net.infer(cases)
        assert [plain(found[i]) for i in range(len(found))] == printed["results"]
        assert (found.method, found.exact) == (printed["method"], printed["exact"])
    frame = net.infer(NETWORKS / "calls.csv", targets=["burglary"]).to_pandas()
    csv = shell("infer", BURGLARY, NETWORKS / "calls.csv", "--target", "burglary", "--format", "csv")
    assert list(frame.columns) == csv.splitlines()[0].split(",")
    np.testing.assert_allclose(frame.to_numpy(), np.array([line.split(",") for line in csv.split()[1:]], float))


def test_rows_of_any_kind(net):
    columns = {"john": ["yes", "no", None], "mary": ["yes", None, "no"]}
    wanted = net.infer(columns, targets="burglary")
    for cases in (pd.DataFrame(columns), pd.DataFrame(columns).astype("category"), credence.Table(columns),
                  {name: np.ma.masked_array([x or "yes" for x in values], [x is None for x in values])
                   for name, values in columns.items()}):
        np.testing.assert_array_equal(net.infer(cases, targets="burglary").marginals["burglary"],
                                      wanted.marginals["burglary"])
    assert wanted.marginals["burglary"].shape == (3, 2) and wanted.states == {"burglary": ["yes", "no"]}
    assert wanted.marginals["burglary"][0, 0] == pytest.approx(enumerated(1, 1)[0], rel=1e-12)
    known = net.infer({"john": ["yes"]}, targets="burglary", evidence={"mary": "yes"})
    assert known[0].marginals["burglary"]["yes"] == pytest.approx(enumerated(1, 1)[0], rel=1e-12)
    assert list(net.infer({"john": ["yes", "no"]}).marginals) == ["burglary", "earthquake", "alarm", "mary"]


def test_states_that_look_like_numbers(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps({"network": "bayes", "variables": {
        "a": {"states": ["0", "1"], "table": [0.25, 0.75]},
        "b": {"states": ["false", "true"], "parents": ["a"], "table": [0.5, 0.5, 0.1, 0.9]}}}))
    network = credence.Network(tmp_path / "n.json")
    wanted = [0.25 * 0.5 / (0.25 * 0.5 + 0.75 * 0.9), 0.25 * 0.5 / (0.25 * 0.5 + 0.75 * 0.1)]
    for b in ([True, False], np.array([True, False]), ["true", "false"], pd.Series([True, False], dtype="boolean")):
        np.testing.assert_allclose(network.infer({"b": b}).marginals["a"][:, 0], wanted, rtol=1e-13)
    for a in ([0, 1], np.array([0.0, 1.0]), np.array(["0", "1"]), pd.Series([0, 1], dtype="Int64")):
        np.testing.assert_allclose(network.infer({"a": a}).marginals["b"][:, 0], [0.5, 0.1], rtol=1e-13)
        np.testing.assert_allclose(network.infer(credence.Table({"a": a})).marginals["b"][:, 0], [0.5, 0.1], rtol=1e-13)
    assert network.query("P(a)", b=True) == network.query("P(a)", evidence={"b": np.bool_(True)})
    assert network.query("P(b)", a=1).marginals["b"]["true"] == pytest.approx(0.9)


def test_impossible_rows(tmp_path):
    (tmp_path / "n.json").write_text(json.dumps({"network": "bayes", "variables": {
        "a": {"states": ["x", "y"], "table": [1.0, 0.0]},
        "b": {"states": ["x", "y"], "parents": ["a"], "table": [1, 0, 0.5, 0.5]}}}))
    network = credence.Network(tmp_path / "n.json")
    with pytest.warns(credence.CredenceWarning, match="1 of 2 rows are impossible"):
        found = network.infer({"b": ["x", "y"]})
    assert found.possible.tolist() == [True, False] and np.isnan(found.marginals["a"][1]).all()
    assert found[1] == {"log_evidence": None, "impossible": True, "marginals": {}}
    with pytest.raises(ValueError, match="impossible"):
        network.query("P(a | b=y)")


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "json", "cred", "bif.gz"])
def test_files(net, ending, tmp_path):
    net.save(tmp_path / f"n.{ending}")
    again = credence.Network(tmp_path / f"n.{ending}")
    np.testing.assert_allclose(again.query("P(*)").to_pandas().p, net.query("P(*)").to_pandas().p, rtol=1e-12)
    with pytest.raises(ValueError, match="cannot tell the format.*\n.*or give format"):
        net.save(tmp_path / "n.csv")
    net.save(tmp_path / "plain", format="bif")
    assert credence.Network(tmp_path / "plain", format="bif").variables == net.variables
    with pytest.raises(ValueError, match="there is no format 'pdf'"):
        net.save(tmp_path / "x", format="pdf")
    gaussian = credence.Network(NETWORKS / "temperature.json")
    with pytest.raises(ValueError, match="only .json and .cred"):
        gaussian.save(tmp_path / "n.bif")
    with pytest.raises(FileNotFoundError):
        credence.Network(tmp_path / "nowhere.bif")


def test_figures_are_those_of_the_shell(net, shell, tmp_path):
    shell("plot", BURGLARY, "P(* | john=yes)", "-o", "f.svg")
    figure = net.plot("P(* | john=yes)")
    assert str(figure) == (tmp_path / "f.svg").read_text() == figure._repr_svg_()
    assert net.plot(evidence={"john": "yes"}, path=tmp_path / "g.svg").svg == figure.svg
    assert (tmp_path / "g.svg").read_text() == figure.svg
    assert open(figure.save(tmp_path / "h.svg")).read() == figure.svg
    with pytest.raises(TypeError, match="not in a file"):
        os.fspath(figure)
    with pytest.raises(ValueError):
        net.plot("P(burglary)")


def test_pickles_and_copies(net):
    again = pickle.loads(pickle.dumps(net))
    assert again.query("P(*)") == net.query("P(*)") and repr(again) == repr(net)
    assert copy.deepcopy(net) is net
    answer = net.query("P(burglary)")
    assert pickle.loads(pickle.dumps(answer)) == answer == copy.deepcopy(answer)


def test_tables_of_answers(net):
    frame = net.query("P(alarm, burglary | mary=no)").to_pandas()
    assert list(frame.columns) == ["alarm", "burglary", "p"] and frame.p.sum() == pytest.approx(1)
    frame = net.query("P(*)").to_pandas()
    assert list(frame.columns) == ["variable", "state", "p"] and len(frame) == 10
    frame = net.query("causes(* | john=yes)").to_pandas()
    assert list(frame.columns) == ["variable", "state", "before", "after", "factor"]
    assert "<table" in net.query("P(*)")._repr_html_() and "burglary=yes" in net.infer({"john": ["yes"]})._repr_html_()
    with pytest.raises(AttributeError, match="has no 'entropy'; it has query"):
        net.query("P(alarm)").entropy


def test_a_model_without_a_network():
    X, y = data()
    with pytest.raises(NotImplementedError, match="Ridge is a model without a network"):
        credence.Network(credence.Ridge().fit(X, y))


def test_no_leak_over_many_questions(net):
    def use():
        net.query("P(burglary | john=yes)")
        net.infer({"john": ["yes", None]}, targets="burglary")
        with pytest.raises(ValueError):
            net.query("P(burglary | john=ja)")
    use()
    gc.collect()
    before = _context.current().memory()
    for _ in range(2000):
        use()
    credence.Network(BURGLARY).plot(), pickle.loads(pickle.dumps(net)), net.describe()
    gc.collect()
    assert _context.current().memory() == before


def test_ctrl_c_stops_a_question(net):
    with interrupted():
        net.query("P(burglary | john=yes)", method="gibbs", samples=10**9)
    assert net.query("P(burglary)").exact


def test_threads_and_forks(net):
    wanted, found = net.query("P(* | john=yes)"), []
    threads = [threading.Thread(target=lambda: found.append(net.query("P(* | john=yes)"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 4
    child = os.fork()
    if child == 0:
        os._exit(0 if net.query("P(* | john=yes)") == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- networks that are learned --------------------------------------------------------------------

def commuters():
    return pd.read_csv(ROOT / "examples/commute.csv")


def test_a_network_is_learned():
    f = commuters()
    model = credence.Bn(order="age+town,job,distance+car,travel,late").fit(f)
    arcs = {(arc["from"], arc["to"]) for arc in model.describe()["arcs"]}
    assert ("travel", "late") in arcs and ("late", "travel") not in arcs and len(arcs) == 8
    density = model.score_samples(f)
    assert density.shape == (800,) and density.sum() == pytest.approx(model.report_["log_likelihood"], rel=1e-9)
    halves = credence.Bn(structure=str(ROOT / "examples/networks/commute.json")).partial_fit(f[:400]).partial_fit(f[400:])
    whole = credence.Bn(structure=str(ROOT / "examples/networks/commute.json")).fit(f)
    np.testing.assert_allclose(halves.score_samples(f), whole.score_samples(f), rtol=1e-12)


def test_a_learned_network_classifies_and_is_one(tmp_path):
    f = commuters()
    y = f.pop("travel")
    model = credence.BnClassifier(structure="naive").fit(f, y)
    shares = model.predict_proba(f)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert list(model.classes_) == ["bike", "bus", "car"] and (model.predict(f) == y).mean() > 0.6
    f.loc[::3, "car"] = None   # a cell that is missing is summed over
    assert (model.predict(f) == y).mean() > 0.55
    model.save(tmp_path / "m.cred")
    again = credence.load(tmp_path / "m.cred")
    assert isinstance(again, credence.BnClassifier)
    np.testing.assert_array_equal(again.predict_proba(f), model.predict_proba(f))
    credence.Bn(structure="empty").fit(f).save(tmp_path / "n.cred")
    assert isinstance(credence.load(tmp_path / "n.cred"), credence.Bn)
