"""Where the library comes from, and what is said when it cannot be used."""
import os
import re
import shutil
import sys

import pytest
from conftest import PACKAGE

import credence
from credence import _library


def test_version_says_what_runs():
    found = credence.version()
    assert found["version"] == credence.__version__ and re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert found["abi"] == _library.ABI_VERSION and os.path.isfile(found["library"])
    assert found["found_by"] and found["blas"]["kernel"]


def test_the_environment_comes_first(python):
    code, _, err = python("import credence", env={"CREDENCE_LIBRARY": "/nowhere/libcredence.so"})
    assert code != 0 and "ImportError" in err
    assert "/nowhere/libcredence.so (the environment variable CREDENCE_LIBRARY)" in err and "make" in err


def test_another_library_is_refused(python):
    code, _, err = python("import credence", env={"CREDENCE_LIBRARY": "libm.so.6"})
    assert code != 0 and "found by the environment variable CREDENCE_LIBRARY, is not a libcredence" in err


def test_another_interface_is_refused(monkeypatch):
    monkeypatch.setattr(_library, "ABI_VERSION", 999)
    with pytest.raises(ImportError, match=r"/a/b.so, found by luck, is libcredence [\d.]+ with interface "
                                          r"version \d+, but this package needs 999"):
        _library._check(_library.lib, "/a/b.so", "luck")


def test_the_package_comes_before_the_build_tree(python, tmp_path):
    shutil.copytree(PACKAGE / "credence", tmp_path / "credence")
    shutil.copyfile(credence.version()["library"], tmp_path / "credence" / _library.SONAME)
    code, out, err = python("import credence; print(credence.version()['found_by'])", path=tmp_path,
                            env={"CREDENCE_LIBRARY": ""})
    assert (code, out) == (0, "the package itself\n"), err


def test_the_build_tree_of_a_checkout(python, tmp_path):
    shutil.copytree(PACKAGE / "credence", tmp_path / "python/credence")
    (tmp_path / "include").mkdir()
    (tmp_path / "include/credence.h").touch()
    (tmp_path / "build/debug").mkdir(parents=True)
    shutil.copyfile(credence.version()["library"], tmp_path / "build/debug/libcredence.so")
    code, out, err = python("import credence; print(credence.version()['library'])", path=tmp_path / "python",
                            env={"CREDENCE_LIBRARY": ""})
    assert (code, out) == (0, f"{tmp_path}/build/debug/libcredence.so\n"), err


def test_the_prefix_of_the_package(python, tmp_path):
    package = tmp_path / "lib/python3.11/dist-packages"
    shutil.copytree(PACKAGE / "credence", package / "credence")
    (tmp_path / "lib/x86_64-linux-gnu").mkdir()
    shutil.copyfile(credence.version()["library"], tmp_path / "lib/x86_64-linux-gnu" / _library.SONAME)
    code, out, err = python("import credence; print(credence.version()['found_by'])", path=package,
                            env={"CREDENCE_LIBRARY": ""})
    assert (code, out) == (0, "the prefix of the package\n"), err


def test_a_sanitized_library_is_not_taken_by_chance(tmp_path, monkeypatch):
    path = tmp_path / "lib.so"
    path.write_bytes(b"...__asan_init...")
    monkeypatch.setenv("LD_PRELOAD", "")
    assert not _library._is_loadable(path)
    monkeypatch.setenv("LD_PRELOAD", "libasan.so")
    assert _library._is_loadable(path)


def test_import_is_light(python, capsys):
    code, out, err = python("""
import numpy, sys, time
before, start = set(sys.modules), time.perf_counter()
import credence
print(round(1000 * (time.perf_counter() - start)))
print(*sorted(set(sys.modules) - before))
""")
    assert code == 0, err
    milliseconds, modules = out.splitlines()
    with capsys.disabled():
        print(f"\nimport credence after numpy: {milliseconds} ms")
    loaded = {name.split(".")[0] for name in modules.split()}
    assert "credence" in loaded and not loaded & {"sklearn", "pandas", "scipy", "joblib"}
