"""cmake/gather_header.cmake: one tier of the header out of many files, with not a character of C lost."""
import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/gather_header.cmake"

# All that CMake's own syntax could trip over.
AWKWARD = r'''#define LIST(X) X("a;b", '\\', [1], ${x}, @y@, "\"") \
    X(#c, ##d);
int a[3] = { [0] = 1 }; /* ;; $<0:no> */
'''


def gather(root, files, tier="credence.h"):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    out = root / "out.h"
    done = subprocess.run(["cmake", f"-DFROM={root}/include/{tier}", f"-DPUBLIC={root}/include", f"-DTO={out}", "-P",
                           SCRIPT],
                          capture_output=True, text=True, timeout=60)
    done.stderr = " ".join(done.stderr.split())          # CMake breaks its lines
    return done, out.read_text() if done.returncode == 0 else None


def guarded(name, text):
    return f"/* {name} */\n#ifndef CREDENCE_{name}_H\n#define CREDENCE_{name}_H\n\n{text}\n#endif\n"


def test_each_once_in_order_and_unharmed(tmp_path):
    done, text = gather(tmp_path, {
        "include/credence.h": '/* top */\n#include "../x/a.h"\n#include "../x/b.h"\n',
        "x/a.h": guarded("A", "#include <stdint.h>\n#include <stddef.h>\n\n" + AWKWARD),
        "x/b.h": guarded("B", '#include <stddef.h>\n#include "../y/c.h"\n#include "a.h"\n\nint b;\n'),
        "y/c.h": guarded("C", '#include "../x/a.h"\nint c;\n'),
    })
    assert done.returncode == 0, done.stderr
    assert text.startswith("/* top */\n#ifndef CREDENCE_H\n#define CREDENCE_H\n")
    assert AWKWARD in text
    for once in ("#include <stddef.h>", "#include <stdint.h>", "int a[3]", "int b;", "int c;"):
        assert text.count(once) == 1, once
    assert text.index("stddef") < text.index('extern "C"') < text.index("int a[3]")
    assert text.index("int a[3]") < text.index("int c;") < text.index("int b;")
    assert '#include "' not in text
    assert text.count("#endif") == 3 and text.count("CREDENCE_") == 2       # no guard is left


def test_a_tier_leaves_to_another_what_that_holds(tmp_path):
    done, text = gather(tmp_path, {
        "include/credence.h": guarded("TOP", '#include "../src/x/a.h"\n'),
        "include/credence/more.h": '/* more */\n#include "../credence.h"\n#include "../../src/x/b.h"\n',
        "src/x/a.h": guarded("A", "#include <stdint.h>\nint a;\n"),
        "src/x/b.h": guarded("B", '#include <stddef.h>\n#include "x/a.h"\nint b;\n'),
    }, "credence/more.h")
    assert done.returncode == 0, done.stderr
    assert text.startswith("/* more */\n#ifndef CREDENCE_MORE_H\n#define CREDENCE_MORE_H\n\n"
                           '#include "../credence.h"\n#include <stddef.h>\n\n')
    assert "int a;" not in text and "int b;" in text and text.count("#include") == 2


def test_a_foreign_header_is_refused(tmp_path):
    done, _ = gather(tmp_path, {"include/credence.h": '/* top */\n#include "../a.h"\n', "a.h": "#include <jansson.h>\n"})
    assert done.returncode != 0 and "may not include <jansson.h>" in done.stderr


def test_a_missing_header_is_named(tmp_path):
    done, _ = gather(tmp_path, {"include/credence.h": '/* top */\n#include "../a.h"\n'})
    assert done.returncode != 0 and "a.h does not exist" in done.stderr
