"""k-means: a million rows to the end and step by step, and the best known optimum of digits, against scikit-learn."""
import array
import pathlib
import random

from harness import CannotRun, Task, python
from npy import new_npy

ROWS, COLUMNS, CLUSTERS, STEPS, SEED = 1_000_000, 16, 64, 50, 1
DIGITS = pathlib.Path(__file__).resolve().parents[3] / "shared/data/tabular/digits.csv"
BEST_DIGITS = 1165109.46   # of 150 restarts of k-means++, Lloyd and Hartigan


def make(path):
    """Rows around 64 centres whose clouds overlap, as NPY; beside it, as CSV, rows to start from."""
    rng = random.Random(SEED)
    centres = [[rng.gauss(0, 1.5) for _ in range(COLUMNS)] for _ in range(CLUSTERS)]
    first = []
    with new_npy(path, ROWS, COLUMNS) as f:
        for _ in range(ROWS):
            row = [c + rng.gauss(0, 1) for c in rng.choice(centres)]
            array.array("d", row).tofile(f)
            if len(first) < CLUSTERS:
                first.append(row)
    names = ",".join(f"x{j + 1}" for j in range(COLUMNS))
    lines = [names, *(",".join(map(repr, row)) for row in first)]
    path.with_name(path.name.removeprefix("part-") + ".centres.csv").write_text("\n".join(lines) + "\n")


def make_digits(path):
    """Images of digits without what they show."""
    if not DIGITS.exists():
        raise CannotRun("digits.csv is not there")
    names, *rows = (line.split(",") for line in DIGITS.read_text().splitlines())
    shown = names.index("digit")
    pathlib.Path(path).write_text("".join(",".join(row[:shown] + row[shown + 1:]) + "\n" for row in (names, *rows)))


SKLEARN = """
import json, sys, time, warnings
import numpy
from sklearn.cluster import KMeans
warnings.simplefilter("ignore")
path, algorithm, k, starts, steps = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
X = numpy.load(path) if path.endswith(".npy") else numpy.loadtxt(path, delimiter=",", skiprows=1)
init = numpy.loadtxt(path + ".centres.csv", delimiter=",", skiprows=1) if steps else "k-means++"
more = {"max_iter": steps, "tol": 0} if steps else {}
start = time.perf_counter()
model = KMeans(k, init=init, n_init=starts, algorithm=algorithm, random_state=0, **more).fit(X)
print(json.dumps({"seconds": time.perf_counter() - start,
                  "statistics": {"inertia": model.inertia_, "iterations": model.n_iter_}}))
"""


def inertia(said):
    return said.get("statistics", {}).get("inertia")


def fit(*options):
    return ["{build}/credence", "fit", "kmeans", "{data}", "--scale", "none", *options, "--json"]


BLOBS = (f"kmeans-{ROWS}x{COLUMNS}-{SEED}.npy", make)
TASKS = [
    *(Task(name=f"kmeans-{algorithm}",
           about=f"k-means to the end, 1e6 rows x {COLUMNS}, k = {CLUSTERS}, one start, against {algorithm} of scikit-learn",
           ours=fit("--k", str(CLUSTERS), "--restarts", "1"),
           peer=python(SKLEARN, "{data}", algorithm, str(CLUSTERS), "1", "0"), needs=("sklearn",), data=BLOBS,
           quality=inertia, judge="lower", tolerance=1e-3, goal=3,
           scaling="the rows are sorted by one thread, and few steps over all of them are left")
      for algorithm in ("lloyd", "elkan")),
    *(Task(name=f"kmeans-steps-{algorithm}",
           about=f"{STEPS} of Lloyd's steps from the same centres, 1e6 rows x {COLUMNS}, k = {CLUSTERS}, "
                 f"against {algorithm} of scikit-learn",
           ours=fit("--init", "{data}.centres.csv", "--no-polish", "--tol", "0", "--max-iter", str(STEPS)),
           peer=python(SKLEARN, "{data}", algorithm, str(CLUSTERS), "1", str(STEPS)), needs=("sklearn",), data=BLOBS,
           quality=inertia, judge="equal", tolerance=1e-3, goal=3)
      for algorithm in ("lloyd", "elkan")),
    Task(name="kmeans-digits", about="digits, k = 10: the best inertia known, against 50 starts of scikit-learn",
         ours=fit("--k", "10", "--restarts", "10"),
         peer=python(SKLEARN, "{data}", "lloyd", "10", "50", "0"), needs=("sklearn",),
         data=("kmeans-digits.csv", make_digits), quality=inertia, judge="lower", tolerance=1e-6, goal=1,
         scaling="a step over 1797 rows takes less than a millisecond: threads wait for each other"),
]
