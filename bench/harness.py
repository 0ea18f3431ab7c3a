"""How a measurement is made: ours and a peer alternately, each run a process of its own.

A run prints JSON, one object per line or one over several lines; the last object counts.  Its "seconds"
is the time of the work alone, by the program's own clock; wall time, CPU time and peak memory are those
of the whole process.  Speed counts only at equal quality, so each run also prints a quality."""
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"
SHARED = pathlib.Path(__file__).resolve().parents[1].parent / "shared/data/tabular"


@dataclasses.dataclass
class Task:
    """One line of the table.  In `ours` and `peer`, {build}, {data} and {threads} are filled in."""
    name: str
    about: str
    ours: list
    peer: list = None
    data: tuple = None          # (file name with size and seed, function(path) that writes it)
    clock: str = "seconds"      # what is compared: "seconds" (the work) or "wall" (the process)
    quality: object = None      # key in the JSON, or a function of it
    judge: str = "equal"        # the better quality is the "lower", the "higher", or it must be "equal"
    tolerance: float = 0.0      # relative slack of that judgement
    goal: float = None          # at least this many times faster than the peer
    limit: float = None         # at most this many seconds
    recorded: tuple = None      # (a peer that is not at hand, its seconds where it was measured): a second ratio
    most: float = None          # at most this quality: the exponent of a cost
    threads: int = os.cpu_count()
    scaling: object = 1.6       # what the other cores are worth: this at least; a sentence, where it is less and why;
                                # None: not asked
    needs: tuple = ()           # modules the peer imports; "R:name" for a package of R


@dataclasses.dataclass
class Contest:
    """A driver in C that runs both sides by turns itself: `driver N RUNS` prints one JSON line with the
    median of each contestant.  Gives one line of the table for each (name, ours, peer, goal), where ours
    and peer say by which values their line is known."""
    name: str
    about: str
    driver: list
    lines: list


class CannotRun(Exception):
    """A reason to leave a task out: something it needs is not there."""


class Failed(Exception):
    """A run that should have worked did not."""


def python(snippet, *args):
    """A peer: a snippet of Python with arguments."""
    return [PYTHON, "-c", snippet, *args]


def copy_of(name):
    """A data set that does not ship with the project."""
    def make(path):
        if not (SHARED / name).exists():
            raise CannotRun(f"{SHARED / name} is not there")
        shutil.copy(SHARED / name, path)
    return make


