"""A machine that fails: memory, calls to the system, disks, processes that are killed."""
import errno
import resource
import struct
import subprocess
import time

from board import ROOT

OLD = b"what was there before"
NTH = "CREDENCE_FAIL_ALLOCATION"


def commands(board):
    """What writes, and where to; what only reads."""
    data = board.example("diabetes.csv")
    yield ["fit", "ridge", data, "--target", "progression", "-o", "out.cred"], "out.cred"
    yield ["convert", data, "out.csv.gz"], "out.csv.gz"
    yield ["describe", data], None


def prepare(board, output):
    if output:
        (board.folder / output).write_bytes(OLD)


def kept(board, output, done):
    """The old file, or a whole new one, which it must be where nothing failed; and nothing beside it."""
    if list(board.folder.glob(".*credence-*")):
        return False
    if not output:
        return True
    if (board.folder / output).read_bytes() == OLD:
        return done.returncode != 0
    return board.run(["check", output]).returncode == 0


def failed_allocations(board):
    """By the program's own hook in builds for tests, or else by a library that is loaded first."""
    if board.sanitized():
        def setting(n):
            return {NTH: str(n)}
        first = 1
    else:
        from test_no_memory import NTH as source
        (board.folder / "nth.c").write_text(source)
        library = board.library(board.folder / "nth.c")

        def setting(n):
            return {"LD_PRELOAD": str(library), "FAIL_NTH": str(n)}
        first = 40  # those before belong to the Fortran runtime
    for words, output in commands(board):
        n = first
        for _ in range(board.count(400, 12)):
            prepare(board, output)
            done = board.run(words, setting(n))
            if board.judge_end(done, {0, 6}, words, setting(n)):
                board.tried -= 1
                board.judge(kept(board, output, done), words, setting(n), "the file is neither old nor new")
            n += 1 if n < first + 40 else n // 20
            n += board.random.randrange(40) if board.quick else 0


def failed_calls(board):
    library = board.library(ROOT / "tests/scoreboard/failing_calls.c")
    mark = board.folder / "happened"
    for words, output in commands(board):
        for call in ("open", "read", "write", "fsync", "rename", "close"):
            for reason in (errno.EIO, errno.ENOSPC) if call == "write" else (errno.EIO,):
                for n in range(1, board.count(200, 4)):
                    env = {"LD_PRELOAD": str(library), "FAIL_CALL": call, "FAIL_NTH": str(n), "FAIL_MARK": str(mark),
                           "FAIL_ERRNO": str(reason), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
                    prepare(board, output)
                    done = board.run(words, env)
                    if not mark.exists():
                        break  # there are no more of them
                    mark.unlink()
                    if board.judge_end(done, {0, 3, 5, 6}, words, env):
                        board.tried -= 1
                        board.judge(kept(board, output, done), words, env, "the file is neither old nor new")


def cut_files(board):
    """A file that becomes shorter while it is mapped."""
    library = board.library(ROOT / "tests/scoreboard/failing_calls.c")
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 2), }".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(1600000)
    for words in (["describe", "cut.npy"], ["check", "cut.npy"], ["convert", "cut.npy", "out.csv"])[:board.count(3, 1)]:
        (board.folder / "cut.npy").write_bytes(data)
        env = {"LD_PRELOAD": str(library), "FAIL_CALL": "cut", "FAIL_NTH": "1",
               "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        board.judge_end(board.run(words, env), {5}, words, env)


def killed_saves(board):
    """kill -9 at any moment of a save leaves the old model or the new one."""
    words = ["fit", "ridge", board.example("diabetes.csv"), "--target", "progression", "-o", "out.cred"]
    (board.folder / "out.cred").unlink(missing_ok=True)
    begin = time.monotonic()
    board.run(words)
    whole = time.monotonic() - begin
    for _ in range(board.count(500, 8)):
        process = subprocess.Popen([board.program, *words], cwd=board.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(whole * board.random.random() * 1.2)
        process.kill()
        process.wait()
        board.judge_end(board.run(["check", "out.cred"]), {0}, ["check", "out.cred"])
    board.run(words)
    board.judge(not list(board.folder.glob(".*credence-*")), words, why="what killed saves left is still there")


def full_disks(board):
    """Files that may not grow past a size, and a device without room."""
    for words, output in commands(board):
        if not output:
            words = [*words, "-o", "out.csv"]
            output = "out.csv"
        for _ in range(board.count(60, 4)):
            size = board.random.randrange(1, 3000)
            prepare(board, output)
            done = board.run(words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
            if board.judge_end(done, {0, 5}, words):
                board.tried -= 1
                board.judge(kept(board, output, done), words, why=f"ulimit -f {size} bytes: neither old nor new")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([board.program, *map(str, words[:-2] if "-o" in words else words[:2]), *(
                ["-"] if words[0] == "convert" else [])], cwd=board.folder, stdout=full, stderr=subprocess.PIPE)
        board.judge(done.returncode == 5, words, why="/dev/full was taken for room")


LINES = [("failed allocations", failed_allocations), ("failed calls to the system", failed_calls),
         ("files cut short while they are read", cut_files), ("kill -9 during saves", killed_saves),
         ("full disks", full_disks)]
