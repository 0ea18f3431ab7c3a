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

WALK = """
import numpy as np, pandas, credence
frame = pandas.DataFrame({"who": list("aabab"), "x": 0.0})
y = np.array([1.0, 2, 5, 4, 4])
walk = credence.ToyWalk(sequence="who").fit(frame, y)
mean, sd = walk.predict_filtered(frame, y)
step = (1 + 2 - 1) / 3
assert np.allclose(mean, [3, 1 + step, 3, 2 + step, 5 + step]) and np.allclose(sd[1], np.std([1, 2, -1]))
ahead = walk.forecast(2, frame, y)
assert [(row["sequence"], row["ahead"]) for row in ahead] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
assert np.allclose([row["mean"] for row in ahead], [4 + step, 4 + 2 * step, 4 + step, 4 + 2 * step])
assert list(ahead.to_pandas().columns) == ["sequence", "ahead", "mean", "sd", "lower", "upper"]
assert np.isclose(walk.forecast(1)[0]["mean"], 3) and not hasattr(walk, "decode")
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


def test_a_model_of_sequences():
    run(WALK)


def test_a_network_that_was_learned(tmp_path):
    run(LEARNED, str(tmp_path / "star.cred"))
