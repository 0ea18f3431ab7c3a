"""The help says everything, and everything it says works."""
import json
import pathlib
import re
import shlex

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = re.findall(r"^    X\((\w+)\)", (ROOT / "cli/credence.c").read_text(), re.MULTILINE)
MODELS = [stem.replace("_", "-")
          for stem in re.findall(r"^    X\((\w+)\)", (ROOT / "src/models/list.h").read_text(), re.MULTILINE)]


def examples_in(page):
    """The commands that a page of help shows."""
    return re.findall(r"^  credence (.*)$", page, re.MULTILINE)


def test_verbs_and_models_are_all_here(credence):
    assert [v["name"] for v in json.loads(credence("help", "--json").stdout)["verbs"]] == VERBS
    assert [m["name"] for m in json.loads(credence("models", "--json").stdout)["models"]] == MODELS
    assert MODELS == sorted(MODELS)


def test_program_help_names_every_verb(credence):
    page = credence("help").stdout
    for verb in VERBS:
        assert re.search(rf"^  {verb} +\w", page, re.MULTILINE)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(credence, verb):
    page = credence("help", verb)
    assert (page.code, page.stderr) == (0, "")
    for same in ([verb, "--help"], [verb, "-h"], ["--help", verb], [verb, "-h", "a", "b", "c", "d"]):
        assert credence(*same) == page
    answer = json.loads(credence("help", verb, "--json").stdout)
    everything = page.stdout + credence("help", "fit").stdout + credence("help", "options").stdout
    assert answer["name"] == verb and answer["options"]
    for option in answer["options"]:
        name = option["name"].replace("_", "-")
        spelled = f"--no-{name}" if option["kind"] == "flag" and option["default"] == "true" else f"--{name}"
        line = re.search(rf"^  (-\w, )?{spelled}( [A-Z]+)? +(.*)$", everything, re.MULTILINE)
        assert line, f"{spelled} is not explained"
        assert re.search(rf"{spelled}\b", page.stdout), f"{spelled} is not named"
        assert option["help"] and (option["example"] or option["kind"] == "flag"), name
        if option["kind"] != "flag" and option["default"]:
            assert f"[{option['default']}]" in everything
    assert max(len(line) for line in page.stdout.splitlines() if not line.startswith("  credence ")) <= 80
    assert examples_in(page.stdout)


@pytest.mark.parametrize("name", MODELS)
def test_page_of_a_model(credence, name):
    page = credence("models", name)
    assert page.code == 0 and credence("help", name) == page
    answer = json.loads(credence("models", name, "--json").stdout)
    assert answer["reference"] in page.stdout and answer["summary"] in page.stdout
    for option in answer["options"]:
        assert re.search(rf"--(no-)?{option['name'].replace('_', '-')}\b", page.stdout)


def test_kernels(credence):
    kernels = json.loads(credence("models", "kernels", "--json").stdout)["kernels"]
    assert [k["name"] for k in kernels] == sorted(k["name"] for k in kernels) and len(kernels) > 20
    listed = credence("models", "kernels").stdout
    for kernel in kernels:
        page = credence("models", "kernels", kernel["name"])
        assert page.code == 0 and kernel["summary"] in page.stdout and kernel["reference"] in page.stdout
        assert kernel["name"] in listed and kernel["example"] in page.stdout
        for parameter in kernel["parameters"]:
            assert parameter["help"] in page.stdout
        one = json.loads(credence("models", "kernels", kernel["name"], "--json").stdout)["kernels"]
        assert one == [kernel]
    wrong = credence("models", "kernels", "matren")
    assert wrong.code == 2 and "did you mean 'matern'?" in wrong.stderr
    assert credence("models", "ridge", "rbf").code == 2


def test_every_example_works(credence, examples):
    """In the order of the verbs: fit makes the model that the others read."""
    pages = [credence("help").stdout] + [credence("help", verb).stdout for verb in VERBS]
    pages += [credence("models", name).stdout for name in MODELS]
    commands = [command for page in pages for command in examples_in(page)]
    assert len(commands) >= len(VERBS) - 1 + len(MODELS)
    for command in commands:
        result = credence(*shlex.split(command))
        assert (result.code, result.stderr) == (0, ""), command


def test_examples_of_options_are_accepted(credence):
    """Each option takes the example that its failures show."""
    for verb in json.loads(credence("help", "--json").stdout)["verbs"]:
        options = [verb["name"], "--help"]
        for option in verb["options"]:
            if option["kind"] != "flag":
                options += ["--" + option["name"].replace("_", "-"), *shlex.split(option["example"])]
        result = credence(*options)
        assert result.code == 0, result.stderr


def test_usage_names_a_target_where_there_is_one(credence):
    assert "fit ridge DATA --target COLUMN [-o" in credence("fit", "ridge", "--help").stdout
    assert "usage: credence fit kmeans DATA [-o FILE.cred] [OPTIONS]\n" in credence("fit", "kmeans", "--help").stdout
    assert "usage: credence tune gmm DATA --over" in credence("tune", "gmm", "--help").stdout
