"""Networks as JSON on the command line: every kind of distribution, features, spins, Gaussian networks."""
import csv
import itertools
import json
import math

import numpy as np
import pytest


@pytest.fixture
def networks(examples):
    return examples / "networks"


def ask(credence, net, *questions, code=0):
    result = credence("query", net, *questions, "--json")
    assert result.code == code and result.stderr == "", result
    return json.loads(result.stdout)["results"]


# --- tables and less than tables ---------------------------------------------------------------------

def test_noisy_or_by_hand(credence, networks):
    answer, = ask(credence, networks / "diagnosis.json", "P(flu | fever=yes, cough=yes)")
    prior = {"cold": 0.2, "flu": 0.05, "pneumonia": 0.005}
    fever, cough = (0.2, 0.8, 0.85), (0.5, 0.6, 0.9)
    weight = {False: 0.0, True: 0.0}
    for ill in itertools.product([False, True], repeat=3):
        p = math.prod(q if i else 1 - q for i, q in zip(ill, prior.values()))
        p *= 1 - 0.99 * math.prod(1 - s for i, s in zip(ill, fever) if i)
        p *= 1 - 0.95 * math.prod(1 - s for i, s in zip(ill, cough) if i)
        weight[ill[1]] += p
    assert answer["marginals"]["flu"]["yes"] == pytest.approx(weight[True] / sum(weight.values()), abs=1e-13)
    assert answer["log_evidence"] == pytest.approx(math.log(sum(weight.values())), abs=1e-12)


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "uai", "cred", "json"])
def test_convert_expands_exactly(credence, networks, ending):
    net = networks / "diagnosis.json"
    assert credence("convert", net, f"n.{ending}").code == 0
    assert credence("convert", f"n.{ending}", "back.json").code == 0

    def values(path):
        return [float(r.rsplit(",", 1)[1]) for r in credence("query", path, "P(*)").stdout.split("\n")[1:-1]]
    assert values("back.json") == pytest.approx(values(net), rel=1e-13)  # a table is summed in another order


def test_parameters_are_kept(credence, networks):
    net = networks / "diagnosis.json"
    assert credence("convert", net, "n.cred").code == 0
    assert credence("convert", "n.cred", "back.json").code == 0
    was, now = json.loads(net.read_text()), json.loads(open(net.parents[2] / "back.json").read())
    for name, key in [("fever", "noisy-or"), ("weakness", "noisy-max"), ("work", "tree"),
                      ("desk", "deterministic")]:
        assert now["variables"][name][key] == was["variables"][name][key]
    described = json.loads(credence("describe", "n.cred", "--json").stdout)["variables"]
    assert [v["kind"] for v in described] == [
        "table", "table", "table", "noisy-or", "noisy-or", "noisy-max", "tree", "deterministic"]
    text = credence("describe", net, "--format", "text").stdout
    assert "noisy-max" in text and "kind" in text
    assert "kind" not in credence("describe", networks / "burglary.bif", "--format", "text").stdout


