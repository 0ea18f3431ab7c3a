"""Generalised linear models on half a million rows of 20 features: the fit alone, by the clock of either side."""
import array
import math
import random

from harness import Task, python
from npy import new_npy

ROWS, FEATURES, SEED = 500_000, 20, 1
WEIGHTS = [(-1) ** j * 0.3 * (j + 1) / FEATURES for j in range(FEATURES)]


def poisson(rng, eta):
    """Knuth's product of uniforms; the means are small."""
    limit, product, count = math.exp(-math.exp(eta)), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return float(count)


DRAW = {"poisson": poisson,
        "gamma": lambda rng, eta: math.exp(eta) * rng.gammavariate(3, 1 / 3),
        "binomial": lambda rng, eta: float(rng.random() < 1 / (1 + math.exp(-eta)))}


def maker(family):
    def make(path):
        """[x1 ... x20 y] as NPY, eta = x.w + 0.5.  Rows are drawn from a pool of 20000 different ones; the target
        is drawn anew in each."""
        rng = random.Random(SEED)
        pool = [[rng.gauss(0, 1) for _ in range(FEATURES)] for _ in range(20_000)]
        eta = [0.5 + sum(x * w for x, w in zip(row, WEIGHTS)) for row in pool]
        with new_npy(path, ROWS, FEATURES + 1) as f:
            for i in range(ROWS):
                k = i % len(pool)
                array.array("d", [*pool[k], DRAW[family](rng, eta[k])]).tofile(f)
    return make


# What fits is put in where it says FITTED and gives [intercept, slopes ...].
PEER = """
import json, sys, time
import numpy
IMPORTS
data = numpy.load(sys.argv[1])
X, y = data[:, :-1], data[:, -1]
start = time.perf_counter()
b = FITTED
end = time.perf_counter()
eta = b[0] + X @ b[1:]
print(json.dumps({"seconds": end - start, "statistics": {"deviance": 2 * float(numpy.sum(DEVIANCE))}}))
"""
DEVIANCE = {"poisson": "numpy.where(y > 0, y * (numpy.log(numpy.maximum(y, 1)) - eta), 0) - y + numpy.exp(eta)",
            "gamma": "y * numpy.exp(-eta) - 1 - numpy.log(y) + eta",
            "binomial": "numpy.logaddexp(0, eta) - y * eta"}
SKLEARN = {"poisson": "PoissonRegressor(alpha=0, solver='newton-cholesky')",
           "gamma": "GammaRegressor(alpha=0, solver='newton-cholesky')",
           "binomial": "LogisticRegression(penalty=None, solver='newton-cholesky')"}
STATSMODELS = {"poisson": "Poisson()", "gamma": "Gamma(sm.families.links.log())", "binomial": "Binomial()"}


def peer(family, imports, fitted):
    source = PEER.replace("IMPORTS", imports).replace("FITTED", fitted).replace("DEVIANCE", DEVIANCE[family])
    return python(source, "{data}")


def sklearn(family):
    return peer(family, "from sklearn.linear_model import PoissonRegressor, GammaRegressor, LogisticRegression",
                f"(lambda m: numpy.r_[m.intercept_, m.coef_.ravel()])({SKLEARN[family]}.fit(X, y))")


def statsmodels(family):
    return peer(family, "import statsmodels.api as sm",
                f"sm.GLM(y, sm.add_constant(X), family=sm.families.{STATSMODELS[family]}).fit().params")


def deviance(said):
    return said.get("statistics", {}).get("deviance")


def task(family, name, other, run, needs):
    return Task(name=name, about=f"{family} regression, 5e5 rows x 20 features, the fit alone, with standard errors, "
                f"against {other}",
                ours=["{build}/credence", "fit", "glm", "{data}", "--target", f"x{FEATURES + 1}", "--family", family,
                      "--json"],
                peer=run, needs=needs, data=(f"glm-{family}-{ROWS}x{FEATURES}-{SEED}.npy", maker(family)),
                quality=deviance, judge="lower", tolerance=1e-9, goal=2,
                scaling="each step goes once through 84 MB of rows with few operations for each number: two cores share one "
                "memory")


TASKS = [task(f, f"glm-{f}", "scikit-learn's Newton steps, which give none", sklearn(f), ("sklearn",))
         for f in DRAW]
TASKS += [task(f, f"glm-{f}-statsmodels", "statsmodels", statsmodels(f), ("statsmodels",)) for f in DRAW]
