"""Damaged and hostile input: every parser, every file of a model, with its checksum right or wrong."""
import contextlib
import os
import sqlite3
import subprocess

from board import ROOT, Skipped

CORPUS = ROOT / "tests/fuzz/corpus"
CSV = b'name,x,when,y\n"a, b",1.5,true,3\nb,-2e-3,false,4.25\n"c ""c""",,true,5\n'


def seeds_of(board, target):
    """What fuzzing found worth keeping; else a sound file."""
    if (CORPUS / target).exists():
        return [p.read_bytes() for p in sorted((CORPUS / target).iterdir())]
    if target == "cred":  # the first byte: as it is, or with its checksum made right
        return [first + fitted(board).read_bytes() for first in (b"\0", b"\1")]
    if target == "model":  # the kind, then changes of three bytes
        return [board.random.randbytes(1 + 3 * n) for n in range(1, 30)]
    if target in ("csv", "stream"):  # the first byte: options
        return [bytes([i]) + text for i in range(4) for text in (board.example("iris.csv").read_bytes()[:2000], CSV)]
    if target == "uai":
        return [board.example("networks/misconception.uai").read_bytes()]
    if target == "libsvm":
        return [b"1 1:0.5 3:-2e-3\n-1 2:7 # note\n0 qid:3 1:1\n" * 3]
    if target == "sqlite":
        path = board.folder / "seed.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("create table t (a real, b text, y integer)")
            db.executemany("insert into t values (?, ?, ?)", [(0.5, "u", 1), (None, "v", 2), (1e300, "", 3)])
        return [b"\0" + path.read_bytes()]
    if target == "npy":
        board.run(["convert", board.example("mcycle.csv"), "seed.npy"])
        return [(board.folder / "seed.npy").read_bytes()[:1000]]
    raise Skipped(f"there is no seed for {target}")


def mutants(board, target):
    from test_mutations import mutate
    seeds = seeds_of(board, target)
    for _ in range(board.count(5000, 150)):
        yield mutate(board.random.choice(seeds), board.random)


def parser(target):
    """Mutants of the seeds, a hundred to a process; the last one that it names is the one that failed."""
    def run(board):
        program = board.build / f"tests/fuzz/fuzz_{target}"
        if not program.exists():
            raise Skipped(f"{program} is not built")
        folder = board.folder / f"mutants-{target}"
        folder.mkdir(exist_ok=True)
        some = list(mutants(board, target))
        for at in range(0, len(some), 100):
            paths = []
            for i, data in enumerate(some[at:at + 100]):
                paths.append(folder / f"{at + i}")
                paths[-1].write_bytes(data)
            done = subprocess.run([program, *paths], capture_output=True, timeout=600,
                                  env=os.environ | {"ASAN_OPTIONS": "handle_sigill=1"})
            board.tried += len(paths)
            if done.returncode != 0:
                last = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
                board.failures.append(f"{program} {''.join(last)}")
            for path in paths:
                if str(path) not in "".join(board.failures):
                    path.unlink()
    return run


def fitted(board):
    path = board.folder / "sound.cred"
    if not path.exists():
        board.run(["fit", "ridge", board.example("diabetes.csv"), "--target", "progression", "-o", path])
    return path


def damaged_models(board):
    """Never taken for a sound one."""
    from test_mutations import mutate
    whole = fitted(board).read_bytes()
    for i in range(board.count(2000, 20)):
        damaged = mutate(whole, board.random)
        if damaged == whole:
            continue
        path = board.folder / f"damaged-{i}.cred"
        path.write_bytes(damaged)
        if board.judge_end(board.run(["check", path]), {3}, ["check", path]):
            path.unlink()


def hostile_models(board):
    """Values that no fit gives, with the right checksum: refused, or at least no crash."""
    from test_data import archive, entries_of
    from test_mutations import mutate
    entries = entries_of(fitted(board))
    for i in range(board.count(1000, 10)):
        which = board.random.choice([0, board.random.randrange(len(entries))])
        path = board.folder / f"hostile-{i}.cred"
        path.write_bytes(archive(board.folder, [(n, mutate(c, board.random) if k == which else c)
                                                for k, (n, c) in enumerate(entries)]))
        words = ["predict", path, board.example("diabetes.csv")]
        if board.judge_end(board.run(words), {0, 3, 4}, words):
            path.unlink()


LINES = [*((f"malformed input, {target}", parser(target))
           for target in sorted(p.stem.removeprefix("fuzz_") for p in (ROOT / "tests/fuzz").glob("fuzz_*.c"))),
         ("damaged models", damaged_models), ("hostile models", hostile_models)]
