"""The path of the lasso: 100 penalties on 10000 rows of 1000 features, and with ten folds on 500 rows of 20000, from a
file to coefficients."""
import array
import random

from harness import Task, python
from npy import new_npy

ROWS, FEATURES, USED, SEED = 10_000, 1_000, 100, 1
LAST = 1e-3                     # the last penalty over the first


def make(path):
    """[x1 ... x1000 y] as NPY; neighbouring features lean on each other, a tenth of them matter."""
    rng = random.Random(SEED)
    weights = [rng.gauss(0, 1) if j % (FEATURES // USED) == 0 else 0.0 for j in range(FEATURES)]
    with new_npy(path, ROWS, FEATURES + 1) as f:
        for _ in range(ROWS):
            row, last = [], 0.0
            for _ in range(FEATURES):
                last = 0.5 * last + rng.gauss(0, 1)
                row.append(last)
            y = 3 + sum(x * w for x, w in zip(row, weights) if w) + 3 * rng.gauss(0, 1)
            array.array("d", [*row, y]).tofile(f)


# Both minimise (1/2n) |y - Zb|^2 + lambda |b|_1 with Z standardised, at the same 100 lambdas; the quality
# is the objective at the last of them.  The end of the path is asked for as a lambda of its own.
SKLEARN = f"""
import json, sys, time
import numpy
from sklearn.linear_model import lasso_path
data = numpy.load(sys.argv[1])
X, y = numpy.asfortranarray(data[:, :-1]), data[:, -1].copy()
start = time.perf_counter()
X -= X.mean(0)
X /= numpy.sqrt((X * X).mean(0))
y -= y.mean()
alphas, coefs, _ = lasso_path(X, y, eps={LAST}, n_alphas=100, copy_X=False, precompute=True)
end = time.perf_counter()
objective = ((y - X @ coefs[:, -1]) ** 2).mean() / 2 + alphas[-1] * abs(coefs[:, -1]).sum()
print(json.dumps({{"seconds": end - start, "objective": objective, "lambda": alphas[-1]}}))
"""

OURS = f"""
import json, subprocess, sys
fit = [sys.argv[1], "fit", "lasso", sys.argv[2], "--target", "x{FEATURES + 1}", "--json"]
def run(*options):
    return json.loads(subprocess.run([*fit, *options], capture_output=True, check=True).stdout)
path = run("--choose", "bic", "--lambda-min-ratio", "{LAST}")
end = run("--lambda", repr(path["path"][-1]["lambda"]), "--lambda-min-ratio", "{LAST}")
print(json.dumps({{"seconds": path["seconds"], "objective": end["statistics"]["objective_value"]}}))
"""

WIDE_ROWS, WIDE_FEATURES, WIDE_USED = 500, 20_000, 10


def make_wide(path):
    """[x1 ... x20000 y] as NPY: normal features, of which the first ten matter."""
    rng = random.Random(SEED)
    weights = [rng.gauss(0, 1) for _ in range(WIDE_USED)]
    with new_npy(path, WIDE_ROWS, WIDE_FEATURES + 1) as f:
        for _ in range(WIDE_ROWS):
            row = [rng.gauss(0, 1) for _ in range(WIDE_FEATURES)]
            y = sum(x * w for x, w in zip(row, weights)) + rng.gauss(0, 1)
            array.array("d", [*row, y]).tofile(f)


# Both choose lambda by ten folds, which are not the same folds; the quality is the objective of all rows at one
# lambda that both are given, a tenth of the first.
WIDE_GLMNET = f"""
suppressMessages(library(glmnet))
file <- file(commandArgs(TRUE)[1], "rb")
invisible(readBin(file, "raw", 8))
invisible(readBin(file, "raw", readBin(file, "integer", 1, 2, signed = FALSE)))
data <- matrix(readBin(file, "double", {WIDE_ROWS * (WIDE_FEATURES + 1)}), {WIDE_ROWS}, byrow = TRUE)
x <- data[, 1:{WIDE_FEATURES}]; y <- data[, {WIDE_FEATURES + 1}]
set.seed(1)
start <- proc.time()[3]
fit <- cv.glmnet(x, y)
seconds <- proc.time()[3] - start
lambda <- fit$lambda[1] / 10
b <- as.numeric(coef(fit, s = lambda, exact = TRUE, x = x, y = y))
sd <- apply(x, 2, function(v) sqrt(mean((v - mean(v))^2)))
value <- mean((y - b[1] - x %*% b[-1])^2) / 2 + lambda * sum(abs(b[-1]) * sd)
cat(sprintf('{{"seconds": %.6f, "objective": %.12f}}', seconds, value))
"""

WIDE_OURS = f"""
import json, subprocess, sys
fit = [sys.argv[1], "fit", "lasso", sys.argv[2], "--target", "x{WIDE_FEATURES + 1}", "--threads", sys.argv[3], "--json"]
def run(*options):
    return json.loads(subprocess.run([*fit, *options], capture_output=True, check=True).stdout)
path = run()
end = run("--lambda", repr(path["statistics"]["lambda_max"] / 10))
print(json.dumps({{"seconds": path["seconds"], "objective": end["statistics"]["objective_value"]}}))
"""

# One path of all rows, both at 100 penalties down to a hundredth of the first; the same quality.
WIDE_PATH_GLMNET = WIDE_GLMNET.replace(
    "fit <- cv.glmnet(x, y)", "glmnet.control(fdev = 0); fit <- glmnet(x, y, nlambda = 100, lambda.min.ratio = 0.01)")
WIDE_PATH_OURS = WIDE_OURS.replace("path = run()",
                                   'path = run("--choose", "bic", "--path", "100", "--lambda-min-ratio", "0.01")')

TASKS = [
    Task(name="lasso", about="lasso path, 100 penalties, 1e4 rows x 1000 features, against scikit-learn by the Gram matrix",
         ours=python(OURS, "{build}/credence", "{data}"), peer=python(SKLEARN, "{data}"),
         needs=("sklearn",), data=(f"lasso-{ROWS}x{FEATURES}-{SEED}.npy", make),
         quality="objective", judge="lower", tolerance=0.0, goal=2,
         scaling="the products of the columns are shared out; the path is one descent, a third of the time of two cores"),
    Task(name="lasso-wide", about="lasso path, 100 penalties, 500 rows x 20000 features, against glmnet",
         ours=python(WIDE_PATH_OURS, "{build}/credence", "{data}", "{threads}"),
         peer=["Rscript", "-e", WIDE_PATH_GLMNET, "{data}"],
         needs=("R:glmnet",), data=(f"lasso-{WIDE_ROWS}x{WIDE_FEATURES}-{SEED}.npy", make_wide),
         quality="objective", judge="lower", tolerance=1e-9, goal=2,
         scaling="the path is one descent from lambda to lambda; only columns and gradients of all terms are shared out"),
    Task(name="lasso-cv", about="lasso by ten folds, 500 rows x 20000 features, against glmnet",
         ours=python(WIDE_OURS, "{build}/credence", "{data}", "{threads}"),
         peer=["Rscript", "-e", WIDE_GLMNET, "{data}"],
         needs=("R:glmnet",), data=(f"lasso-{WIDE_ROWS}x{WIDE_FEATURES}-{SEED}.npy", make_wide),
         quality="objective", judge="lower", tolerance=1e-9, goal=2,
         scaling="the ten folds go from lambda to lambda together and wait for each other at every one"),
]
