"""Sparse data: logistic regression on LIBSVM's a9a and w8a, ridge and principal components on 10^5 columns."""
import random

from harness import Task, copy_of, python

ROWS, COLUMNS, ENTRIES, SEED = 20_000, 100_000, 60, 1


def make_wide(path):
    """Rows of 60 numbers among 1e5 columns, more of them in the first; a hundred columns matter."""
    rng = random.Random(SEED)
    weights = {round(10 * j ** 1.9): rng.gauss(0, 1) for j in range(100)}
    with open(path, "w") as f:
        for _ in range(ROWS):
            row = {int(COLUMNS * rng.random() ** 3): rng.gauss(1, 1) for _ in range(ENTRIES)}
            y = 3 + sum(v * weights.get(j, 0) for j, v in row.items()) + rng.gauss(0, 0.5)
            f.write(" ".join([f"{y:.6f}", *(f"{j + 1}:{v:.4f}" for j, v in sorted(row.items()))]) + "\n")


# Both minimise mean of nll + |b|^2 / (2 n) without an intercept; the fit alone is timed.
SKLEARN = """
import json, sys, time
import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
X, y = load_svmlight_file(sys.argv[1])
start = time.perf_counter()
model = LogisticRegression(solver=sys.argv[2], C=1, fit_intercept=False, tol=1e-4).fit(X, y)
end = time.perf_counter()
b = model.coef_[0]
nll = numpy.logaddexp(0, -(2 * (y == model.classes_[1]) - 1) * (X @ b)).sum()
print(json.dumps({"seconds": end - start, "objective": (nll + b @ b / 2) / len(y)}))
"""

# sum (y - b0 - x.b)^2 + lambda |b|^2, b0 free, columns as they are; the tolerance is the loosest power of ten
# that has the objective to 1e-9.
RIDGE = """
import json, sys, time
import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Ridge
X, y = load_svmlight_file(sys.argv[1])
start = time.perf_counter()
model = Ridge(alpha=10, solver="sparse_cg", tol=1e-6).fit(X, y)
end = time.perf_counter()
rss = ((y - model.predict(X)) ** 2).sum()
print(json.dumps({"seconds": end - start, "objective": rss + 10 * model.coef_ @ model.coef_}))
"""

# scikit-learn 1.2 takes no sparse rows: ARPACK on products with the centred rows, which stay sparse.
PCA = """
import json, sys, time
import numpy
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.datasets import load_svmlight_file
X = load_svmlight_file(sys.argv[1])[0]
start = time.perf_counter()
n, p = X.shape
mean, T = numpy.asarray(X.mean(axis=0)).ravel(), X.T.tocsr()
Z = LinearOperator((n, p), matvec=lambda b: X @ b.ravel() - mean @ b.ravel(),
                   rmatvec=lambda r: T @ r.ravel() - mean * r.sum())
s = svds(Z, k=10, tol=1e-8, random_state=0)[1]
print(json.dumps({"seconds": time.perf_counter() - start, "eigenvalues": float((s ** 2).sum()) / (n - 1)}))
"""


def logistic_objective(said):
    return said["objective"] if "objective" in said else said["statistics"]["objective_value"]


def ridge_objective(said):
    if "objective" in said:
        return said["objective"]
    squares = sum(p["value"] ** 2 for p in said["parameters"] if p["name"] != "intercept")
    return said["statistics"]["rss"] + 10 * squares


def eigenvalues(said):
    return said["eigenvalues"] if "eigenvalues" in said else \
        sum(said["statistics"][f"eigenvalue(z{j + 1})"] for j in range(10))


def logistic(name, rows, solver):
    """`solver` is the quickest that scikit-learn has for these data."""
    return Task(name=f"logistic-{name}",
                about=f"logistic regression on {name}, the fit alone, against {solver} in scikit-learn",
                ours=["{build}/credence", "fit", "logistic", "{data}", "--target", "y", "--category", "y",
                      "--scale", "none", "--lambda", repr(1 / rows), "--no-intercept", "--json"],
                peer=python(SKLEARN, "{data}", solver), needs=("sklearn",), data=(f"{name}.libsvm",
                                                                           copy_of(f"{name}.libsvm")),
                quality=logistic_objective, judge="lower", tolerance=1e-9, goal=2,
                scaling="passes of about a millisecond, between which the small system is solved by one core")


TASKS = [
    logistic("a9a", 32_561, "newton-cholesky"),
    logistic("w8a", 49_749, "liblinear"),
    Task(name="ridge-sparse", about="ridge, 2e4 rows x 1e5 sparse columns with degrees of freedom, the fit alone, "
         "against scikit-learn",
         ours=["{build}/credence", "fit", "ridge", "{data}", "--target", "y", "--scale", "none", "--lambda", "10",
               "--json"],
         peer=python(RIDGE, "{data}"), needs=("sklearn",), data=(f"sparse-{ROWS}x{COLUMNS}-{SEED}.libsvm", make_wide),
         quality=ridge_objective, judge="lower", tolerance=1e-9, goal=1,
         scaling="the columns are counted and turned round by one core before the products, which both share"),
    Task(name="pca-sparse", about="pca, 10 components, 2e4 rows x 1e5 sparse columns, the fit alone, against ARPACK in "
         "scipy on products with the centred rows",
         ours=["{build}/credence", "fit", "pca", "{data}", "--features", "x*", "--scale", "none", "--components", "10",
               "--json"],
         peer=python(PCA, "{data}"), needs=("sklearn",), data=(f"sparse-{ROWS}x{COLUMNS}-{SEED}.libsvm", make_wide),
         quality=eigenvalues, judge="equal", tolerance=1e-8, goal=1,
         scaling="the columns are named and turned round by one core before the products, which both share"),
]
