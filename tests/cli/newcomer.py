"""Data of the kinds that newcomers bring: drawn with the standard library alone, the same each time."""
import math
import random


def write(folder, name, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return name


def draw(seed):
    """Numbers from N(mean, sd)."""
    return random.Random(seed).gauss


def codes(folder):
    """Missing numbers written as -999, missing texts left empty."""
    r, rows = random.Random(1), []
    for i in range(200):
        a, b = r.gauss(0, 1), r.choice(["u", "v", "w", ""])
        y = 1 + 2 * a + (b == "v") + r.gauss(0, 0.5)
        rows.append(["-999.0000" if r.random() < 0.1 else a, b, i % 6, "pqr"[i % 3], 1 + i % 4, y])
    return write(folder, "codes.csv", "a,b,c,g,w,y", rows)


def wide(folder, rows=60, columns=3000):
    g = draw(2)
    X = [[g(0, 1) for _ in range(columns)] for _ in range(rows)]
    return write(folder, "wide.csv", ",".join([*(f"g{j}" for j in range(columns)), "y"]),
                 [[*(f"{v:.3f}" for v in x), 2 * x[5] - 3 * x[100] + 1.5 * x[700] + g(0, 1)] for x in X])


def seeds(folder):
    """Three classes written 1, 2, 3."""
    g = draw(3)
    return write(folder, "seeds.csv", "area,length,variety",
                 [[i % 3 + g(0, 0.4), -(i % 3) + g(0, 0.5), i % 3 + 1] for i in range(90)])


def banknote(folder):
    """Two classes written 0, 1."""
    g = draw(4)
    return write(folder, "banknote.csv", "variance,skew,class",
                 [[2 * (i % 2) + g(0, 1), g(0, 1), i % 2] for i in range(120)])


def biopsy(folder):
    """Two classes written as words."""
    g = draw(8)
    return write(folder, "biopsy.csv", "thickness,size,class",
                 [[3 * (i % 2) + g(2, 1), 2 * (i % 2) + g(3, 1), ["benign", "malignant"][i % 2]] for i in range(120)])


def crabs(folder):
    """Two classes that two columns separate, but neither does alone."""
    g, rows = draw(5), []
    for i in range(200):
        size, d = g(0, 1), (0.15 if i % 2 else -0.15) + g(0, 0.04)
        rows.append([10 + 3 * size + d, 8 + 2.4 * size - d, g(0, 1), "BO"[i % 2]])
    return write(folder, "crabs.csv", "fl,rw,cl,sp", rows)


def inverse_gaussian(folder):
    """Michael, Schucany & Haas (1976)."""
    r, rows, shape = random.Random(2), [], 2
    for _ in range(300):
        x = r.gauss(0, 1)
        mu, n = math.exp(1 + 0.5 * x), r.gauss(0, 1) ** 2
        y = mu + mu * mu * n / (2 * shape) - mu / (2 * shape) * math.sqrt(4 * mu * shape * n + (mu * n) ** 2)
        rows.append([x, y if r.random() <= mu / (mu + y) else mu * mu / y])
    return write(folder, "ig.csv", "x,y", rows)


def rounded(folder):
    """The same numbers exact, rounded, and rounded but for eight."""
    g = draw(1)
    x = [g(100, 15) for _ in range(400)]
    return write(folder, "mixed.csv", "exact,whole,mixed",
                 [[v, round(v), round(v, 1) if i < 8 else round(v)] for i, v in enumerate(x)])


def linear(folder, name, seed, rows, columns, new=0):
    """Columns, coefficients and noise are standard normal; `new` rows more go to new.csv."""
    g, X = draw(seed), []
    b = [g(0, 1) for _ in range(columns)]
    for _ in range(rows + new):
        x = [g(0, 1) for _ in b]
        X.append([*x, sum(u * v for u, v in zip(b, x)) + g(0, 1)])
    header = ",".join([*(f"x{j}" for j in range(columns)), "y"])
    if new:
        write(folder, "new.csv", header, X[rows:])
    return write(folder, name, header, X[:rows])


def collinear(folder):
    g, rows = draw(0), []
    for _ in range(60):
        a, b = g(0, 1), g(0, 1)
        rows.append([a, b, a + b, 1.0000001 * a, 2 * a + b + g(0, 1)])
    return write(folder, "col.csv", "a,b,apb,a2,y", rows)


def sales(folder):
    """A straight line over days."""
    g = draw(6)
    return write(folder, "dt.csv", "date,sales",
                 [[f"2023-{1 + i // 28:02d}-{1 + i % 28:02d}", 0.5 * i + g(0, 1)] for i in range(56)])


def european(folder):
    lines = [f"{1 + i % 28:02d}.{1 + i // 28:02d}.2023;{1 + i % 9}.{100 + 7 * i % 900},{10 + i % 90};{i % 20} %;{i + 3},5"
             for i in range(56)]
    (folder / "euro.csv").write_text("\n".join(["datum;umsatz;quote;preis", *lines]) + "\n")
    return "euro.csv"


def zips(folder):
    """A category of very many levels."""
    r = random.Random(7)
    return write(folder, "zip.csv", "zip,x,y",
                 [[f"z{r.randrange(1500)}", r.gauss(0, 1), r.gauss(0, 1)] for _ in range(6000)])
