"""Cross-compiles qops for 64-bit ARM and tests it there with qemu, on CPUs of three ages; ``make arm64``.

Debian's packages for arm64 give Python and its headers, PyPI's wheels numpy, pytest and onnx. They are unpacked in
build/arm64, and nothing of them is installed. What is compiled lies there too.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = ROOT / "build/arm64"
SYSTEM, SITE, LIB = HERE / "root", HERE / "site", HERE / "lib"
PYTHON = "python{}.{}".format(*sys.version_info)
COMPILER = "aarch64-linux-gnu-gcc"
QEMU = next(filter(shutil.which, ("qemu-aarch64", "qemu-aarch64-static")), "qemu-aarch64")  # of either package
TOOLS = {QEMU: "qemu-user", COMPILER: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"}
PYTEST = ["pytest", "-q", *(f"-pno:{name}" for name in ("cacheprovider", "logging", "faulthandler"))]
AS_CALLER = ("-o", "APT::Sandbox::User=root")  # apt's own user cannot write to build/arm64, which it warns of
NO_MORE = "recommends suggests conflicts breaks replaces enhances"
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")

CPUS = {"cortex-a72": "neon", "neoverse-n1": "dotprod", "max": "i8mm"}  # and the best tier of each
# tests of the other tiers, as pytest names them, and no test whose own name has such a word
OTHERS = {
    cpu: " or ".join(f"[{other} or -{other}" for other in sorted({"plain", *CPUS.values()} - {tier}))
    for cpu, tier in CPUS.items()
}
TESTS = [  # longest first; the loops over elements are the same on all tiers but the plain one, products differ
    ("tests/frontdoor", f"not ({OTHERS['max']})", ("max",)),
    ("tests/contract/test_golden.py", "not every_", ("max",)),
    ("tests/product", f"not ({OTHERS['max']})", ("max",)),
    ("tests/contract/test_tiers.py", "every_length", ("cortex-a72",)),
    *[("tests/product/test_gemm.py", f"not ({OTHERS[cpu]})", (cpu,)) for cpu in ("cortex-a72", "neoverse-n1")],
    ("tests/nouns", "", ("neoverse-n1",)),
]
# an emulator is slow: fewer random cases, still of every length; and nothing is translated to bytecode twice
FEWER = {"QOPS_DRAWS": "1", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(HERE / "bytecode")}
# left out: these start child processes, which would be programs of this machine
STARTS_CHILDREN = ("tests/product/test_amx.py", "tests/product/test_threads.py")


def missing() -> list[str]:
    """What must be done first, a line each."""
    packages = [packages for tool, packages in TOOLS.items() if not shutil.which(tool)]
    lines = [f"apt-get install {' '.join(packages)}"] if packages else []
    if not shutil.which("dpkg") or not shutil.which("apt-get"):
        return ["a Debian, or a system made of it: what runs in qemu is unpacked from its packages for arm64"]
    foreign = subprocess.run(["dpkg", "--print-foreign-architectures"], capture_output=True, text=True, check=True)
    if "arm64" not in foreign.stdout.split():
        lines.insert(0, "dpkg --add-architecture arm64 && apt-get update")
    return lines


def run(command: list[str], **options) -> str:
    """What a command prints; it must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def unpack_system() -> None:
    """Python for arm64 with all that it needs, as packages of this Debian."""
    wanted = [f"{PYTHON}:arm64", f"lib{PYTHON}-dev:arm64"]
    options = [f"--no-{word}" for word in NO_MORE.split()]
    lines = run(["apt-cache", "depends", "--recurse", *options, *wanted]).split("\n")
    packages = {line for line in lines if line.endswith(":arm64") and line[0].isalnum()}
    if not {*wanted} <= packages:
        raise SystemExit(f"this Debian has no {PYTHON} for arm64: make arm64 with the Python that belongs to it")
    debs = HERE / "debs"
    debs.mkdir(parents=True, exist_ok=True)
    run(["apt-get", *AS_CALLER, "download", "libstdc++6:arm64", *sorted(packages)], cwd=debs)
    for deb in debs.glob("*.deb"):
        run(["dpkg", "-x", str(deb), str(SYSTEM)])


def unpack_site() -> None:
    """Numpy, pytest, hypothesis and onnx, as wheels for arm64."""
    wheels = HERE / "wheels"
    platforms = [word for linux in LINUX for word in ("--platform", f"{linux}_aarch64")]
    version = ["--python-version", PYTHON.removeprefix("python"), "--only-binary=:all:"]
    names = ["numpy", "pytest>=8.3", "hypothesis>=6.100", "onnx>=1.23"]
    run([sys.executable, "-m", "pip", "download", "--quiet", *platforms, *version, "--dest", str(wheels), *names])
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(SITE)


def compile_kernels() -> None:
    """Into build/arm64/lib, by this machine's Python: only what has changed."""
    folders = [SYSTEM / "usr/include" / PYTHON, SYSTEM / "usr/include", SITE / "numpy/_core/include"]
    environment = {
        **os.environ,
        "CC": COMPILER,
        "LDSHARED": f"{COMPILER} -shared",
        "CFLAGS": " ".join(f"-I{folder}" for folder in folders),
        "SETUPTOOLS_EXT_SUFFIX": ".cpython-{}{}-aarch64-linux-gnu.so".format(*sys.version_info),
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
    }
    command = [sys.executable, "setup.py", "--quiet", "build", "--build-base", str(HERE), "--build-lib", str(LIB)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def in_qemu(cpu: str, module: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a Python module on a CPU."""
    environment = {**os.environ, "PYTHONPATH": f"{LIB}:{SITE}", "QOPS_ISA": CPUS[cpu], **FEWER}
    python = [QEMU, "-L", str(SYSTEM), "-cpu", cpu, str(SYSTEM / "usr/bin" / PYTHON), "-P"]
    return subprocess.run([*python, "-m", *module], cwd=ROOT, env=environment, capture_output=True, text=True)


def main() -> None:
    """All of it; exits with 1 if something fails."""
    lines = missing()
    if lines:
        raise SystemExit("\n    ".join(["make arm64 needs, as root:", *lines]))
    print("unpacking Python, numpy and pytest for ARM, and compiling the kernels: a few minutes, once", flush=True)
    if not (SYSTEM / "usr/bin" / PYTHON).exists():
        unpack_system()
    if not SITE.exists():
        unpack_site()
    compile_kernels()
    print("testing: some minutes, and the longest tests come first", flush=True)
    jobs = [
        (cpu, [*PYTEST, tests, "-k", chosen, *[f"--ignore={name}" for name in STARTS_CHILDREN]])
        for tests, chosen, cpus in TESTS
        for cpu in cpus
    ]
    jobs += [(cpu, ["qops", "selftest"]) for cpu in CPUS]
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (cpu, module), done in zip(jobs, pool.map(lambda job: in_qemu(*job), jobs), strict=True):
            lines = [line for line in done.stdout.split("\n") if line and not line.endswith("%]")]
            print(f"{cpu}: python -m {' '.join(module)}", *lines[-60:], done.stderr, sep="\n", flush=True)
            failed |= done.returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
