"""How a runtime lays codes before the lanes of a machine: their order along k, their types, what it does exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.isa import MACHINES, Machine
from qops.tools.saturation.sums import Sums

__all__ = ["ROUTES", "Route", "route"]


class Route(NamedTuple):
    """How one layer runs on a machine.

    Attributes
    ----------
    machine : Machine
        The lanes that add its products.
    order : str
        How codes lie along k: "k", "taps, channels", "channels, taps" or "channels of a tap".
    x_shift, w_shift : int
        What is added to the codes of data and weights, so that they have the types of the machine.
    swapped : bool
        Whether the weights are the left operand of the machine.
    why : str
        Why the lanes are wide, in words, where the runtime does not use the narrow lanes of the machine.
    """

    machine: Machine
    order: str
    x_shift: int = 0
    w_shift: int = 0
    swapped: bool = False
    why: str = ""

    def places(self, sums: Sums) -> NDArray[np.int64]:
        """Give which product of (channels, taps) stands at each place along k; -1 is a place without one.

        Parameters
        ----------
        sums : Sums
            The layer.

        Returns
        -------
        ndarray of int64
        """
        channels, taps = sums.weights.shape[2:]
        cells = np.arange(channels * taps).reshape(channels, taps)
        if self.order in ("k", "channels, taps"):
            return cells.ravel()
        if self.order == "taps, channels":
            return cells.T.ravel()
        lacking = -channels % max(1, self.machine.group)
        return np.pad(cells.T, ((0, 0), (0, lacking)), constant_values=-1).ravel()

    def laid(self, x: NDArray[Any], sums: Sums, shift: int) -> NDArray[np.int64]:
        """Lay codes, (..., channels, taps), along k, as integers of the type that the machine multiplies.

        Parameters
        ----------
        x : ndarray
        sums : Sums
            The layer.
        shift : int
            `x_shift` or `w_shift`.

        Returns
        -------
        ndarray of int64, (..., k)
        """
        places = self.places(sums)
        made = x.reshape(*x.shape[:-2], -1)[..., places].astype(np.int64)
        if shift:
            made += shift
        if places.size and places.min() < 0:
            made[..., places < 0] = 0
        return made


_WIDE = MACHINES["s32"]


def _exact(sums: Sums, why: str) -> Route:
    wide = MACHINES["s32_16x8"] if sums.x_type == "s16" else _WIDE
    return Route(wide._replace(left=sums.x_type, right=sums.w_type), "k", why=why)


def _shift(have: str, wanted: str, what: str, machine: Machine) -> int:
    if have == wanted:
        return 0
    if {have, wanted} != {"u8", "s8"}:
        raise bad_value("machine", f"{machine.name} multiplies {wanted}, and the {what} are {have}")
    return codes.TABLE[wanted].lowest - codes.TABLE[have].lowest


def _plain(sums: Sums, machine: Machine) -> Route:
    """A kernel that uses the lanes of the machine for all layers, and moves codes of 8 bits to its types."""
    order = "taps, channels" if sums.is_convolution else "k"
    x, w = _shift(sums.x_type, machine.left, "data", machine), _shift(sums.w_type, machine.right, "weights", machine)
    return Route(machine, order, x, w)


def _ort(sums: Sums, machine: Machine) -> Route:
    """The CPU provider of onnxruntime: narrow lanes for u8 data with s8 weights; ConvInteger swaps the roles."""
    types = sums.x_type, sums.w_type
    if sums.kind == "ConvInteger":
        if types == ("s8", "u8"):
            return Route(machine, "channels, taps", swapped=True)
        return _exact(sums, f"ConvInteger multiplies {types[0]} by {types[1]} exactly")
    if types != ("u8", "s8"):
        return _exact(sums, f"{types[0]} by {types[1]} is exact")
    if sums.is_depthwise:
        return _exact(sums, "depthwise is exact")
    return Route(machine, "taps, channels" if sums.is_convolution else "k")


def _fbgemm(sums: Sums, machine: Machine) -> Route:
    """PyTorch's engine fbgemm, whose fast depthwise kernel uses the lanes of AVX2 on every CPU."""
    own = machine
    groups, outputs, channels, taps = sums.weights.shape
    if sums.is_convolution and channels == 1 and outputs in (1, 2) and groups % 8 == 0 and taps > 1:
        own = MACHINES["avx2"]
    return _plain(sums, own)


def _openvino(sums: Sums, machine: Machine) -> Route:
    """OpenVINO and the fused ops of TensorFlow: pairs begin anew at each tap; depthwise is exact."""
    if sums.is_depthwise:
        return _exact(sums, "depthwise is exact")
    if not sums.is_convolution and 256 < sums.length < 768 and -(-sums.length // 2) % 2:
        raise bad_value("runtime", f"openvino splits sums of {sums.length} products at an odd place, which is not read")
    found = _plain(sums, machine)
    return found._replace(order="channels of a tap") if sums.is_convolution else found


def _tflite(sums: Sums, machine: Machine) -> Route:
    """The kernels of TFLite, on x86 as on ARM: they add products in 32 bits, of 16-bit data in 64."""
    return _exact(sums, "the kernels of TFLite add products in 32 bits or more")


_X86 = ("avx2", "vnni", "amx")
ROUTES: dict[str, tuple[Callable[[Sums, Machine], Route], tuple[str, ...]]] = {
    "plain": (_plain, ()),
    "ort": (_ort, _X86),
    "fbgemm": (_fbgemm, _X86),
    "openvino": (_openvino, _X86),
    "tflite": (_tflite, ()),
}
"""Runtimes: how they lay codes, and the machines on which that is known; () is all of them."""


def route(sums: Sums, machine: Machine, runtime: str) -> Route:
    """Give how a runtime computes a layer on a machine.

    Parameters
    ----------
    sums : Sums
        The layer.
    machine : Machine
        Its lanes.
    runtime : str
        A name of `ROUTES`.

    Returns
    -------
    Route

    Raises
    ------
    ValueError
        A machine on which the runtime is not known; codes that the machine does not multiply.
    """
    how, machines = ROUTES[choice(runtime, "runtime", ROUTES)]
    if machines and machine.name not in machines:
        known = ", ".join(machines)
        raise bad_value("machine", f"{runtime!r} is known on {known}, got {machine.name!r}; runtime='plain' takes any")
    return how(sums, machine)
