"""Relevance vector machines with a given kernel, on splits of yacht and airfoil: the fit
alone, against rvm in kernlab.  The quality is the error in rows held out.  From both starts, as by default, which finds
errors down to a third of the peer's, and from no function up, which is the search that the peer's is nearest to."""
import csv
import json
import math
import pathlib

from harness import Task

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/data/tabular"
# The set, and gamma of exp(-gamma |x - x'|^2).
CASES = [("yacht", 0.1667), ("yacht", 0.05), ("airfoil", 0.2), ("airfoil", 0.06)]


def maker(name, split):
    """A folder with train.csv and test.csv, standardised by the rows to learn from."""
    def make(path):
        chosen = json.loads((FOLDER / "reference.json").read_text())["splits"][split]
        rows = [[float(cell) for cell in row] for row in list(csv.reader((FOLDER / f"{name}.csv").open()))[1:]]
        train = [rows[i] for i in chosen["train"]]
        columns = list(zip(*train))
        mean = [sum(c) / len(c) for c in columns]
        sd = [math.sqrt(sum((v - m) ** 2 for v in c) / len(c)) or 1 for c, m in zip(columns, mean)]
        path.mkdir()
        for part in ("train", "test"):
            with (path / f"{part}.csv").open("w", newline="") as f:
                writer = csv.writer(f)
                writer.writerow([f"x{j + 1}" for j in range(len(mean) - 1)] + ["y"])
                writer.writerows([[(v - m) / s for v, m, s in zip(rows[i], mean, sd)] for i in chosen[part]])
    return make


OURS = """
number() { sed -n "s/.*\\"$1\\": *\\([0-9.e+-]*\\).*/\\1/p" | head -n 1; }
seconds=$("$1"/credence fit rvm "$2"/train.csv --target y --scale none --kernel "rbf(l=$3)" --start "$4" -o "$2"/machine.cred --json |
  number seconds)
rmse=$("$1"/credence evaluate "$2"/machine.cred "$2"/test.csv --json | number rmse)
echo "{\\"seconds\\": $seconds, \\"rmse\\": $rmse}"
"""

KERNLAB = """
library(kernlab)
a <- commandArgs(TRUE)
train <- as.matrix(read.csv(file.path(a[1], "train.csv"))); test <- as.matrix(read.csv(file.path(a[1], "test.csv")))
p <- ncol(train)
set.seed(1)
t <- system.time(m <- rvm(train[, -p], train[, p], type = "regression", kernel = "rbfdot",
                          kpar = list(sigma = as.numeric(a[2])), verbosity = 0))[["elapsed"]]
cat(sprintf('{"seconds": %.17g, "rmse": %.17g}', t, sqrt(mean((predict(m, test[, -p]) - test[, p])^2))))
"""


def task(name, gamma, start):
    return Task(name=f"rvm-{name}-{gamma:g}" + ("-up" if start == "up" else ""),
                about=f"rvm, {name}, gamma {gamma:g}, --start {start}, against kernlab",
                ours=["/bin/sh", "-c", OURS, "sh", "{build}", "{data}", f"{math.sqrt(0.5 / gamma):.17g}", start],
                peer=["Rscript", "-e", KERNLAB, "{data}", f"{gamma:g}"], needs=("R:kernlab",),
                data=(f"rvm-{name}", maker(name, f"{name}#krr")), quality="rmse", judge="lower",
                goal=1 if start == "up" else None, scaling=None)


TASKS = [task(name, gamma, start) for name, gamma in CASES for start in ("both", "up")]