def test_large_noisy_or(credence, refused, tmp_path):
    """Many parents need no table, but where a file has to hold one it heeds the limits."""
    for n in (24, 50):
        net = {f"p{i}": {"states": ["no", "yes"], "table": [0.5, 0.5]} for i in range(n)}
        net["y"] = {"states": ["no", "yes"], "parents": [f"p{i}" for i in range(n)],
                    "noisy-or": {"leak": 0.01, "strengths": {f"p{i}": 0.3 for i in range(n)}}}
        (tmp_path / f"or{n}.json").write_text(json.dumps({"network": "bayes", "variables": net}))
    refused(6, "convert", "or24.json", "or24.bif", "--time-limit", "0.1s", says="time limit")
    refused(6, "convert", "or24.json", "or24.bif", "--memory-limit", "200M",
            says=["would have 3.36e+07 entries", ".json and .cred need no table"])
    refused(6, "convert", "or50.json", "or50.uai", says=["'y' would have 2.25e+15 entries", ".json and .cred need no table"])
    summary = json.loads(credence("describe", "or50.json", "--format", "json").stdout)["network"]
    assert (summary["nodes"], summary["parameters"], summary["most_parents"]) == (51, 101, 50)
    answers = ask(credence, "or50.json", "P(y)", "P(p7 | y=yes)", "P(p7 | y=no)", "P(*)")
    none = 0.99 * 0.85 ** 50
    assert answers[0]["marginals"]["y"]["no"] == pytest.approx(none, rel=1e-12)
    assert answers[1]["marginals"]["p7"]["yes"] == pytest.approx(0.5 * (1 - none / 0.85 * 0.7) / (1 - none), rel=1e-12)
    assert answers[2]["marginals"]["p7"]["yes"] == pytest.approx(0.35 / 0.85, rel=1e-12)
    assert len(answers[3]["marginals"]) == 51
    for end in ("json", "cred"):
        assert credence("convert", "or50.json", f"copy.{end}").code == 0
        assert ask(credence, f"copy.{end}", "P(y)")[0]["marginals"] == answers[0]["marginals"]
    (tmp_path / "cases.csv").write_text("y,p3\nyes,\nno,yes\n")
    for method in ("auto", "ve"):
        rows = credence("infer", "or50.json", "cases.csv", "--target", "p7", "--method", method).stdout.split("\n")
        assert float(rows[1].split(",")[-1]) == pytest.approx(answers[1]["marginals"]["p7"]["yes"], rel=1e-12)
        assert float(rows[2].split(",")[-1]) == pytest.approx(0.35 / 0.85, rel=1e-12)
    plot = credence("plot", "or50.json", "-o", "or50.svg")
    assert plot.code == 0 and "auxiliary" not in (tmp_path / "or50.svg").read_text()


@pytest.mark.parametrize("parents, states", [(1, 70), (2, 20)])
def test_noisy_max_of_few_parents_with_many_states(credence, tmp_path, parents, states):
    """Too many entries for a table to be kept, too few parents to be parted one by one: P(v <= k) is a product."""
    rng = np.random.default_rng(3)
    names = [f"s{i}" for i in range(states)]
    rows = [rng.dirichlet(np.ones(states), states) for _ in range(parents)]
    priors, leak = rng.dirichlet(np.ones(states), parents), rng.dirichlet(np.ones(states))
    net = {f"p{i}": {"states": names, "table": priors[i].tolist()} for i in range(parents)}
    net["v"] = {"states": names, "parents": list(net),
                "noisy-max": {"leak": leak.tolist(), "effects": {
                    f"p{i}": {s: row.tolist() for s, row in zip(names, rows[i])} for i in range(parents)}}}
    (tmp_path / "max.json").write_text(json.dumps({"network": "bayes", "variables": net}))
    below = np.cumsum(leak) * np.prod([priors[i] @ np.cumsum(rows[i], axis=1) for i in range(parents)], axis=0)
    answer, = ask(credence, "max.json", "P(v)")
    assert list(answer["marginals"]["v"].values()) == pytest.approx(np.diff(below, prepend=0), abs=1e-12)


def test_rows_of_many_effects(credence, examples, tmp_path):
    """Twenty alarms that are off part their causes, row by row; one tree for all rows is too wide."""
    net = examples / "networks/alarms.json"
    known = {f"alarm{i}": "on" if i in (2, 5, 9) else "off" for i in range(1, 24)}
    (tmp_path / "cases.csv").write_text(",".join(known) + "\n" + ",".join(known.values()) + "\n")
    answer, = ask(credence, net, f"P(fault18 | {', '.join(f'{k}={v}' for k, v in known.items())})")
    row = credence("infer", net, "cases.csv", "--target", "fault18", "--method", "ve").stdout.split("\n")[1].split(",")
    assert float(row[-1]) == pytest.approx(answer["marginals"]["fault18"]["yes"], rel=1e-12)
    assert float(row[0]) == pytest.approx(answer["log_evidence"], rel=1e-12)
    faults = [v for v in json.loads(net.read_text())["variables"].values()]
    assert answer["exact"] and max(len(v.get("parents", [])) for v in faults) > 20


