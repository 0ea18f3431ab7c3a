"""What the tests of the program share.

`credence(*args, input=None)` runs the program of the build that the environment variable CREDENCE_BIN
names and gives (code, stdout, stderr).  In a sanitizer build a report is a failure, whatever the exit
code.  Tests marked `slow` are left out by `make test`."""
import os
import pathlib
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
