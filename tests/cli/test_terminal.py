"""What a person at a terminal sees, against what a program gets from a pipe."""
import os
import pty
import random
import re
import subprocess
import time

import pytest

from conftest import ROOT

FIT = ["fit", "ridge", "examples/diabetes.csv", "--target", "progression"]
CV = ["cv", "linear", "-", "--target", "progression", "--folds", "5"]


def read_terminal(master):
    said = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            return said.decode().replace("\r\n", "\n")
        if not piece:
            return said.decode().replace("\r\n", "\n")
        said += piece


@pytest.fixture
def on_terminal(program, tmp_path):
    """Runs the program with some of its streams (0, 1, 2) on a terminal; gives its exit code and what
    appeared there.  Where `slowly` is given, that comes through its standard input, after a while."""
    def run(*args, streams=(0, 1, 2), slowly=None, env=None):
        master, slave = pty.openpty()
        kinds = [slave if n in streams else subprocess.DEVNULL for n in range(3)]
        if slowly is not None:
            kinds[0] = subprocess.PIPE
        process = subprocess.Popen([program, *map(str, args)], stdin=kinds[0], stdout=kinds[1],
                                   stderr=kinds[2], cwd=tmp_path, env=os.environ | (env or {}))
        os.close(slave)
        if slowly is not None:
            time.sleep(0.4)
            process.stdin.write(slowly)
            process.stdin.close()
        said = read_terminal(master)
        os.close(master)
        return process.wait(60), said
    return run


def test_text_on_a_terminal(on_terminal, credence, examples, model):
    for command in (FIT, ["describe", "examples/diabetes.csv"], ["describe", "model.cred"],
                    ["predict", "model.cred", "examples/diabetes.csv"], ["models"],
                    ["evaluate", "model.cred", "examples/diabetes.csv"], ["check", "model.cred"],
                    ["cv", *FIT[1:], "--folds", "2"]):
        code, said = on_terminal(*command)
        assert code == 0
        assert said == credence(*command, "--format", "text").stdout
        assert said != credence(*command).stdout
        assert "\x1b" not in said, "no colours and no bar for short work"


def test_the_model_of_o_does_not_change_the_summary(on_terminal, credence, examples):
    """-o names the file of the model: the summary is still for the terminal."""
    code, said = on_terminal(*FIT, "-o", "m.cred")
    assert code == 0
    assert said == credence(*FIT, "--format", "text").stdout + "\nsaved to m.cred\n"


def test_asked_formats_win(on_terminal, credence, examples):
    assert on_terminal("models", "--json")[1] == credence("models", "--json").stdout
    assert on_terminal("models", "--format", "csv")[1] == credence("models").stdout


