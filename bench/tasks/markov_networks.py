"""Markov networks: a log-linear model of given tables against loglin in R, which fits them by iterative proportional
fitting of the whole table; the neighbours of spins against L1-penalised logistic regressions in scikit-learn, both
judged by how many of the edges are right; and restricted Boltzmann machines against BernoulliRBM in scikit-learn, judged
by the log likelihood per row, Z being a sum over 2^12 states for both."""
import math
import random

from harness import Task, python

SEED = 1


def table(path):
    """Eight columns of three states, each following the one before it."""
    rng = random.Random(SEED)
    with open(path, "w") as f:
        f.write(",".join("abcdefgh") + "\n")
        for _ in range(100_000):
            x = []
            for j in range(8):
                x.append(rng.randrange(3) if j == 0 or rng.random() < 0.5 else x[-1])
            f.write(",".join(f"s{k}" for k in x) + "\n")


def spins(path):
    """A chain of 100 spins."""
    rng = random.Random(SEED)
    with open(path, "w") as f:
        f.write(",".join(f"x{j}" for j in range(100)) + "\n")
        for _ in range(1000):
            x = [rng.random() < 0.5]
            while len(x) < 100:
                x.append(rng.random() < 1 / (1 + math.exp(-1.2 if x[-1] else 1.2)))
            f.write(",".join(str(int(k)) for k in x) + "\n")


def patterns(path):
    """64 pixels in which up to six patterns are on."""
    rng = random.Random(SEED)
    shapes = [[rng.random() < 0.25 for _ in range(64)] for _ in range(6)]
    with open(path, "w") as f:
        f.write(",".join(f"p{j}" for j in range(64)) + "\n")
        for _ in range(5000):
            on = [s for s in shapes if rng.random() < 0.4]
            f.write(",".join(str(int((rng.random() < 0.95) == any(s[j] for s in on))) for j in range(64)) + "\n")


LOGLIN = """
a <- commandArgs(TRUE)
d <- read.csv(a[1], stringsAsFactors = TRUE)
t <- system.time({ n <- table(d); m <- loglin(n, lapply(1:7, function(i) c(i, i + 1)), fit = TRUE, eps = 1e-6,
                                              iter = 1000, print = FALSE) })[["elapsed"]]
p <- m$fit / sum(m$fit)
cat(sprintf('{"seconds": %.17g, "log_likelihood": %.17g}', t, sum(n[n > 0] * log(p[n > 0]))))
"""

LOGISTIC = """
import json, math, sys, time, warnings
import numpy
from sklearn.linear_model import LogisticRegression
warnings.simplefilter("ignore")
X = numpy.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
n, p = X.shape
start = time.perf_counter()
found = numpy.zeros((p, p), bool)
for v in range(p):
    others = numpy.delete(numpy.arange(p), v)
    best = math.inf
    largest = abs((X[:, others] - X[:, others].mean(0)).T @ (X[:, v] - X[:, v].mean())).max()
    for k in range(1, 26):
        fit = LogisticRegression(penalty="l1", solver="liblinear", C=1 / (largest * 0.02 ** (k / 25)), intercept_scaling=100,
                                 tol=1e-4).fit(X[:, others], X[:, v])
        f = fit.decision_function(X[:, others])
        used = numpy.flatnonzero(fit.coef_[0])
        score = 2 * numpy.logaddexp(0, numpy.where(X[:, v] > 0, -f, f)).sum() + len(used) * (math.log(n) + math.log(p - 1))
        if score < best:
            best, found[v] = score, False
            found[v, others[used]] = True
seconds = time.perf_counter() - start
both = found & found.T
print(json.dumps({"seconds": seconds, "edges": [[f"x{i}", f"x{j}"] for i in range(p) for j in range(i + 1, p) if both[i, j]]}))
"""

RBM = """
import json, sys, time
import numpy
from sklearn.neural_network import BernoulliRBM
X = numpy.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
start = time.perf_counter()
m = BernoulliRBM(n_components=12, learning_rate=0.05, batch_size=64, n_iter=30, random_state=0).fit(X)
seconds = time.perf_counter() - start
W, b, c = m.components_, m.intercept_visible_, m.intercept_hidden_
H = (numpy.arange(4096)[:, None] >> numpy.arange(12)) & 1
log_z = numpy.logaddexp.reduce(H @ c + numpy.logaddexp(0, b + H @ W).sum(1))
print(json.dumps({"seconds": seconds, "mean": float((X @ b + numpy.logaddexp(0, c + X @ W.T).sum(1)).mean() - log_z)}))
"""


def right_edges(said):
    """The share of edges that are right or not there: the harmonic mean of precision and recall."""
    edges = {tuple(e) for e in said["edges"]} if isinstance(said["edges"][0], list) else {(e["a"], e["b"]) for e in said["edges"]}
    right = sum(int(b[1:]) == int(a[1:]) + 1 for a, b in edges)
    return 2 * right / (99 + len(edges))


def mean(said):
    return said["mean"] if "mean" in said else said["statistics"]["mean_log_likelihood"]


PAIRS = ",".join(f"{a}+{b}" for a, b in zip("abcdefg", "bcdefgh"))

TASKS = [
    Task(name="loglinear-8", about="log-linear model of 7 pairs of 8 columns of 3 states, 1e5 rows, against loglin in R",
         ours=["{build}/credence", "fit", "loglinear", "{data}", "--cliques", PAIRS, "--l2", "0", "--tol", "1e-8", "--json"],
         peer=["Rscript", "-e", LOGLIN, "{data}"], needs=("R:stats",), data=("loglinear-8-1.csv", table),
         quality="log_likelihood", judge="higher", tolerance=1e-9, goal=1,
         scaling="most of the time goes into reading the file"),
    Task(name="ising-100", about="neighbours among 100 spins by EBIC, 1000 rows, against L1 logistic regressions in scikit-learn",
         ours=["{build}/credence", "fit", "ising", "{data}", "--json"], peer=python(LOGISTIC, "{data}"), needs=("sklearn",),
         data=("ising-100-1.csv", spins), quality=right_edges, judge="higher", goal=2),
    Task(name="rbm-64", about="restricted Boltzmann machine, 64 columns, 12 units, 5000 rows, against BernoulliRBM",
         ours=["{build}/credence", "fit", "rbm", "{data}", "--hidden", "12", "--epochs", "30", "--json"],
         peer=python(RBM, "{data}"), needs=("sklearn",), data=("rbm-64-1.csv", patterns), quality=mean, judge="higher",
         goal=1),
]
