"""Pools of qops.nnlib and qops.tensorflow: images of n codes, windows of 3 x 3, or of 2 x 2 side by side."""

from functools import partial
from math import gcd, isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.nnlib import QUICK, SIZES, A
from benchmarks.products import any_codes
from qops import nnlib, tensorflow

Array = NDArray[Any]


class Pool(NamedTuple):
    """Square windows, padded as "SAME" does, over images of so many channels, or of fewer if n codes are too few."""

    taps: int
    step: int
    channels: int

    def image(self, rng: np.random.Generator, n: int) -> dict[str, Array]:
        """Draw one image of n codes, as near to a square as may be."""
        channels = gcd(n, self.channels)
        height = next(h for h in range(isqrt(n // channels), 0, -1) if n // channels % h == 0)
        return {"x": any_codes(rng, (1, height, n // channels // height, channels), np.uint8)}

    def shape(self, x: Array) -> tuple[int, ...]:
        """Give the shape of the result."""
        return (1, *(-(-size // self.step) for size in x.shape[1:3]), x.shape[3])

    def pads(self, x: Array) -> list[tuple[int, int]]:
        """Count the pixels of padding before and behind the image, down and across."""
        lacking = [max(0, (-(-size // self.step) - 1) * self.step + self.taps - size) for size in x.shape[1:3]]
        return [(pixels // 2, pixels - pixels // 2) for pixels in lacking]

    def windows(self, x: Array, padding: float) -> list[Array]:
        """Give the pixels of each window, one tap after the other."""
        padded = np.pad(x.astype(float), ((0, 0), *self.pads(x), (0, 0)), constant_values=padding)
        _, height, width, _ = self.shape(x)
        down, across = (height - 1) * self.step + 1, (width - 1) * self.step + 1
        taps = range(self.taps)
        return [padded[:, i : i + down : self.step, j : j + across : self.step] for i in taps for j in taps]

    def highest(self, x: Array) -> Array:
        """Give the highest code of each window."""
        return np.max(self.windows(x, -1.0), axis=0)

    def mean(self, x: Array) -> Array:
        """Give the mean of each window, without padding."""
        return np.nanmean(self.windows(x, np.nan), axis=0)

    def work(self, n: int) -> int:
        """Count the bytes that are read and written."""
        return n + n // self.step**2

    def of_nnlib(self, op: Any, within: float, x: Array) -> Candidate:
        """Call qops."""
        t, shape = (x, *A.range), self.shape(x)
        out, taps, step = shared(int(np.prod(shape)), np.uint8).reshape(shape), (self.taps,) * 2, (self.step,) * 2
        return Candidate(lambda: op(t, taps, step, "SAME", out=out), lambda: out, within)

    def of_tensorflow(self, op: Any, within: float, x: Array) -> Candidate:
        """Call qops."""
        t, shape, taps, step = (x, *A.range), self.shape(x), (1, self.taps, self.taps, 1), (1, self.step, self.step, 1)
        out = shared(int(np.prod(shape)), np.uint8).reshape(shape)
        return Candidate(lambda: op(t, taps, step, "SAME", out=out), lambda: out, within)


DENSE, HALVES, COLOURS = Pool(3, 1, 64), Pool(2, 2, 64), Pool(3, 1, 3)
MAX_POOLS = {"nnlib_max_pool_8": DENSE, "nnlib_max_pool_8_2x2": HALVES, "nnlib_max_pool_8_rgb": COLOURS}
AVG_POOLS = {name.replace("max", "avg"): pool for name, pool in MAX_POOLS.items()}


def case(name: str, pool: Pool, reference: Any, judged: Any) -> Case:
    """Make a row of the table."""
    sizes, quick = (SIZES, QUICK) if pool.channels == 64 else ((9_999, 99_999, 999_999), (99_999,))
    return Case(name, pool.image, reference, judged, pool.work, BYTES, sizes, quick)


POOLS = [
    *(case(n, p, p.highest, partial(p.of_nnlib, nnlib.quantized_max_pool_8, 0)) for n, p in MAX_POOLS.items()),
    *(case(n, p, p.mean, partial(p.of_nnlib, nnlib.quantized_avg_pool_8, 0.57)) for n, p in AVG_POOLS.items()),
    case("tensorflow_max_pool", DENSE, DENSE.highest, partial(DENSE.of_tensorflow, tensorflow.quantized_max_pool, 0)),
    case("tensorflow_avg_pool", DENSE, DENSE.mean, partial(DENSE.of_tensorflow, tensorflow.quantized_avg_pool, 1.0)),
]
MAX_POOLS["tensorflow_max_pool"] = AVG_POOLS["tensorflow_avg_pool"] = DENSE
