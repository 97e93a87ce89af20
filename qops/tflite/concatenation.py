"""CONCATENATION: codes of several arrays, one behind the other along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice, int32
from qops.joining import joined_shape, listed, looked_up
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, half_away, multiply_add
from qops.tflite.op import PreparedOp

__all__ = ["Concatenation", "concatenation"]

Numbers = tuple[float, int]
"""A scale and a zero point."""


class Concatenation(PreparedOp):
    """The prepared form of `concatenation` of int8, uint8 or int16, called ``op(tensors, out=None)``."""

    __slots__ = ("_axis", "_tables")
    _name = "CONCATENATION"
    _own_checks = ("x_scale", "x_zero_point")

    def __init__(
        self,
        *,
        axis: int,
        x_scale: float | Sequence[float],
        x_zero_point: int | Sequence[int],
        y_scale: float,
        y_zero_point: int,
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        self._axis = int32(given.axis, "axis")
        if choice(given.activation, "activation", check.ACTIVATIONS) != "NONE" and not self._facts.concatenates_any:
            raise bad_value("activation", f"expected 'NONE', got {given.activation!r}")
        scales = _each(given.x_scale, "x_scale", check.scale)
        zeros = _each(given.x_zero_point, "x_zero_point", lambda one, name: check.zero_point(one, name, self._dtype))
        count = max(len(scales), len(zeros))
        if not {len(scales), len(zeros)} <= {1, count}:
            raise bad_value("x_scale, x_zero_point", f"expected 1 or one a tensor, got {len(scales)} and {len(zeros)}")
        y = given.y_scale, given.y_zero_point
        every = zip(scales * (count // len(scales)), zeros * (count // len(zeros)), strict=True)
        self._tables = [self._table(x, y) for x in every]

    def _table(self, x: Numbers, y: Numbers) -> NDArray[np.uint8] | None:
        """Give what becomes of all codes of a tensor; None if they are copied."""
        if x == y:
            return None
        if self._dtype != np.uint8:
            raise bad_value("x_scale, x_zero_point", f"expected y_scale and y_zero_point, {y}, got {x}")
        scale = F32(x[0]) * (F32(1) / F32(y[0]))
        values = half_away(multiply_add(np.arange(256, dtype=F32), scale, F32(-x[1]) * scale, self._facts.fuses))
        return np.clip(values + y[1], 0, 255).astype(np.uint8)

    def shape_of(self, shape: Any) -> tuple[int, ...]:
        """Give the shape of the result.

        Parameters
        ----------
        shape : sequence of tuple of int
            The shape of each tensor.

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            Shapes that do not fit.
        """
        return joined_shape(shape, self._axis)

    def __call__(self, tensors: Sequence[ArrayLike], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Put the codes of `tensors` one behind the other, in `out` if it is given."""
        arrays = [self._codes(data, "tensors") for data in listed(tensors)]
        count = len(arrays)
        if len(self._tables) not in (1, count):
            raise bad_value("tensors", f"expected {len(self._tables)}, as many as there are scales, got {count}")
        shape = self.shape_of([data.shape for data in arrays])
        check.out(out, self._dtype, shape, *arrays)
        tables = self._tables * (count // len(self._tables))
        return np.concatenate([*map(looked_up, arrays, tables)], self._axis, out=out)


def _each(value: Any, name: str, checked: Callable[[Any, str], Any]) -> list[Any]:
    """Give the numbers of a list of them, or the one for all tensors as a list."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(value, (list, tuple)):
        return [checked(value, name)]
    if not value:
        raise bad_value(name, "expected at least 1 number, got none")
    return [checked(one, name) for one in value]


def concatenation(
    tensors: Sequence[ArrayLike],
    *,
    axis: int,
    x_scale: float | Sequence[float],
    x_zero_point: int | Sequence[int],
    y_scale: float,
    y_zero_point: int,
    activation: str = "NONE",
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Put arrays of codes one behind the other.

    Codes of int8 and int16 are copied. Codes of uint8 with another scale or zero point than the result are taken to
    those in float32: ``half_away(f(f(x * s) + b)) + y_zero_point``, ``s = f(x_scale * f(1 / y_scale))``,
    ``b = f(-x_zero_point * s)``; on ARM, ``x * s + b`` is rounded once.

    Parameters
    ----------
    tensors : sequence of ndarray of int8, uint8 or int16
        Codes of one type, of shapes that differ along `axis` only.
    axis : int
        The axis along which they are put; it may be negative.
    x_scale, x_zero_point : float, int, or sequences of them
        One for all tensors, or one for each.
    y_scale, y_zero_point : float, int
        Scale and zero point of the result.
    activation : {"NONE"}
        XNNPACK also takes other activations, which it does not apply.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `tensors`

    Raises
    ------
    TypeError, ValueError
        Other types and shapes; scales or zero points of int8 and int16 that differ; an activation; an `out` that does
        not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``concatenation.cc``, ``reference/concatenation.h``.

    Examples
    --------
    >>> x, y = np.array([10, 20], np.uint8), np.array([30], np.uint8)
    >>> qops.tflite.concatenation([x, y], axis=0, x_scale=[0.5, 1.0], x_zero_point=0, y_scale=1.0, y_zero_point=0)
    array([ 5, 10, 30], dtype=uint8)
    """
    dtype = check.codes(listed(tensors)[0], "tensors", "CONCATENATION").dtype
    return Concatenation._once(locals())(tensors, out)
