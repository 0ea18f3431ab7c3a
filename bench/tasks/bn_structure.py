"""Ways to find the arcs of Bayesian networks: classes, proofs, tests, posteriors and the bootstrap; against textbook versions in
numpy, and against what others took elsewhere.  On alarm with 5000 rows bnlearn 4.9 took 0.48 s for pc.stable (a structural
Hamming distance of 27), 0.13 s for mmhc (22) and 0.01 s for chow.liu; the best BIC of any search there was -54751, that of the
network the rows were drawn from is -54365."""
import pathlib
import random
import re
import shutil

from harness import Task, python

KNOWN = pathlib.Path(__file__).resolve().parents[3] / "shared/data/bn"
TRUE_BIC = {"alarm_5000.csv": -54364.82, "alarm_20000.csv": -211368.39}
SEED = 1

# PC-stable: G^2 with the degrees of freedom of the levels that occur, no orientation.
PC = """
import itertools, json, sys, time
import numpy as np
from scipy.stats import chi2
names, *rows = (line.split(",") for line in open(sys.argv[1]).read().split())
start = time.perf_counter()
X = np.array(rows).T
codes = [np.unique(column, return_inverse=True)[1] for column in X]
levels = [column.max() + 1 for column in codes]
p, n = len(codes), X.shape[1]
def independent(x, y, given):
    z, q = np.zeros(n, int), 1
    for u in given:
        z, q = z * levels[u] + codes[u], q * levels[u]
    if given:
        z = np.unique(z, return_inverse=True)[1]
        q = z.max() + 1
    N = np.bincount((z * levels[x] + codes[x]) * levels[y] + codes[y], minlength=q * levels[x] * levels[y])
    N = N.reshape(q, levels[x], levels[y]).astype(float)
    a, b, c = N.sum(2, keepdims=True), N.sum(1, keepdims=True), N.sum((1, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        g = 2 * np.nansum(N * np.log(N * c / (a * b)))
    df = (((a > 0).sum((1, 2)) - 1).clip(0) * ((b > 0).sum((1, 2)) - 1).clip(0)).sum()
    return df == 0 or chi2.sf(g, df) > 0.05
near = {x: set(range(p)) - {x} for x in range(p)}
k = 0
while any(len(near[x]) > k for x in near):
    before = {x: sorted(near[x]) for x in near}
    for x, y in itertools.combinations(range(p), 2):
        if y not in before[x]: continue
        sets = itertools.chain(itertools.combinations([u for u in before[x] if u != y], k),
                               itertools.combinations([u for u in before[y] if u != x], k) if k else ())
        if any(independent(x, y, given) for given in sets): near[x].discard(y), near[y].discard(x)
    k += 1
print(json.dumps({"seconds": time.perf_counter() - start,
                  "joined": [[names[x], names[y]] for x in near for y in near[x] if x < y]}))
"""

# Best networks of all sets of columns, one from another (Silander & Myllymaki 2006), every family scored.
EXACT = """
import json, sys, time
import numpy as np
names, *rows = (line.split(",") for line in open(sys.argv[1]).read().split())
start = time.perf_counter()
X = np.array(rows).T
codes = [np.unique(column, return_inverse=True)[1] for column in X]
levels = [int(column.max()) + 1 for column in codes]
p, n = len(codes), X.shape[1]
best = [[0.0] * (1 << p) for _ in range(p)]
for v in range(p):
    for s in range(1 << p):
        if s >> v & 1: continue
        at, q = np.zeros(n, int), 1
        for u in range(p):
            if s >> u & 1: at, q = at * levels[u] + codes[u], q * levels[u]
        at = np.unique(at, return_inverse=True)[1]
        N = np.bincount(at * levels[v] + codes[v], minlength=(at.max() + 1) * levels[v]).reshape(-1, levels[v])
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.nansum(N * np.log(N / N.sum(1, keepdims=True))) - q * (levels[v] - 1) * np.log(n) / 2
        best[v][s] = max([score] + [best[v][s & ~(1 << u)] for u in range(p) if s >> u & 1])
whole = [0.0] * (1 << p)
for w in range(1, 1 << p):
    whole[w] = max(whole[w & ~(1 << v)] + best[v][w & ~(1 << v)] for v in range(p) if w >> v & 1)
print(json.dumps({"seconds": time.perf_counter() - start, "bic": whole[-1]}))
"""


