"""Ops of qops.onnx, as onnxruntime computes them: the same bits, so no result may differ by anything.

Each op has two rows: the function, which packs weights in each call, and the prepared op, which packs them once.

Images are planes, one for each channel, as ONNX has them, padded by a pixel. Weights and biases have a scale for each
channel.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak, products
from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from benchmarks.products import CHANNELS, TAPS, any_codes
from qops import onnx

Array = NDArray[Any]
X_SCALE, X_ZERO, Y_ZERO = np.float32(0.05), 120, 131
PADS = [TAPS // 2] * 4
SQUARE = (64, 256, 1024)


def w_scales(count: int) -> Array:
    """Give a scale for each output channel."""
    return np.linspace(0.01, 0.02, count, dtype=np.float32)


def y_scale(terms: int) -> np.float32:
    """Give a scale whose codes sums of so many products fill well."""
    return np.float32(2 * (terms / 576) ** 0.5)


def codes(acc: Array, terms: int) -> Array:
    """Requantize sums, their channels last: each operation is rounded to float32."""
    factors = X_SCALE * w_scales(acc.shape[-1]) / y_scale(terms)
    return np.clip(np.rint(acc.astype(np.float32) * factors) + Y_ZERO, 0, 255)


def filtered(inputs: int, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw an image of n x n pixels, filters of so many input channels, and biases."""
    return {
        "x": any_codes(rng, (1, CHANNELS, n, n), np.uint8),
        "w": any_codes(rng, (CHANNELS, inputs, TAPS, TAPS), np.int8),
        "bias": rng.integers(-100_000, 100_000, CHANNELS, np.int32),
    }


def groups(x: Array, w: Array) -> int:
    """Give how many groups the channels are divided into."""
    return int(x.shape[1] // w.shape[1])


def sums(x: Array, w: Array, bias: Array) -> Array:
    """Multiply windows by filters in float64; padding is a real 0, and the biases are left out."""
    padded = np.pad(x.astype(float) - X_ZERO, ((0, 0), (0, 0), (1, 1), (1, 1)))
    if w.shape[1] == 1:
        return products.convolved_by_channel(padded, w[:, np.newaxis])
    return products.convolved(padded, w)


def convolved(x: Array, w: Array, bias: Array) -> Array:
    """Add the biases, and make codes."""
    acc = sums(x, w, bias).transpose(0, 2, 3, 1) + bias
    return codes(acc, w[0].size).transpose(0, 3, 1, 2)


def qops_sums(x: Array, w: Array, bias: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the weights in each call, or the prepared op."""
    out, attributes = shared(x.size, np.int32).reshape(x.shape), {"group": groups(x, w), "pads": PADS}
    op = onnx.ConvInteger(w, X_ZERO, **attributes)
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: onnx.conv_integer(x, w, X_ZERO, **attributes, out=out), lambda: out, 0)


def qops_codes(x: Array, w: Array, bias: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the weights in each call, or the prepared op."""
    out, attributes = shared(x.size, np.uint8).reshape(x.shape), {"group": groups(x, w), "pads": PADS, "runtime": "ort"}
    given = X_SCALE, X_ZERO, w, w_scales(len(w)), 0, y_scale(w[0].size), Y_ZERO, bias
    op = onnx.QLinearConv(*given, **attributes)
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: onnx.qlinear_conv(x, *given, **attributes, out=out), lambda: out, 0)


def matrices(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two square factors."""
    return {"a": any_codes(rng, (n, n), np.uint8), "b": any_codes(rng, (n, n), np.int8)}


def product(a: Array, b: Array) -> Array:
    """Multiply in float64, which holds these sums."""
    return (a.astype(float) - X_ZERO) @ b.astype(float)


def product_codes(a: Array, b: Array) -> Array:
    """Multiply, and make codes."""
    return codes(product(a, b), len(b))


def qops_product(a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs `b` in each call, or the prepared op."""
    out, op = shared(a.size, np.int32).reshape(a.shape), onnx.MatMulInteger(b, X_ZERO)
    if prepared:
        return Candidate(lambda: op(a, out), lambda: out, 0)
    return Candidate(lambda: onnx.matmul_integer(a, b, X_ZERO, out=out), lambda: out, 0)


def qops_product_codes(a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs `b` in each call, or the prepared op."""
    out = shared(a.size, np.uint8).reshape(a.shape)
    given = X_SCALE, X_ZERO, b, w_scales(b.shape[1]), 0, y_scale(len(b)), Y_ZERO
    op = onnx.QLinearMatMul(*given, runtime="ort")
    if prepared:
        return Candidate(lambda: op(a, out), lambda: out, 0)
    return Candidate(lambda: onnx.qlinear_matmul(a, *given, runtime="ort", out=out), lambda: out, 0)


def values(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw float32 values."""
    return {"x": rng.standard_normal(n).astype(np.float32)}


def quantized(x: Array) -> Array:
    """Give codes by the formula, the quotient rounded to float32."""
    return np.clip(np.rint(x / X_SCALE) + X_ZERO, 0, 255)


def qops_quantize(x: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function or the prepared op."""
    out, op = shared(x.size, np.uint8), onnx.QuantizeLinear(X_SCALE, X_ZERO)
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: onnx.quantize_linear(x, X_SCALE, X_ZERO, out=out), lambda: out, 0)


def of_images(name: str, inputs: int, reference: Any, judged: Any) -> Case:
    """Make a row of convolutions with so many input channels for each output channel."""
    return products.of_images(f"onnx_{name}", partial(filtered, inputs), reference, judged, channels=inputs)


def of_matrices(name: str, reference: Any, judged: Any) -> Case:
    """Make a row of products."""
    return Case(f"onnx_{name}", matrices, reference, judged, lambda n: 2 * n**3, peak.EXACT, SQUARE, SQUARE[:2])


ONNX = [
    *both(of_images("conv_integer", CHANNELS, sums, qops_sums)),
    *both(of_images("conv_integer_depthwise", 1, sums, qops_sums)),
    *both(of_images("qlinear_conv", CHANNELS, convolved, qops_codes)),
    *both(of_images("qlinear_conv_depthwise", 1, convolved, qops_codes)),
    *both(of_matrices("matmul_integer", product, qops_product)),
    *both(of_matrices("qlinear_matmul", product_codes, qops_product_codes)),
    *both(Case("onnx_quantize_linear", values, quantized, qops_quantize, lambda n: 5 * n, BYTES)),
]
