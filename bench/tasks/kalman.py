"""A structural time series of trend, twelve seasons and noise: its variances by maximum likelihood, and the smoother
at given ones.

statsmodels starts with the exact diffuse filter too, but counts log 2 pi for the 13 values that fix the start, which is
taken off here.  R's StructTS starts with a large variance and says another likelihood: what it found is judged by
statsmodels' at the same variances."""
import json
import random

from harness import Task, python

ROWS, FEW, SEED = 10_000, 2_000, 1
TRUE = {"irregular": 1.0, "level": 0.09, "slope": 1e-4, "seasonal": 0.01}


def maker(rows):
    def make(path):
        """y as CSV, drawn from the model."""
        rng = random.Random(SEED)
        level, slope, seasons = 100.0, 0.0, [rng.gauss(0, 3) for _ in range(11)]
        with open(path, "w") as f:
            f.write("y\n")
            for _ in range(rows):
                f.write(f"{level + seasons[0] + rng.gauss(0, 1)!r}\n")
                level += slope + rng.gauss(0, TRUE["level"] ** 0.5)
                slope += rng.gauss(0, TRUE["slope"] ** 0.5)
                seasons = [rng.gauss(-sum(seasons), TRUE["seasonal"] ** 0.5), *seasons[:-1]]
    return make


def matrices():
    """The model at the true variances, for --model."""
    m = 13
    T, Q = ([[0.0] * m for _ in range(m)] for _ in range(2))
    T[0][0] = T[0][1] = T[1][1] = 1
    T[2][2:] = [-1] * 11
    for i in range(3, m):
        T[i][i - 1] = 1
    for i, part in enumerate(("level", "slope", "seasonal")):
        Q[i][i] = TRUE[part]
    return json.dumps({"T": T, "Q": Q, "Z": [1, 0, 1] + [0] * 10, "H": TRUE["irregular"]}).replace(" ", "")


STATSMODELS = """
import json, math, subprocess, sys, time
import numpy
import statsmodels.api as sm
y = numpy.loadtxt(sys.argv[1], skiprows=1)
model = sm.tsa.UnobservedComponents(y, "lltrend", seasonal=12, use_exact_diffuse=True)
WORK
print(json.dumps({"seconds": end - start, "log_likelihood": model.loglike(p) + 6.5 * math.log(2 * math.pi)}))
"""
FIT = """
start = time.perf_counter()
p = model.fit(disp=0).params
end = time.perf_counter()
"""
SMOOTH = f"""
p = {list(TRUE.values())}
start = time.perf_counter()
model.smooth(p)
end = time.perf_counter()
"""
R = """
script = '''
y <- ts(read.csv(commandArgs(TRUE)[1])$y, frequency = 12)
time <- system.time(f <- StructTS(y, "BSM"))
cat(time[["elapsed"]], f$coef[["epsilon"]], f$coef[["level"]], f$coef[["slope"]], f$coef[["seas"]])
'''
said = subprocess.run(["Rscript", "-e", script, sys.argv[1]], capture_output=True, text=True, check=True).stdout
start, end, *p = [0.0, *map(float, said.split())]
"""


def peer(work):
    return python(STATSMODELS.replace("WORK", work), "{data}")


OURS = ["{build}/credence", "fit", "kalman", "{data}", "--target", "y", "--json"]
PARTS = ["--components", "trend,seasonal:12"]

TASKS = [
    Task(name="kalman-fit", about=f"trend and 12 seasons by maximum likelihood, {ROWS} rows, against statsmodels",
         ours=OURS + PARTS, peer=peer(FIT), needs=("statsmodels",), data=(f"kalman-{ROWS}-{SEED}.csv", maker(ROWS)),
         quality="log_likelihood", judge="higher", tolerance=1e-6, goal=5, scaling=None),
    Task(name="kalman-smooth", about=f"filter and smoother of the same at given variances, {ROWS} rows, against statsmodels",
         ours=OURS + ["--model", matrices().replace("{", "{{").replace("}", "}}")], peer=peer(SMOOTH),
         needs=("statsmodels",), data=(f"kalman-{ROWS}-{SEED}.csv", maker(ROWS)),
         quality="log_likelihood", judge="equal", tolerance=1e-9, goal=5, scaling=None),
    Task(name="kalman-structts", about=f"trend and 12 seasons by maximum likelihood, {FEW} rows, against R's StructTS",
         ours=OURS + PARTS, peer=peer(R), needs=("statsmodels",), data=(f"kalman-{FEW}-{SEED}.csv", maker(FEW)),
         quality="log_likelihood", judge="higher", tolerance=1e-6, goal=5, scaling=None),
]