def test_infer_takes_json(credence, networks, tmp_path):
    (tmp_path / "cases.csv").write_text("fever,cough\nyes,yes\nno,\n")
    lines = credence("infer", networks / "diagnosis.json", "cases.csv", "--target", "flu").stdout.split("\n")
    answer, = ask(credence, networks / "diagnosis.json", "P(flu | fever=yes, cough=yes)")
    assert float(lines[1].split(",")[-1]) == pytest.approx(answer["marginals"]["flu"]["yes"], abs=1e-12)


def test_by_pipe_and_by_option(credence, networks):
    text = (networks / "diagnosis.json").read_bytes()
    assert credence("check", "-", "--from", "json", "--format", "text", input=text).stdout == (
        "stdin: a sound network, 8 nodes, 35 parameters\n")
    assert credence("query", "-", "P(flu)", "--from", "json", input=text).code == 0
    assert credence("query", "-", "P(flu)", input=text).code == 0
    assert credence("convert", networks / "burglary.bif", "-", "--to", "json").stdout.startswith("{\n  \"network\"")


def test_mistakes_have_a_place(networks, refused, tmp_path):
    good = (networks / "diagnosis.json").read_text()
    for old, new, says in [
        ('"leak": 0.01', '"leek": 0.01', "bad.json:11:20: there is no key \"leek\" here"),
        ('"flu": 0.8,', '"flu": 1.8,', "a strength should lie between 0 and 1, not 1.8"),
        ('"parents": ["work"]', '"parents": ["wrok"]', "there is no variable 'wrok'"),
        ('"no": 0.8, "yes": 0.2', '"no": 0.8, "yes": 0.1', "probabilities sum to 0.9, expected 1"),
        ('"goes": "taken", ', '', "there is no value for work=goes here"),
        ('"name": "diagnosis"', '"name": "x", "name": "y"', "a key occurs twice"),
        ('"split": "weakness"', '"split": "cold"', "'cold' is not a parent of 'work'"),
        ('"states": ["empty", "taken"],', '"states": ["empty", "taken"],,', "not JSON"),
    ]:
        assert old in good
        (tmp_path / "bad.json").write_text(good.replace(old, new))
        refused(3, "check", "bad.json", says=says)


# --- features and spins ------------------------------------------------------------------------------

def test_the_machine_by_enumeration(credence, networks):
    machine = json.loads((networks / "boltzmann.json").read_text())["boltzmann"]
    names = list(machine["biases"])
    weights = {}
    for x in itertools.product([0, 1], repeat=4):
        state = dict(zip(names, x))
        energy = sum(machine["biases"][n] * state[n] for n in names)
        energy += sum(w * state[a] * state[b] for a, b, w in machine["weights"])
        weights[x] = math.exp(energy)
    z = sum(weights.values())
    marginals, best, joint = ask(credence, networks / "boltzmann.json", "P(*)", "argmax(*)", "P(ann, dan)")
    assert marginals["log_evidence"] == pytest.approx(math.log(z), abs=1e-12)
    assert marginals["marginals"]["cleo"]["1"] == pytest.approx(
        sum(w for x, w in weights.items() if x[2]) / z, abs=1e-13)
    assert tuple(int(s) for s in best["assignment"].values()) == max(weights, key=weights.get)
    assert joint["table"][3]["p"] == pytest.approx(
        sum(w for x, w in weights.items() if x[0] and x[3]) / z, abs=1e-13)


