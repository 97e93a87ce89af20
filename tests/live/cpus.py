"""Other CPUs: ``make live CPU=haswell``, ``CPU=arm`` or one of its cores.

Haswell is x86 with AVX2, without AVX-512 and VNNI. On such a CPU all systems run as they are. On another x86 they run
in qemu's emulator of one process, but TensorFlow, which a variable keeps from newer instructions, and TFLite Micro,
which computes the same on all. 64-bit ARM is always in an emulator: Debian's Python with wheels from PyPI, without
TensorFlow and TFLite Micro.

Only the system's half of a call is in the emulator. Libraries choose their kernels by the instructions that a CPU has,
and by /proc/cpuinfo. So both say the same there: the emulator gets a root whose /proc/cpuinfo is that of the CPU.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

__all__ = ["CPUS", "ON_X86", "VARIABLE", "column", "command", "environment", "is_here", "named", "prepare", "variables"]

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/arm64"))
import run as arm64  # noqa: E402  # the folder must be on the path first

ROOTS = ROOT / "build/live"
SITE = ROOTS / "site"
TORCH = ROOTS / "torch"
OF_CORES = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
WHEELS = ["numpy", "onnxruntime==1.32.0", "ai-edge-litert==2.3.0"]
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_17", "manylinux2014")
VARIABLE = "QOPS_LIVE_CPU"
"""The CPU in whose emulator a process has its system; without it, the system is in the process."""
CAPPED = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
ON_X86 = "it is compared on x86 alone"


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


def column(machine: str, info: str) -> str:
    """The name of onnxruntime's kernels in qops, from the kind of machine and the text of /proc/cpuinfo."""
    words = {*re.findall(r"\w+", info)}
    if machine in ("aarch64", "arm64"):
        return "ort_arm" if "asimddp" in words else "ort_neon"
    has_vnni = words & {"avx_vnni", "avx512_vnni", "amx_int8"}
    return "ort_avx2" if "avx2" in words and not has_vnni else "ort"


def is_here(name: str) -> bool:
    """Whether this CPU has what the named one has, so that nothing need be emulated."""
    info = Path("/proc/cpuinfo").read_text()
    return name == "haswell" and column(platform.machine(), info) == "ort_avx2" and "avx512f" not in info


def variables(system: str, name: str) -> dict[str, str] | None:
    """What the environment says to a process that compares a system on a CPU; None if it is not compared there."""
    if not name or is_here(name):
        return {}
    if system in ("tensorflow", "tflm"):
        return None if CPUS[name].is_arm else CAPPED
    return {VARIABLE: name}


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
    if CPUS[name].is_arm:
        found = [SITE, TORCH]
        more = {"PYTHONPYCACHEPREFIX": str(ROOTS / "bytecode")}
    else:
        found, more = [Path(folder) for folder in sys.path if folder.endswith("site-packages")], {}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return os.environ | one_thread | more | {"PYTHONPATH": os.pathsep.join(map(str, found))}


def prepare(name: str) -> None:
    """Make what the CPU needs: a root with its /proc/cpuinfo, and for ARM a system and packages."""
    if is_here(name):
        return
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
    if not (arm64.SYSTEM / "usr/bin" / arm64.PYTHON).exists():
        lines = [line for line in arm64.missing() if "gcc" not in line]
        if lines:
            raise SystemExit("\n    ".join(["make live CPU=arm needs, as root:", *lines]))
        arm64.unpack_system()
    for folder in ("lib", "usr"):  # the emulator looks for the loader and for libraries here
        link = root / folder
        if not link.is_symlink():
            link.symlink_to(arm64.SYSTEM / folder)
    if not SITE.exists():
        unpack(WHEELS, SITE)


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
