"""Files with random damage, from fixed seeds: never a crash, never a damaged model that is taken for a sound one."""
import random

import pytest

from conftest import check_failure
from test_data import archive, entries_of

pytestmark = pytest.mark.slow

CSV = b'name,x,when,y\n"a, b",1.5,true,3\nb,-2e-3,false,4.25\n"c ""c""",,true,5\nd,7,false,NA\ne,8,true,1\n' * 2
ALPHABET = [b",", b'"', b"\n", b"\r", b"\t", b";", b"\0", b"\xff", b"1e999", b"inf", b"nan", b"-", b"0" * 40,
            b"\xef\xbb\xbf", b"true", b" ", b"=", b"'", b"\x1b[2J"]


def mutate(data, rng):
    """One to four small accidents: bits flip, bytes are lost, doubled, moved or replaced."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, n = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 7, 40])
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:at + n]
        elif kind == 2:
            data[at:at] = data[at:at + n]
        elif kind == 3:
            data[at:at + n] = rng.choice(ALPHABET)
        elif kind == 4:
            del data[at:]
        else:
            data[at:at] = rng.randbytes(n)
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize("part", range(6))
def test_mutated_csv(credence, tmp_path, part):
    rng = random.Random(100 + part)
    codes = set()
    for _ in range(50):
        (tmp_path / "d.csv").write_bytes(mutate(CSV, rng))
        result = credence("fit", "ridge", "d.csv", "--target", "y", "--missing", "drop", "-o", "m.cred", "-q",
                          binary=True)
        codes.add(result.code)
        saved = (tmp_path / "m.cred").exists()
        assert saved == (result.code == 0)
        if saved:
            (tmp_path / "m.cred").unlink()
        else:
            check_failure(result._replace(stderr=result.stderr.decode(errors="replace")), result.code)
    assert codes <= {0, 3, 4} and 3 in codes


@pytest.mark.parametrize("part", range(6))
def test_mutated_model(credence, model_bytes, tmp_path, part):
    rng = random.Random(200 + part)
    for _ in range(50):
        damaged = mutate(model_bytes, rng)
        (tmp_path / "m.cred").write_bytes(damaged)
        result = credence("check", "m.cred")
        if damaged == model_bytes:
            continue
        check_failure(result, 3, "m.cred")


@pytest.mark.parametrize("part", range(3))
def test_mutated_model_with_the_right_checksums(credence, model, examples, tmp_path, part):
    """Damage that no checksum shows: what is inside is checked as well."""
    rng = random.Random(300 + part)
    entries = entries_of(model)
    for _ in range(40):
        which = rng.choice([0, rng.randrange(len(entries))])
        changed = [(n, mutate(c, rng) if i == which else c) for i, (n, c) in enumerate(entries)]
        (tmp_path / "m.cred").write_bytes(archive(tmp_path, changed))
        result = credence("check", "m.cred")
        assert result.code in (0, 3), result
        if result.code == 3:
            check_failure(result, 3, "m.cred")
        else:
            for command in (["describe", "m.cred", "--json"], ["predict", "m.cred", "examples/diabetes.csv"]):
                assert credence(*command).code in (0, 3, 4)
