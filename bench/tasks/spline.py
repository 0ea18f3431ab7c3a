"""A smoothing spline with lambda by generalised cross-validation, from a file to the fit."""
import array
import math
import random

from harness import Task, python
from npy import new_npy

ROWS, SEED = 3_000, 1  # of 20000 rows the peer says that the problem is ill-posed


def make(path):
    """[x y] as NPY: x uniform on 0..10 and increasing (the peer wants it so), y = sin x + noise."""
    rng = random.Random(SEED)
    with new_npy(path, ROWS, 2) as f:
        for x in sorted(rng.uniform(0, 10) for _ in range(ROWS)):
            array.array("d", [x, math.sin(x) + rng.gauss(0, 0.3)]).tofile(f)


SCIPY = """
import json, sys, time
import numpy
from scipy.interpolate import make_smoothing_spline
start = time.perf_counter()
x, y = numpy.load(sys.argv[1]).T.copy()
loaded = time.perf_counter()
f = make_smoothing_spline(x, y)
end = time.perf_counter()
print(json.dumps({"seconds": end - start, "fit_seconds": end - loaded,
                  "statistics": {"rss": float(((y - f(x)) ** 2).sum())}}))
"""


def distance(said):
    """How far the mean square of the residuals is from that of the noise, 0.09: more is a fit that misses the
    curve, less one that follows the noise."""
    rss = said.get("statistics", {}).get("rss")
    return abs(rss / ROWS - 0.09) if rss is not None else None


TASKS = [
    Task(name="spline", about=f"smoothing spline, lambda by GCV, {ROWS} rows from an NPY file, against SciPy",
         ours=["{build}/credence", "fit", "spline", "{data}", "--target", "x2", "--json"],
         peer=python(SCIPY, "{data}"), needs=("scipy",),
         data=(f"spline-{ROWS}-{SEED}.npy", make),
         quality=distance, judge="lower", tolerance=1e-3, goal=2),
]
