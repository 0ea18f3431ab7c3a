"""What the lines of the scoreboard share: the build that they look at, a folder to work in, how a run is judged.

A line is a function `run(board)` that a module of this folder lists in LINES, with the name under which the board shows
it.  It calls `board.judge(...)` for everything that it tries; what fails is told with the command that shows it."""
import os
import pathlib
import random
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli")]
REPORTS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "Sanitizer:DEADLYSIGNAL", "ThreadSanitizer")
SENTENCE = b"credence: error: "


class Skipped(Exception):
    """A line that cannot be had here, and why."""


class Board:
    def __init__(self, build, folder, quick):
        self.build, self.folder, self.quick = build, folder, quick
        self.program = build / "credence"
        self.random = random.Random(1)
        self.tried, self.failures = 0, []

    def count(self, long, quick):
        return quick if self.quick else long

    def sanitized(self):
        return b"__asan_init" in self.program.read_bytes()

    def run(self, words, env=None, program=None, timeout=120, **options):
        return subprocess.run([program or self.program, *map(str, words)], cwd=self.folder, capture_output=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, env=os.environ | (env or {}), **options)

    def judge(self, good, words, env=None, why=""):
        """One more was tried; the command is remembered where it failed."""
        self.tried += 1
        if not good:
            settings = "".join(f"{name}={shlex.quote(value)} " for name, value in (env or {}).items())
            self.failures.append(f"{settings}{self.program} {shlex.join(map(str, words))}  # {why}")
        return good

    def judge_end(self, done, codes, words, env=None):
        """It ended by itself, with one of these codes, without a report, and with a sentence if it failed."""
        said = done.stderr.decode(errors="replace")
        why = (f"ended with {done.returncode}" if done.returncode not in codes
               else next((report for report in REPORTS if report in said), ""))
        if not why and done.returncode > 1 and done.stderr.count(SENTENCE) != 1:
            why = "not one sentence"
        return self.judge(not why, words, env, f"{why}: {said[:200]!r}" if why else "")

    def example(self, name):
        return ROOT / "examples" / name

    def library(self, source):
        """A library to load first, from a source in C."""
        out = self.folder / (pathlib.Path(source).stem + ".so")
        if not out.exists():
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", "-o", out, source, "-ldl"], check=True)
        return out
