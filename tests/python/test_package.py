"""The package is installed by pip or by cmake, and works from there."""
import ast
import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import PACKAGE

import credence

USE = """
import credence, numpy as np, os
X = np.random.default_rng(0).normal(size=(30, 2))
assert credence.Ridge().fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
print(os.path.dirname(credence.__file__))
print(credence.version()["found_by"])
"""


def check_use(python, site, found_by):
    code, out, err = python(USE, path=site, env={"CREDENCE_LIBRARY": ""})
    assert (code, out) == (0, f"{site}/credence\n{found_by}\n"), err
    assert (site / "credence/py.typed").is_file()


@pytest.mark.slow
def test_wheel(tmp_path, python):
    pytest.importorskip("pip"), pytest.importorskip("wheel")
    shutil.copytree(PACKAGE, tmp_path / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps",
                           "--no-index", "-w", tmp_path, tmp_path / "source"],
                          capture_output=True, text=True, timeout=300,
                          env=os.environ | {"CREDENCE_LIBRARY": credence.version()["library"]})
    assert done.returncode == 0, done.stdout + done.stderr
    wheel, = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"credence-{credence.__version__}-py3-none-linux")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    check_use(python, tmp_path / "site", "the package itself")
    ast.parse((tmp_path / "site/credence/__init__.pyi").read_text())


@pytest.mark.slow
def test_cmake_install(tmp_path, python):
    build = os.environ.get("CREDENCE_BUILD")
    if not build:
        pytest.skip("CREDENCE_BUILD names no build tree")
    done = subprocess.run(["cmake", "--install", build, "--prefix", tmp_path], capture_output=True, text=True,
                          timeout=300, env=os.environ | {"LD_PRELOAD": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    package, = tmp_path.glob("lib/python3*/*-packages/credence")
    check_use(python, package.parent, "the prefix of the package")
    if "asan" not in os.environ.get("LD_PRELOAD", ""):   # there the hints cannot be made
        ast.parse((package / "__init__.pyi").read_text())
