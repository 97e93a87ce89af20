"""How a runtime lays codes before the lanes of a machine: their order along k, their types, what it does exactly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.isa import MACHINES, Machine
from qops.models.lanes.sums import Sums

if TYPE_CHECKING:
    from qops.rules import SumLayer

__all__ = ["NEON_TAPS", "ROUTES", "TFLITE_KERNELS", "Route", "exact", "route"]


class Route(NamedTuple):
    """How one layer runs on a machine.

    Attributes
    ----------
    machine : Machine
        The lanes that add its products.
    order : str
        How codes lie along k: "k", "taps, channels", "channels, taps" or "channels of a tap"; where there is one
        channel, "taps of a row" or "taps by columns".
    x_shift, w_shift : int
        What is added to the codes of data and weights, so that they have the types of the machine.
    swapped : bool
        Whether the weights are the left operand of the machine.
    why : str
        Why the lanes are wide, in words, where the runtime does not use the narrow lanes of the machine.
    starts : tuple of int
        Where along k lanes begin anew.
    is_padding_outside : bool
        Whether padding adds 0 to lanes; else it has the zero point there.
    """

    machine: Machine
    order: str
    x_shift: int = 0
    w_shift: int = 0
    swapped: bool = False
    why: str = ""
    starts: tuple[int, ...] = (0,)
    is_padding_outside: bool = False

    @property
    def lane(self) -> int:
        """How many places along k a block of lanes takes."""
        return max(1, self.machine.group) * self.machine.distance

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
            parts = np.split(cells.ravel(), self.starts[1:])
            return np.concatenate([*(self._filled(part) for part in parts[:-1]), parts[-1]])
        if self.order == "taps, channels":
            return cells.T.ravel()
        if self.order == "taps by columns":
            return cells.reshape(sums.kernel).T.ravel()
        if self.order == "taps of a row":
            return self._filled(cells.reshape(sums.kernel)).ravel()
        return self._filled(cells.T).ravel()

    def _filled(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        lacking = [(0, 0)] * (cells.ndim - 1) + [(0, -cells.shape[-1] % self.lane)]
        return np.pad(cells, lacking, constant_values=-1)

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
_IN_64 = _WIDE._replace(name="s64", bits=64, acc_bits=64)
NEON_TAPS = MACHINES["neon"]._replace(name="neon_taps", distance=1, cpus="64-bit ARM, XNNPACK's depthwise kernels")
"""Lanes of two taps that follow each other."""
_VNNI = ("vnni", "amx")
_ON_X86, _ON_ARM = ("avx2", *_VNNI), {"neon": "ort_neon", "dotprod": "ort_arm", "i8mm": "ort_arm"}


def exact(sums: Sums, why: str) -> Route:
    """Give the route of a layer whose products are added in the lanes of its accumulator.

    Parameters
    ----------
    sums : Sums
        The layer.
    why : str
        Why its lanes are wide, in words.

    Returns
    -------
    Route
    """
    wide = _IN_64 if sums.is_wide else _WIDE
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
    """The CPU provider of onnxruntime, as its column says."""
    from qops.onnx.runtimes import COLUMNS  # here and below, because the plain lanes of a machine need no room

    column = COLUMNS["ort_avx2" if machine.name in _ON_X86 else _ON_ARM[machine.name]]
    x, w = (codes.TABLE[kind].dtype for kind in (sums.x_type, sums.w_type))
    swapped = sums.is_weights_first
    if swapped:
        pairs, order = column.pairs_of(w, x), "channels, taps"
    else:
        is_symmetric = not np.any(sums.w_zero)
        is_conv = sums.is_convolution
        pairs = column.pairs_of_layer(x, w, sums.is_depthwise, is_symmetric) if is_conv else column.pairs_of(x, w)
        order = "taps, channels" if is_conv else "k"
    if not pairs:
        how = "depthwise" if sums.is_depthwise and column.pairs_of(x, w) else f"{sums.x_type} by {sums.w_type}"
        return exact(sums, f"{how} is exact")
    left, right = (sums.w_type, sums.x_type) if swapped else (sums.x_type, sums.w_type)
    shifts = _shift(left, machine.left, "data", machine), _shift(right, machine.right, "weights", machine)
    return Route(machine, order, *(shifts[::-1] if swapped else shifts), swapped=swapped)


def _ruled(rules: tuple[str, str], sums: Sums, machine: Machine) -> Route:
    """A library whose sums are a rule of `qops.rules.ACCUMULATE`: without VNNI, and with it."""
    from qops.rules import ACCUMULATE

    name = rules[machine.name in _VNNI]
    rule = ACCUMULATE[name]
    if name == "exact" or rule.is_exact(_layer_of(sums)):
        return exact(sums, "exact" if name == "exact" else "this form of the layer is exact")
    narrow = MACHINES["avx2"]  # which fbgemm's own depthwise kernel uses on every CPU
    types = [np.dtype(name) for name in rule.data]
    if codes.TABLE[sums.x_type].dtype not in types:
        raise bad_value("runtime", f"{name} multiplies data of {' or '.join(rule.data)}, and these are {sums.x_type}")
    if sums.w_type != "s8":
        raise bad_value("runtime", f"{name} multiplies weights of int8, and these are {sums.w_type}")
    is_outside = rule.padding == "outside"
    shift = _shift(sums.x_type, narrow.left, "data", narrow)
    if sums.is_convolution:
        return Route(narrow, rule.order, shift, is_padding_outside=is_outside)
    return Route(narrow, "k", shift, starts=rule.starts(sums.length))


def _layer_of(sums: Sums) -> SumLayer:
    """Give what the choice of a kernel depends on."""
    from qops.rules import SumLayer

    groups, outputs, inputs, _ = sums.weights.shape
    axes = () if sums.axes is None else sums.axes
    pads = (*(axis.before for axis in axes), *(axis.after for axis in axes))
    moves = tuple(axis.stride for axis in axes), tuple(axis.dilation for axis in axes)
    return SumLayer(sums.kernel, *moves, pads, groups, inputs, outputs, int(np.any(sums.w_zero)))


def _tflite(sums: Sums, machine: Machine, kernel: str = "reference") -> Route:
    """The kernels of TFLite: they add in 32 bits, of 16-bit data in 64, but for some of those of ARM."""
    from qops.tflite.kernels import KERNELS
    from qops.tflite.losses import MOST_TAPS

    facts, are_s8 = KERNELS[kernel], (sums.x_type, sums.w_type) == ("s8", "s8")
    is_alone = sums.is_convolution and sums.weights.shape[1:3] == (1, 1)
    if facts.depthwise_pairs and are_s8 and is_alone and sums.length <= MOST_TAPS:
        return Route(NEON_TAPS, "taps by columns")
    pairs = facts.pairs
    if not pairs or not are_s8 or is_alone or (len(sums.weights) > 1 and pairs == "window"):
        return exact(sums, "the kernels of TFLite add products in 32 bits or more")
    in_taps = sums.is_convolution and pairs == "tap"
    order = "channels of a tap" if in_taps else "taps, channels" if sums.is_convolution else "k"
    return Route(machine, order)


_OF_RULES = {
    "fbgemm": ("fbgemm-avx2", "fbgemm-vnni"),
    "x86": ("fbgemm-avx2", "x86-vnni"),
    "onednn": ("onednn-avx2", "exact"),
    "openvino": ("openvino-avx2", "exact"),
    "openvino_gemm": ("openvino-gemm-avx2", "exact"),
}
"""The rules of PyTorch's engines fbgemm, x86 and onednn (with which TensorFlow goes), and of OpenVINO's two kernels."""
TFLITE_KERNELS = (
    *("reference", "optimized", "xnnpack", "tflm", "reference_arm", "optimized_arm", "optimized_neon"),
    *("xnnpack_avx2", "xnnpack_arm", "xnnpack_neon", "tflm_until_2026_06", "single_rounding"),
)
"""The names of `qops.tflite.kernels.KERNELS`, which is imported where one of them is used."""
ROUTES: dict[str, tuple[Callable[[Sums, Machine], Route], tuple[str, ...]]] = {
    "plain": (_plain, ()),
    "exact": (lambda sums, machine: exact(sums, "sums are exact"), ()),
    "ort": (_ort, (*_ON_X86, *_ON_ARM)),
    **{name: (partial(_ruled, rules), _ON_X86) for name, rules in _OF_RULES.items()},
    "tflite": (_tflite, ()),
    **{name: (partial(_tflite, kernel=name), ()) for name in TFLITE_KERNELS},
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
    return sums.own.get(runtime, how)(sums, machine)
