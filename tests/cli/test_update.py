"""update on a stream: each block is predicted before it is taken in, and lines come as rows do."""
import csv
import io
import json
import signal
import subprocess
import time

import pytest


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def halves(examples, tmp_path):
    """The rows of mcycle, half to begin with and half to come."""
    lines = (examples / "mcycle.csv").read_text().splitlines()
    order = [lines[0]] + [lines[1 + 37 * i % (len(lines) - 1)] for i in range(len(lines) - 1)]
    (tmp_path / "begin.csv").write_text("\n".join(order[:60]) + "\n")
    (tmp_path / "rest.csv").write_text("\n".join(order[:1] + order[60:]) + "\n")
    return order[0], order[60:]


GP = ["fit", "gp-online", "begin.csv", "--target", "accel", "--noise", "500", "--optimize", "none",
      "--kernel", "2000*rbf(l=5)", "--inducing", "40", "--no-move", "--mean", "zero"]


def test_each_block_is_predicted_by_what_came_before(credence, halves, tmp_path):
    """The same as predict and update by turns."""
    header, rest = halves
    assert credence(*GP, "-o", "a.cred").code == 0
    text = "\n".join([header] + rest) + "\n"
    result = credence("update", "a.cred", "-", "--stream", "--block", "25", "--predictions", "-",
                      "-o", "b.cred", input=text)
    assert result.code == 0, result.stderr
    got = rows_of(result.stdout)
    assert [float(r["actual"]) for r in got] == [float(line.split(",")[1]) for line in rest]
    expected = []
    for at in range(0, len(rest), 25):
        (tmp_path / "block.csv").write_text("\n".join([header] + rest[at:at + 25]) + "\n")
        expected += rows_of(credence("predict", "a.cred", "block.csv").stdout)
        assert credence("update", "a.cred", "block.csv", "-o", "a.cred").code == 0
    for r in got:
        del r["actual"]
    assert got == expected
    assert credence("predict", "b.cred", "rest.csv").stdout == \
        credence("predict", "a.cred", "rest.csv").stdout


def test_lines_of_json_and_a_file(credence, halves, tmp_path):
    assert credence(*GP, "-o", "a.cred").code == 0
    lines = credence("update", "a.cred", "rest.csv", "--stream", "--predictions", "-", "--json",
                     "--interval", "0.5").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len(halves[1]) and set(rows[0]) >= {"mean", "sd", "lower", "upper", "actual"}
    assert rows[3]["upper"] - rows[3]["mean"] == pytest.approx(0.67449 * rows[3]["sd"], rel=1e-4)
    result = credence("update", "a.cred", "rest.csv", "--stream", "--predictions", "p.csv", "--format",
                      "text", "-o", "b.cred")
    assert "saved to b.cred" in result.stdout
    table = rows_of((tmp_path / "p.csv").read_text())
    assert [float(r["mean"]) for r in table] == [r["mean"] for r in rows]


def test_rows_are_answered_as_they_come(credence, program, halves, tmp_path):
    """Ctrl-C ends a stream that does not end, and what it has taught is kept."""
    header, rest = halves
    assert credence(*GP, "-o", "a.cred").code == 0
    with subprocess.Popen([program, "update", "a.cred", "-", "--stream", "--predictions", "-", "-o",
                           "b.cred"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=tmp_path, text=True, bufsize=1) as child:
        child.stdin.write(header + "\n")
        for i, line in enumerate(rest[:4]):
            child.stdin.write(line + "\n")
            child.stdin.flush()
            if i == 0:
                assert child.stdout.readline().startswith("mean,sd")
            assert child.stdout.readline().rstrip().endswith(f",{line.split(',')[1].strip()}")
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
        words = child.stderr.read()
    assert "after 4 rows" in words and "saved to b.cred" in words
    told = json.loads(credence("describe", "b.cred", "--json").stdout)
    assert told["rows"] == 59 + 4


def test_classes_in_a_pipe_need_not_be_in_its_first_row(credence, examples, tmp_path):
    lines = (examples / "iris.csv").read_text().splitlines()
    some = lines[:1] + lines[1::3]
    (tmp_path / "some.csv").write_text("\n".join(some) + "\n")
    assert credence("fit", "naive-bayes", "some.csv", "--target", "species", "-o", "m.cred").code == 0
    result = credence("update", "m.cred", "-", "--stream", "--predictions", "-",
                      input="\n".join(lines[:1] + lines[2::3]) + "\n")
    assert result.code == 0, result.stderr
    rows = rows_of(result.stdout)
    right = sum(r["label"] == r["actual"] for r in rows)
    assert len(rows) == 50 and right >= 45
    assert {r["actual"] for r in rows} == {"setosa", "versicolor", "virginica"}


def test_rows_without_a_target_are_predicted_only(credence, halves):
    header, rest = halves
    assert credence(*GP, "--missing", "drop", "-o", "a.cred").code == 0
    gap = rest[0].split(",")[0] + ","
    result = credence("update", "a.cred", "-", "--stream", "--predictions", "-", "-o", "b.cred",
                      input="\n".join([header, gap, rest[1]]) + "\n")
    assert result.code == 0, result.stderr
    rows = rows_of(result.stdout)
    assert rows[0]["actual"] == "" and float(rows[0]["sd"]) > 0
    assert json.loads(credence("describe", "b.cred", "--json").stdout)["rows"] == 60


def test_what_a_stream_refuses(credence, refused, halves):
    header, rest = halves
    assert credence(*GP, "-o", "a.cred").code == 0
    text = "\n".join([header] + rest[:2]) + "\n"
    for command, says in ((["-", "--predictions", "-", "-o", "-"], "both the model and the predictions"),
                          (["-", "--predictions", "x", "-o", "x"], "both the model and the predictions"),
                          (["rest.csv", "--predictions", "rest.csv"], "would replace")):
        refused(2, "update", "a.cred", *command, says=says, input=text)
    result = credence("update", "a.cred", "-", "--stream",
                      input=f"{header}\n{rest[0]}\nx{rest[1]}\n{rest[2]}\n")
    assert result.code == 3 and "stdin:3" in result.stderr and "describe stdin" not in result.stderr
    result = credence("update", "a.cred", "-", "--stream", input=f"{header}\n1,\n")
    assert result.code == 3 and "a model fitted with --missing drop" in result.stderr


def test_a_bad_row_leaves_what_came_before_it(credence, program, halves, tmp_path):
    header, rest = halves
    assert credence(*GP, "-o", "a.cred").code == 0
    for output in (["-o", "b.cred"], []):
        with subprocess.Popen([program, "update", "a.cred", "-", "--stream", "--predictions", "-", *output],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
                              text=True, bufsize=1) as child:
            child.stdin.write(header + "\n")
            for i, line in enumerate(rest[:3]):
                child.stdin.write(line + "\n")
                child.stdin.flush()
                child.stdout.readline()
                if i == 0:
                    child.stdout.readline()
            child.stdin.write("7,abc\n")
            child.stdin.close()
            assert child.wait(timeout=30) == 3
            words = child.stderr.read()
        assert "'abc' in column 'accel' is not a number" in words and "3 rows" in words and "--category" not in words
        assert ("saved to b.cred" in words) == bool(output)
    assert json.loads(credence("describe", "b.cred", "--json").stdout)["rows"] == 59 + 3
