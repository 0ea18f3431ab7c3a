"""What a newcomer tries with files of the real world, and with slips of the fingers: dates, European numbers, odd headers,
databases, terms, long tables, arguments the other way round."""
import csv
import io
import json
import os
import pty
import sqlite3
import subprocess

import pytest

import newcomer as data


def rows_of(result):
    assert result.code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def types_of(result):
    return {row["name"]: row["type"] for row in rows_of(result)}


def on_terminal(program, folder, *args):
    """What appears on a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL,
                               cwd=folder)
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(master)
    assert process.wait(120) == 0
    return said.decode().replace("\r\n", "\n")


# --- files --------------------------------------------------------------------------------------

def test_dates_are_a_type(credence, tmp_path):
    assert types_of(credence("describe", data.sales(tmp_path)))["date"] == "date"
    slope = {row["name"]: float(row["value"]) for row in rows_of(credence("fit", "linear", "dt.csv", "--target", "sales"))}
    assert set(slope) == {"intercept", "date"} and 0.4 < slope["date"] < 0.6
    for model in ("spline", "gp"):
        assert credence("fit", model, "dt.csv", "--target", "sales", "-o", f"{model}.cred").code == 0
        out = credence("predict", f"{model}.cred", "-", input="date\n2023-02-10\n")
        assert abs(float(rows_of(out)[0]["mean"]) - 18.5) < 3


def test_european_numbers(credence, tmp_path):
    said = credence("describe", data.european(tmp_path))
    types = types_of(said)
    assert types["umsatz"] == types["quote"] == types["preis"] == "real"
    assert "use --date 'datum:%d.%m.%Y' to read it as dates" in said.stderr
    dated = credence("describe", "euro.csv", "--date", "datum:%d.%m.%Y")
    assert types_of(dated)["datum"] == "date"
    preis = next(row for row in rows_of(dated) if row["name"] == "preis")
    assert (float(preis["min"]), float(preis["max"])) == (3.5, 58.5)


def test_the_first_line_of_excel(credence, tmp_path):
    (tmp_path / "sep.csv").write_text("sep=;\na;b\n" + "".join(f"{i},5;{2 * i}\n" for i in range(20)))
    assert types_of(credence("describe", "sep.csv")) == {"a": "real", "b": "integer"}


def test_comments(credence, refused, tmp_path):
    (tmp_path / "c.csv").write_text("# made by hand\na,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(20)))
    refused(3, "describe", "c.csv", says="--comment")
    for option in (["--comment", "#"], ["--skip", "1"]):
        assert list(types_of(credence("describe", "c.csv", *option))) == ["a", "b"]


def test_texts_of_databases(credence, tmp_path):
    with sqlite3.connect(tmp_path / "d.sqlite") as base:
        base.execute("create table t (x text, g text, y text)")
        base.executemany("insert into t values (?, ?, ?)",
                         [("" if i % 9 == 0 else str(i / 2), "uv"[i % 2], str(3 * i % 11)) for i in range(40)])
    base.close()
    said = {row["name"]: row for row in rows_of(credence("describe", "d.sqlite"))}
    assert said["x"]["type"] == "real" and said["x"]["missing"] == "5" and said["y"]["type"] == "integer"
    assert credence("fit", "linear", "d.sqlite", "--target", "y", "--missing", "drop").code == 0


def test_two_columns_of_one_name(credence, refused, tmp_path):
    data.write(tmp_path, "twice.csv", "qty,price,qty,y", [[i, i * i % 7, i % 5, i + 2 * (i % 5)] for i in range(30)])
    refused(3, "fit", "linear", "twice.csv", "--target", "y", says="--rename 'qty.2=qty_2'")
    said = credence("fit", "linear", "twice.csv", "--target", "y", "--rename", "qty.2=qty_2", "-q")
    assert {row["name"] for row in rows_of(said)} == {"intercept", "qty", "price", "qty_2"}


def test_a_column_that_numbers_the_rows(credence, tmp_path):
    data.write(tmp_path, "ids.csv", "id,x,y", [[1001 + i, i * i % 13, i % 7] for i in range(60)])
    assert "--features '!id'" in credence("fit", "linear", "ids.csv", "--target", "y").stderr


# --- terms --------------------------------------------------------------------------------------

def test_interactions_and_transforms(credence, tmp_path):
    data.biopsy(tmp_path)
    said = credence("fit", "glm", "biopsy.csv", "--target", "size", "--terms", "thickness*class, log(thickness)",
                    "--missing", "drop")
    names = {row["name"] for row in rows_of(said)}
    assert {"thickness", "log(thickness)"} <= names and any(":" in name for name in names)
    data.write(tmp_path, "gas.csv", "t,gas", [[i / 4, 2.7 ** (1 + i / 40 + (i % 4) / 5)] for i in range(80)])
    fit = json.loads(credence("fit", "linear", "gas.csv", "--target", "gas", "--transform-target", "log", "--json").stdout)
    assert fit["log_likelihood"] is not None
    assert credence("cv", "linear", "gas.csv", "--target", "gas", "--transform-target", "log").code == 0


# --- output -------------------------------------------------------------------------------------

@pytest.mark.parametrize("model", ["ridge", "lasso"])
def test_long_tables_are_cut_on_a_terminal(program, credence, tmp_path, model):
    data.wide(tmp_path, 40, 800)
    command = ["fit", model, "wide.csv", "--target", "y"]
    text = on_terminal(program, tmp_path, *command)
    assert len(text.splitlines()) < 80 and "--all" in text
    assert len(on_terminal(program, tmp_path, *command, "--all").splitlines()) > 800
    assert len(rows_of(credence(*command))) == 801


def test_compare_is_a_row_for_each_model(program, tmp_path):
    data.banknote(tmp_path)
    text = on_terminal(program, tmp_path, "compare", "logistic", "knn", "lda", "banknote.csv", "--target", "class",
                       "--folds", "3")
    for model in ("logistic", "knn", "lda"):
        assert sum(line.split()[:1] == [model] for line in text.splitlines()) <= 2
    assert len(text.splitlines()) < 25


def test_figures_are_drawn(credence, tmp_path):
    data.sales(tmp_path)
    assert credence("fit", "gp", "dt.csv", "--target", "sales", "--hyper", "map", "-o", "g.cred").code == 0
    assert credence("plot", "g.cred", "dt.csv", "-o", "g.svg").code == 0
    picture = (tmp_path / "g.svg").read_text()
    assert "2023" in picture and "\u2026" not in picture


def test_blocks_are_not_drawn_without_unicode(credence):
    command = ["dist", "gamma", "shape=2", "rate=3", "--plot", "--format", "text"]
    assert credence(*command, env={"LC_ALL": "C"}).stdout.isascii()
    assert not credence(*command, env={"LC_ALL": "C.UTF-8"}).stdout.isascii()


# --- slips --------------------------------------------------------------------------------------

def test_arguments_the_other_way_round(credence, refused, tmp_path):
    data.seeds(tmp_path)
    assert credence("fit", "linear", "seeds.csv", "--target", "area", "-o", "m.cred").code == 0
    refused(2, "fit", "seeds.csv", "linear", says="credence fit linear seeds.csv")
    refused(2, "predict", "seeds.csv", "m.cred", says="credence predict m.cred seeds.csv")


def test_a_bad_question_beside_a_good_one(credence, burglary):
    said = credence("query", burglary, "P(burglary | john=yes)", "P(burglary | jonn=yes)")
    assert "0.016" in said.stdout and "jonn" in said.stderr


def test_one_neighbour_has_no_spread(credence, tmp_path):
    data.linear(tmp_path, "d.csv", 1, 60, 2)
    said = credence("tune", "knn", "d.csv", "--target", "y", "--over", "k=1..6", "--folds", "5")
    assert said.code == 0 and "k=1" in said.stderr and "without a standard deviation" in said.stderr
    assert "fewer folds" not in said.stderr


def test_help_of_a_model_in_its_verb(credence):
    assert "--errors" in credence("fit", "linear", "--help").stdout
