"""Every allocation may fail: never a crash, never a result that is cut short and called good, always one sentence and
exit code 6.

In builds for tests CREDENCE_FAIL_ALLOCATION=N makes the Nth allocation of the library, of jansson and of the program
fail.  Where there is no sanitizer, a library that is loaded first does the same to every allocation of the process, also
those of libzip, zstd and SQLite; the first some, before main, belong to the Fortran runtime.

CREDENCE_ALLOCATIONS=all lets many more of them fail, as it does in the tests in C."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import REPORTS, check_failure
from test_small_machines import is_sanitized

pytestmark = pytest.mark.slow

NTH = """
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
void *__libc_malloc(size_t), *__libc_realloc(void *, size_t), *__libc_calloc(size_t, size_t);
static unsigned long left;
static int ready;
static int may(void)
{
    if (!ready) ready = 1, left = strtoul(getenv("FAIL_NTH"), NULL, 10);
    if (left == 0 || __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) != 0) return 1;
    errno = ENOMEM;
    return 0;
}
void *malloc(size_t n) { return may() ? __libc_malloc(n) : NULL; }
void *realloc(void *p, size_t n) { return may() ? __libc_realloc(p, n) : NULL; }
void *calloc(size_t n, size_t size) { return may() ? __libc_calloc(n, size) : NULL; }
"""

COMMANDS = [["predict", "model.cred", "examples/diabetes.csv", "--json"],
            ["describe", "model.cred", "--json"],
            ["describe", "model.cred", "--format", "text"],
            ["evaluate", "model.cred", "examples/diabetes.csv", "--format", "text"],
            ["check", "model.cred"],
            ["fit", "ridge", "examples/diabetes.csv", "--target", "progression", "-o", "out.cred"],
            ["fit", "tree", "examples/iris.csv", "--target", "species", "--format", "text"],
            ["query", "examples/networks/burglary.bif", "P(burglary | john=yes)", "--json"],
            ["query", "examples/networks/temperature.json", "P(*)", "P(monday, tuesday)", "--format", "text"],
            ["infer", "examples/networks/burglary.bif", "examples/networks/calls.csv", "--json"],
            ["describe", "examples/networks/burglary.bif", "--json"],
            ["denoise", "examples/denoise/noisy.pgm", "--method", "icm"],
            ["dist", "normal", "mean=0", "sd=1", "--cdf", "1", "--json"],
            ["info", "examples/iris.csv", "--json"],
            ["compare", "normal", "examples/diabetes.csv", "--by", "sex", "--features", "bmi", "--prior",
             "mean0=25,kappa0=1,nu0=2,var0=16", "--format", "csv"],
            ["compare", "linear", "linear:features=bmi", "examples/diabetes.csv", "--target", "progression", "--folds", "2",
             "--format", "text"],
            ["cv", "linear", "examples/diabetes.csv", "--target", "progression", "--features", "bmi", "--folds", "2", "--json"],
            ["tune", "ridge", "examples/diabetes.csv", "--target", "progression", "--over", "lambda=1|2", "--folds", "2"],
            ["info", "examples/iris.csv", "--matrix", "--format", "text"],
            ["plot", "model.cred", "examples/diabetes.csv", "--json"],
            ["describe", "d.csv.zst"],
            ["models", "--json"]]


def ways(program, tmp_path):
    """What to set for the nth allocation to fail, and the first n that is the program's own."""
    yield lambda n: {"CREDENCE_FAIL_ALLOCATION": str(n)}, 1
    if is_sanitized(program) or not shutil.which("cc"):
        return
    (tmp_path / "nth.c").write_text(NTH)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", tmp_path / "nth.so", tmp_path / "nth.c"], check=True)
    yield lambda n: {"LD_PRELOAD": str(tmp_path / "nth.so"), "FAIL_NTH": str(n)}, 40


def without_seconds(text):
    """A result but for how long it took."""
    return re.sub(r'"seconds": [0-9.e-]+', "", text)


def numbers(first):
    """Some one by one, then ever larger steps."""
    singly, share = (60, 8) if os.environ.get("CREDENCE_ALLOCATIONS") == "all" else (12, 3)
    n = first
    while True:
        yield n
        n += 1 if n < first + singly else n // share


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(c[:2] + c[-1:]))
def test_every_allocation_fails(credence, program, model, examples, tmp_path, command):
    assert credence("convert", "examples/diabetes.csv", "d.csv.zst").code == 0
    whole = credence(*command)
    assert whole.code == 0
    for setting, first in ways(program, tmp_path):
        same = 0
        for n in numbers(first):
            for left in tmp_path.glob("out.cred"):
                left.unlink()
            done = subprocess.run([program, *command], capture_output=True, cwd=tmp_path, timeout=60,
                                  env=os.environ | setting(n))
            said = done.stderr.decode(errors="replace")
            assert not any(report in said for report in REPORTS), (n, said)
            assert done.returncode in (0, 6), (n, done)
            assert not list(tmp_path.glob(".*")), "a temporary file is left"
            if done.returncode == 6:
                same = 0
                check_failure(type(whole)(6, "", said), 6, "memory")
                assert not (tmp_path / "out.cred").exists()
                continue
            assert without_seconds(done.stdout.decode()) == without_seconds(whole.stdout), n
            same += 1  # it was done without, or all are over
            if same > 12:
                break
