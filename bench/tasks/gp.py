"""One evaluation of the log evidence of a Gaussian process with all gradients: against raw LAPACK (factor and
inverse, which it cannot undercut) and scikit-learn; and whole fits."""
import array
import math
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

FIT = """
import json, sys, time
import pandas
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
data = pandas.read_csv(sys.argv[1])
X, y = data.iloc[:, :-1].to_numpy(), data.iloc[:, -1].to_numpy()
start = time.perf_counter()
model = GaussianProcessRegressor(ConstantKernel(1) * RBF([1.0] * X.shape[1]) + WhiteKernel(0.1)).fit(X, y)
print(json.dumps({"seconds": time.perf_counter() - start, "log_evidence": model.log_marginal_likelihood_value_}))
"""

GIVEN = """
import json, sys, time
import pandas
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
data = pandas.read_csv(sys.argv[1])
X, y = data.iloc[:, :-1].to_numpy(), data.iloc[:, -1].to_numpy()
times = []
for _ in range(3):
    start = time.perf_counter()
    model = GaussianProcessRegressor(ConstantKernel(1) * RBF([1, 2, 1]), alpha=0.04, optimizer=None).fit(X, y)
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times)[1], "log_evidence": model.log_marginal_likelihood_value_}))
"""

EXPONENT = """
import json, math, subprocess, sys, tempfile
build, data, few, many, threads = sys.argv[1:]
lines = open(data).read().splitlines(True)
seconds = {}
with tempfile.TemporaryDirectory() as d:
    for n in (int(few), int(many)):
        open(f"{d}/{n}.csv", "w").writelines(lines[:n + 1])
        done = subprocess.run([build + "/credence", "fit", "gp", f"{d}/{n}.csv", "--target", "y", "--mean", "zero", "--hyper", "best",
                               "--kernel", "matern32(ard)", "--approx", "exact", "--threads", threads, "--json"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        seconds[n] = json.loads(done.stdout)["seconds"]
exponent = math.log(seconds[int(many)] / seconds[int(few)]) / math.log(int(many) / int(few))
print(json.dumps({"seconds": seconds[int(many)], "exponent": exponent}))
"""

MEMORY = """
import json, os, subprocess, sys
n = int(sys.argv[3])
done = subprocess.run([sys.argv[1] + "/credence", "fit", "gp", sys.argv[2], "--target", "y", "--mean", "zero", "--hyper", "best", "--json",
                       "--max-iter", "2", "--memory-limit", str(int(2.2 * 8 * n * n + 64e6))], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
usage = __import__("resource").getrusage(__import__("resource").RUSAGE_CHILDREN)
print(json.dumps({"seconds": json.loads(done.stdout)["seconds"], "doubles_per_n2": usage.ru_maxrss * 1024 / (8 * n * n)}))
"""

HELD_OUT = """
import csv, json, subprocess, sys, tempfile
build, data, n, *options = sys.argv[1:]
lines = open(data).read().splitlines(True)
with tempfile.TemporaryDirectory() as d:
    open(d + "/train.csv", "w").writelines(lines[:int(n) + 1])
    open(d + "/test.csv", "w").writelines(lines[:1] + lines[int(n) + 1:])
    def run(*argv):
        done = subprocess.run([build + "/credence", *argv, "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    said = run("fit", "gp", d + "/train.csv", "--target", "y", "--output", d + "/m.cred", *options)
    metrics = run("evaluate", d + "/m.cred", d + "/test.csv")["metrics"]
print(json.dumps({"seconds": said["seconds"], "rmse": metrics["rmse"], "log_score": metrics["log_score"]}))
"""
FIXED = ["--kernel", "rbf(variance=3,l=[1.5,6,6,6,6,6,6,10])", "--noise", "0.04", "--optimize", "none"]

DATA = (f"gp-{N}x{D}-2.f64", make)


def make_rows(path, n, d):
    rng = random.Random(4)
    with open(path, "w") as f:
        f.write(",".join(f"x{j}" for j in range(d)) + ",y\n")
        for _ in range(n):
            x = [rng.gauss(0, 1) for _ in range(d)]
            y = math.sin(2 * x[0]) + x[-1] + 0.2 * rng.gauss(0, 1)
            f.write(",".join(f"{v:.6f}" for v in [*x, y]) + "\n")


def rows(n, d=D):
    return f"gp-{n}x{d}-4.csv", lambda path: make_rows(path, n, d)


def held_out(n, *options):
    """Fits n rows by the program, and scores the rest."""
    return python(HELD_OUT, "{build}", "{data}", str(n), *options)


def ours(what, n, *more, d=D):
    return ["{build}/bench/bench_gp", what, "{data}", str(n), str(d), "{threads}", *more]


