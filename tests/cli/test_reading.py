"""Files as people have them: what cells mean is detected where that is safe, said once, and kept in the model."""
import array
import json
import pathlib
import re
import sqlite3
import struct
import subprocess

import pytest


def run_json(credence, *args, code=0, **more):
    result = credence(*args, "--json", **more)
    assert result.code == code, result.stderr
    return json.loads(result.stdout)


def columns(credence, *args, **more):
    """The columns of a file by name, as describe has them."""
    return {c["name"]: c for c in run_json(credence, "describe", *args, **more)["columns"]}


# --- what a model keeps -----------------------------------------------------------------------------

@pytest.fixture
def codes(tmp_path):
    """y = 1 + 2 a; every fifth a is -999."""
    rows = [(-999 if i % 5 == 0 else i / 7, 1 + 2 * i / 7 + (i * 37 % 11 - 5) / 50) for i in range(60)]
    path = tmp_path / "codes.csv"
    path.write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in rows))
    return path


@pytest.fixture
def coded_model(credence, codes):
    result = credence("fit", "linear", "codes.csv", "--target", "y", "--missing-values=-999", "--missing", "drop",
                      "-o", "m.cred")
    assert result.code == 0, result.stderr
    return "m.cred"


def test_missing_values_are_kept_in_the_model(credence, coded_model):
    assert run_json(credence, "describe", coded_model)["reading"] == {"missing_values": "-999"}
    assert run_json(credence, "evaluate", coded_model, "codes.csv")["metrics"]["rmse"] < 0.2


def test_predict_reads_codes_as_the_fit_did(credence, coded_model):
    answers = credence("predict", coded_model, "codes.csv").stdout.splitlines()[1:]
    empty = [line.startswith(",") for line in answers]
    assert empty == [i % 5 == 0 for i in range(60)]


def test_the_command_line_adds_to_the_codes_of_a_model(credence, coded_model, tmp_path):
    (tmp_path / "more.csv").write_text("a\n-999\n-1\n2\n")
    answers = credence("predict", coded_model, "more.csv", "--missing-values=-1").stdout.splitlines()[1:]
    assert [line.startswith(",") for line in answers] == [True, True, False]


def test_update_and_stream_read_codes_as_the_fit_did(credence, coded_model, codes):
    for more in ([], ["--stream"]):
        result = credence("update", coded_model, "codes.csv", *more, "-o", "u.cred")
        assert result.code == 0, result.stderr
        assert run_json(credence, "describe", "u.cred")["rows"] == 96
    result = credence("fit", "linear", "codes.csv", "--target", "y", "--missing-values=-999", "--missing", "drop",
                      "--stream", "-o", "s.cred")
    assert result.code == 0, result.stderr
    assert run_json(credence, "describe", "s.cred")["reading"] == {"missing_values": "-999"}
    assert "1e" not in credence("plot", "s.cred", "codes.csv", "--kind", "residuals").stderr


def test_a_model_without_codes_says_nothing_of_reading(credence, codes):
    assert credence("fit", "linear", "codes.csv", "--target", "y", "-o", "m.cred").code == 0
    assert "reading" not in run_json(credence, "describe", "m.cred")


# --- encodings --------------------------------------------------------------------------------------

PEOPLE = "name,y\nJos\u00e9,1\nM\u00fcller,2\n\u20ac,3\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_detected(credence, tmp_path, encoding):
    (tmp_path / "p.csv").write_bytes(PEOPLE.encode(encoding))
    for verb in (["describe", "p.csv"], ["check", "p.csv"], ["convert", "p.csv", "out.csv"],
                 ["fit", "linear", "p.csv", "--target", "y", "-o", "m.cred"]):
        result = credence(*verb)
        assert result.code == 0, result.stderr
        told = [line for line in result.stderr.splitlines() if "Windows-1252" in line]
        assert len(told) == (encoding == "cp1252")
        assert not told or "p.csv:2:4: not UTF-8" in told[0]
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == PEOPLE


def test_encodings_are_told(credence, refused, tmp_path):
    (tmp_path / "p.csv").write_bytes(PEOPLE.encode("utf-16be"))
    assert columns(credence, "p.csv", "--encoding", "utf-16be")["name"]["levels"] == 3
    (tmp_path / "p.csv").write_bytes(PEOPLE.replace("\u20ac", "x").encode("latin1"))
    result = credence("convert", "p.csv", "out.csv", "--encoding", "latin1")
    assert result.stderr == "" and "Jos\u00e9" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    refused(3, "check", "p.csv", "--encoding", "utf-8", says=["p.csv:2:4: this byte is not UTF-8"])


