"""Trees, boosted stumps and nearest neighbours, from a file to a fitted model, against scikit-learn."""
import array
import math
import random

from harness import Task, python
from npy import new_npy


def write_npy(path, rows, count, width):
    with new_npy(path, count, width) as f:
        for row in rows:
            array.array("d", row).tofile(f)


def draw(rows, features, classes):
    """Normal features; a target that waves along the first and has a product of the next two; or its
    class."""
    rng = random.Random(3)
    for _ in range(rows):
        x = [rng.gauss(0, 1) for _ in range(features)]
        y = math.sin(2 * x[0]) + x[1] * x[2] + 0.5 * rng.gauss(0, 1)
        yield [*x, float(y > 0) if classes else y]


def maker(rows, features, classes=False):
    return (f"trees-{rows}x{features}-{'classes' if classes else 'numbers'}-3.npy",
            lambda path: write_npy(path, draw(rows, features, classes), rows, features + 1))


HEAD = """
import json, sys, time
import numpy
from sklearn.ensemble import AdaBoostClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
data = numpy.load(sys.argv[1])
start = time.perf_counter()
X, y = data[:, :-1], data[:, -1]
"""
TREE = HEAD + """
model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
print(json.dumps({"seconds": time.perf_counter() - start, "statistics": {"leaves": int(model.get_n_leaves())}}))
"""
BOOST = HEAD + """
model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, algorithm="SAMME").fit(X, y)
print(json.dumps({"seconds": time.perf_counter() - start,
                  "statistics": {"last_weighted_error": float(model.estimator_errors_[-1])}}))
"""
GRADIENT = HEAD + """
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
model = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.1, max_depth=3, max_leaf_nodes=8,
                                       min_samples_leaf=20, early_stopping=False).fit(X, y)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "statistics": {"training_loss": log_loss(y, model.predict_proba(X))}}))
"""
STUMPS = GRADIENT.replace("max_depth=3, max_leaf_nodes=8", "max_leaf_nodes=2")
FEW_ROUNDS = BOOST.replace("n_estimators=100", "n_estimators=10")
# Unpruned trees on all rows and on a quarter of them: by which power of the rows the CPU time grows.
EXPONENT = """
import json, math, resource, subprocess, sys, tempfile, time
import numpy
program, path, threads = sys.argv[1:]
data = numpy.load(path)

def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

def grow(rows):
    with tempfile.NamedTemporaryFile(suffix=".npy") as f:
        numpy.save(f, data[:rows])
        f.flush()
        before = cpu()
        said = subprocess.run([program, "fit", "tree", f.name, "--target", "x21", "--prune", "none", "--min-leaf", "5",
                               "--min-split", "2", "--threads", threads, "--json"], check=True, capture_output=True)
        return json.loads(said.stdout)["seconds"], cpu() - before

small, large = grow(len(data) // 4), grow(len(data))
print(json.dumps({"seconds": large[0], "exponent": math.log(large[1] / small[1]) / math.log(4)}))
"""


def write_levels(path):
    """A category of 5000 levels, each with a mean of its own, beside three numbers."""
    rng = random.Random(4)
    mean = [rng.gauss(0, 1) for _ in range(5000)]
    with open(path, "w") as f:
        f.write("g,x,z,u,y\n")
        for _ in range(100_000):
            level, x, z, u = rng.randrange(5000), rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)
            f.write(f"g{level},{x:.4f},{z:.4f},{u:.4f},{mean[level] + x * z + 0.5 * rng.gauss(0, 1):.4f}\n")


NEIGHBOURS = HEAD + """
Z = (X - X.mean(0)) / X.std(0)
near = NearestNeighbors(n_neighbors=63, n_jobs=-1).fit(Z).kneighbors(return_distance=False)
means = numpy.cumsum(y[near], axis=1) / numpy.arange(1, 64)
loss = ((y[:, None] - means) ** 2).mean(0)
print(json.dumps({"seconds": time.perf_counter() - start, "statistics": {"loo_mse": float(loss[3:].min())}}))
"""


