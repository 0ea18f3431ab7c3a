"""The command line itself: orders and spellings of options, mistakes and the hints that mend them."""
import json

import pytest

from conftest import hinted

FIT = ["fit", "ridge", "examples/diabetes.csv", "--target", "progression"]


# --- spellings that mean the same ------------------------------------------------------------------

SAME = [
    ["fit", "ridge", "--target", "progression", "examples/diabetes.csv"],
    ["--target", "progression", "fit", "ridge", "examples/diabetes.csv"],
    ["--target=progression", "fit", "ridge", "examples/diabetes.csv"],
    ["fit", "--target=progression", "ridge", "--lambda=1", "examples/diabetes.csv"],
    ["fit", "ridge", "examples/diabetes.csv", "--target", "bmi", "--target", "progression"],
    ["fit", "--target", "progression", "--", "ridge", "examples/diabetes.csv"],
    ["--", "fit", "ridge", "examples/diabetes.csv"],
    [*FIT, "--intercept"], [*FIT, "--intercept=true"], [*FIT, "--no-intercept", "--intercept=true"],
    [*FIT, "--json", "--no-json"], [*FIT, "--json", "--json=false"], [*FIT, "--format=csv"],
    ["--format", "csv", *FIT], ["--quiet", *FIT], ["-q", *FIT, "-v", "--no-verbose"],
    [*FIT, "--scale_target", "none"], [*FIT, "--output", ""], [*FIT, "--lambda", "+1"],
    [*FIT, "--lambda", "1e0"], [*FIT, "--features", "!sex", "--features", "sex"],
    [*FIT, "--seed=0"], [*FIT, "-o", "m.cred"], [*FIT, "-om.cred"], ["-o", "m.cred", *FIT],
]


@pytest.mark.parametrize("command", SAME, ids=" ".join)
def test_same_meaning(credence, examples, command):
    result, plain = credence(*command), credence(*FIT)
    if "progression" not in " ".join(command):
        assert result.code == 2  # "--" made the options before it impossible: nothing names the target
    else:
        assert result == plain and result.code == 0


def test_no_intercept(credence, examples):
    names = [p["name"] for p in json.loads(credence(*FIT, "--no-intercept", "--json").stdout)["parameters"]]
    other = [p["name"] for p in json.loads(credence(*FIT, "--json").stdout)["parameters"]]
    assert other == ["intercept", *names]


def test_words_after_two_dashes_are_no_options(credence, tmp_path):
    (tmp_path / "-x.csv").write_text("a,y\n1,2\n3,4\n5,7\n")
    assert credence("describe", "--", "-x.csv").code == 0
    assert credence("describe", "./-x.csv").code == 0


def test_columns_that_look_like_options(credence, tmp_path):
    (tmp_path / "d.csv").write_text("-a,--json,y\n1,2,2\n3,5,4\n5,1,7\n9,9,1\n")
    result = credence("fit", "linear", "d.csv", "--target=--json", "--features", "-a")
    assert result.code == 0 and "-a," in result.stdout


def test_program_without_verb_is_help(credence):
    help_text = credence("help")
    assert help_text.code == 0 and "usage: credence VERB" in help_text.stdout
    for command in ([], ["--help"], ["-h"], ["-q"]):
        assert credence(*command) == help_text


def test_version(credence):
    for command in (["--version"], ["fit", "--version"], ["predict", "--version", "a", "b", "c", "d"]):
        result = credence(*command)
        assert result.code == 0 and result.stderr == ""
        assert result.stdout.split()[0] == "credence" and len(result.stdout.split()) == 2
    assert json.loads(credence("--version", "--json").stdout)["schema"] == "credence.version/1"


# --- mistakes --------------------------------------------------------------------------------------

