"""Whatever is being done, --time-limit and Ctrl-C end it within a moment: every verb, every model, every method, at work
that would take seconds (long_work.py).

What counts is the time of the processor, not that of the clock, so that other work on the machine does not matter: at
the limit, or at the signal, the program may have used no more than the clock shows, and SOON later it must have ended.
The program also ends by itself where the work does not heed the request, but later than that (cli/messages.c)."""
import os
import signal
import subprocess
import threading
import time

import pytest

import long_work
from conftest import REPORTS
from test_small_machines import is_sanitized

LIMIT, SOON = 0.2, 0.45  # seconds of the processor
NEVER = 120              # of the clock: it has not ended
FEW, MANY = long_work.commands(long_work.FEW), long_work.commands(long_work.MANY)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    long_work.make_data(folder)
    return folder


@pytest.fixture(scope="session")
def models(program, data):
    long_work.make_models(program, data)
    return data


def used(pid):
    """Seconds of the processor that a process has used."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stop(program, folder, words, by_signal):
    """Runs a command until it is stopped; the seconds that it used after that."""
    limit = [] if by_signal else ["--time-limit", f"{LIMIT}s"]
    with open(folder / "said", "wb+") as said:
        process = subprocess.Popen([program, *words, "--threads", "1", *limit], cwd=folder, stderr=said,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        before, late = LIMIT, threading.Timer(NEVER, process.kill)
        late.start()
        try:
            while by_signal and used(process.pid) < LIMIT and os.waitid(
                    os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(0.01)
            if by_signal:
                before = max(used(process.pid), LIMIT)
                os.kill(process.pid, signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            late.cancel()
            if process.returncode is None:
                process.kill()
                process.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    assert not any(report in text for report in REPORTS), text
    assert process.returncode in (0, 1, 130 if by_signal else 6), (process.returncode, text)
    assert process.returncode < 2 or ("interrupted" if by_signal else "time") in text, text
    assert not list(folder.glob(".*credence-*")), "a temporary file is left"
    for left in folder.glob("out.*"):
        left.unlink()
    return usage.ru_utime + usage.ru_stime - before


def check(program, folder, words, by_signal):
    allowed = SOON * (5 if is_sanitized(program) else 1)
    took = stop(program, folder, words, by_signal)
    if took > allowed:  # once more: a page of the system may have been far away
        took = min(took, stop(program, folder, words, by_signal))
    assert took <= allowed, f"credence {' '.join(words)}: {took:.2f} s of work after the end"


@pytest.mark.parametrize("by_signal", [False, True], ids=["limit", "signal"])
@pytest.mark.parametrize("words", FEW, ids=" ".join)
def test_stops(program, data, words, by_signal):
    check(program, data, words, by_signal)


@pytest.mark.slow
@pytest.mark.parametrize("by_signal", [False, True], ids=["limit", "signal"])
@pytest.mark.parametrize("words", MANY, ids=" ".join)
def test_all_stop(program, models, words, by_signal):
    check(program, models, words, by_signal)