def bic(said):
    return said["bic"] if "bic" in said else said["statistics"]["score.bic"]


def true_pairs():
    text = (KNOWN / "alarm.bif").read_text()
    return {frozenset((child.strip(), parent.strip()))
            for child, parents in re.findall(r"probability\s*\(([^|)]*)\|([^)]*)\)", text)
            for parent in parents.split(",")}


def wrong_pairs(said):
    """Pairs that are joined and should not be, or the other way round."""
    joined = said["joined"] if "joined" in said else [(arc["from"], arc["to"]) for arc in said["arcs"]]
    return len(true_pairs() ^ {frozenset(pair) for pair in joined})


def known(name):
    """A file of ../shared/data."""
    def make(path):
        shutil.copy(KNOWN / "learning" / name, path)
    return f"bn-{name}", make


def chain_rows(columns, rows):
    """Columns of two or three states, each drawn from one or two before it."""
    def make(path):
        rng = random.Random(SEED)
        states = [rng.choice([2, 3]) for _ in range(columns)]
        parents = [rng.sample(range(v), min(v, rng.choice([1, 2]))) for v in range(columns)]
        tables = [[[rng.gammavariate(0.5, 1) for _ in range(states[v])] for _ in range(9)] for v in range(columns)]
        with open(path, "w", encoding="utf-8") as f:
            f.write(",".join(f"v{v}" for v in range(columns)) + "\n")
            for _ in range(rows):
                x = []
                for v in range(columns):
                    row = sum(3 ** i * x[u] for i, u in enumerate(parents[v]))
                    x.append(rng.choices(range(states[v]), tables[v][row])[0])
                f.write(",".join(f"s{s}" for s in x) + "\n")
    return f"bn-chain-{columns}x{rows}-{SEED}.csv", make


def fit(*options):
    return ["{build}/credence", "fit", "bn", "{data}", "--json", "--threads", "{threads}", *options]


ALONE = "steps follow each other; what is shared out is the families of one step"


def classes(name, limit):
    """Not better than the network that rows were drawn from: more than 0."""
    return Task(name=f"bn-ges-{name.split('_')[1].split('.')[0]}", about=f"equivalence classes of {name}, 100 restarts; the "
                "quality is how much BIC lacks of that of the true network", ours=fit("--structure", "ges"), data=known(name),
                quality=lambda said: TRUE_BIC[name] - bic(said), most=0, limit=limit, scaling=ALONE)


TASKS = [
    Task(name="bn-pc-alarm", about="PC-stable on alarm, 37 columns, 5000 rows, G2 tests, against the same in numpy; the quality is "
         "pairs joined wrongly or not at all", ours=fit("--structure", "pc"), peer=python(PC, "{data}"), needs=("numpy", "scipy"),
         data=known("alarm_5000.csv"), quality=wrong_pairs, judge="lower", goal=10, limit=0.24),
    classes("alarm_5000.csv", 0.4), classes("alarm_20000.csv", 0.9),
    Task(name="bn-exact-11", about="the best network of 11 columns, 1000 rows, against dynamic programming in numpy",
         ours=fit("--structure", "exact"), peer=python(EXACT, "{data}"), needs=("numpy",), data=chain_rows(11, 1000),
         quality=bic, judge="higher", tolerance=1e-12, goal=20, scaling="some hundredths of a second"),
    Task(name="bn-exact-24", about="the best network of 24 columns, 1000 rows, with the proof",
         ours=fit("--structure", "exact"), data=chain_rows(24, 1000), limit=30, scaling="half of it is one pass over all sets"),
    Task(name="bn-partition-alarm", about="four chains of 1000 partitions on alarm, 5000 rows; the quality is the largest R-hat",
         ours=fit("--structure", "partition-mcmc", "--criterion", "bdeu:1"), data=known("alarm_5000.csv"),
         quality=lambda said: said["statistics"]["rhat"], most=1.1, limit=15),
    Task(name="bn-bootstrap-alarm", about="100 replicates of tabu search on alarm, 5000 rows", limit=4,
         ours=fit("--bootstrap", "100"), data=known("alarm_5000.csv"), scaling=ALONE),
]
