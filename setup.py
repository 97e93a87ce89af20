"""The extension modules of qops; everything else about the package stands in pyproject.toml."""

import gc
import os
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
# nor does Python's own -g help anybody, but a builder's CFLAGS may ask for it
FLAGS = ["-g", "-fno-wrapv", *SANITIZE] if DEBUG else [] if "CFLAGS" in os.environ else ["-g0"]
# every float operation rounds once, whatever CFLAGS say: no fused ones, and no vectors made of single statements, in
# which gcc 12 drops the rounding of (double)(float)i; clang knows this flag by gcc's name too, where it is behind -O3
EXACT = ["-fno-fast-math", "-ffp-contract=off", "-fno-tree-slp-vectorize"]
# gcc up to 12 links what flushes subnormal numbers in the whole process if -ffast-math or -Ofast is asked for
LINK = EXACT[:1] * any("fast" in os.environ.get(name, "") for name in ("CFLAGS", "LDFLAGS")) + SANITIZE * DEBUG
# every module begins with a header that refuses what else a compiler may do to floats. -MMD writes which headers of
# this tree were read, beside the object; numpy's are of the system, and are in MADE_FOR
READ = ["-include", "machine/exact.h", "-MMD", "-isystem", np.get_include()]
# from Visual Studio 2022 on nothing is fused so; earlier, and clang-cl, fuse on ARM
MICROSOFT = ["/O2", "/fp:precise", "/FImachine/exact.h", f"/I{np.get_include()}"]
# these only check and call, which takes as long with these flags; they compile in half of the time, a seventh of all
CALLS = ["-O1", "-finline-functions", "-foptimize-sibling-calls", "-fstrict-aliasing"]
CALLING = [
    "arrays.axis", "arrays.channels", "arrays.checks", "arrays.numbers", "arrays.window", "conv.convolution",
    "conv.finish", "frontdoor.conv2d", "frontdoor.layer", "frontdoor.matmul", "frontdoor.requantize", "gemm.gemm",
    "onednn.gemm", "pool.pooling", "shared", "stage.binary", "stage.binary_rules", "stage.given", "stage.quantize",
    "stage.requantize", "stage.rules",
]  # fmt: skip
KERNELS = Path("qops/_kernels")
# what is built lies beside the source, so that the next build does only what has changed; elsewhere if it must not
BUILD = "build" if os.access(".", os.W_OK) else tempfile.mkdtemp()
CYTHON = Path(BUILD, "debug/cython" if DEBUG else "cython")
# what Cython itself adds to modules, such as its memoryviews, stands once in a module of its own: less to compile and
# to install. Cython puts it into sys.modules by the name of its C file: that is the full name
SHARED = "qops._kernels.shared"
MADE_FOR = CYTHON / "made_for"  # the numpy whose declarations Cython read, and its directives: others make C anew

DIRECTIVES = {
    "boundscheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "allow_none_for_extension_args": False,  # typed arguments refuse None, unless they say "or None"
}

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_tools():
    """End with one line that says what is missing to compile."""
    compiler, headers = os.environ.get("CC") or sysconfig.get_config_var("CC"), sysconfig.get_path("include")
    but = "qops is compiled when it is installed, but"
    if compiler and not shutil.which(compiler.split()[0]):
        sys.exit(f"{but} there is no C compiler {compiler!r}: install gcc or clang")
    if not Path(headers, "Python.h").exists():
        sys.exit(f"{but} Python's headers are not in {headers}: install python3-dev")


class BuildExtensions(build_ext):
    """Compiles with the flags that the compiler knows, on all cores, and says how far it is."""

    ready = 0
    telling = Lock()

    def run(self):
        """As setuptools does, but what an editable package is made of stays, and is not made again if it is new.

        Only here Cython makes C, as pip runs this file several times for less.
        """
        check_tools()
        if self.editable_mode:
            kind = f"{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib, self.build_temp = f"{BUILD}/lib.{kind}", f"{BUILD}/temp.{kind}"
        for extension, made in zip(self.extensions, made_of(self.extensions), strict=True):
            extension.sources = made.sources
        super().run()

    def build_extension(self, extension):
        """As setuptools does, if something changed that the compiler read; and say how many are ready."""
        (made,) = self.compiler.object_filenames(extension.sources, output_dir=self.build_temp)
        is_microsoft = self.compiler.compiler_type == "msvc"  # does not write what it read
        extension.depends = ["setup.py", *(map(str, KERNELS.rglob("*.h")) if is_microsoft else read_for(made))]
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
        self.parallel = self.parallel or PROCESSORS
        for extension in self.extensions:
            is_calling = extension.name.removeprefix("qops._kernels.") in CALLING
            optimization = ["-O1"] if DEBUG else CALLS if is_calling else ["-O3"]
            extension.extra_compile_args = [*optimization, *FLAGS, *EXACT, *READ]
            extension.extra_link_args = LINK
            if self.compiler.compiler_type == "msvc":
                extension.extra_compile_args, extension.extra_link_args = MICROSOFT, []
        super().build_extensions()


def read_for(made):
    """What the compiler read when it made this object; if it did not, the file that would say so and does not exist."""
    record = Path(made).with_suffix(".d")
    text = record.read_text().partition(": ")[2] if record.exists() else str(record).replace(" ", "\\ ")
    return [word.replace("\0", " ") for word in text.replace("\\\n", " ").replace("\\ ", "\0").split()]


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
        nthreads=PROCESSORS,
        force=None if MADE_FOR.exists() and MADE_FOR.read_text() == made_for else True,
    )
    CYTHON.mkdir(parents=True, exist_ok=True)
    MADE_FOR.write_text(made_for)
    return made


extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        include_dirs=[KERNELS.as_posix()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
    )
    for source in sorted(KERNELS.rglob("*.pyx"))
]
extensions.append(Extension(SHARED, [f"{SHARED}.c"], include_dirs=[KERNELS.as_posix()]))
setup(
    cmdclass={"build_ext": BuildExtensions},
    ext_modules=[] if os.environ.get("QOPS_KERNELS") == "no" else extensions,  # compiled beside: see the Makefile
    options={} if BUILD == "build" else {"build": {"build_base": BUILD}, "egg_info": {"egg_base": BUILD}},
)