MISTAKES = [  # exit code 2: what is typed, what is said
    (["frobnicate"], ["there is no verb 'frobnicate'", "verbs: fit, predict"]),
    (["fit"], ["the argument MODEL is missing", "usage: credence fit MODEL DATA"]),
    (["fit", "linear"], ["the argument DATA is missing"]),
    (["predict"], ["the argument FILE.cred is missing"]),
    (["predict", "a", "b", "--task", "regression"], ["unknown option --task of predict"]),
    (["evaluate", "a", "b", "--class-weights", "x=1"], ["unknown option --class-weights of evaluate"]),
    (["sample", "a.cred", "-n"], ["-n needs a value", "for example -n 100"]),
    (["sample", "a.cred", "-n", "x"], ["--count: 'x' is not a whole number"]),
    (["sample", "a.cred", "b.csv"], ["'b.csv' is one argument too many"]),
    ([*FIT, "-n", "3"], ["unknown option -n"]),
    (["predict", "a", "b", "--loss", "squred"], ["'squred' is neither a loss nor a file", "--loss squared"]),
    (["predict", "a", "b", "--loss", "quantile:2"], ["is not quantile:Q", "--loss quantile:0.9"]),
    (["predict", "a", "b", "--draws", "1e9"], ["--draws: '1e9'", "0..100000"]),
    (["describe"], ["the argument FILE is missing"]),
    (["convert", "examples/diabetes.csv"], ["the argument OUT is missing"]),
    (["convert", "examples/diabetes.csv", "a.csv", "-o", "b.csv"], ["both OUT and --output"]),
    (["convert", "examples/diabetes.csv", "a.xlsx"], ["cannot tell the format of 'a.xlsx'", ".npy"]),
    (["convert", "examples/diabetes.csv", "-", "--json"], ["does not write JSON"]),
    (["fit", "linear", "a.csv", "b.csv"], ["'b.csv' is one argument too many"]),
    (["models", "a", "b"], ["'b' is one argument too many"]),
    (["models", "gpp"], ["there is no model 'gpp'", "bayes-linear, "]),
    (["fit", "nonesuch", "examples/diabetes.csv"], ["there is no model 'nonesuch'"]),
    (["help", "nonesuch"], ["there is no verb or model 'nonesuch'"]),
    ([*FIT, "--zzz"], ["unknown option --zzz of fit", "credence help fit lists them"]),
    ([*FIT, "-z"], ["unknown option -z"]),
    ([*FIT, "-qv"], ["unknown option -qv"]),
    (["--zzz"], ["unknown option --zzz", "credence help lists them"]),
    (["predict", "a", "b", "--target", "y"], ["unknown option --target of predict"]),
    (["fit", "linear", *FIT[2:], "--lambda", "2"], ["linear has no option --lambda", "models with --lambda: "]),
    ([*FIT, "--lambda", "-1"], ["--lambda: '-1' is not a number in the range >=0", "--lambda 0.5"]),
    ([*FIT, "--lambda=-1"], ["--lambda: '-1' is not a number in the range >=0"]),
    ([*FIT, "--lambda", "nan"], ["--lambda: 'nan'"]),
    ([*FIT, "--lambda", "1x"], ["--lambda: '1x' is not a number"]),
    ([*FIT, "--lambda="], ["--lambda: '' is not a number"]),
    ([*FIT, "--lambda"], ["--lambda needs a value", "for example --lambda 0.5"]),
    ([*FIT, "--lambda", "--json"], ["--lambda needs a value"]),
    ([*FIT, "-o"], ["-o needs a value"]),
    ([*FIT, "-o", "--json"], ["-o needs a value"]),
    ([*FIT, "--seed", "-1"], ["--seed: '-1' is not a whole number"]),
    ([*FIT, "--seed", "1.5"], ["--seed: '1.5' is not a whole number"]),
    (["describe", "examples/diabetes.csv", "--seed", "x"], ["--seed: 'x' is not a whole number"]),
    ([*FIT, "--threads", "5000"], ["--threads: '5000'", "0..4096"]),
    ([*FIT, "--format", "xml"], ["--format: 'xml' is not one of auto|text|csv|json"]),
    ([*FIT, "--solver", "dula"], ["--solver: 'dula' is not one of", "did you mean --solver dual?"]),
    ([*FIT, "--quiet=maybe"], ["--quiet: 'maybe' is not true or false"]),
    ([*FIT, "--no-lambda"], ["unknown option --no-lambda"]),
    ([*FIT, "--no-intercept=true"], ["unknown option --no-intercept"]),
    ([*FIT, "--time-limit", "soon"], ["--time-limit: 'soon' is not a time", "--time-limit 30s"]),
    ([*FIT, "--time-limit", "0s"], ["'0s' is not a time"]),
    ([*FIT, "--memory-limit", "lots"], ["'lots' is not an amount of memory", "--memory-limit 2G"]),
    ([*FIT, "--memory-limit", "-1G"], ["'-1G' is not an amount of memory"]),
    ([*FIT, "--basis", "poly:0"], ["--basis: 'poly:0' is not poly:K", "--basis poly:3"]),
    ([*FIT, "--folds", "3"], ["unknown option --folds of fit"]),
    (["cv", *FIT[1:], "--folds", "1"], ["--folds: '1'", ">=2"]),
    (["cv", *FIT[1:], "--split", "stratified"], ["needs a target that is a category"]),
    (["predict", "model.cred", "examples/diabetes.csv", "--interval", "1"], ["--interval: '1'"]),
    (["evaluate", "model.cred", "examples/diabetes.csv", "--interval", "0"], ["--interval: '0'"]),
    (["fit", "ridge", "examples/diabetes.csv"], ["needs a target", "--target COLUMN"]),
    ([*FIT, "--features", "progression"], ["'progression' is the target and cannot be a feature"]),
    ([*FIT, "--features", "q*"], ["no column of examples/diabetes.csv matches 'q*'"]),
    ([*FIT, "--delimiter", "ab"], ["delimiter"]),
    (["plot", "model.cred", "examples/diabetes.csv", "--draws", "2", "--kind", "map"], ["--draws is for --kind fit"]),
    (["plot", "model.cred", "examples/diabetes.csv", "--range", "1"], ["--range needs two numbers"]),
    (["plot", "model.cred", "examples/diabetes.csv", "--parameters", "a,b"], ["for --kind evidence"]),
    (["plot", "model.cred", "examples/diabetes.csv", "-o", "f.png"], ["writes SVG", "'f.png'"]),
    (["update", "lasso.cred", "examples/diabetes.csv"], ["lasso has no exact update"]),
    (["predict", "-", "-"], ["only one argument"]),
    ([*FIT, "-o", "examples/diabetes.csv"], ["would replace the input examples/diabetes.csv"]),
    (["predict", "model.cred", "examples/diabetes.csv", "-o", "model.cred"], ["would replace the input"]),
    (["describe", "model.cred", "-o", "./model.cred"], ["would replace the input"]),
    (["convert", "examples/diabetes.csv", "examples/../examples/diabetes.csv"], ["would replace"]),
    (["update", "model.cred", "examples/diabetes.csv", "-o", "link.csv"], ["would replace"]),
]


