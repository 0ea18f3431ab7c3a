"""Whether the first line has the names of the columns, where these are numbers; and other forms of headers."""
import json
import re

import pytest

YEARS = "region,2021,2022,2023\nNorth,10.5,11.2,12.0\nSouth,8.1,8.4,9.0\nEast,7.1,7.7,8.6\nWest,9.3,9.1,9.9\n"
DOUBT = "may hold the names of the columns: --header yes reads it so, --header no silences this warning"


def names(credence, text, *more):
    result = credence("describe", "-", *more, "--format", "csv", input=text)
    assert result.code == 0, result.stderr
    return [line.split(",")[0] for line in result.stdout.splitlines()[1:]], result.stderr


def test_years_are_names(credence):
    assert names(credence, YEARS) == (["region", "2021", "2022", "2023"], "")


# One text column and numbers that may be names or data; the last three are plain data.
@pytest.mark.parametrize("text, doubt", [
    ("widget,2000\ngadget,350\nthing,120\n", True),
    ("dose,100,200\nA,0.5,0.7\nB,0.25,1.5\n", True),
    ("0,1,2\n4,4,1\n3,5,2\n", True),
    ("1,2\n3,4\n5,9\n", False),
    ("5,3,setosa\n4.9,3.1,setosa\n", False),
    ("0,1\n1,0\n0,0\n", False),
])
def test_doubt_is_said_once(credence, text, doubt):
    found, said = names(credence, text)
    assert found[0] == "x1" and said.count(DOUBT) == doubt
    assert said.count("warning:") == doubt
    assert DOUBT not in names(credence, text, "--header", "no")[1]
    assert names(credence, text, "--header", "yes")[0] == text.splitlines()[0].split(",")
    assert credence("describe", "-", "--strict", input=text).code == (4 if doubt else 0)


def test_a_model_knows_its_names(credence, tmp_path):
    (tmp_path / "t.csv").write_text(YEARS)
    assert credence("fit", "ridge", "t.csv", "--target", "2023", "--features", "2021,2022", "-o", "m.cred").code == 0
    whole = credence("predict", "m.cred", "t.csv")
    assert whole.code == 0 and len(whole.stdout.splitlines()) == 5, whole.stderr
    for more in (["t.csv", "--stream"], ["-", "--stream", "--block", "1"], ["-"]):
        assert credence("predict", "m.cred", *more, input=YEARS) == whole
    few = credence("predict", "m.cred", "-", input="2022,2021\n11,10\n")  # by itself this would be data
    assert few.code == 0 and len(few.stdout.splitlines()) == 2, few.stderr


def test_a_model_without_names_reads_data(credence, tmp_path):
    rows = "".join(f"{i * 7 % 5},{i * i % 11},{i}\n" for i in range(12))
    (tmp_path / "t.csv").write_text(rows)
    assert credence("fit", "linear", "t.csv", "--target", "x3", "-o", "m.cred").code == 0
    result = credence("predict", "m.cred", "-", input="0,1\n0.5,1.5\n2.5,0.5\n")
    assert result.code == 0 and len(result.stdout.splitlines()) == 4, result.stderr


def test_a_name_that_is_in_the_first_line(credence, refused, tmp_path):
    (tmp_path / "t.csv").write_text("a,5,9\nb,2,3\nb,4,4\na,1,7\n")
    says = "--names a,b,... names the columns; if the first line has their names, use --header yes"
    refused(3, "fit", "linear", "t.csv", "--target", "9", says=says)
    assert credence("fit", "linear", "t.csv", "--target", "9", "--features", "5", "--header", "yes").code == 0
    refused(3, "fit", "linear", "t.csv", "--target", "9", "--category", "5", says=says)
    (tmp_path / "h.csv").write_text("x1,x2\n1,2\n3,4\n")
    assert "--header" not in refused(3, "fit", "linear", "h.csv", "--target", "9").stderr


