"""Generative classifiers on half a million rows of 30 features in 5 classes, against scikit-learn."""
import array
import random

from harness import Task, python
from npy import new_npy

ROWS, FEATURES, CLASSES, SEED = 500_000, 30, 5, 1


def mean(k, j):
    return 0.3 * ((k + j) % CLASSES)


def make(path):
    """[x1 ... x30 class] as NPY; rows are noise from a pool of 20000 around the mean of their class."""
    rng = random.Random(SEED)
    pool = [[rng.gauss(0, 1) for _ in range(FEATURES)] for _ in range(20_000)]
    with new_npy(path, ROWS, FEATURES + 1) as f:
        for i in range(ROWS):
            k = rng.randrange(CLASSES)
            noise = pool[i % len(pool)]
            array.array("d", [*(mean(k, j) + noise[j] for j in range(FEATURES)), k]).tofile(f)


SKLEARN = """
import json, sys, time
import numpy
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
data = numpy.load(sys.argv[1])
made = {"lda": lambda: LinearDiscriminantAnalysis(solver="lsqr"), "qda": QuadraticDiscriminantAnalysis,
        "naive-bayes": GaussianNB}[sys.argv[2]]
X, y = numpy.ascontiguousarray(data[:, :-1]), data[:, -1]
start = time.perf_counter()
model = made().fit(X, y)
end = time.perf_counter()
means = model.theta_ if hasattr(model, "theta_") else model.means_
print(json.dumps({"seconds": end - start, "parameters": [
    {"name": f"x{j + 1} | {k}", "value": float(v)} for k, row in enumerate(means) for j, v in enumerate(row)]}))
"""


def largest_error(said):
    """The largest distance of a mean from the one the data were made with."""
    got = {p["name"]: p["value"] for p in said.get("parameters", [])}
    names = {f"x{j + 1} | {k}": mean(k, j) for k in range(CLASSES) for j in range(FEATURES)}
    return max(abs(got[name] - value) for name, value in names.items()) if names.keys() <= got.keys() else None


TASKS = [
    Task(name=model, about=f"{model}, 5e5 rows x 30 features, 5 classes, the fit alone, against scikit-learn",
         ours=["{build}/credence", "fit", model, "{data}", "--target", f"x{FEATURES + 1}", "--json"],
         peer=python(SKLEARN, "{data}", model), needs=("sklearn",),
         data=(f"classes-{ROWS}x{FEATURES}-{SEED}.npy", make),
         quality=largest_error, judge="lower", tolerance=1e-6, goal=2,
         scaling="124 MB are touched once, with few operations for each number: two cores share one memory")
    for model in ("lda", "qda", "naive-bayes")
]
