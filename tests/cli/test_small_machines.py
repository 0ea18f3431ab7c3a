"""Little address space, files that may not grow, saves that were killed, libraries that never come back: the program ends
soon, says why in a sentence, and leaves nothing half done."""
import fcntl
import os
import resource
import shutil
import signal
import stat
import subprocess
import time

import pytest

from conftest import REPORTS, Result, check_failure

FIT = ["fit", "bayes-linear", "examples/diabetes.csv", "--target", "progression"]
MEGA = 1 << 20


def is_sanitized(program):
    """Its shadow memory takes terabytes of address space."""
    return b"__asan_init" in program.read_bytes()


@pytest.fixture
def limited(program, tmp_path):
    """Runs the program under limits of the system: address space, stack, the size of files."""
    def run(*args, timeout=60, **limits):
        def lower():
            for name, most in limits.items():
                kind = getattr(resource, "RLIMIT_" + name.upper())
                resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
        done = subprocess.run([program, *map(str, args)], capture_output=True, cwd=tmp_path, timeout=timeout,
                              preexec_fn=lower, stdin=subprocess.DEVNULL)
        said = done.stderr.decode(errors="replace")
        assert not any(report in said for report in REPORTS), said
        return Result(done.returncode, done.stdout.decode(), said)
    return run


# --- address space

@pytest.mark.parametrize("command", [FIT, ["fit", "logistic", "examples/iris.csv", "--target", "species"],
                                     ["fit", "qda", "examples/iris.csv", "--target", "species"],
                                     ["fit", "robust", "examples/diabetes.csv", "--target", "progression", "--method", "lad"],
                                     ["fit", "gp", "examples/mcycle.csv", "--target", "accel"],
                                     ["fit", "kernel-pca", "examples/iris.csv", "--features", "*cm"],
                                     ["fit", "lasso", "examples/diabetes.csv", "--target", "progression"],
                                     ["predict", "model.cred", "examples/diabetes.csv"]], ids=lambda c: c[1])
def test_no_room_for_the_buffers_of_blas(limited, program, examples, model, command):
    """OpenBLAS would ask for its buffer for ever."""
    if is_sanitized(program):
        pytest.skip("the sanitizer needs the address space")
    check_failure(limited(*command, "--threads", 1, **{"as": 150 * MEGA}), 6, "out of memory", "ulimit -v")


def test_room_for_one_buffer_is_enough(limited, program, examples):
    """Fewer threads, and the same result."""
    if is_sanitized(program):
        pytest.skip("the sanitizer needs the address space")
    small = limited(*FIT, "--threads", 4, **{"as": 300 * MEGA})
    assert small.code == 0, small.stderr
    assert small.stdout == limited(*FIT).stdout


# --- libraries that never come back

