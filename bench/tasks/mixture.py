"""Mixtures of Bernoulli distributions: the time of steps of EM against numpy, whose products of matrices are BLAS's."""
import array
import random

from harness import Task, python
from npy import new_npy

ROWS, COLUMNS, CLUSTERS, STEPS = 100_000, 64, 10, 30


def write_pixels(path):
    """Ten pictures of 64 pixels, each pixel black with its own probability."""
    rng = random.Random(7)
    pictures = [[rng.choice((0.35, 0.5, 0.65)) for _ in range(COLUMNS)] for _ in range(CLUSTERS)]
    with new_npy(path, ROWS, COLUMNS) as f:
        for row in range(ROWS):
            array.array("d", [float(rng.random() < p) for p in pictures[row % CLUSTERS]]).tofile(f)


# The time of STEPS steps, from that of a fit less that of one that ends after the first pass.
OURS = f"""
import json, subprocess, sys
program, path, threads = sys.argv[1:]

def fit(passes):
    said = subprocess.run([program, "fit", "mixture", path, "--k", "{CLUSTERS}", "--prior", "none", "--restarts", "1",
                           "--tol", "0", "--max-iter", str(passes), "--threads", threads, "--json"], check=True,
                          capture_output=True)
    return json.loads(said.stdout)

short, long = fit(1), fit({STEPS} + 1)
each = (long["seconds"] - short["seconds"]) / (long["iterations"] - 1)
print(json.dumps({{"seconds": {STEPS} * each, "log_likelihood": long["log_likelihood"]}}))
"""
# Two products of matrices and a stable log-sum-exp in place: what numpy can do best.
THEIRS = f"""
import json, sys, time
import numpy
X = numpy.load(sys.argv[1])
rng = numpy.random.default_rng(0)
p = 0.25 + 0.5 * X[rng.choice(len(X), {CLUSTERS}, replace=False)]
share = numpy.full({CLUSTERS}, 1 / {CLUSTERS})

def expect():
    r = X @ (numpy.log(p) - numpy.log1p(-p)).T
    r += numpy.log(share) + numpy.log1p(-p).sum(1)
    top = r.max(1, keepdims=True)
    r -= top
    numpy.exp(r, out=r)
    total = r.sum(1, keepdims=True)
    r /= total
    return r, float(top.sum() + numpy.log(total).sum())

start = time.perf_counter()
for step in range({STEPS}):
    r, log_likelihood = expect()
    n = r.sum(0)
    share = n / len(X)
    p = numpy.clip(r.T @ X / n[:, None], 1e-12, 1 - 1e-12)
seconds = time.perf_counter() - start
print(json.dumps({{"seconds": seconds, "log_likelihood": expect()[1]}}))
"""

TASKS = [
    Task(name="mixture-step", about=f"{STEPS} steps of EM, 1e5 rows x 64 yes-no columns, 10 components, against numpy "
                                    "with BLAS",
         ours=python(OURS, "{build}/credence", "{data}", "{threads}"), peer=python(THEIRS, "{data}"),
         needs=("numpy",), data=("mixture-100000x64-7.npy", write_pixels), quality="log_likelihood", judge="higher",
         tolerance=1e-3, goal=1.5),
]
