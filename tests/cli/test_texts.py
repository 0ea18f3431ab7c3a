"""Columns of text, given to models of numbers that have no target."""
import pytest

ROWS = "a,b,c,kind\n" + "".join(f"{i % 6},{(i * 7) % 11},{(i * i) % 13},{'uvw'[i % 3]}\n" for i in range(20))


@pytest.mark.parametrize("model", ["fa", "gmm", "kmeans", "mvn", "pca", "ppca"])
def test_texts_are_not_described_as_numbers(credence, refused, tmp_path, model):
    (tmp_path / "d.csv").write_text(ROWS)
    for more in ([], ["--stream"]):
        refused(3, "fit", model, "d.csv", *more, says=["column 'kind' contains text", "--features '!kind'"])
        assert credence("fit", model, "d.csv", "--features", "!kind", *more).code == 0


def test_kernel_pca_names_the_texts_that_it_compares(credence, tmp_path):
    (tmp_path / "d.csv").write_text(ROWS)
    assert "--features '!kind' leaves it out" in credence("fit", "kernel-pca", "d.csv").stderr
    for more in (["--features", "!kind"], ["--kernel", "hamming(kind)"]):
        result = credence("fit", "kernel-pca", "d.csv", *more)
        assert result.code == 0 and "contains text" not in result.stderr
