"""Sparse data through the program: the same answers as the same numbers in CSV, at any width."""
import json
import random


def write(path, rows, width, seed=0, label=lambda r: r.choice((-1, 1))):
    """Random rows as LIBSVM and, beside it, as CSV with all its zeros."""
    rng = random.Random(seed)
    csv = [",".join([*(f"x{j + 1}" for j in range(width)), "y"])]
    svm = []
    for i in range(rows):
        places = {0, width - 1} if i == 0 else {j for j in range(width) if rng.random() < 0.1}
        row = {j: rng.randint(1, 9) / 4 for j in places}
        y = label(rng)
        svm.append(" ".join([str(y), *(f"{j + 1}:{row[j]}" for j in sorted(row))]))
        csv.append(",".join([*(str(row.get(j, 0)) for j in range(width)), str(y)]))
    path.with_suffix(".libsvm").write_text("\n".join(svm) + "\n")
    path.with_suffix(".csv").write_text("\n".join(csv) + "\n")
    return path.with_suffix(".libsvm"), path.with_suffix(".csv")


def test_describe(credence, tmp_path):
    svm, _ = write(tmp_path / "a", 60, 50)
    out = json.loads(credence("describe", svm, "--json").stdout)
    assert out["rows"] == 60 and out["sparse_columns"] == 50 and 0.05 < out["density"] < 0.15
    assert [column["name"] for column in out["columns"]] == ["x1..x50", "y"]
    assert "60 rows, 51 columns, sparse: " in credence("describe", svm, "--format", "text").stdout


def test_fit_and_predict_as_from_csv(credence, tmp_path):
    svm, csv = write(tmp_path / "a", 90, 40)
    answers = {}
    for data in (svm, csv):
        model = tmp_path / f"{data.suffix[1:]}.cred"
        assert credence("fit", "ridge", data, "--target", "y", "-o", model, "--json").code == 0
        for other in (svm, csv):
            out = credence("predict", model, other, "--format", "csv").stdout.splitlines()
            answers[data.suffix, other.suffix] = [float(line.split(",")[0]) for line in out[1:]]
    first = answers[".csv", ".csv"]
    for other in answers.values():
        assert max(abs(a - b) for a, b in zip(first, other)) < 1e-11 and len(other) == 90


def test_convert_there_and_back(credence, tmp_path):
    svm, csv = write(tmp_path / "a", 30, 40)
    for source, target in ((svm, "b.csv"), (csv, "b.libsvm"), (svm, "c.libsvm"), (svm, "b.npy")):
        assert credence("convert", source, tmp_path / target).code == 0
    assert (tmp_path / "b.libsvm").read_text() == (tmp_path / "c.libsvm").read_text()
    wanted = json.loads(credence("fit", "ridge", csv, "--target", "y", "--json").stdout)["parameters"]
    for name in ("b.csv", "b.libsvm"):
        out = credence("fit", "ridge", tmp_path / name, "--target", "y", "--json").stdout
        for a, b in zip(json.loads(out)["parameters"], wanted, strict=True):
            assert a["name"] == b["name"]
            assert abs(a["value"] - b["value"]) < 1e-11 and abs(a["sd"] - b["sd"]) < 1e-11


def test_label_as_category(credence, tmp_path):
    svm, _ = write(tmp_path / "a", 60, 50)
    out = json.loads(credence("describe", svm, "--category", "y", "--json").stdout)
    assert out["columns"][1]["type"] == "category" and out["columns"][1]["levels"] == 2
    assert out["sparse_columns"] == 50


def test_wide(credence, tmp_path):
    """10^5 columns through ridge and lasso, within a memory that their matrix would not fit."""
    rng = random.Random(7)
    data = tmp_path / "wide.libsvm"
    with data.open("w") as f:
        for i in range(200):
            row = {rng.randrange(20): rng.random()} | {rng.randrange(20, 100000): rng.random() for _ in range(9)}
            y = 1 + sum(3 * v for j, v in row.items() if j < 10) + rng.gauss(0, 0.1)
            f.write(" ".join([f"{y:.5f}", *(f"{j + 1}:{v:.4f}" for j, v in sorted(row.items()))]) + "\n")
        f.write("1 100000:0.5\n")
    for model in (["ridge", "--lambda", "0.1", "--scale", "none"],
                  ["ridge", "--lambda", "0.1", "--scale", "none", "--solver", "lsqr"],
                  ["ridge", "--lambda", "0.1", "--scale", "none", "--solver", "cg"],
                  ["lasso", "--lambda", "0.05"]):
        out = tmp_path / "m.cred"
        fitted = json.loads(credence("fit", *model, data, "--target", "y", "-o", out, "--json",
                                     "--memory-limit", "100M").stdout)
        assert fitted["terms"] == 100000 and fitted["statistics"]["r2"] > 0.6
        assert credence("predict", out, data, "--memory-limit", "100M").code == 0


def test_refusals(refused, tmp_path):
    svm, _ = write(tmp_path / "a", 40, 50)
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    refused(3, "fit", "ridge", svm, "--target", "x51", says="column 'x51' not found")
    refused(3, "fit", "ridge", svm, "--target", "z", says="columns: x1 ... x50, y")
    refused(3, "convert", tmp_path / "t.csv", tmp_path / "t.libsvm", says="column 'b' is a category")
    refused(2, "fit", "linear", svm, "--target", "y", "--select", "best", says="does not take sparse data")
    refused(4, "fit", "linear", svm, "--target", "y", "--solver", "lsqr", says="50 columns and 40 rows: least "
            "squares has no unique answer")
    wide = tmp_path / "wide.libsvm"
    wide.write_text("".join(f"{i} {1 + 1000 * i}:1\n" for i in range(100)))
    refused(4, "fit", "glm", wide, "--target", "y", "--family", "poisson", says="99001 columns and 100 rows: without a "
            "penalty the likelihood has no unique maximum")
    refused(6, "fit", "bayes-linear", wide, "--target", "y", "--memory-limit", "50M", "--solver", "primal",
            says="there are 99001 columns: each matrix of columns by columns takes 78.4 GB")
