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