def statistic(name):
    return lambda said: said.get("statistics", {}).get(name)


TASKS = [
    Task(name="tree", about="regression tree, 1e5 rows x 20 features, leaves of 5 rows, against scikit-learn",
         ours=["{build}/credence", "fit", "tree", "{data}", "--target", "x21", "--prune", "none",
               "--min-leaf", "5", "--min-split", "2", "--json"],
         peer=python(TREE, "{data}"), needs=("sklearn",), data=maker(100_000, 20),
         quality=statistic("leaves"), judge="equal", tolerance=0.001, goal=2),
    Task(name="adaboost", about="100 boosted stumps, 2e4 rows x 20 features, two classes, against scikit-learn",
         ours=["{build}/credence", "fit", "adaboost", "{data}", "--target", "x21", "--task", "classification",
               "--rounds", "100", "--json"],
         peer=python(BOOST, "{data}"), needs=("sklearn",), data=maker(20_000, 20, classes=True),
         quality=statistic("last_weighted_error"), judge="equal", tolerance=0.01, goal=5),
    Task(name="adaboost-1e6", about="10 boosted stumps, 1e6 rows x 9 features, two classes, against scikit-learn",
         ours=["{build}/credence", "fit", "adaboost", "{data}", "--target", "x10", "--task", "classification",
               "--rounds", "10", "--json"],
         peer=python(FEW_ROUNDS, "{data}"), needs=("sklearn",), data=maker(1_000_000, 9, classes=True),
         quality=statistic("last_weighted_error"), judge="equal", tolerance=0.01, goal=5,
         scaling="half of its time is once and not in the rounds: columns are sorted into bins, nine for two cores, in memory "
         "that is used for the first time"),
    Task(name="boosting-1e6", about="gradient boosting, 100 trees of depth 3, 1e6 rows x 9 features, two classes, "
                                    "against scikit-learn's histograms",
         ours=["{build}/credence", "fit", "adaboost", "{data}", "--target", "x10", "--task", "classification",
               "--form", "gradient", "--depth", "3", "--min-leaf", "20", "--rounds", "100", "--json"],
         peer=python(GRADIENT, "{data}"), needs=("sklearn",), data=maker(1_000_000, 9, classes=True),
         quality=statistic("training_loss"), judge="lower", tolerance=0.01, goal=1),
    Task(name="stumps-1e6", about="gradient boosting, 100 stumps, 1e6 rows x 9 features, two classes, against "
                                  "scikit-learn's histograms",
         ours=["{build}/credence", "fit", "adaboost", "{data}", "--target", "x10", "--task", "classification",
               "--form", "gradient", "--depth", "1", "--min-leaf", "20", "--rounds", "100", "--json"],
         peer=python(STUMPS, "{data}"), needs=("sklearn",), data=maker(1_000_000, 9, classes=True),
         quality=statistic("training_loss"), judge="lower", tolerance=0.01, goal=1),
    Task(name="tree-exponent", about="regression tree, 4e5 rows x 20 features, and by which power of the rows its time "
                                     "has grown from 1e5",
         ours=python(EXPONENT, "{build}/credence", "{data}", "{threads}"), needs=("numpy",),
         data=maker(400_000, 20), quality="exponent", limit=10, scaling=None, most=1.2),
    Task(name="category-5000", about="regression tree, 1e5 rows, a category of 5000 levels and three numbers",
         ours=["{build}/credence", "fit", "tree", "{data}", "--target", "y", "--prune", "none", "--json"],
         data=("trees-category-5000-4.csv", write_levels), quality=statistic("leaves"), limit=10,
         scaling="one column of four has 5000 levels, and nearly all the work"),
    Task(name="knn", about="k of 4 to 63 by leave-one-out, 5e4 rows x 4 features, against scikit-learn",
         ours=["{build}/credence", "fit", "knn", "{data}", "--target", "x5", "--k", "auto", "--json"],
         peer=python(NEIGHBOURS, "{data}"), needs=("sklearn",), data=maker(50_000, 4),
         quality=statistic("loo_mse"), judge="equal", tolerance=1e-9, goal=1),
]
