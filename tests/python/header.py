"""Reads the tiers of the public header: prototypes, structs and enums, as plain text.  Knows the style of these headers only."""
import re

from conftest import ROOT

COMMENT = re.compile(r"/\*.*?\*/", re.S)
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)
PROTOTYPE = re.compile(r"\bCR_API\s+([\w\s*]+?)\b(cr_\w+)\(([^;]*?)\)(?:\s*CR_PRINTF\([^)]*\))?;", re.S)
STRUCT = re.compile(r"typedef struct (\w+) \{([^{}]*)\} (\w+);")
ENUM = re.compile(r"enum(?: \w+)? \{([^{}]*)\}")


def read():
    """All tiers, each with the headers it gathers in place, each once, without comments."""
    seen = set()
    return "".join(expand(path, seen) for path in sorted((ROOT / "include").rglob("*.h")))


def expand(path, seen):
    if path in seen:
        return ""
    seen.add(path)
    text = COMMENT.sub(" ", path.read_text())
    return INCLUDE.sub(lambda m: expand(found(path.parent, m[1]), seen), text)


def found(folder, name):
    """An included file: beside the one that includes it, or below src/."""
    return next(path for path in ((folder / name).resolve(), ROOT / "src" / name) if path.is_file())


def split_declaration(text):
    """('const char *', 'name', '[8]') of 'const char *name[8]'."""
    found = re.fullmatch(r"\s*(.*?)\s*(\w+)\s*((?:\[\w*\])*)\s*", text, re.S)
    return re.sub(r"\s+", " ", found[1]).replace(" *", "*").strip(), found[2], found[3]


def prototypes(text):
    """name: (result type, [argument types])."""
    found = {}
    for result, name, arguments in PROTOTYPE.findall(text):
        parts = [] if arguments.strip() == "void" else re.split(r",(?![^()]*\))", arguments)
        kinds = ["function*" if "(*" in part else "..." if "..." in part else split_declaration(part)[0]
                 for part in parts]
        found[name] = re.sub(r"\s+", " ", result).replace(" *", "*").strip(), kinds
    return found


def structs(text):
    """name: [(field, type, size or "")]."""
    found = {}
    for name, body, _ in STRUCT.findall(text):
        fields = []
        for line in body.split(";")[:-1]:
            if "(*" in line:
                fields.append((re.search(r"\(\*(\w+)\)", line)[1], "function*", ""))
                continue
            first, *others = line.split(",")
            kind, field, size = split_declaration(first)
            fields.append((field, kind, size.strip("[]")))
            for other in others:
                star, more, size = split_declaration(other)
                fields.append((more, kind.rstrip("*") + star, size.strip("[]")))
        found[name] = fields
    return found


def constants(text):
    """name: value of every enum constant that is a plain number or counts on."""
    found = {}
    for body in ENUM.findall(text):
        following = 0
        for item in filter(str.strip, body.split(",")):
            name, _, value = (part.strip() for part in item.partition("="))
            try:
                following = eval(value, {}, {}) if value else following
            except (SyntaxError, NameError):
                break
            found[name] = following
            following += 1
    return found