def test_leading_zeros_are_kept(credence, tmp_path):
    text = "zip,hour,x,y\n" + "".join(f"{i * 977 % 30000:05d},{i % 24:02d},0.5,{i}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(text)
    said = "column 'zip' of t.csv is read as text: its whole numbers would lose their leading zeros as numbers"
    result = credence("convert", "t.csv", "out.csv")
    assert result.code == 0 and result.stderr.count(said) == 1, result.stderr
    assert (tmp_path / "out.csv").read_text() == text
    numbers = credence("describe", "t.csv", "--real", "zip,hour", "--format", "csv")
    assert "warning: column 'zip' of" not in numbers.stderr and "zip,real" in numbers.stdout
    assert said not in credence("describe", "t.csv", "--category", "zip").stderr
    for more in ([], ["--stream"]):
        result = credence("fit", "ridge", "t.csv", "--target", "y", "--features", "zip", *more, "-o", "m.cred")
        assert result.code == 0 and said in result.stderr, result.stderr
        again = credence("predict", "m.cred", "t.csv", "--id", "zip")
        assert again.code == 0 and said not in again.stderr, again.stderr
        assert again.stdout.splitlines()[2].startswith("00977,")


def test_a_model_of_numbers_reads_leading_zeros(credence, tmp_path):
    (tmp_path / "t.csv").write_text("hour,y\n" + "".join(f"{i},{2 * i + i % 2}\n" for i in range(10, 24)))
    assert credence("fit", "linear", "t.csv", "--target", "y", "-o", "m.cred").code == 0
    plain = credence("predict", "m.cred", "-", input="hour\n1\n9\n")
    assert credence("predict", "m.cred", "-", input="hour\n01\n09\n") == plain and plain.code == 0


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u202f", "\u2007", " \u00a0"])
def test_spaces_of_other_kinds_are_dropped(credence, blank):
    text = f"x,y\n{blank}1.5,{blank}2{blank}\n2.5{blank},3\n{blank},4\n"
    result = credence("describe", "-", "--format", "csv", input=text)
    assert [line.split(",")[:3] for line in result.stdout.splitlines()[1:]] == [["x", "real", "1"],
                                                                               ["y", "integer", "0"]], result.stdout


def test_an_id_with_the_name_of_an_answer(credence, refused, tmp_path):
    (tmp_path / "t.csv").write_text("mean,x,y\n" + "".join(f"r{i},{i},{2 * i + i % 2}\n" for i in range(9)))
    assert credence("fit", "linear", "t.csv", "--target", "y", "--features", "x", "-o", "m.cred").code == 0
    says = ["--id 'mean' would be the second column of that name", "--rename 'mean=mean_id' --id 'mean_id'"]
    refused(2, "predict", "m.cred", "t.csv", "--id", "mean", says=says)
    refused(2, "predict", "m.cred", "-", "--stream", "--id", "mean", says=says, input=(tmp_path / "t.csv").read_text())
    result = credence("predict", "m.cred", "t.csv", "--rename", "mean=mean_id", "--id", "mean_id")
    assert result.code == 0 and result.stdout.startswith("mean_id,mean,"), result.stderr


def test_whole_numbers_with_a_point_are_the_same_level(credence, tmp_path):
    rows = "".join(f"{2000 + i % 3},{i % 3 + i % 2 / 8}\n" for i in range(12))
    (tmp_path / "t.csv").write_text("year,y\n" + rows)
    (tmp_path / "u.csv").write_text("year,y\n" + rows.replace(",", ".0,"))
    for file in ("t.csv", "u.csv"):
        assert credence("fit", "linear", file, "--target", "y", "--category", "year", "-o", "m.cred").code == 0
        plain = credence("predict", "m.cred", "-", input="year\n2000\n2002\n")
        assert plain.code == 0 and credence("predict", "m.cred", "-", input="year\n2000.0\n2002.0\n") == plain
        unseen = credence("predict", "m.cred", "-", input="year\n2000.5\n")
        assert unseen.code == 3 and "'2000.5', which the model has not seen" in unseen.stderr


@pytest.mark.parametrize("text", [
    '"x" "g" "y"\n"1" 1.5 "a" 2\n"2" 2.5 "b" 3\n"7" 3.5 "b" 4\n',
    'x g y\nMazda 1.5 a 2\nDatsun 2.5 b 3\nFord 3.5 b 4\n',
    'x\tg\ty\nMazda RX4\t1.5\ta\t2\nDatsun\t2.5\tb\t3\nFord\t3.5\tb\t4\n',
    'x,g,y\n1,1.5,a,2\n2,2.5,b,3\n3,3.5,b,4\n',
    '"x","g","y"\n"Mazda",1.5,"a",2\n"Datsun",2.5,"b",3\n"Ford",3.5,"b",4\n',
])
def test_row_names_without_a_name(credence, text):
    """R's write.table(): the header has one cell less than every row.  It is read as if its first cell were empty."""
    d = re.search(r"[\t, ]", text)[0]
    read = credence("describe", "-", "--format", "csv", input=text)
    named = credence("describe", "-", "--format", "csv", input=('""' if '"' in text else "x1") + d + text)
    assert read.code == 0, read.stderr
    assert [line.split(",")[0] for line in read.stdout.splitlines()[1:]] == ["x1", "x", "g", "y"]
    assert read.stdout == named.stdout
    fit = credence("fit", "linear", "-", "--target", "y", "--features", "x", "--json", input=text)
    assert json.loads(fit.stdout)["parameters"][1]["value"] == pytest.approx(1)


ROW_NAMES = "one name less than the rows have fields: the first column is taken as the names of the rows"


@pytest.mark.parametrize("text", ["a,b\n1,11,5\n2,12,5\n3,13,1\n", "a b\n7 11 5\n9 12 5\n8 13 1\n"])
def test_row_names_that_are_plain_numbers_are_told(credence, tmp_path, text):
    """They may be a column whose name was forgotten; quotes or texts are evidently names."""
    (tmp_path / "t.csv").write_text(text)
    for verb in (["describe", "t.csv"], ["fit", "linear", "t.csv", "--target", "b", "--features", "a"],
                 ["fit", "linear", "t.csv", "--target", "b", "--features", "a", "--stream"]):
        said = credence(*verb).stderr
        assert said.count(ROW_NAMES) == 1, said
    assert names(credence, text, "--rename", "x1=row")[0] == ["row", "a", "b"]
    assert ROW_NAMES not in names(credence, text, "--rename", "x1=row")[1]
    evident = re.sub(r"(?m)^(\d)", r'"\1"', text), re.sub(r"(?m)^(\d)", r"n\1", text.replace(",", "\t"))
    assert all(ROW_NAMES not in names(credence, other)[1] for other in evident)


@pytest.mark.parametrize("text, decimals, number", [
    ("id,temp\n1,11,5\n2,12,5\n3,13,1\n", True, "11,5"),
    ("year,temp\n2001,11,5\n2002,12,5\n", False, "11,5"),
    ("year,temp\n2001,7\n2002,-12,5\n", False, "-12,5"),
    ("a,b,c\nx,1,5,2,5\ny,2,5,3,5\n", False, "2,5"),
])
def test_decimal_commas_without_quotes(credence, refused, text, decimals, number):
    """Such numbers take two fields; in quotes they are read."""
    more = ["--decimal", ","] if decimals else []
    says = f"if {number} is one number with a decimal comma"
    said = refused(3, "describe", "-", *more, input=text, says=says).stderr
    assert "quotes and use --decimal ," in said
    quoted = re.sub(r"(-?\d+,\d)(,|\n)", r'"\1"\2', re.sub(r"(?m)^(\d+|x|y),", r"\1;", text)).replace(";", ",")
    assert "real" in credence("describe", "-", "--decimal", ",", input=quoted).stdout


def test_commas_that_are_no_decimal_ones(refused):
    for text in ("a,b\n1,x,2\n", "a,b\n1,2,3,4,5,6\n", 'a,b\n1,2.5,"3"\n'):
        assert "decimal" not in refused(3, "describe", "-", input=text).stderr


@pytest.mark.parametrize("text, says", [
    ("name,age\nSmith, John,5\nDoe, Jane,7\nRoe, Ann,9\n", "row has 3 fields, the header has 2"),
    ("a\tb\nx\t1\t2\ny\t1\t2\nz\t1\n", "row has"),
    ("1\t2\n1\t2\t3\n4\t5\t6\n", "row has"),
])
def test_what_may_have_no_row_names(refused, tmp_path, text, says):
    """A comma within names, a line that is short, a first line of numbers."""
    (tmp_path / "t.csv").write_text(text)
    refused(3, "describe", "t.csv", says=says)


# --- lines that are no header -------------------------------------------------------------------

TABLE = "a,b,c\n1,2,3\n2,3,4\n"


@pytest.mark.parametrize("title", ["Report Q3\n", "Report Q3\n\n", "Report Q3\nof ours\n\n", "Report Q3, draft\n"])
def test_titles_above_the_header(credence, refused, title):
    """The option that is named reads the file."""
    skip = len(title.splitlines())
    refused(3, "describe", "-", input=title + TABLE, says=f"--skip {skip}")
    assert names(credence, title + TABLE, "--skip", skip)[0] == ["a", "b", "c"]


def test_rows_that_are_too_long_further_down(credence, refused):
    for text in (TABLE + "1,2,3,4\n", "a\n" + "1\n" * 40 + "2;3,4\n"):
        assert "--skip" not in refused(3, "describe", "-", "--delimiter", ",", input=text).stderr


def test_one_column_with_decimal_commas(credence, refused, tmp_path):
    """One number of two fields: the delimiter to name, which a model that knows the style reads it with."""
    refused(3, "describe", "-", input="size\n2,5\n3,5\n", says="--delimiter ';'")
    (tmp_path / "t.csv").write_text("size;y\n1,5;1\n2,5;2\n3,7;3\n4,1;5\n")
    assert credence("fit", "linear", "t.csv", "--target", "y", "-o", "m.cred").code == 0
    refused(3, "predict", "m.cred", "-", input="size\n2,5\n", says="--delimiter ';'")
    assert credence("predict", "m.cred", "-", "--delimiter", ";", input="size\n2,5\n").code == 0