def test_a_strip_by_its_transfer_matrix(credence, networks):
    rows, cols, J, h = 4, 12, 0.4, 0.05
    spins = np.array(list(itertools.product([-1, 1], repeat=rows)))
    within = np.exp(J * (spins[:, 1:] * spins[:, :-1]).sum(1) + h * spins.sum(1))
    T = np.exp(J * spins @ spins.T) * within
    z = within.copy()
    for _ in range(cols - 1):
        z = z @ T
    answer, = ask(credence, networks / "ising.json", "P(s2_6)")
    assert answer["log_evidence"] == pytest.approx(math.log(z.sum()), abs=1e-12)


def test_canonical_features(credence, networks, refused):
    net = networks / "misconception.uai"
    assert credence("convert", net, "f.json", "--canonical").code == 0
    plain, = ask(credence, net, "P(x0, x1)")
    features, = ask(credence, "f.json", "P(x0, x1)")
    assert features["log_evidence"] == pytest.approx(plain["log_evidence"], abs=1e-12)
    for a, b in zip(plain["table"], features["table"]):
        assert a["states"] == b["states"] and a["p"] == pytest.approx(b["p"], abs=1e-13)
    other = json.loads(credence("convert", net, "-", "--to", "json", "--canonical",
                                "--reference", "x0=1,x2=1").stdout)
    weights = {tuple(f["when"].items()): f["weight"] for f in other["features"]}
    assert weights[(("x0", "0"), ("x1", "1"))] == pytest.approx(-math.log(60), abs=1e-12)
    assert credence("convert", networks / "burglary.bif", "b.uai", "--canonical").code == 0
    burglary, = ask(credence, networks / "burglary.bif", "P(mary=yes)")
    same, = ask(credence, "b.uai", "P(x4=0)")
    assert same["probability"] == pytest.approx(burglary["probability"], abs=1e-13)
    refused(3, "convert", networks / "hamming.bif", "h.json", "--canonical", says="a table is 0 at")
    refused(2, "convert", net, "h.json", "--reference", "x0=1", says="--reference requires --canonical")
    refused(2, "convert", net, "h.json", "--canonical", "--reference", "x0", says="should be a variable and its")
    refused(2, "convert", net, "h.json", "--canonical", "--reference", "x9=1", says="no variable 'x9'")


# --- Gaussian networks -------------------------------------------------------------------------------

def dense(net):
    """Names, mean and covariance of all variables."""
    nodes = {n: d["linear-gaussian"] for n, d in json.loads(net.read_text())["variables"].items()}
    names = list(nodes)
    W, b = np.zeros((len(names),) * 2), np.array([nodes[n].get("intercept", 0) for n in names], float)
    for i, n in enumerate(names):
        for parent, weight in nodes[n].get("weights", {}).items():
            W[i, names.index(parent)] = weight
    A = np.linalg.inv(np.eye(len(names)) - W)
    return names, A @ b, A @ np.diag([nodes[n]["variance"] for n in names]) @ A.T


