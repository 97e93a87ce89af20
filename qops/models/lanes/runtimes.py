"""Which lanes a runtime uses: a library, or a library on one kind of CPU, and the graph that is exact there."""

from __future__ import annotations

from typing import Any, NamedTuple

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.isa import Machine
from qops.isa.machines import machine as machine_of
from qops.models.lanes.route import ROUTES, TFLITE_KERNELS

__all__ = ["NAMES", "Place", "place_of"]

_ORT = {"ort_avx2": "avx2", "ort_arm": "dotprod", "ort_neon": "neon"}
_ARM = ("neon", "dotprod", "dotprod_u8", "i8mm")
NAMES = tuple(dict.fromkeys([*ROUTES, *_ORT]))
"""The runtimes by name: libraries, and libraries on one kind of CPU."""


class Place(NamedTuple):
    """Where a layer or a model runs.

    Attributes
    ----------
    machine : Machine
        Its lanes.
    runtime : str
        A name of `qops.models.lanes.route.ROUTES`.
    exact : str
        The runtime of `qops.models.load` that computes as this one does, but with exact sums.
    """

    machine: Machine
    runtime: str
    exact: str


def place_of(runtime: str | None, machine: str | Machine | None, kind: str) -> Place:
    """Give the machine and the runtime, where they are not given.

    Parameters
    ----------
    runtime : str or None
        A name of `NAMES`.
    machine : str, Machine or None
        A machine, which a runtime on one kind of CPU has already.
    kind : {"onnx", "tflite", ""}
        Of what the layers are.

    Returns
    -------
    Place

    Raises
    ------
    TypeError, ValueError
        Another runtime or machine, or both, which do not belong together.
    """
    if runtime is None:
        runtime = "ort" if kind == "onnx" else "tflite" if kind == "tflite" and machine is None else "plain"
    choice(runtime, "runtime", NAMES)
    own = _machine_of(runtime)
    wanted = machine_of((own or "avx2") if machine is None else machine)
    if own is not None and machine is not None and wanted.name != own:
        if runtime != "tflite":
            raise bad_value("machine", f"{runtime!r} runs on {own!r}, got {wanted.name!r}")
        if wanted.name == "neon":
            raise bad_value("machine", "on 'neon' give the runtime 'optimized_neon' or 'xnnpack_neon'")
    return Place(wanted, "ort" if runtime in _ORT else runtime, _exact(runtime, wanted, kind))


def _machine_of(runtime: str) -> str | None:
    if runtime in TFLITE_KERNELS:
        return "neon" if runtime.endswith("_neon") else "dotprod" if runtime.endswith("_arm") else "s32"
    return "s32" if runtime == "tflite" else _ORT.get(runtime)


def _exact(runtime: str, machine: Any, kind: str) -> str:
    if kind == "tflite":
        return runtime.replace("_neon", "_arm") if runtime in TFLITE_KERNELS else "reference"
    is_arm = runtime in ("ort", *_ORT) and machine.name in _ARM
    return "ort_arm" if is_arm else "ort"
