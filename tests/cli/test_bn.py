"""Bayesian networks learned on the command line: files of every format, what a search keeps to, what is said."""
import csv
import json

import pytest


def arcs(result):
    assert result.code == 0, result
    return {(arc["from"], arc["to"]) for arc in json.loads(result.stdout)["arcs"]}


@pytest.fixture
def commute(examples):
    return examples / "commute.csv"


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "json", "cred"])
def test_the_network_is_written_by_its_ending(credence, commute, tmp_path, ending):
    credence("fit", "bn", commute, "--structure", "tabu", "-o", tmp_path / "m.cred")
    credence("fit", "bn", commute, "--structure", "tabu", "-o", tmp_path / f"net.{ending}")
    answers = [json.loads(credence("query", tmp_path / name, "P(travel | late=yes)", "--json").stdout)["results"][0]
               for name in ("m.cred", f"net.{ending}")]
    one, other = (answer["marginals"]["travel"] for answer in answers)
    assert one == pytest.approx(other, abs=1e-6)
    described = credence("describe", tmp_path / f"net.{ending}", "--json")
    assert described.code == 0 and ("score.bic" in described.stdout) == (ending == "cred")


def test_what_a_search_keeps_to(credence, commute):
    free = arcs(credence("fit", "bn", commute, "--json"))
    assert ("travel", "late") in free or ("late", "travel") in free
    held = arcs(credence("fit", "bn", commute, "--json", "--forbid", "*>age,travel>late", "--require", "town>late",
                         "--max-parents", "2", "--order", "town,late"))
    assert ("town", "late") in held and ("travel", "late") not in held
    assert not any(to == "age" or (a, to) == ("late", "town") for a, to in held)
    assert max(sum(to == v for _, to in held) for v in ("late", "job", "car", "distance", "travel", "town")) <= 2


def test_arcs_are_shown_in_text(credence, commute):
    shown = credence("fit", "bn", commute, "--format", "text").stdout
    assert "\narcs\n" in shown and "strength  direction" in shown and "score.bic" in shown


def test_gaps_and_streams(credence, commute, tmp_path):
    with open(commute) as f:
        rows = list(csv.reader(f))
    for i, row in enumerate(rows[1:]):
        row[i % 7] = ""
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("".join(",".join(row) + "\n" for row in rows))
    fitted = json.loads(credence("fit", "bn", gaps, "--json").stdout)
    assert fitted["statistics"]["missing"] == 800 and fitted["statistics"]["converged"]
    assert fitted["statistics"]["score.bic"] is None and len(fitted["arcs"]) >= 6
    refused = credence("fit", "bn", commute, "--stream")
    assert refused.code != 0 and "stream" in refused.stderr


def test_a_figure_of_what_was_learned(credence, commute, tmp_path):
    credence("fit", "bn", commute, "-o", tmp_path / "m.cred")
    drawn = credence("plot", tmp_path / "m.cred", "-o", tmp_path / "m.svg")
    assert drawn.code == 0 and "travel" in (tmp_path / "m.svg").read_text()
