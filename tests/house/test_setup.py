"""setup.py: what it says when it cannot compile, and where it writes."""

import os
import subprocess
import sys

import pytest
from imports import ROOT


@pytest.mark.parametrize("compiler", ["no_compiler_of_this_name", "neither this -one"])
def test_setup_says_in_one_line_that_there_is_no_compiler(compiler):
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=ROOT,
        env={**os.environ, "CC": compiler},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"qops is compiled when it is installed, but there is no C compiler {compiler!r}: install gcc or clang\n"
    )


ELSEWHERE = """
import os, runpy, tempfile, Cython.Build, setuptools
access, tempfile.mkdtemp = os.access, lambda: "elsewhere"
os.access = lambda path, mode: path != "." and access(path, mode)
Cython.Build.cythonize = lambda extensions, build_dir, **_: print(build_dir)
setuptools.setup = lambda ext_modules, options: print(*(options[step].popitem()[1] for step in ("build", "egg_info")))
runpy.run_path("setup.py")
"""


def test_setup_writes_nothing_into_a_folder_that_it_must_not_write_to():
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["elsewhere/cython", "elsewhere", "elsewhere"]
