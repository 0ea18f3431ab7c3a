"""Images on the command line."""
import json
import struct
import zlib

import pytest

TRUTH = ["--truth", "examples/denoise/truth.pgm"]
NOISY = "examples/denoise/noisy.pgm"


def solve(credence, *args):
    result = credence("denoise", *args, "--json")
    assert result.code == 0, result
    return json.loads(result.stdout)


@pytest.fixture
def images(examples):
    return examples


def test_methods(credence, images):
    answers = {m: solve(credence, NOISY, *TRUTH, "--noise", 0.15, "--method", m)
               for m in ("cut", "icm", "max-product", "gibbs")}
    assert answers["cut"]["exact"] and not answers["icm"]["exact"]
    for a in answers.values():
        assert a["energy"] >= answers["cut"]["energy"] - 1e-6
        assert a["energy"] < a["energy_before"] and a["error"] < 0.03 < 0.1 < a["error_before"]


def test_other_names_are_refused(credence, refused, images, tmp_path):
    refused(2, "denoise", NOISY, "-o", "a.jpg", says=["PNG and PGM images", "'a.jpg'", ".png or .pgm"])
    refused(2, "denoise", NOISY, "-o", "a", says="PNG and PGM images")
    assert credence("denoise", NOISY, "--network", "a.uai.gz").code == 0
    assert (tmp_path / "a.uai.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert ".bif" not in credence("help", "denoise").stdout


def test_png_and_pgm(credence, images, tmp_path):
    assert credence("denoise", NOISY, "-o", "a.png").code == 0
    assert credence("denoise", NOISY, "-o", "b.pgm").code == 0
    png, pgm = (tmp_path / "a.png").read_bytes(), (tmp_path / "b.pgm").read_bytes()
    assert pgm.startswith(b"P5\n96 96\n255\n") and set(pgm[-96 * 96:]) == {0, 255}
    width, height = struct.unpack(">II", png[16:24])
    size, = struct.unpack(">I", png[33:37])
    rows = zlib.decompress(png[41:41 + size])
    assert (width, height) == (96, 96)
    assert b"".join(rows[y * 97 + 1:(y + 1) * 97] for y in range(96)) == pgm[-96 * 96:]
    again = solve(credence, "a.png", "--coupling", 0)  # nothing to do
    assert again["changed"] == 0


def test_options(credence, images, tmp_path):
    grey = solve(credence, "examples/denoise/grey-noisy.pgm", "--labels", 8, "--noise", 0.12, "--coupling", 0.6,
                 "--truncate", 3, "--truth", "examples/denoise/grey.pgm", "--sweeps", 50, "-o", "g.pgm")
    assert grey["error"] < 0.6 * grey["error_before"] and grey["labels"] == 8
    assert len(set((tmp_path / "g.pgm").read_bytes()[-96 * 96:])) <= 8
    assert solve(credence, NOISY, "--method", "gibbs", "--seed", 1) != solve(credence, NOISY, "--method", "gibbs", "--seed", 2)
    early = credence("denoise", NOISY, "--method", "max-product", "--sweeps", 1)
    assert early.code == 0 and "without converging" in early.stderr
    assert credence("denoise", NOISY, "--method", "max-product", "--sweeps", 1, "--strict").code == 4


def test_network(credence, images, tmp_path):
    (tmp_path / "s.pbm").write_text("P1 3 3 1 1 1 1 0 1 1 1 1")
    best = solve(credence, "s.pbm", "--network", "s.cred", "-o", "s.pgm")
    answer = json.loads(credence("query", "s.cred", "argmax(*)", "P(*)", "--json").stdout)["results"]
    assert best["changed"] == 1 and set(answer[0]["assignment"].values()) == {"0"}
    assert set((tmp_path / "s.pgm").read_bytes()[-9:]) == {0}
    assert answer[1]["marginals"]["p1_1"]["0"] > 0.5


def test_what_is_wrong(credence, images, refused, tmp_path):
    (tmp_path / "small.pgm").write_text("P2 1 1 1 0")
    (tmp_path / "text.pgm").write_text("no image")
    refused(3, "denoise", "text.pgm", says="not an image of the formats PGM, PBM or PNG")
    refused(3, "denoise", NOISY, "--truth", "small.pgm", says="has 1 x 1 pixels")
    refused(2, "denoise", NOISY, "--noise", 0.6, says="below 0.5")
    refused(2, "denoise", NOISY, "--method", "magic", says="cut")
    refused(5, "denoise", "missing.pgm", says="missing.pgm")
    refused(2, "denoise", NOISY, "-o", NOISY, says="would replace the input")
