"""Models of sequences at the command line: the names that programs rely on, and sequences that cannot be."""
import csv
import io
import json

import pytest

ROWS = "".join(f"{'abcb'[i % 4]},{[1.0, 1.2, 5.1, 4.7, 0.9][i % 5] + i % 3 / 7},{i * 7 % 5}\n" for i in range(60))


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.csv").write_text("letter,x,n\n" + ROWS)


def fitted(credence, *options):
    said = credence("fit", *options, "-o", "m.cred", "--json")
    assert said.code == 0, said.stderr
    report = json.loads(said.stdout)
    return report, {p["name"] for p in report["parameters"]}


@pytest.mark.parametrize("options, names", [
    (["--features", "letter"], {"pi[1]", "A[1,2]", "B[1,a]", "B[2,c]"}),
    (["--features", "x"], {"pi[2]", "A[2,1]", "mean[1].x", "mean[2].x"}),
    (["--features", "n", "--emission", "poisson"], {"rate[1]", "rate[2]"}),
    (["--features", "x,n", "--emission", "n=poisson"], {"mean[1].x", "rate[1]", "rate[2]"}),
])
def test_names_of_hidden_states(credence, rows, options, names):
    report, found = fitted(credence, "hmm", "rows.csv", *options, "--states", "2")
    assert names <= found
    assert isinstance(report["log_likelihood"], float)
    assert {"bic", "restarts_agreed"} <= report["statistics"].keys()
    said = credence("predict", "m.cred", "rows.csv")
    assert said.code == 0 and said.stdout.splitlines()[0].startswith("state,p_1,p_2")
    for row in csv.DictReader(io.StringIO(said.stdout)):
        assert row["state"] in {"1", "2"}
        assert float(row["p_1"]) + float(row["p_2"]) == pytest.approx(1, abs=1e-12)


def test_names_of_series(credence, rows):
    _, found = fitted(credence, "kalman", "rows.csv", "--target", "x", "--components", "ar:2")
    assert found == {"phi1", "phi2", "variance.ar", "mean"}
    _, found = fitted(credence, "kalman", "rows.csv", "--target", "x", "--components", "level,seasonal:4,cycle")
    assert found == {"variance.irregular", "variance.level", "variance.seasonal", "variance.cycle", "damping", "period"}
    said = credence("predict", "m.cred", "rows.csv", "--smoothed", "--parts")
    assert {"level", "level_sd", "seasonal", "seasonal_sd", "cycle", "cycle_sd"} <= set(said.stdout.splitlines()[0].split(","))


def test_impossible_rows_are_an_answer(credence, rows):
    """Of parameters that are only evaluated, and of rows that come later."""
    start = '{"pi": [1, 0, 0], "A": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "B": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}'
    report, _ = fitted(credence, "hmm", "rows.csv", "--features", "letter", "--max-iter", "0", "--start", start)
    assert report["log_likelihood"] is None
    assert any("probability 0" in warning for warning in report["warnings"])
    said = credence("predict", "m.cred", "rows.csv")
    assert said.code == 0 and "-inf" in said.stdout
    said = credence("evaluate", "m.cred", "rows.csv", "--format", "csv")
    assert said.code == 0 and "log_score,-inf" in said.stdout
