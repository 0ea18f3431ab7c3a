"""One evaluation of the log evidence of a Gaussian process with all gradients: against raw LAPACK (factor and
inverse, which it cannot undercut) and scikit-learn; and whole fits."""
import array
import random

from harness import Task, python

N, D = 5000, 8


def make(path, n=N):
    rng = random.Random(2)
    with open(path, "wb") as f:
        array.array("d", [rng.gauss(0, 1) for _ in range(n * D)]).tofile(f)


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

PREDICT = """
import json, sys, time
import numpy
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
n, d, m = (int(a) for a in sys.argv[2:5])
X = numpy.fromfile(sys.argv[1])[:n * d].reshape(n, d)
y = numpy.sin(2 * X[:, 0]) + X[:, -1]
Z = numpy.concatenate([X + 1e-3 * i for i in range(-(-m // n))])[:m]
k = ConstantKernel(1) * RBF([1.5 + 0.1 * j for j in range(d)]) + WhiteKernel(0.05)
model = GaussianProcessRegressor(k, optimizer=None).fit(X, y)
start = time.perf_counter()
parts = [model.predict(Z[i:i + 5000], return_std=True) for i in range(0, m, 5000)]
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "check": float(numpy.concatenate([s for _, s in parts]).mean())}))
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
    Task(name="gp-predict", about=f"means and sds of 100000 rows from 2000, d = {D}, against scikit-learn",
         ours=ours("predict", 2000, "100000"), peer=python(PREDICT, "{data}", "2000", str(D), "100000"),
         needs=("sklearn",), data=DATA, threads=2, quality="check", tolerance=1e-6, goal=5),
    Task(name="gp-vfe", about=f"bound of vfe and its gradient, n = 100000, m = 500, d = {D}",
         ours=["{build}/bench/bench_gp", "bound", "{data}", "100000", str(D), "{threads}", "500"],
         data=("gp-100000x8-2.f64", lambda path: make(path, 100000)), threads=2, limit=30),
]
