"""Finds libcredence, loads it, and makes sure that it is one this package can talk to.

Order: the file that CREDENCE_LIBRARY names; beside this file; the build tree of the checkout this file
lies in; the libraries of the prefix it is installed in; whatever the system's loader finds."""
import ctypes
import os
import pathlib

ABI_VERSION = 1
SONAME = "libcredence.so.0"
PACKAGE = pathlib.Path(__file__).resolve().parent


def _is_loadable(path):
    """A library with a sanitizer would end a process that did not start with its runtime."""
    return "asan" in os.environ.get("LD_PRELOAD", "") or b"__asan_init" not in path.read_bytes()


def _build_tree():
    checkout = PACKAGE.parent.parent
    if not (checkout / "include/credence.h").is_file():
        return
    for build in ("release", "debug", "coverage", "sanitize"):
        path = checkout / "build" / build / "libcredence.so"
        if path.is_file() and _is_loadable(path):
            yield path


def _candidates():
    """Pairs (what to load, how it was found)."""
    named = os.environ.get("CREDENCE_LIBRARY")
    if named:
        yield named, "the environment variable CREDENCE_LIBRARY"
        return
    for path in (PACKAGE / SONAME, PACKAGE / "libcredence.so"):
        if path.is_file():
            yield path, "the package itself"
    for path in _build_tree():
        yield path, "the build tree of the checkout"
    libraries = PACKAGE.parent.parent.parent  # of <prefix>/lib/python3.x/dist-packages/credence
    for path in (libraries / SONAME, *libraries.glob(f"*-linux-gnu*/{SONAME}")):
        if path.is_file():
            yield path, "the prefix of the package"
    yield SONAME, "the system's loader"


def _path_in_memory(asked):
    """The file behind a name that the loader resolved."""
    if os.sep in asked:
        return asked
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return next((line.split()[-1] for line in maps if "libcredence.so" in line), asked)
    except OSError:
        return asked


def _check(library, path, found_by):
    try:
        library.cr_abi_version.restype = ctypes.c_uint
        library.cr_version.restype = ctypes.c_char_p
        abi, version = library.cr_abi_version(), library.cr_version().decode()
    except AttributeError:
        raise ImportError(f"{path}, found by {found_by}, is not a libcredence") from None
    if abi != ABI_VERSION:
        raise ImportError(f"{path}, found by {found_by}, is libcredence {version} with interface "
                          f"version {abi}, but this package needs {ABI_VERSION}")


def _load():
    failures = []
    for name, found_by in _candidates():
        try:
            library = ctypes.CDLL(str(name))
        except OSError as e:
            failures.append(f"  {name} ({found_by}): {e}")
            continue
        path = _path_in_memory(str(name))
        _check(library, path, found_by)
        return library, path, found_by
    raise ImportError("\n".join([f"{SONAME} was not found:", *failures,
                                 "Build it with `make`, or set CREDENCE_LIBRARY to its path."]))


lib, path, found_by = _load()
