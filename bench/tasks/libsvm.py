"""Reading sparse text: 100 MB of LIBSVM, 20000 columns, half of the values 1 and half with digits."""
import random

from harness import Task, python

SIZE, COLUMNS, SEED = 100_000_000, 20_000, 1


def make(path):
    """5 MB of different rows, over and over: parsers do not remember."""
    rng, rows, size = random.Random(SEED), [], 0
    while size < 5_000_000:
        places = sorted(rng.sample(range(1, COLUMNS + 1), rng.randint(5, 60)))
        rows.append(" ".join([rng.choice(("-1", "+1")), *(
            f"{j}:1" if rng.random() < 0.5 else f"{j}:{rng.gauss(0, 1):.6g}" for j in places)]))
        size += len(rows[-1]) + 1
    block = "\n".join(rows) + "\n"
    with open(path, "w", encoding="ascii") as f:
        for _ in range(SIZE // size):
            f.write(block)


SKLEARN = """
import json, sys, time
from sklearn.datasets import load_svmlight_file
start = time.perf_counter()
X, y = load_svmlight_file(sys.argv[1], zero_based=False)
print(json.dumps({"seconds": time.perf_counter() - start, "entries": X.nnz}))
"""

TASKS = [
    Task(name=f"libsvm-{threads}", about=f"read 100 MB of sparse LIBSVM text, threads: {threads}, "
                                         "against scikit-learn",
         ours=["{build}/bench/bench_libsvm", "{data}", "{threads}"], peer=python(SKLEARN, "{data}"),
         needs=("sklearn",), data=(f"sparse-{SIZE}-{SEED}.svm", make), quality="entries", threads=threads,
         goal=4) for threads in (1, 2)
]
