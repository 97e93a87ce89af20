"""TFLite_Detection_PostProcess, the custom operator behind detectors: decodes boxes and drops those that overlap."""

from __future__ import annotations

from functools import partial
from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target
from qops.models.tensor import Tensor, zero_of
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import MOST, OperatorRunner, PlacedOperator

__all__ = ["KINDS"]

F32 = np.float32
Floats = NDArray[np.float32]
Places = NDArray[np.int64]
_MICRO = ("tflm", "tflm_until_2026_06", "single_rounding")


class _DetectionNumbers(NamedTuple):
    """The options of the operator, by their names in its map."""

    max_detections: int
    max_classes_per_detection: int
    num_classes: int
    nms_score_threshold: np.float32
    nms_iou_threshold: np.float32
    scales: tuple[float, float, float, float]
    """By which encodings are divided: of y, x, height and width."""
    detections_per_class: int
    use_regular_nms: bool


def _numbers(raw: bytes) -> _DetectionNumbers:
    from flatbuffers import flexbuffers

    try:
        held = flexbuffers.GetRoot(bytearray(raw)).AsMap
        names = {key.AsString for key in held.Keys}
        y, x, height, width = (float(F32(held[f"{axis}_scale"].AsFloat)) for axis in "yxhw")
        return _DetectionNumbers(
            int(held["max_detections"].AsInt),
            int(held["max_classes_per_detection"].AsInt),
            int(held["num_classes"].AsInt),
            F32(held["nms_score_threshold"].AsFloat),
            F32(held["nms_iou_threshold"].AsFloat),
            (y, x, height, width),
            int(held["detections_per_class"].AsInt) if "detections_per_class" in names else 100,
            bool(held["use_regular_nms"].AsBool) if "use_regular_nms" in names else False,
        )
    except Exception as why:  # the package has no errors of its own for bytes that are no map
        raise Missing(f"its options are no map of its numbers ({why})") from why


def _values(tensor: Tensor, data: NDArray[Any], kernel: str) -> Floats:
    """Give values in float32: DEQUANTIZE of the scores, as LiteRT's optimised kernel does it."""
    if data.dtype == np.float32:
        return data
    made = tflite.dequantize(data, x_scale=float(_scale(tensor)), x_zero_point=zero_of(tensor), kernel=kernel)
    return np.asarray(made, F32)


def _scale(tensor: Tensor) -> np.float32:
    if tensor.scale is None or tensor.scale.ndim:
        raise Missing(f"{tensor.name!r} has no scale, or one for each channel")
    return F32(tensor.scale)


def _corners(tensor: Tensor, data: NDArray[Any]) -> NDArray[np.float64]:
    """Give four numbers of each box in double: uint8 is dequantized in float32."""
    four = data.reshape(-1, data.shape[-1])[:, :4]
    if data.dtype != np.float32:
        four = (four.astype(F32) - F32(zero_of(tensor))) * _scale(tensor)
    return four.astype(np.float64)


def _decoded(boxes: NDArray[np.float64], anchors: NDArray[np.float64], scales: tuple[float, ...]) -> Floats:
    """Give the ends of boxes (ymin, xmin, ymax, xmax): centres and halves in double, each rounded, then float32."""
    with np.errstate(all="ignore"):
        near = boxes / np.array(scales)
        centres = (near[:, :2] * anchors[:, 2:] + anchors[:, :2]).astype(F32)
        halves = (0.5 * np.vectorize(_exp, otypes=[float])(near[:, 2:]) * anchors[:, 2:]).astype(F32)
        return np.concatenate([centres - halves, centres + halves], axis=1)


def _exp(x: float) -> float:
    try:
        return exp(x)
    except OverflowError:
        return np.inf


