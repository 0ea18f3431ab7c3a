"""How every call into the library is made: with a context, failures raised, warnings passed on.

Each thread has a context of its own; what a call makes stays with the context that made it, and any
thread may use it."""
import ctypes
import json
import os
import threading

from . import _declarations as c
from . import _errors, _interrupt, _options
from ._library import lib

_threads = 0
_local = threading.local()


class Context:
    """A cr_ctx and the warnings of its last call."""

    def __init__(self):
        self.made = set()       # addresses of what must still be freed with it
        self.dropped = False    # nobody needs it any more
        self.threads = 0
        handle = ctypes.c_void_p()
        status = lib.cr_ctx_new(None, handle)
        self.handle = handle.value
        if status != c.OK:
            raise MemoryError("out of memory")
        self.warnings = heard = []

        def receive(_user, level, text):
            if level == c.LOG_WARNING:
                heard.append(text.decode(errors="replace"))
        self._receiver = c.LogFn(receive)
        lib.cr_ctx_set_log(self.handle, self._receiver, None)

    def __del__(self):
        self.dropped = True     # what it made may go later: the collector of cycles keeps no order
        self._free_if_unused()

    def forget(self, pointer):
        self.made.discard(pointer)
        self._free_if_unused()

    def _free_if_unused(self, free=lib.cr_ctx_free):
        if self.dropped and not self.made:
            free(self.handle)

    def memory(self):
        """Bytes in use by everything made with this context."""
        return lib.cr_ctx_memory(self.handle)

    def pass_warnings_on(self):
        heard, self.warnings[:] = list(dict.fromkeys(self.warnings)), []
        for text in heard:
            _errors.warn(_options.in_python(text), _errors.CredenceWarning)


class Handle:
    """A thing made by the library; freed with the context that made it when nobody needs it."""

    __slots__ = ("context", "pointer", "_free")

    def __init__(self, context, pointer, free):
        self.context, self.pointer, self._free = context, pointer, free
        context.made.add(pointer)

    def __del__(self):
        self._free(self.context.handle, self.pointer)
        self.context.forget(self.pointer)


def current():
    """The context of this thread."""
    context = getattr(_local, "context", None)
    if context is None:
        context = _local.context = Context()
    if context.threads != _threads:
        lib.cr_ctx_set_threads(context.handle, _threads)
        context.threads = _threads
    return context


def _failure(context, status):
    """The exception for the last failure: its sentence, its notes and its hint."""
    parts = [lib.cr_error(context.handle), lib.cr_error_notes(context.handle)]
    hint = lib.cr_error_hint(context.handle)
    lines = [part.decode(errors="replace") for part in parts if part]
    if hint:
        lines.append("hint: " + hint.decode(errors="replace"))
    return _errors.exception(status, lines[0])(_options.in_python("\n".join(lines)))


def call(function, *args, run=_interrupt.unwatched):
    """function(context, *args), a short call; raises what it fails with.  Gives the context, whose
    warnings the caller passes on when it has put away what the call made."""
    context = current()
    context.warnings.clear()
    status = run(function, context.handle, args)
    if status != c.OK:
        raise _failure(context, status)
    return context


def work(function, *args):
    """The same for a call that may take long: a Ctrl-C stops it."""
    return call(function, *args, run=_interrupt.watched)


def make(free, function, *args, run=_interrupt.watched):
    """A handle of what function(context, *args, &out) makes; it may take long."""
    pointer = ctypes.c_void_p()
    try:
        context = call(function, *args, ctypes.byref(pointer), run=run)
    except BaseException:
        if pointer.value:  # interrupted when it was already made
            free(current().handle, pointer)
        raise
    handle = Handle(context, pointer.value, free)
    context.pass_warnings_on()
    return handle


def json_of(function, *args):
    """What the JSON says that function(context, *args, &out) makes; it may take long."""
    text = ctypes.c_void_p()
    try:
        context = work(function, *args, ctypes.byref(text))
        data = ctypes.string_at(text)
    finally:
        if text.value:   # also when a Ctrl-C came at the very end
            lib.cr_free(current().handle, text, len(ctypes.string_at(text)) + 1, 1)
    context.pass_warnings_on()
    return json.loads(data)


def set_threads(threads):
    """Lets every call use this many threads; 0, the default, means all cores.  Never changes a result.
    A forked child starts with 1: it is one of several that share the cores."""
    global _threads
    if int(threads) != threads or threads < 0:
        raise ValueError(f"the number of threads is {threads!r}, not a whole number from 0 on")
    _threads = int(threads)


def _use_one_thread():
    global _threads
    _threads = 1


os.register_at_fork(after_in_child=_use_one_thread)   # the other cores are for its siblings


def get_threads():
    """The number of threads that a call may use."""
    return lib.cr_ctx_threads(current().handle)
