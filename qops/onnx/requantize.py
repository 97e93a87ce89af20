"""Accumulator -> code, the last step of QLinearMatMul and QLinearConv: each runtime has a row of the shared stages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage import prepared as stages
from qops.onnx._checks import ends

__all__ = ["combined_scale", "requantize", "stage"]


def combined_scale(first: NDArray[Any], second: NDArray[Any], last: NDArray[Any], names: str) -> NDArray[Any]:
    """Give ``first * second / last``, rounded to the type of the scales after each operation."""
    with np.errstate(over="ignore"):
        scale = np.asarray(first * second / last)
    if not np.isfinite(scale.astype(np.float64)).all():
        one, two, three = names.split(", ")
        raise ValueError(f"{names}: {one} * {two} / {three} is beyond {scale.dtype}")
    return scale


def stage(scales: NDArray[Any], zero_point: NDArray[Any], runtime: str) -> Any:
    """Give what makes codes of int32 accumulators, of the type of `zero_point`.

    onnx: ``half_even(f64(acc) * scale + zero_point)``, so the sum is rounded.
    ort: ``half_even(f32(f32(acc) * scale)) + zero_point``, so the product is rounded.
    """
    (low, high), zero = ends(zero_point), int(zero_point)
    if runtime == "onnx":
        return stages.DoubleStage(scales.astype(np.float64), "half_even", low, high, plus=zero)
    return stages.FloatStage(scales, "half_even", low, high, shift=zero)


def requantize(acc: NDArray[np.int32], scale: NDArray[Any], zero_point: NDArray[Any], runtime: str) -> NDArray[Any]:
    """Give codes of int32 accumulators in C order by their `stage`; `scale` broadcasts against them."""
    codes = np.empty(acc.shape, zero_point.dtype)
    if acc.size:
        scales, inner = _repeated(scale, acc.shape)
        stage(scales, zero_point, runtime).run(acc, codes, inner)
    return codes


def _repeated(scale: NDArray[Any], shape: tuple[int, ...]) -> tuple[NDArray[Any], int]:
    """Give the scales in their order along accumulators of this shape, and how many neighbours share one."""
    while scale.ndim > 1 and len(scale) == 1:
        scale = scale[0]
    if scale.size == 1:
        return scale.reshape(1), 1
    inner = shape[-1] if scale.shape[-1] == 1 else 1
    dims = (*shape[-scale.ndim : -1], scale.shape[-1])
    return np.require(np.broadcast_to(scale, dims), None, ["C", "A"]).ravel(), inner
