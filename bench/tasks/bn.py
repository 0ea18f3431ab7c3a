"""Bayesian networks from rows: the search of arcs against hill climbing with remembered scores in numpy, whose steps are
those of a textbook, and against what others took elsewhere; tables by EM where cells are missing.  bnlearn 4.9 took 0.24 s
(hill climbing) and 0.34 s (tabu) for alarm with 5000 rows, and reached a BIC of -54851 and -54826; aGrUM 3.1 0.09 to 0.13 s
for -54751; with 20000 rows they took 0.9 and 1.4 s for -212723 and -212625.  EM on survey took aGrUM 9.2 s."""
import pathlib
import random
import shutil

from harness import Task, python

KNOWN = pathlib.Path(__file__).resolve().parents[3] / "shared/data/bn"
SEED = 1

CLIMB = """
import json, sys, time
import numpy as np
names, *rows = (line.split(",") for line in open(sys.argv[1]).read().split())
start = time.perf_counter()
X = np.array(rows).T
codes = [np.unique(column, return_inverse=True)[1] for column in X]
levels = [column.max() + 1 for column in codes]
p, n, known = len(codes), X.shape[1], {}
def score(v, parents):
    if (v, parents) not in known:
        at, q = np.zeros(n, int), 1
        for u in parents:
            at, q = at * levels[u] + codes[u], q * levels[u]
        N = np.bincount(at * levels[v] + codes[v], minlength=q * levels[v]).reshape(q, levels[v])
        M = N.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            known[v, parents] = np.nansum(N * np.log(N / M)) - q * (levels[v] - 1) * np.log(n) / 2
    return known[v, parents]
def reaches(a, b):
    todo, seen = [a], {a}
    while todo:
        u = todo.pop()
        if u == b: return True
        for v in range(p):
            if u in parents[v] and v not in seen: seen.add(v); todo.append(v)
    return False
parents = [frozenset() for _ in range(p)]
while True:
    best, step = 1e-6, None
    for v in range(p):
        here = score(v, tuple(sorted(parents[v])))
        for u in range(p):
            if u == v: continue
            if u in parents[v]:
                drop = score(v, tuple(sorted(parents[v] - {u}))) - here
                turn = drop + score(u, tuple(sorted(parents[u] | {v}))) - score(u, tuple(sorted(parents[u])))
                if drop > best: best, step = drop, (u, v, "drop")
                if turn > best:
                    parents[v] -= {u}
                    if not reaches(u, v): best, step = turn, (u, v, "turn")
                    parents[v] |= {u}
            else:
                add = score(v, tuple(sorted(parents[v] | {u}))) - here
                if add > best and not reaches(v, u): best, step = add, (u, v, "add")
    if not step: break
    u, v, how = step
    parents[v] = parents[v] | {u} if how == "add" else parents[v] - {u}
    if how == "turn": parents[u] |= {v}
total = sum(score(v, tuple(sorted(parents[v]))) for v in range(p))
print(json.dumps({"seconds": time.perf_counter() - start, "bic": total}))
"""


def bic(said):
    return said["bic"] if "bic" in said else said["statistics"]["score.bic"]


def known(name):
    """A file of ../shared/data."""
    def make(path):
        shutil.copy(KNOWN / "learning" / name, path)
    return f"bn-{name}", make


def draw_table(rng, states, rows):
    for _ in range(rows):
        row = [rng.gammavariate(0.5, 1) for _ in range(states)]
        yield [x / sum(row) for x in row]


def network_rows(columns, rows):
    """A random network of up to three parents, two to four states."""
    def make(path):
        rng = random.Random(SEED)
        states = [rng.choice([2, 3, 4]) for _ in range(columns)]
        parents = [rng.sample(range(max(0, v - 30), v), min(v, rng.choice([0, 1, 1, 2, 2, 3]))) for v in range(columns)]
        tables = []
        for v in range(columns):
            size = 1
            for u in parents[v]:
                size *= states[u]
            tables.append(list(draw_table(rng, states[v], size)))
        with open(path, "w", encoding="utf-8") as f:
            f.write(",".join(f"v{v}" for v in range(columns)) + "\n")
            for _ in range(rows):
                x = []
                for v in range(columns):
                    row = 0
                    for u in parents[v]:
                        row = row * states[u] + x[u]
                    x.append(rng.choices(range(states[v]), tables[v][row])[0])
                f.write(",".join(f"s{s}" for s in x) + "\n")
    return f"bn-{columns}x{rows}-{SEED}.csv", make


def fit(*options):
    return ["{build}/credence", "fit", "bn", "{data}", "--json", "--threads", "{threads}", *options]


ALONE = "steps follow each other; what is shared out is the families of one step"

TASKS = [
    Task(name="bn-alarm-5000", about="arcs of alarm, 37 columns, 5000 rows, tabu search with 100 restarts, against hill "
         "climbing in numpy", ours=fit(), peer=python(CLIMB, "{data}"), needs=("numpy",), data=known("alarm_5000.csv"),
         quality=bic, judge="higher", goal=2, limit=0.1, scaling=ALONE),
    Task(name="bn-alarm-20000", about="the same with 20000 rows", ours=fit(), peer=python(CLIMB, "{data}"),
         needs=("numpy",), data=known("alarm_20000.csv"), quality=bic, judge="higher", goal=2, limit=0.45, scaling=ALONE),
    Task(name="bn-200", about="arcs of a random network, 200 columns, 10^4 rows, tabu search with 200 restarts, against hill climbing in "
         "numpy", ours=fit(), peer=python(CLIMB, "{data}"), needs=("numpy",),
         data=network_rows(200, 10_000), quality=bic, judge="higher", goal=2, scaling=ALONE),
    Task(name="bn-em-survey", about="tables of survey, 2000 rows with 15 % of the cells missing, EM from one start",
         ours=fit("--structure", str(KNOWN / "survey.bif"), "--prior", "none", "--restarts", "0", "--tol", "1e-12"),
         data=known("survey_missing15_2000.csv"), limit=0.18, scaling="a pass is 151 sums of a few terms"),
]
