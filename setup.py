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
KERNELS = Path("qops/_kernels")

extensions = [
    Extension(
        f"qops._kernels.{source.stem}",
        [source.as_posix()],
        include_dirs=[np.get_include(), (KERNELS / "simd").as_posix()],
        depends=sorted(p.as_posix() for p in KERNELS.rglob("*.[hp]*") if p.suffix in {".h", ".pxd"}),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=[*FLAGS, *EXACT],
        extra_link_args=SANITIZE if DEBUG else [],
    )
    for source in sorted(KERNELS.glob("*.pyx"))
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
