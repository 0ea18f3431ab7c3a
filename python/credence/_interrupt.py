"""Ctrl-C while the library works.

Python notes a signal at once but handles it only between two steps of its own, so a long call would
have to end first.  Here the signal is passed on through the wakeup descriptor to a thread that waits
for it and asks the library to stop; the call returns early, and Python goes on to raise
KeyboardInterrupt.  Only calls of the main thread are watched: only there does Python handle signals."""
import os
import signal
import threading

from ._library import lib


class _Watcher:
    def __init__(self):
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)
        self._lock = threading.Lock()   # guards the two below
        self._context = None            # the context of the running call
        self._former = -1               # the descriptor that was there before ours
        threading.Thread(target=self._watch, name="credence-interrupt", daemon=True).start()

    def _watch(self):
        while True:
            numbers = os.read(self._reads, 64)
            with self._lock:
                if signal.SIGINT in numbers and self._context:
                    lib.cr_interrupt(self._context)
                if self._former >= 0:
                    try:
                        os.write(self._former, numbers)
                    except OSError:
                        pass  # closed or full: nobody waits for it

    def arm(self, context):
        lib.cr_interrupt_clear(context)
        former = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        with self._lock:
            self._context = context
            if former != self._writes:
                self._former = former

    def disarm(self):
        with self._lock:
            self._context = None
            former, self._former = self._former, -1
        signal.set_wakeup_fd(former)


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