TASKS = [
    *(Task(name=f"gp-lapack-{n}-{threads}", about=f"log evidence and gradient, n = {n}, d = {D}, against dpotrf + dpotri",
           ours=ours("evidence", n), peer=ours("lapack", n), data=DATA, threads=threads, goal=0.77)
      for n in (1000, 2000, 5000) for threads in (1, 2)),
    Task(name="gp-sklearn", about=f"log evidence and gradient, n = 2000, d = {D}, against scikit-learn",
         ours=ours("evidence", 2000), peer=python(SKLEARN, "{data}", "2000", str(D)), needs=("sklearn",),
         data=DATA, threads=2, quality="check", tolerance=1e-8, goal=5),
    Task(name="gp-fit", about=f"gp, 2000 rows, d = {D}, fit to the optimum, against scikit-learn",
         ours=["{build}/credence", "fit", "gp", "{data}", "--target", "y", "--mean", "zero", "--hyper", "best", "--json"],
         peer=python(FIT, "{data}"), needs=("sklearn", "pandas"), data=rows(2000), threads=2, quality="log_evidence",
         judge="higher", tolerance=1e-4, goal=5),
    Task(name="gp-fit-smooth", about="gp, 2000 rows, d = 2, fit to the optimum, against scikit-learn",
         ours=["{build}/credence", "fit", "gp", "{data}", "--target", "y", "--mean", "zero", "--hyper", "best", "--json"],
         peer=python(FIT, "{data}"), needs=("sklearn", "pandas"), data=rows(2000, 2), threads=2, quality="log_evidence",
         judge="higher", tolerance=1e-4, goal=5),
    Task(name="gp-given-2000", about="gp, 2000 rows, d = 3, at given parameters, without the leave-one-out scores that scikit-learn lacks, "
         "against it",
         ours=["{build}/credence", "fit", "gp", "{data}", "--target", "y", "--mean", "zero", "--hyper", "best", "--json", "--kernel",
               "rbf(variance=1,l=[1,2,1])", "--noise", "0.04", "--optimize", "none", "--no-loo"],
         peer=python(GIVEN, "{data}"), needs=("sklearn", "pandas"), data=rows(2000, 3), threads=2, quality="log_evidence",
         judge="higher", tolerance=1e-6, goal=3,
         scaling="one factor of 2000 rows: its panels are one core's work, and so is the memory that is used for the first time"),
    *(Task(name=f"gp-fit-{n}", about=f"gp, {n} rows, d = 3, fit to the optimum, against scikit-learn",
           ours=["{build}/credence", "fit", "gp", "{data}", "--target", "y", "--mean", "zero", "--hyper", "best", "--kernel", "rbf(ard)", "--json"],
           peer=python(FIT, "{data}"), needs=("sklearn", "pandas"), data=rows(n, 3), threads=2, quality="log_evidence",
           judge="higher", tolerance=1e-4, goal=5,
           **({"scaling": "factors of 1000 rows: their panels are one core's work"} if n == 1000 else {}))
      for n in (1000, 4000)),
    Task(name="gp-exponent", about="gp, d = 3, fit with a rough kernel: the power of the rows that the time goes by, 1000 to 8000",
         ours=python(EXPONENT, "{build}", "{data}", "1000", "8000", "{threads}"), data=rows(8000, 3), threads=2, quality="exponent",
         scaling=None, most=3.1),
    Task(name="gp-default-40000", about="gp, 40000 rows, d = 3, everything by default",
         ours=["{build}/credence", "fit", "gp", "{data}", "--target", "y", "--json"], data=rows(40000, 3), threads=2,
         quality="log_evidence", limit=30,
         scaling="the search on 4096 rows is factors whose panels are one core's work"),
    Task(name="gp-memory", about=f"gp, 4000 rows, d = {D}, 2 iterations in at most 2.2 n^2 doubles and 64 MB",
         ours=python(MEMORY, "{build}", "{data}", "4000"), data=rows(4000), threads=2, quality="doubles_per_n2",
         limit=120),
    Task(name="gp-predict-trsm", about=f"means and sds of 100000 rows from 2000, d = {D}, against raw dtrsm of the same rows",
         ours=ours("predict", 2000, "100000"), peer=ours("trsm", 2000, "100000"), data=DATA, threads=2, goal=0.6),
    Task(name="gp-predict", about=f"means and sds of 100000 rows from 2000, d = {D}, against scikit-learn",
         ours=ours("predict", 2000, "100000"), peer=python(PREDICT, "{data}", "2000", str(D), "100000"),
         needs=("sklearn",), data=DATA, threads=2, quality="check", tolerance=1e-6, goal=5),
    Task(name="gp-predict-smooth", about="means and sds of 100000 rows from 2000, d = 2, against scikit-learn",
         ours=ours("predict", 2000, "100000", d=2), peer=python(PREDICT, "{data}", "2000", "2", "100000"),
         needs=("sklearn",), data=DATA, threads=2, quality="check", tolerance=1e-8, goal=5),
    *(Task(name=f"gp-cg{'' if fixed else '-learn'}-{n}",
           about=f"gp, {n} rows, d = {D}, {'hyper-parameters given' if fixed else 'learned'}, conjugate gradients against our "
                 "own Cholesky factor; rmse of 1000 rows held out",
           ours=held_out(n, "--solver", "cg", *fixed), peer=held_out(n, "--approx", "exact", *fixed), data=rows(n + 1000),
           threads=2, quality="rmse", judge="lower", tolerance=0.01)
      for n, fixed in ((2000, []), (10000, FIXED), (10000, []))),
    Task(name="gp-vfe", about=f"bound of vfe and its gradient, n = 100000, m = 500, d = {D}",
         ours=["{build}/bench/bench_gp", "bound", "{data}", "100000", str(D), "{threads}", "500"],
         data=("gp-100000x8-2.f64", lambda path: make(path, 100000)), threads=2, limit=30),
]
