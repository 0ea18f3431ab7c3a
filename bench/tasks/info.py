"""Mutual information of all pairs of ten columns of numbers, by nearest neighbours."""
import random

from harness import Task, python

ROWS, COLUMNS, SEED = 5000, 10, 1


def make(path):
    """Columns that share one cause, each with noise of its own."""
    rng = random.Random(SEED)
    with open(path, "w") as f:
        f.write(",".join(f"x{j + 1}" for j in range(COLUMNS)) + "\n")
        for _ in range(ROWS):
            cause = rng.gauss(0, 1)
            f.write(",".join(repr(cause + (0.3 + 0.1 * j) * rng.gauss(0, 1)) for j in range(COLUMNS)) + "\n")


SKLEARN = """
import json, sys, time
import pandas
from sklearn.feature_selection import mutual_info_regression
X = pandas.read_csv(sys.argv[1]).to_numpy()
start = time.perf_counter()
total = sum(mutual_info_regression(X[:, :j], X[:, j], n_neighbors=3, random_state=0).sum()
            for j in range(1, X.shape[1]))
print(json.dumps({"seconds": time.perf_counter() - start, "total": total}))
"""


def total(said):
    """The sum over the pairs."""
    return said["total"] if "total" in said else sum(p["mutual"] for p in said.get("pairs", [])) or None


TASKS = [
    Task(name="mutual-matrix",
         about="mutual information of 45 pairs of columns, 5000 rows, k = 3, against scikit-learn",
         ours=["{build}/credence", "info", "{data}", "--matrix", "--unit", "nats", "--json"],
         peer=python(SKLEARN, "{data}"), needs=("pandas", "sklearn"),
         data=(f"info-{ROWS}x{COLUMNS}-{SEED}.csv", make),
         quality=total, judge="equal", tolerance=1e-3, goal=2),
]
