"""Time, memory, interruption, full disks and closed pipes: the program ends soon, says why (but to a reader who left), and leaves
nothing half done."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

import long_work
from conftest import REPORTS, Result, check_failure
from test_small_machines import is_sanitized

FIT = ["fit", "linear", "examples/diabetes.csv", "--target", "progression"]


@pytest.fixture(scope="session")
def many_rows(tmp_path_factory):
    """Enough rows to fill a pipe many times with their predictions."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("data") / "many.csv"
    with open(path, "w") as f:
        f.write("a,b,y\n")
        for _ in range(20000):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            f.write(f"{a:.6f},{b:.6f},{a - b + rng.gauss(0, 1):.6f}\n")
    return path


@pytest.fixture
def start(program, tmp_path):
    """Starts the program and leaves it running."""
    started = []

    def run(*args, **options):
        process = subprocess.Popen([program, *map(str, args)], cwd=tmp_path, stderr=subprocess.PIPE,
                                   **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options})
        started.append(process)
        return process
    yield run
    for process in started:
        process.kill()
        process.communicate()


def finish(process, seconds=2):
    """What it said, where it ends within the time."""
    out, said = process.communicate(timeout=seconds)
    said = said.decode()
    assert not any(report in said for report in REPORTS), said
    return Result(process.returncode, out or b"", said)


# --- limits ----------------------------------------------------------------------------------------

def test_time_limit(refused, many_rows):
    for command in (["cv", "linear", many_rows, "--target", "y", "-o", "out"], ["describe", many_rows],
                    ["fit", "ridge", many_rows, "--target", "y", "-o", "out"]):
        refused(6, *command, "--time-limit", "0.001s", says="the time limit is reached")


def test_a_time_limit_leaves_the_best_so_far(credence, program, many_rows, tmp_path):
    """A search for hyper-parameters, and chains of them, that would go on for longer: what there is, with a warning."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    lines = many_rows.read_text().splitlines()
    (tmp_path / "d.csv").write_text("\n".join(lines[:2501]) + "\n")
    done = credence("fit", "gp", "d.csv", "--target", "y", "--kernel", "rbf(ard) + matern32(ard)", "--time-limit", "6s", "-o", "m.cred")
    assert done.code == 0 and "the time limit ended the search for hyper-parameters" in done.stderr, done
    assert credence("predict", "m.cred", "d.csv").code == 0
    (tmp_path / "d.csv").write_text("\n".join(lines[:501]) + "\n")
    done = credence("fit", "gp", "d.csv", "--target", "y", "--hyper", "mcmc", "--draws-hyper", "100000", "--time-limit", "9s",
                    "-o", "m.cred")
    assert done.code == 0 and "the time limit ended the chains of the hyper-parameters" in done.stderr, done


def test_a_time_limit_leaves_samples(credence, program, tmp_path):
    """More samples than any machine draws: those that there was time for, with a warning, which --strict refuses."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    (tmp_path / "net.bif").write_text(long_work.lattice(4, random.Random(1)))
    ask = ["query", "net.bif", "P(*)", "--method", "forward", "--samples", "100000000", "--time-limit", "3s"]
    done = credence(*ask, "--json")
    answer = json.loads(done.stdout)
    assert done.code == 0 and "the time limit ended forward after" in done.stderr, done
    assert "the time limit ended" in str(answer["warnings"])
    error = str(answer)
    assert "'planned': 100000000" in error and "'made'" in error, error
    assert credence(*ask, "--strict").code == 4


def test_a_time_limit_leaves_folds(credence, program, many_rows):
    """A cross-validation of thousands of folds: the mean of those that were finished, and how many they are."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    done = credence("cv", "linear", many_rows, "--target", "y", "--folds", "20000", "--time-limit", "4s", "--json")
    said = json.loads(done.stdout)
    assert done.code == 0 and "of 20000 folds" in done.stderr, done
    assert 0 < len(said["folds"]) < 20000 and f"means over {len(said['folds'])} of 20000 folds" in done.stderr


def test_a_time_limit_leaves_a_sample_of_the_rows(credence, program, many_rows):
    """Far too many rows for three seconds: a model of some of them, in time; or of all, with what a sample could learn."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    began = time.monotonic()
    done = credence("fit", "gp", many_rows, "--target", "y", "--time-limit", "3s", "-o", "m.cred")
    sampled = "the time limit is too short for all 20000 rows: this is learned from" in done.stderr
    assert done.code == 0 and (sampled or "these are the best so far" in done.stderr), done
    assert time.monotonic() - began < 4
    said = json.loads(credence("describe", "m.cred", "--json").stdout)
    assert said["stop"] == "time limit" and 100 < said["rows"] <= 20000 - sampled
    assert credence("predict", "m.cred", many_rows, "-o", "p.csv").code == 0


