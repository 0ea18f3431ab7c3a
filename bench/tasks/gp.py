"""One evaluation of the log evidence of a Gaussian process with all gradients: against raw LAPACK (factor and
inverse, which it cannot undercut) and scikit-learn; and whole fits."""
import array
import random

from harness import Task, python

N, D = 5000, 8


def make(path):
    rng = random.Random(2)
    with open(path, "wb") as f:
        array.array("d", [rng.gauss(0, 1) for _ in range(N * D)]).tofile(f)


SKLEARN = """
import json, sys, time
import numpy
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
n, d = int(sys.argv[2]), int(sys.argv[3])
X = numpy.fromfile(sys.argv[1])[:n * d].reshape(n, d)
y = numpy.sin(2 * X[:, 0]) + X[:, -1]
k = ConstantKernel(1) * RBF([1.5 + 0.1 * j for j in range(d)]) + WhiteKernel(0.05)
model = GaussianProcessRegressor(k, optimizer=None).fit(X, y)
times = []
for _ in range(3):
    start = time.perf_counter()
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times)[1], "check": value}))
"""

DATA = (f"gp-{N}x{D}-2.f64", make)


def ours(what, n, *more):
    return ["{build}/bench/bench_gp", what, "{data}", str(n), str(D), "{threads}", *more]


TASKS = [
    *(Task(name=f"gp-lapack-{n}-{threads}", about=f"log evidence and gradient, n = {n}, d = {D}, against dpotrf + dpotri",
           ours=ours("evidence", n), peer=ours("lapack", n), data=DATA, threads=threads, goal=0.77)
      for n in (1000, 2000) for threads in (1, 2)),
    Task(name="gp-sklearn", about=f"log evidence and gradient, n = 2000, d = {D}, against scikit-learn",
         ours=ours("evidence", 2000), peer=python(SKLEARN, "{data}", "2000", str(D)), needs=("sklearn",),
         data=DATA, threads=2, quality="check", tolerance=1e-8, goal=5),
]
