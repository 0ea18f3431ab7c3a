"""Support vector machines against LIBSVM: training to the same dual objective, and prediction of the same rows."""
import math
import random

from harness import SHARED, CannotRun, Task, copy_of, python


def write(path, rows):
    with open(path, "w") as f:
        for y, x in rows:
            f.write(" ".join([f"{y:g}", *(f"{j + 1}:{v:.6g}" for j, v in enumerate(x) if v)]) + "\n")


def make_magic(path):
    """MAGIC's 19020 rows, standardised, in an order of their own: the file is sorted by class."""
    source = SHARED / "magic04.csv"
    if not source.exists():
        raise CannotRun(f"{source} is not there")
    table = [[float(v) for v in line.split(",")] for line in source.read_text().splitlines()[1:]]
    random.Random(7).shuffle(table)
    table = table[:15_000]
    n, d = len(table), len(table[0]) - 1
    mean = [sum(r[j] for r in table) / n for j in range(d)]
    sd = [math.sqrt(sum((r[j] - mean[j]) ** 2 for r in table) / n) for j in range(d)]
    write(path, ((r[d], [(r[j] - mean[j]) / sd[j] for j in range(d)]) for r in table))


def make_phases(path, rows=49_990):
    """Of the shape of ijcnn1: one of ten phases, three signals at four times, a tenth of the rows of the rare class,
    which a smooth function tells apart."""
    rng = random.Random(3)
    at, signal = [0.0] * 3, []
    for _ in range(rows + 3):
        at = [v + rng.gauss(0, 0.35) for v in at]
        signal.append([math.sin(v) for v in at])
    table = []
    for i in range(rows):
        x = [1.0 if i % 10 == k else 0.0 for k in range(10)] + [v for k in range(4) for v in signal[i + k]]
        table.append((math.sin(1.2 * x[10]) + math.cos(1.5 * x[14] * x[18]) + 0.5 * math.sin(x[12]) * x[20]
                      + 0.1 * math.sin(i % 10), x))
    cut = sorted(f for f, _ in table)[int(0.903 * rows)]
    write(path, ((1 if f > cut else -1, x) for f, x in table))


# LIBSVM as Debian ships it has one thread; its clock is that of its process, which reads the file too.
TRAIN = """
import json, re, subprocess, sys, time
start = time.perf_counter()
said = subprocess.run(["svm-train", *sys.argv[2:], "-m", "1000", sys.argv[1], "/dev/null"],
                      check=True, capture_output=True, text=True).stdout
print(json.dumps({"seconds": time.perf_counter() - start,
                  "objective": float(re.search("obj = (\\\\S+),", said).group(1))}))
"""

# The models are made once, by each side its own.
PREDICT = """
import json, os, subprocess, sys, time
data, build, C, gamma = sys.argv[1:5]
def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout
if build == "libsvm":
    if not os.path.exists(data + ".model"):
        run("svm-train", "-q", "-c", C, "-g", gamma, "-m", "1000", data, data + ".model")
    start = time.perf_counter()
    run("svm-predict", data, data + ".model", data + ".out")
    labels = [float(v) for v in open(data + ".out").read().split()]
else:
    if not os.path.exists(data + ".cred"):
        run(build + "/credence", "fit", "svm", data, "--target", "y", "--category", "y", "--scale", "none", "--C", C,
            "--kernel", f"rbf(gamma={gamma})", "--output", data + ".cred")
    start = time.perf_counter()
    said = run(build + "/credence", "predict", data + ".cred", data)
    labels = [float(line.split(",")[0]) for line in said.splitlines()[1:]]
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "check": sum(v > 0 for v in labels)}))
"""


def objective(said):
    return said["objective"] if "objective" in said else said["statistics"]["dual_objective"]


def train(name, C, gamma, goal, make, file):
    return Task(name=f"svm-{name}",
                about=f"C-SVC with rbf on {name}, C = {C}, gamma = {gamma}, the whole process, to the same dual objective, "
                "against LIBSVM (one thread)",
                ours=["{build}/credence", "fit", "svm", "{data}", "--target", "y", "--category", "y", "--scale", "none",
                      "--C", str(C), "--kernel", f"rbf(gamma={gamma})", "--json"],
                peer=python(TRAIN, "{data}", "-c", str(C), "-g", str(gamma)), clock="wall", data=(file, make), quality=objective,
                judge="lower", tolerance=1e-6, goal=goal,
                scaling="kernel rows are shared by both cores, steps of two weights are not")


TASKS = [
    train("a9a", 1, 0.05, 4, copy_of("a9a.libsvm"), "a9a.libsvm"),
    train("w8a", 10, 0.05, 2, copy_of("w8a.libsvm"), "w8a.libsvm"),
    train("magic04", 10, 0.1, 2, make_magic, "magic04-15000.libsvm"),
    train("phases", 32, 2, 2, make_phases, "phases-49990-3.libsvm"),
    Task(name="svm-nu-magic04", about="nu-SVC with rbf on magic04, nu = 0.3, gamma = 0.1, the whole process, to the same dual "
         "objective, against LIBSVM (one thread)",
         ours=["{build}/credence", "fit", "svm", "{data}", "--target", "y", "--category", "y", "--scale", "none",
               "--kind", "nu", "--nu", "0.3", "--kernel", "rbf(gamma=0.1)", "--json"],
         peer=python(TRAIN, "{data}", "-s", "1", "-n", "0.3", "-g", "0.1"), clock="wall",
         data=("magic04-15000.libsvm", make_magic), quality=objective, judge="lower", tolerance=1e-6, goal=2,
         scaling="kernel rows are shared by both cores, steps of two weights are not"),
    Task(name="svm-predict", about="decisions of 32 561 rows of a9a by 1e4 support vectors, reading and writing "
         "included, against svm-predict (one thread)",
         ours=python(PREDICT, "{data}", "{build}", "1", "0.05"),
         peer=python(PREDICT, "{data}", "libsvm", "1", "0.05"), data=("a9a.libsvm", copy_of("a9a.libsvm")),
         quality="check", judge="equal", tolerance=1e-3, goal=8),
]
