"""The supernodes of nnlib and its pool of squares, each beside exact arithmetic on the values of its codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.ops import Reals, Tried, drawn, tried
from analysis.systems import Range
from qops import QTensor, nnlib, values

__all__ = [
    "FULL",
    "MIDDLE",
    "NARROW",
    "POSITIVE",
    "connected",
    "convolved",
    "convolved_by_channel",
    "first_layer",
    "of_two_channels",
    "pooled",
    "summed_by_channel",
    "transposed",
]

SIDE, DEPTH, OUT = 8, 8, 8
FULL, NARROW = 4.0, 0.25  # deviations of the results that the range of the output holds
MIDDLE: Range = (-128 / 127, 1.0)  # of weights with 0 on code 128
POSITIVE: Range = (0.0, 1.0)
Run = Callable[[np.random.Generator, Range], Tried]


def _windows(x: Reals, taps: int) -> NDArray[Any]:
    """Give (N, H, W, C, taps, taps)."""
    return np.lib.stride_tricks.sliding_window_view(x, (taps, taps), axis=(1, 2))


def _bias(rng: np.random.Generator, exact: Reals) -> QTensor:
    top = float(np.float32(np.abs(exact).max()))
    return QTensor(rng.integers(-(2**30), 2**30, exact.shape[-1]).astype(np.int32), -top, top)


def _run(rng: np.random.Generator, exact: Reals, node: Callable[..., QTensor], deviations: float = FULL) -> Tried:
    """Run a node in a range of so many deviations around 0, which is on code 128."""
    bias = _bias(rng, exact)
    wanted = exact + values(bias)
    top = float(np.float32(deviations * wanted.std()))
    return tried(node(bias, top * MIDDLE[0], top), wanted)


def convolved(arch: Any, ends: Range, deviations: float) -> Run:
    """Try a supernode whose weights have the range `ends`, and whose results one of so many deviations."""

    def run(rng: np.random.Generator, of_x: Range) -> Tried:
        x, w = drawn(rng, (1, SIDE, SIDE, DEPTH), of_x), drawn(rng, (3, 3, DEPTH, OUT), ends)
        exact = np.einsum("nyxcij,ijco->nyxo", _windows(values(x), 3), values(w))

        def node(bias: QTensor, *of_y: float) -> QTensor:
            return nnlib.supernode(x, w, bias, (1, 1), "VALID", *of_y, arch=arch)

        return _run(rng, exact, node, deviations)

    return run


def first_layer(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try an input supernode."""
    x, w = drawn(rng, (1, SIDE, SIDE, 3), of_x), drawn(rng, (3, 3, 3, OUT), MIDDLE)
    exact = np.einsum("nyxcij,ijco->nyxo", _windows(values(x), 3), values(w))
    return _run(rng, exact, lambda *of_y: nnlib.input_supernode(x, w, of_y[0], (1, 1), "VALID", *of_y[1:]))


def of_two_channels(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try the node of two channels and two filters."""
    x, w = drawn(rng, (1, SIDE, SIDE, 2), of_x), drawn(rng, (3, 3, 2, 2), MIDDLE)
    exact = np.einsum("nyxcij,ijco->nyxo", _windows(values(x), 3), values(w))
    return _run(rng, exact, lambda *of_y: nnlib.supernode3322(x, w, of_y[0], "VALID", *of_y[1:]))


def transposed(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try a transposed convolution that makes four pixels of each one."""
    x, w = drawn(rng, (1, SIDE, SIDE, DEPTH), of_x), drawn(rng, (OUT, 2, 2, DEPTH), MIDDLE)
    exact = np.einsum("nyxc,oijc->nyixjo", values(x), values(w)).reshape(1, 2 * SIDE, 2 * SIDE, OUT)

    def node(bias: QTensor, *of_y: float) -> QTensor:
        size = 2 * SIDE, 2 * SIDE
        return nnlib.quantized_transpose_conv2d_8x8p32to8(x, w, bias, (2, 2), (0, 0, 0, 0), size, *of_y)

    return _run(rng, exact, node)


def convolved_by_channel(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try a depthwise supernode."""
    x, w = drawn(rng, (1, SIDE, SIDE, DEPTH), of_x), drawn(rng, (3, 3, DEPTH, 1), MIDDLE)
    exact = np.einsum("nyxcij,ijc->nyxc", _windows(values(x), 3), values(w)[..., 0])
    return _run(rng, exact, lambda *of_y: nnlib.depthwise_supernode(x, w, of_y[0], (1, 1), "VALID", *of_y[1:]))


def summed_by_channel(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try the sums of a depthwise convolution, in int32."""
    x, w = drawn(rng, (1, SIDE, SIDE, DEPTH), of_x), drawn(rng, (3, 3, DEPTH, 1), MIDDLE)
    exact = np.einsum("nyxcij,ijc->nyxc", _windows(values(x), 3), values(w)[..., 0])
    return tried(nnlib.quantized_depthwise_conv2d_8x8to32(x, w, (1, 1), "VALID"), exact)


def connected(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try a fully connected layer."""
    x, w = drawn(rng, (1, 1, 60, 64), of_x), drawn(rng, (1, 1, 64, 32), MIDDLE)
    return _run(rng, values(x) @ values(w)[0, 0], lambda *of_y: nnlib.super_fc(x, w, *of_y))


def pooled(rng: np.random.Generator, of_x: Range) -> Tried:
    """Try the root of the mean of squares of 3 x 3 pixels."""
    x = drawn(rng, (1, SIDE, SIDE, DEPTH), of_x)
    exact = np.sqrt((_windows(values(x), 3) ** 2).mean((4, 5)))
    return tried(nnlib.quantized_l2_pool_8(x, (3, 3), (1, 1), "VALID"), exact)