def test_a_pipe_is_decoded_too(credence):
    data = columns(credence, "-", input=PEOPLE.encode("cp1252"))
    assert data["name"]["frequent"] in ("Jos\u00e9", "M\u00fcller", "\u20ac")
    result = credence("fit", "linear", "-", "--target", "y", "--stream", "--block", "2", input=PEOPLE.encode("utf-16"))
    assert "the level '\u20ac'" in result.stderr  # of a pipe the first block has the levels


# --- numbers as people write them -------------------------------------------------------------------

EURO = "sep=;\nplz;preis;anteil;menge\n" + "".join(
    f"0{i};1.{100 + i},50 \u20ac;{i} %;{i},5\n" for i in range(9))


def test_european_numbers(credence, tmp_path):
    (tmp_path / "e.csv").write_text(EURO, encoding="utf-8")
    data = columns(credence, "e.csv")
    assert {n: c["type"] for n, c in data.items()} == {"plz": "category", "preis": "real", "anteil": "real",
                                                       "menge": "real"}
    assert data["preis"]["max"] == 1108.5 and data["anteil"]["max"] == 0.08 and data["menge"]["mean"] == 4.5
    assert data["anteil"]["written"] == "5 % = 0.05" and data["plz"]["written"] is None
    for more in ([], ["--stream"]):
        result = credence("fit", "linear", "e.csv", "--target", "preis", "--features", "menge", *more, "-o", "m.cred")
        assert result.code == 0, result.stderr
        assert run_json(credence, "describe", "m.cred")["reading"] == {"decimal": ",", "thousands": "."}
        (tmp_path / "new.csv").write_text("menge\n1.000\n")  # alone it would be 1
        answer = float(credence("predict", "m.cred", "new.csv").stdout.splitlines()[1].split(",")[0])
        assert answer == pytest.approx(2100)
        (tmp_path / "new.csv").write_text("menge\n2.5\n")
        answer = float(credence("predict", "m.cred", "new.csv", "--decimal", ".").stdout.splitlines()[1].split(",")[0])
        assert answer == pytest.approx(1102.5)


