"""Hidden Markov models: a step of Baum-Welch and the most probable path against textbook loops in C on one core.  hmmlearn,
where it was measured on such data (ten states, 1e5 rows), took 0.13 s for a step on symbols by its fastest method and 0.48 s by
its default, 0.79 s on two normal columns, and 0.026 s for a path."""
import random

from harness import Task

ROWS, STATES, SYMBOLS = 100_000, 10, 20


def chain(rng):
    rows = [[rng.expovariate(1) + (10 if i == j else 0) for j in range(STATES)] for i in range(STATES)]
    state = 0
    for _ in range(ROWS):
        state = rng.choices(range(STATES), rows[state])[0]
        yield state


def write_symbols(path):
    rng = random.Random(1)
    emit = [[rng.expovariate(1) ** 2 for _ in range(SYMBOLS)] for _ in range(STATES)]
    with open(path, "w") as f:
        f.write("c\n")
        for state in chain(rng):
            f.write(f"s{rng.choices(range(SYMBOLS), emit[state])[0]:02}\n")


def write_normal(path):
    rng = random.Random(2)
    with open(path, "w") as f:
        f.write("x,y\n")
        for state in chain(rng):
            f.write(f"{rng.gauss(state, 1):.4f},{rng.gauss(state * 7 % 10, 1):.4f}\n")


def task(name, what, about, writer, goal, hmmlearn, times):
    """`hmmlearn`: its seconds, where it was measured, of which ours may take one in so many `times`."""
    return Task(name=name, about=about, ours=["{build}/bench/bench_hmm", "ours", what, "{data}", "1"],
                peer=["{build}/bench/bench_hmm", "plain", what, "{data}", "1"],
                data=(f"hmm-{'normal' if what == 'normal' else 'symbols'}-{ROWS}.csv", writer),
                quality="log_likelihood", judge="higher", tolerance=1e-4, goal=goal, limit=hmmlearn / times,
                recorded=("hmmlearn", hmmlearn), threads=1, scaling=None)


TASKS = [
    task("hmm-step", "symbols", "a step of Baum-Welch, 1e5 symbols, 10 states, against textbook loops in C", write_symbols,
         1.5, 0.13, 5),
    task("hmm-step-normal", "normal", "a step of Baum-Welch, 1e5 rows of 2 normal columns with covariances, 10 states, "
         "against textbook loops in C", write_normal, 1.2, 0.79, 5),
    task("hmm-path", "path", "the most probable path, 1e5 symbols, 10 states, against textbook loops in C", write_symbols,
         2, 0.026, 2),
]
