"""What a table of times was measured on."""

import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import qops

_PACKAGES = {"tensorflow": "tensorflow", "litert": "ai-edge-litert", "tflm": "tflite-micro"}


def facts(peers: Iterable[str]) -> dict[str, str]:
    """Name the CPU, the tier, the commit, and the versions of Python and of the packages that are compared."""
    found = {
        "cpu": _cpu(),
        "tier": qops.isa_tier(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "qops": qops.__version__,
        "commit": _commit(),
    }
    return found | {name: _version(_PACKAGES.get(name, name)) for name in sorted({"numpy", *peers})}


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str:
    """Give the commit of the sources, with a plus if they were changed since; empty where git does not know."""
    try:
        words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--abbrev=12"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
