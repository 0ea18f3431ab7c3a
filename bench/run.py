#!/usr/bin/python3
"""run.py [--build DIR] [--pairs N | --quick] [--against DIR] [--list] [TASK...] -- credence against its peers.

Each task of bench/tasks/ is run alternately, ours, peer, ours, peer, on the same data.  The table shows
the median of the ratios of pairs with their quartiles, and beside the speed the quality.  A full run is
kept in bench/results/latest.json and bench/RESULTS.md; --quick keeps nothing.  --against takes another
build of credence, with its bench programs, for the peer of every task: has anything become slower?"""
import argparse
import dataclasses
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from harness import CannotRun, Contest, Failed, Harness, PYTHON, Task  # noqa: E402

OLD_CORES = {"Prescott", "Core2", "Katmai", "Coppermine", "Northwood", "Banias", "Atom", "Generic"}


def load_tasks():
    tasks = []
    for path in sorted((HERE / "tasks").glob("*.py")):
        spec = importlib.util.spec_from_file_location("task_" + path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tasks += module.TASKS
    return {task.name: task for task in tasks}


# --- the machine -----------------------------------------------------------------------------------

def output_of(*argv, **environment):
    """What a command prints, on both streams; "" when it fails or is not there."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60,
                              env=os.environ | environment)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip() if done.returncode == 0 else ""


def blas_core(**environment):
    """The kernels that OpenBLAS selects when numpy loads it: "Haswell", "Zen", "Prescott"."""
    found = re.search(r"Core: (\w+)", output_of(PYTHON, "-c", "import numpy", OPENBLAS_VERBOSE="2",
                                                **environment))
    return found[1] if found else "unknown"


def better_core():
    """The core type to ask for when OpenBLAS does not know this CPU and falls back to old kernels."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    if blas_core() not in OLD_CORES or "avx2" not in flags:
        return None
    return "SKYLAKEX" if "avx512f" in flags else "HASWELL"


def describe_machine(build, core_type):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    versions = output_of(PYTHON, "-c", (
        "import importlib, sys\n"
        "print('Python', sys.version.split()[0], end='')\n"
        "for name in ('numpy', 'pandas', 'sklearn'):\n"
        "    try: print(',', name, importlib.import_module(name).__version__, end='')\n"
        "    except ImportError: pass"))
    return {
        "cpu": f"{cpu[1] if cpu else 'unknown'}, {os.cpu_count()} cores",
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"Linux {os.uname().release}",
        "compiler": output_of("gcc", "--version").partition("\n")[0],
        "blas": f"OpenBLAS, {blas_core(**({'OPENBLAS_CORETYPE': core_type} if core_type else {}))} kernels",
        "peers": versions,
        "credence": output_of(str(build / "credence"), "--version").partition("\n")[0],
        "commit": output_of("git", "-C", str(HERE), "rev-parse", "--short", "HEAD"),
        "load": os.getloadavg()[0],
    }


# --- the table -------------------------------------------------------------------------------------

HEADINGS = ["task", "threads", "ours", "peer", "ratio", "quartiles", "goal", "scaling", "quality ours / peer",
            "memory ours / peer", ""]


def as_time(seconds):
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.1 else f"{seconds:.3g} s"


def as_memory(size):
    return "-" if size is None else f"{size / 2**20:.0f} MiB"


def as_number(x):
    return "-" if x is None else f"{x:.6g}" if isinstance(x, (int, float)) else str(x)


def as_scaling(scaling):
    """How many times faster all cores are than one; (!) where that is less than asked for, and nobody says why."""
    if not scaling:
        return ""
    short = scaling["times"] < (1 if isinstance(scaling["goal"], str) else scaling["goal"])
    return f"{scaling['times']:.2f}x" + " (!)" * short


def as_ratio(result):
    """How many times faster than the peer, and than one that was measured elsewhere, once."""
    ratios = [f"{result['ratio']['median']:.2f}x"] if "ratio" in result else []
    ratios += [f"{r['times']:.1f}x {r['peer']} (recorded)" for r in [result.get("recorded")] if r]
    return ", ".join(ratios)


def about(result):
    why = result.get("scaling", {}).get("goal")
    return result["about"] + (f"; scaling: {why}" if isinstance(why, str) else "")


def row_of(name, result):
    if "reason" in result:
        return [name, *[""] * (len(HEADINGS) - 2), result["reason"]]
    ours, peer, ratio = result["ours"], result.get("peer"), result.get("ratio")
    goals = [f">= {result['goal']:g}x"] if result["goal"] else []
    goals += [f"<= {as_time(result['limit'])}"] if result["limit"] else []
    goals += [f"rows^{result['most']:g}"] if "most" in result else []

    def both(show, key):
        return f"{show(ours[key])} / {show(peer[key])}" if peer else show(ours[key])
    return [name, str(result["threads"]), as_time(ours[result["clock"]]),
            as_time(peer[result["clock"]]) if peer else "", as_ratio(result),
            f"{ratio['low']:.2f} - {ratio['high']:.2f}" if ratio and ratio["low"] else "", ", ".join(goals),
            as_scaling(result.get("scaling")), both(as_number, "quality"), both(as_memory, "memory"), result["verdict"]]


def text_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def table_of(machine, tasks):
    """What one machine measured: its facts, the table, and what each task is about."""
    rows = [HEADINGS, ["---"] * len(HEADINGS), *(row_of(name, result) for name, result in tasks)]
    return [*(f"- {key}: {machine[key]}" for key in ("cpu", "memory", "system", "compiler", "blas", "peers")),
            "", *("| " + " | ".join(row) + " |" for row in rows), "",
            *(f"- **{name}**: {about(result)} ({result['pairs']} pairs, {result['date']}, {result['commit']})"
              for name, result in tasks)]


def markdown(kept):
    lines = ["# Measured speed", "",
             "Written by `make bench`. Each line: ours and the peer run alternately on the same data, each run",
             "a process of its own; medians, and the quartiles of the ratio of pairs. `scaling` is how many times",
             "faster ours is on all cores than on one; a goal such as `rows^3.1` is for the power of the rows that the",
             "time goes by, which then stands under quality. Each task stands under the machine that last ran it."]
    for cpu, machine in sorted(kept["machines"].items()):
        tasks = [(name, result) for name, result in sorted(kept["tasks"].items()) if result["cpu"] == cpu]
        lines += ["", f"## {cpu}", "", *table_of(machine, tasks)]
    return "\n".join(lines) + "\n"


def keep(machine, results):
    """Puts results in the place of those that are kept of the same tasks, whichever machine those come from."""
    path = HERE / "results/latest.json"
    kept = json.loads(path.read_text()) if path.exists() else {"machines": {}, "tasks": {}}
    kept["tasks"] |= {name: r | {"cpu": machine["cpu"], "commit": machine["commit"]}
                      for name, r in results.items() if "ours" in r}
    kept["machines"][machine["cpu"]] = machine
    used = {result["cpu"] for result in kept["tasks"].values()}
    kept["machines"] = {cpu: m for cpu, m in kept["machines"].items() if cpu in used}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n")
    (HERE / "RESULTS.md").write_text(markdown(kept))


# --- the run ---------------------------------------------------------------------------------------

def run_task(harness, task):
    """The lines of the table that a task or a contest gives: {name: result}."""
    print(f"{task.name}: {task.about}", file=sys.stderr)
    try:
        return harness.hold(task) if isinstance(task, Contest) else {task.name: harness.compare(task)}
    except CannotRun as reason:
        return {task.name: {"reason": f"left out: {reason}"}}
    except Failed as reason:
        return {task.name: {"reason": f"FAILED: {reason}", "failed": True}}


def against(task, build):
    """The same task with another build of credence for its peer; a loss of 3 % is the noise of a good machine."""
    return dataclasses.replace(task, peer=[a.replace("{build}", str(build)) for a in task.ours], needs=(),
                               goal=0.97, limit=None, most=None, scaling=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build/release")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="3 pairs, and nothing is kept")
    parser.add_argument("--against", type=pathlib.Path, help="compare with this other build; nothing is kept")
    parser.add_argument("--list", action="store_true", help="name the tasks, run none")
    parser.add_argument("task", nargs="*")
    args = parser.parse_args()

    tasks = load_tasks()
    unknown = [name for name in args.task if name not in tasks]
    if unknown:
        parser.error(f"no task {', '.join(unknown)}; there are: {', '.join(tasks)}")
    if args.list:
        print(*(f"{task.name:16} {task.about}" for task in tasks.values()), sep="\n")
        return 0
    if not (args.build / "bench/measure").exists():
        parser.error(f"{args.build}/bench/measure is not built; run this through `make bench`")

    core_type = better_core()
    machine = describe_machine(args.build.resolve(), core_type)
    harness = Harness(args.build, 3 if args.quick else args.pairs, core_type)
    if args.against:
        tasks = {name: against(task, args.against.resolve()) for name, task in tasks.items() if isinstance(task, Task)}
    results = {}
    for name in args.task or tasks:
        results |= run_task(harness, tasks[name])
        if not (args.quick or args.against):
            keep(machine, results)

    print(*(f"{key}: {value}" for key, value in machine.items()), "", sep="\n")
    if machine["load"] > 0.5:
        print(f"The machine was busy (load {machine['load']:.1f}): do not trust these figures.\n")
    print(text_table([HEADINGS, *(row_of(name, r) for name, r in results.items())]))
    return int(any(r.get("failed") for r in results.values()))


if __name__ == "__main__":
    sys.exit(main())
