"""The numbers of an op as Python numbers, and those of channels as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, flag, integer, number, shown
from qops.rules.numbers import given_integers
from qops.rules.operands import of_add, of_mul
from qops.rules.real_bias import per_channel

__all__ = ["SCALES", "checked_numbers"]

SCALES = ("scale", "in_scale", "w_scale", "out_scale", "a_scale", "b_scale", "y_scale", "x_scale")


def checked_numbers(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Give the numbers as Python numbers, and scales and integers of channels as arrays."""
    found: dict[str, Any] = {}
    for name, item in given.items():
        value = _alone(item)
        if name == "integers":
            of_kind = {"requantize": given_integers, "add": of_add, "mul": of_mul}[kind]
            found[name] = of_kind(item.tolist() if isinstance(item, np.ndarray) else item)
        elif name in ("kernel", "stride", "padding", "count_padding"):
            found[name] = _of_windows(item, name)
        elif name in ("rmin", "rmax"):
            found[name] = number(value, name)
        elif name in ("bias", "w_sums"):
            values = per_channel(value, name, np.float32 if name == "bias" else np.int64)
            found[name] = values if values.ndim else values.item()
        elif name == "zero_point" and kind == "quantize" and np.ndim(value):
            found[name] = _whole_numbers(value, name)
        elif name not in SCALES:
            found[name] = integer(value, name)
        else:
            found[name] = _scale(value, name)
    return found


def _of_windows(item: Any, name: str) -> Any:
    """Give what says how windows move, as `qops.rules.average_pool` takes it; a file has it as an array or a list."""
    plain = item.tolist() if isinstance(item, np.ndarray | np.generic) else item
    if name == "kernel":
        return tuple(integer(size, name) for size in np.ravel(plain).tolist())
    if name == "count_padding":
        return flag(bool(plain) if plain in (0, 1) else plain, name)
    if isinstance(plain, list | tuple):
        return tuple(_of_windows(part, name) for part in plain)
    return plain if isinstance(plain, str) else integer(plain, name)


def _alone(value: Any) -> Any:
    """Give the number that stands alone in an array or list, as files and quantization parameters have it."""
    if isinstance(value, list | tuple) and len(value) == 1:
        return value[0]
    return value.item() if type(value) is np.ndarray and value.size == 1 else value


def _scale(value: Any, name: str) -> float | NDArray[np.float64]:
    """Give one scale, or an array of them where an op may have several."""
    if not isinstance(value, list | tuple | np.ndarray) or name not in ("scale", "w_scale"):
        one = number(value, name)
        if not one > 0:
            raise bad_value(name, f"expected a number above 0, got {one}")
        return one
    values = as_array(value, name)
    if values.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {values.dtype}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise bad_value(name, f"expected finite numbers, not negative, got {shown(value)}")
    if not values.any():
        raise bad_value(name, f"expected a number above 0, got {shown(value)}")
    return values.astype(np.float64)


def _whole_numbers(value: Any, name: str) -> NDArray[np.int64]:
    values = as_array(value, name)
    if values.dtype.kind not in "iu" or not values.size:
        raise bad_type(name, f"expected integers, got {shown(value)}")
    return values.astype(np.int64)
