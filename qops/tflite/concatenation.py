"""CONCATENATION: codes of several arrays, one behind the other along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.checks import choice, int32, integer, put, shown
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, half_away
from qops.tflite.kernels import kernel_for

__all__ = ["concatenation"]


def _each(value: Any, name: str, tensors: Any, checked: Callable[[Any, str], Any]) -> list[Any]:
    """Give one number for each tensor, of a list of them or of one for all."""
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise TypeError(f"tensors: expected a list of arrays, got {type(tensors).__name__}")
    if not isinstance(value, (list, tuple)):
        return [checked(value, name)] * len(tensors)
    if len(value) != len(tensors):
        raise ValueError(f"{name}: expected 1 number or {len(tensors)}, one a tensor, got {shown(value)}")
    return [checked(one, name) for one in value]


def _rescaled(data: NDArray[np.uint8], x: tuple[float, int], y: tuple[float, int]) -> NDArray[Any]:
    """Give codes of uint8 at another scale, in float32."""
    scale = F32(x[0]) * (F32(1) / F32(y[0]))
    values = half_away(data.astype(F32) * scale + F32(-x[1]) * scale)
    return np.clip(values + y[1], 0, 255).astype(np.uint8)


def _checked(tensors: Any, axis: int) -> tuple[list[NDArray[Any]], int]:
    """Give the arrays, of one type and of shapes that fit, and the axis, from 0 on."""
    arrays = [check.codes(data, "tensors", "CONCATENATION") for data in tensors]
    if len({data.dtype for data in arrays}) > 1:
        raise TypeError(f"tensors: expected one type, got {', '.join(str(data.dtype) for data in arrays)}")
    rank = arrays[0].ndim
    at = integer(axis, "axis", -rank, rank - 1) % rank if rank else 0
    if len({(*data.shape[:at], *data.shape[at + 1 :]) for data in arrays}) > 1 or not rank:
        raise ValueError(f"tensors: expected shapes that differ along axis {at}, got {[x.shape for x in arrays]!r:.80}")
    return arrays, at


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
    ``b = f(-x_zero_point * s)``.

    Parameters
    ----------
    tensors : sequence of ndarray of int8, uint8 or int16
        Codes of one type, of shapes that differ along `axis` only.
    axis : int
        The axis along which they are put; it may be negative.
    x_scale, x_zero_point : float, int, or sequences of them
        One for all tensors, or one for each.
    y_scale, y_zero_point : float, int
        Those of the result.
    activation : {"NONE"}
        XNNPACK also takes other activations, which it does not apply.
    kernel : {"reference", "optimized", "xnnpack", "tflm", "tflm_until_2026_06", "single_rounding"}
        The kernel library whose results are reproduced.
    out : ndarray, optional
        Where the codes are written, of the type and shape of the result, apart from the inputs.

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
    >>> x, y = np.uint8([10, 20]), np.uint8([30])
    >>> qops.tflite.concatenation([x, y], axis=0, x_scale=[0.5, 1.0], x_zero_point=0, y_scale=1.0, y_zero_point=0)
    array([ 5, 10, 30], dtype=uint8)
    """
    along, y = int32(axis, "axis"), (check.scale(y_scale, "y_scale"), int32(y_zero_point, "y_zero_point"))
    scales, zeros = _each(x_scale, "x_scale", tensors, check.scale), _each(x_zero_point, "x_zero_point", tensors, int32)
    arrays, at = _checked(tensors, along)
    dtype = arrays[0].dtype
    facts = kernel_for(kernel, "CONCATENATION", dtype)
    if choice(activation, "activation", check.ACTIVATIONS) != "NONE" and not facts.concatenates_any:
        raise ValueError(f"activation: expected 'NONE', got {activation!r}")
    check.zero_point(y[1], "y_zero_point", dtype)
    parts = []
    for data, x in zip(arrays, zip(scales, zeros, strict=True), strict=True):
        check.zero_point(x[1], "x_zero_point", dtype)
        if x != y and dtype != np.uint8:
            raise ValueError(f"x_scale, x_zero_point: expected those of the result, {y}, got {x}")
        parts.append(data if x == y else _rescaled(data, x, y))
    shape = (*arrays[0].shape[:at], sum(data.shape[at] for data in arrays), *arrays[0].shape[at + 1 :])
    check.out(out, dtype, shape, *arrays)
    return put(np.concatenate(parts, at), out)
