"""The package is installed by pip as a wheel, with its library, and works from there."""
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
assert credence.version()["found_by"] == "the package itself"
here = os.path.dirname(credence.__file__)
assert os.path.isfile(here + "/__init__.pyi") and os.path.isfile(here + "/py.typed")
print(here)
"""


@pytest.mark.slow
def test_wheel(tmp_path, python):
    pytest.importorskip("pip"), pytest.importorskip("wheel")
    shutil.copytree(PACKAGE, tmp_path / "source", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                           "-w", tmp_path, tmp_path / "source"], capture_output=True, text=True, timeout=300,
                          env=os.environ | {"CREDENCE_LIBRARY": credence.version()["library"]})
    assert done.returncode == 0, done.stdout + done.stderr
    wheel, = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"credence-{credence.__version__}-py3-none-linux")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code, out, err = python(USE, path=tmp_path / "site", env={"CREDENCE_LIBRARY": ""})
    assert (code, out) == (0, f"{tmp_path}/site/credence\n"), err
