"""Resize and Upsample: an image by its nearest pixels, or by sums of pixels with weights of a triangle or a cubic."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.onnx.code import c_of_codes
from qops.models.onnx.file import Node
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import bounded, whole
from qops.models.onnx.site import NodeRunner, PlacedNode
from qops.models.op import Missing
from qops.onnx.runtimes import COLUMNS

__all__ = ["KINDS"]

Given = Sequence[Any]
F32 = np.float32
_TYPED = 11
"""The opset from which Resize says how pixels lie; before it, and in Upsample, pixel x lies at x / scale."""
_MOST_TAPS = 2**12
_COORDINATES = (
    *("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"),
    "tf_crop_and_resize",
)
_NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_TIE = 1e-6
"""How near to the middle of two pixels a place is one for onnxruntime, which computes in float32."""


class _Axis(NamedTuple):
    """One axis that is resized: its place, its sizes, the factor between them, and the part that is cut out.

    `length` is the size of the result from which coordinates are computed. onnxruntime takes that of the result, the
    reference the size times the factor, which need not be whole.
    """

    place: int
    size: int
    result: int
    scale: Any
    length: Any
    start: float
    end: float


def _axes_of(node: Node, given: Given, own_type: Any) -> list[_Axis]:
    """Give the axes whose size or place changes; `own_type` is the type that coordinates are computed in."""
    x, roi, scales, sizes = (*given, None, None, None)[:4]
    if not _has_modes(node):
        roi, scales, sizes = None, given[1] if len(given) > 1 else node.get("scales"), None
    places = [place % x.ndim for place in whole(node.get("axes"))] or [*range(x.ndim)]
    count = len(places)
    is_sized = sizes is not None and np.size(sizes) > 0
    factors: list[Any]
    if is_sized:
        results = whole(sizes)
        factors = _factors(node, [x.shape[place] for place in places], results)
        if node.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            results = [floor(f * x.shape[place] + 0.5) for f, place in zip(factors, places, strict=True)]
    else:
        factors = [*map(F32, np.ravel(scales))]
        if not all(np.isfinite(f) and f > 0 for f in factors):
            raise bad_value("scales", f"expected numbers above 0, got {factors!s:.80}")
        results = [floor(own_type(x.shape[place]) * own_type(f)) for f, place in zip(factors, places, strict=True)]
    if len(factors) != count or len(results) != count:
        raise ValueError(f"expected {count} scales or sizes, got {len(results)}")
    bounded([*(n for i, n in enumerate(x.shape) if i not in places), *results])
    is_ort = own_type is F32
    if is_ort and [x.shape[place] for place in places] == results:
        return []  # onnxruntime copies what keeps its sizes, whatever the scales
    cut = np.ravel(roi) if roi is not None and np.size(roi) == 2 * count else [*[0.0] * count, *[1.0] * count]
    made = [
        _Axis(
            place,
            x.shape[place],
            n,
            own_type(f),
            own_type(n if is_ort else float(f) * x.shape[place]),
            float(cut[i]),
            float(cut[count + i]),
        )
        for i, (place, n, f) in enumerate(zip(places, results, factors, strict=True))
    ]
    is_cut = node.get("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    return [one for one in made if one.result != one.size or one.scale != 1 or is_cut]


def _factors(node: Node, sizes: Sequence[int], results: Sequence[int]) -> list[float]:
    """Give the factors of sizes; where the aspect is kept, one for all axes."""
    factors = [n / m for n, m in zip(results, sizes, strict=True)]
    how = node.get("keep_aspect_ratio_policy", "stretch")
    return factors if how == "stretch" else [(min if how == "not_larger" else max)(factors)] * len(factors)


def _places(how: str, axis: _Axis) -> NDArray[Any]:
    """Give where each pixel of the result lies in the image, in the type of the factor."""
    kind = axis.scale.dtype.type
    x, half, one, length = np.arange(axis.result, dtype=kind), kind(0.5), kind(1), axis.length
    if how == "align_corners":
        return x * kind(axis.size - 1) / (length - one) if length != 1 else x
    if how == "asymmetric":
        return np.asarray(x / axis.scale)
    if how == "tf_crop_and_resize":
        last, start, end = kind(axis.size - 1), kind(axis.start), kind(axis.end)
        if length == 1:
            return np.full(1, half * (start + end) * last)
        return np.asarray(start * last + x * (end - start) * last / (length - one))
    if how == "pytorch_half_pixel" and length == 1:
        return x if kind is F32 else x - half
    if how == "half_pixel_symmetric":  # the middle of the image stays in the middle
        size = kind(axis.size)
        offset = size / kind(2) * (one - kind(axis.result) / (axis.scale * size))
        return np.asarray(offset + (x + half) / axis.scale - half)
    return np.asarray((x + half) / axis.scale - half)


def _has_modes(node: Node) -> bool:
    """Whether attributes say how coordinates are made and rounded: of Resize, from one opset on."""
    return node.kind == "Resize" and node.opset >= _TYPED


def _how(node: Node) -> str:
    return str(node.get("coordinate_transformation_mode", "half_pixel")) if _has_modes(node) else "asymmetric"


def _nearest(node: Node, given: Given, own_type: Any) -> Any:
    x, how = given[0], _how(node)
    near = node.get("nearest_mode", "round_prefer_floor") if _has_modes(node) else "floor"
    outside: list[tuple[int, NDArray[Any]]] = []
    for axis in _axes_of(node, given, own_type):
        places = _places(how, axis)
        outside += _beyond(how, axis, places)
        at = np.clip(_pixels(places, near, own_type is F32), 0, axis.size - 1).astype(np.intp)
        x = x.take(at, axis.place)
    return _extrapolated(node, np.array(x), outside)


def _pixels(places: NDArray[Any], near: str, is_ort: bool) -> NDArray[Any]:
    """Give the pixel that is nearest to each place."""
    if near in ("floor", "ceil"):
        return np.floor(places) if near == "floor" else np.ceil(places)
    below = np.floor(places)
    over = places - below - 0.5
    is_tie = np.abs(over) < _TIE if is_ort else over == 0
    return below + np.where(is_tie, near == "round_prefer_ceil", over > 0)


def _beyond(how: str, axis: _Axis, places: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
    """Give which pixels of an axis lie outside of the image, where these have a value of their own."""
    is_beyond = (places < 0) | (places > axis.size - 1)
    return [(axis.place, is_beyond)] if how == "tf_crop_and_resize" and is_beyond.any() else []


def _extrapolated(node: Node, y: Any, outside: Sequence[tuple[int, NDArray[Any]]]) -> Any:
    for place, is_beyond in outside:
        y[(slice(None),) * place + (is_beyond,)] = node.get("extrapolation_value", 0.0)
    return y


def _triangle(t: NDArray[Any], node: Node) -> NDArray[Any]:
    return np.maximum(1 - np.abs(t), 0)


def _cubic(t: NDArray[Any], node: Node) -> NDArray[Any]:
    a, t = node.get("cubic_coeff_a", -0.75), np.abs(t)
    inner = ((a + 2) * t - (a + 3)) * t * t + 1
    outer = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, inner, np.where(t < 2, outer, 0))


_KERNELS = {"linear": (1, _triangle), "bilinear": (1, _triangle), "cubic": (2, _cubic)}
"""How far each mode reaches, and its weights."""


def _summed(node: Node, given: Given, own_type: Any) -> Any:
    """Sum pixels by their weights, one axis after the other, in double."""
    x, how = np.asarray(given[0], np.float64), _how(node)
    reach, kernel = _KERNELS[node.get("mode", "nearest")]
    outside: list[tuple[int, NDArray[Any]]] = []
    for axis in _axes_of(node, given, own_type):
        places = _places(how, axis).astype(np.float64)
        outside += _beyond(how, axis, places)
        shrunk = min(float(axis.scale), 1.0) if node.get("antialias", 0) else 1.0
        first = floor(-reach / shrunk) + 1
        if ceil(2 * reach / shrunk) > _MOST_TAPS:
            raise ValueError("a result of so few pixels of so many is too large a sum")
        taps = np.floor(places)[:, None] + np.arange(first, 2 - first)
        weights = kernel((taps - places[:, None]) * shrunk, node)
        if node.get("exclude_outside", 0):
            weights = np.where((taps < 0) | (taps > axis.size - 1), 0, weights)
        if node.get("exclude_outside", 0) or shrunk < 1:
            weights = weights / weights.sum(1, keepdims=True)
        at = np.clip(taps, 0, axis.size - 1).astype(np.intp)
        along = (-1, *[1] * (x.ndim - axis.place - 1))
        x = sum(x.take(at[:, i], axis.place) * weights[:, i].reshape(along) for i in range(at.shape[1]))
    return _extrapolated(node, np.array(x), outside)


def _real(node: Node, given: Given) -> Any:
    return _resized(node, given, np.float64)


def _resized(node: Node, given: Given, own_type: Any) -> Any:
    return (_nearest if node.get("mode", "nearest") == "nearest" else _summed)(node, given, own_type)


def _make(site: PlacedNode) -> NodeRunner:
    """Nearest pixels are moved. Weighted sums of floats are rounded once, those of integers toward zero."""
    node, own_type = site.node, F32 if COLUMNS[site.runtime].is_ort else np.float64
    mode, how, near = node.get("mode", "nearest"), _how(node), node.get("nearest_mode", "round_prefer_floor")
    for name, value, known in (
        ("mode", mode, ("nearest", *_KERNELS)),
        ("coordinate_transformation_mode", how, _COORDINATES),
        ("nearest_mode", near, _NEAREST),
        ("keep_aspect_ratio_policy", node.get("keep_aspect_ratio_policy", "stretch"), _POLICIES),
    ):
        if value not in known:
            raise Missing(f"its {name} is {value!s:.40}")
    dtype = site.tensors[node.inputs[0]].dtype
    if mode != "nearest" and not dtype.startswith("float"):
        raise Missing(f"it sums pixels of {dtype}, which runtimes round in their own ways")
    return NodeRunner(lambda given: np.asarray(_resized(node, given, own_type)).astype(given[0].dtype))


_POLICIES = ("stretch", "not_larger", "not_smaller")
KINDS = {kind: Kind(make=_make, real=_real, rule="float32", code=c_of_codes) for kind in ("Resize", "Upsample")}
