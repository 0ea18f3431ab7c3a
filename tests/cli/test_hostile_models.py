"""Model files with a right checksum and wrong contents: whoever opens a model that came from elsewhere opens no other
file by it, waits for nobody, and is told where its values are such as no fit gives."""
import csv
import io
import json
import os
import struct

import pytest

from conftest import check_failure
from test_data import archive, entries_of


def numbers(values, shape=None):
    """A .npy file of doubles."""
    shape = shape or (len(values),)
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}d", *values)


def values_of(npy):
    """The doubles of a .npy file, and its shape."""
    at = 10 + struct.unpack("<H", npy[8:10])[0]
    shape = tuple(int(n) for n in npy[10:at].decode().split("(")[1].split(")")[0].split(",") if n.strip())
    return list(struct.unpack(f"<{(len(npy) - at) // 8}d", npy[at:])), shape


@pytest.fixture
def forge(tmp_path):
    """Writes bad.cred, a model whose model.json `change` altered, and whose arrays `arrays` altered, by name."""
    def run(model, change=None, **arrays):
        entries = dict(entries_of(tmp_path / model))
        root = json.loads(entries["model.json"])
        if change:
            change(root)
        entries["model.json"] = json.dumps(root).encode()
        for name, alter in arrays.items():
            values, shape = values_of(entries[name + ".npy"])
            entries[name + ".npy"] = numbers(alter(values), shape)
        (tmp_path / "bad.cred").write_bytes(archive(tmp_path, entries.items()))
        return "bad.cred"
    return run


def setting(*path):
    """A change of model.json: the member at this path, whose last item is its value."""
    def change(root):
        for key in path[:-2]:
            root = root[key]
        assert path[-2] in root
        root[path[-2]] = path[-1]
    return change


@pytest.fixture
def words(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},{(i * 7) % 5}\n" for i in range(12)))


# --- no other file

@pytest.mark.parametrize("model, options", [("gp", ["--target", "y", "--optimize", "none"]),
                                            ("gp-online", ["--target", "y", "--optimize", "none"]),
                                            ("kernel-ridge", ["--target", "y"]),
                                            ("kernel-pca", ["--features", "x,y"])])
@pytest.mark.parametrize("other", ["bad.cred", "other.cred", "pipe", "/dev/zero"])
def test_loading_opens_no_other_file(credence, refused, forge, tmp_path, words, model, options, other):
    """By a kernel that names one: not itself, not one that would serve, not a pipe that nobody writes to."""
    assert credence("fit", "normal", "d.csv", "--features", "x", "-o", "other.cred").code == 0
    assert credence("fit", model, "d.csv", *options, "-o", "m.cred").code == 0
    os.mkfifo(tmp_path / "pipe")
    forge("m.cred", setting("state", "kernel", f'fisher(file="{other}")'))
    for verb in (["check"], ["describe"], ["predict", "d.csv"], ["update", "d.csv", "-o", "new.cred"]):
        if verb[0] == "update" and model.startswith("kernel"):
            continue
        refused(3, verb[0], "bad.cred", *verb[1:], says=["bad.cred", "the kernel"], timeout=10)


def test_the_settings_open_no_other_file(credence, forge, tmp_path, words):
    """What was asked for at the fit is kept in words, and followed no more."""
    assert credence("fit", "gp", "d.csv", "--target", "y", "--kernel", "rbf", "--hyper", "map", "-o", "m.cred").code == 0
    os.mkfifo(tmp_path / "pipe")
    forge("m.cred", setting("settings", "kernel", 'fisher(file="pipe")'))
    for verb in (["check"], ["describe"], ["predict", "d.csv"], ["update", "d.csv", "-o", "new.cred"]):
        assert credence(verb[0], "bad.cred", *verb[1:], timeout=10).code in (0, 3)


# --- designs

