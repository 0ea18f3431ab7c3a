"""Linear support vector machines on LIBSVM's a9a and w8a and on 10^6 sparse rows, against liblinear in scikit-learn."""
import random

from harness import Task, copy_of, python

ROWS, COLUMNS, ENTRIES, SEED = 1_000_000, 10_000, 20, 1


def make_many(path):
    """Rows of length 1 with 20 numbers or fewer among 1e4 columns, more of them in the first; classes by a noisy plane."""
    rng = random.Random(SEED)
    weights = [rng.gauss(0, 1) if rng.random() < 0.3 else 0 for _ in range(COLUMNS)]
    with open(path, "w") as f:
        for _ in range(ROWS):
            row = {int(COLUMNS * rng.random() ** 3): rng.random() + 0.1 for _ in range(ENTRIES)}
            size = sum(v * v for v in row.values()) ** 0.5
            y = sum(v * weights[j] for j, v in row.items()) / size + rng.gauss(0, 0.4)
            f.write(" ".join(["1" if y > 0 else "-1", *(f"{j + 1}:{v / size:.4g}" for j, v in sorted(row.items()))]) + "\n")


# The fit alone is timed.  liblinear penalises the intercept as another weight; the objective is that without.
LIBLINEAR = """
import json, sys, time, warnings
import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC
warnings.simplefilter("ignore")
loss, penalty, dual, tol = sys.argv[2], sys.argv[3], sys.argv[4] == "dual", float(sys.argv[5])
X, y = load_svmlight_file(sys.argv[1])
start = time.perf_counter()
model = LinearSVC(loss=loss, penalty=penalty, dual=dual, tol=tol, C=1, max_iter=100000).fit(X, y)
end = time.perf_counter()
w, sign = model.coef_[0], numpy.where(y == model.classes_[1], 1, -1)
u = numpy.maximum(0, 1 - sign * (X @ w + model.intercept_[0]))
if loss == "squared_hinge": u = u ** 2
size = numpy.abs(w).sum() if penalty == "l1" else w @ w / 2
print(json.dumps({"seconds": end - start, "objective": size + u.sum()}))
"""


def objective(said):
    """The primal, which is the dual and the gap between them."""
    if "objective" in said:
        return said["objective"]
    return said["statistics"]["duality_gap"] - said["statistics"]["dual_objective"]


def task(name, data, loss="hinge", penalty="l2", tol=1e-2, ours="1e-2"):
    dual = "dual" if loss == "hinge" else "primal"
    return Task(name=f"svm-linear-{name}", about=f"linear support vector machine, {loss}, {penalty}, on {data[0]}, against "
                "liblinear in scikit-learn; the fit alone, the primal at least as low",
                ours=["{build}/credence", "fit", "svm", "{data}", "--target", "y", "--kernel", "linear", "--scale", "none",
                      "--margin-loss", loss, "--penalty", penalty, "--tol", ours, "--json"],
                peer=python(LIBLINEAR, "{data}", loss.replace("-", "_"), penalty, dual, str(tol)), needs=("sklearn",),
                data=data, quality=objective, judge="lower", tolerance=1e-5, goal=2,
                scaling="sweeps over the rows go one after the other; the solvers for few columns pass over them by threads")


A9A, W8A = ("a9a.libsvm", copy_of("a9a.libsvm")), ("w8a.libsvm", copy_of("w8a.libsvm"))
MANY = (f"svm-{ROWS}x{COLUMNS}-{ENTRIES}-{SEED}.libsvm", make_many)

TASKS = [
    task("a9a", A9A, ours="2e-3"), task("w8a", W8A, ours="2e-3"), task("many", MANY, ours="2e-3"),
    task("a9a-squared", A9A, "squared-hinge"), task("w8a-squared", W8A, "squared-hinge"),
    task("many-squared", MANY, "squared-hinge"),
    task("a9a-l1", A9A, "squared-hinge", "l1"), task("w8a-l1", W8A, "squared-hinge", "l1"),
]
