"""Logistic regression without a penalty on half a million rows of 30 features, from a file to coefficients."""
import array
import math
import random

from harness import Task, python
from npy import new_npy

ROWS, FEATURES, SEED = 500_000, 30, 1
WEIGHTS = [(-1) ** j * 0.4 * (j + 1) / FEATURES for j in range(FEATURES)]


def make(path):
    """[x1 ... x30 y] as NPY, P(y = 1) = sigmoid(x.w - 0.5).  Rows are drawn from a pool of 20000 different
    ones; the class is drawn anew in each."""
    rng = random.Random(SEED)
    pool = [[rng.gauss(0, 1) for _ in range(FEATURES)] for _ in range(20_000)]
    chance = [1 / (1 + math.exp(0.5 - sum(x * w for x, w in zip(row, WEIGHTS)))) for row in pool]
    with new_npy(path, ROWS, FEATURES + 1) as f:
        for i in range(ROWS):
            k = i % len(pool)
            array.array("d", [*pool[k], float(rng.random() < chance[k])]).tofile(f)


SKLEARN = """
import json, sys, time
import numpy
from sklearn.linear_model import LogisticRegression
start = time.perf_counter()
data = numpy.load(sys.argv[1])
loaded = time.perf_counter()
X, y = data[:, :-1], data[:, -1]
model = LogisticRegression(penalty=None, solver=sys.argv[2], tol=1e-4).fit(X, y)
end = time.perf_counter()
eta = X @ model.coef_[0] + model.intercept_[0]
print(json.dumps({"seconds": end - start, "fit_seconds": end - loaded,
                  "log_likelihood": -float(numpy.sum(numpy.logaddexp(0, eta) - y * eta))}))
"""


def objective(said):
    """The negative log likelihood at the answer."""
    return -said["log_likelihood"] if "log_likelihood" in said else None


def task(name, solver):
    return Task(name=name, about="logistic regression, 5e5 rows x 30 features from an NPY file, with standard errors, "
                f"against scikit-learn's {solver}, which has none",
                ours=["{build}/credence", "fit", "logistic", "{data}", "--target", f"x{FEATURES + 1}", "--json"],
                peer=python(SKLEARN, "{data}", solver), needs=("sklearn",),
                data=(f"logistic-{ROWS}x{FEATURES}-{SEED}.npy", make),
                quality=objective, judge="lower", tolerance=1e-9, goal=2,
                scaling="each step goes once through 124 MB of rows: two cores share one memory; the rows are looked through "
                "by one of them before")


TASKS = [task("logistic", "lbfgs"), task("logistic-newton", "newton-cholesky")]
