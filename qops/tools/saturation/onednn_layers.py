"""What the prepared products of oneDNN add, in the lanes that they have on a machine."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops.isa.machines import MACHINES, Machine
from qops.models.lanes.route import Route, exact
from qops.models.lanes.sums import NO_MOVES, Sums, convolution, matrix
from qops.models.lanes.worst import worst
from qops.onednn import Convolution, GemmS8S8S32, GemmU8S8S32, MatMul
from qops.onednn.lanes import PRODUCTS, Lanes, lanes_of

__all__ = ["KINDS", "machine_of", "read"]

KINDS = PRODUCTS
"""The prepared ops that are read."""
_TYPES = {GemmU8S8S32: "u8", GemmS8S8S32: "s8"}


def machine_of(op: Any) -> str:
    """Give the lanes of the instruction set that an op is for.

    Returns
    -------
    str
        A name of `qops.isa.MACHINES`.
    """
    return "vnni" if op.isa == "vnni" else "avx2"


def read(op: Any, x_type: str, machine: Machine, x: NDArray[Any] | None) -> Sums:
    """Give the sums of a product. Its bias is added to float32, so it is no part of them; the offset of a GEMM is.

    Parameters
    ----------
    op : prepared op
        One of `KINDS`.
    x_type : str
        The type of the data, where the op takes both.
    machine : Machine
        Where it runs.
    x : ndarray or None
        The data, whose shape decides between kernels.

    Returns
    -------
    Sums

    Raises
    ------
    ValueError
        Weights without elements; data for a batch of weights; an offset for each row of the data.
    """
    kind, shape = _TYPES.get(type(op), x_type), None if x is None else _shape(op, x)
    isa = op.isa if machine_of(op) == machine.name else "avx2" if machine.name == "avx2" else "vnni"
    ways = lanes_of(op, isa, codes.TABLE[kind].dtype, shape)
    if not ways[0].weights.size:
        raise bad_value("what", f"{type(op).__name__} has no weights")
    made = _of_convolution(op, ways[0], kind) if isinstance(op, Convolution) else _of_matrix(op, ways[0], kind, x)
    return replace(made, own={"onednn": partial(_route, ways=ways)})


def _shape(op: Any, x: NDArray[Any]) -> tuple[int, ...]:
    return x.shape[::-1] if getattr(op, "transa", "N") == "T" else x.shape


def _of_convolution(op: Convolution, way: Lanes, kind: str) -> Sums:
    window, (groups, outputs, *filters) = op.window, way.weights.shape
    moves = {
        **NO_MOVES,
        "strides": window.stride,
        "dilations": [n + 1 for n in window.dilation],
        "pads": [*window.pad_l, *window.pad_r],
        "group": groups,
    }
    return convolution(
        op, way.weights.reshape(groups * outputs, *filters), kind, (op.attr.src_zp, 0), None, moves, False
    )


def _of_matrix(op: Any, way: Lanes, kind: str, x: NDArray[Any] | None) -> Sums:
    if isinstance(op, MatMul):
        if x is not None and op.weights.size != way.weights.shape[1] * op.weights.shape[-1]:
            raise bad_value("data", f"no data are read for a batch of weights, {op.weights.shape}")
        return matrix(op, way.weights, kind, op.attr.src_zp, op.attr.wei_zp, None)
    if type(op) not in _TYPES:
        return matrix(op, way.weights, kind, 0, 0, None)
    co = np.ravel(op.co)
    if op.offsetc == "C" and np.any(co != co[:1]):
        raise bad_value("what", "an offset for each row of the data is not read, which is co with offsetc 'C'")
    bias = np.broadcast_to(co[:1] if op.offsetc == "C" else co, len(way.weights))
    return matrix(op, way.weights, kind, op.ao, op.bo, bias if bias.any() else None)


def _route(sums: Sums, machine: Machine, ways: list[Lanes]) -> Route:
    """Give how the product runs; of several ways the one in which most pairs can saturate."""
    if sums.w_type != "s8":
        raise bad_value("runtime", f"oneDNN multiplies weights of int8, and these are {sums.w_type}")
    routes = [_route_of(sums, way) for way in ways]
    if len(routes) == 1:
        return routes[0]
    return max(routes, key=lambda how: np.count_nonzero(worst(sums, how).unsafe))


def _route_of(sums: Sums, way: Lanes) -> Route:
    if way.why:
        return exact(sums, way.why)
    shift = 0 if sums.x_type == "u8" else 128
    shifts = (0, 128) if way.swapped else (shift, 0)
    return Route(MACHINES["avx2"], way.order, *shifts, way.swapped, starts=way.starts, is_padding_outside=True)
