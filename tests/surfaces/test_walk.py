"""A model of sequences that only its own file knows (toy_walk.c): --sequence and --time from the command line
to the saved model and back."""
import csv
import json
import math
import random
import subprocess

import pytest

WALKS = {"ann": [1.0, 2.5, 2.0, 4.5], "bo": [0.5], "cy": [3.0, 3.5, 5.5]}
SEQUENCES = ["--target", "y", "--sequence", "who", "--time", "day"]


@pytest.fixture
def data(tmp_path):
    """The walks with their rows in any order."""
    rows = [(who, 10 * t - 5, y, 0.25 * t) for who, walk in WALKS.items() for t, y in enumerate(walk)]
    random.Random(3).shuffle(rows)
    path = tmp_path / "walks.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("who", "day", "y", "x"), *rows])
    return str(path), rows


def failure(toy, *arguments):
    done = subprocess.run([toy.path, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def test_fit_predict_save_load(toy, data, tmp_path):
    path, rows = data
    first, first_variance = moments([walk[0] for walk in WALKS.values()])
    step, step_variance = moments([b - a for walk in WALKS.values() for a, b in zip(walk, walk[1:])])
    model = str(tmp_path / "w.cred")
    fit = toy.json("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    assert [p["value"] for p in fit["parameters"]] == pytest.approx([first, step])
    assert fit["statistics"]["sequences"] == 3
    assert toy.json("describe", model)["parameters"] == fit["parameters"]
    predictions = toy.json("predict", model, path)["predictions"]
    for (who, day, _, _), p in zip(rows, predictions):
        t = (day + 5) / 10
        assert p["mean"] == pytest.approx(first + step * t)
        assert p["sd"] == pytest.approx(math.sqrt(first_variance + step_variance * t))


def test_new_data_need_the_columns_but_no_target(toy, data, tmp_path):
    path, _ = data
    model, new = str(tmp_path / "w.cred"), tmp_path / "new.csv"
    toy("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    new.write_text("day,x,who\n7,1,4\n3,1,4\n5,1,5\n")  # others, named by numbers
    a = toy.json("predict", model, str(new))["predictions"]
    assert a[1]["mean"] == a[2]["mean"] != a[0]["mean"]
    new.write_text("day,x\n1,2\n")
    code, said = failure(toy, "predict", model, str(new))
    assert code == 3 and "column 'who' not found" in said


def test_without_labels_the_file_is_one_sequence(toy, data):
    path, rows = data
    ys = [row[2] for row in rows]
    fit = toy.json("fit", "toy-walk", path, "--target", "y", "--features", "x")
    assert fit["statistics"]["sequences"] == 1
    assert fit["parameters"][1]["value"] == pytest.approx((ys[-1] - ys[0]) / (len(ys) - 1))


def test_models_of_rows_refuse(toy, data):
    for option, column in (("--sequence", "who"), ("--time", "day")):
        code, said = failure(toy, "fit", "ridge", data[0], "--target", "y", option, column)
        assert code == 2
        assert f"the model ridge treats rows one by one: {option} needs a model of sequences" in said


def test_the_columns_are_settings(toy, data, tmp_path):
    model = str(tmp_path / "w.cred")
    toy("fit", "toy-walk", data[0], *SEQUENCES, "-o", model)
    shown = json.dumps(toy.json("describe", model))
    assert '"sequence": "who"' in shown and '"time": "day"' in shown


def test_completion_and_help(toy, data):
    assert toy.complete("fit", "toy-walk", data[0], "--sequ") == (["--sequence"], False)
    assert "who" in toy.complete("fit", "toy-walk", data[0], "--sequence", "")[0]
    assert "--time" in toy("help", "fit")


def filtered(walks, order):
    """What the walk says of each row given those before it, by its definition."""
    first, first_variance = moments([walk[0] for walk in walks.values()])
    step, step_variance = moments([b - a for walk in walks.values() for a, b in zip(walk, walk[1:])])
    return [(walks[who][t - 1] + step, math.sqrt(step_variance)) if t else (first, math.sqrt(first_variance))
            for who, t in order], (step, step_variance)


def test_filtered_is_given_the_rows_before(toy, data, tmp_path):
    path, rows = data
    model = str(tmp_path / "w.cred")
    toy("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    expected, _ = filtered(WALKS, [(who, (day + 5) // 10) for who, day, _, _ in rows])
    answers = toy.json("predict", model, path, "--filtered")["predictions"]
    for p, (mean, sd) in zip(answers, expected):
        assert p["mean"] == pytest.approx(mean) and p["sd"] == pytest.approx(sd)


def test_a_stream_remembers_where_each_sequence_stands(toy, data, tmp_path):
    path, rows = data
    model, ordered = str(tmp_path / "w.cred"), tmp_path / "ordered.csv"
    toy("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    with open(ordered, "w", newline="") as file:  # interleaved, as they would come in
        csv.writer(file).writerows([("who", "day", "y", "x"), *sorted(rows, key=lambda row: (row[1], row[0]))])
    whole = toy("predict", model, str(ordered), "--filtered")
    assert toy("predict", model, str(ordered), "--stream", "--block", "1") == whole
    assert toy("predict", model, str(ordered), "--stream", "--block", "3") == whole


def test_ahead_of_data(toy, data, tmp_path):
    path, _ = data
    model = str(tmp_path / "w.cred")
    toy("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    _, (step, step_variance) = filtered(WALKS, [])
    answers = toy.json("predict", model, path, "--ahead", "2")["predictions"]
    assert sorted({p["sequence"] for p in answers}) == sorted(WALKS) and len(answers) == 6
    for p in answers:
        assert p["mean"] == pytest.approx(WALKS[p["sequence"]][-1] + step * p["ahead"])
        assert p["sd"] == pytest.approx(math.sqrt(step_variance * p["ahead"]))
    begin = toy.json("predict", model, "--ahead", "1")["predictions"]
    assert "sequence" not in begin[0] and begin[0]["mean"] == pytest.approx(moments([1, 0.5, 3])[0])


def test_a_series_may_have_gaps(toy, data, tmp_path):
    model, gaps = str(tmp_path / "w.cred"), tmp_path / "gaps.csv"
    toy("fit", "toy-walk", data[0], *SEQUENCES, "-o", model)
    gaps.write_text("who,day,y,x\nan,1,2,0\nan,2,,0\nan,3,,0\n")
    _, (step, step_variance) = filtered(WALKS, [])
    last = toy.json("predict", model, str(gaps), "--filtered")["predictions"][-1]
    assert last["mean"] == pytest.approx(2 + 2 * step)
    assert last["sd"] == pytest.approx(math.sqrt(2 * step_variance))
    fit = toy.json("fit", "toy-walk", str(gaps), *SEQUENCES)
    assert fit["parameters"][0]["value"] == 2


@pytest.mark.parametrize("options, said", [
    (["--filtered", "--smoothed"], "contradict each other"),
    (["--smoothed"], "the model toy-walk does not offer --smoothed"),
    (["--decode", "viterbi"], "the model toy-walk does not offer --decode"),
    (["--ahead", "2", "--id", "who"], "--ahead is about rows that are not there"),
    (["--ahead", "2", "--stream"], "--ahead needs all rows at once, without --stream"),
    (["--filtered", "--draws", "3"], "--draws cannot be combined with --filtered"),
])
def test_what_does_not_go_together(toy, data, tmp_path, options, said):
    model = str(tmp_path / "w.cred")
    toy("fit", "toy-walk", data[0], *SEQUENCES, "-o", model)
    code, stderr = failure(toy, "predict", model, data[0], *options)
    assert code in (2, 5) and said in stderr


def test_models_of_rows_have_no_sequences(toy, data, tmp_path):
    model = str(tmp_path / "r.cred")
    toy("fit", "ridge", data[0], "--target", "y", "--features", "x", "-o", model)
    code, said = failure(toy, "predict", model, data[0], "--filtered")
    assert code != 0 and "--filtered is for models of sequences, but ridge treats rows one by one" in said


def test_a_figure_of_the_series_and_its_forecast(toy, data, tmp_path):
    path, _ = data
    model, svg = str(tmp_path / "w.cred"), tmp_path / "w.svg"
    toy("fit", "toy-walk", path, *SEQUENCES, "-o", model)
    drawn = toy.json("plot", model, path, "--ahead", "3")
    series = {line["name"]: line for line in drawn["series"]}
    first = toy.json("predict", model, path, "--ahead", "3")["predictions"][:3]   # of the first sequence
    who = first[0]["sequence"]
    assert series["observed"]["y"] == WALKS[who]
    assert series["observed"]["x"] == [10 * t - 5 for t in range(len(WALKS[who]))]
    assert series["forecast, 95 %"]["lower"] == pytest.approx([p["lower"] for p in first])
    assert series["mean of the forecast"]["y"] == pytest.approx([p["mean"] for p in first])
    toy("plot", model, path, "-o", svg)
    assert "<svg" in svg.read_text() and "The first of 3 sequences" in svg.read_text()
    code, said = failure(toy, "plot", model, path, "--kind", "states")
    assert code != 0 and "has no clusters" in said
