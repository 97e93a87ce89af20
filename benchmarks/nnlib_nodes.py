"""Fused nodes of qops.nnlib: a convolution, a bias and a requantization into a given range, or one that they find."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import nnlib as data
from benchmarks import peak
from benchmarks.case import Candidate, Case, both, shared
from benchmarks.nnlib import A, B
from benchmarks.products import CHANNELS, TAPS, any_codes
from qops import nnlib
from qops.affine import Affine

Array = NDArray[Any]
WITHIN = 0.51  # of a code: one rounding, and a bias of float32
NO_BIAS = np.zeros(CHANNELS, np.int32), -1.0, 1.0


def results(w: Array) -> Affine:
    """Give the steps of the results: most sums are within two deviations, 73 * 73 steps for each root of a product."""
    return Affine(4 * A.scale * B.scale * 73**2 * math.sqrt(w.size // CHANNELS) / 255, 128, "u8")


def codes(sums: Callable[..., Array], x: Array, w: Array) -> Array:
    """Give the real-valued codes."""
    y = results(w)
    return np.clip(sums(x, w) * (A.scale * B.scale / y.scale) + y.zero_point, 0, 255)


def by_channel(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw an image of n x n pixels, and a filter for each channel."""
    return {**data.filtered(rng, n), "w": any_codes(rng, (TAPS, TAPS, CHANNELS, 1), np.uint8)}


def convolved_by_channel(x: Array, w: Array) -> Array:
    """Multiply windows by filters in float64; padding is a real 0."""
    padded = np.pad(data.centred(x, A), ((0, 0), (1, 1), (1, 1), (0, 0)))
    moved = np.lib.stride_tricks.sliding_window_view(padded, (TAPS, TAPS), axis=(1, 2))
    return np.einsum("nyxcij,ijc->nyxc", moved, data.centred(w[..., 0], B))


def qops_node(kind: Any, function: Any, x: Array, w: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the filters in each call, or the prepared op."""
    t, out = (x, *A.range), shared(x.size, np.uint8).reshape(x.shape)
    given = (w, *B.range), NO_BIAS, (1, 1), "SAME", *results(w).range
    if prepared:
        op = kind(*given)
        return Candidate(lambda: op(t, out), lambda: out, WITHIN)
    return Candidate(lambda: function(t, *given, out=out), lambda: out, WITHIN)


def qops_finding(kind: Any, function: Any, x: Array, w: Array, prepared: bool = False) -> Candidate:
    """Call qops without a range: the node begins with a guess, and passes over its sums until they fit."""
    t, out = (x, *A.range), shared(x.size, np.uint8).reshape(x.shape)
    given, step = ((w, *B.range), NO_BIAS, (1, 1), "SAME"), A.scale * B.scale
    op = kind(*given)
    range_of = op(t, out)

    def result() -> Array:
        return (range_of.min + out * range_of.scale) / step

    within = WITHIN * float(range_of.scale) / step
    return Candidate((lambda: op(t, out)) if prepared else (lambda: function(t, *given, out=out)), result, within)


NODES = [
    *both(
        Case(
            "nnlib_supernode",
            data.filtered,
            partial(codes, data.convolved),
            partial(qops_node, nnlib.Supernode, nnlib.supernode),
            data.operations,
            peak.EXACT,
            (14, 56),
            (14,),
        )
    ),
    *both(
        Case(
            "nnlib_depthwise_supernode",
            by_channel,
            partial(codes, convolved_by_channel),
            partial(qops_node, nnlib.DepthwiseSupernode, nnlib.depthwise_supernode),
            lambda n: data.operations(n) // CHANNELS,
            peak.EXACT,
            (14, 56),
            (14,),
        )
    ),
    *both(
        Case(
            "nnlib_supernode_free",
            data.filtered,
            data.convolved,
            partial(qops_finding, nnlib.Supernode, nnlib.supernode),
            data.operations,
            peak.EXACT,
            (4, 14, 56),
            (14,),
        )
    ),
    *both(
        Case(
            "nnlib_depthwise_supernode_free",
            by_channel,
            convolved_by_channel,
            partial(qops_finding, nnlib.DepthwiseSupernode, nnlib.depthwise_supernode),
            lambda n: data.operations(n) // CHANNELS,
            peak.EXACT,
            (4, 14, 56),
            (14,),
        )
    ),
]
