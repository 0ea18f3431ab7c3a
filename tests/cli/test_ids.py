"""Whole numbers of more than 53 bits, as ids and order numbers are: every digit survives, and it is said why they are texts."""
import json
import sqlite3

import pytest

IDS = [9007199254740993, 9007199254740992, 1234567890123456789, 1234567890123456788, 5]
TEXT = "order,x,y\n" + "".join(f"{order},{i},{2 * i + i % 2}\n" for i, order in enumerate(IDS))
SAID = "column 'order' is read as text: whole numbers beyond 2^53 such as "


def columns(credence, *args):
    result = credence("describe", *args, "--json")
    assert result.code == 0, result.stderr
    return {c["name"]: c for c in json.loads(result.stdout)["columns"]}


@pytest.fixture
def files(tmp_path):
    """The same rows in each format."""
    (tmp_path / "t.csv").write_text(TEXT)
    rows = [line.split(",") for line in TEXT.splitlines()[1:]]
    (tmp_path / "t.jsonl").write_text("".join(f'{{"order": {a}, "x": {b}, "y": {c}}}\n' for a, b, c in rows))
    with sqlite3.connect(tmp_path / "t.db") as db:
        db.execute("create table t (\"order\" integer, x integer, y integer)")
        db.executemany("insert into t values (?, ?, ?)", [tuple(map(int, row)) for row in rows])
    return ["t.csv", "t.jsonl", "sqlite:t.db?t"]


def test_every_digit_survives(credence, files, tmp_path):
    for file in files:
        result = credence("convert", file, "out.csv")
        assert result.code == 0 and result.stderr.count(SAID) == 1, result.stderr
        assert (tmp_path / "out.csv").read_text() == TEXT
        assert columns(credence, file)["order"]["levels"] == len(IDS)
    assert columns(credence, "t.csv")["order"]["written"] == "whole > 2^53"


def test_a_column_that_is_copied_keeps_its_digits(credence, files):
    assert credence("fit", "linear", "t.csv", "--target", "y", "--features", "x", "-o", "m.cred").code == 0
    for file in files:
        result = credence("predict", "m.cred", file, "--id", "order")
        assert result.code == 0, result.stderr
        assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == [str(i) for i in IDS]
    for more in (["t.csv", "--stream"], ["-", "--stream", "--block", "2"]):
        result = credence("predict", "m.cred", *more, "--id", "order", input=TEXT)
        assert result.code == 0, result.stderr
        assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == [str(i) for i in IDS]


def test_what_the_user_asks_for_is_done(credence, files):
    for file in files:
        result = credence("describe", file, "--real", "order", "--json")
        assert result.stderr.count("which lose digits as numbers: --category 'order' keeps them") == 1, result.stderr
        assert SAID not in result.stderr
        assert json.loads(result.stdout)["columns"][0]["type"] == "real"
        assert credence("describe", file, "--category", "order").stderr == ""


def test_streams_agree_with_the_whole_file(credence, files):
    for more in ([], ["--stream"], ["--stream", "--block", "2"]):
        result = credence("fit", "ridge", "t.csv", "--target", "y", *more, "-o", "n.cred")
        assert result.code == 0 and result.stderr.count(SAID) == 1, result.stderr
        names = [p["name"] for p in json.loads(credence("describe", "n.cred", "--json").stdout)["parameters"]]
        assert [n for n in names if n.startswith("order=")] == [f"order={i}" for i in sorted(map(str, IDS))[1:]]


def test_a_number_that_came_late(credence, tmp_path):
    """The first 64 KiB have small numbers alone."""
    small = "".join(f"{i},1\n" for i in range(20_000))
    (tmp_path / "late.csv").write_text("id,x\n" + small + "9007199254740993,2\n")
    assert credence("convert", "late.csv", "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text() == "id,x\n" + small + "9007199254740993,2\n"
    (tmp_path / "late.csv").write_text("id,x\n9007199254740993,2\n" + small + "1.5,2\n")
    assert columns(credence, "late.csv")["id"]["type"] == "real"  # one has a decimal point: these are no ids


def test_a_model_of_numbers_names_the_option(credence, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{i},{i}\n" for i in range(9)))
    (tmp_path / "b.csv").write_text("x\n9007199254740993\n")
    assert credence("fit", "linear", "a.csv", "--target", "y", "-o", "m.cred").code == 0
    result = credence("predict", "m.cred", "b.csv")
    assert result.code == 3 and "the model needs numbers\n  hint: its texts are numbers: --real 'x'" in result.stderr
    assert credence("predict", "m.cred", "b.csv", "--real", "x").code == 0
