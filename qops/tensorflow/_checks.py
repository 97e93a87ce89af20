"""What TensorFlow's ops take: codes of five types, and range ends that need not be in order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.qtensor import as_array, real

TYPES = {"quint8": np.uint8, "qint8": np.int8, "quint16": np.uint16, "qint16": np.int16, "qint32": np.int32}
"""numpy's name of each of TensorFlow's quantized types."""
MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
NORMAL = 2.0**-126  # the smallest normal float32
WIDEST = 2.0**128 - 2.0**103  # from here on, float32 is infinite


def triple(t: Any, name: str, *allowed: str) -> tuple[NDArray[Any], Any, Any]:
    """Take the triple `t` apart: the data of one of the types `allowed`, the range ends as they came."""
    try:
        if isinstance(t, np.ndarray):
            raise TypeError
        data, lo, hi = t
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a (data, min, max) triple, got {type(t).__name__}") from None
    data = as_array(data, name)
    if data.dtype.type not in [TYPES[kind] for kind in allowed]:
        wanted = " or ".join(TYPES[kind].__name__ for kind in allowed)
        raise TypeError(f"{name}: expected {wanted} data, got {data.dtype}")
    return data, lo, hi


def scalar(value: Any, name: str) -> float:
    """Give `value` as a float32; ValueError if it is not finite or, with TensorFlow's words, has a rank."""
    if type(value) is not float and np.ndim(value) != 0:
        raise ValueError(f"{name}: must be rank 0 but is rank {np.ndim(value)}, got {value}")
    return float(real(value, name))


def ends(lo: Any, hi: Any, low_name: str, high_name: str, steps: int = 0) -> tuple[float, float]:
    """Give both ends of a range, in any order, as float32.

    ValueError if the range is wider than float32, or if one of its `steps` is below the normal float32: TensorFlow
    flushes those to 0, and divides by them.
    """
    low, high = scalar(lo, low_name), scalar(hi, high_name)
    width = abs(high - low)
    if width >= WIDEST:
        raise ValueError(f"{low_name}, {high_name}: the range ({low}, {high}) is wider than float32")
    if 0 < width < steps * NORMAL:
        raise ValueError(f"{low_name}, {high_name}: the range ({low}, {high}) has steps too small for float32")
    return low, high


def ends_of_slices(lo: Any, hi: Any, low_name: str, high_name: str, steps: int = 0) -> list[tuple[float, float]]:
    """Give the `ends` of each pair of two arrays or numbers of the same size."""
    if type(lo) is float and type(hi) is float:
        return [ends(lo, hi, low_name, high_name, steps)]
    pairs = zip(np.ravel(lo), np.ravel(hi), strict=True)
    return [ends(low, high, low_name, high_name, steps) for low, high in pairs]


def check_axis(x: NDArray[Any], axis: int, mode: str, op: str) -> None:
    """Raise ValueError, in TensorFlow's words, if `op` cannot do its slices along `axis`."""
    if mode == "MIN_FIRST":
        raise ValueError(f"axis: MIN_FIRST mode is not implemented for {op} with axis != -1, got axis {axis}")
    if axis >= x.ndim:
        raise ValueError(f"axis: must be less than number of input's dims, {x.ndim}, but axis was {axis!r:.80}")
    if x.shape[axis] == 0:
        raise ValueError(f"axis: axis {axis} of the input has size 0, so there is no range to give")


def slices(axis: int, *arrays: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
    """Give the arrays, or with an axis their slices along it, together."""
    if axis < 0:
        return [arrays]
    before = (slice(None),) * axis
    return [tuple(a[(*before, slice(i, i + 1))] for a in arrays) for i in range(arrays[0].shape[axis])]


def one_of(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Give `value`, if it is one of the words `allowed`; ValueError if not."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}: {value!r} is not in the list of allowed values: {', '.join(allowed)}")
    return str(value)
