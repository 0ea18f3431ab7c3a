"""Networks: reading, all marginals, and marginals again after one variable has changed.

Of the exact peers only pgmpy can be asked for by name; it is run where Python has it."""
import json
import math
import pathlib
import random
import shutil

from harness import Task, python


def k_tree(path, nodes, k, states, seed=1):
    """A Bayesian network on a random k-tree: each node has up to k parents that are joined already."""
    rng = random.Random(seed)
    cliques, lines = [[]], ["network tree {", "}"]
    for v in range(nodes):
        lines += [f"variable v{v} {{", f"  type discrete [ {states} ] {{ {', '.join(map(str, range(states)))} }};", "}"]
    for v in range(nodes):
        clique = rng.choice(cliques[-40:])
        parents = rng.sample(clique, min(k, len(clique)))
        lines.append(f"probability ( v{v} | {', '.join(f'v{p}' for p in parents)} ) {{" if parents
                     else f"probability ( v{v} ) {{")
        for row in range(states ** len(parents)):
            w = [rng.random() + 0.02 for _ in range(states)]
            given = [str(row // states ** i % states) for i in reversed(range(len(parents)))]
            p = ", ".join(f"{x / sum(w):.10g}" for x in w)
            lines.append(f"  ({', '.join(given)}) {p};" if parents else f"  table {p};")
        lines.append("}")
        cliques.append([*parents, v])
    path.write_text("\n".join(lines) + "\n")


def grid(path, n):
    """A Markov network on an n x n grid."""
    spins(path, n * n, grid_pairs(n))


def grid_pairs(n):
    return [(i * n + j, k) for i in range(n) for j in range(n)
            for k in ([i * n + j + 1] if j + 1 < n else []) + ([i * n + j + n] if i + 1 < n else [])]


def wide_tree(path, nodes, k, seed=1):
    """A Markov network on a random k-tree, whose width is k."""
    rng = random.Random(seed)
    cliques = [list(range(k + 1))]
    pairs = [(a, b) for b in range(k + 1) for a in range(b)]
    for v in range(k + 1, nodes):
        near = rng.sample(rng.choice(cliques), k)
        pairs += [(a, v) for a in near]
        cliques.append([*near, v])
    spins(path, nodes, pairs)


def spins(path, nodes, pairs, seed=1, coupling=1):
    """Spins with random fields and couplings, as UAI."""
    rng = random.Random(seed)
    lines = ["MARKOV", str(nodes), " ".join(["2"] * nodes), str(nodes + len(pairs))]
    lines += [f"1 {i}" for i in range(nodes)] + [f"2 {a} {b}" for a, b in pairs]
    for _ in range(nodes):
        h = math.exp(rng.uniform(-1, 1))
        lines.append(f"2 {h} {1 / h}")
    for _ in pairs:
        j = math.exp(rng.uniform(-coupling, coupling))
        lines.append(f"4 {j} {1 / j} {1 / j} {j}")
    path.write_text("\n".join(lines) + "\n")


def coupled_chains(path, chains, states, seed=1):
    """Hidden chains side by side, each driven by itself and its neighbour, and a noisy reading of each."""
    rng = random.Random(seed)

    def rows(n):
        return [[x / sum(w) for x in w] for w in ([rng.random() + 0.05 for _ in range(states)] for _ in range(n))]
    hidden = {f"h{i}": {"states": states, "initial": {"table": rows(1)[0]},
                        "parents": [f"h{i}[-1]", f"h{(i + 1) % chains}[-1]"], "table": rows(states ** 2)}
              for i in range(chains)}
    seen = {f"y{i}": {"states": states, "parents": [f"h{i}"], "table": rows(states)} for i in range(chains)}
    path.write_text(json.dumps({"network": "bayes", "slices": 2, "variables": hidden | seen}))


def dynamic(what, slices):
    return ["{build}/bench/bench_dynamic", what, "{data}", str(slices), "{threads}"]


PGMPY = """
import json, sys, time
start = time.perf_counter()
from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader
model = BIFReader(sys.argv[1], n_jobs=1).get_model()
engine = VariableElimination(model)
first = [engine.query([v], show_progress=False).values for v in model.nodes()][0][0]
print(json.dumps({"seconds": time.perf_counter() - start, "first": float(first)}))
"""


TOULBAR = """
import json, re, subprocess, sys, time
start = time.perf_counter()
said = subprocess.run(["toulbar2", sys.argv[1]], capture_output=True, text=True, check=False).stdout
energy = float(re.findall(r"Optimum: .*?energy: (\\S+)", said)[-1])
print(json.dumps({"seconds": time.perf_counter() - start, "energy": energy}))
"""


def energy(said):
    """-log p of the best assignment, but for a constant."""
    results = said.get("results")
    return said.get("energy") if not results else -results[0]["log_joint"]


def weak_grid(path, n):
    """As grid, with weaker couplings: the bound of a search is close."""
    spins(path, n * n, grid_pairs(n), coupling=0.6)


def ours(what):
    return ["{build}/bench/bench_network", what, "{data}", "{threads}"]


def tree_data(nodes, k, states):
    return f"network-ktree-{nodes}-{k}-{states}-1.bif", lambda path: k_tree(path, nodes, k, states)


def grid_data(n):
    return f"network-grid-{n}-1.uai", lambda path: grid(path, n)


def memory_share(said):
    """Bytes held over bytes predicted."""
    return said["peak"] / said["predicted"] if said.get("predicted") else None


KNOWN = pathlib.Path(__file__).resolve().parents[3] / "shared/data/bn"


def list_known(path):
    """The networks of ../shared/data, one a line."""
    path.write_text("".join(f"{file}\n" for file in sorted(KNOWN.glob("*.bif"))))


def wide_data(nodes, k):
    return f"network-wide-{nodes}-{k}-1.uai", lambda path: wide_tree(path, nodes, k)


TASKS = [
    Task(name="network-load", about="read a network of 1000 nodes and 63 000 parameters (BIF)", ours=ours("load"),
         data=tree_data(1000, 6, 2), limit=0.3),
    Task(name="network-pgmpy", about="read a network of 40 nodes and find all marginals, against pgmpy",
         ours=ours("marginals"), peer=python(PGMPY, "{data}"), needs=("pgmpy",), data=tree_data(40, 3, 3),
         quality="first", judge="equal", tolerance=1e-6, goal=50),
    Task(name="network-tree", about="all marginals of a random 4-tree of 1000 nodes with 3 states", ours=ours("marginals"),
         data=tree_data(1000, 4, 3), limit=2),
    Task(name="network-wide-15", about="all marginals of spins on a random 15-tree of 100 nodes", ours=ours("marginals"),
         data=wide_data(100, 15), quality=memory_share, limit=3),
    Task(name="network-wide", about="all marginals of spins on a random 18-tree of 100 nodes", ours=ours("marginals"),
         data=wide_data(100, 18), quality=memory_share, limit=20),
    Task(name="network-wide-22", about="all marginals of spins on a random 22-tree of 40 nodes", ours=ours("marginals"),
         data=wide_data(40, 22), quality=memory_share, limit=60),
    Task(name="network-grid-15", about="all marginals of a grid of 15 x 15 spins", ours=ours("marginals"),
         data=grid_data(15), quality=memory_share, limit=2),
    Task(name="network-grid-20", about="all marginals of a grid of 20 x 20 spins (recorded, another machine: "
         "one sum by elimination in numpy 4 s; the trees of libDAI and merlin do not fit)", ours=ours("marginals"),
         data=grid_data(20), quality=memory_share, limit=60),
    Task(name="network-again", about="all marginals after one of 16 observations has changed, against a new tree",
         ours=ours("requery"), peer=ours("scratch"), data=tree_data(1000, 4, 3), quality="log_evidence",
         judge="equal", tolerance=1e-9, goal=3),
    Task(name="network-slices", about="all marginals of 10^5 slices of 3 coupled chains with 3 states each, slice by "
         "slice, against one junction tree of all", ours=dynamic("slices", 100000), peer=dynamic("unrolled", 100000),
         data=("network-chains-3-3-1.json", lambda path: coupled_chains(path, 3, 3)), quality="log_evidence",
         judge="equal", tolerance=1e-9, goal=5, scaling="each slice waits for the one before it"),
]

if KNOWN.is_dir():
    TASKS.append(Task(
        name="network-small", about="read the networks of ../shared/data/bn and find all marginals (recorded, another "
        "machine, for alarm, hailfinder and win95pts alone: libDAI 0.006 s, aGrUM 0.05 s, pgmpy 7.6 s)",
        ours=ours("list"), data=("network-known.txt", list_known), limit=0.1))

if shutil.which("toulbar2"):
    TASKS.append(Task(
        name="network-best", about="the best assignment of a grid of 30 x 30 spins by search, against toulbar2",
        ours=["{build}/credence", "query", "{data}", "argmax(*)", "--json"], peer=python(TOULBAR, "{data}"),
        data=("network-weak-grid-30-1.uai", lambda path: weak_grid(path, 30)), quality=energy, judge="lower",
        tolerance=1e-6, clock="wall"))
