"""What the tests of the surfaces share: the program, the same with a toy model, and data to look at."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
DIABETES = ROOT / "examples/diabetes.csv"
BURGLARY = ROOT / "examples/networks/burglary.bif"


class Program:
    def __init__(self, variable, fallback):
        self.path = pathlib.Path(os.environ.get(variable, fallback)).resolve()
        if not self.path.is_file():
            pytest.skip(f"{self.path} is not built")

    def __call__(self, *args, cwd=None, code=0):
        """Standard output; the exit code must be as expected, and nothing on standard error if it is 0."""
        done = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True, cwd=cwd,
                              stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stderr}"
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        return done.stdout

    def json(self, *args, cwd=None):
        return json.loads(self(*args, "--json", "--quiet", cwd=cwd))

    def complete(self, *words, at=None, shell="plain", cwd=None):
        """Candidates for a word, and whether a file may stand there.  Never a word on standard error."""
        place = [] if at is None else ["--at", at]
        done = subprocess.run([self.path, "complete", "--shell", shell, *map(str, place), "--", *map(str, words)],
                              capture_output=True, text=True, cwd=cwd, timeout=60)
        assert done.stderr == "" and done.returncode in (0, 1), done
        return done.stdout.splitlines(), done.returncode == 1

    def document(self, what, folder):
        self("document", what, folder)
        return {path.relative_to(folder).as_posix(): path.read_text()
                for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def credence():
    return Program("CREDENCE_BIN", BUILD / "credence")


@pytest.fixture(scope="session")
def toy():
    return Program("CREDENCE_TOY", BUILD / "tests/surfaces/credence_toy")


@pytest.fixture
def place(tmp_path):
    """A folder with data whose names need quotes."""
    (tmp_path / "my data.csv").write_text('blood pressure,x y,z$,"q,r"\n1,2,3,4\n2,3,4,6\n')
    (tmp_path / "plain.csv").write_text("a,b,c\n1,2,x\n2,3,y\n4,4,x\n5,6,y\n")
    return tmp_path
