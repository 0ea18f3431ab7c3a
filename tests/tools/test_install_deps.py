"""tools/install-deps, with stand-ins for dpkg-query, apt-get, id and sudo."""
import os
import pathlib
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/install-deps"
PACKAGES = "# comment\n[build]\ngcc\nlibx-dev\n\n[test]\npython3-x\ngcc\n"


@pytest.fixture
def machine(tmp_path):
    """machine(installed, user, sections) runs the script on such a machine; also: what apt-get was told."""
    def call(installed, user, *sections, sudo=False):
        (tmp_path / "packages.txt").write_text(PACKAGES)
        told = tmp_path / "told"
        tools = {
            "dpkg-query": "".join(f'echo "installed {p}"\n' for p in installed) + "exit 1",
            "apt-get": f'echo "$@" >>{told}',
            "id": f"echo {user}",
        }
        if sudo:
            tools["sudo"] = '[ "$1" != -n ] || shift; exec "$@"'
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, text in tools.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        for name in ("sh", "awk", "sed", "grep", "sort", "dirname", "env", "true"):
            (folder / name).symlink_to(f"/usr/bin/{name}")
        done = subprocess.run(["/bin/sh", SCRIPT, *sections], capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL,
                              env=os.environ | {"PATH": str(folder),
                                                "CREDENCE_PACKAGES": str(tmp_path / "packages.txt")})
        return done, told.read_text().splitlines() if told.exists() else []
    return call


def test_silent_when_all_is_there(machine):
    done, told = machine(["gcc", "libx-dev"], 1000, "build")
    assert (done.returncode, done.stdout, done.stderr, told) == (0, "", "", [])


def test_root_installs_what_is_missing(machine):
    done, told = machine(["gcc"], 0, "build", "test")
    assert done.returncode == 0, done.stderr
    assert told == ["update -q", "install -y --no-install-recommends libx-dev python3-x"]


def test_sudo_is_used(machine):
    done, told = machine([], 1000, "build", sudo=True)
    assert done.returncode == 0 and told[-1].endswith("gcc libx-dev"), done.stderr


def test_without_root_it_says_what_to_run(machine):
    done, told = machine(["gcc"], 1000, "build", "test")
    assert (done.returncode, told) == (1, [])
    assert "apt-get install -y --no-install-recommends libx-dev python3-x\n" in done.stderr


def test_a_name_is_not_taken_for_a_longer_one(machine):
    done, told = machine(["gcc-12", "libx-dev-extra"], 0, "build")
    assert told[-1].endswith(" gcc libx-dev")


@pytest.mark.parametrize("sections", [[], ["nonsense"], ["build", "nonsense"]])
def test_wrong_use(machine, sections):
    done, told = machine([], 0, *sections)
    assert done.returncode == 2 and told == [], done.stderr
