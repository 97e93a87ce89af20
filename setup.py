"""The extension modules of qops; everything else about the package stands in pyproject.toml."""

import os
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("QOPS_DEBUG") == "1"
# Python's own -fwrapv would hide what overflows
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
FLAGS = ["-O1", "-g", "-fno-wrapv", *SANITIZE] if DEBUG else ["-O3", "-g0"]
# every float operation rounds once: no fused ones, and no vectors made of single statements, in which gcc 12 drops the
# rounding of (double)(float)i
EXACT = ["-ffp-contract=off", "-fno-tree-slp-vectorize"]
SIMD = Path("qops/_kernels/simd")

extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        include_dirs=[np.get_include(), SIMD.as_posix()],
        # a room's kernels include the headers of their room and of the core; Cython itself follows the .pxd files
        depends=[h.as_posix() for room in sorted({"core", source.parent.name}) for h in (SIMD / room).glob("*.h")],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=[*FLAGS, *EXACT],
        extra_link_args=SANITIZE if DEBUG else [],
    )
    for source in sorted(SIMD.parent.rglob("*.pyx"))
]
directives = {"boundscheck": DEBUG, "cdivision": True, "freethreading_compatible": True}
setup(
    ext_modules=cythonize(
        extensions,
        language_level=3,
        build_dir="build/debug/cython" if DEBUG else "build/cython",
        compiler_directives=directives,
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
