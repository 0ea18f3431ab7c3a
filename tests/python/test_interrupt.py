"""Ctrl-C stops a running call, and only that."""
import ctypes
import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import data

import credence
from credence import _context
from credence._library import lib


@pytest.fixture(autouse=True)
def ctrl_c_as_at_a_terminal():
    """Started in the background of a script, a process ignores it, and so does Python."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def work_for_long():
    """Minutes of cross-validation."""
    X, y = data(rows=3000, columns=40)
    credence.cross_validate(credence.Linear(), X, y, folds=3000)


def test_ctrl_c_stops_a_call():
    timer, start = interrupt_after(0.3), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work_for_long()
    timer.join()
    assert time.monotonic() - start < 20
    X, y = data()
    assert credence.Ridge().fit(X, y).score(X, y) > 0.5     # the next call is not interrupted


def test_a_handler_of_ones_own_is_called_too():
    heard = []
    former = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        timer = interrupt_after(0.3)
        with pytest.raises(KeyboardInterrupt):
            work_for_long()
        timer.join()
    finally:
        signal.signal(signal.SIGINT, former)
    assert heard == [1]


def test_a_signal_is_for_the_call_it_came_in():
    """It comes at the very end of one call; the next one goes on."""
    raise_holding_the_gil = getattr(ctypes.PyDLL(None), "raise")   # no other thread runs before the end

    def hit_at_the_end(context):
        return raise_holding_the_gil(signal.SIGINT)

    def wait(context):
        time.sleep(0.01)   # the watching thread gets its turn
        return lib.cr_check_interrupt(ctypes.c_void_p(context))

    former = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        for _ in range(5):
            _context.work(hit_at_the_end)
            _context.work(wait)
            assert wait(_context.current().handle) == 0
    finally:
        signal.signal(signal.SIGINT, former)


def test_an_ignored_signal_stays_ignored():
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        timer = interrupt_after(0.05)
        X, y = data(rows=2000, columns=10)
        credence.cross_validate(credence.Ridge(), X, y, folds=200)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, former)


def test_other_signals_reach_who_waits_for_them():
    """A wakeup descriptor that was there before gets its bytes, and is put back."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    former_handler = signal.signal(signal.SIGUSR1, lambda *_: None)
    former = signal.set_wakeup_fd(writes)
    try:
        timers = [threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)), interrupt_after(0.3)]
        timers[0].start()
        with pytest.raises(KeyboardInterrupt):
            work_for_long()
        for timer in timers:
            timer.join()
        assert os.read(reads, 10) == bytes([signal.SIGUSR1, signal.SIGINT])
        assert signal.set_wakeup_fd(writes) == writes
    finally:
        signal.set_wakeup_fd(former)
        signal.signal(signal.SIGUSR1, former_handler)
        os.close(reads), os.close(writes)


def test_threads_other_than_the_main_one():
    X, y = data()
    found = []
    thread = threading.Thread(target=lambda: found.append(credence.Ridge().fit(X, y)))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0].predict(X), credence.Ridge().fit(X, y).predict(X))


def test_ctrl_c_in_a_fresh_process(python):
    code, out, err = python("""
import os, signal, threading, numpy as np, credence
X = np.random.default_rng(0).normal(size=(3000, 40)); y = X[:, 0] + X[:, 1] ** 2
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try: credence.cross_validate(credence.Linear(), X, y, folds=3000)
except KeyboardInterrupt: print("stopped")
""")
    assert (code, out) == (0, "stopped\n"), err


def in_a_child(work):
    """The exit code of a forked child that does the work; killed after a minute."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            os._exit(work())
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_works():
    X, y = data(rows=20000, columns=20)
    expected = credence.Ridge().fit(X, y).predict(X)      # with all threads there are

    def work():
        return 0 if np.array_equal(credence.Ridge().fit(X, y).predict(X), expected) else 1
    assert in_a_child(work) == 0


def test_ctrl_c_in_a_forked_child():
    def work():
        interrupt_after(0.2)
        try:
            work_for_long()
        except KeyboardInterrupt:
            return 0
    assert in_a_child(work) == 0
