"""Accumulator -> code, the last step of QLinearMatMul and QLinearConv: each runtime has a row of the shared stages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import all_finite
from qops.onnx._checks import ends
from qops.onnx.runtimes import COLUMNS
from qops.rules.numbers import WORDS, Numbers
from qops.rules.requantize import Requantize

__all__ = ["combined_scale", "requantize", "requantizer", "stage"]

RULES = {name: "fp32-even" if column.is_ort else "double-even-zp-inside" for name, column in COLUMNS.items()}
"""The rule of `qops.rules.TABLE` that each runtime computes by."""


def combined_scale(first: NDArray[Any], second: NDArray[Any], last: NDArray[Any], names: str) -> NDArray[Any]:
    """Give ``first * second / last``, rounded to the type of the scales after each operation."""
    with np.errstate(over="ignore"):
        scale = np.asarray(first * second / last)
    if not all_finite(scale):
        one, two, three = names.split(", ")
        raise bad_value(names, f"{one} * {two} / {three} is beyond {scale.dtype}")
    return scale


def stage(scales: NDArray[Any], zero_point: NDArray[Any], runtime: str) -> Any:
    """Give what makes codes of int32 accumulators, of the type of `zero_point`.

    onnx: ``half_even(f64(acc) * scale + zero_point)``, so the sum is rounded.
    ort: ``half_even(f32(f32(acc) * scale)) + zero_point``, so the product is rounded.
    """
    return Numbers(WORDS[RULES[runtime]], scales, int(zero_point), *ends(zero_point.dtype)).stage()


def requantize(acc: NDArray[np.int32], scale: NDArray[Any], zero_point: NDArray[Any], runtime: str) -> NDArray[Any]:
    """Give codes of int32 accumulators in C order by their `stage`; `scale` broadcasts against them."""
    codes = np.empty(acc.shape, zero_point.dtype)
    if acc.size:
        scales, inner = _repeated(scale, acc.shape)
        stage(scales, zero_point, runtime).run(acc, codes, inner)
    return codes


def _repeated(scale: NDArray[Any], shape: tuple[int, ...]) -> tuple[NDArray[Any], int]:
    """Give the scales in their order along accumulators of this shape, and how many neighbours share one."""
    if scale.size == 1:
        return scale.reshape(1), 1
    inner = shape[-1] if scale.shape[-1] == 1 else 1
    dims = (*shape[-scale.ndim : -1], scale.shape[-1])
    return np.require(np.broadcast_to(scale, dims), None, ["C", "A"]).ravel(), inner


def requantizer(scales: NDArray[Any], zero_point: NDArray[Any], runtime: str, axis: int) -> Requantize:
    """Give the same as `stage` as a prepared op that can be read; `axis` has the channels."""
    each = np.ravel(scales).astype(np.float64)
    scale = each if each.size > 1 else float(each[0])
    return Requantize(RULES[runtime], scale=scale, zero_point=int(zero_point), dtype=zero_point.dtype, axis=axis)
