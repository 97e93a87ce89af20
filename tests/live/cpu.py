"""The CPU whose results are compared, and the column of `qops.onnx` that onnxruntime's kernels on it are.

It is this one, or the one in the emulator that the environment names; Linux tells what a CPU can do.
"""

import os
import platform
from pathlib import Path

import cpus

__all__ = ["COLUMN", "EMULATED", "kernel_here"]

EMULATED = os.environ.get(cpus.VARIABLE, "")
INFO = cpus.CPUS[EMULATED].cpuinfo if EMULATED else Path("/proc/cpuinfo").read_text()
MACHINE = "aarch64" if EMULATED and cpus.CPUS[EMULATED].is_arm else platform.machine()


def kernel_here(kernel):
    """The name in qops of TFLite's kernels on this CPU."""
    if not COLUMN.endswith(("_arm", "_neon")):
        return "xnnpack_avx2" if kernel == "xnnpack" and "avx512f" not in INFO else kernel
    return f"{kernel}_arm" if kernel == "reference" else f"{kernel}{COLUMN.removeprefix('ort')}"


COLUMN = cpus.column(MACHINE, INFO)
