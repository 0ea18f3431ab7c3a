"""The programs in the pages run, and print what stands below them.

All `python` fences of a page run in order, as one program; a `text` fence right below one is what it prints.
`python3 tests/python/test_pages.py PAGE...` writes what is printed now into the pages."""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))
import session  # noqa: E402

FENCES = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def run(page):
    """(match of a fence, what its program prints) for each, in the current folder."""
    names = {}
    exec("import credence", names)
    for fence in FENCES.finditer(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(fence[1], str(page), "exec"), names)
        yield fence, printed.getvalue()


@pytest.mark.parametrize("page, count", [("python/README.md", 3), ("docs/python.md", 14)])
def test_the_programs_of_a_page_run(page, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = list(run(ROOT / page))
    assert len(done) == count and (tmp_path / "model.cred").is_file()
    for fence, printed in done:
        if fence[2] is not None:
            assert session.texts_agree(fence[2].splitlines(), printed.splitlines()), f"{fence[1]}prints\n{printed}"


def update(page):
    text, moved = page.read_text(), 0
    for fence, printed in run(page):
        if fence[2] is not None:
            begin, end = fence.start(2) + moved, fence.end(2) + moved
            text = text[:begin] + printed + text[end:]
            moved += len(printed) - (end - begin)
    page.write_text(text)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "python"))
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    os.symlink(ROOT / "examples", "examples")
    for path in paths:
        update(path)
