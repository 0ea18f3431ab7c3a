"""bench/: what a run costs is measured right, sides take turns, and speed without quality does not count."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from harness import CannotRun, Contest, Failed, Harness, Task, last_object, python, summarize  # noqa: E402
from run import as_scaling  # noqa: E402


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build directory with nothing but bench/measure."""
    path = tmp_path_factory.mktemp("tree") / "build"
    (path / "bench").mkdir(parents=True)
    subprocess.run(["gcc", "-o", path / "bench/measure", ROOT / "bench/measure.c"], check=True)
    return path


def test_a_run_is_measured(build):
    task = Task("t", "", [], quality="q")
    eat = "\nimport time\nx = b'x' * 300_000_000\ntime.sleep(0.2)\nprint('{\"seconds\": 7, \"q\": 3}')\n"
    run = Harness(build, 1).run(python(eat), task)
    assert 0.2 <= run["wall"] < 5 and 0 < run["cpu"] < run["wall"]
    assert 300e6 < run["memory"] < 400e6
    assert (run["seconds"], run["quality"]) == (7, 3)


def test_memory_of_the_harness_is_not_counted(build):
    ballast = b"x" * 200_000_000
    assert Harness(build, 1).run(["/bin/true"], Task("t", "", []))["memory"] < 10e6 < len(ballast)


@pytest.mark.parametrize("argv", [["/bin/false"], ["/bin/sh", "-c", "kill -9 $$"], ["/no/such/program"]])
def test_a_failed_run_is_a_failure(build, argv):
    with pytest.raises(Failed):
        Harness(build, 1).run(argv, Task("t", "", []))


def test_what_is_not_built_is_left_out(build):
    with pytest.raises(CannotRun, match="credence is not built"):
        Harness(build, 1).compare(Task("t", "", ["{build}/credence"]))
    with pytest.raises(CannotRun, match="no_such_module"):
        Harness(build, 1).compare(Task("t", "", ["/bin/true"], needs=("no_such_module",)))


def test_sides_take_turns_on_data_made_once(build, tmp_path):
    made, log = [], tmp_path / "log"

    def make(path):
        made.append(path)
        path.write_text("data")

    def side(name):
        return ["/bin/sh", "-c", f'echo {name} >>{log}; cat "$1" >&2; echo \'{{{{"rows": 4}}}}\'', "-", "{data}"]
    task = Task("t", "", side("ours"), side("peer"), data=("d-4-1", make), quality="rows", clock="wall", goal=1e-9,
                threads=1)
    for _ in range(2):
        result = Harness(build, 3).compare(task)
    assert len(made) == 1
    assert log.read_text().split() == ["ours", "peer"] * 4 * 2        # one pair of each four is a warm-up
    assert result["pairs"] == 3 and result["verdict"] == "met"


def test_one_core_is_compared_with_all(build):
    spend = "\nimport json, os\nn = len(os.sched_getaffinity(0))\nprint(json.dumps({'seconds': 6 / min(n, 2)}))\n"
    result = Harness(build, 3).compare(Task("t", "", python(spend), threads=2))
    cores = min(len(os.sched_getaffinity(0)), 2)
    assert result["scaling"] == {"times": cores, "goal": 1.6}
    assert len(result["ours"]["runs"]) == len(result["alone"]["runs"]) == 3
    assert as_scaling(result["scaling"]) == ("2.00x" if cores == 2 else "1.00x (!)")
    assert as_scaling({"times": 1.2, "goal": "it waits for the disk"}) == "1.20x"
    assert as_scaling({"times": 0.9, "goal": "it waits for the disk"}) == "0.90x (!)"
    assert "scaling" not in Harness(build, 1).compare(Task("t", "", python(spend), threads=1))


