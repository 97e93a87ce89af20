"""setup.py: what it says when it cannot compile, where it writes, its flags; and what wheels are built and tested."""

import os
import re
import subprocess
import sys
import tomllib

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
setuptools.setup = lambda options, **_: print(*(options[step].popitem()[1] for step in ("build", "egg_info")))
runpy.run_path("setup.py")
"""


def test_setup_writes_nothing_into_a_folder_that_it_must_not_write_to():
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["elsewhere/cython", "elsewhere", "elsewhere"]


FLAGS = """
import runpy, types, setuptools, Cython.Build, setuptools.command.build_ext
Cython.Build.cythonize = lambda extensions, **_: extensions
setuptools.setup = lambda **_: None
setuptools.command.build_ext.build_ext.build_extensions = lambda self: print(*self.extensions[-1].extra_compile_args)
build = runpy.run_path("setup.py")["BuildExtensions"](setuptools.Distribution())
build.extensions = [types.SimpleNamespace()]
for family in "msvc", "unix":
    build.compiler = types.SimpleNamespace(compiler_type=family)
    build.build_extensions()
"""


def test_setup_gives_a_compiler_flags_that_it_knows():
    done = subprocess.run([sys.executable, "-c", FLAGS], cwd=ROOT, capture_output=True, text=True, check=True)
    microsoft, unix = map(str.split, done.stdout.splitlines())
    assert "/fp:precise" in microsoft
    assert "-ffp-contract=off" in unix
    assert all(flag.startswith("/") for flag in microsoft)
    assert all(flag.startswith("-") for flag in unix)


def test_wheels_are_built_for_the_versions_of_python_that_are_promised_and_tested_by_tests_that_exist():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    classifiers, wheels = settings["project"]["classifiers"], settings["tool"]["cibuildwheel"]
    promised = {line.rpartition(" ")[2].replace(".", "") for line in classifiers if re.search(r":: 3\.\d+$", line)}
    assert {re.match(r"cp(\d+)", build)[1] for build in wheels["build"]} == promised
    commands = [*wheels["test-command"], *wheels["pyodide"]["test-command"]]
    paths = [word for command in commands for word in command.split() if "/" in word]
    assert len(paths) > 4
    assert all((ROOT / path).exists() and path.startswith("tests/") for path in paths)
    assert "python -m qops selftest" in wheels["test-command"]
    assert "tools/selftest.npz" in settings["tool"]["setuptools"]["package-data"]["qops"]
