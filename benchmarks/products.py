"""The integer products of qops.onednn: n columns, n terms a sum, and n rows, or as many as the name tells."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from benchmarks import peak
from benchmarks.case import Candidate, Case, Rate, shared
from qops import onednn

Array = NDArray[Any]
SQUARE, FEW_ROWS, QUICK = (64, 128, 256, 512, 1024, 2048), (256, 1024, 4096), (64, 256)
CHANNELS, TAPS = 64, 3


def any_codes(rng: np.random.Generator, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Draw codes, all equally likely."""
    info = np.iinfo(np.dtype(dtype))
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def matrices(rows: int | None, dtype: DTypeLike, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two factors; as many rows as columns if `rows` is None."""
    return {"a": any_codes(rng, (rows or n, n), dtype), "b": any_codes(rng, (n, n), np.int8)}


def exact(a: Array, b: Array) -> Array:
    """Multiply in float64, which holds these sums."""
    return a.astype(float) @ b.astype(float)


def saturated(a: Array, b: Array) -> Array:
    """Saturate each pair of products to 16 bits, then add up: the numpy form is this as well."""
    left, right = a.astype(np.int32), b.astype(np.int32)
    acc = np.zeros((len(a), b.shape[1]), np.int32)
    for k in range(0, a.shape[1], 2):
        pair = left[:, k : k + 2] @ right[k : k + 2]
        acc += np.clip(pair, -32768, 32767, out=pair)
    return acc


PREPARED = {onednn.gemm_u8s8s32: onednn.GemmU8S8S32, onednn.gemm_s8s8s32: onednn.GemmS8S8S32}
"""The prepared op beside each function."""


def qops_product(call: Callable[..., Array], prepares: bool, isa: str, a: Array, b: Array) -> Candidate:
    """Call a prepared op of qops, or the function, which packs in each call."""
    out = shared(len(a) * b.shape[1], np.int32).reshape(len(a), -1)
    if prepares:
        op = PREPARED[call](b, isa=isa)
        return Candidate(lambda: op(a, out), lambda: out, 0)
    return Candidate(lambda: call(a, b, isa=isa, out=out), lambda: out, 0)


def operations(rows: int | None, n: int) -> int:
    """Count two operations for each multiplication."""
    return 2 * (rows or n) * n * n


def product(call: Callable[..., Array], dtype: DTypeLike, rows: int | None, prepares: bool) -> Case:
    """Make a row of the table of products."""
    name = call.__name__ + (f"_{rows}" if rows else "") + ("_prepared" if prepares else "")
    judged = partial(qops_product, call, prepares, "vnni")
    inputs, sizes = partial(matrices, rows, dtype), FEW_ROWS if rows else SQUARE
    return Case(name, inputs, exact, judged, partial(operations, rows), peak.EXACT, sizes, QUICK)


def qops_layer(kind: str, prepares: bool, a: Array, b: Array) -> Candidate:
    """Call one of oneDNN's primitives for matrices: a prepared op, or the function, which packs in each call."""
    out, weights = shared(len(a) * b.shape[1], np.int32).reshape(len(a), -1), b
    call, make = onednn.matmul, onednn.MatMul
    if kind == "inner_product":
        call, make, weights = onednn.inner_product, onednn.InnerProduct, np.ascontiguousarray(b.T)
    if prepares:
        op = make(weights)
        return Candidate(lambda: op(a, out), lambda: out, 0)
    return Candidate(lambda: call(a, weights, out=out), lambda: out, 0)


def layer(kind: str, prepares: bool) -> Case:
    """Make a row of the same products by another primitive."""
    name, judged = f"onednn_{kind}" + ("_prepared" if prepares else ""), partial(qops_layer, kind, prepares)
    inputs, work = partial(matrices, None, np.uint8), partial(operations, None)
    return Case(name, inputs, exact, judged, work, peak.EXACT, (64, 256, 1024), QUICK)


def image(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Make an image that gives n x n pixels, its channels side by side in memory, and weights."""
    x = any_codes(rng, (1, n + TAPS - 1, n + TAPS - 1, CHANNELS), np.uint8).transpose(0, 3, 1, 2)
    return {"x": x, "w": any_codes(rng, (CHANNELS, CHANNELS, TAPS, TAPS), np.int8)}


def planes(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Make the same image in planes, one for each channel, as numpy lays out an array of NCHW."""
    made = image(rng, n)
    return {**made, "x": np.ascontiguousarray(made["x"])}


def convolved(x: Array, w: Array) -> Array:
    """Multiply windows by weights in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), w.shape[2:], axis=(2, 3))
    return np.tensordot(windows, w.astype(float), ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def columns(x: Array, w: Array) -> dict[str, Array]:
    """Write the convolution as a product of matrices: a row a pixel, the channels of one tap neighbours."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    rows = windows.transpose(0, 2, 3, 4, 5, 1).reshape(-1, w[0].size)
    return {"a": rows, "b": w.transpose(2, 3, 1, 0).reshape(-1, len(w))}


def image_columns(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Make the matrices of the same convolution."""
    return columns(**image(rng, n))


def convolved_saturated(x: Array, w: Array) -> Array:
    """Saturate each pair of products to 16 bits, then add up: the numpy form is this as well."""
    sums = saturated(**columns(x, w))
    return sums.reshape(len(x), *(size - TAPS + 1 for size in x.shape[2:]), len(w)).transpose(0, 3, 1, 2)


def fresh_convolution(x: Array, w: Array) -> Candidate:
    """Call qops, which packs the weights in each call, and makes a new result."""
    found: list[Array] = []

    def run() -> None:
        found[:] = (onednn.convolution(x, w),)

    return Candidate(run, lambda: found[0], 0)


def qops_convolution(prepares: bool, isa: str, x: Array, w: Array) -> Candidate:
    """Call a prepared op of qops, or the function, which packs in each call, into the result of an earlier call."""
    out = onednn.convolution(x, w, isa=isa)
    out[...] = 0
    if prepares:
        op = onednn.Convolution(w, isa=isa)
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: onednn.convolution(x, w, isa=isa, out=out), lambda: out, 0)


def convolution_operations(inputs: int, n: int) -> int:
    """Count two operations for each multiplication; each output channel reads so many input channels."""
    return 2 * n * n * CHANNELS * inputs * TAPS * TAPS


def depthwise_image(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Make weights of one input channel for each output channel."""
    return {**image(rng, n), "w": any_codes(rng, (CHANNELS, 1, 1, TAPS, TAPS), np.int8)}


def convolved_by_channel(x: Array, w: Array) -> Array:
    """Multiply windows by weights in float64."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), w.shape[3:], axis=(2, 3))
    return np.einsum("ncyxij,cij->ncyx", windows, w[:, 0, 0].astype(float))


GEMMS = [
    product(call, dtype, rows, prepares)
    for call, dtype in ((onednn.gemm_u8s8s32, np.uint8), (onednn.gemm_s8s8s32, np.int8))
    for rows in (None, 1, 16)
    for prepares in (False, True)
]
LAYERS = [layer(kind, prepares) for kind in ("matmul", "inner_product") for prepares in (False, True)]


def of_images(
    name: str,
    inputs: Callable[[np.random.Generator, int], dict[str, Array]],
    reference: Callable[..., Array],
    judged: Callable[..., Candidate],
    channels: int = CHANNELS,
    rate: Rate = peak.EXACT,
) -> Case:
    """Make a row of the table of convolutions, with so many input channels for each output channel."""
    return Case(name, inputs, reference, judged, partial(convolution_operations, channels), rate, (14, 56), (14,))


AS_PRODUCT = of_images(
    "convolution_3x3_product", image_columns, exact, partial(qops_product, onednn.gemm_u8s8s32, True, "vnni")
)
CONVOLUTIONS = [
    of_images("convolution_3x3", image, convolved, fresh_convolution),
    of_images("convolution_3x3_planes", planes, convolved, fresh_convolution),
    of_images("convolution_3x3_out", image, convolved, partial(qops_convolution, False, "vnni")),
    of_images("convolution_3x3_prepared", image, convolved, partial(qops_convolution, True, "vnni")),
]
DEPTHWISE = of_images(
    "convolution_depthwise", depthwise_image, convolved_by_channel, partial(qops_convolution, True, "vnni"), channels=1
)
SATURATING_CONVOLUTION = of_images(
    "convolution_saturating",
    image,
    convolved_saturated,
    partial(qops_convolution, True, "avx512"),
    rate=peak.SATURATING,
)
SATURATING = Case(
    "gemm_u8s8s32_saturating",
    partial(matrices, None, np.uint8),
    saturated,
    partial(qops_product, onednn.gemm_u8s8s32, False, "avx512"),
    partial(operations, None),
    peak.SATURATING,
    (64, 256, 512),  # where no k block starts at an odd place
    QUICK,
)
PRODUCTS = [*GEMMS, *LAYERS, AS_PRODUCT, *CONVOLUTIONS, DEPTHWISE, SATURATING, SATURATING_CONVOLUTION]
PACKED = [case.name for case in (*GEMMS, *LAYERS) if case.name.endswith("_prepared")]
UNPACKED = [case.name for case in (*GEMMS, *LAYERS) if case.name not in PACKED]
PACKED.append(AS_PRODUCT.name)
