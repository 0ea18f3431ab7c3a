"""Gaussian mixtures: the time of steps of EM against scikit-learn."""
import array
import random

from harness import Task, python
from npy import new_npy

ROWS, COLUMNS, CLUSTERS, STEPS = 200_000, 10, 10, 30


def write_clusters(path):
    """Ten overlapping clusters, each with its own mean and covariance."""
    rng = random.Random(5)
    means = [[2 * rng.gauss(0, 1) for _ in range(COLUMNS)] for _ in range(CLUSTERS)]
    turns = [[[(i == j) + 0.2 * rng.gauss(0, 1) for j in range(COLUMNS)] for i in range(COLUMNS)]
             for _ in range(CLUSTERS)]
    with new_npy(path, ROWS, COLUMNS) as f:
        for row in range(ROWS):
            mean, turn = means[row % CLUSTERS], turns[row % CLUSTERS]
            z = [rng.gauss(0, 1) for _ in range(COLUMNS)]
            array.array("d", [m + sum(a * b for a, b in zip(line, z)) for m, line in zip(mean, turn)]).tofile(f)


# The time of STEPS steps, from that of a fit less that of one that ends after the first step or pass.
OURS = f"""
import json, subprocess, sys
program, path, threads = sys.argv[1:]

def fit(passes):
    said = subprocess.run([program, "fit", "gmm", path, "--k", "{CLUSTERS}", "--prior", "none", "--restarts", "1", "--tol",
                           "0", "--max-iter", str(passes), "--threads", threads, "--json"], check=True,
                          capture_output=True)
    return json.loads(said.stdout)

short, long = fit(1), fit({STEPS} + 1)
each = (long["seconds"] - short["seconds"]) / (long["iterations"] - 1)
print(json.dumps({{"seconds": {STEPS} * each, "log_likelihood": long["log_likelihood"]}}))
"""
THEIRS = f"""
import json, sys, time, warnings
import numpy
from sklearn.mixture import GaussianMixture
warnings.simplefilter("ignore")
X = numpy.load(sys.argv[1])

def fit(steps):
    start = time.perf_counter()
    model = GaussianMixture({CLUSTERS}, tol=0, max_iter=steps, init_params="k-means++", random_state=0).fit(X)
    return time.perf_counter() - start, model

(short, _), (long, model) = fit(1), fit({STEPS} + 1)
each = (long - short) / (model.n_iter_ - 1)
print(json.dumps({{"seconds": {STEPS} * each, "log_likelihood": float(model.score_samples(X).sum())}}))
"""

TASKS = [
    Task(name="gmm-step", about=f"{STEPS} steps of EM, full covariances, 2e5 rows x 10 columns, 10 components, against "
                                "scikit-learn",
         ours=python(OURS, "{build}/credence", "{data}", "{threads}"), peer=python(THEIRS, "{data}"),
         needs=("sklearn",), data=("gmm-200000x10-5.npy", write_clusters), quality="log_likelihood", judge="higher",
         tolerance=1e-3, goal=3),
]