def test_a_time_limit_leaves_rows_of_an_inference(credence, program, tmp_path):
    """Rows of evidence by the thousand: the answers so far, each of them whole, in output that can be read."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    (tmp_path / "net.bif").write_text(long_work.lattice(12, random.Random(1)))
    (tmp_path / "cases.csv").write_text("v0_0,v3_4\n" + "yes,no\nno,yes\n" * 50000)
    ask = ["infer", "net.bif", "cases.csv", "--target", "v9_9"]
    for more in (["--method", "jt"], ["--method", "ve"], ["--method", "gibbs"]):
        done = credence(*ask, *more, "--time-limit", "4s", "--json")
        rows = json.loads(done.stdout)["results"]
        assert done.code == 0 and f"the time limit ended the inference after {len(rows)} of 100000 rows" in done.stderr, done
        assert 0 < len(rows) < 100000
        for row in rows:
            assert abs(sum(row["marginals"]["v9_9"].values()) - 1) < 1e-9
    done = credence(*ask, "--method", "jt", "--time-limit", "2s", "-o", "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert done.code == 0 and f"after {len(lines) - 1} of 100000 rows" in done.stderr


def test_a_time_limit_leaves_a_tuned_model(credence, program, many_rows, tmp_path):
    """More candidates than there is time for: the best so far, fitted to all rows and saved."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    (tmp_path / "d.csv").write_text("\n".join(many_rows.read_text().splitlines()[:5001]) + "\n")
    done = credence("tune", "ridge", "d.csv", "--target", "y", "--over", "lambda=1..1000:log:5000", "--time-limit", "4s",
                    "-o", "m.cred")
    assert done.code == 0 and "of 5000 candidates" in done.stderr, done
    assert json.loads(credence("describe", "m.cred", "--json").stdout)["rows"] == 5000


def test_a_time_limit_leaves_labels(credence, program, tmp_path):
    """An image after the sweeps that there was time for."""
    if is_sanitized(program):
        pytest.skip("what takes seconds takes minutes here")
    (tmp_path / "noisy.pgm").write_bytes(long_work.image(200, random.Random(1)))
    done = credence("denoise", "noisy.pgm", "--method", "gibbs", "--labels", "16", "--sweeps", "1000000", "--time-limit", "3s",
                    "-o", "clean.png", "--json")
    said = json.loads(done.stdout)
    assert done.code == 0 and f"the time limit ended it after {said['sweeps']} sweeps" in done.stderr, done
    assert not said["converged"] and 0 < said["sweeps"] < 1000000 and said["changed"] > 0
    assert (tmp_path / "clean.png").stat().st_size > 0


@pytest.mark.parametrize("model", ["linear", "ridge", "lda --target kind"])
def test_what_has_nothing_to_give(refused, many_rows, tmp_path, model):
    """A closed form is one sentence at the limit."""
    name, *target = model.split()
    lines = many_rows.read_text().splitlines()
    rows = [line + ("," + "ab"[i % 2]) for i, line in enumerate(lines[1:])]
    (tmp_path / "d.csv").write_text("\n".join([lines[0] + ",kind", *rows]) + "\n")
    refused(6, "fit", name, "d.csv", *(target or ["--target", "y"]), "--time-limit", "0.002s", "-o", "m.cred",
            says="the time limit is reached")


def test_one_bar_that_ends_at_the_end(credence, examples):
    """The progress of a fit never goes back, and its last word is that all is done."""
    said = credence("fit", "gp", "examples/diabetes.csv", "--target", "progression", "--features", "bmi,bp,s5", "--progress", "always").stderr
    shares = [int(line.split("]")[1].split("%")[0]) for line in said.replace("\r", "\n").splitlines() if "gp: fitting [" in line]
    assert shares and shares == sorted(shares) and shares[-1] == 100
    assert "minimis" not in said


