"""Dates and times on the command line: recognised, named by a format, stored, written, drawn."""
import json
import re
import shlex
import sqlite3

import pytest

DAYS = "day,y\n" + "".join(f"2023-{1 + i // 28:02}-{1 + i % 28:02},{i * 37 % 11}\n" for i in range(60))


def read_json(result):
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def test_types_and_ends(credence, tmp_path):
    (tmp_path / "d.csv").write_text("d,t\n2023-01-31,2023-01-31T10:20:30Z\n,2023-01-30\n2022-12-01,\n")
    columns = {c["name"]: c for c in read_json(credence("describe", "d.csv", "--json"))["columns"]}
    assert (columns["d"]["type"], columns["d"]["first"], columns["d"]["last"]) == ("date", "2022-12-01", "2023-01-31")
    assert (columns["t"]["type"], columns["t"]["last"]) == ("datetime", "2023-01-31T10:20:30")
    assert columns["d"]["missing"] == 1 and columns["d"]["mean"] is None


def test_a_database_has_dates_too(credence, tmp_path):
    with sqlite3.connect(tmp_path / "d.db") as base:
        base.execute("create table t (d text, x real)")
        base.executemany("insert into t values (?, ?)", [("2023-01-31", 1), (None, 2), ("2023-02-01", 3)])
    columns = read_json(credence("describe", "sqlite:d.db?t", "--json"))["columns"]
    assert (columns[0]["type"], columns[0]["first"], columns[0]["missing"]) == ("date", "2023-01-31", 1)


def test_a_format_is_stored_and_written_as_iso(credence, tmp_path):
    (tmp_path / "iso.csv").write_text(DAYS)
    lines = [line.split(",") for line in DAYS.splitlines()[1:]]
    german = "day,y\n" + "".join(f"{d[8:]}.{d[5:7]}.{d[:4]},{y}\n" for d, y in lines)
    (tmp_path / "german.csv").write_text(german)
    result = credence("convert", "german.csv", "--date", "day:%d.%m.%Y", "-o", "back.csv")
    assert result.code == 0 and (tmp_path / "back.csv").read_text() == DAYS
    assert credence("fit", "linear", "german.csv", "--target", "y", "--date", "day:%d.%m.%Y", "-o", "g.cred").code == 0
    assert credence("fit", "linear", "iso.csv", "--target", "y", "-o", "i.cred").code == 0
    ours = credence("predict", "g.cred", "german.csv").stdout
    assert ours == credence("predict", "i.cred", "iso.csv").stdout and ours.count("\n") == 61
    assert credence("predict", "g.cred", "iso.csv").stdout == ours  # ISO 8601 is always read
    mixed = credence("predict", "g.cred", "-", input=german.replace(".", "/"))
    assert mixed.code == 3 and "is not a date of the form %d.%m.%Y" in mixed.stderr


def test_iso_among_another_format(credence, refused, tmp_path):
    """ISO 8601 is read beside a format, but never where the format itself could be meant."""
    (tmp_path / "d.csv").write_text("d,y\n31.01.2023,1\n2023-02-01,2\n02.02.2023,3\n")
    column = read_json(credence("describe", "d.csv", "--date", "d:%d.%m.%Y", "--json"))["columns"][0]
    assert (column["type"], column["first"], column["last"]) == ("date", "2023-01-31", "2023-02-02")
    refused(3, "describe", "-", "--date", "d:%Y-%d-%m", input="d\n2023-05-01\n2023-01-31\n", says="not a valid date")


def test_streams_and_pipes(credence, tmp_path):
    (tmp_path / "d.csv").write_text(DAYS)
    whole = read_json(credence("fit", "ridge", "d.csv", "--target", "y", "--json"))
    for source in (["d.csv"], ["-"]):
        part = credence("fit", "ridge", *source, "--target", "y", "--json", "--stream", "--block", "7",
                        input=DAYS if source == ["-"] else None)
        for one, other in zip(read_json(part)["parameters"], whole["parameters"]):
            assert abs(one["value"] - other["value"]) < 1e-9 * max(1, abs(other["value"]))


