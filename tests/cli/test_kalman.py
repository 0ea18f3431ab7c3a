"""Models of series at the command line: forecasts, parts, figures, and what is refused."""
import csv
import io
import json

import pytest


@pytest.fixture
def nile(credence, examples, tmp_path):
    """The model of the Nile, m.cred."""
    said = credence("fit", "kalman", "examples/nile.csv", "--target", "flow", "--time", "time", "-o", "m.cred", "--json")
    assert said.code == 0, said.stderr
    return json.loads(said.stdout)


def rows_of(run):
    assert run.code == 0, run.stderr
    return list(csv.DictReader(io.StringIO(run.stdout)))


def test_names_that_programs_rely_on(nile):
    assert nile["log_likelihood"] == pytest.approx(-632.5456, abs=1e-4)
    values = {p["name"]: p["value"] for p in nile["parameters"]}
    assert values == {"variance.irregular": pytest.approx(15098.5, rel=1e-4), "variance.level": pytest.approx(1469.18, rel=1e-4)}
    assert {"aic", "bic"} <= nile["statistics"].keys()


def test_forecasts(credence, nile):
    ahead = rows_of(credence("predict", "m.cred", "--ahead", "3", "--format", "csv"))
    assert [row["ahead"] for row in ahead] == ["1", "2", "3"]
    assert float(ahead[0]["mean"]) == pytest.approx(798.367, abs=1e-2)
    assert float(ahead[0]["sd"]) < float(ahead[1]["sd"]) < float(ahead[2]["sd"])
    of_data = rows_of(credence("predict", "m.cred", "examples/nile.csv", "--ahead", "3", "--format", "csv"))
    assert [float(row["mean"]) for row in of_data] == pytest.approx([float(row["mean"]) for row in ahead])


def test_parts_add_up(credence, nile):
    said = credence("predict", "m.cred", "examples/nile.csv", "--smoothed", "--parts", "--json")
    for row in json.loads(said.stdout)["predictions"]:
        assert sum(row["parts"].values()) == pytest.approx(row["mean"])
        assert 0 < row["parts_sd"]["level"] < row["sd"]
    rows = rows_of(credence("predict", "m.cred", "examples/nile.csv", "--parts", "--id", "time", "--format", "csv"))
    assert rows[0]["time"] == "1871" and rows[0]["mean"] == "" and float(rows[0]["level_sd"]) > 0


def test_figures(credence, nile):
    said = credence("plot", "m.cred", "examples/nile.csv", "--json")
    drawn = {series["name"]: series for series in json.loads(said.stdout)["series"]}
    assert {"observed", "given the rows before", "forecast, 95 %"} <= drawn.keys()
    assert credence("plot", "m.cred", "examples/nile.csv", "--kind", "components", "-o", "parts.svg").code == 0
    assert credence("plot", "m.cred", "examples/nile.csv", "--kind", "residuals", "-o", "left.svg").code == 0


def test_refusals(refused, nile):
    refused(2, "predict", "m.cred", "--ahead", "3", "--parts", says="--parts needs rows")
    refused(2, "fit", "kalman", "examples/nile.csv", "--target", "flow", "--components", "levle", says="no part 'levle'")
    refused(2, "fit", "kalman", "examples/nile.csv", "--target", "flow", "--components", "trend", "--model", "{}",
            says="leave --components out")
    refused(2, "plot", "m.cred", "examples/nile.csv", "--draws", "3", says="not for figures of series")
    refused(3, "predict", "m.cred", "examples/cars.csv", says="column 'time' not found")


def test_a_table_without_the_series(credence, refused, examples):
    assert credence("fit", "kalman", "examples/nile.csv", "--target", "flow", "-o", "m.cred").code == 0
    refused(3, "predict", "m.cred", "examples/cars.csv", says="column 'flow' not found")