@pytest.mark.parametrize("limit", ["3600", "60m", "1h", "0.5h", "3600s"])
def test_time_that_is_enough(credence, examples, limit):
    assert credence(*FIT, "--time-limit", limit).code == 0


@pytest.mark.parametrize("limit", ["1", "100K", "1M", "1MB", "1MiB"])
def test_memory_limit(refused, many_rows, limit):
    refused(6, "fit", "linear", many_rows, "--target", "y", "-o", "m.cred", "--memory-limit", limit,
            says=["memory limit", "raise it with --memory-limit"])


@pytest.mark.parametrize("limit", ["1000000000", "1G", "1GB", "1GiB", "0.5G", "1T"])
def test_memory_that_is_enough(credence, examples, limit):
    assert credence(*FIT, "--memory-limit", limit).code == 0


def test_time_limit_ends_a_wait(start, tmp_path):
    """Nobody ever writes to the pipe."""
    os.mkfifo(tmp_path / "pipe")
    check_failure(finish(start("describe", "pipe", "--time-limit", "0.2s")), 6, "time limit")
    read, write = os.pipe()
    check_failure(finish(start("describe", "-", "--time-limit", "0.2s", stdin=read)), 6, "time limit")
    os.close(read), os.close(write)


# --- interruption ----------------------------------------------------------------------------------

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_waits_for_data(start, tmp_path, number):
    os.mkfifo(tmp_path / "pipe")
    process = start("fit", "linear", "pipe", "--target", "y", "-o", "m.cred")
    time.sleep(0.3)  # no one opens the other end
    process.send_signal(number)
    check_failure(finish(process), 130, "interrupted")
    assert os.listdir(tmp_path) == ["pipe"]


def stored(tmp_path):
    """An environment whose TMPDIR is an empty folder, and the folder."""
    folder = tmp_path / "stored"
    folder.mkdir()
    return {**os.environ, "TMPDIR": str(folder)}, folder


def test_pipes_that_are_read_several_times(credence, start, examples, tmp_path):
    """By name, as /dev/fd/N, and on standard input: the answer of the file, and nothing stays behind."""
    options = ["--target", "species", "--lambda", "0.01", "--stream", "--block", "40", "--quiet"]
    data = (tmp_path / "examples/iris.csv").read_bytes()
    whole = credence("fit", "logistic", "examples/iris.csv", *options).stdout
    env, folder = stored(tmp_path)
    os.mkfifo(tmp_path / "named")
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    process = start("fit", "logistic", f"/dev/fd/{read}", *options, env=env, pass_fds=[read])
    assert finish(process, 20).stdout.decode() == whole
    os.close(read)
    process = start("fit", "logistic", "named", *options, env=env)
    (tmp_path / "named").write_bytes(data)
    assert finish(process, 20).stdout.decode() == whole
    process = start("fit", "logistic", "-", *options, env=env, stdin=subprocess.PIPE)
    assert process.communicate(data)[0].decode() == whole
    assert os.listdir(folder) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_while_a_pipe_is_stored(start, tmp_path, number):
    env, folder = stored(tmp_path)
    process = start("fit", "logistic", "-", "--target", "y", "--stream", env=env, stdin=subprocess.PIPE)
    process.stdin.write(b"a,y\n" + b"1,2\n" * 50000)
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(number)
    process.wait(5)
    assert os.listdir(folder) == []


def test_a_pipe_that_cannot_be_stored(start, tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path / "none")}
    said = finish(start("fit", "logistic", "-", "--target", "y", "--stream", env=env))
    check_failure(said, 5, "stdin cannot be stored in")
    assert "set TMPDIR to use another folder" in said.stderr


def test_interrupted_while_data_come(start, tmp_path):
    process = start("fit", "linear", "-", "--target", "y", "-o", "m.cred", stdin=subprocess.PIPE)
    process.stdin.write(b"a,y\n1,2\n3,4\n")
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.wait(2)  # with the pipe still open
    check_failure(finish(process), 130, "interrupted")
    assert os.listdir(tmp_path) == []


