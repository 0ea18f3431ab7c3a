"""Columns that are almost numbers: texts among them, signs, parentheses; read rightly, or said with an option that works."""
import json
import re
import shlex

import pytest


def column(credence, text, *more):
    result = credence("describe", "-", "--json", *more, input=text)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)["columns"][0], result.stderr


@pytest.mark.parametrize("odd", [["-"], ["n/a"], ["< 5"], ["12 kg"], ["-", "n/a", "a,b", "< 5"]], ids=" ".join)
def test_texts_among_numbers_are_told(credence, tmp_path, odd):
    cells = [str(i) for i in range(12)]
    for i, text in enumerate(odd):
        cells.insert(3 + 2 * i, f'"{text}"')
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{c},{i}\n" for i, c in enumerate(cells)))
    for verb in (["describe", "t.csv"], ["fit", "ridge", "t.csv", "--target", "y"]):
        said = credence(*verb).stderr
        assert f"column 'x' is read as text: {len(odd)} of its {len(cells)} values " in said
        assert f"such as '{odd[0]}' (t.csv:5)" in said
    option = shlex.split(re.search(r"--missing-values='[^']*'", said).group())
    result = credence("describe", "t.csv", *option, "--json")
    found = json.loads(result.stdout)["columns"][0]
    assert (found["type"], found["missing"], result.stderr) == ("integer", len(odd), "")
    assert credence("describe", "t.csv", "--category", "x").stderr == ""
    said = credence("fit", "ridge", "t.csv", "--target", "y", "--stream").stderr
    assert "column 'x' is read as text: most of its values are numbers, but not '" in said


@pytest.mark.parametrize("cells", ["2,3,,5,n/a,.,-", ".,.,.,4", "7,None,unknown,none"])
def test_what_people_write_for_missing_is_told(credence, tmp_path, cells):
    """However many they are: with nothing else beside the numbers, the option that is named reads the column."""
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{c},{i}\n" for i, c in enumerate(cells.split(","))))
    said = credence("describe", "t.csv").stderr
    assert "column 'x' is read as text" in said
    result = credence("describe", "t.csv", *shlex.split(re.search(r"--missing-values='[^']*'", said).group()), "--json")
    assert (json.loads(result.stdout)["columns"][0]["type"], result.stderr) == ("integer", "")


def test_ordinary_texts_are_not_told(credence):
    for text in ("x,y\na,1\nb,2\nc,3\n", "x,y\nA1,1\nB2,2\n7,3\n", "x,y\n-,1\nnone,2\nn/a,3\n"):
        assert column(credence, text)[1] == ""


READ = {"minus": ("\u22125,1\n3,2\n", -5), "parentheses": ('"(1,234.50)",1\n"2,000",2\n', -1234.5),
        "dollars in parentheses": ("($5.00),1\n$3,2\n", -5), "some dollars": ("-$5,1\n3,2\n", -5),
        "euro behind": ("-5 \u20ac,1\n3 \u20ac,2\n", -5), "no-break": ("\u00a0-5,1\n3,2\n", -5),
        "thin": ("-1\u2009234,1\n3,2\n", -1234), "apostrophe": ("-1\u2019234,1\n3,2\n", -1234),
        "percent": ("-5 %,1\n3%,2\n", -0.05)}


@pytest.mark.parametrize("name", READ)
def test_numbers_as_people_write_them(credence, name):
    cells, least = READ[name]
    found, said = column(credence, "x,y\n" + cells)
    assert (found["type"] in ("real", "integer"), found["min"], said) == (True, least, "")


@pytest.mark.parametrize("cells", ["5 %,1\n7,2\n", "$5,1\n\u20ac7,2\n"], ids=["percent", "currencies"])
def test_signs_that_differ_are_told(credence, cells):
    found, said = column(credence, "x,y\n" + cells)
    assert found["type"] == "category" and "do not have the same sign" in said


def test_percent_means_the_same_in_every_file(credence, tmp_path):
    rows = [(i, 2 * i + i % 3) for i in range(1, 12)]
    (tmp_path / "percent.csv").write_text("share,y\n" + "".join(f"{x} %,{y}\n" for x, y in rows))
    (tmp_path / "plain.csv").write_text("share,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    for fitted, other, said in (("percent.csv", "plain.csv", "column 'share' of plain.csv has no % signs"),
                                ("plain.csv", "percent.csv", "column 'share' of percent.csv is written in percent")):
        for more in ([], ["--stream", "--block", "3"]):
            assert credence("fit", "linear", fitted, "--target", "y", *more, "-o", "m.cred").code == 0
            for verb in (["predict"], ["predict", "--stream"], ["evaluate"]):
                assert credence(verb[0], "m.cred", other, *verb[1:]).stderr.count(said) == 1
                assert credence(verb[0], "m.cred", fitted, *verb[1:]).stderr == ""


