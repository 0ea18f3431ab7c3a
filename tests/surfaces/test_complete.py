"""`credence complete`: the right candidates for a word, quickly and without a sound."""
import gzip
import os
import pathlib
import pty
import select
import shutil
import sqlite3
import subprocess
import time

import pytest

from conftest import DIABETES

COLUMNS = DIABETES.read_text().split("\n")[0].split(",")


def names(json_options):
    return {"--" + o["name"].replace("_", "-") for o in json_options}


def test_verbs(credence):
    words, files = credence.complete("")
    shown = [line.split()[0] for line in credence("help").splitlines()
             if line.startswith("  ") and "credence" not in line]
    assert words == shown and "fit" in words and not files
    assert "complete" not in words and "document" not in words
    assert credence.complete("f") == (["fit"], False)
    assert credence.complete("help", "pre") == (["predict"], False)
    assert credence.complete() == ([], False)


def test_models_come_from_the_registry(credence):
    models = [m["name"] for m in credence.json("models")["models"]]
    for verb in ("fit", "cv"):
        assert credence.complete(verb, "") == (models, False)
    assert credence.complete("models", "") == ([*models, "kernels"], False)
    kernels = [k["name"] for k in credence.json("models", "kernels")["kernels"]]
    assert credence.complete("models", "kernels", "") == (kernels, False)
    assert credence.complete("models", "kernels", "mat") == (["matern"], False)
    assert credence.complete("fit", "ri") == (["ridge"], False)
    assert credence.complete("models", "ridge", "") == ([], False)


def test_distributions_come_from_the_registry(credence):
    names = [d["name"] for d in credence.json("dist")["distributions"]]
    assert credence.complete("dist", "") == (names, False) and "beta" in names
    assert credence.complete("dist", "inverse-w") == (["inverse-wishart"], False)
    assert credence.complete("dist", "beta", "") == credence.complete("dist", "beta", "1", "") == ([], False)
    assert credence.complete("dist", "beta", "--qu") == (["--quantile", "--quiet"], False)
    assert credence.complete("dist", "weib", shell="zsh")[0][0].startswith("weibull\t")


def test_values_of_options(credence):
    assert credence.complete("dist", "normal", "--fit", "x") == ([], True)        # files
    assert credence.complete("predict", "m.cred", "d.csv", "--loss", "") == (["0-1", "squared", "absolute", "quantile:"], True)
    assert credence.complete("predict", "m.cred", "d.csv", "--loss", "sq") == (["squared"], True)
    over = ["tune", "ridge", DIABETES, "--over"]
    words, files = credence.complete(*over, "")
    assert {"lambda=", "solver=", "basis=", "scale="} <= set(words) and not files
    assert credence.complete(*over, "lam") == (["lambda="], False)
    assert credence.complete(*over, "solver=primal|d") == (["solver=primal|dual"], False)
    assert credence.complete(*over, "lambda=") == ([], False)


def test_options_of_verb_and_model(credence):
    ridge = names(credence.json("models", "ridge")["options"])
    bayes = names(credence.json("models", "bayes-linear")["options"])
    words, files = credence.complete("fit", "ridge", DIABETES, "--")
    assert ridge | {"--target", "--from", "--seed", "--json", "--no-intercept"} <= set(words) and not files
    assert not (bayes - ridge) & set(words) and len(words) == len(set(words))
    assert "--folds" in credence.complete("cv", "--")[0] and "--folds" not in words
    assert credence.complete("fit", "ridge", "--no") == (["--no-intercept"], False)
    assert credence.complete("predict", "m.cred", "--lev") == (["--leverage"], False)
    assert "--json" in credence.complete("--")[0]
    assert credence.complete("fit", "ridge", "--", "--ta") == ([], True)      # after -- there are no options


def test_descriptions_for_shells_that_show_them(credence):
    words, _ = credence.complete("fit", "ridge", "--lamb", shell="fish")
    assert words == ["--lambda\tpenalty on the squared coefficients"]
    assert credence.complete("fi", shell="zsh")[0][0].startswith("fit\t")


def test_values_of_choices(credence):
    assert credence.complete("fit", "ridge", "--solver", "") == (["auto", "primal", "dual", "lsqr", "cg"], False)
    assert credence.complete("fit", "ridge", "--solver=d") == (["--solver=dual"], False)
    assert credence.complete("fit", "--scale", "s", at=2) == (["standard"], False)
    assert credence.complete("completion", "") == (["bash", "zsh", "fish"], False)
    assert credence.complete("fit", "ridge", "--json=") == (["--json=true", "--json=false"], False)
    assert credence.complete("fit", "ridge", "--lambda", "") == ([], False)


def test_files_are_left_to_the_shell(credence):
    for words in (["fit", "ridge", ""], ["predict", "m"], ["predict", "m.cred", "d"], ["fit", "ridge", "-o", ""],
                  ["fit", "ridge", "--output", "x"], ["describe", ""]):
        assert credence.complete(*words) == ([], True), words
    for words in (["describe", "x", ""], ["nonsense", ""], ["fit", "ridge", "x.csv", "--threads", ""]):
        assert credence.complete(*words) == ([], False), words


