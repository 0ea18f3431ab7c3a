"""Networks on the command line: the graph, solution files, questions that are refused."""
import json

import pytest

from networks import BN, ask, rows


def test_functions_of_what_is_given_count_as_given(credence, tmp_path):
    net = tmp_path / "copy.bif"
    net.write_text("""network d { }
variable a { type discrete [ 2 ] { 0, 1 }; }
variable b { type discrete [ 2 ] { 0, 1 }; }
variable c { type discrete [ 2 ] { 0, 1 }; }
variable e { type discrete [ 2 ] { 0, 1 }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (0) 1, 0; (1) 0, 1; }
probability ( c | b ) { (0) 0.2, 0.8; (1) 0.6, 0.4; }
probability ( e | b ) { (0) 0.1, 0.9; (1) 0.6, 0.4; }
""")
    text = credence("query", net, "c _|_ e | a", "--format", "text").stdout
    assert "independent, since what is given determines b" in text
    one, two = ask(credence, net, "c _|_ e | a", "c _|_ e | b")
    assert one["independent"] is True and one["determined"] == ["b"]
    assert two["independent"] is True and "determined" not in two
    text = credence("query", net, "dsep(c; e | a)", "--format", "text")
    assert text.code == 1 and "not independent: c <- b -> e is active" in text.stdout  # whatever the numbers are
    by_graph, yes, none = ask(credence, net, "dsep(c; e | a)", "dsep(c; e | b)", "dsep(a; c, e)")
    assert by_graph["independent"] is False and by_graph["trail"] == ["c", "b", "e"] and by_graph["method"] == "graph"
    assert yes["independent"] is True and "determined" not in yes and none["independent"] is False


def test_separation_by_the_graph_is_read_like_others(refused, credence, burglary):
    for question, says in [("dsep(john)", "';'"), ("dsep(john; john)", "both sides"), ("dsep(john; mary", "')'"),
                           ("dseparated(john; mary)", "dsep(...)"),
                           ("dsep(john; mary | alarm=on)", "not their states")]:
        refused(2, "query", burglary, question, says=says)
    assert credence("query", burglary, "dsep(john; mary | alarm, earthquake)").code == 0


def test_one_refused_question_leaves_the_others(credence, burglary, tmp_path):
    result = credence("query", burglary, "P(mary)", "best(2; *)", "P(john)", "--method", "bp", "--json")
    out = json.loads(result.stdout)
    assert result.code == 2 and [r["query"] for r in out["results"]] == ["P(mary)", "P(john)"]
    assert out["refused"] == [{"query": "best(2; *)", "message": "best(...) is always exact and cannot use bp"}]
    assert "error: best(...) is always exact" in result.stderr and "in the question best(2; *)" in result.stderr
    target = tmp_path / "answers.csv"
    result = credence("query", burglary, "P(mary)", "best(2; *)", "sensitivity(mary=yes)", "--method", "bp", "-o", target)
    assert result.code == 2 and target.read_text().count("P(mary)") == 2
    assert "warning: sensitivity(mary=yes): not answered" in result.stderr
    result = credence("query", burglary, "best(2; *)", "best(3; *)", "--method", "bp", "--json")
    assert result.code == 2 and result.stdout == ""


def test_structure(credence, burglary, examples, tmp_path):
    parents, blanket, order, moral, cliques, chordal, imap = ask(
        credence, burglary, "parents(alarm)", "blanket(burglary)", "order()", "moral()", "cliques()", "chordal()",
        f"imap({burglary})")
    assert parents["variables"] == ["burglary", "earthquake"] and parents["method"] == "graph"
    assert blanket["variables"] == ["earthquake", "alarm"]
    assert order["variables"].index("alarm") < order["variables"].index("john")
    assert ["burglary", "earthquake"] in moral["edges"] and len(moral["edges"]) == 5
    assert sorted(len(c) for c in cliques["cliques"]) == [2, 2, 3] and cliques["cost"]["width"] == 2
    assert chordal["chordal"] is True and imap["imap"] is True
    rows_ = rows(credence("query", burglary, "descendants(burglary)", "cliques()", "chordal()", "--format", "csv"))
    assert [r["variable"] for r in rows_[:3]] == ["alarm", "john", "mary"]
    assert "burglary,earthquake,alarm" in [r["variable"] for r in rows_] and rows_[-1]["value"] == "1"
    other = tmp_path / "other.bif"
    other.write_text(burglary.read_text().replace("( mary | alarm )", "( mary | john )")
                     .replace("(on) 0.70", "(yes) 0.70").replace("(off) 0.01", "(no) 0.01"))
    result = credence("query", burglary, f"imap('{other}')", "--json")
    answer, = json.loads(result.stdout)["results"]
    assert result.code == 1 and answer["imap"] is False
    assert answer["independence"] == {"x": "john", "y": "mary", "given": ["alarm"]}
    result = credence("query", examples / "networks/misconception.uai", "chordal()", "--json")
    assert result.code == 1 and json.loads(result.stdout)["results"][0]["chordal"] is False


