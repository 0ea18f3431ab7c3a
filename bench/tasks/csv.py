"""Reading CSV: long and short numbers, quoted texts, a mixture with missing values, gzip."""
import gzip
import pathlib
import random
import shutil

from harness import Task, python

SIZE, COLUMNS, SEED = 200_000_000, 10, 1


def write(path, row, columns, size):
    """10 MB of different rows, over and over: parsers do not remember."""
    rows, length = [], 0
    while length < 10_000_000:
        rows.append(",".join(row(j) for j in range(columns)))
        length += len(rows[-1]) + 1
    block = "\n".join(rows) + "\n"
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(f"x{j + 1}" for j in range(columns)) + "\n")
        for _ in range(size // length):
            f.write(block)


def make(path):
    rng = random.Random(SEED)
    write(path, lambda j: repr(rng.gauss(0, 1)) if j % 2 else f"{rng.uniform(-1000, 1000):.3f}", COLUMNS, SIZE)


def make_short(path):
    rng = random.Random(SEED)
    write(path, lambda j: f"{rng.uniform(-9, 9):.1f}" if j % 2 else str(rng.randrange(100)), COLUMNS, SIZE // 2)


def make_quoted(path):
    rng, words = random.Random(SEED), ["north", "south", "east", "upper, left", 'say ""x""', "a b c"]
    write(path, lambda j: f'"{rng.choice(words)}"' if j % 2 else f'"id{rng.randrange(5000)}"', 6, SIZE)


def make_mixed(path):
    rng = random.Random(SEED)

    def cell(j):
        if rng.random() < 0.1:
            return "NA" if j % 2 else ""
        return rng.choice(["red", "green", "blue"]) if j in (3, 7) else f"{rng.gauss(0, 10):.4f}"
    write(path, cell, COLUMNS, SIZE)


def make_gzip(path):
    make(f"{path}.part")
    with open(f"{path}.part", "rb") as text, gzip.open(path, "wb", 1) as packed:
        shutil.copyfileobj(text, packed, 1 << 20)
    pathlib.Path(f"{path}.part").unlink()


PANDAS = """
import json, sys, time
import pandas
start = time.perf_counter()
table = pandas.read_csv(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - start, "rows": len(table)}))
"""

# R's data.table by its own clock; the package unpacks gzip into a file first.
FREAD = """
import json, subprocess, sys
script = '''
library(data.table); setDTthreads(as.integer(commandArgs(TRUE)[2])); path <- commandArgs(TRUE)[1]
start <- proc.time()[["elapsed"]]
d <- if (endsWith(path, ".gz")) fread(cmd = paste("gzip -dc", path)) else fread(path)
cat(proc.time()[["elapsed"]] - start, nrow(d))
'''
said = subprocess.run(["Rscript", "-e", script, *sys.argv[1:]], capture_output=True, text=True, check=True).stdout
seconds, rows = said.split()
print(json.dumps({"seconds": float(seconds), "rows": int(rows)}))
"""

DATA = (f"numbers-{SIZE}-{SEED}.csv", make)


def against_pandas(name, about, ours, threads):
    return Task(name=name, about=f"{about}, against pandas", ours=ours, peer=python(PANDAS, "{data}"),
                needs=("pandas",), data=DATA, quality="rows", threads=threads, goal=4)


def against_fread(name, about, data, **more):
    return Task(name=name, about=f"read CSV: {about}, against data.table's fread by its own clock",
                ours=["{build}/bench/bench_csv", "{data}", "{threads}"],
                peer=python(FREAD, "{data}", "{threads}"), data=data, quality="rows", threads=2, goal=1.5, **more)


TASKS = [
    against_fread("csv-numbers", "200 MB of numbers", DATA),
    against_fread("csv-short", "100 MB of short numbers", (f"short-{SIZE}-{SEED}.csv", make_short)),
    against_fread("csv-quoted", "200 MB of quoted texts", (f"quoted-{SIZE}-{SEED}.csv", make_quoted)),
    against_fread("csv-mixed", "200 MB with missing values", (f"mixed-{SIZE}-{SEED}.csv", make_mixed)),
    against_fread("csv-gzip", "200 MB of numbers, packed", (f"numbers-{SIZE}-{SEED}.csv.gz", make_gzip),
                  scaling="unpacking is one stream, from which the other core is fed"),
    *(against_pandas(f"csv-{threads}", f"read 200 MB of numbers as CSV, threads: {threads}",
                     ["{build}/bench/bench_csv", "{data}", "{threads}"], threads) for threads in (1, 2)),
    against_pandas("describe", "describe 200 MB of CSV", ["{build}/credence", "describe", "{data}", "--json"], 2),
]