def test_columns(credence):
    assert credence.complete("fit", "ridge", DIABETES, "--target", "") == (COLUMNS, False)
    assert credence.complete("fit", "ridge", DIABETES, "--target=pr") == (["--target=progression"], False)
    assert credence.complete("cv", "ridge", DIABETES, "--weights", "b") == (["bmi", "bp"], False)
    assert credence.complete("fit", "ridge", DIABETES, "--features", "age,!b") == (["age,!bmi", "age,!bp"], False)
    assert credence.complete("fit", "ridge", DIABETES, "--features", "bmi,bp,b") == ([], False)
    assert credence.complete("fit", "ridge", "--target", "pro", DIABETES, at=3) == (["progression"], False)
    assert credence.complete("describe", DIABETES, "--category", "a") == (["age"], False)
    assert credence.complete("describe", DIABETES, "--real", "se") == (["sex"], False)


def test_columns_with_commas(credence, place):
    def columns(*words, **how):
        return credence.complete("fit", "ridge", "my data.csv", *words, cwd=place, **how)[0]
    assert columns("--features", "q") == ['"q,r"']
    assert columns("--target", "q") == ["q,r"]                     # one name, not a list
    assert columns("--features", "'\"q") == ['"q,r"']
    assert columns("--features", "'\"q,r\",bl'") == ['"q,r",blood pressure']
    assert columns("--features", "'\"q,r\",q'") == []              # it is listed
    assert columns("--features", "'\"q,r\",!x'") == ['"q,r",!x y']
    assert columns("--features", "'\"q", shell="bash") == ["'\"q,r\""]


def test_columns_of_other_sources(credence, place):
    (place / "t.csv.gz").write_bytes(gzip.compress(b"one;two;three\n1;2;3\n"))
    with sqlite3.connect(place / "d.db") as db:
        db.execute("create table houses (price real, area real)")
        db.execute("insert into houses values (1, 2)")
    db.close()
    credence("fit", "linear", "plain.csv", "--target", "b", "-o", "m.cred", cwd=place)

    def columns(*words):
        return credence.complete(*words, cwd=place)[0]
    assert columns("fit", "ridge", "t.csv.gz", "--target", "t") == ["two", "three"]
    assert columns("fit", "ridge", "sqlite:d.db?houses", "--target", "") == ["price", "area"]
    assert columns("fit", "ridge", "sqlite:d.db?query=select area from houses", "--target", "") == ["area"]
    assert columns("fit", "ridge", "plain.csv", "--header", "no", "--target", "") == ["x1", "x2", "x3"]
    assert columns("predict", "m.cred", "plain.csv", "--category", "") == ["a", "c", "b"]
    assert columns("predict", "broken.cred", "plain.csv", "--category", "") == ["a", "b", "c"]


def test_only_the_first_lines_are_read(credence, tmp_path):
    big = tmp_path / "big.csv"
    with open(big, "w") as file:
        file.write("left,right\n")
        file.write("1,2\n" * 5_000_000)
        file.write("1,2,3,this is no row\n")
    began = time.monotonic()
    assert credence.complete("fit", "ridge", big, "--target", "") == (["left", "right"], False)
    assert time.monotonic() - began < 0.5        # sanitizers and a busy machine included


def test_silence_on_bad_files(credence, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "bad.csv").write_text('a,"b\n1,2')
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "zip.cred").write_bytes(b"PK\3\4 nothing")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")             # opening it would wait for ever
    for name in ("empty.csv", "bad.csv", "zip.cred", "folder.csv", "pipe.csv", "absent.csv", "-", "sqlite:no?x"):
        assert credence.complete("fit", "ridge", name, "--target", "", cwd=tmp_path) == ([], False), name
    credence.complete("fit", "ridge", "bytes.csv", "--target", "", cwd=tmp_path)


def test_names_with_blanks_in_bash(credence, place):
    def bash(*words):
        return credence.complete(*words, shell="bash", cwd=place)[0]
    assert bash("fit", "ridge", "my\\ data.csv", "--target", "b") == ["blood\\ pressure"]
    assert bash("fit", "ridge", "'my data.csv'", "--target", "'b") == ["'blood pressure"]
    assert bash("fit", "ridge", '"my data.csv"', "--target", '"z') == ['"z\\$']
    assert bash("fit", "ridge", "my\\ data.csv", "--target", "z") == ["z\\$"]
    assert bash("fit", "ridge", "my\\ data.csv", "--features", "x\\ y,bl") == ["x\\ y,blood\\ pressure"]
    assert bash("fit", "ridge", "my\\ data.csv", "--target", "nothing\\") == []


