"""Dense linear algebra, against OpenBLAS as numpy and scipy call it.

The driver: bench_dense WORK N THREADS prints {"work", "n", "threads", "seconds", "error"}, where error is
that of the result, relative to its size, as the driver checks it."""
from harness import Task, python

N = 3000

GEMM = """
import json, sys, time
import numpy
n = int(sys.argv[1])
rng = numpy.random.default_rng(1)
a, b, x = rng.standard_normal((n, n)), rng.standard_normal((n, n)), rng.standard_normal(n)
start = time.perf_counter()
c = a @ b
seconds = time.perf_counter() - start
error = numpy.linalg.norm(c @ x - a @ (b @ x)) / numpy.linalg.norm(c @ x)
print(json.dumps({"seconds": seconds, "error": error}))
"""

CHOL = """
import json, sys, time
import numpy, scipy.linalg
n = int(sys.argv[1])
rng = numpy.random.default_rng(1)
a = rng.standard_normal((n, n))
a = a @ a.T + n * numpy.eye(n)
start = time.perf_counter()
l = scipy.linalg.cholesky(a, lower=True, check_finite=False)
seconds = time.perf_counter() - start
x = rng.standard_normal(n)
error = numpy.linalg.norm(l @ (l.T @ x) - a @ x) / numpy.linalg.norm(a @ x)
print(json.dumps({"seconds": seconds, "error": error}))
"""


def driver(work, threads="{threads}"):
    return ["{build}/bench/bench_dense", work, str(N), threads]


def tasks_of(work, what, snippet, needs):
    common = {"quality": "error", "judge": "lower", "tolerance": 10}     # the same order of rounding
    for threads in (1, 2):
        yield Task(name=f"{work}-{threads}", about=f"{what}, n = {N}, threads: {threads}, against OpenBLAS",
                   ours=driver(work), peer=python(snippet, str(N)), needs=needs, threads=threads,
                   goal=0.9, **common)
    yield Task(name=f"{work}-scaling", about=f"{what}, n = {N}: two threads against one, both ours",
               ours=driver(work), peer=driver(work, "1"), threads=2, goal=1.7, **common)


TASKS = [*tasks_of("gemm", "product of two matrices", GEMM, ("numpy",)),
         *tasks_of("chol", "Cholesky factor", CHOL, ("numpy", "scipy"))]
