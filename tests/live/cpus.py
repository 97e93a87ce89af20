"""Other CPUs, in qemu's emulators of one process: ``make live CPU=haswell``, ``CPU=arm`` or one of its cores.

Libraries choose their kernels by the instructions that a CPU has, and by /proc/cpuinfo. So both say the same here: the
emulator gets a root whose /proc/cpuinfo is that of the CPU. x86 runs this Python and its packages. 64-bit ARM runs the
Python of Debian's packages with wheels from PyPI, and qops compiled for it, as `make arm64` does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

__all__ = ["CPUS", "command", "environment", "named", "prepare"]

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/arm64"))
import run as arm64  # noqa: E402

ROOTS = ROOT / "build/live"
SITE = ROOTS / "site"
TORCH = ROOTS / "torch"
OF_CORES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
WHEELS = ["numpy", "onnxruntime==1.32.0", "onnx", "ai-edge-litert==2.3.0", "tflite", "flatbuffers"]
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_17", "manylinux2014")


class Cpu(NamedTuple):
    """A CPU: the program that emulates it, what that calls it, and what its /proc/cpuinfo says."""

    emulator: str
    model: str
    cpuinfo: str

    @property
    def is_arm(self) -> bool:
        """Whether it is 64-bit ARM."""
        return "aarch64" in self.emulator


def core(model: str, part: str, features: str) -> Cpu:
    """A core of ARM."""
    lines = {
        "processor": "0",
        "BogoMIPS": "50.00",
        "Features": features,
        "CPU implementer": "0x41",
        "CPU architecture": "8",
        "CPU variant": "0x0",
        "CPU part": part,
        "CPU revision": "1",
    }
    return Cpu("qemu-aarch64", model, "".join(f"{name}\t: {value}\n" for name, value in lines.items()))


CPUS = {
    "haswell": Cpu("qemu-x86_64", "Haswell", "processor\t: 0\nflags\t\t: sse2 ssse3 sse4_1 sse4_2 avx avx2 fma bmi2\n"),
    "a72": core("cortex-a72", "0xd08", "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"),
    "n1": core("neoverse-n1", "0xd0c", OF_CORES),
    "i8mm": core("max,sme=off", "0xd0c", f"{OF_CORES} sve sve2 i8mm bf16"),
}
"""The CPUs by the names that make takes. qemu 7.2 computes products of SME wrongly, so it is off."""


def named(word: str) -> list[str]:
    """Give the CPUs that a word means: one, or all cores of ARM."""
    if word == "arm":
        return [name for name, cpu in CPUS.items() if cpu.is_arm]
    if word not in CPUS:
        raise SystemExit(f"CPU: expected arm or one of {', '.join(CPUS)}, got {word!r}")
    return [word]


def emulator(cpu: Cpu) -> str:
    """The program, which Debian has in two packages: dynamic or static."""
    found = shutil.which(cpu.emulator) or shutil.which(f"{cpu.emulator}-static")
    if not found:
        raise SystemExit(f"{cpu.emulator} is missing: apt-get install qemu-user")
    return found


def command(name: str) -> list[str]:
    """What starts a Python on this CPU."""
    cpu = CPUS[name]
    python = str(arm64.SYSTEM / "usr/bin" / arm64.PYTHON) if cpu.is_arm else os.path.realpath(sys.executable)
    return [emulator(cpu), "-L", str(ROOTS / name), "-cpu", cpu.model, python]


def environment(name: str) -> dict[str, str]:
    """The variables of that Python: it imports what this one does, or on ARM what was unpacked for it."""
    own = [ROOT / "tests/support", ROOT / "tests/live"]
    if CPUS[name].is_arm:
        found = [*own, arm64.LIB, SITE, TORCH, ROOT]
        more = {"PYTHONPYCACHEPREFIX": str(ROOTS / "bytecode")}
    else:
        found, more = [*own, ROOT, *(Path(folder) for folder in sys.path if folder.endswith("site-packages"))], {}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return os.environ | one_thread | more | {"PYTHONPATH": os.pathsep.join(map(str, found))}


def prepare(name: str) -> None:
    """Make what the CPU needs: a root with its /proc/cpuinfo, and for ARM a system, packages and kernels."""
    cpu, root = CPUS[name], ROOTS / name
    for path, text in (
        ("proc/cpuinfo", cpu.cpuinfo),
        ("sys/devices/system/cpu/possible", "0\n"),
        ("sys/devices/system/cpu/present", "0\n"),
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if not cpu.is_arm:
        return
    lines = [line for line in arm64.missing() if "qemu" not in line]
    if lines:
        raise SystemExit("\n    ".join(["make live CPU=arm needs, as root:", *lines]))
    if not (arm64.SYSTEM / "usr/bin" / arm64.PYTHON).exists():
        arm64.unpack_system()
    for folder in ("lib", "usr"):  # the emulator looks for the loader and for libraries here
        link = root / folder
        if not link.is_symlink():
            link.symlink_to(arm64.SYSTEM / folder)
    if not SITE.exists():
        unpack(WHEELS, SITE)
    arm64.compile_kernels()


def unpack(names: list[str], folder: Path) -> None:
    """Wheels for ARM with all that they need, into a folder."""
    platforms = [word for linux in LINUX for word in ("--platform", f"{linux}_aarch64")]
    version = ["--python-version", arm64.PYTHON.removeprefix("python"), "--only-binary=:all:"]
    wheels = ROOTS / "wheels"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", *platforms, *version, "--dest", str(wheels)]
    subprocess.run([*pip, *names], check=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
