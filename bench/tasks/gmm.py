"""Gaussian mixtures: the time of steps of EM against scikit-learn, and of a choice among all forms and numbers of
components against mclust."""
import array
import pathlib
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

IRIS = pathlib.Path(__file__).resolve().parents[2] / "examples/iris.csv"
CHOICE_ROWS, CHOICE_COLUMNS = 2000, 5


def write_iris(path):
    """The four measurements of iris."""
    rows = [line.split(",")[:4] for line in IRIS.read_text().splitlines()]
    pathlib.Path(path).write_text("".join(",".join(row) + "\n" for row in rows))


def write_choice(path):
    """Four overlapping clusters with covariances of their own, as CSV."""
    rng = random.Random(7)
    means = [[1.5 * rng.gauss(0, 1) for _ in range(CHOICE_COLUMNS)] for _ in range(4)]
    turns = [[[(i == j) * rng.uniform(0.5, 1.5) + 0.4 * rng.gauss(0, 1) for j in range(CHOICE_COLUMNS)]
              for i in range(CHOICE_COLUMNS)] for _ in range(4)]
    lines = [",".join(f"x{j + 1}" for j in range(CHOICE_COLUMNS))]
    for row in range(CHOICE_ROWS):
        z = [rng.gauss(0, 1) for _ in range(CHOICE_COLUMNS)]
        at = min(row % 10 // 2, 3)
        lines.append(",".join(repr(m + sum(a * b for a, b in zip(turn, z)))
                              for m, turn in zip(means[at], turns[at])))
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


# Both maximise the likelihood: mclust from one hierarchical start of each candidate, ours from that and, for those near
# the lowest BIC, up to four others, as by default.  BIC in the sign in which lower is better.
MCLUST = """
suppressMessages(library(mclust))
x <- as.matrix(read.csv(commandArgs(TRUE)[1]))
start <- proc.time()[3]
fit <- Mclust(x, G = 1:9, verbose = FALSE)
seconds <- proc.time()[3] - start
cat(sprintf('{"seconds": %.6f, "bic": %.10f, "form": "%s", "components": %d}', seconds, -fit$bic, fit$modelName, fit$G))
"""


def bic(said):
    return said["statistics"]["bic"] if "statistics" in said else said.get("bic")


def choice(name, rows, data, scaling):
    return Task(name=name, about=f"the lowest BIC of all forms with 1 to 9 components, {rows}, against mclust",
                ours=["{build}/credence", "fit", "gmm", "{data}", "--k", "1:9", "--covariance", "auto", "--prior",
                      "none", "--threads", "{threads}", "--json"],
                peer=["Rscript", "-e", MCLUST, "{data}"], needs=("R:mclust",), data=data, quality=bic, judge="lower",
                tolerance=1e-6, goal=1, scaling=scaling)


TASKS = [
    choice("gmm-choice-iris", "iris", ("gmm-iris.csv", write_iris),
           "a step is shared out in blocks of 256 rows, and 150 rows are one of them: one thread takes it"),
    choice("gmm-choice", f"{CHOICE_ROWS} rows x {CHOICE_COLUMNS} columns",
           (f"gmm-{CHOICE_ROWS}x{CHOICE_COLUMNS}-7.csv", write_choice),
           "half of it is shared out; short runs that starts are chosen by, swaps and the solution of each step are one "
           "thread's work"),
    Task(name="gmm-step", about=f"{STEPS} steps of EM, full covariances, 2e5 rows x 10 columns, 10 components, against "
                                "scikit-learn",
         ours=python(OURS, "{build}/credence", "{data}", "{threads}"), peer=python(THEIRS, "{data}"),
         needs=("sklearn",), data=("gmm-200000x10-5.npy", write_clusters), quality="log_likelihood", judge="higher",
         tolerance=1e-3, goal=3),
]