def objects_in(text):
    """All JSON objects in the output, in order."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            found.append(value)
        except ValueError:
            at += 1
    return found


def last_object(text):
    """The last JSON object in the output, {} if there is none."""
    return (objects_in(text) or [{}])[-1]


class Harness:
    def __init__(self, build, pairs, core_type=None):
        self.build = pathlib.Path(build).resolve()
        self.cache = self.build.parent / "bench"
        self.pairs = pairs
        self.core_type = core_type
        self.measure = self.build / "bench/measure"

    def data(self, task):
        """The path of the task's data, made when it is not there yet."""
        if not task.data:
            return None
        name, make = task.data
        path = self.cache / name
        if not path.exists():
            print(f"  making {path}", file=sys.stderr)
            self.cache.mkdir(parents=True, exist_ok=True)
            part = path.with_name("part-" + name)
            make(part)
            part.rename(path)
        return path

    def start(self, argv, threads):
        """Runs a command to its end: (what it printed, wall seconds, CPU seconds, peak bytes).  With one thread
        it has but one core, so that a program that counts cores uses one too."""
        core = min(os.sched_getaffinity(0))
        argv = ["taskset", "-c", str(core), *argv] if threads == 1 else argv
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        if self.core_type:
            environment["OPENBLAS_CORETYPE"] = self.core_type
        with tempfile.NamedTemporaryFile("r") as figures:
            done = subprocess.run([self.measure, figures.name, *argv], env=environment, text=True,
                                  capture_output=True, stdin=subprocess.DEVNULL, check=False)
            fields = figures.read().split()
        if not fields or fields[0] != "0":
            why = done.stderr.strip().splitlines() or [f"exit code {fields[0] if fields else '?'}"]
            raise Failed(f"{' '.join(map(str, argv))[:80]}: {why[0]}")
        return done.stdout, *map(float, fields[1:])

    def run(self, argv, task, threads=None):
        """One run of one side: {"wall", "cpu", "memory", "seconds", "quality"}."""
        printed, wall, cpu, memory = self.start(argv, threads or task.threads)
        said = last_object(printed)
        quality = task.quality(said) if callable(task.quality) else said.get(task.quality)
        return {"wall": wall, "cpu": cpu, "memory": memory, "quality": quality,
                "seconds": said.get("seconds", wall)}

    def check_present(self, program, modules=()):
        if not pathlib.Path(program).exists():
            raise CannotRun(f"{pathlib.Path(program).name} is not built")
        for module in modules:
            in_r = module.startswith("R:")
            if in_r and not shutil.which("Rscript"):
                raise CannotRun("Rscript is not there")
            ask = ["Rscript", "-e", f"library({module[2:]})"] if in_r else [PYTHON, "-c", f"import {module}"]
            if subprocess.run(ask, capture_output=True, check=False).returncode:
                raise CannotRun(f"R has no {module[2:]}" if in_r else f"Python has no {module}")

    def compare(self, task):
        """The result of one task: both sides' runs, those of ours on one core, and the ratio of each pair."""
        names = {"build": self.build, "data": ""}
        sides = {"ours": task.ours} | ({"peer": task.peer} if task.peer else {})
        sides |= {"alone": task.ours} if task.threads > 1 and task.scaling else {}
        self.check_present(task.ours[0].format(**names), task.needs)
        names["data"] = self.data(task)
        threads = {side: 1 if side == "alone" else task.threads for side in sides}
        # The text of a snippet is full of braces: only whole arguments and paths are filled in.
        sides = {side: [a if "\n" in a else a.format(**names, threads=threads[side]) for a in argv]
                 for side, argv in sides.items()}

        for side, argv in sides.items():       # fills the caches of the machine; not counted
            if side != "alone":
                self.run(argv, task)
        runs = {side: [] for side in sides}
        for _ in range(self.pairs):
            for side, argv in sides.items():
                runs[side].append(self.run(argv, task, threads[side]))
        return summarize(task, runs)

    def hold(self, contest):
        """The results of a contest: {name: result}."""
        argv = [a.format(build=self.build) for a in contest.driver]
        self.check_present(argv[0])
        printed = objects_in(self.start([*argv, str(self.pairs)], os.cpu_count())[0])

        def run_of(wanted):
            for said in printed:
                if wanted.items() <= said.items():
                    return {"seconds": said["seconds"], "quality": None, "wall": None, "cpu": None,
                            "memory": None}
            raise Failed(f"{contest.name}: no line with {wanted}")
        results = {}
        for name, ours, peer, goal in contest.lines:
            task = Task(name, f"{contest.about}: {ours} against {peer}", [], goal=goal,
                        threads=ours["threads"], scaling=None)
            results[name] = summarize(task, {"ours": [run_of(ours)], "peer": [run_of(peer)]})
            results[name]["pairs"] = self.pairs
        return results


def summarize(task, runs):
    result = {"about": task.about, "clock": task.clock, "threads": task.threads, "goal": task.goal,
              "limit": task.limit, "pairs": len(runs["ours"]), "date": time.strftime("%Y-%m-%d")}
    for side, all_runs in runs.items():
        result[side] = {key: None if all_runs[0][key] is None else statistics.median(r[key] for r in all_runs)
                        for key in ("wall", "cpu", "memory", "seconds")}
        result[side]["quality"] = all_runs[-1]["quality"]
        result[side]["runs"] = [r[task.clock] for r in all_runs]
    if "peer" in runs:
        ratios = [p[task.clock] / o[task.clock] for o, p in zip(runs["ours"], runs["peer"])]
        result["ratio"] = dict(zip(("low", "median", "high"), quartiles(ratios)))
    if task.recorded:
        name, seconds = task.recorded
        result["recorded"] = {"peer": name, "seconds": seconds, "times": seconds / result["ours"][task.clock]}
    if "alone" in runs:
        result["scaling"] = {"times": result["alone"][task.clock] / result["ours"][task.clock], "goal": task.scaling}
    if task.most:
        result["most"] = task.most
    result["verdict"] = verdict(task, result)
    return result


def quartiles(values):
    """[low, median, high]; the outer ones are None where there is but one value."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [None, values[0], None]


def quality_holds(task, ours, peer):
    if task.quality is None or peer is None:
        return True
    if ours is None:
        return False
    slack = task.tolerance * abs(peer)
    return {"lower": ours <= peer + slack, "higher": ours >= peer - slack,
            "equal": abs(ours - peer) <= slack}[task.judge]


def verdict(task, result):
    """"met", "missed", "worse" (in quality: then speed does not count), or "" without a goal."""
    if not quality_holds(task, result["ours"]["quality"], result.get("peer", {}).get("quality")):
        return "worse"
    met = [result["ratio"]["median"] >= task.goal] if task.goal and "ratio" in result else []
    met += [result["ours"][task.clock] <= task.limit] if task.limit else []
    met += [result["ours"]["quality"] <= task.most] if task.most else []
    return "" if not met else "met" if all(met) else "missed"
