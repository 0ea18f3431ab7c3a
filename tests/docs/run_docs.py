#!/usr/bin/python3
"""run_docs.py [--update] [--times] [--build DIR] [--cc CC] [--cflags FLAGS] [--except] [PAGE...] -- the pages
say what is so.

On README.md, CONTRIBUTING.md, CHANGELOG.md, examples/README.md and docs/**/*.md, or the pages named (or, with
--except, on all others):
  1. every `console` session prints what is shown (session.py says how they are compared);
  2. every relative link leads somewhere, and every anchor to a heading;
  3. `c` programs are files of examples/; other `c` fences are parts of such files or compile;
  4. tables between <!-- NAME ... --> and <!-- end NAME --> are what the program says of itself;
  5. the figures are what the program draws;
and every program of examples/ compiles without warnings and is run by some page, and demo.sh runs.
The build is installed into an empty folder and used from there.  CREDENCE_BIN names another program.

--update writes what is printed now into the pages; read the difference before you keep it.
--times says which commands took most of the processor's time."""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import session

ROOT = pathlib.Path(__file__).resolve().parents[2]
NIST = ROOT / "tests/models/linear/nist"
FIGURES = {
    "docs/figures/filip.svg": "credence fit linear examples/filip.csv --target y --basis poly:10"
                              " -o m.cred -q >/dev/null && credence plot m.cred examples/filip.csv -o",
    "docs/figures/spline.svg": "credence fit spline examples/filip.csv --target y -o m.cred -q >/dev/null"
                               " && credence plot m.cred examples/filip.csv -o",
    "docs/figures/topics.svg": "credence fit topics examples/headlines.csv --text headline --k 3 --stop-words"
                               " examples/stop-words.txt --top-terms 6 -o m.cred -q >/dev/null && credence plot m.cred -o",
    "docs/figures/kalman.svg": "credence fit kalman examples/nile.csv --target flow --time time -o m.cred -q >/dev/null"
                               " && credence plot m.cred examples/nile.csv -o",
    "docs/figures/kalman-parts.svg": "credence fit kalman examples/co2.csv --target co2_ppm --time year"
                                     " --components trend,seasonal:12 -o m.cred -q >/dev/null"
                                     " && credence plot m.cred examples/co2.csv --kind components -o",
    "docs/figures/kalman-seasons.svg": "credence fit kalman examples/co2.csv --target co2_ppm --time year"
                                       " --components trend,seasonal:12 -o m.cred -q >/dev/null"
                                       " && credence plot m.cred examples/co2.csv --kind seasons -o",
    "docs/figures/diabetes.svg": "credence fit bayes-linear examples/diabetes.csv"
                                 " --target progression -o m.cred -q >/dev/null &&"
                                 " credence plot m.cred examples/diabetes.csv -o",
}
GRAPH = ("credence fit glasso examples/diabetes.csv --features age,sex,bmi,bp,s5,s6,progression -o m.cred -q >/dev/null"
         " && credence plot m.cred ")
FIGURES |= {"docs/figures/glasso.svg": GRAPH + "-o", "docs/figures/glasso-path.svg": GRAPH + "--kind path -o"}
FIGURES["docs/figures/bn.svg"] = (
    "head -151 examples/commute.csv >few.csv && credence fit bn few.csv --structure partition-mcmc --criterion bdeu:5"
    " -o few.cred -q >/dev/null && credence plot few.cred -o")
# The model of docs/forecast.md, at what it learned.
CO2 = ("awk 'NR == 1 || NR % 5 == 2' examples/co2.csv >co2.csv && credence fit gp co2.csv --target co2_ppm --mean poly:2"
       " --optimize none --noise 0.0643329 --kernel"
       " '5.51024*rbf(l=164.23)*periodic(l=1.17511, p=1 fixed) + 0.156969*rbf(l=0.882043)"
       " + 0.477789*matern32(l=7.79135)' -o m.cred -q >/dev/null && credence plot m.cred co2.csv ")
FIGURES |= {
    "docs/figures/co2.svg": CO2 + "--range 1985,2018 -o",
    "docs/figures/co2-parts.svg": CO2 + "--kind components -o",
    "docs/figures/co2-evidence.svg": CO2 + "--kind evidence --parameters periodic.l,noise -o",
}

