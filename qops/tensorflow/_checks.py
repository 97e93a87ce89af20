"""Checks of the arguments of TensorFlow's ops: codes of five types, and range ends that may be in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.nearest import did_you_mean
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.tensorflow.ends import checked, fit
from qops.checks import as_array, parts, real, shown
from qops.codes import TABLE
from qops.qtensor import QTensor, TensorLike, tensor

TYPES = {
    "quint8": TABLE["u8"],
    "qint8": TABLE["s8"],
    "quint16": TABLE["u16"],
    "qint16": TABLE["s16"],
    "qint32": TABLE["s32_affine"],
}
"""The code type of each of TensorFlow's quantized types, except in mode SCALED."""
STEPS, STEPS_32 = TYPES["quint8"].steps, TYPES["qint32"].steps
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
Checked: TypeAlias = tuple[NDArray[Any], float, float]


def number(value: Any, name: str) -> float:
    """Give `value` as a float32; ValueError if it is not finite or, in TensorFlow's words, has a rank."""
    if isinstance(value, (np.ndarray, list, tuple)) and (rank := as_array(value, name).ndim):
        raise bad_value(name, f"must be rank 0 but is rank {rank}, got {shown(value)}")
    return float(real(value, name))


def numbers(value: Any, name: str) -> float | NDArray[np.float32]:
    """Give `value`, a number or an array of numbers, as float32; ValueError if one is not finite."""
    if type(value) is float:
        return float(real(value, name))
    given = as_array(value, name)
    if given.dtype.kind not in "fiu":
        return np.array([real(v, name) for v in given.ravel()], np.float32).reshape(given.shape)
    with np.errstate(over="ignore"):
        found = given.astype(np.float64).astype(np.float32)
    if not np.isfinite(found).all():
        real(given[~np.isfinite(found)][0], name)
    return found


def ends(lo: Any, hi: Any, low_name: str, high_name: str, steps: int = 0) -> tuple[float, float]:
    """Give both ends of one range, as `checked` checks them."""
    return checked(number(lo, low_name), number(hi, high_name), f"{low_name}, {high_name}", steps)


def ranges_of(lo: Any, hi: Any, names: str, steps: int = 0) -> list[tuple[float, float]]:
    """Give the range of each pair of two `numbers` of the same size, as `checked` checks them."""
    if type(lo) is float and type(hi) is float:
        return [checked(lo, hi, names, steps)]
    return [checked(*r, names, steps) for r in zip(np.ravel(lo).tolist(), np.ravel(hi).tolist(), strict=True)]


def operands(steps: int, allowed: tuple[str, ...], **tensors: TensorLike) -> list[Checked]:
    """Check each triple: (codes of one of the types `allowed`, min, max); `steps` as for `checked`.

    Arrays are checked after all numbers are read, because reading a number may run user code that changes an array.
    """
    usual = fit(steps, typenums_of(allowed), *tensors.values())
    if usual is not None:
        return usual
    read = []
    for name, t in tensors.items():
        values, lo, hi = parts(t, name)
        read.append((name, values, ends(lo, hi, f"{name} min", f"{name} max", steps)))
    return [(codes_of(values, name, *allowed), *r) for name, values, r in read]


def typenums_of(allowed: tuple[str, ...]) -> tuple[int, ...]:
    """Give the dtype numbers of some of TensorFlow's types."""
    return tuple([TYPES[kind].dtype.num for kind in allowed])


def dtypes_of(allowed: tuple[str, ...]) -> tuple[np.dtype[Any], ...]:
    """Give numpy's types of some of TensorFlow's."""
    return tuple([TYPES[kind].dtype for kind in allowed])


def codes_of(values: Any, name: str, *allowed: str) -> NDArray[Any]:
    """Give the data of a triple; TypeError if they are of none of the types `allowed`."""
    data = as_array(values, name)
    dtypes = dtypes_of(allowed)
    if data.dtype not in dtypes and data.dtype.newbyteorder("=") not in dtypes:
        raise bad_type(name, f"expected {' or '.join(map(str, dtypes))} data, got {data.dtype}")
    return data


def check_axis(x: NDArray[Any], axis: int, mode: str, op: str) -> None:
    """Raise ValueError, in TensorFlow's words, if `op` does not take slices along `axis`."""
    if axis >= x.ndim:
        raise bad_value("axis", f"must be less than number of input's dims, {x.ndim}, but axis was {shown(axis)}")
    if mode == "MIN_FIRST" and x.shape[axis] != 1:
        raise bad_value("axis", f"MIN_FIRST mode is not implemented for {op} with axis != -1, got axis {axis}")
    if x.shape[axis] == 0:
        raise bad_value("axis", f"axis {axis} of the input has size 0, so there is no range to give")


def slices(axis: int, *arrays: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
    """Give the arrays, or with an axis their slices along it, together."""
    if axis < 0:
        return [arrays]
    before = (slice(None),) * axis
    return [tuple(a[(*before, slice(i, i + 1))] for a in arrays) for i in range(arrays[0].shape[axis])]


def each_slice(axis: int, run: Callable[[int, NDArray[Any], NDArray[Any]], None], x: NDArray[Any], out: Any) -> None:
    """Call ``run(i, slice of x, slice of out)`` with contiguous slices along `axis`; if that is -1, once with all."""
    if axis < 0:
        run(0, x, out)
        return
    near = np.require(np.moveaxis(x, axis, 0), x.dtype.newbyteorder("="), ["C", "A"])
    made = np.empty(near.shape, out.dtype)
    for i in range(len(near)):
        run(i, near[i : i + 1], made[i : i + 1])
    np.moveaxis(out, axis, 0)[...] = made


def one_of(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Give `value`, if it is one of the words `allowed`; ValueError if not."""
    if not isinstance(value, str) or value not in allowed:
        word = getattr(value, "__name__", value)  # of numpy's uint8 too
        listed = f"{', '.join(allowed)}{did_you_mean(word, allowed)}"
        raise bad_value(name, f"{shown(value)} is not in the list of allowed values: {listed}")
    return str(value)


def passed_on(codes: NDArray[Any], lo: float, hi: float) -> QTensor:
    """Check a tensor whose range TensorFlow ignores: its ends may be in any order."""
    is_lopsided = codes.itemsize == 4 and lo <= hi != -lo
    return QTensor(codes, lo, hi, TYPES["qint32"]) if is_lopsided else tensor(codes, lo, hi)


def shape_text(shape: tuple[int, ...]) -> str:
    """Give a shape as TensorFlow writes it."""
    return "[" + ",".join(map(str, shape)) + "]"