def test_gaussian_questions(credence, networks):
    net = networks / "temperature.json"
    names, m, S = dense(net)
    a, o = [0, 1, 2], [3, 4]
    x = np.array([18, 11])
    G = S[np.ix_(a, o)] @ np.linalg.inv(S[np.ix_(o, o)])
    mean, cov = m[a] + G @ (x - m[o]), S[np.ix_(a, a)] - G @ S[np.ix_(o, a)]
    e = "read_monday=18, read_wednesday=11"
    all_, joint, density, best, mutual, entropy, apart = ask(
        credence, net, f"P(* | {e})", f"P(monday, wednesday | {e})", f"P({e})", f"argmax(* | {e})",
        "I(monday; wednesday)", "H(monday)", "monday _|_ wednesday | tuesday")
    for i, name in enumerate(names[:3]):
        assert all_["marginals"][name]["mean"] == pytest.approx(mean[i], abs=1e-10)
        assert all_["marginals"][name]["sd"] == pytest.approx(math.sqrt(cov[i, i]), abs=1e-10)
        assert best["assignment"][name] == pytest.approx(mean[i], abs=1e-10)
    assert joint["variables"] == ["monday", "wednesday"]
    assert np.allclose(joint["covariance"], cov[np.ix_([0, 2], [0, 2])], atol=1e-10)
    So = S[np.ix_(o, o)]
    log_p = -0.5 * ((x - m[o]) @ np.linalg.solve(So, x - m[o]) + np.linalg.slogdet(2 * np.pi * So)[1])
    assert density["log_density"] == pytest.approx(log_p, abs=1e-10)
    assert all_["log_evidence"] == pytest.approx(log_p, abs=1e-10)
    assert best["log_density"] == pytest.approx(-0.5 * np.linalg.slogdet(2 * np.pi * cov)[1], abs=1e-10)
    rho2 = S[0, 2] ** 2 / S[0, 0] / S[2, 2]
    assert mutual["information"] == pytest.approx(-0.5 * math.log2(1 - rho2), abs=1e-10)
    assert entropy["entropy"] == pytest.approx(0.5 * math.log2(2 * math.pi * math.e * S[0, 0]), abs=1e-10)
    assert apart["independent"] is True
    done, = ask(credence, net, "P(monday, wednesday | do(tuesday=20))")
    assert done["mean"] == [15, 19] and done["covariance"] == [[9, 0], [0, 4]]
    trail, = ask(credence, net, "monday _|_ wednesday", code=1)
    assert trail["trail"] == ["monday", "tuesday", "wednesday"]


def test_gaussian_shapes(credence, networks, tmp_path):
    net = networks / "temperature.json"
    (tmp_path / "e.json").write_text('{"read_monday": 18}')
    one = credence("query", net, "P(tuesday | read_monday=18)", "I(monday; *)", "H(monday)", "P(monday=3)",
                   "argmax(monday)", "P(monday, tuesday)", "monday _|_ wednesday", "--format", "text")
    assert one.code == 1 and "cov(tuesday)" in one.stdout and "monday -> tuesday -> wednesday" in one.stdout
    table = credence("query", net, "P(tuesday)", "P(monday,tuesday)", "I(monday; *)", "H(monday)", "P(monday=3)",
                     "argmax(monday)")
    assert table.stdout.startswith("query,variable,state,value\nP(tuesday),tuesday,mean,15\n")
    assert '"P(monday,tuesday)","monday,tuesday",covariance,7.2' in table.stdout
    same = credence("query", net, "P(tuesday)", "--evidence", "e.json")
    assert same.stdout.split(",")[-1] == credence("query", net, "P(tuesday | read_monday=18)").stdout.split(",")[-1]
    assert credence("describe", net, "--format", "text").stdout.startswith(
        f"{net}: a Gaussian network, 5 nodes, 4 arcs")
    assert "3 + 0.8 monday" in credence("describe", net).stdout
    assert credence("check", net, "--format", "text").stdout == (
        f"{net}: a sound Gaussian network, 5 nodes, 14 parameters\n")
    assert credence("convert", net, "g.json").code == 0
    assert credence("query", "g.json", "P(*)").stdout == credence("query", net, "P(*)").stdout


def test_gaussian_rows(credence, networks, refused, tmp_path):
    net = networks / "temperature.json"
    (tmp_path / "r.csv").write_text("read_monday,read_wednesday,note\n18,11,a\n,12,b\n")
    result = credence("infer", net, "r.csv", "--target", "tuesday", "--json")
    answers = json.loads(result.stdout)
    assert "does not match a variable" in result.stderr and answers["rows"] == 2
    for answer, e in zip(answers["results"], ["read_monday=18, read_wednesday=11", "read_wednesday=12"]):
        asked, = ask(credence, net, f"P(tuesday | {e})")
        assert answer["marginals"] == asked["marginals"]
        assert answer["log_evidence"] == pytest.approx(asked["log_evidence"], abs=1e-12)
    (tmp_path / "q.csv").write_text("read_monday\nwarm\n")
    (tmp_path / "x.csv").write_text("read_monday\n18\n\nNA\n19\nwarm\n")
    refused(3, "infer", net, "x.csv", "--quiet", says="'warm' is not a number")
    refused(3, "infer", net, "q.csv", says="'read_monday' is a Gaussian variable, but 'warm' is not a number")
    (tmp_path / "y.csv").write_text("read_monday\n18\n")
    refused(2, "infer", net, "y.csv", "--target", "tuesday,tuesday", says="names 'tuesday' twice")


