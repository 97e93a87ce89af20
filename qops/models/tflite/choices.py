"""Comparisons, logic, SELECT and SELECT_V2 of numbers without scales, POW, and REVERSE_V2, which moves elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.code.places import c_of_moves
from qops.models.op import Missing
from qops.models.tensor import Tensor, Values
from qops.models.tflite.file import Operator
from qops.models.tflite.integers import no_c
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator

__all__ = ["KINDS"]

Array = NDArray[Any]
Given = Sequence[Any]
_NUMBERS = ("float32", "int32", "int64")
F32 = np.float32
_INT32 = np.iinfo(np.int32)


def _expect(tensor: Tensor, types: Sequence[str]) -> None:
    if tensor.dtype not in types:
        raise Missing(f"{tensor.name!r} is {tensor.dtype}, where {' or '.join(types)} is expected")


def _make_truth(function: Callable[..., Any], types: Sequence[str], takes: tuple[int, ...] = (0, 1)) -> Maker:
    """An operator that gives true or false. LiteRT takes codes to another scale first, which is not modelled."""

    def make(site: PlacedOperator) -> OperatorRunner:
        for i in takes:
            _expect(site.tensor(i), types)
            _expect(site.tensor(i), [site.tensor(0).dtype])
        _expect(site.outputs[0], ["bool"])
        return OperatorRunner(takes, lambda *given: np.asarray(function(*given)))

    return make


def _make_power(site: PlacedOperator) -> OperatorRunner:
    """POW of float32, or of int32 where int32 holds the results.

    Where the exponent is one number near a positive integer, and the data have another shape, LiteRT multiplies in
    float32, and clamps each product to finite numbers. Others are powers in double that are rounded once; LiteRT has
    the ``powf`` of its host there, which may differ in the last bit.
    """
    a = site.tensor(0)
    for tensor in (a, site.tensor(1), site.outputs[0]):
        _expect(tensor, ["float32", "int32"])
        _expect(tensor, [a.dtype])
    return OperatorRunner((0, 1), _powers if a.dtype == "float32" else _whole_powers)


def _powers(x: Array, y: Array) -> Array:
    if y.size == 1 and x.shape != y.shape:
        exponent = y.reshape(-1)[0]
        near = np.floor(exponent + F32(0.5))
        if abs(exponent - near) < F32(1e-5) and 1 <= near < 2**31:
            return _multiplied(x, int(near))
    with np.errstate(all="ignore"):
        return np.power(x.astype(np.float64), y).astype(np.float32)


def _multiplied(x: Array, exponent: int) -> Array:
    """Square and multiply, from the highest bit of the exponent on."""
    y, most = x, np.finfo(np.float32).max
    with np.errstate(all="ignore"):
        for bit in f"{exponent:b}"[1:]:
            y = np.clip(y * y, -most, most)
            y = np.clip(x * y, -most, most) if bit == "1" else y
    return y


def _whole_powers(x: Array, y: Array) -> Array:
    if (y < 0).any():
        raise ValueError(f"it has the exponent {y.min()}, and LiteRT refuses negative ones of int32")
    with np.errstate(over="ignore"):
        made = np.power(x.astype(np.float64), y)
    if not np.all((made >= _INT32.min) & (made <= _INT32.max)):
        raise ValueError("its powers are larger than int32 holds")
    return made.astype(np.int32)


def _make_selected(site: PlacedOperator, across: bool) -> OperatorRunner:
    """Elements of the first where the condition holds, else of the second; `across`: of shapes that broadcast."""
    a, b, y = site.tensor(1), site.tensor(2), site.outputs[0]
    _expect(site.tensor(0), ["bool"])
    for tensor in (b, y):
        _expect(tensor, [a.dtype])
        if not (_same(tensor.scale, a.scale) and _same(tensor.zero_point, a.zero_point)):
            raise Missing(f"{tensor.name!r} has another scale or zero point than {a.name!r}")
    return OperatorRunner((0, 1, 2), lambda *given: _selected(given, across))


def _same(one: Array | None, other: Array | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _selected(given: Given, across: bool) -> Array:
    """SELECT, not `across`, takes operands of one shape; a condition of it, of its first axis, or of one element."""
    holds, a, b = given
    if not across:
        shapes = [a.shape, a.shape[:1], ()]
        if a.shape != b.shape or holds.shape not in shapes:
            raise ValueError(f"SELECT has shapes {holds.shape}, {a.shape}, {b.shape}")
        if holds.ndim < a.ndim:
            holds = holds.reshape(holds.shape + (1,) * (a.ndim - holds.ndim))
    return np.asarray(np.where(holds, a, b))


def _real_selected(op: Operator, given: Given, across: bool) -> Values:
    holds, *operands = (np.asarray(x) for x in given)
    if op.inputs[0] is not None:
        _expect(op.inputs[0], ["bool"])
    return _selected([holds.astype(bool), *operands], across)


def _reversed(op: Operator, given: Given) -> tuple[Array]:
    """The axes stand one beside the other in LiteRT."""
    x, axes = given[0], sorted(int(n) + (given[0].ndim if n < 0 else 0) for n in np.ravel(given[1]))
    if not axes or axes != list(range(axes[0], axes[0] + len(axes))) or axes[0] < 0 or axes[-1] >= x.ndim:
        raise ValueError(f"REVERSE_V2 of data of shape {x.shape} has axes {np.ravel(given[1]).tolist()!s:.80}")
    return (np.flip(x, tuple(axes)),)


def _of_truth(function: Callable[..., Any], types: Sequence[str], schema: str, takes: tuple[int, ...] = (0, 1)) -> Kind:
    return Kind(
        make=_make_truth(function, types, takes),
        real=lambda op, given: np.asarray(function(*given)),
        code=no_c,
        schema=schema,
        version=1,
    )


def _of_choice(schema: str, *, across: bool) -> Kind:
    make, real = partial(_make_selected, across=across), partial(_real_selected, across=across)
    return Kind(make=make, real=real, code=no_c, schema=schema, version=1)


KINDS = {
    "LESS": _of_truth(np.less, _NUMBERS, "LessOptions"),
    "LESS_EQUAL": _of_truth(np.less_equal, _NUMBERS, "LessEqualOptions"),
    "GREATER": _of_truth(np.greater, _NUMBERS, "GreaterOptions"),
    "GREATER_EQUAL": _of_truth(np.greater_equal, _NUMBERS, "GreaterEqualOptions"),
    "EQUAL": _of_truth(np.equal, (*_NUMBERS, "bool"), "EqualOptions"),
    "NOT_EQUAL": _of_truth(np.not_equal, (*_NUMBERS, "bool"), "NotEqualOptions"),
    "LOGICAL_AND": _of_truth(np.logical_and, ("bool",), "LogicalAndOptions"),
    "LOGICAL_OR": _of_truth(np.logical_or, ("bool",), "LogicalOrOptions"),
    "LOGICAL_NOT": _of_truth(np.logical_not, ("bool",), "LogicalNotOptions", (0,)),
    "SELECT": _of_choice("SelectOptions", across=False),
    "SELECT_V2": _of_choice("SelectV2Options", across=True),
    "POW": Kind(make=_make_power, code=no_c, schema="PowOptions", version=1),
    "REVERSE_V2": Kind(moves=_reversed, code=c_of_moves, schema="ReverseV2Options", version=1),
}