@pytest.mark.parametrize("command, says", MISTAKES, ids=[" ".join(c) for c, _ in MISTAKES])
def test_mistake(credence, refused, examples, model, tmp_path, command, says):
    if "lasso.cred" in command:
        assert credence("fit", "lasso", *FIT[2:], "-o", "lasso.cred").code == 0
    (tmp_path / "link.csv").symlink_to("examples/diabetes.csv")
    refused(2, *command, says=says)


# What is typed, and the hint that must work when it is typed in its place.
HINTS = [
    (["fti", *FIT[1:]], FIT),
    (["Fit", *FIT[1:]], FIT),
    (["fit", "rigde", *FIT[2:]], FIT),
    (["fit", "ridge", "examples/diabetes.csv", "--taget", "progression"], FIT),
    (["fit", "ridge", "examples/diabetes.csv", "--taget=progression"],
     ["fit", "ridge", "examples/diabetes.csv", "--target=progression"]),
    (["--frmat", "json", *FIT], ["--format", "json", *FIT]),
    ([*FIT, "--scale-traget", "none"], [*FIT, "--scale-target", "none"]),
    ([*FIT, "--lamda", "3"], [*FIT, "--lambda", "3"]),
    (["cv", *FIT[1:], "--flods", "3"], ["cv", *FIT[1:], "--folds", "3"]),
    (["models", "bayes-linaer"], ["models", "bayes-linear"]),
    (["help", "modles"], ["help", "models"]),
]

