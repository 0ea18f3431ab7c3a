"""Each target of the Makefile configures with no more than the packages that it installs: pkg-config is
shown only what the sections of tools/packages.txt that the target names bring along.  tools/check-bare
tries the whole on a bare system."""
import base64
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "PKG_CONFIG", "CREDENCE_"))}

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-query"), reason="packages are known by dpkg alone")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, env=ENVIRONMENT,
                          check=True).stdout


@functools.cache
def sections():
    """{section: its packages} of tools/packages.txt."""
    found = {}
    for line in (ROOT / "tools/packages.txt").read_text().splitlines():
        if line.startswith("["):
            packages = found.setdefault(line.strip("[] "), [])
        elif line and not line.startswith("#"):
            packages.append(line.strip())
    return found


@functools.cache
def dependencies():
    """{installed package: the names that it depends on}, whichever of several will do."""
    lines = output_of("dpkg-query", "-W", "-f", "${Package}|${Depends}, ${Pre-Depends}\n").splitlines()
    named = (line.split("|", 1) for line in lines)
    return {package: set(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]*)", needs)) for package, needs in named}


def brought_along(packages):
    """These and, as far as they are installed, all that they depend on."""
    found, waiting = set(), list(packages)
    while waiting:
        package = waiting.pop()
        if package in dependencies() and package not in found:
            found.add(package)
            waiting += dependencies()[package]
    return sorted(found)


@functools.cache
def modules_of(names):
    """The .pc files, where pkg-config looks, of the packages of these sections; some are links to them."""
    packages = [package for name in names for package in sections()[name]]
    absent = [package for package in packages if package not in dependencies()]
    if absent:
        pytest.skip(f"not installed: {' '.join(absent)}")
    files = output_of("dpkg-query", "-L", *brought_along(packages)).splitlines()
    owned = {os.path.realpath(file) for file in files if file.endswith(".pc")}
    folders = output_of("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")
    there = [path for folder in folders for path in sorted(pathlib.Path(folder).glob("*.pc"))]
    return [path for path in there if os.path.realpath(path) in owned]


@functools.cache
def recipe(target):
    """(sections that it installs, its cmake command) of a target of the Makefile."""
    lines = output_of("make", "-n", target).splitlines()
    names = {name for line in lines if line.startswith("tools/install-deps") for name in line.split()[1:]}
    configure, = (line for line in lines if line.startswith("cmake --preset"))
    return tuple(sorted(names)), tuple(shlex.split(configure.split(">")[0]))


@pytest.fixture(scope="module")
def configure(tmp_path_factory):
    """configure(command, modules) in a new cache; what CMake knows of a compiler stays from one to the next."""
    def call(command, modules):
        folder = tmp_path_factory.getbasetemp() / ("clang" if "fuzz" in command else "default")
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
        known = tmp_path_factory.mktemp("modules")
        for path in reversed(modules):  # the first on pkg-config's way wins
            (known / path.name).unlink(missing_ok=True)
            (known / path.name).symlink_to(path)
        return subprocess.run([*command, "-B", folder], capture_output=True, text=True, timeout=120, cwd=ROOT,
                              env=ENVIRONMENT | {"PKG_CONFIG_LIBDIR": str(known)})
    return call


@pytest.mark.parametrize("target", ["demo", "check", "test", "bench", "fuzz", "coverage"])
def test_configures_with_what_it_installs(configure, target):
    names, command = recipe(target)
    done = configure(command, modules_of(names))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target, names, sentence", [
    ("demo", [], "credence needs libopenblas-dev: run tools/install-deps build"),
    ("test", ["build"], "the tests of credence need libcmocka-dev: run tools/install-deps test")])
def test_asks_for_what_is_missing(configure, target, names, sentence):
    done = configure(recipe(target)[1], modules_of(tuple(names)) if names else [])
    assert done.returncode != 0 and sentence in " ".join(done.stderr.split()), done.stderr


def test_packages_asked_for_are_listed():
    text = "".join((ROOT / name).read_text() for name in ("CMakeLists.txt", "tests/CMakeLists.txt"))
    asked = re.findall(r"credence_find\(\w+ \S+ (\S+) (\w+)\)", text)
    assert len(asked) > 7
    assert [package for package, section in asked if package not in sections()[section]] == []


@pytest.mark.parametrize("options, code, sentence", [
    ([], 1, "check-bare: needs root, to make a system in a folder and to run in it\n"),
    (["--nonsense"], 2, "usage: check-bare [--quick] [--keep]\n")])
def test_check_bare_refuses_in_one_sentence(tmp_path, options, code, sentence):
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    done = subprocess.run([ROOT / "tools/check-bare", *options], capture_output=True, text=True, timeout=30,
                          env=ENVIRONMENT | {"PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"})
    assert (done.returncode, done.stdout, done.stderr) == (code, "", sentence)


# --- the keys of mirrors

ARMOUR = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: 1\n\n{}\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"


def test_every_key_that_a_source_names_is_found(tmp_path):
    """In the common folder, in files that one-line sources and stanzas name, and in place."""
    def armoured(key):
        return ARMOUR.format(base64.b64encode(key).decode())
    (tmp_path / "etc/trusted.gpg.d").mkdir(parents=True)
    (tmp_path / "etc/sources.list.d").mkdir()
    (tmp_path / "etc/trusted.gpg.d/a.gpg").write_bytes(b"\x99common;")
    (tmp_path / "etc/trusted.gpg.d/b.asc").write_text(armoured(b"\x99armoured;"))
    (tmp_path / "line.gpg").write_bytes(b"\x99line;")
    (tmp_path / "stanza.gpg").write_bytes(b"\x99stanza;")
    (tmp_path / "two.asc").write_text(armoured(b"\x99first of two;") + armoured(b"\x99second;"))
    (tmp_path / "etc/sources.list").write_text(f"deb [arch=amd64 signed-by={tmp_path}/line.gpg] http://m/ x main\n")
    in_place = "\n".join(" " + (line or ".") for line in armoured(b"\x99in place;").splitlines())
    (tmp_path / "etc/sources.list.d/m.sources").write_text(
        f"Types: deb\nURIs: http://m/\nSigned-By: {tmp_path}/stanza.gpg {tmp_path}/two.asc {tmp_path}/none.gpg\n\n"
        f"Types: deb\nURIs: http://n/\nSigned-By:\n{in_place}\nComponents: main\n")
    done = subprocess.run([ROOT / "tools/apt-keys", tmp_path / "etc"], capture_output=True, timeout=30)
    assert done.returncode == 0 and done.stderr == b""
    assert sorted(done.stdout.split(b";")[:-1]) == sorted(
        b"\x99" + key for key in (b"common", b"armoured", b"line", b"stanza", b"first of two", b"second", b"in place"))