def test_a_stream_of_a_file_has_the_types_of_the_whole(credence, tmp_path):
    """Dates that begin with gaps, become times, or turn out to be texts, in later blocks; CSV and JSON lines."""
    days = [line.split(",") for line in DAYS.splitlines()[1:]]
    kinds = {
        "gaps": [("" if i < 3 else d, y) for i, (d, y) in enumerate(days)],
        "times": [(d if i < 50 else d + "T12:00", y) for i, (d, y) in enumerate(days)],
        "texts": [(d if i != 50 else "unknown", y) for i, (d, y) in enumerate(days)],
        "late": [(d if i else "early", y) for i, (d, y) in enumerate(days)],
    }
    for name, rows in kinds.items():
        (tmp_path / f"{name}.csv").write_text("day,y\n" + "".join(f"{d},{y}\n" for d, y in rows))
        lines = [json.dumps({"day": d or None, "y": int(y)}) for d, y in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        for ending in ("csv", "jsonl"):
            fit = ["fit", "ridge", f"{name}.{ending}", "--target", "y", "--missing", "drop", "--json"]
            whole = read_json(credence(*fit))
            for block in ("4", "7", "1000"):
                part = credence(*fit, "--stream", "--block", block)
                for one, other in zip(read_json(part)["parameters"], whole["parameters"], strict=True):
                    assert one["name"] == other["name"]
                    assert abs(one["value"] - other["value"]) < 1e-8 * max(1, abs(other["value"])), (fit, block)
                assert ("contains dates, but also" in part.stderr) == (name in ("texts", "late"))


def test_the_first_block_of_a_pipe_decides(credence, tmp_path):
    days = DAYS.splitlines()
    fit = ["fit", "ridge", "-", "--target", "y", "--missing", "drop", "--stream", "--block", "7"]
    for late, says in (("unknown", "'unknown' in column 'day' is not a date"), ("2023-03-01T10:00", "has a time of day"),
                       ("2023-02-30", "is not a valid date")):
        lines = days[:50] + [late + ",3"] + days[51:]
        said = credence(*fit, input="\n".join(lines) + "\n")
        assert said.code == 3 and says in said.stderr and "stdin:51" in said.stderr, said.stderr


def test_a_stream_of_times_takes_the_memory_of_a_block(credence, tmp_path):
    """They are all different: nobody may keep them as levels."""
    with open(tmp_path / "t.csv", "w") as f:
        f.write("t,y\n")
        for i in range(100000):
            f.write(f"2023-{1 + i // 9000:02}-{1 + i // 400 % 22:02}T{i // 60 % 24:02}:{i % 60:02}:{i // 1440 % 60:02},{i % 11}\n")
    for source in ("t.csv", "-"):
        said = credence("fit", "ridge", source, "--target", "y", "--stream", "--block", "500", "--memory-limit", "10M",
                        input=(tmp_path / "t.csv").read_text() if source == "-" else None)
        assert said.code == 0, said.stderr


def test_rows_that_come_one_by_one(credence, tmp_path):
    """Dates are dates also where the first of them is missing, whatever the block."""
    times = DAYS.replace(",", "T10:00,").replace("dayT10:00", "day")
    for text, late in ((DAYS, "2023-03-05"), (times, "2023-03-05T10:00")):
        (tmp_path / "d.csv").write_text(text)
        (tmp_path / "new.csv").write_text(f"day,q\n,1\n{late},2\n")
        assert credence("fit", "linear", "d.csv", "--target", "y", "--missing", "drop", "-o", "m.cred").code == 0
        whole = credence("predict", "m.cred", "new.csv").stdout
        assert whole.count("\n") == 3
        assert credence("predict", "m.cred", "new.csv", "--stream", "--block", "1").stdout == whole
        piped = credence("predict", "m.cred", "-", "--stream", input=(tmp_path / "new.csv").read_text())
        assert piped.stdout == whole, piped.stderr


def test_a_stored_format_stands_beside_one_that_is_given(credence, tmp_path):
    (tmp_path / "d.csv").write_text("due,y\n" + "".join(f"{1 + i}.02.2023,{i * 7 % 5}\n" for i in range(20)))
    (tmp_path / "e.csv").write_text("due,overdue\n3.02.2023,02/03/2023\n")
    assert credence("fit", "linear", "d.csv", "--target", "y", "--date", "due:%d.%m.%Y", "-o", "m.cred").code == 0
    result = credence("predict", "m.cred", "e.csv", "--date", "overdue:%m/%d/%Y")
    assert result.code == 0, result.stderr


def test_figures_over_dates(credence, tmp_path):
    (tmp_path / "d.csv").write_text(DAYS)
    assert credence("fit", "linear", "d.csv", "--target", "y", "-o", "m.cred").code == 0
    assert credence("plot", "m.cred", "d.csv", "-o", "f.svg").code == 0
    assert "2023-02-06" in (tmp_path / "f.svg").read_text()   # a Monday
    assert credence("plot", "m.cred", "--range", "2020-01-01,2030-01-01", "-o", "g.svg").code == 0
    assert ">2024<" in (tmp_path / "g.svg").read_text()
    wrong = credence("plot", "m.cred", "--range", "2020,2030", "-o", "g.svg")
    assert wrong.code == 2 and "--range needs two dates" in wrong.stderr


# What the cells are, and what must be said of them; then the options in it, tried.
UNCLEAR = {
    "either order": (["01/02/2024", "02/03/2024"], ["'01/02/2024' can have the day or the month first",
                                                   "--date 'd:%d/%m/%Y' or --date 'd:%m/%d/%Y'"], "2024-02-01"),
    "month first": (["01/02/2024", "02/13/2024"], ["looks like dates", "--date 'd:%m/%d/%Y' to"], "2024-01-02"),
    "two digits": (["01.02.24", "13.03.24"], ["--date 'd:%d.%m.%y'"], "2024-02-01"),
    "names": (["Jan 2, 2024", "Feb 3, 2024"], ["--date '\"d:%b %d, %Y\"'"], "2024-01-02"),
    "short": (["2024-1-2", "2024-11-3"], ["--date 'd:%Y-%m-%d'"], "2024-01-02"),
    "a text": (["02/01/2024", "unknown", "13/01/2024", "05/01/2024"],
               ["but also 'unknown'", "--date 'd:%d/%m/%Y'", "--missing-values='unknown'"], "2024-01-02"),
}


def test_columns_that_look_like_dates_name_an_option_that_works(credence, tmp_path):
    for name, (cells, says, first) in UNCLEAR.items():
        (tmp_path / "d.csv").write_text("d,y\n" + "".join(f'"{c}",{i}\n' for i, c in enumerate(cells)))
        said = credence("describe", "d.csv").stderr
        assert all(phrase in said for phrase in says), (name, said)
        options = shlex.split(" ".join(re.findall(r"--(?:date|missing-values)[ =]'[^']*'", said.split(" or --date")[0])))
        found = read_json(credence("describe", "d.csv", "--json", *options))["columns"][0]
        assert (found["type"], found["first"]) == ("date", first), name


def test_mixed_formats_and_bad_rows(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("d,y\n2024-01-02,1\n02/01/2024,2\n2024-01-05,3\n")
    said = credence("describe", "d.csv").stderr
    assert "contains dates in different formats, such as '2024-01-05' and '02/01/2024'" in said
    refused(3, "describe", "d.csv", "--date", "d", says=["d.csv:3: '02/01/2024'", "--date 'd:%d/%m/%Y'"])
    (tmp_path / "d.csv").write_text("d,y\n01.02.2024,1\n02.01.24,2\nsoon,3\n")
    refused(3, "describe", "d.csv", "--date", "d:%d.%m.%Y", says=["d.csv:3: '02.01.24'", "'d:%d.%m.%y'"])


def test_a_zone_may_be_named_utc(credence):
    text = "d,y\n2024-01-02 10:00:00 UTC,1\n2024-01-03T10:00:00+02:00,2\n"
    found = read_json(credence("describe", "-", "--json", input=text))["columns"][0]
    assert (found["first"], found["last"]) == ("2024-01-02T10:00:00", "2024-01-03T08:00:00")


def months(i, form):
    return form.format(y=2020 + i // 12, m=i % 12 + 1, b="Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[i % 12])


@pytest.mark.parametrize("form, option", [("{y}-{m:02}", "%Y-%m"), ("{y}/{m:02}", "%Y/%m"), ("{m:02}/{y}", "%m/%Y"),
                                          ("{b} {y}", "%b %Y"), ("{b}-{y}", "%b-%Y")])
def test_months_are_told(credence, form, option):
    """The option that is named reads them."""
    text = "t,y\n" + "".join(f"{months(i, form)},{i % 7}\n" for i in range(30))
    said = credence("describe", "-", input=text).stderr
    assert f"column 't' looks like dates, but is read as text: use --date 't:{option}'" in said
    read = json.loads(credence("describe", "-", "--date", f"t:{option}", "--json", input=text).stdout)["columns"][0]
    assert (read["type"], read["first"], read["last"]) == ("date", "2020-01-01", "2022-06-01")
    assert "dates" not in credence("describe", "-", "--category", "t", input=text).stderr


@pytest.mark.parametrize("form, option", [("{y}Q{q}", "%Y Q%q"), ("{y} Q{q}", "%Y Q%q"), ("{y}-Q{q}", "%Y-Q%q"), ("Q{q} {y}", "Q%q %Y"),
                                          ("Q{q}/{y}", "Q%q/%Y"), ("Q{q}-{y}", "Q%q-%Y"), ("{q}Q{y}", "%qQ%Y"), ("{q}Q{s}", "%qQ%y")])
def test_quarters_are_told(credence, form, option):
    """The option that is named reads them as their first days, also where a model learns by months; no quarter is a fifth."""
    quarters = [form.format(y=2018 + i // 4, s=18 + i // 4, q=i % 4 + 1) for i in range(22)]
    text = "t,y\n" + "".join(f"{q},{i % 7}\n" for i, q in enumerate(quarters))
    for verb in (["describe", "-"], ["fit", "ridge", "-", "--target", "y"]):
        said = credence(*verb, input=text).stderr
        assert f"column 't' looks like dates, but is read as text: use --date 't:{option}'" in said
    read = json.loads(credence("describe", "-", "--date", f"t:{option}", "--json", input=text).stdout)["columns"][0]
    assert (read["type"], read["first"], read["last"]) == ("date", "2018-01-01", "2023-04-01")
    fit = credence("fit", "kalman", "-", "--target", "y", "--time", "t", "--steps", "months", "--date", f"t:{option}", "--json", input=text)
    assert fit.code == 0 and json.loads(fit.stdout)["statistics"]["step"] == 3, fit
    assert "'t' is not a date" in credence("describe", "-", "--date", "t", input=text).stderr.replace("in column ", "")
    fifth = text + form.format(y=2024, s=24, q=5) + ",1\n"
    assert credence("describe", "-", "--date", f"t:{option}", input=fifth).code == 3


def test_dates_that_are_written_as_whole_numbers(credence):
    days = [20230000 + 100 * m + d for m in (1, 2, 12) for d in range(1, 29)]
    text = "day,y\n" + "".join(f"{d},{i % 7}\n" for i, d in enumerate(days))
    for verb in (["describe", "-"], ["fit", "ridge", "-", "--target", "y"]):
        said = credence(*verb, input=text).stderr
        assert said.count("column 'day' looks like dates, such as 20230101, but is read as numbers: --date 'day:%Y%m%d'") == 1
    read = json.loads(credence("describe", "-", "--date", "day:%Y%m%d", "--json", input=text).stdout)["columns"][0]
    assert (read["type"], read["first"], read["last"]) == ("date", "2023-01-01", "2023-12-28")
    assert credence("describe", "-", "--real", "day", input=text).stderr == ""
    for other in (text + "20230229,1\n", text.replace("20230101", "20230100"), text + "4,1\n"):
        assert "dates" not in credence("describe", "-", input=other).stderr


def test_times_of_day_in_two_formats(credence):
    text = "t,y\n" + "".join(f"{i % 24:02}:15{':30' if i % 5 == 3 else ''},{i}\n" for i in range(30))
    for verb in (["describe", "-"], ["fit", "ridge", "-", "--target", "y"]):
        said = credence(*verb, input=text).stderr
        assert "column 't' has times of day in two formats, such as 00:15 and 03:15:30, and is read as text" in said
