"""The same answer whatever the threads and the kernels of the matrix library; builds that watch every access."""
import json
import os
import re
import subprocess
import sys

from board import ROOT, Skipped

KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
COMMANDS = """
fit linear diabetes.csv --target progression
fit bayes-linear diabetes.csv --target progression
fit lasso diabetes.csv --target progression
fit logistic iris.csv --target species
fit qda iris.csv --target species
fit tree iris.csv --target species
fit adaboost iris.csv --target species --rounds 20
fit gp mcycle.csv --target accel --max-iter 15 --restarts 1
fit gp-classify iris.csv --target species --optimize none
fit kernel-pca iris.csv --features *cm --kernel rbf
fit spline mcycle.csv --target accel
fit robust diabetes.csv --target progression --method lad
cv knn iris.csv --target species
info iris.csv --matrix
query networks/burglary.bif 'P(* | john=yes)' --method gibbs
query networks/spins.uai.gz 'argmax(*)' --budget 1
denoise denoise/noisy.pgm --method gibbs
"""


def some(board):
    import long_work
    return long_work.commands(COMMANDS)[::board.count(1, 6)]


def examples(board):
    link = board.folder / "examples"
    if not link.exists():
        link.symlink_to(ROOT / "examples")
    return link


def kernels_here():
    """Those that this processor can run."""
    flags = re.search(r"^flags\s*:(.*)$", open("/proc/cpuinfo").read(), re.M)
    have = set(flags[1].split()) if flags else set()
    needs = {"Sandybridge": "avx", "Haswell": "avx2", "Zen": "avx2", "SkylakeX": "avx512vl"}
    return [kernel for kernel in KERNELS if needs.get(kernel, "sse2") in have]


def same_bits(board):
    for kernel in kernels_here()[-board.count(9, 2):]:
        for words in some(board):
            env = {"OPENBLAS_CORETYPE": kernel}
            first = run_in_examples(board, words, 1, env)
            for threads in (4,) if board.quick else (2, 3, 4):
                other = run_in_examples(board, words, threads, env)
                board.judge(first.returncode == 0 and first.stdout == other.stdout,
                            [*words, "--threads", threads], env, "other bits than with one thread")


def run_in_examples(board, words, threads, env=None, program=None):
    return subprocess.run([program or board.program, *words, "--threads", str(threads)], cwd=examples(board),
                          capture_output=True, timeout=600, stdin=subprocess.DEVNULL, env=os.environ | (env or {}))


def watched(preset, settings):
    """The commands in a build that watches; made where it is not there, unless time is short."""
    def run(board):
        build = ROOT / "build" / preset
        if not (build / "credence").exists() or not board.quick:
            if board.quick:
                raise Skipped(f"build/{preset} is not there")
            subprocess.run(["cmake", "--preset", preset, "--log-level=WARNING"], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", build, "--target", "credence_cli"], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL)
        for words in some(board):
            done = run_in_examples(board, words, 4, settings, build / "credence")
            board.judge_end(done, {0, 1}, [*words, "--threads", 4], settings)
    return run


def in_python(board):
    """Threads and forks of Python programs: what its tests say."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "CREDENCE_LIBRARY": str(board.build / "libcredence.so"),
                                "CREDENCE_BIN": str(board.program), "CREDENCE_BUILD": str(board.build)}
    if board.quick or board.sanitized():
        raise Skipped("tests/python has it")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "thread or fork",
             *(str(ROOT / f"tests/python/test_{name}.py") for name in ("estimator", "interrupt", "memory", "sklearn"))]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=600)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    board.tried += sum(counts.values())
    if done.returncode != 0:
        board.failures.append(" ".join(words))


def coverage(board):
    """Lines that no test reaches, as `make coverage` last found them."""
    path = ROOT / "build/coverage.json"
    if not path.exists():
        raise Skipped("make coverage measures it")
    found = json.loads(path.read_text())
    board.tried, missed = found["line_total"], found["line_total"] - found["line_covered"]
    board.note = f"{found['line_percent']} % of lines, {found['branch_percent']} % of branches"
    if found["line_percent"] < 98:
        board.failures.append(f"make coverage  # {missed} lines are not reached")


LINES = [("same bits: threads, matrix kernels", same_bits), ("threads and forks in Python", in_python),
         ("address and undefined-behaviour sanitizers", watched("sanitize", {"ASAN_OPTIONS": "handle_sigill=1"})),
         ("thread sanitizer", watched("thread", {"TSAN_OPTIONS": "exitcode=66"})), ("coverage", coverage)]
