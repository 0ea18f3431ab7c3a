"""run-tests: what it reads out of ctest's files."""
import importlib.machinery
import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools/run-tests"))
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(run_tests)


def test_skips_are_counted_by_reason():
    log = ("[ RUN      ] one\nskipped: no ../shared/data\n[  SKIPPED ] one\nskipped: no ../shared/data\n"
           "SKIPPED [3] tests/cli/test_a.py:12: there is no fish\n"
           "SKIPPED [1] tests/cli/test_b.py: there is no fish\n  not skipped: indented\n")
    assert run_tests.skips(log) == {"no ../shared/data": 2, "there is no fish": 4}


def test_the_slowest_come_first(tmp_path):
    junit = tmp_path / "tests.xml"
    junit.write_text('<testsuite><testcase name="a" time="0.5"/><testcase name="b" time="12"/></testsuite>')
    assert run_tests.times(junit) == [(12.0, "b"), (0.5, "a")]