def test_interrupted_at_work(start, many_rows, tmp_path):
    process = start("cv", "linear", many_rows, "--target", "y", "--folds", 3000, "-o", "cv.csv",
                    "--progress", "always")
    said = b""
    while b"cross-validating" not in said:
        said += process.stderr.read1(100)
        assert process.poll() is None and b"predicting" not in said, said
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.code == 130 and result.stderr.endswith("credence: error: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_interrupted_while_nobody_reads(start, many_rows, tmp_path, credence):
    assert credence("fit", "linear", many_rows, "--target", "y", "-o", "m.cred").code == 0
    process = start("predict", "m.cred", many_rows)
    process.stdout.read(10)
    time.sleep(0.5)  # the pipe is full
    process.send_signal(signal.SIGINT)
    assert process.wait(2) == 130
    assert process.stderr.read() == b"credence: error: interrupted\n"


# --- standard output -------------------------------------------------------------------------------

WRITERS = [FIT, ["describe", "examples/diabetes.csv"], ["predict", "model.cred", "examples/diabetes.csv"],
           ["evaluate", "model.cred", "examples/diabetes.csv"], ["models"], ["help"], ["version"],
           ["--version"], ["--help"], ["check", "model.cred"], ["describe", "model.cred", "--json"],
           ["predict", "model.cred", "examples/diabetes.csv", "--json"],
           ["convert", "examples/diabetes.csv", "-"]]


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_full_or_closed_stdout(examples, model, program, tmp_path, command):
    for redirection, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        shell = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", program, *command],
                               stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        check_failure(Result(shell.returncode, "", shell.stderr), 5, reason)


SAVERS = [["fit", "ridge"], ["tune", "ridge", "--over", "lambda=1|10", "--folds", "2"], ["update", "model.cred"]]


@pytest.mark.parametrize("verb", SAVERS, ids=lambda words: words[0])
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_model_is_saved_whatever_becomes_of_the_summary(examples, model, program, tmp_path, verb, redirection):
    target = [] if verb[0] == "update" else ["--target", "progression"]
    command = [*verb[:2], "examples/diabetes.csv", *target, *verb[2:], "-o", "m.cred"]
    shell = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", program, *command],
                           stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert shell.returncode == 5 and "standard output" in shell.stderr
    assert subprocess.run([program, "check", "m.cred"], cwd=tmp_path).returncode == 0


def test_model_is_saved_where_the_reader_leaves(start, credence, tmp_path):
    """More output than a pipe holds, of which two lines are read."""
    names = [f"g{j}" for j in range(5000)]
    rows = [",".join([str((i * j) % 17) for j in range(5000)] + [str(i % 5)]) for i in range(8)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    process = start("fit", "ridge", "wide.csv", "--target", "y", "-o", "w.cred")
    process.stdout.readline(), process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 5
    assert credence("check", "w.cred").code == 0


def test_update_keeps_what_it_took_in_when_predictions_are_not_read(start, credence, examples, model):
    process = start("update", "model.cred", "examples/diabetes.csv", "--stream", "--predictions", "-", "-o", "u.cred")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(20) == 5
    said = process.stderr.read().decode()
    assert "saved to u.cred" in said
    before, after = (json.loads(credence("describe", name, "--json").stdout)["rows"] for name in ("model.cred", "u.cred"))
    assert before < after < 2 * before
    assert f"the {after - before} rows" in said


def test_closed_streams_do_not_become_files(examples, program, tmp_path):
    """Without standard error a message must not end up in the model; without input there are no data."""
    shell = subprocess.run(["sh", "-c", 'exec "$@" 2>&- <&-', "sh", program, *FIT, "-o", "m.cred"],
                           stdout=subprocess.DEVNULL, cwd=tmp_path)
    assert shell.returncode == 0
    assert subprocess.run([program, "check", "m.cred"], cwd=tmp_path).returncode == 0
    shell = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", program, "describe", "-"],
                           capture_output=True, text=True)
    check_failure(Result(shell.returncode, shell.stdout, shell.stderr), 5, "cannot read stdin")


def test_reader_goes_away(start, many_rows, credence):
    assert credence("fit", "linear", many_rows, "--target", "y", "-o", "m.cred").code == 0
    for command in (["predict", "m.cred", many_rows], ["convert", many_rows, "-"],
                    ["predict", "m.cred", many_rows, "--json"]):
        process = start(*command)
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(10) == 5
        assert process.stderr.read() == b""     # as with `| head`: whoever closed the pipe knows
