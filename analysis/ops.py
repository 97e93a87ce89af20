"""The front door's ops of more or fewer than two equal operands: layers, pools, joins, functions; beside float64."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import qops
from analysis.systems import Range

Reals = NDArray[np.float64]
Tried = tuple[qops.QTensor, Reals]
"""What an op gave, and what it should be."""


class Op(NamedTuple):
    """An op of the front door; `run` tries it on codes that `rng` draws, of as many ranges as there are `operands`."""

    group: str
    name: str
    claim: str  # its key in claims.toml
    bound: float | None  # in LSB
    run: Callable[..., Tried]
    operands: int = 1


def drawn(rng: np.random.Generator, shape: tuple[int, ...], ends: Range, dtype: str = "uint8") -> qops.QTensor:
    """Draw codes of a range, its lowest and its highest among them."""
    info = np.iinfo(dtype)
    codes = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    codes.flat[0], codes.flat[-1] = info.min, info.max
    return qops.QTensor(codes, *ends)


def channels(rng: np.random.Generator, ends: Range, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A range for each channel: a part of `ends`, from all of it to a thousandth."""
    part = 10.0 ** -rng.uniform(0, 3, count)
    return np.float32(ends[0] * part), np.float32(ends[1] * part)


def placed(ends: Range, top: float) -> Range:
    """The range moved and stretched so that its widest end is at `top`, on its own side of 0."""
    part = top / max(map(abs, ends))
    return float(np.float32(ends[0] * part)), float(np.float32(ends[1] * part))


def tried(t: qops.QTensor, exact: Reals) -> Tried:
    """The tensor that an op gave, and the exact values, cut to its range."""
    return t, exact.clip(t.min, t.max)


def _matmul(dtype: str) -> Callable[..., Tried]:
    def run(rng: np.random.Generator, a: Range, b: Range) -> Tried:
        x, (lo, hi) = drawn(rng, (24, 40), a), channels(rng, b, 8)
        w = qops.QTensor(rng.integers(-128, 128, (40, 8)).astype(np.int8), lo[None], hi[None])
        exact = qops.values(x) @ qops.values(w)
        bias = np.float32(rng.normal(0, np.abs(exact).max() / 4, 8))
        return tried(qops.matmul(x, w, bias, dtype=dtype), exact + bias)

    return run


def _conv2d(dtype: str) -> Callable[..., Tried]:
    def run(rng: np.random.Generator, a: Range, b: Range) -> Tried:
        x, (lo, hi) = drawn(rng, (1, 10, 10, 4), a), channels(rng, b, 6)
        w = qops.QTensor(
            rng.integers(-128, 128, (3, 3, 4, 6)).astype(np.int8), *(e.reshape(1, 1, 1, 6) for e in (lo, hi))
        )
        around = np.pad(qops.values(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2))
        exact = np.einsum("nijckl,klco->nijo", windows, qops.values(w))
        bias = np.float32(rng.normal(0, np.abs(exact).max() / 4, 6))
        top = float(np.float32(np.abs(exact).max() / 2))
        t = qops.conv2d(x, w, bias, padding="same", dtype=dtype, clip=(0, top))
        return tried(t, (exact + bias).clip(0, top))

    return run


def _pool(op: Callable[..., qops.QTensor], pick: Callable[..., Reals]) -> Callable[..., Tried]:
    def run(rng: np.random.Generator, a: Range) -> Tried:
        x = drawn(rng, (2, 12, 12, 5), a)
        windows = np.lib.stride_tricks.sliding_window_view(qops.values(x), (3, 3), axis=(1, 2))
        return tried(op(x, 3, stride=1), pick(windows, axis=(-2, -1)))

    return run


def _concat(rng: np.random.Generator, a: Range, b: Range) -> Tried:
    x, y = drawn(rng, (20, 30), a), drawn(rng, (20, 50), b, "int8")
    return tried(qops.concat([x, y]), np.concatenate([qops.values(x), qops.values(y)], axis=1))


def _pad(rng: np.random.Generator, a: Range) -> Tried:
    x, value = drawn(rng, (20, 30), a), float(rng.uniform(*a))
    return tried(qops.pad(x, 3, value), np.pad(qops.values(x), 3, constant_values=value))


