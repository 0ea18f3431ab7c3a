"""Gaussian process classification by Laplace's approximation, against scikit-learn: one evaluation of the log evidence
with its gradient, and a fit to the optimum."""
import array
import math
import random

from harness import Task, python

N, D, ROWS = 1000, 8, 500


def make(path):
    rng = random.Random(2)
    with open(path, "wb") as f:
        array.array("d", [rng.gauss(0, 1) for _ in range(N * D)]).tofile(f)


def make_rows(path):
    rng = random.Random(3)
    with open(path, "w") as f:
        f.write("x1,x2,y\n")
        for _ in range(ROWS):
            a, b = rng.gauss(0, 1), rng.gauss(0, 1)
            f.write(f"{a:.6f},{b:.6f},{'v' if math.sin(2 * a) + b + 0.5 * rng.gauss(0, 1) > 0 else 'u'}\n")


EVALUATE = """
import json, sys, time
import numpy
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
n, d = int(sys.argv[2]), int(sys.argv[3])
X = numpy.fromfile(sys.argv[1])[:n * d].reshape(n, d)
y = numpy.sin(2 * X[:, 0]) + X[:, -1] > 0
k = ConstantKernel(4) * RBF([1.5 + 0.1 * j for j in range(d)])
model = GaussianProcessClassifier(k, optimizer=None).fit(X, y)
times = []
for _ in range(3):
    start = time.perf_counter()
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times)[1], "check": value}))
"""

FIT = """
import json, sys, time
import pandas
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
data = pandas.read_csv(sys.argv[1])
X, y = data[["x1", "x2"]].to_numpy(), data["y"].to_numpy()
start = time.perf_counter()
model = GaussianProcessClassifier(ConstantKernel(1) * RBF([1.0, 1.0])).fit(X, y)
print(json.dumps({"seconds": time.perf_counter() - start, "log_evidence": model.log_marginal_likelihood_value_}))
"""

TASKS = [
    Task(name="gp-classify-evidence", about=f"Laplace's log evidence and gradient, n = {N}, d = {D}, against scikit-learn",
         ours=["{build}/bench/bench_gp_classify", "{data}", str(N), str(D), "{threads}"],
         peer=python(EVALUATE, "{data}", str(N), str(D)), needs=("sklearn",),
         data=(f"gp-classify-{N}x{D}-2.f64", make), threads=2, quality="check", tolerance=1e-6, goal=5),
    Task(name="gp-classify-fit", about=f"gp-classify, {ROWS} rows, fit to the optimum, against scikit-learn",
         ours=["{build}/credence", "fit", "gp-classify", "{data}", "--target", "y", "--json"],
         peer=python(FIT, "{data}"), needs=("sklearn", "pandas"),
         data=(f"gp-classify-{ROWS}-3.csv", make_rows), threads=2, quality="log_evidence", judge="higher",
         tolerance=1e-4, goal=5,
         scaling="up to 600 rows all of it runs on one thread: factors of so few rows are not worth sharing out"),
]
