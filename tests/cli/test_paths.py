"""predict --decode viterbi --paths: several of the most probable paths of a sequence, one below the other."""
import csv
import io
import json
import math

ROWS = "who,x,tag\nu,1,a\nu,2,b\nv,1,a\nu,1,b\nv,2,b\nu,2,b\n"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_lines(credence, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(ROWS)
    credence("fit", "crf", table, "--target", "tag", "--features", "x", "--sequence", "who", "-o", "m.cred")
    lines = rows_of(credence("predict", "m.cred", table, "--decode", "viterbi", "--paths", "9", "--id", "who",
                             "--format", "csv").stdout)
    assert list(lines[0]) == ["who", "path", "row", "label", "log_path", "path_entropy"]
    one = [line for line in lines if line["row"] == "3"]                  # of v: two rows, four paths
    assert [line["path"] for line in one] == ["1", "2", "3", "4"] and {line["who"] for line in one} == {"v"}
    p = [math.exp(float(line["log_path"])) for line in one]
    assert abs(sum(p) - 1) < 1e-12 and p == sorted(p, reverse=True)
    assert abs(float(one[0]["path_entropy"]) + sum(q * math.log(q) for q in p)) < 1e-12
    assert sum(line["path"] == "9" for line in lines) == 4                # u alone has a ninth
    best = rows_of(credence("predict", "m.cred", table, "--decode", "viterbi", "--format", "csv").stdout)
    first = [line for line in lines if line["path"] == "1"]
    assert [line["label"] for line in best] == [line["label"] for line in first]
    shown = json.loads(credence("predict", "m.cred", table, "--decode", "viterbi", "--paths", "2", "--id", "who",
                                "--format", "json").stdout)
    assert shown["rows"] == 6 and len(shown["predictions"]) == 12
    assert shown["predictions"][8]["id"] == {"who": "v"} and shown["predictions"][8]["row"] == 3


def test_refusals(credence, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(ROWS)
    credence("fit", "crf", table, "--target", "tag", "--features", "x", "--sequence", "who", "-o", "m.cred")
    credence("fit", "markov", table, "--features", "tag", "--missing", "drop", "-o", "c.cred")

    def said(*words):
        return credence("predict", *words).stderr
    assert "most probable paths" in said("m.cred", table, "--paths", "2")
    assert "shows paths alone" in said("m.cred", table, "--decode", "viterbi", "--paths", "2", "--loss", "0-1")
    table.write_text(ROWS.replace("who,x,tag", "who,x,tag,path").replace("\n", ",7\n").replace("path,7", "path"))
    assert "second column" in said("m.cred", table, "--decode", "viterbi", "--paths", "2", "--id", "path")
    assert "needs rows" in said("m.cred", "--decode", "viterbi", "--paths", "2")
    assert "does not offer" in said("c.cred", table, "--decode", "viterbi", "--paths", "2")
    long = tmp_path / "long.csv"
    long.write_text("who,x,tag\n" + "u,1,a\n" * 1000)
    assert "MiB" in said("m.cred", long, "--decode", "viterbi", "--paths", "1000000")
