"""Puts libcredence and the type hints into the package when it is built; pyproject.toml says the rest.

The library is the one that the package finds: CREDENCE_LIBRARY, or the build tree of the checkout.  It
needs no compiler and fits every Python 3, so the wheel is bound to the platform only."""
import os
import pathlib
import shutil
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        from credence import _library, stubs
        package = pathlib.Path(self.build_lib, "credence")
        package.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_library.path, package / _library.SONAME)
        (package / "__init__.pyi").write_text("\n".join(stubs.lines()) + "\n", encoding="utf-8")


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
