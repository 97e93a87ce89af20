"""Accumulator -> code, the last step of QLinearMatMul and QLinearConv; the two runtimes have one rule each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.onnx._checks import ends


def combined_scale(first: NDArray[Any], second: NDArray[Any], last: NDArray[Any], names: str) -> NDArray[Any]:
    """Give ``first * second / last``, rounded to the type of the scales after each operation."""
    with np.errstate(over="ignore"):
        scale = np.asarray(first * second / last)
    if not np.isfinite(scale.astype(np.float64)).all():
        raise ValueError(f"{names}: first * second / last is beyond {scale.dtype}")
    return scale


def requantize(acc: NDArray[np.int32], scale: NDArray[Any], zero_point: NDArray[Any], runtime: str) -> NDArray[Any]:
    """Give codes of int32 accumulators, of the type of `zero_point`.

    onnx: ``half_even(f64(acc) * scale + zero_point)``, so that it is the sum whose ties go to even.
    ort: ``half_even(clamp(f32(f32(acc) * scale))) + zero_point``, so that it is the product.
    """
    low, high = ends(zero_point)
    zero = int(zero_point)
    if runtime == "onnx":
        codes = acc * scale.astype(np.float64)
        codes += zero
        return np.clip(np.rint(codes, out=codes), low, high, out=codes).astype(zero_point.dtype)
    codes = acc.astype(np.float32)
    codes *= scale.astype(np.float32)
    codes = np.rint(np.clip(codes, low - zero, high - zero, out=codes), out=codes)
    return (codes.astype(np.int32) + zero).astype(zero_point.dtype)
