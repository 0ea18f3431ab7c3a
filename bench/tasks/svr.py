"""Support vector regression: with rbf on 10^4 rows against LIBSVM, and linear on 4 10^4 rows against liblinear, both in
scikit-learn."""
import math
import random

from harness import Task, copy_of, python

ROWS, COLUMNS, SEED = 10_000, 8, 1


def make(path):
    """Friedman's function of five columns of eight, standardised more or less, with noise of a fifth of its sd."""
    rng = random.Random(SEED)
    with open(path, "w") as f:
        f.write(",".join([*(f"x{j + 1}" for j in range(COLUMNS)), "y"]) + "\n")
        for _ in range(ROWS):
            x = [rng.uniform(-1.7, 1.7) for _ in range(COLUMNS)]
            u = [(v + 1.7) / 3.4 for v in x]
            y = 10 * math.sin(math.pi * u[0] * u[1]) + 20 * (u[2] - 0.5) ** 2 + 10 * u[3] + 5 * u[4] + rng.gauss(0, 1)
            f.write(",".join(f"{v:.6f}" for v in [*x, (y - 14.4) / 4.9]) + "\n")


# The objective is 1/2 beta' K beta + epsilon |beta| - y . beta, as the dual is minimised.
SKLEARN = """
import json, sys, time
import numpy
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR
data = numpy.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
X, y = data[:, :-1], data[:, -1]
start = time.perf_counter()
model = SVR(kernel="rbf", gamma=0.125, C=float(sys.argv[2]), epsilon=0.1, tol=1e-3, cache_size=1000).fit(X, y)
end = time.perf_counter()
beta, S = model.dual_coef_[0], model.support_vectors_
quadratic = sum(float(beta[i:i + 1000] @ rbf_kernel(S[i:i + 1000], S, gamma=0.125) @ beta) for i in range(0, len(S), 1000))
print(json.dumps({"seconds": end - start,
                  "objective": quadratic / 2 + 0.1 * abs(beta).sum() - y[model.support_] @ beta}))
"""


def objective(said):
    """The dual as it is minimised: below 0, so that the lower is the better."""
    return said["objective"] if "objective" in said else said["statistics"]["dual_objective"]


def task(name, C):
    return Task(name=f"svr-{name}", about=f"support vector regression, rbf, C = {C}, {ROWS} rows x {COLUMNS}, against LIBSVM in "
                "scikit-learn; the fit alone without noise, the dual objective at least as low",
                ours=["{build}/credence", "fit", "svr", "{data}", "--target", "y", "--kernel", "rbf(l=2)", "--C", C,
                      "--epsilon", "0.1", "--units", "target", "--scale", "none", "--noise", "none", "--json"],
                peer=python(SKLEARN, "{data}", C), needs=("sklearn",), data=(f"friedman-{ROWS}x{COLUMNS}-{SEED}.csv", make),
                quality=objective, judge="lower", tolerance=1e-6, goal=2)


# liblinear penalises the intercept as another weight; the objective is that without.
LIBLINEAR = """
import json, sys, time
import numpy
from sklearn.svm import LinearSVR
data = numpy.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
X, y = data[:, :-1], data[:, -1]
start = time.perf_counter()
model = LinearSVR(C=1, epsilon=0.1, tol=1e-2, max_iter=100000).fit(X, y)
end = time.perf_counter()
u = numpy.maximum(0, abs(y - X @ model.coef_ - model.intercept_) - 0.1)
print(json.dumps({"seconds": end - start, "objective": model.coef_ @ model.coef_ / 2 + u.sum()}))
"""


def primal(said):
    if "objective" in said:
        return said["objective"]
    return said["statistics"]["duality_gap"] - said["statistics"]["dual_objective"]


TASKS = [
    task("c1", "1"), task("c30", "30"),
    Task(name="svr-linear", about="support vector regression, linear, C = 1, kin40k, against liblinear in scikit-learn; the fit "
         "alone without noise, the primal at least as low",
         ours=["{build}/credence", "fit", "svr", "{data}", "--target", "y", "--kernel", "linear", "--epsilon", "0.1", "--units",
               "target", "--scale", "none", "--noise", "none", "--tol", "1e-2", "--json"],
         peer=python(LIBLINEAR, "{data}"), needs=("sklearn",), data=("kin40k.csv", copy_of("kin40k.csv")), quality=primal,
         judge="lower", tolerance=1e-5, goal=2, scaling="steps on parts of some thousand rows leave little to share"),
]