def _lookup(rng: np.random.Generator, a: Range) -> Tried:
    def tanh(values: Reals) -> Reals:
        return np.tanh(3 * values / max(map(abs, a)))

    x = drawn(rng, (40, 40), a)
    return tried(qops.lookup(x, tanh), tanh(qops.values(x)))


def _softmax(rng: np.random.Generator, a: Range) -> Tried:
    x = drawn(rng, (60, 20), a)
    powers = np.exp(qops.values(x) - qops.values(x).max(axis=1, keepdims=True))
    return tried(qops.softmax(x), powers / powers.sum(axis=1, keepdims=True))


def _relu(rng: np.random.Generator, a: Range) -> Tried:
    x, limit = drawn(rng, (40, 40), a), max(0.0, float(np.float32(0.6 * a[1])))
    return qops.relu(x, limit), qops.values(x).clip(0, limit)


def _dequantize(rng: np.random.Generator, a: Range) -> Tried:
    x = drawn(rng, (40, 40), a)
    return x, np.float64(qops.dequantize(x))  # how far the codes are from these, as floats have no LSB


def _requantize_8(rng: np.random.Generator, a: Range, b: Range) -> Tried:
    x = drawn(rng, (40, 40), a)
    return tried(qops.requantize(x, *placed(b, 0.7 * max(map(abs, a))), dtype="int8"), qops.values(x))


def _requantize_channels(rng: np.random.Generator, a: Range, b: Range) -> Tried:
    tops = np.float32(max(map(abs, a)) * 10.0 ** -rng.uniform(0, 2, 6))
    x = qops.QTensor(rng.integers(-(2**31), 2**31, (200, 6)).astype(np.int32), -tops[None], tops[None])
    ends = [placed(b, top) for top in tops * rng.uniform(0.5, 1, 6)]  # far from 0 in all channels where b is
    return tried(qops.requantize(x, *np.float32(ends).T[:, None]), qops.values(x))


def _quantize_channels(rng: np.random.Generator, a: Range) -> Tried:
    lo, hi = channels(rng, a, 6)
    x = np.float32(rng.uniform(lo, hi, (200, 6)))
    return tried(qops.quantize(x, axis=1, dtype="int8", symmetric=True), x.astype(np.float64))


LAYERS, POOLS, JOINS, FUNCTIONS = "layers, a range per channel", "pools", "concat and pad", "functions"
CODES = "codes per channel, and back"
OPS = (
    Op(LAYERS, "matmul into int32", "matmul_32", qops.bound("matmul"), _matmul("int32"), 2),
    Op(LAYERS, "matmul into uint8", "matmul_8", qops.bound("matmul", "uint8"), _matmul("uint8"), 2),
    Op(LAYERS, "conv2d into int32", "conv2d_32", qops.bound("conv2d"), _conv2d("int32"), 2),
    Op(LAYERS, "conv2d into uint8", "conv2d_8", qops.bound("conv2d", "uint8"), _conv2d("uint8"), 2),
    Op(POOLS, "max_pool", "max_pool", 0.0, _pool(qops.max_pool, np.max)),
    Op(POOLS, "avg_pool", "avg_pool", qops.bound("avg_pool"), _pool(qops.avg_pool, np.mean)),
    Op(JOINS, "concat", "concat", qops.bound("concat"), _concat, 2),
    Op(JOINS, "pad", "pad", qops.bound("pad"), _pad),
    Op(FUNCTIONS, "lookup", "lookup", qops.bound("lookup"), _lookup),
    Op(FUNCTIONS, "softmax", "softmax", qops.bound("softmax"), _softmax),
    Op(FUNCTIONS, "relu", "relu", qops.bound("relu"), _relu),
    Op(CODES, "quantize", "quantize_channels", qops.bound("quantize"), _quantize_channels),
    Op(CODES, "requantize 32 to 8", "requantize_channels", qops.bound("requantize"), _requantize_channels, 2),
    Op(CODES, "requantize 8 to 8", "requantize_8", qops.bound("requantize"), _requantize_8, 2),
    Op(CODES, "dequantize", "dequantize", None, _dequantize),
)
