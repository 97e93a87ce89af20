"""Ops of qops.nnlib that networks have between their products: activations, norms, sizes of images."""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, shared
from benchmarks.nnlib import A, B, centred, of_bytes
from benchmarks.products import any_codes
from qops import nnlib

Array = NDArray[Any]
CHANNELS, ROW = 16, 100
SLOPES = np.linspace(-0.5, 1, CHANNELS, dtype=np.float32)
PRELU = min(A.range[0], 0) * float(SLOPES.max()), max(A.range[1], A.range[0] * float(SLOPES.min()))
WINDOW, BIAS, ALPHA, BETA = 5, 1.0, 0.1, 0.75


def images(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw n codes, as an image of 16 channels."""
    side = max(3, int((n / CHANNELS) ** 0.5))
    return {"x": any_codes(rng, (1, side, side, CHANNELS), np.uint8)}


def rows(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw n codes, in rows of up to 100."""
    return {"x": any_codes(rng, (n,), np.uint8).reshape(-1, gcd(n, ROW))}


def tanh(x: Array) -> Array:
    """Give the real-valued codes of tanh."""
    return (np.tanh(A.scale * centred(x, A)) + 1) * 127


def shares(x: Array) -> Array:
    """Give the real-valued codes of softmax."""
    powers = np.exp(A.scale * centred(x, A))
    return 255 * powers / powers.sum(-1, keepdims=True)


def sloped(x: Array) -> Array:
    """Give the real results of PRelu."""
    real = A.scale * centred(x, A)
    return np.where(real < 0, real * SLOPES, real)


def normalized(x: Array) -> Array:
    """Give the real results of LRN."""
    real = B.scale * x
    padded = np.pad(real**2, ((0, 0),) * 3 + ((WINDOW // 2, WINDOW // 2),))
    totals = np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=3).sum(-1)
    return real / (BIAS + ALPHA * totals) ** BETA


def scaled(x: Array) -> Array:
    """Give the real results of a batch norm with one scale and one bias."""
    return A.scale * centred(x, A) * 2.5 + 1


def standardized(x: Array) -> Array:
    """Give the real results of an instance norm."""
    return (x - x.mean((1, 2), keepdims=True)) / x.std((1, 2), keepdims=True)


def enlarged(x: Array) -> Array:
    """Give the real-valued codes of an image of three times the size."""
    size = x.shape[1]
    lower = np.arange(3 * size) // 3
    upper, share = np.minimum(lower + 1, size - 1), (np.arange(3 * size) % 3 / 3)[:, np.newaxis]
    real = x[0].astype(float)
    tall = real[lower] * (1 - share[:, :, np.newaxis]) + real[upper] * share[:, :, np.newaxis]
    return np.expand_dims(tall[:, lower] * (1 - share) + tall[:, upper] * share, 0)


def padded(x: Array) -> Array:
    """Give the codes with one more on each side of each row, and a row before and after."""
    return np.pad(x, 1, constant_values=np.uint8(A.zero_point))


def codes_of(op: Any, within: float, shape_of: Any = np.shape) -> Any:
    """Make the maker of a candidate whose codes are compared."""

    def candidate(x: Array) -> Candidate:
        shape = shape_of(x)
        t, out = (x, *A.range), shared(int(np.prod(shape)), np.uint8).reshape(shape)
        return Candidate(lambda: op(t, out=out), lambda: out, within)

    return candidate


def reals_of(op: Any, within: float, ends: tuple[float, float] = A.range) -> Any:
    """Make the maker of a candidate whose real values are compared, within so many steps of its range."""

    def candidate(x: Array) -> Candidate:
        t, out = (x, *ends), shared(x.size, np.uint8).reshape(x.shape)
        found = op(t, out=out)
        step = (found.max - found.min) / 255
        return Candidate(lambda: op(t, out=out), lambda: found.min + out * step, within * step)

    return candidate


def prelu(t: Any, out: Array) -> Any:
    """Call qops."""
    return nnlib.quantized_prelu_8(t, SLOPES, out=out)


def lrn(t: Any, out: Array) -> Any:
    """Call qops."""
    return nnlib.quantized_lrn_8(t, WINDOW, BIAS, ALPHA, BETA, out=out)


def batch_norm(t: Any, out: Array) -> Any:
    """Call qops."""
    return nnlib.quantized_batch_norm_8x8p8to8(t, (np.uint8([250]), 0.0, 2.55), (np.uint8([200]), 0.0, 1.275), out=out)


def pad(t: Any, out: Array) -> Any:
    """Call qops."""
    return nnlib.quantized_pad_8(t, [(1, 1), (1, 1)], out=out)


def resize(t: Any, out: Array) -> Any:
    """Call qops."""
    return nnlib.quantized_resize_bilinear_8(t, (3 * t[0].shape[1], 3 * t[0].shape[2]), out=out)


def larger(x: Array) -> tuple[int, ...]:
    """Give the shape of `enlarged`."""
    return (1, 3 * x.shape[1], 3 * x.shape[2], CHANNELS)


NNLIB_ACTIVATIONS = [
    of_bytes("tanh_8", rows, tanh, codes_of(nnlib.quantized_tanh_8, 0.6), 2),
    of_bytes("softmax_8", rows, shares, codes_of(nnlib.quantized_softmax_8, 1), 2),
    of_bytes("prelu_8", images, sloped, reals_of(prelu, 1), 2),
    of_bytes("lrn_8", images, normalized, reals_of(lrn, 1, (0.0, 255 * B.scale)), 2),
    of_bytes("batch_norm_8x8p8to8", images, scaled, reals_of(batch_norm, 0.6), 2),
    of_bytes("instance_norm_8", images, standardized, reals_of(nnlib.quantized_instance_norm_8, 3), 2),
    of_bytes("resize_bilinear_8", images, enlarged, codes_of(resize, 1.3, larger), 10),
    of_bytes("pad_8", rows, padded, codes_of(pad, 0, lambda x: (x.shape[0] + 2, x.shape[1] + 2)), 2),
]
