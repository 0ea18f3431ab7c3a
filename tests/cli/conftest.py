"""What the tests of the program share.

`credence(*args, input=None)` runs the program of the build that the environment variable CREDENCE_BIN
names and gives (code, stdout, stderr).  In a sanitizer build a report is a failure, whatever the exit
code.  Tests marked `slow` are left out by `make test`.

`refused(...)` runs a command that must fail, and checks what every failure owes its user.  The other
fixtures are data: `examples`, a directory with the data that ship with the project; `model`, a fitted
model file."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT = 120  # seconds, for one run
REPORTS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "Sanitizer:DEADLYSIGNAL")


class Result(NamedTuple):
    code: int
    stdout: str
    stderr: str


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # no test is slow, say: nothing failed
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="session")
def program():
    """The path of the program; tests are skipped when there is none."""
    path = pathlib.Path(os.environ.get("CREDENCE_BIN", ROOT / "build/release/credence")).resolve()
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture(scope="session")
def model_bytes(program, tmp_path_factory):
    """A model of examples/diabetes.csv."""
    path = tmp_path_factory.mktemp("model") / "model.cred"
    subprocess.run([program, "fit", "bayes-linear", ROOT / "examples/diabetes.csv", "--target",
                    "progression", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path.read_bytes()


@pytest.fixture
def model(model_bytes, tmp_path):
    path = tmp_path / "model.cred"
    path.write_bytes(model_bytes)
    return path


@pytest.fixture
def examples(tmp_path):
    """The examples, where their commands expect them: below the directory that they run in."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path / "examples"


@pytest.fixture
def burglary(examples):
    """A small network."""
    return examples / "networks/burglary.bif"


@pytest.fixture
def diabetes(examples):
    return examples / "diabetes.csv"


def check_failure(result, code, *phrases):
    """One failure in one sentence: on standard error only, with the exit code of its kind."""
    assert result.code == code, result
    assert result.stdout in ("", b"")
    first, _, rest = result.stderr.partition("\n")
    assert first.startswith("credence: error: "), result.stderr
    assert len(first) < 2100 and result.stderr.endswith("\n")
    assert "error:" not in rest, "more than one failure"
    assert all(line.startswith("  ") for line in rest.splitlines()), "notes and hints are indented"
    for phrase in phrases:
        assert phrase in result.stderr, result.stderr


def hinted(stderr):
    """The arguments of the command that a hint shows."""
    found = re.search(r"^  hint: .*\?  credence (.*)$", stderr, re.MULTILINE)
    assert found, f"no command in a hint:\n{stderr}"
    return shlex.split(found[1])


def snapshot(folder):
    return {p.relative_to(folder): p.stat().st_size for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def refused(credence, tmp_path):
    """Runs a command that must fail with this exit code and these phrases in its message, and must not
    leave, remove or resize any file."""
    def run(code, *args, says=(), **options):
        before = snapshot(tmp_path)
        result = credence(*args, **options)
        check_failure(result, code, *([says] if isinstance(says, str) else says))
        assert snapshot(tmp_path) == before
        return result
    return run


@pytest.fixture
def credence(program, tmp_path):
    """Runs the program in an empty directory.  `input` is text or bytes for its standard input; `env`
    adds to the environment; with binary=True the outputs are bytes."""
    def run(*args, input=None, env=None, cwd=tmp_path, timeout=TIMEOUT, binary=False):
        if isinstance(input, str):
            input = input.encode()
        source = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        done = subprocess.run([program, *map(str, args)], capture_output=True, timeout=timeout, cwd=cwd,
                              env=os.environ | (env or {}), **source)
        said = done.stderr.decode(errors="replace")
        assert not any(report in said for report in REPORTS), f"credence {args}:\n{said}"
        assert done.returncode >= 0, f"credence {args}: killed by signal {-done.returncode}\n{said}"
        if binary:
            return Result(done.returncode, done.stdout, done.stderr)
        return Result(done.returncode, done.stdout.decode(), said)
    return run