COLUMN_HINTS = [  # the same where the data have the last word: exit code 3
    (["fit", "ridge", "examples/diabetes.csv", "--target", "progresion"], FIT),
    (["fit", "ridge", "examples/diabetes.csv", "--target=Progression"], [*FIT[:3], "--target=progression"]),
    ([*FIT, "--features", "bmi,agee,s1"], [*FIT, "--features", "bmi,age,s1"]),
    ([*FIT, "--features", "!agee"], [*FIT, "--features", "!age"]),
    ([*FIT, "--features", "b*,agee"], [*FIT, "--features", "b*,age"]),
    ([*FIT, "--weights", "BMI"], [*FIT, "--weights", "bmi"]),
    ([*FIT, "--category", "sxe"], [*FIT, "--category", "sex"]),
]


@pytest.mark.parametrize("typed, meant, code", [(*h, 2) for h in HINTS] + [(*h, 3) for h in COLUMN_HINTS],
                         ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_hint_works(credence, refused, examples, typed, meant, code):
    result = refused(code, *typed, says="did you mean")
    assert hinted(result.stderr) == meant
    assert credence(*hinted(result.stderr)).code == 0


def test_hint_in_words_of_the_shell(credence, refused, tmp_path):
    """Words that a shell would change are quoted in the command of the hint."""
    (tmp_path / "it's here.csv").write_text("my x,y\n1,2\n2,4\n4,5\n5,5\n")
    result = refused(3, "fit", "linear", "it's here.csv", "--target", "y", "--features", "my xx")
    assert hinted(result.stderr)[2] == "it's here.csv"
    assert credence(*hinted(result.stderr)).code == 0


def test_no_hint_where_it_would_be_a_guess(refused, tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n2,3\n3,5\n")
    for target in ("q", "nothing-like-it"):
        assert "hint" not in refused(3, "fit", "linear", "d.csv", "--target", target).stderr


@pytest.mark.parametrize("length", [63, 64, 65, 300, 5000, 100000])
def test_very_long_arguments(refused, examples, length):
    long = "q" * length
    refused(2, f"--{long}")
    refused(2, *FIT, f"--{long}=3")
    refused(2, long)
    refused(2, "fit", long, "examples/diabetes.csv")
    refused(5, "describe", long)
    refused(3, *FIT[:-1], long)
    refused(2, *FIT, "--lambda", long)
    refused(2, *FIT, f"--lambda={long}")


def test_odd_bytes_stay_on_one_line(refused, examples):
    """No control character of an argument reaches the terminal."""
    for word in ("a\nb", "a\x1b[31mb", "a\rb", "\x07"):
        for command in ([word], [f"--{word}"], ["describe", word], [*FIT[:-1], word], [*FIT, "--lambda", word]):
            said = refused(3 if command[:-1] == FIT[:-1] else 5 if command[0] == "describe" else 2,
                           *command).stderr
            assert not set(said) & set("\x1b\r\x07")


def test_bytes_that_are_not_utf8(credence, refused, tmp_path):
    (tmp_path / "name.csv").write_bytes(b"caf\xe9,y\n1,2\n2,3\n4,4\n")
    (tmp_path / "level.csv").write_bytes(b"c,y\ncaf\xe9,2\nb,3\nb,4\n")
    for name in ("name.csv", "level.csv"):
        assert credence("describe", name, binary=True).code == 0
        answer = json.loads(credence("describe", name, "--json").stdout)
        assert len(answer["columns"]) == 2
        done = credence("fit", "linear", name, "--target", "y", "--json", "-o", "m.cred")
        assert done.code == 0 and "not UTF-8: such bytes are read as Windows-1252" in done.stderr
    assert json.loads(credence("describe", "name.csv", "--json").stdout)["columns"][0]["name"] == "caf\xe9"
    refused(3, "fit", "linear", "name.csv", "--quiet", "--target", b"caf\xe9".decode(errors="surrogateescape"))
    (tmp_path / "unused.csv").write_bytes(b"caf\xe9,x,y\n1,2,3\n2,3,5\n4,4,4\n")
    assert credence("fit", "linear", "unused.csv", "--target", "y", "--features", "x", "--json").code == 0