def test_time_between_rows(credence, refused, tmp_path):
    lines = ["day,y"] + [f"2020-{m:02d}-{d:02d},{m + 0.3 * (d % 4)}" for m in range(1, 13) for d in (1, 9, 17, 25)]
    (tmp_path / "dates.csv").write_text("\n".join(lines) + "\n")
    said = credence("fit", "kalman", "dates.csv", "--target", "y", "--time", "day", "--steps", "time", "-o", "d.cred", "--json")
    assert said.code == 0, said.stderr
    assert json.loads(said.stdout)["statistics"]["gaps"] == "of any length"  # 4 to 8 days
    said = credence("fit", "kalman", "dates.csv", "--target", "y", "--time", "day", "--steps", "time", "--unit", "1", "-o", "d.cred",
                    "--json")
    statistics = json.loads(said.stdout)["statistics"]
    assert (statistics["gaps"], statistics["step"]) == ("whole steps", 1)
    said = credence("plot", "d.cred", "dates.csv", "--ahead", "30", "--json")  # to 30 days behind the last row
    series = {s["name"]: s for s in json.loads(said.stdout)["series"]}
    x = series["mean of the forecast"]["x"]
    assert x[:2] == [18622, 18623]  # 2020-12-26 and the day after
    (tmp_path / "next.csv").write_text("day,y\n2021-01-01,\n")
    behind = rows_of(credence("predict", "d.cred", "next.csv", "--format", "csv"))
    ahead = rows_of(credence("predict", "d.cred", "--ahead", "7", "--format", "csv"))
    assert float(behind[0]["mean"]) == pytest.approx(float(ahead[6]["mean"]))
    assert float(behind[0]["sd"]) == pytest.approx(float(ahead[6]["sd"]))
    refused(2, "fit", "kalman", "dates.csv", "--target", "y", "--steps", "time", says="--time COL")
    refused(2, "fit", "kalman", "dates.csv", "--target", "y", "--time", "day", "--unit", "2", says="--unit needs --steps")


def test_em_and_walks(credence, nile, tmp_path):
    em = json.loads(credence("fit", "kalman", "examples/nile.csv", "--target", "flow", "--infer", "em", "--json").stdout)
    assert em["log_likelihood"] == pytest.approx(nile["log_likelihood"], abs=1e-6)
    (tmp_path / "w.csv").write_text("x,y\n" + "".join(f"{(i * 7) % 5},{(1 + i / 10) * ((i * 7) % 5) + i % 3}\n" for i in range(60)))
    walk = json.loads(credence("fit", "kalman", "w.csv", "--target", "y", "--components", "regression:walk", "--json").stdout)
    names = [p["name"] for p in walk["parameters"]]
    assert names == ["variance.irregular", "variance.x", "x"]


def write_months(tmp_path, name="air.csv", target="{:.1f}", law=False):
    """Twelve years of months that grow, with a season; law sets in after eight."""
    lines = ["t,y,law" if law else "t,y"]
    for t in range(144):
        value = 100 * 1.01 ** t * (1.2 if t % 12 in (5, 6, 7) else 0.95) * (1 + 0.02 * ((t * 37) % 11 - 5) / 5)
        lines.append(f"{t + 1},{target.format(value)}" + f",{int(t >= 96)}" * law)
    (tmp_path / name).write_text("\n".join(lines) + "\n")


def test_a_figure_of_rows_with_regressors(credence, refused, tmp_path):
    write_months(tmp_path, law=True)
    fit = credence("fit", "kalman", "air.csv", "--target", "y", "--time", "t", "--components", "level,regression", "-o", "l.cred")
    assert fit.code == 0, fit.stderr
    said = json.loads(credence("plot", "l.cred", "air.csv", "--json").stdout)
    names = {series["name"] for series in said["series"]}
    assert "given the rows before" in names and not any("forecast" in name for name in names)
    assert credence("plot", "l.cred", "air.csv", "-o", "l.svg").code == 0
    assert "Regressors of rows" in (tmp_path / "l.svg").read_text()
    refused(2, "plot", "l.cred", "air.csv", "--ahead", "3", says="regressors of the rows ahead")