def _overlaps(boxes: Floats, one: int, others: Places) -> Floats:
    """Give the intersection over the union of a box and others."""
    with np.errstate(all="ignore"):
        a, b = boxes[one], boxes[others]
        area, areas = (a[2] - a[0]) * (a[3] - a[1]), (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        sides = np.minimum(a[2:], b[:, 2:]) - np.maximum(a[:2], b[:, :2])
        sides = np.maximum(sides, F32(0))
        both = sides[:, 0] * sides[:, 1]
        found = both / (area + areas - both)
        return np.where((area <= 0) | (areas <= 0), F32(0), found)


def _chosen(boxes: Floats, scores: Floats, numbers: _DetectionNumbers, most: int) -> list[int]:
    """Give boxes from the highest score on, but none that overlaps a chosen one; the first of equal scores first."""
    kept = np.flatnonzero(scores >= numbers.nms_score_threshold)
    left = kept[np.argsort(-scores[kept], kind="stable")]
    found: list[int] = []
    while left.size and len(found) < most:
        one = int(left[0])
        found.append(one)
        left = left[1:][~(_overlaps(boxes, one, left[1:]) > numbers.nms_iou_threshold)]
    return found


def _largest(row: list[float], count: int, is_micro: bool) -> list[int]:
    """Give the places of the largest. Of equal ones TFLM has the first first, LiteRT what a heap of places leaves.

    The heap is that of ``std::partial_sort`` in GNU's library, on which LiteRT for Linux stands.
    """
    places = [*range(len(row))]
    if count == 1 or is_micro:
        return sorted(places, key=lambda i: -row[i])[:count]
    heap = places[:count]
    for top in range((count - 2) // 2, -1, -1):
        _sink(heap, top, count, heap[top], row)
    for place in places[count:]:
        if row[place] > row[heap[0]]:
            _sink(heap, 0, count, place, row)
    for size in range(count - 1, 0, -1):
        last, heap[size] = heap[size], heap[0]
        _sink(heap, 0, size, last, row)
    return heap


def _sink(heap: list[int], top: int, size: int, place: int, row: list[float]) -> None:
    """Put a place into a heap whose top has the smallest value: the hole goes down to a leaf, and then up again."""
    hole, below = top, 2 * top + 2
    while below < size:
        below -= row[heap[below]] > row[heap[below - 1]]
        heap[hole], hole = heap[below], below
        below = 2 * hole + 2
    if below == size:
        heap[hole], hole = heap[below - 1], below - 1
    while hole > top and row[heap[(hole - 1) // 2]] > row[place]:
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = place


def _fast(boxes: Floats, scores: Floats, numbers: _DetectionNumbers, is_micro: bool) -> list[tuple[int, int]]:
    """Give pairs of box and class: boxes are chosen by their highest score, with some classes each."""
    count = min(numbers.max_classes_per_detection, numbers.num_classes)
    classes = np.array([_largest(row.tolist(), count, is_micro) for row in scores]).reshape(-1, count)
    chosen = _chosen(boxes, scores[np.arange(len(scores)), classes[:, 0]], numbers, numbers.max_detections)
    return [(box, int(each)) for box in chosen for each in classes[box]]


def _regular(boxes: Floats, scores: Floats, numbers: _DetectionNumbers) -> list[tuple[int, int]]:
    """Give pairs of box and class: boxes are chosen for each class, then the highest scores of all are kept."""
    found: list[tuple[int, int]] = []
    for each in range(numbers.num_classes):
        found += [(box, each) for box in _chosen(boxes, scores[:, each], numbers, numbers.detections_per_class)]
        found = sorted(found, key=lambda pair: -scores[pair])[: numbers.max_detections]
    return found


def _run(site: PlacedOperator, numbers: _DetectionNumbers, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    encodings, scores, anchors = arrays
    tensors = [site.tensor(i) for i in range(3)]
    is_micro = site.kernel in _MICRO
    boxes = _decoded(_corners(tensors[0], encodings), _corners(tensors[2], anchors), numbers.scales)
    bad = (boxes[:, :2] >= boxes[:, 2:]) if is_micro else (boxes[:, :2] > boxes[:, 2:])
    if bad.any():
        raise ValueError(f"box {int(np.argwhere(bad)[0, 0])} ends before it begins")
    kernel = f"optimized{'_arm' if site.kernel.endswith(('_arm', '_neon')) else ''}"
    values = _values(tensors[1], scores[0], kernel)[:, -numbers.num_classes :]
    if np.isnan(values).any():
        raise ValueError("its scores hold a NaN, which has no place in an order")
    made_of = _regular if numbers.use_regular_nms else partial(_fast, is_micro=is_micro)
    chosen = made_of(boxes, values, numbers)
    size = numbers.max_detections * numbers.max_classes_per_detection
    made = np.zeros((size, 4), F32), np.zeros(size, F32), np.zeros(size, F32)
    count = 1 if numbers.use_regular_nms else min(numbers.max_classes_per_detection, numbers.num_classes)
    stride = count if is_micro or numbers.use_regular_nms else numbers.max_classes_per_detection
    for i, (box, each) in enumerate(chosen):
        at = i // count * stride + i % count
        made[0][at], made[1][at], made[2][at] = boxes[box], each, values[box, each]
    return (*(part[None] for part in made), np.array([len(chosen) // count], F32))


def _make(site: PlacedOperator) -> OperatorRunner:
    """Boxes are float32 operations but for one ``exp`` in double, whose last bit is that of the host's library."""
    numbers = _numbers(site.options.get("CustomOptions", b""))
    boxes, scores, anchors = (site.tensor(i) for i in range(3))
    is_micro = site.kernel in _MICRO
    if is_micro and not numbers.use_regular_nms and min(numbers.max_classes_per_detection, numbers.num_classes) > 1:
        raise Missing("TFLite Micro writes beyond its results with more than one class for each box")
    if len(site.outputs) != 4:
        raise Missing(f"it has {len(site.outputs)} results, where 4 are expected")
    taken = ("float32",) if is_micro else ("float32", "uint8")
    for tensor in (boxes, scores, anchors):
        if tensor.dtype not in taken or (tensor.dtype == "uint8" and tensor.scale is None):
            raise Missing(f"{tensor.name!r} is {tensor.dtype}, where {' or '.join(taken)} is expected")
    if boxes.dtype != anchors.dtype:
        raise Missing(f"{boxes.name!r} is {boxes.dtype}, {anchors.name!r} is {anchors.dtype}")
    size = numbers.max_detections * numbers.max_classes_per_detection
    wanted = numbers.max_detections, numbers.max_classes_per_detection, numbers.num_classes
    if min(*wanted, numbers.detections_per_class) < 1 or not 0 < numbers.nms_iou_threshold <= 1 or size > MOST:
        raise Missing(f"its options are {numbers}")
    _check_shapes(boxes, scores, anchors, numbers.num_classes)
    return OperatorRunner((0, 1, 2), partial(_run, site, numbers))


def _check_shapes(boxes: Tensor, scores: Tensor, anchors: Tensor, classes: int) -> None:
    """One image; an anchor and scores for each box; classes with or without a background before them."""
    count = anchors.shape[0] if anchors.shape else None
    fits = len(boxes.shape) == len(scores.shape) == 3 and len(anchors.shape) == 2
    if not fits or boxes.shape[:2] != (1, count) or scores.shape[:2] != (1, count) or anchors.shape[1] != 4:
        raise Missing(f"its shapes are {boxes.shape}, {scores.shape}, {anchors.shape}, which do not fit")
    if (boxes.shape[2] or 0) < 4 or (scores.shape[2] or 0) - classes not in (0, 1):
        raise Missing(f"its shapes are {boxes.shape} and {scores.shape}, for {classes} classes")


def _no_c(made: PortedLayer, op: Op, graph: Graph, target: Target) -> None:
    """Boxes in floats, and a loop over pairs of them: no integers that a port needs."""


KINDS = {"TFLite_Detection_PostProcess": Kind(make=_make, code=_no_c, is_custom=True, version=1)}