def test_names_that_mean_something_else(credence, tmp_path):
    """Variables called as the column of probabilities is, and one with a comma in its name."""
    coin = {"states": ["a", "b"], "table": [0.75, 0.25]}
    (tmp_path / "p.json").write_text(json.dumps({"network": "bayes", "variables": {"probability": coin, "P": coin}}))
    for question in ("best(4; *)", "P(probability, P)"):
        lines = credence("query", "p.json", question, "--format", "text").stdout.splitlines()
        assert lines[1].split() == ["probability", "P", "joint", "probability"]
        assert lines[2].split() == ["a", "a", "0.5625"]
    one, other = {"linear-gaussian": {"variance": 1}}, {"linear-gaussian": {"weights": {"a,b": 2}, "variance": 1}}
    (tmp_path / "g.json").write_text(json.dumps({"network": "gaussian", "variables": {"a,b": one, "c": other}}))
    last = list(csv.DictReader(credence("query", "g.json", 'P("a,b", c)').stdout.splitlines()))[-1]
    assert (last["variable"], last["state"], last["value"]) == ('"a,b",c', "covariance", "2")


def test_gaussian_figures_and_model_files(credence, networks, tmp_path):
    """The weights stand on the arrows, the means in the nodes; .cred keeps every number."""
    net = networks / "temperature.json"
    (tmp_path / "e.json").write_text('{"read_monday": 19}')
    assert credence("plot", net, "-o", "a.svg", "--evidence", "e.json").code == 0
    assert credence("plot", net, "P(* | read_monday=19)", "-o", "b.svg").code == 0
    figure = (tmp_path / "a.svg").read_text()
    assert figure == (tmp_path / "b.svg").read_text()
    assert figure.count(">0.8<") == 2 and figure.count(">1<") == 2 and ">18.6 ± 0.949<" in figure
    lines = credence("plot", net).stdout
    assert "tuesday ← 0.8 monday\n  15 ± 3.12\n" in lines
    assert credence("convert", net, "g.cred").code == 0
    assert credence("convert", "g.cred", "-", "--to", "json").stdout == credence("convert", net, "-", "--to", "json").stdout
    assert ask(credence, "g.cred", "P(* | read_monday=19)") == ask(credence, net, "P(* | read_monday=19)")
    assert credence("plot", "g.cred", "P(* | read_monday=19)").stdout == credence("plot", net, "P(* | read_monday=19)").stdout
    assert "Gaussian network" in credence("describe", "g.cred", "--format", "text").stdout


def test_gaussian_refusals(networks, refused, tmp_path):
    net = networks / "temperature.json"
    refused(2, "query", net, "best(3; *)", says="the variables of a Gaussian network have values")
    refused(2, "query", net, "P(monday | tuesday in {a})", says="evidence on a Gaussian variable is a value")
    refused(2, "query", net, "P(monday)", "--method", "bp", says="answered exactly")
    refused(2, "convert", net, "g.bif", says="which only .json and .cred files can hold")
    refused(2, "convert", net, "g.json", "--canonical", says="not for Gaussian networks")
    refused(2, "plot", net, "P(monday)", says="ask for P(* | ...)")
    mixed = json.loads(net.read_text())
    mixed["variables"]["weather"] = {"states": ["sun", "rain"], "table": [0.5, 0.5]}
    (tmp_path / "mixed.json").write_text(json.dumps(mixed))
    refused(3, "check", "mixed.json", says="the two cannot be mixed")