def test_parts_of_a_transformed_series_say_so(credence, tmp_path):
    write_months(tmp_path)
    credence("fit", "kalman", "air.csv", "--target", "y", "--time", "t", "--transform-target", "log",
             "--components", "level,seasonal:12", "-o", "g.cred")
    for kind in ("components", "seasons"):
        said = credence("plot", "g.cred", "air.csv", "--kind", kind, "-o", "g.svg")
        assert said.code == 0, said.stderr
        drawn = (tmp_path / "g.svg").read_text()
        assert ">log(y)<" in drawn and ">y<" not in drawn


def test_folds_of_a_short_series(refused, tmp_path):
    write_months(tmp_path)
    refused(3, "cv", "kalman", "air.csv", "--target", "y", "--time", "t", "--components",
            "trend,seasonal:12", says="--folds 5 leaves more rows before the first fold")


def test_rows_after_the_fit_are_a_new_series(credence, nile, examples, tmp_path):
    said = credence("evaluate", "m.cred", "examples/nile.csv", "--json")
    assert "of their series, which begins anew with these rows" in " ".join(json.loads(said.stdout)["warnings"])


def test_probabilities_only_of_the_same_unknown_states(credence, refused, tmp_path):
    """They would depend on the unit of the target."""
    weights = []
    for name, form in (("a.csv", "{:.1f}"), ("b.csv", "{:.1f}e3")):
        write_months(tmp_path, name, form)
        common = (name, "--target", "y", "--time", "t", "--folds", "3")
        said = json.loads(credence("compare", "kalman", "kalman:components=trend", *common, "--json").stdout)
        assert said["weights"] == "none"
        said = json.loads(credence("compare", "kalman", "kalman:components=level,ar:1", *common, "--json").stdout)
        assert said["weights"] == "bic"
        weights.append([m["probability"] for m in said["models"]])
    assert weights[0] == pytest.approx(weights[1], abs=1e-4)
    shown = credence("compare", "kalman", "kalman:components=trend", *common, "--format", "text").stdout
    assert "other states start unknown" in shown
    refused(2, "compare", "kalman", "kalman:components=trend", *common, "--average", says="other states start unknown")


def test_quarters_are_read_as_the_hint_says(credence, tmp_path):
    rows = [f"{2018 + i // 4}Q{i % 4 + 1},{10 + i + i % 4}" for i in range(24)]
    (tmp_path / "q.csv").write_text("\n".join(["quarter,y", *rows]) + "\n")
    ask = ["fit", "kalman", "q.csv", "--target", "y", "--time", "quarter"]
    said = credence(*ask)
    assert said.code == 3 and "contains text" in said.stderr
    hint = said.stderr.split("such as 2023Q1 by --date '")[1].split("'")[0]
    assert credence(*ask, "--date", hint).code == 0


def test_several_columns(credence, examples):
    """Deaths of men and women: named by column, forecast both, and ids of rows are the dates that were read."""
    said = credence("fit", "kalman", "examples/deaths.csv", "--target", "men", "--beside", "women", "--time", "month",
                    "--components", "level,seasonal:12", "-o", "d.cred", "--json")
    assert said.code == 0, said.stderr
    names = {p["name"] for p in json.loads(said.stdout)["parameters"]}
    assert {"variance.level.men", "variance.level.women", "correlation.irregular.men.women"} <= names
    ahead = rows_of(credence("predict", "d.cred", "--ahead", "2", "--format", "csv"))
    assert list(ahead[0]) == ["ahead", "mean", "sd", "lower", "upper", "mean.women", "sd.women", "lower.women", "upper.women"]
    rows = rows_of(credence("predict", "d.cred", "examples/deaths.csv", "--smoothed", "--id", "month"))
    assert [row["month"] for row in rows[:2]] == ["1974-01-01", "1974-02-01"]
    streamed = credence("predict", "d.cred", "examples/deaths.csv", "--stream", "--block", "7", "--id", "month,women")
    assert streamed.code == 0 and streamed.stdout == credence("predict", "d.cred", "examples/deaths.csv", "--id", "month,women").stdout
