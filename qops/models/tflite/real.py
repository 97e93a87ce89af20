"""What TFLite's operators compute, in real numbers: the formulas that their integer kernels round.

Each function takes the operator as the file has it and the values of its inputs in their order, None for one that is
left out, and gives the values of its first output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from qops.models.tensor import Values
from qops.models.tflite.file import Operator

__all__ = ["ACTIVATIONS", "LIMITS", "PADDINGS", "REAL", "products"]

Given = Sequence[Any]

ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}
"""The fused activations, by their numbers in the schema; others are for floats only."""
PADDINGS = {0: "SAME", 1: "VALID"}
LIMITS = {"NONE": (-np.inf, np.inf), "RELU": (0.0, np.inf), "RELU_N1_TO_1": (-1.0, 1.0), "RELU6": (0.0, 6.0)}
"""The lowest and the highest real value that each lets through."""
_TANH = 4  # a fused activation of floats


def _activated(op: Operator, y: Values) -> Values:
    number = op.options.get("FusedActivationFunction", 0)
    return np.tanh(y) if number == _TANH else np.clip(y, *LIMITS[ACTIVATIONS[number]])


def _padded(op: Operator, x: Values, size: tuple[int, int], fill: float) -> Values:
    """Give images NHWC with the padding of a window of this size, dilation included."""
    if PADDINGS[op.options["Padding"]] == "VALID":
        return x
    strides = op.options["StrideH"], op.options["StrideW"]
    total = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(x.shape[1:3], strides, size, strict=True)]
    return np.pad(x, [(0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)], constant_values=fill)


def _windows(op: Operator, x: Values, taps: tuple[int, int], fill: float = 0.0) -> Values:
    """Give what lies under each window: (N, OH, OW, C, KH, KW)."""
    o = op.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    size = (taps[0] - 1) * dilation[0] + 1, (taps[1] - 1) * dilation[1] + 1
    seen = sliding_window_view(_padded(op, x, size, fill), size, (1, 2))
    return seen[:, :: o["StrideH"], :: o["StrideW"], :, :: dilation[0], :: dilation[1]]


def _conv(op: Operator, x: Values, w: Values) -> Values:
    groups = x.shape[3] // w.shape[3]
    made = [
        np.einsum("nhwcij,oijc->nhwo", _windows(op, a, b.shape[1:3]), b, optimize=True)
        for a, b in zip(np.split(x, groups, 3), np.split(w, groups, 0), strict=True)
    ]
    return np.concatenate(made, 3)


def _depthwise(op: Operator, x: Values, w: Values) -> Values:
    filters = w[0].reshape(*w.shape[1:3], x.shape[3], -1)
    made = np.einsum("nhwcij,ijcm->nhwcm", _windows(op, x, w.shape[1:3]), filters, optimize=True)
    return made.reshape(*made.shape[:3], -1)


def _connected(op: Operator, x: Values, w: Values) -> Values:
    keeps = op.options.get("KeepNumDims", False)
    rows = x if keeps and x.shape[-1] == w.shape[1] else x.reshape(-1, w.shape[1])
    return rows @ w.T


def _transposed(op: Operator, x: Values, w: Values, shape: Sequence[int]) -> Values:
    """Add each pixel's copy of the filters to the result, which padding then cuts at its edges."""
    (_, height, width, _), (o, kh, kw, _) = shape, w.shape
    strides = op.options["StrideH"], op.options["StrideW"]
    full = [(n - 1) * s + k for n, s, k in zip(x.shape[1:3], strides, (kh, kw), strict=True)]
    total = [max(f - n, 0) for f, n in zip(full, (height, width), strict=True)]
    before = [t // 2 if PADDINGS[op.options["Padding"]] == "SAME" else 0 for t in total]
    sums = np.zeros((x.shape[0], max(full[0], before[0] + height), max(full[1], before[1] + width), o))
    for i in range(kh):
        for j in range(kw):
            part = sums[:, i : i + (x.shape[1] - 1) * strides[0] + 1 : strides[0]]
            part[:, :, j : j + (x.shape[2] - 1) * strides[1] + 1 : strides[1]] += x @ w[:, i, j].T
    return sums[:, before[0] : before[0] + height, before[1] : before[1] + width]


def products(op: Operator, x: Values, w: Values, shape: Any = None) -> Values:
    """Give the sums of products of a layer, exactly if they are integers that double holds.

    Parameters
    ----------
    op : Operator
        CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED or TRANSPOSE_CONV.
    x, w : ndarray of float64
        Data and weights.
    shape : sequence of int, optional
        The shape of the result of TRANSPOSE_CONV.

    Returns
    -------
    ndarray of float64
        Sums without a bias, output channels last.
    """
    if op.kind == "TRANSPOSE_CONV":
        return _transposed(op, x, w, shape)
    return {"CONV_2D": _conv, "DEPTHWISE_CONV_2D": _depthwise, "FULLY_CONNECTED": _connected}[op.kind](op, x, w)


def _layer(op: Operator, given: Given) -> Values:
    x, w, bias = (*given, None)[:3]
    y = products(op, x, w)
    return _activated(op, y if bias is None else y + bias)


def _transpose_conv(op: Operator, given: Given) -> Values:
    shape, w, x, bias = (*given, None)[:4]
    y = products(op, x, w, [int(n) for n in shape])
    return _activated(op, y if bias is None else y + bias)


def _matmul(op: Operator, given: Given) -> Values:
    a, b = given
    a = a.swapaxes(-1, -2) if op.options.get("AdjX") else a
    return a @ (b.swapaxes(-1, -2) if op.options.get("AdjY") else b)


def _pool(op: Operator, x: Values, reduce: Callable[..., Values], fill: float) -> Values:
    taps = op.options["FilterHeight"], op.options["FilterWidth"]
    return _activated(op, reduce(_windows(op, x, taps, fill), axis=(-1, -2)))


def _reduced(reduce: Callable[..., Any]) -> Callable[[Operator, Given], Values]:
    def run(op: Operator, given: Given) -> Values:
        x, axes = given
        axis = tuple({int(a) % x.ndim for a in np.ravel(axes)})
        return np.asarray(reduce(x, axis=axis, keepdims=bool(op.options.get("KeepDims", False))))

    return run


def _binary(function: Callable[..., Any]) -> Callable[[Operator, Given], Values]:
    return lambda op, given: _activated(op, function(given[0], given[1]))


def _one(function: Callable[[Values], Any]) -> Callable[[Operator, Given], Values]:
    return lambda op, given: np.asarray(function(given[0]))


def _softmax(x: Values, beta: float = 1.0) -> Values:
    e = np.exp((x - x.max(-1, keepdims=True)) * beta)
    return np.asarray(e / e.sum(-1, keepdims=True))


def _log_softmax(x: Values) -> Values:
    far = x - x.max(-1, keepdims=True)
    return np.asarray(far - np.log(np.exp(far).sum(-1, keepdims=True)))


def _logistic(x: Values) -> Values:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _gelu(op: Operator, given: Given) -> Values:
    x = given[0]
    if op.options.get("Approximate"):
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2))))


