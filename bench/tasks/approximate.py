"""Approximate marginals of a grid of spins, 14 x 14 with couplings up to 1, against loopy belief propagation in numpy.

The error is the mean distance of the marginals from the exact ones, which a junction tree has."""
import math
import random

from harness import Task, python

SIDE, SEED = 14, 1


def make(path):
    rng, tables = random.Random(SEED), []
    for v in range(SIDE * SIDE):
        tables.append(([v], [math.exp(rng.gauss(0, 0.3)) for _ in range(2)]))
        for u in ([v + 1] if v % SIDE < SIDE - 1 else []) + ([v + SIDE] if v < SIDE * (SIDE - 1) else []):
            c = rng.uniform(-1, 1)
            tables.append(([v, u], [math.exp(c), math.exp(-c), math.exp(-c), math.exp(c)]))
    with open(path, "w") as f:
        f.write(f"MARKOV\n{SIDE * SIDE}\n{' '.join('2' * (SIDE * SIDE))}\n{len(tables)}\n")
        f.writelines(" ".join(map(str, [len(s), *s])) + "\n" for s, _ in tables)
        f.writelines(f"{len(t)} " + " ".join(map(repr, t)) + "\n" for _, t in tables)


TRUTH = """
import json, subprocess, sys, time
def ask(*more):
    done = subprocess.run([sys.argv[1] + "/credence", "query", sys.argv[2], "P(*)", "--json", "--quiet", *more],
                          capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    return [p["1"] for p in said["results"][0]["marginals"].values()], said["seconds"]
def show(p, seconds):
    exact, _ = ask("--method", "exact")
    print(json.dumps({"seconds": seconds, "error": sum(abs(a - b) for a, b in zip(p, exact)) / len(exact)}))
"""

OURS = TRUTH + """
show(*ask(*sys.argv[3:]))
"""

NUMPY = TRUTH + """
import numpy
words = open(sys.argv[2]).read().split()
n, m = int(words[1]), int(words[2 + int(words[1])])
at, scopes, tables = 3 + n, [], []
for _ in range(m):
    k = int(words[at]); scopes.append([int(w) for w in words[at + 1:at + 1 + k]]); at += 1 + k
for s in scopes:
    k = int(words[at]); tables.append(numpy.array([float(w) for w in words[at + 1:at + 1 + k]])); at += 1 + k
start = time.perf_counter()
field = numpy.zeros((n, 2))
for s, t in zip(scopes, tables):
    if len(s) == 1: field[s[0]] += numpy.log(t)
pairs = [(s, t.reshape(2, 2)) for s, t in zip(scopes, tables) if len(s) == 2]
a = numpy.array([s[0] for s, _ in pairs]); b = numpy.array([s[1] for s, _ in pairs])
psi = numpy.array([t for _, t in pairs])
source = numpy.concatenate([a, b]); target = numpy.concatenate([b, a]); e = len(pairs)
psi = numpy.concatenate([psi, psi.transpose(0, 2, 1)])
back = numpy.concatenate([numpy.arange(e, 2 * e), numpy.arange(e)])
m = numpy.zeros((2 * e, 2))
for sweep in range(1000):
    total = field.copy(); numpy.add.at(total, target, m)
    out = total[source] - m[back]
    out = numpy.exp(out - out.max(1, keepdims=True))
    new = numpy.log((out[:, :, None] * psi).sum(1)); new -= numpy.logaddexp(new[:, :1], new[:, 1:])
    change = abs(numpy.exp(new) - numpy.exp(m)).max(); m = new
    if change < 1e-9: break
total = field.copy(); numpy.add.at(total, target, m)
p = numpy.exp(total - total.max(1, keepdims=True)); p /= p.sum(1, keepdims=True)
seconds = time.perf_counter() - start
show(list(p[:, 1]), seconds)
"""


def task(method, about, goal, *options):
    return Task(name=f"grid-{method}", about=f"{about}, {SIDE} x {SIDE} spins, against belief propagation in numpy",
                ours=python(OURS, "{build}", "{data}", "--method", method, "--threads", "{threads}", *options),
                peer=python(NUMPY, "{build}", "{data}"), needs=("numpy",), data=(f"grid-{SIDE}-{SEED}.uai", make),
                quality="error", judge="lower", tolerance=0.01, goal=goal)


TASKS = [task("bp", "belief propagation", 2), task("gbp", "cluster messages", None, "--cluster", "1024"),
         task("gibbs", "block Gibbs sampling", None, "--samples", "2000")]