def test_fifty_milliseconds(credence):
    times = []
    for _ in range(5):
        began = time.monotonic()
        credence.complete("fit", "ridge", DIABETES, "--target", "")
        times.append(time.monotonic() - began)
    assert min(times) < (0.05 if b"__asan_init" not in credence.path.read_bytes() else 0.5)


# --- the scripts --------------------------------------------------------------------------------------

def test_bash_script_in_a_real_bash(credence, place):
    """compgen with the function of the script, line and cursor as bash sets them."""
    script = place / "credence.bash"
    script.write_text(credence("completion", "bash"))
    ask = r"""
        source credence.bash
        ask() {                       # LINE, then its words as bash cuts them
            COMP_LINE=$1; shift
            COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            COMPREPLY=(); _credence "$PROGRAM" 2>errors
            printf '%s\n' "${COMPREPLY[@]}" --
        }
        complete -p credence
        ask 'credence f' credence f
        ask 'credence fit ridge plain.csv --target ' credence fit ridge plain.csv --target ''
        ask 'credence fit ridge plain.csv --scale=st' credence fit ridge plain.csv --scale = st
        ask 'credence fit ridge plain.csv --scale=' credence fit ridge plain.csv --scale =
        ask 'credence fit ridge my\ data.csv --target b' credence fit ridge 'my\ data.csv' --target b
        ask 'credence fit ridge ' credence fit ridge ''
    """
    done = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, cwd=place,
                          env=os.environ | {"PROGRAM": str(credence.path)}, timeout=60)
    assert done.stdout.split("--\n")[:-1] == [
        "complete -F _credence credence\nfit\n", "a\nb\nc\n", "standard\n", "auto\nstandard\nnone\n",
        "blood\\ pressure\n", ""], done
    assert done.stderr == ""


class Terminal:
    """An interactive shell on a pseudo-terminal."""

    def __init__(self, folder, program, command, prepare):
        bin = folder / "bin"
        bin.mkdir()
        (bin / "credence").symlink_to(program)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, os.environ | {"TERM": "dumb", "INPUTRC": "/dev/null", "PS1": "$ ",
                                                          "PATH": f"{bin}:{os.environ['PATH']}"})
        self.type(f"{prepare}; source <(credence completion {command[0]}); echo rea''dy\n", "ready")

    def type(self, text, until):
        os.write(self.fd, text.encode())
        seen, end = "", time.monotonic() + 20
        while until not in seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                seen += os.read(self.fd, 65536).decode(errors="replace")
        assert until in seen, f"{text!r} gave {seen!r}, not {until!r}"
        os.write(self.fd, b"\x15")                # clear the line

    def close(self):
        os.write(self.fd, b"exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def test_tab_in_an_interactive_bash(credence, place):
    terminal = Terminal(place, credence.path, ["bash", "--norc", "--noprofile", "-i"], "bind 'set bell-style none'")
    fit = "credence fit ridge my\\ data.csv"
    terminal.type("credence fit rid\t", "ridge ")
    terminal.type("credence fit ridge pla\t", "plain.csv ")
    terminal.type(f"{fit} --target bl\t", "blood\\ pressure ")
    terminal.type(f"{fit} --target 'bl\t", "'blood pressure' ")
    terminal.type(f"{fit} --features=x\\ y,bl\t", "--features=x\\ y,blood\\ pressure ")
    terminal.close()


def test_tab_in_an_interactive_zsh(credence, place):
    if not shutil.which("zsh"):
        pytest.skip("there is no zsh")
    terminal = Terminal(place, credence.path, ["zsh", "-f", "-i"], "autoload -U compinit; compinit -D")
    terminal.type("credence fit rid\t", "ridge ")
    terminal.type("credence fit ridge pla\t", "plain.csv ")
    terminal.type("credence fit ridge my\\ data.csv --target bl\t", "blood\\ pressure ")
    terminal.type("credence fit ridge plain.csv --scale=st\t", "--scale=standard ")
    terminal.close()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_syntax(credence, tmp_path, shell):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    script = tmp_path / "script"
    script.write_text(credence("completion", shell))
    subprocess.run([shell, "-n", script], check=True, stdin=subprocess.DEVNULL)


def test_fish_asks_the_program(credence, place):
    if not shutil.which("fish"):
        pytest.skip("there is no fish")
    bin = place / "bin"
    bin.mkdir()
    (bin / "credence").symlink_to(credence.path)
    ask = """source (credence completion fish | psub)
             complete -C 'credence fit rid'; complete -C 'credence fit ridge plain.csv --target '
             complete -C 'credence fit ridge pla'"""
    done = subprocess.run(["fish", "--no-config", "-c", ask], capture_output=True, text=True, cwd=place,
                          env=os.environ | {"PATH": f"{bin}:{os.environ['PATH']}", "HOME": str(place)}, timeout=60)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ridge\t") and lines[1:4] == ["a", "b", "c"] and "plain.csv" in lines[4], done


def test_unknown_shell(credence):
    assert credence("completion", "tcsh", code=2) == ""
    assert pathlib.Path(credence.path).is_file()
