"""Each checker of tools/ passes a small sound tree, and fails, naming the place, once it is spoilt."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"

SOUND = {
    "include/credence.h": '#include "../src/base/a.h"\n',
    "include/credence/math.h": '#include "../credence.h"\n#include "../../src/math/b.h"\n',
    "src/base/a.h": "/* a.h -- cr_one comes first. */\n"
                    "/* One. */\nCR_API int cr_one(void);\nCR_API int cr_two(int a,\n    int b);\n",
    "src/base/a.c": '#include "a.h"\n#include <stdio.h>\nint cr_one(void) { return 1; }\n',
    "src/math/b.h": '#include "../base/a.h"\n/* Three. */\nextern CR_API const int cr_three[];\n',
    "src/math/b_internal.h": '#include "b.h"\nint cri_four(void);\n',
    "src/models/tree/d.h": "/* d.h -- a family. */\n"
                           '#define D(X) X(choice, prior, "nig", "normal|nig", "") X(choice, ends, (), MORE "|c", "")\n'
                           '#define MORE "a|b"\n'
                           "enum { PRIOR_NORMAL, PRIOR_NIG };\nenum { END_NONE, END_A, END_B, END_C };\n",
    "cli/main.c": '#include "credence.h"\n#include "math/b_internal.h"\n',
    "README.md": "Call `cr_one()`, or one of cr_*.\n",
}


def make_tree(root, changes=None):
    """SOUND with some of its files replaced, or others added: {path: text}."""
    for name, text in (SOUND | (changes or {})).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def run(tool, *args, **where):
    done = subprocess.run([TOOLS / tool, *args], capture_output=True, text=True, timeout=300, **where)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("tool", ["check-layers", "check-docs", "check-leftovers", "check-choices"])
def test_sound_tree_passes(tool, tmp_path):
    code, out = run(tool, make_tree(tmp_path))
    assert (code, "0 problems" in out) == (0, True), out


@pytest.mark.parametrize("tool", ["check-layers", "check-docs", "check-leftovers", "check-format", "check-choices"])
def test_looking_at_nothing_is_a_failure(tool, tmp_path):
    code, out = run(tool, tmp_path)
    assert code == 1 and re.search(r" 0 (files|headers|choices)", out), out


@pytest.mark.parametrize("tool, path, text, message", [
    ("check-layers", "src/base/a.c", '#include "a.h"\n#include "../math/b.h"\n',
     "src/base/a.c:2: base may not include math (src/math/b.h)"),
    ("check-layers", "src/base/a.c", '#  include "math/b.h"\n', "base may not include math"),
    ("check-layers", "src/math/b.c", '#include "../../cli/main.c"\n', "math may not include cli"),
    ("check-layers", "src/math/b.c", '#include "credence.h"\n', "math may not include cli"),
    ("check-layers", "src/math/b.c", '#include "c.h"\n', "src/math/b.c:1: c.h does not exist"),
    ("check-layers", "src/extra/b.c", "", "'extra' is not a layer"),
    ("check-layers", "src/math/dense/c.c", '#include "math/b.h"\n', "math/dense may not include math/."),
    ("check-layers", "src/math/odd/c.c", '#include "math/b.h"\n', "'math/odd' is not in its order"),
    ("check-layers", "src/models/linear/c.c", '#include "models/tree/d.h"\n', "linear may not include the family tree"),
    ("check-layers", "src/plot/c.c", '#include "models/tree/d.h"\n', "plot may not include the family tree"),

    ("check-docs", "src/base/a.h", "/* A. */\n\nCR_API int cr_one(void);\nCR_API int cr_two(int a);\n",
     "src/base/a.h:3: cr_one has no comment"),
    ("check-docs", "src/base/a.h", "/* A. */\nCR_API int cr_one(void);\n\nCR_API cr_x cr_two(cr_y y);\n",
     "src/base/a.h:4: cr_two has no comment"),
    ("check-docs", "src/base/a.h", "/* cr_five. */\nCR_API int cr_one(void);\n",
     "src/base/a.h:1: there is no cr_five"),
    ("check-docs", "README.md", "First\n`cr_five(1)`\n", "README.md:2: there is no cr_five"),
    ("check-docs", "docs/deep/page.md", "cri_five\n", "docs/deep/page.md:1: there is no cri_five"),
    ("check-docs", "include/credence/math.h", '#include "../credence.h"\n',
     "src/math/b.h declares CR_API things but no tier names it"),
    ("check-docs", "include/credence.h", SOUND["include/credence.h"] + '#include "../src/z.h"\n',
     "include/credence.h: ../src/z.h does not exist"),
    ("check-docs", "include/credence.h", SOUND["include/credence.h"] + '#include "../src/math/b.h"\n',
     "include/credence/math.h: src/math/b.h is in include/credence.h already"),
    ("check-docs", "include/credence/math.h", '#include "../../src/math/b.h"\n',
     "src/math/b.h: includes ../base/a.h, which include/credence/math.h does not name"),
    ("check-docs", "docs/c.md", "| `credence.h` | 2 |\n| `credence/math.h` | 3 |\n",
     "docs/c.md: credence/math.h has 1 names, not 3"),
    ("check-docs", "CONTRIBUTING.md", "See `src/base/a.h`,\n`src/<x>.c` and `src/base/z.h`.\n",
     "CONTRIBUTING.md:2: there is no src/base/z.h"),
    ("check-docs", "docs/contributing/a.md", "`cli/no.c`\n", "docs/contributing/a.md:1: there is no cli/no.c"),
    ("check-docs", "src/math/b.h", '#include "b_internal.h"\n/* x */\nCR_API int cr_three(void);\n',
     "src/math/b.h: includes b_internal.h, which include/credence/math.h does not name"),

    ("check-choices", "src/models/tree/d.h", SOUND["src/models/tree/d.h"].replace("normal|nig", "nig|normal"),
     "src/models/tree/d.h: prior is nig|normal, but the enum has PRIOR_NORMAL, PRIOR_NIG"),
    ("check-choices", "src/models/tree/d.h", SOUND["src/models/tree/d.h"].replace("END_B, ", ""),
     "src/models/tree/d.h: ends is a|b|c, but the enum has END_NONE, END_A, END_C"),
    ("check-choices", "src/models/tree/d.h", SOUND["src/models/tree/d.h"].replace("END_B", "END_OLD, END_B"),
     "src/models/tree/d.h: ends is a|b|c"),

    ("check-leftovers", "src/base/a.c", "int a;\n/* TO" "DO: more */\n", "src/base/a.c:2: unfinished"),
    ("check-leftovers", "cli/main.c", "#if 0\n", "cli/main.c:1: switched off"),
    ("check-leftovers", "cli/main.c", "<<<<<<< HEAD\n", "a merge mark"),
    ("check-leftovers", "tests/a.py", "if a:\n\tb\n", "tests/a.py:2: a tab"),
    ("check-leftovers", "tests/a.c", "int a; \n", "blanks at the end"),
])
def test_spoilt_tree_is_named(tool, path, text, message, tmp_path):
    code, out = run(tool, make_tree(tmp_path, {path: text}))
    assert code == 1 and message in out, out


def compile_library(root, source, *flags):
    """src/base/a.c as an object, and as a shared library."""
    path = root / "src/base/a.c"
    path.parent.mkdir(parents=True)
    path.write_text(source)
    obj, shared = root / "src/base/a.c.o", root / "liba.so"
    subprocess.run(["gcc", "-fPIC", "-fvisibility=hidden", "-w", *flags, "-c", path, "-o", obj], check=True)
    subprocess.run(["gcc", "-shared", *flags, obj, "-o", shared], check=True)
    return shared, obj


PUBLIC = '#define API __attribute__((visibility("default")))\n'
QUIET = PUBLIC + '#include <stdio.h>\n#include <string.h>\n' \
    'static const char *const names[] = { "a", "b" };\n' \
    'API int cr_a(char *s, int n) { return snprintf(s, 9, "%s%d", names[n], n); }\n'


@pytest.mark.parametrize("flags", [["-O0"], ["-O2", "-D_FORTIFY_SOURCE=2"], ["-O1", "-fsanitize=address,undefined"]])
def test_quiet_library_passes(flags, tmp_path):
    code, out = run("check-symbols", *compile_library(tmp_path, QUIET, *flags))
    assert code == 0, out


@pytest.mark.parametrize("extra, flags, message", [
    ('API void cr_b(void) { printf("%d", 1); }', ["-O0"], "src/base/a.c: uses printf, which prints"),
    ('API void cr_b(int n) { printf("%d", n); }', ["-O2", "-D_FORTIFY_SOURCE=2"], "uses printf"),
    ('API void cr_b(void) { printf("x\\n"); }', ["-O2"], "uses puts"),
    ('API void cr_b(void) { fwrite("x", 1, 1, stderr); }', ["-O0"], "uses stderr"),
    ("#include <stdlib.h>\nAPI void cr_b(void) { abort(); }", ["-O0"], "uses abort, which ends the process"),
    ("#include <assert.h>\nAPI void cr_b(int n) { assert(n); }", ["-O0"], "uses __assert_fail"),
    ("#include <stdlib.h>\nAPI int cr_b(void) { return rand(); }", ["-O0"], "uses rand, which keeps state"),
    ("API char *cr_b(int n) { return strerror(n); }", ["-O0"], "uses strerror, which keeps state"),
    ("API int cr_b(char *s) { int n; return sscanf(s, \"%d\", &n); }", ["-O0"], "uses sscanf"),
    ("#include <stdlib.h>\nAPI void *cr_b(void) { return malloc(9); }", ["-O0"], "uses malloc"),
    ("API int cr_b(void) { static int calls; return ++calls; }", ["-O0"], "is a variable that can change"),
    ("_Thread_local int cr_state;", ["-O0"], "cr_state is a variable that can change"),
    ("int cr_state = 3;", ["-O1", "-fsanitize=address"], "cr_state is a variable that can change"),
    ("API void helper(void) {}", ["-O0"], "exports helper"),
])
def test_harmful_library_is_named(extra, flags, message, tmp_path):
    code, out = run("check-symbols", *compile_library(tmp_path, QUIET + extra + "\n", *flags))
    assert code == 1 and message in out, out


GOOD_FLAGS = "gcc -ffp-contract=off -Wall -Wextra -Wconversion -c a.c"


@pytest.mark.parametrize("command, message", [
    (GOOD_FLAGS, "0 problems"),
    (GOOD_FLAGS + " -ffast-math", "a.c: compiled with -ffast-math"),
    (GOOD_FLAGS + " -Ofast", "a.c: compiled with -Ofast"),
    (GOOD_FLAGS + " -march=native", "a.c: compiled with -march=native"),
    ("gcc -ffp-contract=off -Wall -Wextra -c a.c", "a.c: compiled without -Wconversion"),
])
def test_flags(command, message, tmp_path):
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"file": "a.c", "command": command}]))
    code, out = run("check-flags", path)
    assert code == (0 if command == GOOD_FLAGS else 1) and message in out, out


RULER = "/* --- one " + "-" * 85 + " */\n"
NEAT = RULER + "int one(void) { return 1; }\n\n/* --- two ---\n * with words below */\nint two;\n"


def make_file(root, text):
    """A tree of one file, with our .clang-format."""
    (root / "src/base").mkdir(parents=True)
    (root / "src/base/x.c").write_text(text)
    shutil.copy(TOOLS.parent / ".clang-format", root)
    return root


@pytest.mark.parametrize("text, message", [
    (NEAT, "1 files, 0 problems"),
    (NEAT + "int  three;\n", "src/base/x.c: not as clang-format has it; run `make format`"),
    (NEAT + RULER.replace(" */", "\n */"), "src/base/x.c:7: a ruler broken in two"),
    (NEAT + "/* --- three\n * -----\n */\n", "src/base/x.c:7: a ruler broken in two"),
    (NEAT + RULER.replace("one", "three"), "src/base/x.c:7: a ruler of 101 columns, more than 100"),
])
def test_format(text, message, tmp_path):
    code, out = run("check-format", make_file(tmp_path, text))
    assert code == (text != NEAT) and message in out, out


def test_another_clang_format_is_no_judge(tmp_path):
    root = make_file(tmp_path, NEAT + "int  three;\n")
    stand_in = root / "bin/clang-format"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho Debian clang-format version 99.1.2\n")
    stand_in.chmod(0o755)
    code, out = run("check-format", root, env=os.environ | {"PATH": f"{stand_in.parent}:{os.environ['PATH']}"})
    assert code == 0 and "here is clang-format 99, and only 14" in out, out


@pytest.mark.parametrize("body, message", [
    ("return n * 0.5;", "1 files, 0 problems"),
    ("return n / 2 * 0.5;", "x.c:2:29: result of integer division used in a floating point context"),
    ("return n == n;", "both sides of operator are equivalent [misc-redundant-expression"),
    ("return !strcmp(\"a\", \"b\") + n", "x.c:2:"),  # does not compile
])
def test_tidy(body, message, tmp_path):
    source = tmp_path / "src/x.c"
    source.parent.mkdir()
    source.write_text(f"double half(int n);\ndouble half(int n) {{ {body} }}\n")
    shutil.copy(TOOLS.parent / ".clang-tidy", tmp_path)
    entry = {"directory": str(tmp_path), "file": str(source), "command": f"gcc -Wlogical-op -c {source}"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry, entry]))
    code, out = run("check-tidy", tmp_path, tmp_path / "src")
    assert code == (message != "1 files, 0 problems") and message in out, out


def test_tidy_of_nothing_is_a_failure(tmp_path):
    (tmp_path / "compile_commands.json").write_text("[]")
    code, out = run("check-tidy", tmp_path)
    assert code == 1 and "0 files" in out, out


@pytest.mark.parametrize("body, message", [
    ("return 0;", "check-clang: 0 problems"),
    ("return argc == argc;", "self-comparison always evaluates to true"),
    ("return argc > 2 ? 7 : 0;", "build/clang/credence fit linear"),
    ("int n = 2147483647; n += argc; return n == 7;", "An illegal instruction is undefined behaviour"),
])
def test_clang(body, message, tmp_path):
    """On a project of one file, whose program is called credence."""
    (tmp_path / "main.c").write_text(f"int main(int argc, char **argv) {{ (void)argv; {body} }}\n")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(small C)\nadd_executable(credence main.c)\n"
        "target_compile_options(credence PRIVATE -Wall -Werror)\nadd_custom_target(credence_cli)\n")
    shutil.copy(TOOLS.parent / "CMakePresets.json", tmp_path)
    code, out = run("check-clang", cwd=tmp_path)
    assert code == (message != "check-clang: 0 problems") and message in out, out
