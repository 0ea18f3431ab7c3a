"""Least squares and ridge on a million rows of 50 features: the fit alone, as the clock of either side has it."""
import array
import random

from harness import Task, python
from npy import new_npy

ROWS, FEATURES, SEED = 1_000_000, 50, 1
INTERCEPT = 3.0
WEIGHTS = [(-1) ** j * (j + 1) / FEATURES for j in range(FEATURES)]


def make(path):
    """[x1 ... x50 y] as NPY, y = 3 + x.w + noise.  Rows are drawn from a pool of 20000 different ones;
    the noise is new in each."""
    rng = random.Random(SEED)
    pool = [[rng.gauss(0, 1) for _ in range(FEATURES)] for _ in range(20_000)]
    means = [INTERCEPT + sum(x * w for x, w in zip(row, WEIGHTS)) for row in pool]
    with new_npy(path, ROWS, FEATURES + 1) as f:
        for i in range(ROWS):
            k = i % len(pool)
            array.array("d", [*pool[k], means[k] + rng.gauss(0, 0.5)]).tofile(f)


# What fits is put in where it says FITTED; scikit-learn's own choice for dense rows is Cholesky's.
SKLEARN = """
import json, sys, time
import numpy
from sklearn.linear_model import LinearRegression, Ridge
data = numpy.load(sys.argv[1])
start = time.perf_counter()
model = FITTED.fit(data[:, :-1], data[:, -1])
end = time.perf_counter()
names = ["intercept", *(f"x{j + 1}" for j in range(data.shape[1] - 1))]
print(json.dumps({"seconds": end - start, "parameters": [
    {"name": n, "value": v} for n, v in zip(names, [model.intercept_, *model.coef_])]}))
"""


def largest_error(said):
    """The largest distance of a coefficient from the one the data were made with."""
    truth = {"intercept": INTERCEPT} | {f"x{j + 1}": w for j, w in enumerate(WEIGHTS)}
    got = {p["name"]: p["value"] for p in said.get("parameters", [])}
    return max(abs(got[name] - value) for name, value in truth.items()) if truth.keys() <= got.keys() else None


def sklearn(fitted):
    return python(SKLEARN.replace("FITTED", fitted), "{data}")


# The least that any least squares from cross-products does: load, and one product of the matrix.
NUMPY = """
import json, sys, time
import numpy
start = time.perf_counter()
data = numpy.load(sys.argv[1])
gram = data.T @ data
print(json.dumps({"seconds": time.perf_counter() - start, "trace": gram.trace()}))
"""

# One read of every number: the bandwidth of the memory, and with it the least time of any fit.
SUM = """
import json, sys, time
import numpy
data = numpy.load(sys.argv[1])
start = time.perf_counter()
total = data.sum()
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "total": total, "gb_per_second": data.nbytes / seconds / 1e9}))
"""

ONCE = "400 MB are touched once: the pages of the file are mapped, and memory read, for both cores by one machine"

TASKS = [
    Task(name="linear-npy", about="least squares, 1e6 rows x 50 features from NPY, the whole process, against numpy's X'X",
         ours=["{build}/credence", "fit", "linear", "{data}", "--target", f"x{FEATURES + 1}", "--json"],
         peer=python(NUMPY, "{data}"), needs=("numpy",), clock="wall",
         data=(f"linear-{ROWS}x{FEATURES}-{SEED}.npy", make), goal=1.5, scaling=ONCE),
    Task(name="ridge-npy", about="ridge, 1e6 rows x 50 features from NPY, the whole process, against numpy's X'X",
         ours=["{build}/credence", "fit", "ridge", "{data}", "--target", f"x{FEATURES + 1}", "--json"],
         peer=python(NUMPY, "{data}"), needs=("numpy",), clock="wall",
         data=(f"linear-{ROWS}x{FEATURES}-{SEED}.npy", make), goal=1.5, scaling=ONCE),
    Task(name="linear-bandwidth", about="least squares, 1e6 rows x 50 features, the fit alone: the ratio is its share of "
         "the speed of memory, a plain sum over the array by one core",
         ours=["{build}/credence", "fit", "linear", "{data}", "--target", f"x{FEATURES + 1}", "--json"],
         peer=python(SUM, "{data}"), needs=("numpy",),
         data=(f"linear-{ROWS}x{FEATURES}-{SEED}.npy", make), scaling=ONCE),
    Task(name="linear", about="least squares, 1e6 rows x 50 features, the fit alone, against scikit-learn",
         ours=["{build}/credence", "fit", "linear", "{data}", "--target", f"x{FEATURES + 1}", "--json"],
         peer=sklearn("LinearRegression(copy_X=False)"), needs=("sklearn",),
         data=(f"linear-{ROWS}x{FEATURES}-{SEED}.npy", make),
         quality=largest_error, judge="lower", tolerance=1e-6, goal=2, scaling=ONCE),
    Task(name="ridge", about="ridge, 1e6 rows x 50 features, the fit alone, against scikit-learn",
         ours=["{build}/credence", "fit", "ridge", "{data}", "--target", f"x{FEATURES + 1}", "--scale", "none",
               "--lambda", "1", "--json"],
         peer=sklearn("Ridge(alpha=1, copy_X=False)"), needs=("sklearn",),
         data=(f"linear-{ROWS}x{FEATURES}-{SEED}.npy", make),
         quality=largest_error, judge="lower", tolerance=1e-6, goal=2, scaling=ONCE),
]
