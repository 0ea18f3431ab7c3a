"""Sparse precision matrices at one penalty, the fit alone: against glasso in R and graphical_lasso in scikit-learn, which
are given the covariance; ours makes it first.  The quality is what is minimised."""
import array
import random

from harness import Task, python
from npy import new_npy

SEED, ROWS = 1, 2_000


def maker(columns):
    """Each column follows a few before it."""
    def make(path):
        rng = random.Random(SEED)
        parents = [[(j - d, 0.8 * rng.random() - 0.3) for d in (1, 2, 7) if j >= d] for j in range(columns)]
        with new_npy(path, ROWS, columns) as f:
            for _ in range(ROWS):
                x = []
                for j in range(columns):
                    x.append(rng.gauss(0, 1) + sum(w * x[k] for k, w in parents[j]))
                array.array("d", x).tofile(f)
    return make


# The file has its numbers row by row behind a header of 128 bytes.
R = """
library(glasso)
a <- commandArgs(TRUE); p <- as.integer(a[2]); lambda <- as.numeric(a[3]); thr <- as.numeric(a[4])
f <- file(a[1], "rb"); invisible(readBin(f, "raw", 128))
X <- matrix(readBin(f, "double", 1e9), ncol = p, byrow = TRUE); close(f)
S <- cor(X)
t <- system.time(g <- glasso(S, lambda, thr = thr, penalize.diagonal = FALSE))[["elapsed"]]
T <- (g$wi + t(g$wi)) / 2
objective <- sum(S * T) - determinant(T)$modulus + lambda * (sum(abs(T)) - sum(diag(T)))
cat(sprintf('{"seconds": %.17g, "objective": %.17g}', t, objective))
"""

SKLEARN = """
import json, sys, time, warnings
import numpy
from sklearn.covariance import graphical_lasso
warnings.simplefilter("ignore")
S = numpy.corrcoef(numpy.load(sys.argv[1]).T)
start = time.perf_counter()
T = graphical_lasso(S, float(sys.argv[2]), tol=float(sys.argv[3]), max_iter=1000)[1]
seconds = time.perf_counter() - start
objective = (S * T).sum() - numpy.linalg.slogdet(T)[1] + float(sys.argv[2]) * (abs(T).sum() - T.trace())
print(json.dumps({"seconds": seconds, "objective": objective}))
"""


def objective(said):
    return said["objective"] if "objective" in said else said["statistics"]["objective"]


def task(columns, penalty, peer, needs, **more):
    return Task(ours=["{build}/credence", "fit", "glasso", "{data}", "--features", "*", "--lambda", str(penalty),
                      "--kept-folds", "1", "--stability", "0", "--tol", "1e-9", "--json"],
                peer=peer, needs=(needs,), data=(f"glasso-{ROWS}x{columns}-{SEED}.npy", maker(columns)),
                quality=objective, judge="lower", tolerance=1e-9, **more)


def tasks(columns, penalty, thr):
    about = f"glasso, {columns} columns, penalty {penalty}"
    return [
        task(columns, penalty, ["Rscript", "-e", R, "{data}", str(columns), str(penalty), thr], "R:glasso",
             name=f"glasso-{columns}", about=f"{about}, against glasso in R", goal=2),
        task(columns, penalty, python(SKLEARN, "{data}", str(penalty), "1e-4"), "sklearn",
             name=f"glasso-{columns}-sklearn", about=f"{about}, against graphical_lasso in scikit-learn", goal=2),
    ]


TASKS = [*tasks(200, 0.05, "1e-4"), *tasks(1000, 0.08, "1e-4")]