def test_colour_settings_change_nothing(on_terminal, examples):
    plain = on_terminal(*FIT)
    for env in ({"NO_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}, {"TERM": "dumb"}):
        assert on_terminal(*FIT, env=env) == plain


def test_tables_are_aligned(on_terminal, tmp_path):
    """Numbers end, texts begin, where the names of their columns do; letters count, not bytes."""
    (tmp_path / "d.csv").write_text("größe,farbe,x\n1.5,rot,1\n22.25,dunkelblau,3\n3,grün,2\n")
    _, said = on_terminal("describe", "d.csv")
    head, *rows = said.splitlines()[2:]
    assert head.split() == ["name", "type", "missing", "levels", "min", "mean", "sd", "max", "frequent"]
    ends = {name: head.index(name) + len(name) for name in ("missing", "min", "mean", "sd", "max")}
    for row in rows:
        assert row[head.index("type") - 2:head.index("type")] == "  "
        assert row[ends["missing"] - 1] == "0" and row[ends["missing"]:ends["missing"] + 2].strip() == ""
    assert "größe" in rows[0] and rows[0][ends["max"] - 5:ends["max"]] == "22.25"
    assert rows[1].endswith("dunkelblau") or rows[1].endswith("grün") or rows[1].endswith("rot")


def test_columns_without_anything_are_left_out(on_terminal, tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n2,5\n")
    _, said = on_terminal("describe", "d.csv")
    assert "levels" not in said and "frequent" not in said


def test_no_data_from_a_keyboard(on_terminal, examples, model):
    for command in (["describe", "-"], ["fit", "linear", "-", "--target", "y"],
                    ["predict", "-", "examples/diabetes.csv"], ["predict", "model.cred", "-"]):
        code, said = on_terminal(*command)
        assert code == 2 and "standard input is a terminal" in said


def test_no_model_onto_a_terminal(on_terminal, examples):
    code, said = on_terminal(*FIT, "-o", "-")
    assert code == 2 and said == "credence: error: a model is not text and is not written to a terminal\n"


# --- progress --------------------------------------------------------------------------------------

BAR = re.compile(r"\r\x1b\[K[a-z -]+(: \d+| \[#* *\] +\d+ %)")  # a share, or a count where it is not known
DATA = (ROOT / "examples/diabetes.csv").read_bytes()


def test_bar_on_a_terminal(on_terminal):
    code, said = on_terminal(*CV, streams=(2,), slowly=DATA)
    assert code == 0 and BAR.search(said)
    assert said.endswith("\r\x1b[K"), "it is gone at the end"


@pytest.mark.parametrize("options, streams", [(["--progress", "never"], (2,)), (["--quiet"], (2,)), ([], (1,))])
def test_no_bar(on_terminal, options, streams):
    code, said = on_terminal(*CV, *options, streams=streams, slowly=DATA)
    assert code == 0 and "\x1b" not in said


def test_bar_where_it_is_asked_for(credence, examples):
    command = ["cv", *FIT[1:], "--folds", "5"]
    bar = BAR.search(credence(*command, "--progress", "always").stderr)
    assert bar and bar[1].endswith("%")
    assert credence(*command).stderr == ""
    assert credence(*command, "--progress", "always").stdout == credence(*command).stdout


def test_messages_do_not_mix_with_the_bar(on_terminal, tmp_path):
    gaps = DATA.replace(b"\n", b"\n,1,20,80,150,90,40,4,4.5,80,100\n", 1)
    code, said = on_terminal(*CV, "--missing", "drop", streams=(2,), slowly=gaps)
    assert code == 0
    for line in said.split("\r\x1b[K"):
        assert line == "" or line.startswith("credence: warning: ") or BAR.fullmatch("\r\x1b[K" + line), said


# --- names that would steer it

NASTY = ["x\x1b]0;owned\x07", "y\x9b31m", "\x1b[2Jz", "tab\tand\rback"]  # the second begins with U+009B, CSI


@pytest.fixture
def nasty(tmp_path):
    """Columns, levels and a file whose names hold escape sequences."""
    rows = "".join(f"{i},{(i * 7) % 5},{i * i},{i % 3},lev\x1b[31m{'ab'[i % 2]}\x85\n" for i in range(20))
    path = tmp_path / "esc\x1b[1m.csv"
    path.write_text(",".join(f'"{name}"' for name in NASTY) + ',"class\x1b[7m"\n' + rows, newline="")
    return path


def assert_harmless(said):
    for character in said:
        assert character in "\n\t" or not (ord(character) < 32 or 127 <= ord(character) < 160), repr(said)


def test_no_name_steers_the_terminal(credence, on_terminal, nasty, tmp_path):
    fit = ["fit", "linear", nasty, "--target", NASTY[0]]
    classes = ["fit", "tree", nasty, "--target", "class\x1b[7m"]
    assert credence(*fit, "-o", "m.cred").code == 0 and credence(*classes, "-o", "c.cred").code == 0
    for command in (fit, classes, ["describe", nasty], ["describe", "m.cred"], ["describe", "c.cred"],
                    ["predict", "m.cred", nasty], ["predict", "c.cred", nasty], ["evaluate", "c.cred", nasty],
                    ["cv", *classes[1:], "--folds", "2"], ["info", nasty], ["compare", "linear", "ridge", *fit[2:]],
                    ["fit", "linear", nasty, "--target", "nothing\x1b[1m\x9b"], ["fit", "linear", "no\x1b[1m\x9b.csv"],
                    ["predict", "m.cred", nasty, "--strict", "--verbose"], ["check", "m.cred"]):
        result = credence(*command, "--format", "text")
        assert_harmless(result.stdout), assert_harmless(result.stderr)
        assert "?" in result.stdout + result.stderr or command[0] in ("evaluate", "cv", "compare", "check", "predict")
    code, said = on_terminal(*fit)
    assert code == 0
    assert_harmless(said)


def test_programs_get_the_names_as_they_are(credence, nasty, tmp_path):
    result = credence("fit", "linear", nasty, "--target", NASTY[0], binary=True)
    assert result.code == 0
    for name in NASTY[1:]:
        assert name.encode() in result.stdout


def test_text_shows_every_column(credence, tmp_path):
    """A covariance of 71 parameters is 72 columns wide, in every form."""
    draw = random.Random(3)
    names = [f"x{j}" for j in range(70)] + ["y"]
    rows = [[f"{draw.gauss(0, 1):.6f}" for _ in names] for _ in range(90)]
    (tmp_path / "wide.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    credence("fit", "linear", "wide.csv", "--target", "y", "-o", "m.cred")
    for form in ("text", "csv"):
        head = credence("describe", "m.cred", "--covariance", "--format", form).stdout.splitlines()[0]
        assert len(head.replace(",", " ").split()) == 72, head
