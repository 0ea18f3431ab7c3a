"""Ctrl-C while the library works.

Python notes a signal at once but handles it only between two steps of its own, so a long call would
have to end first.  Here the signal is passed on through the wakeup descriptor to a thread that waits
for it and asks the library to stop; the call returns early, and Python goes on to raise
KeyboardInterrupt.  Only calls of the main thread are watched: only there does Python handle signals."""
import os
import select
import signal
import threading

from ._library import lib


class _Watcher:
    """Bytes come only while a call is watched, and are taken only under the lock: by the thread, which
    interrupts that call, or by the call itself when it ends.  So none is left for the next call."""

    def __init__(self):
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        self._lock = threading.Lock()
        self._context = None            # of the running call
        self._former = -1               # the descriptor that was there before ours
        threading.Thread(target=self._watch, name="credence-interrupt", daemon=True).start()

    def _arrived(self, wait=None):
        poll = select.poll()
        poll.register(self._reads, select.POLLIN)
        return poll.poll(wait)

    def _take(self):
        """Takes what has arrived; interrupts the running call; passes it on to who waited before us."""
        try:
            numbers = os.read(self._reads, 64)
        except BlockingIOError:
            return
        if signal.SIGINT in numbers and self._context:
            lib.cr_interrupt(self._context)
        if self._former >= 0:
            try:
                os.write(self._former, numbers)
            except OSError:
                pass  # closed or full: nobody waits for it

    def _watch(self):
        while True:
            self._arrived()
            with self._lock:
                self._take()

    def arm(self, context):
        self._context = context
        former = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        if former != self._writes:
            self._former = former

    def disarm(self):
        signal.set_wakeup_fd(self._former)
        with self._lock:
            if self._arrived(0):
                self._take()
            lib.cr_interrupt_clear(self._context)
            self._context, self._former = None, -1


_watcher = None


def _forget():
    """The thread does not live on in a forked child."""
    global _watcher
    _watcher = None


os.register_at_fork(after_in_child=_forget)


def unwatched(function, context, args):
    """function(context, *args)."""
    return function(context, *args)


def watched(function, context, args):
    """function(context, *args); a Ctrl-C makes it return early with EINTERRUPTED."""
    global _watcher
    if threading.get_ident() != threading.main_thread().ident:
        return function(context, *args)
    if _watcher is None:
        _watcher = _Watcher()
    try:
        _watcher.arm(context)
        return function(context, *args)
    finally:
        _watcher.disarm()
