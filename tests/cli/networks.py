"""What the tests of networks share: data with reference answers, and answers as they are read."""
import csv
import io
import json
import pathlib

BN = pathlib.Path(__file__).resolve().parents[1] / "data/bn"


def ask(credence, net, *questions):
    """The answers of `query`, as its JSON has them."""
    result = credence("query", net, *questions, "--json")
    assert result.code in (0, 1) and result.stderr == "", result
    return json.loads(result.stdout)["results"]


def rows(result):
    """The rows of a CSV answer."""
    assert result.code in (0, 1), result
    return list(csv.DictReader(io.StringIO(result.stdout)))
