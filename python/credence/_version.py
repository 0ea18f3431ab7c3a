"""Which library runs."""
from . import _library


def version():
    """The version of the library, where it was loaded from, and the linear algebra it uses."""
    blas = _library.lib.cr_blas_query()
    return {"version": _library.lib.cr_version().decode(),
            "abi": _library.lib.cr_abi_version(),
            "library": str(_library.path),
            "found_by": _library.found_by,
            "blas": {"library": blas.library.decode(), "kernel": blas.kernel.decode(),
                     "slow": blas.slow, "better": blas.better.decode()}}
