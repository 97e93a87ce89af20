"""The extension modules of qops; everything else about the package stands in pyproject.toml."""

import gc
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from threading import Lock

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("QOPS_DEBUG") == "1"
# Python's own -fwrapv would hide what overflows
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FLAGS = ["-g", "-fno-wrapv", *SANITIZE] if DEBUG else ["-g0"]
# every float operation rounds once: no fused ones, and no vectors made of single statements, in which gcc 12 drops the
# rounding of (double)(float)i; clang knows this flag by gcc's name too, where it comes behind -O3
EXACT = ["-ffp-contract=off", "-fno-tree-slp-vectorize"]
# calls are as quick as with -O2, which takes a third longer to compile
CALLS = ["-O1", "-finline-functions", "-foptimize-sibling-calls", "-fstrict-aliasing"]
MICROSOFT = ["/O2", "/fp:precise"]  # from Visual Studio 2022 on nothing is fused so; earlier, and clang-cl, fuse on ARM
KERNELS = Path("qops/_kernels")
# what is built lies beside the source, so that the next build does only what has changed; elsewhere if it must not
BUILD = "build" if os.access(".", os.W_OK) else tempfile.mkdtemp()
CYTHON = Path(BUILD, "debug/cython" if DEBUG else "cython")
# what Cython itself adds to modules, such as its memoryviews, stands once in a module of its own: less to compile and
# to install
SHARED = "qops._kernels.shared"
MADE_FOR = CYTHON / "made_for"  # the numpy whose declarations Cython read, and its directives: others make C anew

DIRECTIVES = {
    "boundscheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "allow_none_for_extension_args": False,  # typed arguments refuse None, unless they say "or None"
}

compiler, headers = os.environ.get("CC") or sysconfig.get_config_var("CC"), sysconfig.get_path("include")
if compiler and not shutil.which(compiler.split()[0]):
    sys.exit(f"qops is compiled when it is installed, but there is no C compiler {compiler!r}: install gcc or clang")
if not Path(headers, "Python.h").exists():
    sys.exit(f"qops is compiled when it is installed, but Python's headers are not in {headers}: install python3-dev")


class BuildExtensions(build_ext):
    """Compiles with the flags that the compiler knows, on all cores, and says how far it is."""

    ready = 0
    telling = Lock()

    def run(self):
        """As setuptools does, but what an editable package is made of stays, and is not made again if it is new.

        Only here Cython makes C, as pip runs this file several times for less.
        """
        if self.editable_mode:
            kind = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib, self.build_temp = f"{BUILD}/lib.{kind}", f"{BUILD}/temp.{kind}"
        for extension, made in zip(self.extensions, made_of(self.extensions), strict=True):
            extension.sources, extension.depends = made.sources, made.depends
        super().run()

    def build_extension(self, extension):
        """As setuptools does, and say how many are ready."""
        super().build_extension(extension)
        terminal, every = sys.stderr.isatty(), len(self.extensions)
        with self.telling:  # several threads build
            self.ready += 1
            if terminal or self.ready % 10 == 0 or self.ready == every:
                end = "\r" if terminal and self.ready < every else "\n"
                sys.stderr.write(f"kernels ready: {self.ready} of {every}{end}")  # at once: others write too
                sys.stderr.flush()

    def build_extensions(self):
        """As setuptools does, with these flags, which depend on the compiler."""
        # set here, as a build of an editable package by pip drops what options say
        self.parallel = self.parallel or os.cpu_count() or 1
        is_microsoft = self.compiler.compiler_type == "msvc"
        for extension in self.extensions:
            flags = [*optimization(extension), *FLAGS, *EXACT]
            extension.extra_compile_args = MICROSOFT if is_microsoft else flags
        super().build_extensions()


def included(headers):
    """The headers, and those that they include. Cython itself follows .pxd files."""
    found, left = set(), set(headers)
    while left:
        path = left.pop()
        found.add(path)
        left |= {KERNELS / name for name in re.findall(r'#include "(.*)"', path.read_text())} - found
    return sorted(path.as_posix() for path in found)


def headers_of(source):
    """The headers that a module and the .pxd files beside it name; those of other modules Cython finds."""
    texts = [path.read_text() for path in (source, source.with_suffix(".pxd")) if path.exists()]
    names = re.findall(r'extern from "([^"]*)"', "".join(texts))
    return [KERNELS / name for name in names if (KERNELS / name).exists()]


def optimization(extension):
    """-O3 for a kernel that goes over elements: in a function without the GIL, or in a header that it names.

    The others check and call, which takes as long with CALLS, which compiles them in 60 % of the time.
    """
    source = Path(*extension.name.split(".")).with_suffix(".pyx")
    functions = re.split(r"\n(?=\S)", source.read_text()) if source.exists() else []
    has_loop = any("nogil" in f and re.search(r"^ +(for|while) ", f, re.M) for f in functions)
    return ["-O1"] if DEBUG else ["-O3"] if has_loop or headers_of(source) else CALLS


def made_of(extensions):
    """The extensions with the C that Cython makes of their sources, on all cores, if those have changed."""
    made_for = f"numpy {np.__version__}, {DIRECTIVES}, {SHARED}"
    gc.set_threshold(100_000)  # collecting garbage of trees that are still needed would take a third of the time
    made = cythonize(
        extensions,
        language_level=3,
        build_dir=CYTHON.as_posix(),
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        nthreads=os.cpu_count() or 1,
        force=None if MADE_FOR.exists() and MADE_FOR.read_text() == made_for else True,
    )
    CYTHON.mkdir(parents=True, exist_ok=True)
    MADE_FOR.write_text(made_for)
    return made


extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        include_dirs=[np.get_include(), KERNELS.as_posix()],
        depends=included(headers_of(source)),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_link_args=SANITIZE if DEBUG else [],
    )
    for source in sorted(KERNELS.rglob("*.pyx"))
]
extensions.append(Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"], extra_link_args=SANITIZE if DEBUG else []))
setup(
    cmdclass={"build_ext": BuildExtensions},
    ext_modules=[] if os.environ.get("QOPS_KERNELS") == "no" else extensions,  # compiled beside: see the Makefile
    options={} if BUILD == "build" else {"build": {"build_base": BUILD}, "egg_info": {"egg_base": BUILD}},
)