def _prelu(op: Operator, given: Given) -> Values:
    x, alpha = given
    return np.asarray(np.where(x >= 0, x, x * alpha))


def _resized(op: Operator, given: Given, nearest: bool) -> Values:
    """Read the images at the positions of the new pixels, between pixels or at the nearest."""
    x, size = given
    for axis, count in zip((1, 2), (int(n) for n in np.ravel(size)), strict=True):
        at = _positions(op, x.shape[axis], count, nearest)
        if nearest:
            x = x.take(np.clip(at, 0, x.shape[axis] - 1).astype(int), axis)
            continue
        low = np.clip(np.floor(at), 0, x.shape[axis] - 1).astype(int)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        part = np.clip(at - low, 0, 1).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return np.asarray(x)


def _positions(op: Operator, n: int, count: int, nearest: bool) -> Values:
    corners, half = op.options.get("AlignCorners", False), op.options.get("HalfPixelCenters", False)
    scale = (n - 1) / (count - 1) if corners and count > 1 else n / count
    at = (np.arange(count) + (0.5 if half else 0.0)) * scale
    if nearest:
        return np.asarray(np.floor(at + 0.5) if corners else np.floor(at))
    return np.asarray(np.maximum(at - 0.5, 0) if half else at)


def _padded_by(op: Operator, given: Given) -> Values:
    x, pads, fill = (*given, 0.0)[:3]
    return np.pad(x, [tuple(map(int, row)) for row in pads], constant_values=float(np.ravel(fill)[0]))


