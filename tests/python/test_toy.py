"""A model that only its own file knows is a class in Python too."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, credence
from sklearn.base import clone
X, y = np.arange(12.0).reshape(6, 2), np.array([1.0, 2, 3, 4, 5, 9])
model = credence.ToyMean(widen=2).fit(X, y)
mean, sd = model.predict(X, return_std=True)
assert np.allclose(mean, y.mean()) and np.allclose(sd, 2 * y.std())
assert "widen : float" in credence.ToyMean.__doc__ and "predictive standard" in credence.ToyMean.__doc__
assert clone(model).get_params()["widen"] == 2
"""


def test_toy_model():
    library = os.environ.get("CREDENCE_TOY_LIBRARY")
    if not library:
        pytest.skip("CREDENCE_TOY_LIBRARY names no library with the toy model")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True,
                          env={**os.environ, "CREDENCE_LIBRARY": library}, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
