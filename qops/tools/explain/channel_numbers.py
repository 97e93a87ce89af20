"""Numbers of channels, rows and blocks: along which axis they lie, and for which elements they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import shown
from qops.rules.quantize_arrays import Spread

__all__ = ["by_element", "quantized_by_element", "spread_bias"]


def quantized_by_element(x: NDArray[Any], numbers: dict[str, Any]) -> tuple[NDArray[Any], dict[str, Any]]:
    """Spread the scales and zero points of channels, rows or blocks: `x` becomes flat, each element has its own."""
    several = [name for name in ("scale", "zero_point") if np.ndim(numbers.get(name, 0))]
    rest = {name: value for name, value in numbers.items() if name not in ("axis", "block")}
    if not several:
        return x, rest
    name, axis, block = several[0], numbers.get("axis"), numbers.get("block")
    if not np.all(np.asarray(numbers["scale"]) > 0):
        raise bad_value("scale", f"expected numbers above 0, got {shown(numbers['scale'])}")
    if block is not None and (axis is None or block < 1):
        given = f"got {block}" if axis is not None else "and an axis, which is missing"
        raise bad_value("block" if axis is not None else "axis", f"expected blocks of 1 or more, {given}")
    if axis is None:  # the last axis that has as many elements as there are scales
        fitting = [i for i, size in enumerate(x.shape) if (size,) == np.shape(numbers[name])]
        if not fitting:
            raise bad_value("axis", f"missing: {name} of shape {np.shape(numbers[name])} fits no axis of {x.shape}")
        axis = fitting[-1]
    for word in several:
        spread = Spread(axis, block).over(np.asarray(numbers[word]), x.shape, word)
        rest[word] = np.broadcast_to(spread, x.shape).reshape(-1)
    return x.reshape(-1), rest | {"axis": -1}


def by_element(x: NDArray[Any], numbers: dict[str, Any]) -> tuple[NDArray[Any], dict[str, Any]]:
    """Check that scales fit an axis of `x`. With one scale for each element, `x` and the scales become flat."""
    given: dict[str, Any] = {name: numbers[name] for name in ("scale", "w_scale") if name in numbers}
    if "b_zero_point" not in numbers and "integers" in numbers:
        given = {"integers": numbers["integers"][0]}
    name = next((name for name, values in given.items() if np.ndim(values)), "")
    if not name:
        return x, numbers
    scales, axis = given[name], numbers.get("axis", -1)
    if name != "integers" and scales.size == x.size and "axis" not in numbers:
        return x.reshape(-1), {**numbers, name: scales.reshape(-1), "axis": -1}
    if scales.ndim > 1:
        raise bad_value(name, f"expected one number, or one per channel or element, got shape {scales.shape}")
    if "axis" not in numbers:  # the last axis that has as many elements as there are scales
        fitting = [i for i, size in enumerate(x.shape) if size == scales.size]
        axis = fitting[-1] - x.ndim if fitting else -1
        numbers = {**numbers, "axis": axis} if fitting else numbers
    if not -x.ndim <= axis < x.ndim or x.shape[axis] != scales.size:
        reason = f"{scales.size} of them do not fit axis {axis} of shape {x.shape}"
        raise bad_value("axis" if "axis" in numbers else name, reason)
    return x, numbers


def spread_bias(numbers: dict[str, Any]) -> dict[str, Any]:
    """Where each channel has a bias or a sum of weights, each has a scale as well."""
    sizes = {np.size(numbers[name]) for name in ("bias", "w_sums", "w_scale") if np.ndim(numbers.get(name, 0))}
    if len(sizes) > 1:
        raise bad_value("bias, w_sums, w_scale", f"expected one for each channel, got {sorted(sizes)} of them")
    if sizes and "w_scale" in numbers and np.ndim(numbers["w_scale"]) == 0:
        return {**numbers, "w_scale": np.full(sizes.pop(), numbers["w_scale"])}
    return numbers