# What the pages of models without a target show, all of iris.
for _name, _fit, _plot in [
        ("gmm", "gmm --k 3", "examples/iris.csv"),
        ("gmm-criterion", "gmm --k 1:6 --covariance auto --restarts 2", "--kind criterion"),
        ("gmm-responsibilities", "gmm --k 3", "examples/iris.csv --kind responsibilities"),
        ("kmeans", "kmeans --k 3", "examples/iris.csv --kind components"),
        ("kmeans-criterion", "kmeans --k 2:6", "--kind criterion"),
        ("pca", "pca --components 2", "examples/iris.csv --kind biplot"),
        ("pca-scree", "pca --components 3", "--kind scree"),
        ("gaussian-bn", "gaussian-bn --structure auto", ""),
        ("ppca-loadings", "ppca --components 2 --scale none", "--kind loadings")]:
    _model, _options = _fit.split(" ", 1)
    FIGURES[f"docs/figures/{_name}.svg"] = (
        f"credence fit {_model} examples/iris.csv --features '*_cm' {_options} -o m.cred -q >/dev/null"
        f" && credence plot m.cred {_plot} -o")

BLOCK = re.compile(r"^<!-- (options|nist|models)( [\w/.-]+)? -->\n(.*?)^<!-- end \1 -->$", re.M | re.S)
SOURCE = re.compile(r"^<!-- from (\S+) -->\n```c\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def all_pages():
    named = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
    return [ROOT / name for name in named] + sorted((ROOT / "docs").rglob("*.md"))


def line_of(text, at):
    return text.count("\n", 0, at) + 1


# --- the place where commands run --------------------------------------------------------------------

class Stage:
    """The installed build, and a PATH with `credence`, `cc` and `python3` of this run."""

    def __init__(self, folder, build, cc, cflags):
        self.folder, self.pages = folder, 0
        prefix, tools = folder / "usr", folder / "bin"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        tools.mkdir()
        program = pathlib.Path(os.environ.get("CREDENCE_BIN", prefix / "bin/credence")).resolve()
        (tools / "credence").symlink_to(program)
        (tools / "python3").symlink_to(sys.executable)
        (tools / "cc").write_text(f'#!/bin/sh\nexec {shlex.quote(shutil.which(cc))} {cflags} "$@"\n')
        (tools / "cc").chmod(0o755)
        libraries = next(prefix.rglob("libcredence.so")).parent
        self.environment = os.environ | {
            "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "dumb",
            "LD_LIBRARY_PATH": str(libraries), "PKG_CONFIG_PATH": str(libraries / "pkgconfig"),
            "PYTHONDONTWRITEBYTECODE": "1"}

    def fresh(self):
        """An empty folder with examples/ linked in."""
        self.pages += 1
        folder = self.folder / f"page{self.pages}"
        folder.mkdir()
        (folder / "examples").symlink_to(ROOT / "examples")
        return folder

    def run(self, command, folder=None):
        with session.timed(command):
            return subprocess.run(command, shell=isinstance(command, str), env=self.environment, text=True,
                                  capture_output=True, cwd=folder or self.folder, check=False,
                                  timeout=session.TIMEOUT)

    def json(self, *command):
        done = self.run(list(map(str, command)))
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}")
        return json.loads(done.stdout)


# --- tables that the program fills -------------------------------------------------------------------

def options_table(stage, model):
    """The options of a model, from its declaration."""
    values = {"flag": "", "count": " N", "real": " X", "choice": " WORD", "text": " TEXT", "list": " LIST"}
    rows = ["| option | values | default | meaning |", "| --- | --- | --- | --- |"]
    for o in stage.json("credence", "models", model.strip(), "--json")["options"]:
        off = o["kind"] == "flag" and o["default"] == "true"
        name = f"--{'no-' if off else ''}{o['name'].replace('_', '-')}{values[o['kind']]}"
        words = ", ".join(f"`{word}`" for word in o["range"].split("|")) if o["range"] else ""
        default = f"`{o['default']}`" if o["default"] and o["kind"] != "flag" else ""
        rows.append(f"| `{name}` | {words} | {default} | {'do not ' if off else ''}{o['help']} |")
    return "\n".join(rows) + "\n"


def models_table(stage, folder):
    """All models, from their declarations; folder is where their pages are, seen from this page."""
    rows = ["| model | task | what it is |", "| --- | --- | --- |"]
    for m in stage.json("credence", "models", "--json")["models"]:
        rows.append(f"| [`{m['name']}`]({folder.strip()}/{m['name']}.md) | {m['task']} | {m['summary']} |")
    return "\n".join(rows) + "\n"


def digits(value, certified):
    """Correct decimal digits: -log10 of the relative error (absolute where the certified value is 0)."""
    if value == certified:
        return 15.0
    error = abs(value - certified) / (abs(certified) or 1)
    return max(0.0, min(15.0, -math.log10(error)))