def test_what_is_not_certain_is_asked(credence, tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1,234;2\n2,345;3\n")
    result = credence("describe", "a.csv")
    assert "the text in column 'a' of a.csv looks like numbers: --decimal , reads 1,234 as 1.234, "\
        "--thousands , reads 1,234 as 1234" in result.stderr
    assert columns(credence, "a.csv", "--decimal", ",")["a"]["max"] == 2.345
    assert columns(credence, "a.csv", "--thousands", ",")["a"]["max"] == 2345


def test_points_between_thousands_are_asked_about(credence, tmp_path):
    says = "is read as 1: --thousands . reads it as 1000, --decimal . says that 1 is right"
    doubtful = ["a;b\n950;01.02.2023\n1.000;02.02.2023\n12.500;03.02.2023\n", "a;b\n1.000;x\n10.250;y\n",
                "a\tb\n950\t3\n1.000\t4\n-12.500\t7\n", "a,b\n950,3\n1.000,4\n"]
    for text in doubtful:
        (tmp_path / "a.csv").write_text(text)
        for more in ([], ["--stream", "--block", "2"]):
            command = ["fit", "linear", "a.csv", "--target", "a", "--features", "b", *more]
            assert f"'1.000' in column 'a' of a.csv {says}" in credence(*command).stderr, text
        assert abs(columns(credence, "a.csv", "--thousands", ".")["a"]["mean"]) > 300
        assert "--thousands" not in credence("describe", "a.csv", "--decimal", ".").stderr
        assert "--thousands" not in credence("describe", "a.csv", "--category", "a").stderr
    certain = ["a;b\n950;1.5\n1.000;2.5\n", "a;b\n1.000;x\n0.125;y\n", "a,b\n1.000,3\n12.500,4\n",
               "a\tb\n1.000\t3\n12.500\t4\n", "a;b\n9500;2\n1.000;3\n", "a,b\n0,3\n1.000,4\n",
               "a;b\n950;1.234,5\n1.000;2\n", "a;b\n1.000;x\n1000.000;y\n"]
    for text in certain:
        (tmp_path / "a.csv").write_text(text)
        assert "--thousands" not in credence("describe", "a.csv").stderr, text


def test_wrong_numbers_get_the_right_hint(refused, tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n3.340,47;2\nx;3\n")
    said = refused(3, "describe", "a.csv", "--real", "a", says="--decimal ,").stderr
    assert "--missing-values" not in said
    refused(2, "describe", "a.csv", "--decimal", "x", says="--decimal 'x' is not one of . ,")
    refused(2, "describe", "a.csv", "--decimal", ",", "--thousands", ",", says="cannot be the same")
    refused(2, "describe", "a.csv", "--comment", "##", says="not one character")


def test_delimiters_at_the_end_are_no_column(credence, refused, tmp_path):
    rows = "".join(f"{i},{i * i},\n" for i in range(1, 30))
    for text in ("x,y,\n" + rows, "x,y\n" + rows, "x,y,\n" + rows.replace(",\n", ", \n"), ("x,y,\n" + rows).replace("\n", "\r\n"),
                 "x;y;\n" + rows.replace(",", ";"), '"x","y",\n' + rows[:-1]):
        (tmp_path / "a.csv").write_text(text)
        data = columns(credence, "a.csv")
        assert list(data) == ["x", "y"] and data["y"]["mean"] == 295, text
        for more in ([], ["--stream", "--block", "4"]):
            result = credence("fit", "linear", "a.csv", "--target", "y", *more)
            assert result.code == 0 and "the lines of a.csv end with a delimiter" in result.stderr
    (tmp_path / "a.csv").write_text(rows)
    assert list(columns(credence, "a.csv", "--header", "no")) == ["x1", "x2"]
    (tmp_path / "a.csv").write_text("x,y,z\n" + rows)  # a name of its own: a column without values
    assert list(columns(credence, "a.csv")) == ["x", "y", "z"]
    (tmp_path / "a.csv").write_text("x,y,\n" + rows.replace("9,81,", "9,81,5"))
    result = credence("describe", "a.csv")
    assert "1 column of a.csv has no name: it is called x3;" in result.stderr
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == ["x", "y", "x3"]
    (tmp_path / "a.csv").write_text("x,y,\n" + rows * 2000 + "1,2,5\n" + rows)
    result = credence("describe", "a.csv")
    assert result.code == 3 and "row has 3 fields, the header has 2" in result.stderr


def test_several_empty_cells_at_the_end(credence, tmp_path):
    """What a spreadsheet leaves of columns that were emptied: `,,` behind every line."""
    (tmp_path / "a.csv").write_text("x,,y,,\n1,5,3,,\n2,6,4,,\n")
    (tmp_path / "plain.csv").write_text("x,x2,y\n1,5,3\n2,6,4\n")
    result = credence("describe", "a.csv")
    assert result.code == 0 and result.stdout == credence("describe", "plain.csv").stdout
    assert "end with delimiters: the empty cells behind them are not read" in result.stderr
    (tmp_path / "a.csv").write_text("x,y,,\n" + "1,3,,\n2,4,,\n" * 9000 + "1,5\n1,6,\n")
    result = credence("describe", "a.csv")
    assert result.code == 0 and "x,integer,0" in result.stdout
    (tmp_path / "a.csv").write_text("x,y,,\n" + "1,3,,\n2,4,,\n" * 9000 + "1,5,,7\n")
    result = credence("describe", "a.csv")
    assert result.code == 3 and "row has 4 fields, the header has 2" in result.stderr
    (tmp_path / "a.csv").write_text("Sales in May,,,\n1,2,3,4\n5,6,7,8\n")
    result = credence("describe", "a.csv")
    assert result.code == 3 and "if the line is a title, --skip 1 leaves it out" in result.stderr


def test_comments_and_lines_to_skip(credence, refused, tmp_path):
    (tmp_path / "a.csv").write_text('exported by us, "\n\n# unit: m, "\na,b\n1,2\n# more "\n3,4\n3\n')
    assert "a.csv:8:2: row has 1 field" in refused(3, "describe", "a.csv", "--skip", 1, "--comment", "#").stderr
    (tmp_path / "a.csv").write_text('exported by us, "\n\n# unit: m, "\na,b\n1,2\n# more "\n3,4\n')
    for more in ([], ["--stream"]):
        assert columns(credence, "a.csv", "--skip", 1, "--comment", "#")["b"]["mean"] == 3
        assert credence("fit", "linear", "a.csv", "--target", "b", "--skip", 1, "--comment", "#", *more).code == 0


def test_comments_in_quoted_cells(credence, tmp_path):
    """Only lines outside quotes are comments, whatever the delimiter, whole and in blocks."""
    for between in ",;\t|":
        (tmp_path / "a.csv").write_text(f'# a "first\nnote{between}y\n"one\n# two"{between}1\n#no"\n5" pipe{between}4\n'
                                        f'#"{between}"\n"#3\n#4"{between}7\n')
        found = columns(credence, "a.csv", "--comment", "#")
        assert found["note"]["levels"] == 3 and found["y"]["mean"] == 4
        assert credence("convert", "a.csv", "--comment", "#", "-o", "b.csv").code == 0
        assert '"one\n# two"' in (tmp_path / "b.csv").read_text()


# --- names ------------------------------------------------------------------------------------------

def test_names(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("qty,qty,a\n1,2,3\n4,5,6\n")
    refused(3, "describe", "d.csv", says=["two columns are called 'qty'", "--rename 'qty.2=qty_2'"])
    assert list(columns(credence, "d.csv", "--rename", "qty.2=qty_2")) == ["qty", "qty_2", "a"]
    assert list(columns(credence, "d.csv", "--names", "u,v,w")) == ["u", "v", "w"]
    assert columns(credence, "d.csv", "--names", "u,v,w", "--header", "no")["u"]["type"] == "category"
    refused(3, "describe", "d.csv", "--names", "u,v", says="d.csv has 3 columns, but --names has 2")
    refused(3, "describe", "d.csv", "--rename", "qty.2=a", says="two columns are called 'a'")
    refused(3, "describe", "d.csv", "--rename", "b=c,qty.2=d", says=["'b' of --rename not found"])
    refused(2, "describe", "d.csv", "--rename", "b", says="'b' is not OLD=NEW")
    result = credence("fit", "linear", "d.csv", "--target", "back", "--rename", "qty.2=back", "--stream")
    assert result.code == 0, result.stderr


def test_names_of_other_formats(credence, tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n4,5\n")
    assert credence("convert", "d.csv", "d.npy").code == 0
    assert list(columns(credence, "d.npy", "--names", "u,v")) == ["u", "v"]
    assert list(columns(credence, "d.npy", "--rename", "x1=u")) == ["u", "x2"]


# --- databases --------------------------------------------------------------------------------------

def test_texts_of_databases_are_typed(credence, tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as db:
        db.execute("create table t (a text, b text, c text, y text)")
        db.executemany("insert into t values (?,?,?,?)", [("1", "x", "", "1.5"), ("2", "", "7", "2"),
                                                          ("", "y", "-999", "3"), ("NA", "x", "8", "4")])
    data = columns(credence, "sqlite:t.db?t", "--missing-values=-999")
    assert [(c["type"], c["missing"]) for c in data.values()] == [
        ("integer", 2), ("category", 1), ("integer", 2), ("real", 0)]
    assert columns(credence, "sqlite:t.db?t", "--category", "a")["a"]["levels"] == 2
    assert credence("fit", "linear", "sqlite:t.db?t", "--target", "y", "--features", "b", "--missing", "drop").code == 0


# --- JSON lines -------------------------------------------------------------------------------------

LINES = """{"a": 1, "b": "x", "c": true, "d": 1.5}
{"b": "y\\u00e9\\n", "a": 2, "c": null}

{"a": 3, "e": "7", "b": 5, "c": false, "d": -2e3}
"""


def test_json_lines(credence, tmp_path):
    (tmp_path / "t.jsonl").write_text(LINES)
    data = columns(credence, "t.jsonl")
    assert {n: (c["type"], c["missing"]) for n, c in data.items()} == {
        "a": ("integer", 0), "b": ("category", 0), "c": ("boolean", 1), "d": ("real", 1), "e": ("category", 2)}
    assert data["d"]["min"] == -2000
    assert columns(credence, "t.jsonl", "--real", "e")["e"]["type"] == "real"
    assert columns(credence, "-", input=LINES) == data  # told by its first bytes
    assert columns(credence, "-", "--from", "jsonl", input=LINES.encode("utf-16")) == data
    assert credence("convert", "t.jsonl", "t.csv").code == 0
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[-1].startswith("3,5,false,-2000")


def test_json_lines_as_a_stream(credence, tmp_path):
    rows = [{"x": i / 8, "g": "uvw"[i % 3], "y": i % 5} for i in range(200)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    (tmp_path / "t.csv").write_text("x,g,y\n" + "".join(f"{r['x']},{r['g']},{r['y']}\n" for r in rows))
    fits = []
    for file, more in (("t.csv", []), ("t.jsonl", []), ("t.jsonl", ["--stream"]), ("t.jsonl", ["--stream", "--block", "7"])):
        result = credence("fit", "linear", file, "--target", "y", *more)
        assert result.code == 0, result.stderr
        fits.append([[float(x or "nan") for x in line.split(",")[1:]] for line in result.stdout.splitlines()[1:]])
    assert fits[0] == fits[1] == fits[2] and len(fits[0]) == 4
    for a, b in zip(fits[0], fits[3]):
        assert a == pytest.approx(b, rel=1e-9)
    result = credence("fit", "linear", "-", "--target", "y", "--stream", "--block", "50", input=(tmp_path / "t.jsonl").read_bytes())
    assert result.code == 0, result.stderr


BAD_LINES = {
    "nested": ('{"a": 1}\n{"a": {"b": 2}}\n', "bad.jsonl:2:7: a nested value: objects must be flat"),
    "list": ('{"a": [1]}\n', "bad.jsonl:1:7: a nested value"),
    "columns": ('{"a": {"0": 1, "1": 2}}\n', "orient='records'"),
    "array": ('[{"a": 1}, 2]\n', "bad.jsonl:1:12: an object { ... } is expected here"),
    "twice": ('{"a": 1, "a": 2}\n', "bad.jsonl:1:10: this key is in the object twice"),
    "cut": ('{"a": 1, "b": "x', "bad.jsonl:1:15: the quote that opens here is not closed on its line"),
    "open": ('{"a": 1,\n"b": 2}\n', "bad.jsonl:1:9"),
    "behind": ('{"a": 1} 2\n', "bad.jsonl:1:10: there is something after the object"),
    "word": ('{"a": yes}\n', "bad.jsonl:1:7: a value must be a text, a number, true, false or null"),
    "escape": ('{"a": "\\x"}\n', "bad.jsonl:1:8: this is not a valid JSON escape"),
    "large": ('{"a": 1e999}\n', "bad.jsonl:1:7: this number is out of range"),
    "empty": ("", "bad.jsonl: the file is empty"),
    "no keys": ("{}\n{}\n", "bad.jsonl: the objects have no keys"),
    "colon": ('{"a" 1}\n', "bad.jsonl:1:6: a colon is expected here"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_json_lines(refused, tmp_path, name):
    text, says = BAD_LINES[name]
    (tmp_path / "bad.jsonl").write_text(text)
    for verb in (["describe", "bad.jsonl"], ["fit", "linear", "bad.jsonl", "--target", "a", "--stream"]):
        refused(3, *verb, says=says)


def test_json_arrays(credence, tmp_path):
    """As pandas and jsonlite write rows, whatever the name; networks in JSON stay networks."""
    rows = [json.loads(line) for line in LINES.splitlines() if line.strip()]
    (tmp_path / "t.jsonl").write_text(LINES)
    want = columns(credence, "t.jsonl")
    for name in ("t.json", "u.jsonl", "v.txt"):
        for indent in (None, 2):
            (tmp_path / name).write_text(json.dumps(rows, indent=indent))
            assert columns(credence, name) == want
    assert columns(credence, "-", input=json.dumps(rows)) == want
    assert "t.json,data,true" in credence("check", "t.json").stdout
    assert credence("convert", "t.json", "t.csv").code == 0
    (tmp_path / "net.json").write_text('{"network": "bayes", "variables": {"a": {"states": ["x", "y"], "table": [0.5, 0.5]}}}')
    assert credence("describe", "net.json", "--format", "text").stdout.startswith("net.json: a Bayesian network")


# --- ids and codes ----------------------------------------------------------------------------------

def odd(n=30, code="-999"):
    return "id,name,k,depth,y\n" + "".join(
        f"{100 + 7 * i},n{i},3,{code if i % 5 == 0 else i / 2},{i * i % 11}\n" for i in range(n))


def test_odd_columns_are_told(credence, tmp_path):
    (tmp_path / "t.csv").write_text(odd())
    said = credence("describe", "t.csv").stderr
    for phrase in ("'id' numbers the rows: leave it out of the features with --features '!id'",
                   "'name' has a different text in every row", "'k' has the same value in every row",
                   "'depth' is -999 in 6 rows, far from its other values: if that means missing, use --missing-values=-999"):
        assert said.count(phrase) == 1, said
    said = credence("fit", "linear", "t.csv", "--target", "y", "--features", "!name,!k").stderr
    assert said.count("'id' numbers the rows") == 1 and said.count("'depth' is -999 in 6 rows") == 1
    said = credence("fit", "linear", "t.csv", "--target", "y", "--features", "depth", "--missing-values=-999",
                    "--missing", "drop").stderr
    assert "-999" not in said and "numbers the rows" not in said


def test_ordinary_columns_are_not_odd(credence, tmp_path):
    rows = "".join(f"{1900 + i},{i * 37 % 101},{-1 if i % 2 else 1},{i * 7 % 13 - 1},{99 if i == 5 else 50 + i % 40}\n"
                   for i in range(60))
    (tmp_path / "t.csv").write_text("year,score,label,level,age\n" + rows)
    assert credence("describe", "t.csv").stderr == ""
    (tmp_path / "few.csv").write_text(odd(10))  # too few rows to say
    assert credence("describe", "few.csv").stderr == ""


def test_levels_that_may_be_one(credence, tmp_path):
    """Capital letters and blanks at the ends: told of features and of the target, in however few rows."""
    (tmp_path / "g.csv").write_text('sex,size,y\nMale,small,yes\nmale,tall,no\nfemale,small,Yes\n"male ",tall,no\n')
    said = credence("describe", "g.csv").stderr
    assert "column 'sex' has levels that differ only in capital letters or in blanks at their ends" in said
    assert "such as 'Male' and 'male'" in said and "such as 'Yes' and 'yes'" in said and "'size'" not in said
    said = credence("fit", "naive-bayes", "g.csv", "--target", "y").stderr
    assert "such as 'Male' and 'male'" in said and "such as 'Yes' and 'yes'" in said and "'size'" not in said


def test_times_of_day_and_infinite_numbers(credence, refused, tmp_path):
    (tmp_path / "t.csv").write_text("at,score,x,y\n9:15,3:2,1,1\n10:15,1:0,inf,2\n23:59,2:2,-inf,3\n")
    said = credence("describe", "t.csv").stderr
    item = re.search(r"'at' has times of day, such as 10:15, .* --date '(.*?)' reads", said)[1]
    assert "'score'" not in said
    assert "at,datetime" in credence("describe", "t.csv", "--date", item, "--format", "csv").stdout
    option = re.search(r"'x' is infinite in 2 rows.* use (\S+)", said)[1]
    assert "x,integer,2" in credence("describe", "t.csv", option, "--format", "csv").stdout
    refused(3, "fit", "linear", "t.csv", "--target", "y", "--features", "x", says="--missing-values=inf,-inf")
    (tmp_path / "s.csv").write_text("at\n09:15:30\n10:15:00.5\n")
    assert "--date 'at:%H:%M:%S'" in credence("describe", "s.csv").stderr


def test_date_with_an_equals_sign(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("day,y\n31.01.2023,1\n01.02.2023,2\n")
    for sign in ":=":
        assert "day,date" in credence("describe", "d.csv", "--date", f"day{sign}%d.%m.%Y", "--format", "csv").stdout
    (tmp_path / "e.csv").write_text("day,y\n2023-01-31,1\n2023-02-30,2\n")
    refused(3, "describe", "e.csv", says="e.csv:3: '2023-02-30' in column 'day' is not a valid date")


def test_lines_of_delimiters(credence, tmp_path):
    (tmp_path / "e.csv").write_text("a,b,c\n1,2,x\n,,\n3,,y\n,,\n")
    said = credence("describe", "e.csv").stderr
    assert "2 rows of e.csv have no value in any column, the first of them row 2" in said
    done = credence("fit", "linear", "e.csv", "--target", "a", "--features", "c", "--missing", "drop")
    assert done.code == 0, done.stderr
    (tmp_path / "f.csv").write_text("a,b,c\n1,2,x\n,,z\n3,,\n")
    assert "no value in any" not in credence("describe", "f.csv").stderr


TABULAR = pathlib.Path(__file__).resolve().parents[3] / "shared/data/tabular"


def test_units_and_days_of_spreadsheets(credence, tmp_path):
    """Numbers with a unit are text, and the command that helps works; so may be whole numbers that are days."""
    rows = "".join(f"{i % 7 + 0.5} kg,{45000 + i},{3 * i}\n" for i in range(30))
    (tmp_path / "u.csv").write_text("weight,date,y\n" + rows)
    said = credence("describe", "u.csv").stderr
    assert "column 'weight' is text, as every cell has the unit 'kg' behind its number" in said
    assert "column 'date' may have days as a spreadsheet counts them (45000 is 2023-03-15)" in said
    fit = credence("fit", "linear", "u.csv", "--target", "y", "--features", "weight").stderr
    assert "has the unit 'kg'" in fit
    sed = re.search(r"sed '(.*?)'", said)[1]
    text = subprocess.run(["sed", sed, tmp_path / "u.csv"], capture_output=True, text=True, check=True).stdout
    assert "weight,real" in credence("describe", "-", "--format", "csv", input=text).stdout
    (tmp_path / "v.csv").write_text("size,count,y\n" + "".join(f"{i % 3} {'ab'[i % 2]},{30000 + i},1\n" for i in range(30)))
    assert "unit" not in (said := credence("describe", "v.csv").stderr) and "spreadsheet" not in said


def test_times_before_and_after_noon(credence, tmp_path):
    (tmp_path / "t.csv").write_text("at,y\n01/31/2023 12:05 AM,1\n02/01/2023 1:20 PM,2\n02/02/2023 12:00 pm,3\n")
    said = credence("describe", "t.csv").stderr
    item = re.search(r"--date '(.*?)' to read it as dates", said)[1]
    done = credence("convert", "t.csv", "--date", item, "-o", "iso.csv")
    assert done.code == 0, done.stderr
    assert [line[:16] for line in (tmp_path / "iso.csv").read_text().splitlines()[1:]] == [
        "2023-01-31T00:05", "2023-02-01T13:20", "2023-02-02T12:00"]
    assert credence("describe", "-", "--date", "at:%m/%d/%Y %I:%M %p", input="at\n01/31/2023 13:05 AM\n").code == 3


def test_odd_columns_of_many_rows(credence, tmp_path):
    """A fit looks at some of the rows only; what it then names is counted in all of them."""
    rows = 30_000
    (tmp_path / "many.csv").write_text("id,depth,y\n" + "".join(
        f"{i + 1},{-999 if i % 200 == 7 else i * 7 % 101 / 8},{i % 13}\n" for i in range(rows)))
    said = credence("fit", "ridge", "many.csv", "--target", "y", cwd=tmp_path).stderr
    assert "'id' numbers the rows" in said
    assert f"'depth' is -999 in {rows // 200} rows" in said


@pytest.mark.parametrize("rows", [40, 20_000])  # all of them, and a sample
def test_odd_columns_side_by_side_in_a_matrix(credence, tmp_path, rows):
    """The columns of an NPY file are looked at many at a time: the odd ones are named, and no others."""
    width, odd_ones = (600, {0: -999, 255: -99, 256: 999, 599: -9999}) if rows < 100 else (5, {1: -999, 3: 99})
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {width + 1}), }}"
    values = array.array("d", (odd_ones[j] if j in odd_ones and i % 4 == 1 else (i * 37 + j * 11) % 101 / 103
                               for i in range(rows) for j in range(width + 1)))
    (tmp_path / "wide.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + values.tobytes())
    features = [f"x{j + 1}" for j in range(width) if j != 2]  # a gap in what is asked for
    said = credence("fit", "ridge", "wide.npy", "--target", f"x{width + 1}", "--features", ",".join(features)).stderr
    for j, code in odd_ones.items():
        assert f"column 'x{j + 1}' is {code} in {rows // 4} rows" in said
    assert said.count("far from its other values") == len(odd_ones)


@pytest.mark.parametrize("path", sorted(TABULAR.glob("*.csv")), ids=lambda p: getattr(p, "stem", "none"))
def test_data_sets_are_not_odd(credence, path):
    said = [line for line in credence("describe", path).stderr.splitlines() if "same value in every row" not in line]
    assert said == []
