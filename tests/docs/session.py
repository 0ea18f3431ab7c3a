"""Shell sessions in Markdown pages: finding, running and comparing them.

A fence marked `console` holds a session.  A line `$ command` is run (lines `> ...` below it go on with
the command), on a pseudo-terminal, so that programs print what a person would see.  The lines up to the
next command are what it prints, both streams together; a line `...` stands for any lines; a last line
`(exit 3)` says that the command fails with that code."""
import os
import pty
import re
import resource
import signal
import subprocess
import termios
import threading
from typing import NamedTuple

TIMEOUT = 120  # seconds, for one command
REPORTS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "Sanitizer:DEADLYSIGNAL")

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
EXIT = re.compile(r"^\(exit (\d+)\)$")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w|\.\w)")
SECONDS = re.compile(r"(seconds\"?\s*[:=,]?\s*)[-+.\deE]+")


class Step(NamedTuple):
    line: int      # of the command, from 1
    end: int       # the line after the last one of its output
    command: str
    expected: list


def steps_of(text):
    """The steps of all sessions of a page."""
    for fence in FENCE.finditer(text):
        if fence[1] != "console":
            continue
        at = text.count("\n", 0, fence.start(2)) + 1
        lines = fence[2].splitlines()
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        if lines and starts[:1] != [0]:
            raise ValueError(f"line {at}: a session begins with a command")
        for i, stop in zip(starts, [*starts[1:], len(lines)]):
            body = i + 1
            while body < stop and lines[body].startswith("> "):
                body += 1
            command = "\n".join(line[2:] for line in lines[i:body])
            yield Step(at + i, at + stop, command, lines[body:stop])


# --- running ---------------------------------------------------------------------------------------

TIMES = []  # (seconds of the processor, command) of all that was run


class timed:
    """Around a command: notes what it and its children used of the processor."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.before = self.used()

    def __exit__(self, *_):
        TIMES.append((self.used() - self.before, str(self.command)))

    @staticmethod
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


def clean(text):
    """What stays on the screen: progress that was drawn over is gone."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [re.split(r"\r\x1b\[K", line)[-1].rstrip() for line in lines]


def run(command, folder, environment):
    """The lines a command prints on a terminal, with `(exit N)` at the end when it fails."""
    reading, writing = pty.openpty()
    mode = termios.tcgetattr(writing)
    mode[1] &= ~termios.OPOST          # no carriage returns
    termios.tcsetattr(writing, termios.TCSANOW, mode)
    child = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=writing,
                             stderr=writing, cwd=folder, env=environment, start_new_session=True)
    os.close(writing)
    late = threading.Timer(TIMEOUT, os.killpg, [child.pid, signal.SIGKILL])
    late.start()
    text = b""
    try:
        while piece := os.read(reading, 65536):
            text += piece
    except OSError:                    # the last writer is gone
        pass
    code = child.wait()
    late.cancel()
    os.close(reading)
    lines = clean(text.decode(errors="replace"))
    if lines[-1] == "":
        lines.pop()
    return lines + ([f"(exit {code})"] if code else [])


# --- comparing -------------------------------------------------------------------------------------

def numbers_agree(want, got):
    """Whole numbers below a million exactly; others to 1e-6, or to the sixth digit where no more than
    that are shown."""
    if want == got:
        return True
    digits = len(re.sub(r"[eE].*|[-+.]", "", want).lstrip("0"))
    if want.lstrip("-+").isdigit() and got.lstrip("-+").isdigit() and digits < 6:
        return False
    a, b = float(want), float(got)
    unit = 10.0 ** (int(f"{abs(a):e}".split("e")[1]) - 5) if digits <= 7 else 0
    return abs(a - b) <= 1.001 * max(1e-6 * abs(a), unit)


def lines_agree(want, got):
    """The same text, blanks apart, and numbers that agree; times do not count."""
    want, got = (SECONDS.sub(r"\1T", " ".join(line.split())) for line in (want, got))
    if NUMBER.split(want) != NUMBER.split(got):
        return False
    return all(map(numbers_agree, NUMBER.findall(want), NUMBER.findall(got)))


def texts_agree(want, got):
    """All lines agree; `...` in want stands for any lines."""
    reach = {0}                        # how many lines of got the lines of want so far can match
    for line in want:
        if line.strip() == "...":
            reach = set(range(min(reach), len(got) + 1)) if reach else set()
        else:
            reach = {i + 1 for i in reach if i < len(got) and lines_agree(line, got[i])}
    return len(got) in reach


def shortened(want, got):
    """got, with what `...` left out of want left out again: as many lines before and after."""
    dots = [i for i, line in enumerate(want) if line.strip() == "..."]
    if not dots:
        return got
    before, after = dots[0], len(want) - dots[-1] - 1
    if before + after >= len(got):
        return got
    return got[:before] + ["..."] + got[len(got) - after:]


# --- a page ----------------------------------------------------------------------------------------

def check_page(text, folder, environment):
    """Runs all sessions of a page, in order, in one folder.  Gives the problems, [(line, what)], and the
    page as it should be."""
    problems, lines, moved = [], text.splitlines(), 0
    for step in steps_of(text):
        with timed(step.command):
            got = run(step.command, folder, environment)
        if any(report in line for report in REPORTS for line in got):
            problems.append((step.line, "a sanitizer report:\n" + "\n".join(got)))
        elif not texts_agree(step.expected, got):
            problems.append((step.line, "\n".join([f"$ {step.command}", "--- the page shows",
                                                   *step.expected, "--- it prints", *got])))
            new = shortened(step.expected, got)
            first = step.end - 1 - len(step.expected) + moved
            lines[first:step.end - 1 + moved] = new
            moved += len(new) - len(step.expected)
    return problems, "\n".join(lines) + "\n"