def measure_nist(stage):
    """{set: (digits of the coefficients, of their standard deviations)}, the worst of each."""
    powers = {"Pontius": 2, "Filip": 10} | {f"Wampler{k}": 5 for k in range(1, 6)}
    certified, worst = {}, {}
    with open(NIST / "certified.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["term"] not in ("residual_sd", "r2"):
                certified.setdefault(row["set"], []).append(row)
    for name, rows in certified.items():
        extra = ["--basis", f"poly:{powers[name]}"] if name in powers else []
        extra += ["--no-intercept"] if name.startswith("NoInt") else []
        fit = stage.json("credence", "fit", "linear", NIST / f"{name}.csv", "--target", "y", "--json", *extra)
        got = {p["name"]: p for p in fit["parameters"]}
        worst[name] = [min(digits(got[r["term"]][mine], float(r[theirs])) for r in rows)
                       for mine, theirs in (("value", "estimate"), ("sd", "sd"))]
    return worst


def nist_table(stage, shown):
    """The table with our columns measured again; the other columns stay.  A page may claim half a digit
    more than is measured, which differs with the matrix kernels, and stay behind by one and a half."""
    worst, rows, honest = measure_nist(stage), [], True
    for line in shown.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if cells[0] in worst:
            now = [f"{math.floor(10 * x) / 10:.1f}" for x in worst[cells[0]]]
            honest &= all(-1.5 <= float(old) - float(new) <= 0.5 for old, new in zip(cells[1:3], now))
            line = "| " + " | ".join([cells[0], *now, *cells[3:]]) + " |"
            worst.pop(cells[0])
        rows.append(line)
    return shown if honest and not worst else "\n".join(rows + [f"| {w} | ? | ? |" for w in worst]) + "\n"


def check_blocks(stage, text):
    problems = []

    def fill(block):
        kind, name, shown = block[1], block[2] or "", block[3]
        now = (options_table(stage, name) if kind == "options" else
               models_table(stage, name) if kind == "models" else nist_table(stage, shown))
        if now != shown:
            problems.append((line_of(text, block.start()), f"the table '{kind}{name}' should be\n{now}"))
        return f"<!-- {kind}{name} -->\n{now}<!-- end {kind} -->"

    return BLOCK.sub(fill, text), problems


# --- C -----------------------------------------------------------------------------------------------

def normal(code):
    return "\n".join(line.strip() for line in code.strip().splitlines())


def compiles(stage, code):
    source = stage.folder / "shown.c"
    source.write_text("".join(f"#include <credence{tier}.h>\n" for tier in ("", "/dist", "/graph", "/math")) + code)
    return stage.run("cc -std=c11 -fsyntax-only $(pkg-config --cflags credence) shown.c").returncode == 0


def check_code(stage, text):
    """Programs are those of examples/, named above the fence; other code is a part of them, or compiles."""
    problems, whole = [], set()

    def fill(block):
        path = ROOT / block[1]
        whole.add(normal(block[2]))
        now = path.read_text() if path.is_file() else block[2]
        whole.add(normal(now))
        if now != block[2] or not path.is_file():
            problems.append((line_of(text, block.start()), f"this is not {block[1]}"))
        return f"<!-- from {block[1]} -->\n```c\n{now}```"

    new = SOURCE.sub(fill, text)
    programs = [normal(p.read_text()) for p in sorted((ROOT / "examples").rglob("*.c"))]
    for fence in session.FENCE.finditer(text):
        code = normal(fence[2])
        if fence[1] != "c" or code in whole:
            continue
        if "int main(" in code or not (any(code in p for p in programs) or compiles(stage, fence[2])):
            problems.append((line_of(text, fence.start()), "this code is in no program of examples/ "
                                                           "and does not compile as it stands"))
    return new, problems


def check_demo(stage):
    """The demonstration runs through, from anywhere, and leaves its figure."""
    demo, figure = ROOT / "examples/demo.sh", ROOT / "build/demo/fit.svg"
    figure.unlink(missing_ok=True)
    done = stage.run([demo, stage.folder / "bin/credence"])
    if done.returncode or done.stderr or not figure.is_file():
        yield demo, 1, done.stdout + done.stderr


def check_programs(stage, texts):
    """Each program compiles cleanly and is run on some page."""
    for path in sorted((ROOT / "examples").rglob("*.c")):
        done = stage.run(["sh", "-c", f"cc -std=c11 -Wall -Wextra -Wconversion -pedantic -Werror {path} "
                                      "$(pkg-config --cflags --libs credence) -lm -o program"])
        if done.returncode:
            yield path, 1, done.stderr
        if not any(f"./{path.stem}" in step.command for text in texts for step in session.steps_of(text)):
            yield path, 1, "no page runs this program"


# --- links and figures -------------------------------------------------------------------------------

def anchors(text):
    """The anchors of the headings, as the usual renderers make them."""
    text = session.FENCE.sub("", text)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in HEADING.findall(text)}


