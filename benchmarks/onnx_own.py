"""onnxruntime's own ops, and others of qops.onnx that make codes of codes: a row each, of the op as it is prepared.

Scales are powers of two and zero points even, so the references, in double, have no other ties than the ops.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak
from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.onnx import SQUARE, X_SCALE, X_ZERO, Y_ZERO, codes, matrices, product, values, w_scales, y_scale
from benchmarks.products import any_codes
from qops import onnx

__all__ = ["OWN"]

Array = NDArray[Any]
A, B, Y = (0.5, 120), (0.25, 132), (1.0, 130)
"""Scales and zero points of operands and results."""
ROW = 16


def drawn(names: str, shape: Sequence[int], rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw codes for each name; the last axis of `shape` has as many as make n in all."""
    return {name: any_codes(rng, (*shape, n // int(np.prod(shape))), np.uint8) for name in names}


def real(x: Array, numbers: tuple[float, int] = A) -> Array:
    """Give the values of codes."""
    return (x.astype(float) - numbers[1]) * numbers[0]


def near(v: Array, numbers: tuple[float, int] = Y) -> Array:
    """Give the nearest codes."""
    return np.clip(np.rint(v / numbers[0]) + numbers[1], 0, 255)


def softmax(x: Array) -> Array:
    """Give the softmax of columns, whose step is 1/256."""
    each = np.exp((x.astype(float) - x.max(0)) * 0.0625)
    return np.minimum(np.rint(each / each.sum(0) * 256), 255)


def windows(x: Array) -> Array:
    """Give the windows of two by two pixels, which lie side by side."""
    return x.reshape(1, 1, x.shape[2] // 2, 2, -1, 2).swapaxes(3, 4).reshape(1, 1, x.shape[2] // 2, -1, 4)


def over_range(x: Array) -> tuple[Array, np.float32, np.float32]:
    """Quantize over the range of the data, in float32: codes, scale and zero point."""
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = np.float32((high - low) / np.float32(255))
    zero = np.float32(np.rint(-low / scale))
    return np.clip(np.rint(x / scale) + zero, 0, 255), scale, zero


def floats_of(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw float32 values, and weights."""
    return {"a": rng.standard_normal((n, n)).astype(np.float32), "b": matrices(rng, n)["b"]}


def from_range(a: Array, b: Array) -> Array:
    """Multiply values that are quantized first."""
    made, scale, zero = over_range(a)
    return ((made - zero).astype(float) @ b).astype(np.float32) * (scale * w_scales(b.shape[1]))


def ran(op: Callable[..., Any], reference: Callable[..., Array], within: float, **data: Array) -> Candidate:
    """Call an op on all data."""
    shape = reference(**data).shape
    out = shared(int(np.prod(shape)), np.uint8).reshape(shape)
    return Candidate(lambda: op(*data.values(), out=out), lambda: out, within)


def multiplied(maker: Callable[[Array], Any], dtype: Any, a: Array, b: Array) -> Candidate:
    """Call an op that is made of the second matrix."""
    op, out = maker(b), shared(a.size, dtype).reshape(a.shape)
    return Candidate(lambda: op(a, out), lambda: out, 0)


def of_codes(
    name: str, names: str, shape: Sequence[int], op: Any, reference: Callable[..., Array], within: float = 0
) -> Case:
    """Make a row of an op of so many tensors."""
    moved = len(names) + 1
    how = partial(ran, op, reference, within)
    return Case(f"onnx_{name}", partial(drawn, names, shape), reference, how, lambda n: moved * n, BYTES)


def of_matrices(name: str, draw: Any, maker: Any, reference: Any, dtype: Any) -> Case:
    """Make a row of a product."""
    how = partial(multiplied, maker, dtype)
    return Case(f"onnx_{name}", draw, reference, how, lambda n: 2 * n**3, peak.EXACT, SQUARE, SQUARE[:2])


def concatenated(a: Array, b: Array, out: Array) -> Array:
    """Join codes of two scales."""
    return JOIN([a, b], out)


def dequantized(x: Array) -> Candidate:
    """Give the values of codes."""
    out = shared(x.size, np.float32).reshape(x.shape)
    return Candidate(lambda: onnx.dequantize_linear(x, *A, out=out), lambda: out, 0)


def quantized(x: Array) -> Candidate:
    """Quantize over the range; the op makes its results itself."""
    kept = [onnx.dynamic_quantize_linear(x)]

    def run() -> None:
        kept[0] = onnx.dynamic_quantize_linear(x)

    return Candidate(run, lambda: kept[0].y, 0)


def with_bias(a: Array, b: Array) -> Array:
    """Multiply, add a bias of one, and make codes."""
    return codes(product(a, b) + 1, len(b))


def gemm(b: Array) -> onnx.QGemm:
    """Prepare QGemm."""
    bias = np.ones(len(b), np.int32)
    return onnx.QGemm(X_SCALE, X_ZERO, b, w_scales(len(b)), 0, bias, y_scale(len(b)), Y_ZERO)


JOIN = onnx.QLinearConcat(*A, [A[0], B[0]], [A[1], B[1]], axis=0)
IMAGE = (1, 1, 4)
POOL: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
OWN = [
    of_codes("qlinear_add", "ab", (), onnx.QLinearAdd(*A, *B, *Y), lambda a, b: near(real(a) + real(b, B))),
    of_codes("qlinear_mul", "ab", (), onnx.QLinearMul(*A, *B, 16.0, 130), lambda a, b: near(real(a) * real(b, B) / 16)),
    of_codes("qlinear_concat", "ab", (), concatenated, lambda a, b: np.append(near(real(a), A), near(real(b, B), A))),
    of_codes(
        "qlinear_sigmoid",
        "x",
        (),
        onnx.QLinearSigmoid(0.0625, 120, 2**-8, 0),
        lambda x: near(1 / (1 + np.exp(-real(x, (0.0625, 120)))), (2**-8, 0)),
    ),
    of_codes(
        "qlinear_leaky_relu",
        "x",
        (),
        onnx.QLinearLeakyRelu(*A, *Y, alpha=0.25),
        lambda x: near(np.where(x >= A[1], 1, 0.25) * real(x)),
    ),
    of_codes("qlinear_softmax", "x", (ROW,), onnx.QLinearSoftmax(0.0625, 0, 2**-8, 0, axis=0), softmax, 1),
    of_codes(
        "qlinear_average_pool",
        "x",
        IMAGE,
        onnx.QLinearAveragePool(*A, *A, **POOL),
        lambda x: near(real(windows(x)).mean(-1), A),
    ),
    of_codes("max_pool", "x", IMAGE, onnx.MaxPool(**POOL), lambda x: windows(x).max(-1)),
    of_codes(
        "qlinear_global_average_pool",
        "x",
        IMAGE,
        onnx.QLinearGlobalAveragePool(*A, *A),
        lambda x: near(real(x).mean((2, 3), keepdims=True), A),
    ),
    Case("onnx_dequantize_linear", partial(drawn, "x", ()), real, dequantized, lambda n: 5 * n, BYTES),
    Case("onnx_dynamic_quantize_linear", values, lambda x: over_range(x)[0], quantized, lambda n: 5 * n, BYTES),
    of_matrices("qgemm", matrices, gemm, with_bias, np.uint8),
    of_matrices(
        "matmul_integer_to_float",
        matrices,
        lambda b: onnx.MatMulIntegerToFloat(b, X_SCALE, w_scales(len(b)), X_ZERO),
        lambda a, b: product(a, b).astype(np.float32) * (X_SCALE * w_scales(len(b))),
        np.float32,
    ),
    of_matrices(
        "dynamic_quantize_matmul",
        floats_of,
        lambda b: onnx.DynamicQuantizeMatMul(b, w_scales(len(b))),
        from_range,
        np.float32,
    ),
]
