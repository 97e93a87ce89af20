"""What ONNX's operators take: codes, scales and zero points of a tensor, a slice or a block, and an `out`."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import all_finite, as_array, check_out, choice, float32s, integer, native, real, shown
from qops.codes import of_dtype
from qops.onnx.runtimes import ORT, RUNTIMES
from qops.prepared import Prepared, arguments

_Made = TypeVar("_Made")
CODES_8 = ("uint8", "int8")
SMALL = {"uint4": (0, 15), "int4": (-8, 7), "uint2": (0, 3), "int2": (-2, 1)}
"""The lowest and highest code of the integer types that numpy lacks, by their names in `ml_dtypes`."""
FLOATS = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float4_e2m1fn": 6.0,
    "float6_e2m3fn": 7.5,
    "float6_e3m2fn": 28.0,
}
"""The largest number of each float type of codes."""
WHOLE = (*CODES_8, "uint16", "int16")
"""The types that numpy has."""
CODES = (*WHOLE, *SMALL, *FLOATS)
SCALES = ("float32", "float16", "bfloat16")
PLAIN = (np.dtype(np.float64), np.dtype(np.int64))
"""What numpy makes of lists of Python's numbers."""


def ends(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Give the lowest and the highest code of an integer type."""
    small = SMALL.get(dtype.type.__name__)  # the name of a dtype takes a microsecond
    if small is not None:
        return small
    row = of_dtype(dtype)
    return row.lowest, row.highest


def of_types(make: Callable[[np.dtype[Any]], _Made]) -> dict[np.dtype[Any], _Made]:
    """Give what `make` makes for data of uint8 and of int8, without what it refuses; raise if it refuses both.

    A zero point that is a plain number has the type of the data, which a prepared op sees when it is called.
    """
    made = {}
    for dtype in map(np.dtype, CODES_8):
        with suppress(TypeError, ValueError):
            made[dtype] = make(dtype)
    return made or {np.dtype(CODES_8[0]): make(np.dtype(CODES_8[0]))}


def among(dtype: np.dtype[Any], name: str, allowed: Sequence[str]) -> np.dtype[Any]:
    """Give a dtype; TypeError if it is not one of `allowed`."""
    if dtype.type.__name__ not in allowed and dtype.name not in allowed:
        raise bad_type(name, f"expected {', '.join(allowed)}, got {dtype}")
    return dtype


def type_of(dtype: DTypeLike, name: str, allowed: Sequence[str]) -> np.dtype[Any]:
    """Give the dtype of a name or a type, if it is one of `allowed`."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):  # a text that has no bytes is a ValueError
        raise bad_type(name, f"expected a dtype, got {shown(dtype)}") from None
    return among(found, name, allowed)


def runtime(value: str) -> str:
    """Give the name of a runtime; "onnxruntime" is another name for "ort"."""
    return "ort" if isinstance(value, str) and value == "onnxruntime" else choice(value, "runtime", RUNTIMES)


def own_runtime(value: str) -> str:
    """Give the name of a runtime of onnxruntime, whose own operators no other runtime has."""
    return "ort" if isinstance(value, str) and value == "onnxruntime" else choice(value, "runtime", ORT)


def scale(value: ArrayLike, name: str, allowed: Sequence[str] = SCALES, *, divides: bool = False) -> NDArray[Any]:
    """Give a scale as an array. Plain numbers and float64 become float32. If it `divides`, it must not be 0."""
    found = np.array(real(value, name), np.float32) if isinstance(value, (int, float)) else as_array(value, name)
    data = native(float32s(found, name) if found.dtype in PLAIN else found, name, allowed)
    if not all_finite(data, divides):
        bad = ~np.isfinite(data.astype(np.float64)) | (divides & (data == 0))
        raise bad_value(name, f"expected finite numbers{' other than 0' * divides}, got {data[bad].ravel()[0]}")
    return data


def optional(*zero_points: ArrayLike | None) -> list[ArrayLike]:
    """Give zero points; what is left out, as ONNX leaves inputs out, is 0."""
    return [0 if value is None else value for value in zero_points]


def zero_point(value: ArrayLike, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give a zero point as an array of type `dtype`. A plain number becomes one."""
    if isinstance(value, int):
        low, high = (0, 0) if dtype.type.__name__ in FLOATS else ends(dtype)
        code = integer(value, name, low, high)
        return np.array(code, dtype) if dtype.kind in "iu" else np.asarray(code, np.int64).astype(dtype)
    return native(value, name, (dtype.type.__name__,))


def of_slices(value: NDArray[Any], name: str, shape: tuple[int, ...], axis: int, block_size: int) -> NDArray[Any]:
    """Give a scale or zero point so that it broadcasts to `shape`: one value, one a slice, or one a block."""
    if value.size == 1:
        return value.reshape(())
    if not -len(shape) <= axis < len(shape):
        raise bad_value("axis", f"expected an axis of {len(shape)} dimensions, got {axis}, with {name} {value.shape}")
    axis %= len(shape)
    if not block_size:
        if value.shape != (shape[axis],):
            raise bad_value(name, f"expected 1 value or {shape[axis]}, one along axis {axis}, got {value.shape}")
        return value.reshape(-1, *(1,) * (len(shape) - axis - 1))
    blocks = (*shape[:axis], -(-shape[axis] // block_size), *shape[axis + 1 :])
    if value.shape != blocks:
        raise bad_value(name, f"expected shape {blocks}, blocks of {block_size} along axis {axis}, got {value.shape}")
    return value.repeat(block_size, axis).take(np.arange(shape[axis]), axis)


def per_row(value: NDArray[Any], name: str, shape: tuple[int, ...], axis: int) -> NDArray[Any]:
    """Give a scale or zero point that broadcasts to matrices: one, or one for each row (axis -2) or column (-1)."""
    if value.size == 1:
        return value.reshape(1, 1)
    length = shape[axis]
    one_each = (length, 1) if axis == -2 else (1, length)
    if value.shape == (length,):
        return value.reshape(one_each)
    if value.shape != (*shape[:-2], *one_each):
        what = "row" if axis == -2 else "column"
        raise bad_value(name, f"expected 1 value, or {length}, one for each {what}, of {shape}, got {value.shape}")
    return value


def of_matrices(value: NDArray[Any], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Give numbers that broadcast to matrices, one or one for each column, as a 1-D array for each matrix."""
    count = prod(shape[:-2])
    return [value.ravel()] * count if value.ndim == 2 else [*value.reshape(count, value.shape[-1])]


def one_value(value: NDArray[Any], name: str) -> NDArray[Any]:
    """Give a scale or zero point of one value as an array without dimensions."""
    if value.size != 1:
        raise bad_value(name, f"expected 1 value, got shape {value.shape}")
    return value.reshape(())


def channels(value: NDArray[Any], name: str, count: int) -> NDArray[Any]:
    """Give a scale or zero point of 1 value, or of one an output channel, as a 1-D array."""
    if value.size != 1 and value.shape != (count,):
        raise bad_value(name, f"expected 1 value, or {count}, one an output channel, got shape {value.shape}")
    return value.reshape(-1)


def result_zero_point(value: ArrayLike, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give the one zero point of a result, whose type it has; a plain number becomes one of type `dtype`."""
    if not isinstance(value, int):
        dtype = native(value, "y_zero_point", CODES_8).dtype
    return one_value(zero_point(value, "y_zero_point", dtype), "y_zero_point")


def offset(zeros: NDArray[Any]) -> int | NDArray[np.int64]:
    """Give zero points as kernels take them: one number, or an array of many."""
    return int(zeros.item()) if zeros.size == 1 else zeros.astype(np.int64)


def out(x: Any, dtype: np.dtype[Any], shape: tuple[int, ...], *inputs: Any) -> None:
    """Raise if `x` is given and a result of this type and shape cannot be written to it, apart from all inputs.

    An input is an array, another argument, or a prepared op, whose arguments may be arrays.
    """
    if x is not None:
        parts = (part for one in inputs for part in (arguments(one) if isinstance(one, Prepared) else (one,)))
        check_out(x, dtype.num, shape, [part for part in parts if isinstance(part, np.ndarray)])


def ort_has_kernel(x: np.dtype[Any], w: np.dtype[Any], y: np.dtype[Any], names: str) -> None:
    """Raise TypeError if onnxruntime has no kernel for operands and a result of these types."""
    if x != y or x == np.int8 != w:
        raise bad_type(names, f"onnxruntime has no kernel for {x} by {w} to {y}")