def check_links(path, text):
    for link in LINK.finditer(session.FENCE.sub(lambda f: "\n" * f[0].count("\n"), text)):
        target, _, anchor = link[1].partition("#")
        if re.match(r"\w+:", target):
            continue
        file = path.parent / target if target else path
        if not file.exists():
            yield line_of(text, link.start()), f"the link to {target} leads nowhere"
        elif anchor and anchor not in anchors(file.read_text()):
            yield line_of(text, link.start()), f"{file.name} has no heading for #{anchor}"


def drawings_agree(a, b):
    """The same but for coordinates, which may differ by a rounding of their second decimal."""
    number = re.compile(r"-?\d*\.?\d+")
    close = all(abs(float(x) - float(y)) < 0.05 for x, y in zip(number.findall(a), number.findall(b)))
    return close and number.split(a) == number.split(b)


def check_figures(stage, update):
    for name, command in FIGURES.items():
        folder, path = stage.fresh(), ROOT / name
        done = stage.run(f"{command} figure.svg", folder)
        if done.returncode:
            yield path, 1, done.stderr
            continue
        now = (folder / "figure.svg").read_text()
        shown = path.read_text() if path.is_file() else ""
        if not drawings_agree(shown, now):
            yield path, 1, "the program draws another figure"
            if update:
                path.write_text(now)


# --- all of it ---------------------------------------------------------------------------------------

def check_one(stage, path, text):
    """The problems of a page, [(line, what)], and the page as it should be."""
    problems, new = session.check_page(text, stage.fresh(), stage.environment)
    problems += check_links(path, text)
    new, more = check_blocks(stage, new)
    problems += more
    new, more = check_code(stage, new)
    return problems + more, new


def self_test(stage):
    """A page with one fault of each kind: all must be found, and nothing in the page without any."""
    fence = "```"
    good = f"# A\n[b](#a)\n{fence}console\n$ echo 3.14159 is 12 s\n3.1416 is 12 s\n$ seq 9\n1\n...\n9\n" \
           f"$ false\n(exit 1)\n{fence}\n{fence}c\ncr_ctx *x;\n{fence}\n"
    faults = {"3.1416 is": "3.1426 is", "12 s\n$ seq": "13 s\n$ seq", "...\n9": "...\n8", "(exit 1)": "",
              "#a)": "#b)", "[b](#a)": "[b](nowhere.md)", "cr_ctx *": "cr_ctx ** 7"}
    page = stage.folder / "self.md"
    page.write_text(good)
    missed = ["a sound page"] if check_one(stage, page, good)[0] else []
    for old, new in faults.items():
        problems, mended = check_one(stage, page, good.replace(old, new, 1))
        if len(problems) != 1:
            missed.append(f"{old!r} -> {new!r}")
        if "is" in old and mended != good.replace("3.1416 is", "3.14159 is"):
            missed.append("an update")
    return [(pathlib.Path(__file__), 1, f"self-test: did not judge rightly: {m}") for m in missed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what is so into the pages")
    parser.add_argument("--times", action="store_true", help="show the commands that take longest")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cflags", default="", help="what the library was instrumented with")
    parser.add_argument("--except", action="store_true", dest="others", help="all pages but those named")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    o = parser.parse_args()
    named = [p.resolve() for p in o.pages]
    pages = named if named and not o.others else [p for p in all_pages() if p not in named]
    problems, texts = [], {p: p.read_text() for p in all_pages()}

    with tempfile.TemporaryDirectory(prefix="credence-docs-") as folder:
        stage = Stage(pathlib.Path(folder), o.build.resolve(), o.cc, o.cflags)
        problems += self_test(stage)
        for path in pages:
            found, new = check_one(stage, path, texts[path])
            problems += [(path, *problem) for problem in found]
            if o.update and new != texts[path]:
                path.write_text(new)
                print(f"{path.relative_to(ROOT)}: updated")
        if o.others or not o.pages:
            problems += check_figures(stage, o.update)
            problems += check_programs(stage, texts.values())
            problems += check_demo(stage)

    for path, line, what in problems:
        print(f"{path.relative_to(ROOT)}:{line}: {what}\n")
    if o.times:
        for seconds, command in sorted(session.TIMES, reverse=True)[:30]:
            print(f"{seconds:7.2f} s  {command}")
        print(f"{sum(seconds for seconds, _ in session.TIMES):7.2f} s  in {len(session.TIMES)} commands")
    steps = sum(1 for path in pages for _ in session.steps_of(texts[path]))
    print(f"run_docs: {len(pages)} pages, {steps} commands, {len(problems)} problems")
    sys.exit(bool(problems))


main()
