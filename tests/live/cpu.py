"""The column of `qops.onnx` that onnxruntime's kernels on this CPU are; Linux tells what a CPU can do."""

import platform
import re
from pathlib import Path

__all__ = ["COLUMN", "kernel_here"]

INFO = Path("/proc/cpuinfo").read_text()


def column(machine, info):
    """The name of the runtime, from the kind of machine and the text of /proc/cpuinfo."""
    words = {*re.findall(r"\w+", info)}
    if machine in ("aarch64", "arm64"):
        return "ort_arm" if "asimddp" in words else "ort_neon"
    has_vnni = words & {"avx_vnni", "avx512_vnni", "amx_int8"}
    return "ort_avx2" if "avx2" in words and not has_vnni else "ort"


def kernel_here(kernel):
    """The name in qops of TFLite's kernels on this CPU."""
    if not COLUMN.endswith(("_arm", "_neon")):
        return "xnnpack_avx2" if kernel == "xnnpack" and "avx512f" not in INFO else kernel
    return f"{kernel}_arm" if kernel == "reference" else f"{kernel}{COLUMN.removeprefix('ort')}"


COLUMN = column(platform.machine(), INFO)
