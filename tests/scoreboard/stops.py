"""Limits and signals: the walk of tests/cli/test_stops.py."""
import subprocess


def walk(by_signal):
    def run(board):
        import long_work
        from test_stops import SOON, stop
        folder = board.folder / "long"
        if not folder.exists():
            folder.mkdir()
            long_work.make_data(folder)
        some = long_work.commands(long_work.FEW)
        if not board.quick:
            if not (folder / "linear.cred").exists():
                long_work.make_models(board.program, folder)
            some += long_work.commands(long_work.MANY)
        allowed = SOON * (5 if board.sanitized() else 1)
        for words in some[:board.count(None, 2)]:
            how = [] if by_signal else ["--time-limit", "0.2s"]
            try:
                late = stop(board.program, folder, words, by_signal)
                if late > allowed:
                    late = stop(board.program, folder, words, by_signal)
                board.judge(late <= allowed, [*words, *how], why=f"{late:.2f} s of work after it was to end")
            except (AssertionError, subprocess.SubprocessError) as failure:
                board.judge(False, [*words, *how], why=str(failure)[:200])
    return run


LINES = [("limits of time", walk(False)), ("signals", walk(True))]
