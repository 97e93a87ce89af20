"""What is built: modules that an edited header builds anew, names in `sys.modules`, floats that no builder bends."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
from distutils import ccompiler
from pathlib import Path

import pytest
import setuptools
from Cython.Build.Dependencies import parse_dependencies
from imports import ROOT
from names_added import wrong

KERNELS = ROOT / "qops/_kernels"
HEADERS = sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.h"))
FOREIGN = {"gemm/gemm_arm.h", "gemm/tile_i8mm.h", "lanes/lanes_neon.h"}  # behind a condition that x86 does not meet
FIRST = "machine/exact.h"  # by a flag


def test_qops_puts_no_name_of_others_into_sys_modules():
    """Cython's shared module stood there as `shared`, so that a user's own package of that name was not found."""
    done = subprocess.run([sys.executable, "tests/support/names_added.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) > 250, "not all modules were loaded"


def test_the_check_of_names_sees_one_that_is_too_many(monkeypatch):
    before = set(sys.modules)
    monkeypatch.setitem(sys.modules, "shared.utility", sys)
    monkeypatch.setitem(sys.modules, "_cython_3_9", sys)
    assert wrong(before) == ["shared"]


def test_a_wheel_is_checked_for_names_too():
    assert "empty/bin/python ../../tests/support/names_added.py" in (ROOT / "Makefile").read_text()


def included(text):
    """The headers of this tree that a C file or a header includes by a line of its own, under any condition."""
    return set(re.findall(r'^ *# *include "(\w+/\w+\.h)"', text, re.M)) & {*HEADERS}


@pytest.fixture(scope="module")
def truth():
    """For each module, all headers that its C includes: a walk that shares nothing with the compiler."""
    of = {name: included((KERNELS / name).read_text()) for name in HEADERS}

    def reached(names):
        found, left = set(), set(names)
        while left:
            found.add(name := left.pop())
            left |= of[name] - found
        return found

    made = ROOT / "build/cython/qops/_kernels"
    stems = [path.relative_to(KERNELS).with_suffix("") for path in KERNELS.rglob("*.pyx")]
    return {stem.as_posix(): reached({FIRST} | included((made / stem).with_suffix(".c").read_text())) for stem in stems}


def records():
    """What the compiler of the kernels that are tested here wrote: for each object, the file that says what it read."""
    kind = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    return ROOT / f"build/temp.{kind}/build/cython/qops/_kernels"


def declared(text):
    """The files of declarations that a kernel or such a file names: those of modules, and of modules in a package."""
    names = set()
    for package, said in re.findall(r"^from (qops[.\w]+) cimport (\([^)]*\)|[^(\n]*)", text, re.M):
        names |= {package, *(f"{package}.{name.split()[0]}" for name in said.strip("()").split(",") if name.strip())}
    names |= set(re.findall(r"^cimport (qops[.\w]+)", text, re.M))
    paths = (Path(*name.split(".")).with_suffix(".pxd") for name in names)
    return {path.as_posix() for path in paths if (ROOT / path).exists()}


def test_cython_makes_c_anew_for_each_file_of_declarations_that_a_kernel_names(monkeypatch):
    """It does not see `from package cimport module as name`; `cimport package.module as name` it does."""
    monkeypatch.chdir(ROOT)
    assert declared("from qops._kernels.arrays cimport axis as axes\n") == {"qops/_kernels/arrays/axis.pxd"}
    files = [path for path in sorted(Path("qops/_kernels").rglob("*.p[yx]*")) if path.suffix in (".pyx", ".pxd")]
    named = {path.as_posix(): declared(path.read_text("utf-8")) for path in files}
    assert sum(map(len, named.values())) > 500, "declarations are found"
    seen = {path: {f"{name.replace('.', '/')}.pxd" for name in parse_dependencies(path)[0]} for path in named}
    assert not {path: sorted(missed) for path in named if (missed := named[path] - seen[path])}


def test_the_compiler_says_which_headers_it_read(truth):
    for module, headers in truth.items():
        record = (records() / f"{module}.d").read_text()
        read = {*re.findall(r"\bqops/_kernels/(\w+/\w+\.h)", record)}
        assert headers - FOREIGN <= read <= headers, module
        assert "numpy" not in record.partition(".c ")[2], "is written for each environment that pip makes for a build"


@pytest.fixture
def build(truth, tmp_path, monkeypatch):
    """Builds all modules with a compiler that only writes what it is asked for, and what it would have read.

    In a folder with empty sources. Gives a function that touches files, builds, and gives the modules that it compiled.
    """
    for name in ["setup.py", *(f"qops/_kernels/{header}" for header in HEADERS)]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for module in truth:
        for source in (f"qops/_kernels/{module}.pyx", f"build/cython/qops/_kernels/{module}.c"):
            (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / source).write_text("")
    monkeypatch.chdir(tmp_path)
    for name in ("QOPS_DEBUG", "QOPS_KERNELS", "CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    for module in ("Cython.Build", "Cython.Build.Dependencies"):  # the second is asked again for each module
        monkeypatch.setattr(f"{module}.cythonize", as_made)
    monkeypatch.setattr("gc.set_threshold", lambda _: None)
    told = {}
    monkeypatch.setattr(setuptools, "setup", told.update)
    clock, compiled = iter(range(2 * 10**9, 4 * 10**9)), set()

    def write(path, text=""):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
        os.utime(path, (now := next(clock), now))

    def compile(sources, output_dir, extra_postargs, **options):
        (made,) = compiler.object_filenames(sources, output_dir=output_dir)
        write(made)
        module = sources[0].partition("_kernels/")[2].removesuffix(".c")
        compiled.add(module)
        if "-MMD" in extra_postargs:
            headers = " \\\n ".join(f"qops/_kernels/{name}" for name in sorted(truth[module]))
            write(made.removesuffix(".o") + ".d", f"{made}: {sources[0]} \\\n {headers}\n")
        return [made]

    compiler = ccompiler.new_compiler()

    class Build(runpy.run_path("setup.py")["BuildExtensions"]):
        def build_extensions(self):
            self.compiler.compile = compile
            self.compiler.link_shared_object = lambda objects, path, *libraries, **options: write(path)
            super().build_extensions()

    extensions = [one for one in told["ext_modules"] if not one.name.endswith(".shared")]
    command = Build(setuptools.Distribution({"ext_modules": extensions}))
    command.parallel = 1
    command.ensure_finalized()

    def run(*touched):
        for name in touched:
            os.utime(tmp_path / name, (now := next(clock), now))
        compiled.clear()
        if command.compiler is None:
            command.run()
        else:  # as that does, in this thread
            for extension in extensions:
                command.build_extension(extension)
        return {*compiled}

    return run


def as_made(extensions, *options, **more):
    """In Cython's place: the C is there already."""
    extensions = extensions if isinstance(extensions, list) else [extensions]
    for extension in extensions:
        extension.sources = [f"build/cython/{extension.name.replace('.', '/')}.c"]
    return [*extensions]