def test_describe_has_the_structure(credence, burglary):
    out = json.loads(credence("describe", burglary, "--json").stdout)
    assert out["network"]["chordal"] is True
    assert out["network"]["order"] == ["burglary", "earthquake", "alarm", "john", "mary"]
    alarm = next(v for v in out["variables"] if v["name"] == "alarm")
    assert alarm["children"] == ["john", "mary"]
    assert alarm["blanket"] == ["burglary", "earthquake", "john", "mary"]


UAI = BN.parent / "uai"
QUICK = ["CSP_12", "Promedus_24", "tiny/grid4x4", "tiny/ChestClinic"]
LESS_THAN_A_SECOND = ["Grids_11", "Grids_12", "Grids_14", "ObjectDetection_11", "ObjectDetection_34", "Pedigree_11",
                      "Pedigree_12", "Promedus_11", "Promedus_13", "Promedus_15", "Promedus_16", "Promedus_21",
                      "Promedus_30", "Promedus_37", "Segmentation_11", "Segmentation_12", "Segmentation_13"]


@pytest.mark.parametrize("name", LESS_THAN_A_SECOND)
def test_uai_marginals(credence, name):
    model = UAI / f"{name}.uai"
    result = credence("query", model, "P(*)", "--evidence", f"{model}.evid", "--method", "exact", "--against",
                      f"{model}.MAR", "--json")
    assert json.loads(result.stdout)["results"][0]["comparison"]["difference"] < 6e-7


@pytest.mark.parametrize("name", QUICK)
def test_uai_solutions(credence, tmp_path, name):
    """Six digits in the public files; what is written reads back as it was."""
    model = UAI / f"{name}.uai"
    run = lambda question, *more: credence("query", model, question, "--evidence", f"{model}.evid", "--method", "exact",
                                           *more)
    for kind, least in ("MAR", 6e-7), ("PR", 1e-3):
        result = run("P(*)", "--against", f"{model}.{kind}", "--json")
        comparison = json.loads(result.stdout)["results"][0]["comparison"]
        assert comparison["kind"] == kind and comparison["difference"] < least, comparison
    for kind, question in ("MAR", "P(*)"), ("PR", "P(*)"), ("MAP", "argmax(*)"), ("mpe", "argmax(*)"):
        target = tmp_path / f"x.{kind}"
        result = run(question, "-o", target)
        assert result.code == 0 and result.stdout == "" and target.read_text().startswith(kind.upper() + "\n")
        value = rows(run(question, "--against", target, "--format", "csv"))[0]["value"]
        assert float(value) < 1e-12
    assert len((tmp_path / "x.mpe").read_text().split()) == 2 + int(model.read_text().split()[1])


def test_solutions_of_other_questions(credence, burglary, tmp_path):
    result = credence("query", burglary, "P(mary)", "-o", tmp_path / "x.MAR")
    assert result.code == 2 and "a MAR file cannot hold the answer to this question" in result.stderr
    assert "ask 'P(*)'" in result.stderr and not (tmp_path / "x.MAR").exists()
    result = credence("query", burglary, "P(*)", "P(* | mary=yes)", "-o", tmp_path / "x.MAR")
    assert result.code == 2 and "can hold the answer to one question, not to 2" in result.stderr
    credence("query", burglary, "P(* | mary=yes)", "-o", tmp_path / "x.MAR")
    text = credence("query", burglary, "P(* | mary=no)", "--against", tmp_path / "x.MAR", "--format", "text").stdout
    assert "largest difference" in text and ": 1, at P(mary=yes), 0 here and 1 there" in text
    assert credence("query", burglary, "P(*)", "-o", tmp_path / "y.MAR", "--json").code == 0
    assert json.loads((tmp_path / "y.MAR").read_text())["results"]


def test_solution_that_is_impossible(credence, examples, tmp_path):
    """The host opened the door of the prize: infinitely far from any assignment that can be."""
    (tmp_path / "x.MPE").write_text("MPE\n1\n3 0 0 0\n")
    run = lambda form: credence("query", examples / "networks/monty-hall.bif", "argmax(*)", "--against", "x.MPE", "--format",
                                form)
    assert rows(run("csv"))[0]["value"] == "inf"
    assert "x.MPE: inf, log10" in run("text").stdout and "-inf there" in run("text").stdout
    assert json.loads(run("json").stdout)["results"][0]["comparison"]["difference"] is None
