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

LEARNED = """
import sys, numpy as np, credence
from credence._model import Model
x = np.array([1.0, 2, 3, 8, 9, 10])
Model.fit("toy-star", credence.Table({"a": x, "b": -x}), []).save(sys.argv[1])
net = credence.Network(sys.argv[1])
assert net.variables == ["a", "b"] and net.states("b") == ["low", "high"]
p = net.query("P(b | a=high)").marginals["b"]["low"]      # 3 of 3 rows, and one of each kind added
assert abs(p - 4 / 5) < 1e-12
assert np.allclose(net.infer({"a": ["high"]}).marginals["b"], [[4 / 5, 1 / 5]])
net.save(sys.argv[1] + ".bif")
assert credence.Network(sys.argv[1] + ".bif").query("P(*)") == net.query("P(*)") and "<svg" in str(net.plot())
"""


def run(program, *args):
    library = os.environ.get("CREDENCE_TOY_LIBRARY")
    if not library:
        pytest.skip("CREDENCE_TOY_LIBRARY names no library with the toy model")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, *args], capture_output=True, text=True,
                          env={**os.environ, "CREDENCE_LIBRARY": library}, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr


def test_toy_model():
    run(PROGRAM)


def test_a_network_that_was_learned(tmp_path):
    run(LEARNED, str(tmp_path / "star.cred"))