DESIGNS = [
    (("design", "target", "scale", 1e18), "target"),
    (("design", "target", "shift", 1.0), "target"),
    (("design", "target", "scale", 0), "target"),
    (("design", "target", "levels", ["b", "a", "c"]), "levels"),
    (("design", "target", "levels", []), "classes"),
    (("design", "target", "texts", []), "target"),
    (("design", "terms", 0, "column", 99), "column"),
    (("design", "terms", 0, "scale", -1), "scale"),
    (("design", "terms", 0, "power", 65), "range"),
]


@pytest.mark.parametrize("path, says", DESIGNS, ids=lambda v: str(v)[:60])
def test_designs_that_no_fit_makes(credence, refused, forge, examples, path, says):
    data = "examples/iris.csv"
    assert credence("fit", "qda", data, "--target", "species", "-o", "m.cred").code == 0

    def change(root):
        for key in path[:-2]:
            root = root[key]
        root[path[-2]] = path[-1]
    forge("m.cred", change)
    for verb in (["check"], ["predict", data], ["evaluate", data, "--rows"]):
        refused(3, verb[0], "bad.cred", *verb[1:], says=["bad.cred", says])


# --- states of conjugate models

CONJUGATE = [("von-mises", "examples/turtles.csv", []), ("von-mises", "examples/turtles.csv", ["--kappa", "2"]),
             ("normal", "examples/mcycle.csv", []), ("poisson", "examples/horsekicks.csv", ["--features", "deaths"]),
             ("exponential", "examples/failures.csv", []), ("uniform", "examples/failures.csv", []),
             ("beta-bernoulli", "d.csv", ["--features", "b"])]


def open_to(*names):
    """The arrays that may hold what is not finite, as the file says of itself."""
    def change(root):
        root["not_finite"] = sorted({*root.get("not_finite", []), *names})
    return change


@pytest.mark.parametrize("model, data, options", CONJUGATE, ids=lambda v: str(v))
def test_states_of_conjugate_models(credence, refused, forge, examples, tmp_path, model, data, options):
    """Nothing is drawn from a prior that is not a number, for ever."""
    (tmp_path / "d.csv").write_text("b\n" + "0\n1\n1\n" * 4)
    assert credence("fit", model, data, *options, "-o", "m.cred").code == 0
    assert credence("sample", "m.cred", "-n", 3).code == 0
    for name, alter in (("prior", lambda v: [float("nan")] * len(v)), ("prior", lambda v: [-5.0] * len(v)),
                        ("stats", lambda v: [float("inf")] * len(v)), ("stats", lambda v: [-1.0] * len(v)),
                        ("stats", lambda v: [float("nan")] * len(v))):
        forge("m.cred", open_to(name), **{name: alter})
        for verb in (["check"], ["sample", "-n", "3"]):
            refused(3, verb[0], "bad.cred", *verb[1:], says="bad.cred", timeout=20)


@pytest.mark.parametrize("model, arrays", [("mvn", ["prior_mean", "prior_scale", "xbar", "scatter"]),
                                           ("dirichlet-categorical", ["prior", "counts"])])
def test_states_of_vectors(credence, refused, forge, examples, model, arrays):
    columns = ["--features", "species"] if model.startswith("dirichlet") else ["--features", "*cm"]
    assert credence("fit", model, "examples/iris.csv", *columns, "-o", "m.cred").code == 0
    for name in arrays:
        for value in (float("nan"), float("inf"), -1e300):
            forge("m.cred", open_to(name), **{name: lambda v: [value, *v[1:]]})
            if (name, value) in (("prior_mean", -1e300), ("xbar", -1e300)):
                continue  # a place like any other
            refused(3, "check", "bad.cred", says="bad.cred")
            refused(3, "sample", "bad.cred", "-n", "3", says="bad.cred", timeout=20)


# --- values of other states, and what becomes of them

def negated(values):
    return [-v for v in values]


def one(value):
    return lambda values: [value, *values[1:]]


