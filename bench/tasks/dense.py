"""Dense linear algebra, against raw BLAS and LAPACK with as many threads."""
from harness import Contest

N = 3000
RAW = {"gemm": "cblas_dgemm", "syrk": "cblas_dsyrk", "gram": "cblas_dsyrk tall", "chol": "dpotrf",
       "chol_solve": "dpotrs", "chol_inverse": "dpotri"}


def lines():
    for ours, raw in RAW.items():
        for threads in (1, 2):
            yield (f"{ours}-{threads}", {"task": ours, "threads": threads}, {"task": raw, "threads": threads}, 0.77)
    for ours in ("gemm", "chol"):
        yield (f"{ours}-scaling", {"task": ours, "threads": 2}, {"task": ours, "threads": 1}, 1.7)


TASKS = [Contest(name="dense", about=f"n = {N}", driver=["{build}/bench/bench_dense", str(N)], lines=[*lines()])]
