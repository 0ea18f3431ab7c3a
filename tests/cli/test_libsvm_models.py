"""Models of LIBSVM, read and written by `convert`."""
import csv
import pathlib

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/libsvm"


def answers(credence, model, rows):
    return list(csv.DictReader(credence("predict", model, rows, "--format", "csv").stdout.splitlines()))


def test_a_file_of_svm_train_predicts_and_goes_back(credence, tmp_path):
    for name, rows, column in (("three", "three", "label"), ("epsilon_linear", "number", "mean")):
        source = DATA / ("c_polynomial.model" if name == "three" else f"{name}.model")
        first, back, again = tmp_path / f"{name}.cred", tmp_path / f"{name}.model", tmp_path / f"{name}2.cred"
        credence("convert", source, first)
        credence("convert", first, back)
        credence("convert", back, again)
        said = [line.split()[0] for line in source.with_suffix(".out").read_text().splitlines()]
        for model in (first, again):
            for row, value in zip(answers(credence, model, DATA / f"{rows}.svm"), said, strict=True):
                assert abs(float(row[column]) - float(value)) <= 1e-5 * max(1, abs(float(value)))


def test_what_cannot_be(credence, refused, diabetes, tmp_path):
    model = tmp_path / "m.cred"
    credence("fit", "ridge", diabetes, "--target", "progression", "-o", model)
    refused(3, "convert", DATA / "c_rbf.model", tmp_path / "m.csv", says=["does not have the name of", ".cred"])
    refused(3, "convert", model, tmp_path / "m.csv", says=["does not have the name of", ".model"])
    refused(2, "convert", model, tmp_path / "m.model", says=["ridge cannot be written for LIBSVM", "svm"])
    cut = tmp_path / "cut.model"
    cut.write_text((DATA / "c_rbf.model").read_text()[:-20])
    refused(3, "convert", cut, tmp_path / "m2.cred", says=["cut.model", "support vectors follow, but total_sv is"])
