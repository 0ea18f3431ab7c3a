"""Numbers of a second file: read in the style of the file that a model was fitted to only where the file agrees."""
import json

import pytest

EURO = "x;g;y\n" + "".join(f"{i},5;{'uv'[i % 2]};{2 * i},25\n" for i in range(12))  # y = 2 x - 0.75
GROUPS = "x;g;y\n" + "".join(f"1.{100 + i},5;{'uv'[i % 2]};{i},25\n" for i in range(12))  # y = x - 1100.25


@pytest.fixture
def model(credence, tmp_path):
    (tmp_path / "euro.csv").write_text(EURO)
    result = credence("fit", "linear", "euro.csv", "--target", "y", "--features", "x", "-o", "m.cred")
    assert result.code == 0, result.stderr
    return "m.cred"


def means(result):
    assert result.code == 0, result.stderr
    return [float(line.split(",")[0]) for line in result.stdout.splitlines()[1:]]


# The file, its x as they are meant, and whether that must be said.
FILES = {
    "comma-delimited": ("x,g\n1.500,u\n2.250,v\n", [1.5, 2.25], False),
    "points": ("x;g\n1.5;u\n12.3456;v\n", [1.5, 12.3456], False),
    "points in another column": ("x;z\n1.500;0.25\n2.250;3.5\n", [1.5, 2.25], False),
    "decimal commas": ("x;g\n1,5;u\n2,25;v\n", [1.5, 2.25], False),
    "groups and commas": ("x;z\n1.500;0,25\n2.250;3,5\n", [1500, 2250], False),
    "quoted decimal commas": ('x,g\n"1,5",u\n"2,25",v\n', [1.5, 2.25], False),
    "whole numbers": ("x;g\n1;u\n2;v\n", [1, 2], False),
    "either": ("x;g\n1.500;u\n2.250;v\n", [1500, 2250], True),
    "either, tabs": ("x\tg\n1.500\tu\n2.250\tv\n", [1500, 2250], True),
    "either, one column": ("x\n1.500\n2.250\n", [1500, 2250], True),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_in_its_own_style(credence, model, tmp_path, name):
    text, xs, unclear = FILES[name]
    (tmp_path / "new.csv").write_text(text)
    wanted = [2 * x - 0.75 for x in xs]
    for result in (credence("predict", model, "new.csv"), credence("predict", model, "-", input=text),
                   credence("predict", model, "new.csv", "--stream")):
        assert means(result) == pytest.approx(wanted)
        assert result.stderr.count("is read as 1500, as in the file that the model was fitted to: --decimal . reads "
                                   "it as 1.5") == unclear
    told = credence("predict", model, "new.csv", "--decimal", ".")
    if "," not in text.replace("x,g", "").replace(",u", "").replace(",v", ""):
        assert "as in the file" not in told.stderr
        assert means(told) == pytest.approx([2 * float(line.split(text[1])[0]) - 0.75
                                             for line in text.splitlines()[1:]])


def test_every_verb_reads_a_file_in_its_own_style(credence, model, tmp_path):
    rows = [(i / 8, 2 * i / 8 - 0.75) for i in range(20)]
    (tmp_path / "new.csv").write_text("x,g,y\n" + "".join(f"{x:.3f},u,{y:.3f}\n" for x, y in rows))
    found = json.loads(credence("evaluate", model, "new.csv", "--json").stdout)
    assert found["metrics"]["rmse"] < 1e-6
    for more in ([], ["--stream"]):
        result = credence("update", model, "new.csv", *more, "-o", "u.cred")
        assert result.code == 0, result.stderr
        assert json.loads(credence("describe", "u.cred", "--json").stdout)["parameters"][1]["value"] == pytest.approx(2)
        # what the model was fitted to is still what is usual
        assert json.loads(credence("describe", "u.cred", "--json").stdout)["reading"] == {
            "decimal": ",", "thousands": "."}
    drawn = credence("plot", model, "new.csv", "--kind", "residuals", "-o", "r.svg")
    assert drawn.code == 0 and "1500" not in (tmp_path / "r.svg").read_text()


def test_groups_stay_groups(credence, tmp_path):
    (tmp_path / "groups.csv").write_text(GROUPS)
    assert credence("fit", "linear", "groups.csv", "--target", "y", "--features", "x", "-o", "g.cred").code == 0
    (tmp_path / "new.csv").write_text("x;g\n1.105,5;u\n1.106;v\n")
    assert means(credence("predict", "g.cred", "new.csv")) == pytest.approx([5.25, 5.75])
    (tmp_path / "new.csv").write_text("x,g\n1105.500,u\n1106.000,v\n")
    assert means(credence("predict", "g.cred", "new.csv")) == pytest.approx([5.25, 5.75])


def test_american_groups_too(credence, tmp_path):
    (tmp_path / "us.csv").write_text("x;y\n" + "".join(f"1,{100 + i}.5;{i}.25\n" for i in range(12)))
    assert credence("fit", "linear", "us.csv", "--target", "y", "-o", "a.cred").code == 0
    (tmp_path / "new.csv").write_text("x;z\n1105,5;1\n1106,25;2\n")
    assert means(credence("predict", "a.cred", "new.csv")) == pytest.approx([5.25, 6])
    (tmp_path / "new.csv").write_text("x;z\n1,105;1\n1,106;2\n")
    result = credence("predict", "a.cred", "new.csv")
    assert means(result) == pytest.approx([4.75, 5.75])
    assert "'1,105' in column 'x' of new.csv is read as 1105" in result.stderr
    assert "--decimal , reads it as 1.105" in result.stderr