def result_of(ours, peer, **settings):
    """The summary of runs given as (seconds, quality)."""
    task = Task("t", "", [], [], quality="q", **settings)
    runs = {side: [{"wall": s, "cpu": s, "memory": 1, "seconds": s, "quality": q} for s, q in rows]
            for side, rows in (("ours", ours), ("peer", peer))}
    return summarize(task, runs)


def test_ratio_is_the_median_of_pairs():
    result = result_of([(1, 0), (2, 0), (1, 0)], [(4, 0), (6, 0), (9, 0)], goal=4)
    assert result["ratio"] == {"low": 3.5, "median": 4, "high": 6.5}
    assert result["verdict"] == "met"


@pytest.mark.parametrize("ours, peer, settings, verdict", [
    ((1, 5), (3, 5), {"goal": 4}, "missed"),
    ((1, 5), (3, 5), {}, ""),
    ((1, 5), (3, 5), {"limit": 0.5}, "missed"),
    ((1, 5), (3, 5), {"limit": 2, "goal": 2}, "met"),
    ((1, 3.0), (3, 3.0), {"most": 3.1}, "met"),
    ((1, 3.2), (3, 3.2), {"most": 3.1}, "missed"),
    ((1, 4), (9, 5), {"goal": 4}, "worse"),
    ((1, None), (9, 5), {"goal": 4}, "worse"),
    ((1, 6), (9, 5), {"goal": 4, "judge": "lower"}, "worse"),
    ((1, 6), (9, 5), {"goal": 4, "judge": "lower", "tolerance": 0.2}, "met"),
    ((1, 4), (9, 5), {"goal": 4, "judge": "higher"}, "worse"),
    ((1, 6), (9, 5), {"goal": 4, "judge": "higher"}, "met"),
])
def test_verdict(ours, peer, settings, verdict):
    assert result_of([ours], [peer], **settings)["verdict"] == verdict


def test_a_contest_is_read_from_its_lines(build, tmp_path):
    driver = tmp_path / "driver"
    driver.write_text("#!/bin/sh\n"
                      'echo \'{"kernel": "Zen"}\'\n'
                      'echo \'{"task": "a", "threads": 1, "seconds": 2}\'\n'
                      'echo \'{"task": "a", "threads": 2, "seconds": 1}\'\n'
                      'echo \'{"task": "raw", "threads": 2, "seconds": 3}\'\n')
    driver.chmod(0o755)
    ours, raw = {"task": "a", "threads": 2}, {"task": "raw", "threads": 2}
    results = Harness(build, 3).hold(Contest("c", "", [str(driver)], [("x", ours, raw, 2), ("y", ours, {"threads": 1}, 3)]))
    assert [(n, r["ratio"]["median"], r["verdict"]) for n, r in results.items()] == [("x", 3, "met"), ("y", 2, "missed")]
    with pytest.raises(Failed, match="no line"):
        Harness(build, 3).hold(Contest("c", "", [str(driver)], [("x", ours, {"task": "b"}, 2)]))


@pytest.mark.parametrize("text, value", [
    ("", {}), ("nothing {here", {}), ('{"a": 1}\n{"a": 2}\n', {"a": 2}),
    ('note\n{\n "a": {"b": 3}\n}\n', {"a": {"b": 3}}),
])
def test_last_object(text, value):
    assert last_object(text) == value


@pytest.mark.parametrize("path", sorted((ROOT / "bench").glob("*.c")), ids=lambda path: path.name)
def test_every_driver_compiles(path):
    subprocess.run(["gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-D_XOPEN_SOURCE=700", "-fsyntax-only", f"-I{ROOT}/src", f"-I{ROOT}/include",
                    *subprocess.check_output(["pkg-config", "--cflags", "openblas"], text=True).split(), path], check=True)


def test_every_task_can_be_listed():
    done = subprocess.run([ROOT / "bench/run.py", "--list"], capture_output=True, text=True, check=True)
    assert {"start", "csv-1", "dense", "linear"} <= {line.split()[0] for line in done.stdout.splitlines()}
