"""Gram matrices of kernels and the gradient of the evidence, against scikit-learn's kernels."""
import array
import random

from harness import Task, python

N, N_GRADIENT, D = 4000, 2000, 10


def make(path):
    rng = random.Random(1)
    with open(path, "wb") as f:
        array.array("d", [rng.gauss(0, 1) for _ in range(N * D)]).tofile(f)


SKLEARN = """
import json, sys, time
import numpy
from sklearn.gaussian_process.kernels import RBF
what, n, d = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
X = numpy.fromfile(sys.argv[1])[:n * d].reshape(n, d)
w = numpy.cos(numpy.arange(n))
W = numpy.outer(w, w)
times = []
for _ in range(3):
    start = time.perf_counter()
    if what == "gram":
        K = RBF(1.5)(X)
    else:
        K, dK = RBF([1.5] * d)(X, eval_gradient=True)
        gradient = numpy.einsum("ij,ijk->k", W, dK)
    times.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(times)[1], "check": float(K.sum() if what == "gram" else gradient.sum())}))
"""


def task(what, n, threads, goal):
    return Task(name=f"kernel-{what}-{threads}", about=f"{what} of an rbf kernel, n = {n}, d = {D}",
                ours=["{build}/bench/bench_kernel", what, "{data}", str(n), str(D), "{threads}"],
                peer=python(SKLEARN, "{data}", what, str(n), str(D)), needs=("sklearn",),
                data=(f"kernel-{N}x{D}-1.f64", make), threads=threads, quality="check", tolerance=1e-8, goal=goal)


TASKS = [task("gram", N, 1, 3), task("gram", N, 2, 5), task("gradient", N_GRADIENT, 1, 5),
         task("gradient", N_GRADIENT, 2, 8)]
