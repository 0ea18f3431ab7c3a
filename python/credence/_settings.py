"""Options on their way into a call: as name and text, or as a filled struct."""
import contextlib
import ctypes

from . import _declarations as c
from . import _options
from ._context import call, current
from ._library import lib

SIZES = {c.OPTION_FLAG: ctypes.c_bool, c.OPTION_COUNT: ctypes.c_size_t, c.OPTION_REAL: ctypes.c_double,
         c.OPTION_CHOICE: ctypes.c_int, c.OPTION_TEXT: ctypes.c_void_p, c.OPTION_LIST: ctypes.c_void_p}


def settings(pairs):
    """The array of cr_setting for a fit, and its length."""
    rows = [c.Setting(name.encode(), value.encode()) for name, value in pairs]
    return (c.Setting * len(rows))(*rows), len(rows)


def known_names(symbol):
    """The names of the options of the table `symbol`."""
    return [option.name for option in _options.read_table(_options.table_address(symbol))]


def _struct_size(address):
    size, row = 0, c.Option.from_address(address)
    while row.kind != c.OPTION_END:
        size = max(size, row.offset + ctypes.sizeof(SIZES[row.kind]))
        address += ctypes.sizeof(row)
        row = c.Option.from_address(address)
    return size + ctypes.alignment(ctypes.c_void_p)


@contextlib.contextmanager
def filled(symbol, given):
    """The struct of the option table `symbol`, with defaults and the given values; freed at the end."""
    address = _options.table_address(symbol)
    values = ctypes.create_string_buffer(_struct_size(address))
    known = {option.name: option for option in _options.read_table(address)}
    try:
        call(lib.cr_options_init, address, values)
        for name, value in given.items():
            if name not in known:
                raise TypeError(f"there is no option {name!r}; options: {', '.join(known)}")
            text = _options.to_text(known[name], value)
            call(lib.cr_options_set, address, values, known[name].c_name.encode(), text.encode())
        yield values
    finally:
        lib.cr_options_free(current().handle, address, values)