@pytest.fixture
def deaf(tmp_path):
    """A library to load first, whose checksum is never done."""
    if not shutil.which("cc"):
        pytest.skip("there is no compiler")
    (tmp_path / "deaf.c").write_text("#include <unistd.h>\n"
                                     "unsigned long crc32_z(unsigned long c, const void *p, unsigned long n)\n"
                                     "{ for (;;) usleep(10000); return c; }\n")
    library = tmp_path / "deaf.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "deaf.c"], check=True)
    return os.environ | {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_ends_what_does_not_heed_it(program, model, deaf, tmp_path, number):
    process = subprocess.Popen([program, "check", "model.cred"], cwd=tmp_path, env=deaf, stderr=subprocess.PIPE)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(number)
    _, said = process.communicate(timeout=15)
    assert process.returncode == 130 and said == b"credence: error: interrupted\n"


def test_the_second_signal_ends_it_at_once(program, model, deaf, tmp_path):
    process = subprocess.Popen([program, "check", "model.cred"], cwd=tmp_path, env=deaf, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=2)
    assert process.returncode == 130 and said == b"credence: error: interrupted\n"


def test_the_time_limit_ends_what_does_not_heed_it(program, model, deaf, tmp_path):
    process = subprocess.Popen([program, "check", "model.cred", "--time-limit", "0.2s"], cwd=tmp_path, env=deaf,
                               stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=15)
    assert process.returncode == 6 and said == b"credence: error: the time limit is reached\n"


# --- saving

def leftovers(folder):
    return sorted(p.name for p in folder.glob(".*"))


def test_a_file_that_may_not_grow(limited, credence, model, examples, tmp_path):
    """A model, and a table: the write fails, and is told."""
    (tmp_path / "old").write_bytes(b"old")
    for command in (FIT, ["predict", "model.cred", "examples/diabetes.csv"]):
        check_failure(limited(*command, "-o", "old", fsize=1000), 5, "cannot write old: File too large")
        assert (tmp_path / "old").read_bytes() == b"old" and not leftovers(tmp_path)


@pytest.fixture
def at_work(program, model, examples, tmp_path):
    """A prediction that is writing to m.cred, and waits for more rows."""
    header, row = (tmp_path / "examples/diabetes.csv").read_text().splitlines()[:2]
    process = subprocess.Popen([program, "predict", "model.cred", "-", "--stream", "-o", "m.cred"], cwd=tmp_path,
                               stdin=subprocess.PIPE, text=True, umask=0o022)
    process.stdin.write(f"{header}\n{row}\n")
    process.stdin.flush()
    until = time.time() + 30
    while not leftovers(tmp_path) and time.time() < until:
        time.sleep(0.02)
    time.sleep(0.5)  # the first one was to see whether it can be made
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def test_what_a_killed_save_leaves_is_removed_by_the_next(credence, at_work, tmp_path):
    assert leftovers(tmp_path) == [".m.cred.credence-1"]
    # Beside one that is at work another finds a name of its own, and takes nothing away.
    assert credence(*FIT, "-o", "m.cred").code == 0
    assert leftovers(tmp_path) == [".m.cred.credence-1"]
    at_work.kill()
    at_work.wait()
    assert leftovers(tmp_path) == [".m.cred.credence-1"]
    (tmp_path / ".m.cred.backup").write_text("mine")
    assert credence(*FIT, "-o", "m.cred").code == 0
    assert leftovers(tmp_path) == [".m.cred.backup"]


def test_two_at_work_under_one_name_both_end_well(credence, at_work, tmp_path):
    assert credence(*FIT, "-o", "m.cred").code == 0
    at_work.stdin.close()
    assert at_work.wait(30) == 0
    assert (tmp_path / "m.cred").read_text().startswith("mean,") and not leftovers(tmp_path)


def test_what_only_looks_left_behind_stays(credence, model, examples, tmp_path):
    """A link, a directory, and a file that another process holds."""
    (tmp_path / "precious").write_text("mine")
    os.symlink("precious", tmp_path / ".out.csv.credence-1")
    os.mkdir(tmp_path / ".out.csv.credence-2")
    with open(tmp_path / ".out.csv.credence-3", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = leftovers(tmp_path)
        assert credence("predict", "model.cred", "examples/diabetes.csv", "-o", "out.csv").code == 0
        assert leftovers(tmp_path) == before
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_signal_that_is_not_heeded_leaves_no_temporary(program, credence, model, examples, deaf, tmp_path):
    """The checksum of a model is made while its file is open."""
    assert credence("convert", "examples/diabetes.csv", "d.csv.gz").code == 0
    process = subprocess.Popen([program, "predict", "model.cred", "d.csv.gz", "-o", "out.csv"], cwd=tmp_path, env=deaf,
                               stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=15)
    assert process.returncode == 130 and not leftovers(tmp_path) and not (tmp_path / "out.csv").exists()


@pytest.fixture
def private(tmp_path):
    (tmp_path / "m.cred").write_text("old")
    os.chmod(tmp_path / "m.cred", 0o600)


def test_a_private_file_stays_private_while_it_is_replaced(private, at_work, tmp_path):
    assert [stat.S_IMODE(p.stat().st_mode) for p in tmp_path.glob(".*")] == [0o600]
    at_work.stdin.close()
    assert at_work.wait(30) == 0
    assert stat.S_IMODE((tmp_path / "m.cred").stat().st_mode) == 0o600
    assert (tmp_path / "m.cred").read_bytes() != b"old"


# --- stack

@pytest.mark.parametrize("command", [["tree", "examples/iris.csv", "--target", "species"],
                                     ["adaboost", "examples/iris.csv", "--target", "species"],
                                     ["tree", "examples/diabetes.csv", "--target", "progression"],
                                     ["gp", "examples/mcycle.csv", "--target", "accel"],
                                     ["knn", "examples/iris.csv", "--target", "species"],
                                     ["logistic", "examples/iris.csv", "--target", "species"],
                                     ["naive-bayes", "examples/iris.csv", "--target", "species"]], ids=lambda c: c[0])
def test_a_stack_of_64_kilobytes_is_enough(limited, program, examples, command):
    if is_sanitized(program):
        pytest.skip("the sanitizer needs more stack")
    result = limited("fit", *command, stack=64 << 10)
    assert result.code == 0, result.stderr
    assert result.stdout == limited("fit", *command).stdout
