"""Reading numbers from text: 200 MB of CSV, ten columns."""
import random

from harness import Task, python

SIZE, COLUMNS, SEED = 200_000_000, 10, 1


def make(path):
    """10 MB of different rows, over and over: parsers do not remember."""
    rng, rows, size = random.Random(SEED), [], 0
    while size < 10_000_000:
        rows.append(",".join(repr(rng.gauss(0, 1)) if j % 2 else f"{rng.uniform(-1000, 1000):.3f}"
                             for j in range(COLUMNS)))
        size += len(rows[-1]) + 1
    block = "\n".join(rows) + "\n"
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(f"x{j + 1}" for j in range(COLUMNS)) + "\n")
        for _ in range(SIZE // size):
            f.write(block)


PANDAS = """
import json, sys, time
import pandas
start = time.perf_counter()
table = pandas.read_csv(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - start, "rows": len(table)}))
"""

DATA = (f"numbers-{SIZE}-{SEED}.csv", make)


def against_pandas(name, about, ours, threads):
    return Task(name=name, about=f"{about}, against pandas", ours=ours, peer=python(PANDAS, "{data}"),
                needs=("pandas",), data=DATA, quality="rows", threads=threads, goal=4)


TASKS = [
    *(against_pandas(f"csv-{threads}", f"read 200 MB of numbers as CSV, threads: {threads}",
                     ["{build}/bench/bench_csv", "{data}", "{threads}"], threads) for threads in (1, 2)),
    against_pandas("describe", "describe 200 MB of CSV", ["{build}/credence", "describe", "{data}", "--json"], 2),
]