@pytest.mark.parametrize("quoted", [[7], range(30)], ids=["one", "all"])
@pytest.mark.parametrize("form", ["lines", "array"])
def test_numbers_in_quotes_in_json(credence, tmp_path, quoted, form):
    """One number in quotes makes texts of a column: the option that reads it is named, not the one that leaves it out."""
    rows = [{"x": f"{i * 1.25}" if i in quoted else i * 1.25, "y": 2.5 * i + i % 3, "zip": f"0{i % 3}"} for i in range(30)]
    text = json.dumps(rows) if form == "array" else "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "q.jsonl").write_text(text)
    for verb in (["describe", "q.jsonl"], ["fit", "linear", "q.jsonl", "--target", "y", "--features", "x"],
                 ["fit", "ridge", "q.jsonl", "--target", "y", "--features", "x", "--stream"]):
        said = credence(*verb).stderr
        assert said.count("column 'x' is read as text: its values are numbers, but in quotes") == 1
        assert "--real 'x' reads them" in said and "column 'zip' is read" not in said and "different text" not in said
    read = json.loads(credence("describe", "q.jsonl", "--real", "x", "--json").stdout)["columns"][0]
    assert (read["type"], read["max"]) == ("real", 36.25)
    assert "quotes" not in credence("describe", "q.jsonl", "--category", "x").stderr


@pytest.mark.parametrize("delimiter, odd, option", [(";", "1,5", "--decimal ,"), (",", '"1,5"', "--decimal ,"),
                                                    (";", "1 234,5", "--decimal , --thousands space"),
                                                    (",", '"1,234,567.5"', "--thousands ,")])
def test_another_style_far_down(credence, tmp_path, delimiter, odd, option):
    """Past the part of the file that its style is found from, and where no cell above has a decimal point."""
    lines = ["a;b;g", *(f"{i};{2 * i};{i % 3}" for i in range(12000)), f"{odd};7;1"]
    (tmp_path / "late.csv").write_text("\n".join(lines).replace(";", delimiter) + "\n")
    plain = odd.strip('"')
    for verb in (["describe", "late.csv"], ["fit", "naive-bayes", "late.csv", "--target", "g", "--category", "g"]):
        said = credence(*verb).stderr
        assert f"column 'a' is read as text, because '{plain}' (late.csv:12002) is written unlike" in said
        assert f"{option} reads them all as numbers" in said and "--features '!a'" not in said
    read = json.loads(credence("describe", "late.csv", *option.split(), "--json").stdout)["columns"]
    assert [c["type"] for c in read] == ["real", "integer", "integer"]


def test_a_decimal_comma_among_many_levels(credence, tmp_path):
    (tmp_path / "few.csv").write_text("a;y\n" + "".join(f"{i};{i}\n" for i in range(30)) + "1,5;3\n")
    said = credence("fit", "ridge", "few.csv", "--target", "y", "--category", "a").stderr
    assert "because '1,5' has a decimal comma: use --decimal ," in said and "--missing-values" not in said


def late_zeros():
    """20,000 whole numbers, of which the last 50 begin with zeros."""
    return "zip,y\n" + "".join(f"{99999 - i if i < 19950 else f'{1001 + i % 90:05d}'},{i % 7}\n" for i in range(20000))


def test_leading_zeros_behind_the_first_part_of_a_file(credence, tmp_path):
    """What begins with numbers and goes on with 01020 is text, with its zeros, whatever part of the file that is in."""
    (tmp_path / "z.csv").write_text(late_zeros())
    done = credence("convert", "z.csv", "out.csv")
    assert "column 'zip' of z.csv is read as text: its whole numbers would lose their leading zeros" in done.stderr
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == late_zeros().splitlines()[-1]
    plain = credence("describe", "z.csv", "--real", "zip")
    assert "zeros" not in plain.stderr and "zip,real" in plain.stdout.replace("integer", "real")
    assert "zeros" not in credence("describe", "z.csv", "--category", "zip").stderr


def test_leading_zeros_late_in_a_stream(credence, tmp_path):
    """Blocks of a pipe have their types by the first: what is lost later is said, once."""
    said = credence("fit", "linear", "-", "--target", "y", "--stream", "--block", "500", input=late_zeros()).stderr
    assert said.count("whole numbers with leading zeros follow, which are lost: --category 'zip'") == 1


def test_points_of_thousands_behind_the_first_part_of_a_file(credence, tmp_path):
    head = "a;y\n" + "".join(f"{i % 9};{i % 7}\n" for i in range(20000))
    (tmp_path / "t.csv").write_text(head + "1.234;2\n")
    assert "'1.234' in column 'a' of t.csv is read as 1.234: --thousands . reads it as 1234" in credence("describe", "t.csv").stderr
    for more in ("1.5;2\n", "1.234;2\n0.5;1\n", "1.234;2\n5000;1\n", "1.23456;2\n"):
        (tmp_path / "t.csv").write_text(head + more)
        assert "thousands" not in credence("describe", "t.csv").stderr, more
    (tmp_path / "t.csv").write_text(head + "1.234;2\n")
    assert "thousands" not in credence("describe", "t.csv", "--decimal", ".").stderr
