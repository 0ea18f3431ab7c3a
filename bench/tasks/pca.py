"""Principal components, ten of them, the fit alone: many rows by their moments, few rows in the dual; against the solvers
of scikit-learn that have the same eigenvalues.  Sparse rows are in sparse.py."""
import array
import random

from harness import Task, python
from npy import new_npy

SEED, FACTORS, COMPONENTS = 1, 20, 10
TALL, WIDE = (100_000, 500), (200, 20_000)


def maker(rows, columns):
    """Each column is one of twenty factors of different sizes, and noise, about a mean of its own."""
    def make(path):
        rng = random.Random(SEED)
        draw = rng.random
        means = [10 * draw() for _ in range(columns)]
        with new_npy(path, rows, columns) as f:
            for _ in range(rows):
                factors = [rng.gauss(0, 1 + k / FACTORS) for k in range(FACTORS)] * (columns // FACTORS)
                array.array("d", [m + z + 4 * draw() for m, z in zip(means, factors)]).tofile(f)
    return make


SKLEARN = """
import json, sys, time
import numpy
from sklearn.decomposition import PCA
X = numpy.load(sys.argv[1])
more = {"iterated_power": int(sys.argv[4])} if len(sys.argv) > 4 else {}
start = time.perf_counter()
model = PCA(int(sys.argv[3]), svd_solver=sys.argv[2], random_state=0, **more).fit(X)
print(json.dumps({"seconds": time.perf_counter() - start, "eigenvalues": float(model.explained_variance_.sum())}))
"""


def eigenvalues(said):
    if "eigenvalues" in said:
        return said["eigenvalues"]
    return sum(said["statistics"][f"eigenvalue(z{j + 1})"] for j in range(COMPONENTS))


def task(name, about, data, peer, **more):
    return Task(name=f"pca-{name}", about=f"pca, {COMPONENTS} components, {about}",
                ours=["{build}/credence", "fit", "pca", "{data}", "--features", "x*", "--scale", "none", "--components",
                      str(COMPONENTS), "--json"],
                peer=peer, needs=("sklearn",), data=data, quality=eigenvalues, judge="equal", tolerance=1e-8, **more)


def by_sklearn(solver, *more):
    return python(SKLEARN, "{data}", solver, str(COMPONENTS), *more)


TALL_FILE = (f"pca-{TALL[0]}x{TALL[1]}-{SEED}.npy", maker(*TALL))
WIDE_FILE = (f"pca-{WIDE[0]}x{WIDE[1]}-{SEED}.npy", maker(*WIDE))
TASKS = [
    task("tall-arpack", "1e5 rows x 500 (2.5e10 operations for the products), against arpack in scikit-learn", TALL_FILE,
         by_sklearn("arpack"), goal=2),
    task("tall-randomized", "1e5 rows x 500, against randomized in scikit-learn with the power that its eigenvalues need",
         TALL_FILE, by_sklearn("randomized", "12"), goal=2),
    task("wide", "200 rows x 2e4, against arpack in scikit-learn", WIDE_FILE, by_sklearn("arpack"), goal=1,
         scaling="a tenth of a second, of which the columns are described and named by one core"),
]
