"""Training a conditional random field on 4000 sequences, 100 steps of L-BFGS, against one written plainly in C."""
import random

from harness import Task

SEQUENCES, LABELS, SEED = 4000, 9, 1


def make(path):
    """Sequences of 7 to 30 rows, some 74000 rows: labels that often follow each other, and four categories of 5000,
    9, 50 and 40 levels, three of which tell of the label."""
    rng, lines = random.Random(SEED), ["seq,w,a,b,c,y"]
    for sequence in range(SEQUENCES):
        y = rng.randrange(LABELS)
        for _ in range(rng.randint(7, 30)):
            y = (y + rng.choice((0, 1, 1, 3))) % LABELS if rng.random() < 0.6 else rng.randrange(LABELS)
            word = int(min(4999, abs(rng.gauss(0, 1)) * 400 + 60 * y))
            lines.append(f"{sequence},w{word},a{(y + rng.choice((0, 0, 0, 1, 2, 5))) % LABELS},b{rng.randrange(50)},"
                         f"c{(3 * y + rng.randrange(12)) % 40},L{y}")
    path.write_text("\n".join(lines) + "\n")


def objective(said):
    return said.get("objective_value") or said.get("statistics", {}).get("objective_value")


def command(*more):
    return ["{build}/credence", "fit", "crf", "{data}", "--target", "y", "--sequence", "seq", "--lambda", "2",
            "--threads", "{threads}", "--json", "--output", "/dev/null", "--quiet", *more]


DATA = (f"crf-{SEQUENCES}-{LABELS}-{SEED}.csv", make)
TASKS = [Task(
    name="crf-train",
    about="conditional random field, 74000 rows, 9 labels, 4 attributes a row, 100 steps of L-BFGS, against plain C "
          "with the same L-BFGS",
    ours=command("--max-iter", "100"), peer=["{build}/bench/bench_crf", "{data}", "2", "100"], data=DATA,
    quality=objective, judge="lower", tolerance=1e-6, goal=2, recorded=("CRFsuite", 6.0)), Task(
    name="crf-stream",
    about="the same, to the minimum, as a stream in blocks of 10000 rows, against all rows in memory",
    ours=command("--stream", "--block", "10000"), peer=command(), data=DATA, clock="wall",
    quality=objective, judge="lower", tolerance=1e-6, goal=0.7, scaling=None), Task(
    name="crf-sgd",
    about="the same by stochastic gradient descent, within 0.2 % of the minimum, against L-BFGS to the minimum",
    ours=command("--solver", "sgd"), peer=command(), data=DATA, clock="wall",
    quality=objective, judge="lower", tolerance=2e-3, goal=3, scaling=None)]
