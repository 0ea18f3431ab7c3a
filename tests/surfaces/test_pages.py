"""Man pages and the site: complete, free of warnings, and no link that leads nowhere."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from conftest import DIABETES, ROOT

MAKE_DOCS = [sys.executable, ROOT / "tools/make-docs"]


@pytest.fixture(scope="module")
def man(credence, tmp_path_factory):
    return credence.document("man", tmp_path_factory.mktemp("man"))


@pytest.fixture(scope="module")
def models(credence):
    return credence.json("models")["models"]


def plain(roff):
    """The text of a page, without fonts and escapes, on one line."""
    for escape, text in {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\(ha": "^", r"\(ti": "~", r"\ ": " "}.items():
        roff = roff.replace(escape, text)
    return " ".join(re.sub(r"\\f[RBI]", "", roff).split())


def verbs(credence):
    return credence.complete("")[0]


def test_a_page_for_each_verb_and_model(credence, man, models):
    expected = {"man1/credence.1"} | {f"man1/credence-{verb}.1" for verb in verbs(credence)} \
        | {f"man7/credence-model-{model['name']}.7" for model in models}
    assert set(man) == expected


def test_sections(man):
    for name, text in man.items():
        sections = re.findall(r'^\.SH "?(.*?)"?$', text, re.M)
        assert sections[:2] == ["NAME", "SYNOPSIS"] and "SEE ALSO" in sections, name
        wanted = {"OPTIONS", "REFERENCES"} if name.startswith("man7") else {"DESCRIPTION", "EXIT STATUS"}
        assert wanted | {"EXAMPLES"} <= set(sections), name


def test_every_option_is_told(credence, man, models):
    for model in models:
        text = plain(man[f"man7/credence-model-{model['name']}.7"])
        for option in model["options"]:
            off = option["kind"] == "flag" and option["default"] == "true"
            flag = "--" + ("no-" if off else "") + option["name"].replace("_", "-")
            assert f"{flag} " in text and option["help"][1:] in text, (model["name"], option["name"])
            if option["kind"] != "flag":
                assert f"Example: {flag} {option['example']}" in text
            if option["kind"] != "flag" and option["default"]:
                assert f"Default: {option['default']}." in text
        assert model["reference"] in text and model["summary"] in text
    fit = plain(man["man1/credence-fit.1"])
    for flag in ("--target COLUMN", "--features COLUMNS", "-o, --output FILE", "--from WORD", "--seed N"):
        assert flag in fit


def test_ranges_in_words(man):
    text = plain(man["man1/credence-predict.1"]) + plain(man["man1/credence-cv.1"])
    assert "Strictly between 0 and 1." in text and "At least 2." in text
    assert "One of auto, shuffled, stratified, ordered." in text


def test_json_section_has_every_field(credence, man, tmp_path):
    for name, text in credence.document("schema", tmp_path).items():
        verb = name.split(".")[1]
        page = plain(man[f"man1/credence-{verb}.1"])
        for key in json.loads(text)["properties"]:
            assert re.search(rf"\.TP {key} \(", page), (verb, key)


def test_references_to_pages_exist(man):
    known = {(pathlib.PurePosixPath(name).stem, name[-1]) for name in man}
    for name, text in man.items():
        for title, section in re.findall(r"\b(credence(?:-[a-z-]+)?)\((\d)\)", plain(text)):
            assert (title, section) in known, (name, title)


def test_groff_has_no_warnings(man, tmp_path):
    if not shutil.which("groff"):
        pytest.skip("there is no groff")
    for name, text in man.items():
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=text, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", (name, done.stderr)
        assert "SYNOPSIS" in re.sub(".\b", "", done.stdout)


def test_mandoc_has_no_errors(man):
    if not shutil.which("mandoc"):
        pytest.skip("there is no mandoc")
    for name, text in man.items():
        said = subprocess.run(["mandoc", "-T", "lint"], input=text, capture_output=True, text=True).stdout
        grave = [line for line in said.splitlines() if re.search(r"(ERROR|UNSUPP)", line)]
        assert not grave, (name, grave)


def test_examples_work(credence, man, tmp_path):
    """Every command in EXAMPLES of every page that help does not show (the tests of help run those), on the data
    in examples/."""
    shown = "".join(credence("help", verb) for verb in verbs(credence))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/credence").symlink_to(credence.path)
    found, ran = set(), set()
    for name in sorted(man):
        section = man[name].split('.SH "EXAMPLES"\n')[1].split("\n.SH")[0]
        if name.startswith("man7"):
            shown += credence("models", name.removeprefix("man7/credence-model-").removesuffix(".7"))
        for command in map(plain, re.findall(r"^credence .*$", section, re.M)):
            found.add(command)
            if f"  {command}\n" in shown or command in ran:
                continue
            ran.add(command)
            done = subprocess.run(["bash", "-c", f"PATH={shlex.quote(str(tmp_path / 'bin'))}:$PATH; {command}"],
                                  cwd=tmp_path, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, (command, done.stderr)
    assert len(found) > 15 and len(ran) < len(found)


def test_installed(credence, tmp_path):
    subprocess.run(["cmake", "--install", credence.path.parent, "--prefix", tmp_path], check=True, capture_output=True)
    for name in ("man/man1/credence.1", "man/man1/credence-fit.1", "man/man7/credence-model-ridge.7",
                 "bash-completion/completions/credence", "zsh/site-functions/_credence",
                 "fish/vendor_completions.d/credence.fish", "credence/schema/credence.fit.1.schema.json"):
        assert (tmp_path / "share" / name).stat().st_size > 100, name
    assert not (tmp_path / "share/stamp").exists()


# --- the site -----------------------------------------------------------------------------------------

def make_docs(credence, out, root):
    return subprocess.run([*MAKE_DOCS, credence.path, out, root], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    pytest.importorskip("markdown")
    root = tmp_path_factory.mktemp("root")
    (root / "docs/models").mkdir(parents=True)
    (root / "docs/figure.svg").write_text("<svg/>")
    (root / "docs/index.md").write_text(
        "# The manual\n\n[ridge](models/ridge.md#when) [linear](models/linear.md) [fit](verbs/fit.md#columns)\n"
        "[one](../README.md) [two](../examples/README.md#use) [folder](../examples/)\n"
        "[licence](../LICENSE) ![figure](figure.svg) [second](second.md) [out](https://example.org/x#y)\n")
    (root / "docs/second.md").write_text("# Second <page>\n\nA *word* of zebras.\n\n## A heading, twice\n\ntext\n")
    (root / "docs/models/ridge.md").write_text(
        "# ridge\n\n## When\n\nAlways.\n\n<!-- options ridge -->\n| old |\n| --- |\n<!-- end options -->\n")
    (root / "LICENSE").write_text("free\n")
    (root / "examples").mkdir()
    (root / "README.md").write_text("# credence\n\n[a model](docs/models/ridge.md)\n")
    (root / "examples/README.md").write_text("# Examples\n\n## Use\n\n[up](../README.md)\n")
    return root


@pytest.fixture(scope="module")
def site(credence, sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "docs"
    done = make_docs(credence, out, sources)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_site(credence, site):
    first = (site / "index.html").read_text()
    for target in ("models/ridge.html#when", "models/linear.html", "files/LICENSE", "figure.svg", "second.html", "readme.html",
                   "examples/readme.html#use"):
        assert f'"{target}"' in first and (site / target.split("#")[0]).is_file()
    assert 'href="../readme.html"' in (site / "examples/readme.html").read_text()
    assert 'href="models/ridge.html"' in (site / "readme.html").read_text()
    ridge = (site / "models/ridge.html").read_text()
    assert "Always." in ridge and "--lambda X" in ridge and ">old<" not in ridge       # the table is made anew
    linear = (site / "models/linear.html").read_text()                                # from the descriptor alone
    assert "Seber" in linear and "--solver" in linear and 'href="../verbs/fit.html"' in linear
    for verb in verbs(credence):
        assert (site / f"verbs/{verb}.html").is_file()
    assert "Second &lt;page&gt;" in first and 'id="a-heading-twice"' in (site / "second.html").read_text()


def test_search_index(site):
    script = (site / "search-index.js").read_text()
    entries = json.loads(script.removeprefix("window.CREDENCE_INDEX = ").rstrip().rstrip(";"))
    assert {"url": "second.html#a-heading-twice", "page": "Second <page>", "section": "A heading, twice",
            "text": "text"} in entries
    assert any("zebras" in entry["text"] for entry in entries)
    assert any(entry["url"] == "models/ridge.html#when" for entry in entries)
    for entry in entries:
        page, _, anchor = entry["url"].partition("#")
        assert not anchor or f'id="{anchor}"' in (site / page).read_text()


BROKEN = {
    "[x](absent.md)": "absent.md leads nowhere",
    "[x](second.md#nothing)": "there is no section 'nothing' in second.html",
    "[x](#nowhere)": "there is no section 'nowhere' in index.html",
    "![x](absent.svg)": "absent.svg leads nowhere",
    "[x](../../outside.md)": "../../outside.md leads nowhere",
}


def test_broken_links_fail_the_build(credence, sources, tmp_path):
    root = shutil.copytree(sources, tmp_path / "root")
    with open(root / "docs/index.md", "a") as file:
        file.write("\n" + "\n".join(BROKEN) + "\n")
    done = make_docs(credence, tmp_path / "site", root)
    assert done.returncode == 1
    assert sorted(done.stdout.splitlines()[:-1]) == sorted(f"docs/index.md: {said}" for said in BROKEN.values())


def test_the_real_manual(credence, tmp_path):
    pytest.importorskip("markdown")
    done = make_docs(credence, tmp_path / "site", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert DIABETES.is_file()
