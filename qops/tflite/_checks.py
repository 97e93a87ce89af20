"""What TFLite's ops take: scales of float32, zero points, types of codes, activations, and an `out`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.numbers import float32
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, check_out, choice, dtype_among, integer, integers, native, number, shown
from qops.codes import of_dtype
from qops.tflite.arithmetic import half_away
from qops.tflite.types import types_of

ACTIVATIONS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}
"""The lowest and the highest real value that a fused activation lets through."""
PADDINGS = ("SAME", "VALID")


def codes(x: ArrayLike, name: str, op: str) -> NDArray[Any]:
    """Give `x` as an array of one of the types of an op, in native byte order."""
    return native(x, name, types_of(op))


def dtype_of(dtype: DTypeLike, op: str, name: str = "dtype") -> np.dtype[Any]:
    """Give the type of codes of an op, by its name or as a type."""
    return dtype_among(dtype, name, types_of(op))


def ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Give the lowest and the highest code of a type."""
    row = of_dtype(dtype)
    return row.lowest, row.highest


def scale(value: float, name: str) -> float:
    """Give a scale, above 0, as the float32 that TFLite stores."""
    wide = number(value, name)
    step = float32(wide)
    if not 0 < step < np.inf:
        raise bad_value(name, f"expected a number above 0 that float32 holds, got {shown(value)}")
    return step


def scales(value: ArrayLike, name: str, count: int, *, axis: str = "output channel") -> float | NDArray[np.float64]:
    """Give one scale, or an array of one for each channel, as float32 values in double."""
    if isinstance(value, (int, float)):
        return scale(value, name)
    data = as_array(value, name)
    if data.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {data.dtype}")
    if data.shape not in ((), (1,), (count,)):
        raise bad_value(name, f"expected 1 value or {count}, one an {axis}, got shape {data.shape}")
    if data.size == 1:
        return scale(data.item(), name)
    with np.errstate(over="ignore"):
        each = data.astype(np.float32).astype(np.float64)
    if not ((each > 0) & (each < np.inf)).all():
        raise bad_value(name, f"expected numbers above 0 that float32 holds, got {shown(value)}")
    return each


def zero_point(value: int, name: str, dtype: np.dtype[Any]) -> int:
    """Give a zero point, a code of the type; that of int16 is 0."""
    return integer(value, name, *((0, 0) if dtype == np.int16 else ends(dtype)))


def pair(value: Any, name: str, least: int = 1) -> tuple[int, int]:
    """Give two integers, vertical and horizontal."""
    down, across = integers(value, name, 2, least)
    return down, across


def state(given: ArrayLike | None, name: str, start: tuple[int, Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Give a state of this shape, or one of zero points; `start`: the zero point and the type."""
    zero, dtype = start
    data = np.full(shape, zero, dtype) if given is None else native(given, name, (np.dtype(dtype).name,))
    if data.shape != shape:
        raise bad_value(name, f"expected shape {shape}, got {data.shape}")
    return data


def limits(
    activation: str, scale: float, zero: int, dtype: np.dtype[Any], rounding: str, checks: bool
) -> tuple[int, int]:
    """Give the lowest and the highest code of a result after its fused activation."""
    lowest, highest = ends(dtype)
    low, high = ACTIVATIONS[choice(activation, "activation", ACTIVATIONS)]
    lo = lowest if low is None else max(lowest, limit(low, scale, zero, rounding, checks))
    return lo, highest if high is None else min(highest, limit(high, scale, zero, rounding, checks))


def limit(value: float, scale: float, zero: int, rounding: str = "outside", checks: bool = True) -> int:
    """Give the code of a limit: ``zero + half_away(value / scale)``, or "inside" ``half_even(value / scale + zero)``.

    If it `checks`, int32 must hold the quotient.
    """
    with np.errstate(over="ignore"):
        quotient = np.float32(value) / np.float32(scale)
    if abs(quotient) >= 2**31 - 0.5:
        if checks:
            raise bad_value("y_scale", f"int32 does not hold {value} in steps of {scale}, which the activation needs")
        quotient = np.clip(quotient, np.float32(-(2**31)), np.float32(2**31))
    return int(np.rint(quotient + np.float32(zero))) if rounding == "inside" else zero + int(half_away(quotient))


def out(x: Any, dtype: np.dtype[Any], shape: tuple[int, ...], *others: Any) -> None:
    """Raise if `x` is given and a result of this type and shape cannot be written to it, apart from the inputs."""
    if x is not None:
        check_out(x, dtype.num, shape, [other for other in others if isinstance(other, np.ndarray)])


def fixed_output(given: Any, scale: float, zero: int) -> None:
    """Raise ValueError if the result has another scale or zero point than the one that the op has."""
    if given.y_scale != scale:
        raise bad_value("y_scale", f"expected {scale}, got {given.y_scale}")
    integer(given.y_zero_point, "y_zero_point", zero, zero)
