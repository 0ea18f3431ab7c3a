"""One category of 5000 levels in 20000 rows: the fit alone, against scikit-learn on sparse indicators."""
import random

from harness import Task, python

ROWS, LEVELS, SEED = 20_000, 5_000, 1


def make(path):
    """g x z y c: an effect of each level and a slope of x; c says whether y is above 0."""
    rng = random.Random(SEED)
    effect = [rng.gauss(0, 1) for _ in range(LEVELS)]
    with open(path, "w", encoding="ascii") as f:
        f.write("g,x,z,y,c\n")
        for _ in range(ROWS):
            k, x = rng.randrange(LEVELS), rng.gauss(0, 1)
            y = effect[k] + 0.5 * x + rng.gauss(0, 1)
            f.write(f"g{k:04d},{x:.6f},{rng.gauss(0, 1):.6f},{y:.6f},{'yes' if y > 0 else 'no'}\n")


# What fits is put in where it says FITTED.  The indicators of all levels but the first, and two numbers; ridge's
# penalty is on the columns as they are.
SKLEARN = """
import csv, json, sys, time
import numpy, scipy.sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
rows = list(csv.reader(open(sys.argv[1])))[1:]
levels = {g: k for k, g in enumerate(sorted({r[0] for r in rows}))}
numbers = numpy.array([[float(v) for v in r[1:4]] for r in rows])
level = numpy.array([levels[r[0]] for r in rows])
start = time.perf_counter()
G = scipy.sparse.csr_matrix((numpy.ones(len(rows)), (numpy.arange(len(rows)), level)))[:, 1:]
X, y, c = scipy.sparse.hstack([G, numbers[:, :2]]).tocsr(), numbers[:, 2], numpy.array([r[4] == "yes" for r in rows])
model = FITTED
end = time.perf_counter()
b, b0 = numpy.ravel(model.coef_), float(numpy.ravel(model.intercept_)[0])
e = y - b0 - X @ b
nll = numpy.logaddexp(0, -(2 * c - 1) * (b0 + X @ b)).sum()
print(json.dumps({"seconds": end - start, "rss": e @ e, "ridge": e @ e + b @ b, "logistic": (nll + b @ b / 2) / len(c)}))
"""


def rss(said):
    return said["rss"] if "rss" in said else said["statistics"]["rss"]


def ridge_objective(said):
    if "ridge" in said:
        return said["ridge"]
    return rss(said) + sum(p["value"] ** 2 for p in said["parameters"] if p["name"] != "intercept")


def logistic_objective(said):
    return said["logistic"] if "logistic" in said else said["statistics"]["objective_value"]


def task(model, target, options, fitted, quality, other):
    features = "!c" if target == "y" else "!y"
    return Task(name=f"levels-{model}", about=f"{model}, a category of 5000 levels in 2e4 rows, the fit alone, against "
                f"scikit-learn's {other}",
                ours=["{build}/credence", "fit", model, "{data}", "--target", target, "--features", features, *options,
                      "--quiet", "--json"],
                peer=python(SKLEARN.replace("FITTED", fitted), "{data}") if fitted else None,
                needs=("sklearn",) if fitted else (), data=(f"levels-{ROWS}x{LEVELS}-{SEED}.csv", make),
                quality=quality, judge="lower", tolerance=1e-6, goal=2 if fitted else None, limit=1,
                scaling="the sums of 5000 levels are a few milliseconds of work" if fitted else 1.6)


TASKS = [
    task("linear", "y", [], "LinearRegression().fit(X, y)", rss, "LSQR, which gives no standard errors"),
    task("ridge", "y", ["--scale", "none", "--lambda", "1"],
         "Ridge(alpha=1, solver='sparse_cg', tol=1e-8).fit(X, y)", ridge_objective, "conjugate gradients"),
    task("bayes-linear", "y", [], None, None, "nothing: it has dense rows alone; the "
         "average over scales solves the equations at 74 of them"),
    task("lasso", "y", [], None, None, "nothing: its path takes minutes"),
    task("logistic", "c", ["--scale", "none", "--lambda", repr(1 / ROWS)],
         "LogisticRegression(C=1, solver='lbfgs', tol=1e-6, max_iter=10000).fit(X, c)", logistic_objective, "lbfgs"),
]
