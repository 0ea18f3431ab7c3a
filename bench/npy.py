"""NPY files without numpy: the header; rows are appended to the file as array("d", row).tofile(f)."""
import contextlib
import struct


@contextlib.contextmanager
def new_npy(path, rows, columns):
    """A file for [rows x columns] doubles, row by row, open behind its header."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        yield f