def _concatenated(op: Operator, given: Given) -> Values:
    return _activated(op, np.concatenate(list(given), op.options["Axis"]))


REAL: dict[str, Callable[[Operator, Given], Values]] = {
    "CONV_2D": _layer,
    "DEPTHWISE_CONV_2D": _layer,
    "FULLY_CONNECTED": _layer,
    "TRANSPOSE_CONV": _transpose_conv,
    "BATCH_MATMUL": _matmul,
    "ADD": _binary(np.add),
    "SUB": _binary(np.subtract),
    "MUL": _binary(np.multiply),
    "MAXIMUM": _binary(np.maximum),
    "MINIMUM": _binary(np.minimum),
    "SQUARED_DIFFERENCE": _binary(lambda a, b: (a - b) ** 2),
    "AVERAGE_POOL_2D": lambda op, given: _pool(op, given[0], np.nanmean, np.nan),
    "MAX_POOL_2D": lambda op, given: _pool(op, given[0], np.max, -np.inf),
    "MEAN": _reduced(np.mean),
    "SUM": _reduced(np.sum),
    "REDUCE_MAX": _reduced(np.max),
    "REDUCE_MIN": _reduced(np.min),
    "SOFTMAX": lambda op, given: _softmax(given[0], op.options.get("Beta", 1.0)),
    "LOG_SOFTMAX": _one(_log_softmax),
    "L2_NORMALIZATION": _one(lambda x: x / np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), 1e-6)),
    "LOGISTIC": _one(_logistic),
    "TANH": _one(np.tanh),
    "HARD_SWISH": _one(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "LEAKY_RELU": lambda op, given: np.where(given[0] >= 0, given[0], given[0] * op.options["Alpha"]),
    "PRELU": _prelu,
    "RELU": _one(lambda x: np.maximum(x, 0)),
    "RELU6": _one(lambda x: np.clip(x, 0, 6)),
    "RELU_N1_TO_1": _one(lambda x: np.clip(x, -1, 1)),
    "RELU_0_TO_1": _one(lambda x: np.clip(x, 0, 1)),
    "ELU": _one(lambda x: np.where(x >= 0, x, np.expm1(np.minimum(x, 0)))),
    "GELU": _gelu,
    "EXP": _one(np.exp),
    "SQRT": _one(lambda x: np.sqrt(np.maximum(x, 0))),
    "RSQRT": _one(lambda x: 1 / np.sqrt(np.maximum(x, np.finfo(np.float64).tiny))),
    "ABS": _one(np.abs),
    "NEG": _one(np.negative),
    "QUANTIZE": _one(np.asarray),
    "DEQUANTIZE": _one(np.asarray),
    "CONCATENATION": _concatenated,
    "PAD": _padded_by,
    "PADV2": _padded_by,
    "RESIZE_BILINEAR": lambda op, given: _resized(op, given, nearest=False),
    "RESIZE_NEAREST_NEIGHBOR": lambda op, given: _resized(op, given, nearest=True),
}
"""The real function of each operator that has one; those of SVDF and LSTM are their integers."""