@pytest.mark.parametrize("fit, change, arrays", [
    (["spline", "examples/mcycle.csv", "--target", "accel"], setting("state", "sigma", -22.0), {}),
    (["spline", "examples/mcycle.csv", "--target", "accel"], None, {"knots": one(float("nan"))}),
    (["tree", "examples/iris.csv", "--target", "species"], None, {"value": negated}),
    (["tree", "examples/iris.csv", "--target", "species"], None, {"value": one(1e9)}),
    (["tree", "examples/mcycle.csv", "--target", "accel"], None, {"value": one(float("inf"))}),
    (["lasso", "examples/diabetes.csv", "--target", "progression"], None, {"path/nonzero": one(1e300)}),
    (["lasso", "examples/diabetes.csv", "--target", "progression"], None, {"path/nonzero": one(-1.0)}),
    (["gp", "examples/mcycle.csv", "--target", "accel", "--mean", "linear"], None, {"mean_column": one(1e300)}),
    (["adaboost", "examples/iris.csv", "--target", "species"], None, {"vote": one(float("nan"))}),
], ids=lambda v: v[0] if isinstance(v, list) else str(v)[:20])
def test_values_that_no_fit_gives(credence, refused, forge, examples, fit, change, arrays):
    assert credence("fit", *fit, "-o", "m.cred").code == 0

    def all_changes(root):
        open_to(*arrays)(root)
        if change:
            change(root)
    forge("m.cred", all_changes, **arrays)
    for verb in (["check"], ["describe"], ["predict", fit[1]]):
        refused(3, verb[0], "bad.cred", *verb[1:], says="bad.cred", timeout=20)


@pytest.mark.parametrize("fit, change, arrays", [
    (["linear", "examples/diabetes.csv", "--target", "progression"], None, {"factor": lambda v: [1e3 * x for x in v]}),
    (["linear", "examples/diabetes.csv", "--target", "progression"], setting("state", "mean_share", -9.0), {}),
    (["ridge", "examples/diabetes.csv", "--target", "progression"], setting("state", "dof", -3.0), {}),
    (["knn", "examples/iris.csv", "--target", "species"], setting("state", "smoothing", -0.9), {}),
    (["naive-bayes", "examples/iris.csv", "--target", "species"], None, {"class_weight": negated}),
    (["logistic", "examples/iris.csv", "--target", "species"], None, {"theta": lambda v: [float("nan")] * len(v)}),
    (["glm", "examples/horsekicks.csv", "--target", "deaths", "--family", "poisson"],
     setting("state", "phi", -4.0), {}),
], ids=lambda v: v[0] if isinstance(v, list) else str(v)[:20])
def test_no_answer_is_nonsense(credence, forge, examples, fit, change, arrays):
    """What a file of values that no fit gives leads to: a refusal, or answers that can be."""
    assert credence("fit", *fit, "-o", "m.cred").code == 0

    def all_changes(root):
        open_to(*arrays)(root)
        if change:
            change(root)
    forge("m.cred", all_changes, **arrays)
    result = credence("predict", "bad.cred", fit[1], timeout=30)
    if result.code:
        check_failure(result, result.code)
        assert result.code in (3, 4)
        return
    for row in csv.DictReader(io.StringIO(result.stdout)):
        shares = [float(v) for k, v in row.items() if k.startswith("p_") and v]
        assert not shares or (min(shares) >= 0 and sum(shares) == pytest.approx(1, abs=1e-5)), row
        assert not row.get("sd") or float(row["sd"]) >= 0, row
        assert not row.get("lower") or float(row["lower"]) <= float(row["upper"]), row


# --- shapes that belong to another model

@pytest.mark.parametrize("made, said", [("lda", "qda"), ("qda", "lda")])
def test_covariances_are_as_many_as_the_model_has(credence, refused, forge, examples, made, said):
    """One for all classes of lda, one for each of qda: an update would read past the end of the other's."""
    assert credence("fit", made, "examples/iris.csv", "--target", "species", "-o", "m.cred").code == 0

    def change(root):
        root["model"] = said
        root["settings"].pop("pool", None)
    forge("m.cred", change)
    for verb in (["check"], ["predict", "examples/iris.csv"], ["update", "examples/iris.csv", "-o", "new.cred"]):
        refused(3, verb[0], "bad.cred", *verb[1:])
