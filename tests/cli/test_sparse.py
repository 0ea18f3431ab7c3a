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
    for name in ("b.csv", "b.libsvm"):
        a = credence("fit", "ridge", tmp_path / name, "--target", "y", "--format", "csv")
        assert a.stdout == credence("fit", "ridge", csv, "--target", "y", "--format", "csv").stdout


def test_label_as_category(credence, tmp_path):
    svm, _ = write(tmp_path / "a", 60, 50)
    out = json.loads(credence("describe", svm, "--category", "y", "--json").stdout)
    assert out["columns"][1]["type"] == "category" and out["columns"][1]["levels"] == 2
    assert out["sparse_columns"] == 50


def test_refusals(refused, tmp_path):
    svm, _ = write(tmp_path / "a", 40, 50)
    (tmp_path / "t.csv").write_text("a,b\n1,x\n")
    refused(3, "fit", "ridge", svm, "--target", "x51", says="column 'x51' not found")
    refused(3, "fit", "ridge", svm, "--target", "z", says="columns: x1 ... x50, y")
    refused(3, "convert", tmp_path / "t.csv", tmp_path / "t.libsvm", says="column 'b' is a category")
    wide = tmp_path / "wide.libsvm"
    wide.write_text("".join(f"{i} {1 + 1000 * i}:1\n" for i in range(100)))
    refused(6, "fit", "bayes-linear", wide, "--target", "y", "--memory-limit", "50M",
            says="dense matrix, here of 100 rows and 99001 columns")
