"""The options that the library declares: read from its tables, checked by it, spelled the Python way.

An option has the name it has in C, with an underscore behind it where that is a word of Python
(lambda_).  The shell writes --max-iter for max_iter; messages of the library are respelled."""
import ctypes
import keyword
import re
from typing import Any, NamedTuple

from . import _declarations as c
from ._library import lib


class Option(NamedTuple):
    name: str          # as Python writes it
    c_name: str
    kind: int
    default: Any
    range: str
    help: str
    example: str

    @property
    def choices(self):
        return self.range.split("|") if self.kind == c.OPTION_CHOICE else []

    def restricted(self, words):
        """The same choice with these words of it alone."""
        kept = [word for word in self.choices if word in words]
        return self._replace(range="|".join(kept), example=self.example if self.example in kept else kept[-1])

    @property
    def flag(self):
        """As the shell writes it."""
        return "--" + self.c_name.replace("_", "-")


def _from_text(kind, text):
    if kind == c.OPTION_FLAG:
        return text == "true"
    if text == "":
        return None
    if kind in (c.OPTION_COUNT, c.OPTION_REAL):
        return int(text) if kind == c.OPTION_COUNT else float(text)
    return text


def read_table(address):
    """The options of a table in C."""
    options = []
    row = c.Option.from_address(address)
    while row.kind != c.OPTION_END:
        name = row.name.decode()
        options.append(Option(name + "_" * keyword.iskeyword(name), name, row.kind,
                              _from_text(row.kind, row.fallback.decode()), row.range.decode(),
                              row.help.decode(), row.example.decode()))
        address += ctypes.sizeof(row)
        row = c.Option.from_address(address)
    return options


def table_address(symbol):
    """The address of an exported table: cr_design_table and its like."""
    return ctypes.addressof(c.Option.in_dll(lib, symbol))


DESIGN = read_table(table_address("cr_design_table"))
FIT = read_table(table_address("cr_fit_table"))
KNOWN = {}   # all options by their flag; several models may use one


def know(options):
    """Lets messages speak of these options."""
    for option in options:
        KNOWN.setdefault(option.flag, []).append(option)


know([*DESIGN, *FIT, *read_table(table_address("cr_read_table"))])


def _scalar_text(value):
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a numpy scalar
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)


def list_item(text):
    """A text as an item of a list of the library: in double quotes where it holds a comma or one of them."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


EXPRESSIONS = ("kernel", "mean", "basis", "terms")   # texts that a number would be read as, but never meant as


def to_text(option, value):
    """The value as the library reads it; what is wrong with it, the library says."""
    if value is None:
        return ""
    if option.name == "terms" and isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if option.kind == c.OPTION_TEXT and option.name in EXPRESSIONS and not isinstance(value, str):
        raise ValueError(f"{option.name} must be a text, such as '{option.example.strip(chr(39))}', not {value!r}")
    if option.kind == c.OPTION_LIST and hasattr(value, "items"):   # {class: weight}
        return ",".join(list_item(f"{_scalar_text(key)}={_scalar_text(x)}") for key, x in value.items())
    if option.kind == c.OPTION_LIST and not isinstance(value, str):
        return ",".join(map(str, value))
    if option.kind == c.OPTION_COUNT and isinstance(value, float) and value.is_integer():
        value = int(value)
    return _scalar_text(value)


def from_text(option, text):
    """The value of an option from the text in a model file."""
    return option.default if text is None else _from_text(option.kind, text)


def is_default(option, value):
    return value is option.default or (type(value) is type(option.default) and value == option.default)


def _is_value(option, word):
    if option.kind == c.OPTION_CHOICE:
        return word in option.choices
    try:
        return option.kind in (c.OPTION_COUNT, c.OPTION_REAL) and float(word) is not None
    except ValueError:
        return False


def _respell(found):
    options, word = KNOWN.get(found[1]), found[2] or ""
    if found[1] in ARGUMENTS:
        return ARGUMENTS[found[1]] + (f"={word[1:]!r}" if word else "")
    flags = KNOWN.get("--" + found[1][5:]) if found[1].startswith("--no-") else None
    if options is None and flags:
        return f"{flags[0].name}=False{word}"
    if options is None:
        return found[0]
    takers = [option for option in options if word and _is_value(option, word[1:])]
    if not takers:
        return options[0].name + word
    value = repr(word[1:]) if takers[0].kind == c.OPTION_CHOICE else word[1:]
    return f"{options[0].name}={value}"


METHODS = {"--ahead forecasts the rows that follow it": "forecast(n) gives the n rows that follow it"}
ARGUMENTS = {"--kind": "kind", "--loss": "loss", "--to": "format"}   # of functions and methods here
COMMAND = re.compile(r"(credence [a-z]+ [^;\n]*)")


def in_python(text):
    """A message with its flags as keywords: `--missing drop` becomes missing='drop'.  Commands for the shell
    stay as they are."""
    if "--" not in text:
        return text
    for words, ours in METHODS.items():
        text = text.replace(words, ours)
    parts = COMMAND.split(text)
    parts[::2] = [re.sub(r"(--[a-z][a-z0-9-]*)( [\w.+-]*\w)?", _respell, part) for part in parts[::2]]
    return "".join(parts)