@pytest.mark.long
def test_each_header_builds_every_module_anew_that_includes_it(build, truth, tmp_path):
    assert build() == set(truth), "nothing was built before"
    assert build() == set()
    for header in HEADERS:
        wanted = {module for module, headers in truth.items() if header in headers}
        assert wanted, f"nothing includes {header}"
        assert build(f"qops/_kernels/{header}") == wanted, header
    assert build("setup.py") == set(truth), "flags stand there"
    assert build("build/cython/qops/_kernels/stage/clamp.c") == {"stage/clamp"}
    (tmp_path / "qops/_kernels/stage/narrow.h").unlink()
    assert build() == {module for module, headers in truth.items() if "stage/narrow.h" in headers}


COMPILER = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
OFFENDING = ["-ffast-math", "-Ofast", "-ffinite-math-only"] + ["-funsafe-math-optimizations"] * ("gcc" in COMPILER[-1])
ON_X87 = ["-mfpmath=387"] * ("gcc" in COMPILER[-1] and sysconfig.get_platform().endswith("x86_64"))


def compiled(flags, tmp_path):
    """What the compiler says of an empty module with these flags, or nothing."""
    source = tmp_path / "empty.c"
    source.write_text("int qops_empty;\n")
    command = [*COMPILER, *flags, f"-I{KERNELS}", "-c", str(source), "-o", str(tmp_path / "empty.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert bool(done.returncode) == ("error" in done.stderr), done.stderr
    return done.stderr


@pytest.fixture
def ours(monkeypatch):
    """The names of setup.py, without its call of `setup`."""
    for name in ("QOPS_DEBUG", "CFLAGS", "LDFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("gc.set_threshold", lambda _: None)
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    return runpy.run_path("setup.py")


@pytest.mark.parametrize("flag", [*OFFENDING, *ON_X87])
def test_a_module_does_not_compile_where_floats_are_not_rounded_once(flag, tmp_path):
    assert compiled(["-include", "machine/exact.h"], tmp_path) == ""
    assert "qops is not compiled" in compiled([flag, "-include", "machine/exact.h"], tmp_path)


@pytest.mark.long
def test_a_builder_s_flags_do_not_bend_floats(ours, tmp_path):
    """What the build says of fast mathematics stands behind CFLAGS; x87 it cannot undo, and ends there."""
    flags = [*ours["EXACT"], *ours["READ"]]
    for flag in OFFENDING[:2]:
        assert compiled([flag, *flags], tmp_path) == ""
    for flag in ON_X87:
        assert "FLT_EVAL_METHOD" in compiled([flag, *flags], tmp_path)


@pytest.mark.long
def test_a_builder_s_fast_math_does_not_make_the_modules_flush_subnormals_when_they_load(ours, tmp_path, monkeypatch):
    """A constructor that gcc up to 12 links would set that for the whole thread. Linkers know no such flag."""
    assert ours["LINK"] == []
    monkeypatch.setenv("CFLAGS", "-O2 -ffast-math")
    ours = runpy.run_path("setup.py")
    build = ours["BuildExtensions"](setuptools.Distribution())
    build.extensions = [setuptools.Extension("qops._kernels.stage.clamp", [])]
    build.compiler = ccompiler.new_compiler()
    monkeypatch.setattr("setuptools.command.build_ext.build_ext.build_extensions", lambda _: None)
    build.build_extensions()
    compiled([], tmp_path)
    links = [*COMPILER, "-###", "-shared", "-ffast-math", str(tmp_path / "empty.o")]
    said = subprocess.run([*links, *build.extensions[0].extra_link_args], capture_output=True, text=True, check=True)
    assert "empty.o" in said.stderr
    assert "crtfastmath" not in said.stderr


NUMBER = r"(u?int(?:8|16|32|64)_t|float|double)"


def puns(source):
    """Where Cython reads numbers in memory as numbers of another size, or floats as integers.

    C lets a compiler assume that no code does. Bytes may be read as anything, and memory that holds several kinds is
    divided by offsets.
    """
    found = []
    for function in re.split(r"^(?= *(?:cdef|cpdef|def) [^\n=(]*\()", source, flags=re.M):
        declared = {name: kind for kind, name in re.findall(rf"{NUMBER}\*+ ?(\w+)", function)}
        declared |= {name: kind for kind, name in re.findall(rf"{NUMBER}\[\w+\] (\w+)", function)}
        for kind, name in re.findall(rf"<(?:const )?{NUMBER} ?\*>(\w+)\b(?![.\[(])", function):
            both = {kind.lstrip("u"), declared.get(name, kind).lstrip("u")}
            if len(both) > 1 and "int8_t" not in both:
                found.append(f"{declared[name]} {name} as {kind}")
    return found


def test_no_kernel_reads_numbers_as_another_type():
    """The tables in float32 of a layer were once repeated together with those of int32 behind them, all as int32."""
    sources = [*KERNELS.rglob("*.pyx"), *KERNELS.rglob("*.pxd")]
    assert len(sources) > 150
    assert not [(path.name, pun) for path in sources for pun in puns(path.read_text())]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("repeat_first(<int32_t*>table, 6, ld, n)", ["float table as int32_t"]),
        ("near_all(codes, <int32_t*>wide, n)", ["int64_t wide as int32_t"]),
        ("add(<const double*>table)", ["float table as double"]),
        ("r.in_f32 = <int32_t*>(table + 4 * ld)", []),
        ("store(<uint8_t*>table, <uint32_t*>sums)", []),
    ],
)
def test_numbers_that_are_read_as_another_type_are_found(line, found):
    source = "cdef void f(float* table, int32_t* sums, const int32_t* codes):\n    cdef int64_t[8] wide\n"
    source += f"    cdef int32_t* all = <int32_t*>(table + 4 * ld)\n    {line}\n"
    assert puns(source) == found
