"""What all systems draw: codes, scales and values that make many ties, and the pair of calls that are compared."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TYPES = (np.uint8, np.int8)
LENGTHS = (1, 2, 3, 5, 8, 14, 16, 17, 31, 33, 64, 65, 100, 130)


class Known(NamedTuple):
    """What the documentation of qops says of an op that need not give the bits of the system."""

    reason: str
    holds: Callable[[list[Any], list[Any]], bool]
    """Whether the arrays of the system and of qops are as near as that."""


class Pair(NamedTuple):
    """One call: of the system and of qops, which must give the same arrays, or both refuse.

    If there is `fed`, both take a list of such, and give the results of all: then it is as many calls.
    """

    system: Callable[..., Any]
    qops: Callable[..., Any]
    arguments: dict[str, Any]
    models_refusals: bool = True
    """Whether qops refuses what the system does. A rule is a formula, which knows nothing of the limits of a system."""
    known: Known | None = None
    """How far the arrays may differ, for a reason that qops gives."""
    unmodelled: str = ""
    """A regular expression: with such an error qops says that it does not model what the system runs."""
    fed: dict[str, Any] | None = None
    """The data by name, besides which a model may take others like them."""

    def feeds(self, count, rng):
        """The data of so many calls; none if they cannot be others."""
        return [self.fed, *({name: like(rng, x) for name, x in self.fed.items()} for _ in range(count - 1))]


def like(rng, x):
    """Other data within the same limits: any codes, or the same elsewhere; floats negative, twice or half as large."""
    if x.dtype.kind in "iu" and rng.random() < 0.5:
        return rng.permutation(x.ravel()).reshape(x.shape)
    if x.dtype.kind == "f":
        return (rng.permutation(x.ravel()) * x.dtype.type(pick(rng, [1, -1, 2, 0.5]))).reshape(x.shape)
    return rng.integers(x.min(), x.max(), x.shape, x.dtype, endpoint=True) if x.size else x


def of_rule(system, qops, arguments, fed=None):
    """One call of the system and of a rule of qops."""
    return Pair(system, qops, arguments, models_refusals=False, fed=fed)


def pick(rng, values):
    """One of a sequence, as it is."""
    return values[rng.integers(len(values))]


def length(rng, most=200):
    """A length of an axis."""
    return pick(rng, [n for n in LENGTHS if n <= most])


def scale(rng, largest=22):
    """A float32 scale: most are small integers times a power of two, so that quotients of them make ties."""
    mantissa = pick(rng, [1, 1, 1, 3, 5, 7, 0.1, 0.03]) if rng.random() < 0.7 else rng.uniform(0.5, 2)
    return float(np.float32(mantissa * 2.0 ** (rng.integers(-8, 5) if rng.random() < 0.98 else largest)))


def result_scale(rng, *scales):
    """The scale of a result: in a simple proportion to the product of the operands' scales, or near it, or any."""
    if rng.random() < 0.08:
        return scale(rng)
    ratio = pick(rng, [0.5, 1, 2, 3, 5, 6, 10, 64, 96]) if rng.random() < 0.7 else rng.uniform(0.5, 100)
    return float(np.float32(np.prod(np.float32(scales)) * ratio))


def zero_point(rng, dtype):
    """A code of real 0: an end, the middle, or any; it may be odd, which ties inside of a rounding show."""
    row = np.iinfo(dtype)
    return int(pick(rng, [row.min, row.max, 0, (row.min + row.max + 1) // 2, rng.integers(row.min, row.max + 1)]))


def codes(rng, shape, dtype, near=None):
    """Codes of the whole type, or few of them, around a zero point; now and then most are the ends of the type.

    Two lowest codes of data beside two of weights leave 16 bits, two highest ones saturate them.
    """
    row = np.iinfo(dtype)
    if rng.random() < 0.1:
        others = rng.integers(row.min, row.max, shape, dtype, endpoint=True)
        ends = np.where(rng.random(shape) < 0.8, row.min, row.max)
        return np.asarray(np.where(rng.random(shape) < 0.8, ends, others), dtype)
    if near is None or rng.random() < 0.4:
        return rng.integers(row.min, row.max, shape, dtype, endpoint=True)
    return np.clip(near + rng.integers(-9, 10, shape), row.min, row.max).astype(dtype)


def moves(rng, kernel, symmetric=False):
    """Strides of a window, and padding above, on the left, below and on the right: none, or less than the kernel."""
    before, after = ([int(rng.integers(0, k // 2 + 1 if symmetric else k)) for k in kernel] for _ in "ba")
    pads = [0] * 4 if rng.random() < 0.5 else [*before, *(before if symmetric else after)]
    return [int(rng.integers(1, 4)) for _ in kernel], pads


def values(rng, shape, step):
    """Float32 values: multiples of half a step, which are ties, some of their neighbours, and others."""
    ties = (rng.integers(-300, 300, shape) * np.float32(step / 2)).astype(np.float32)
    near = np.nextafter(ties, np.float32(pick(rng, [np.inf, -np.inf])))
    others = (rng.normal(0, 100, shape) * step).astype(np.float32)
    return np.where(rng.random(shape) < 0.7, ties, np.where(rng.random(shape) < 0.5, near, others)).astype(np.float32)


def quantized(rng, shape, dtype):
    """Codes with a scale and a zero point: what an op of affine tensors takes."""
    zero = zero_point(rng, dtype)
    return codes(rng, shape, dtype, zero), scale(rng), zero


def operands(rng, shape, dtype, of_product):
    """Two arrays of codes, and the scales and zero points of both and of the result, which are of one size in most."""
    (a, sa, za), (b, sb, zb), zy = quantized(rng, shape, dtype), quantized(rng, shape, dtype), zero_point(rng, dtype)
    if not of_product and rng.random() < 0.9:
        sb = result_scale(rng, sa) if rng.random() < 0.5 else float(np.float32(sa * rng.uniform(0.1, 10)))
    sy = result_scale(rng, sa, sb) if of_product else result_scale(rng, max(sa, sb))
    return a, b, affine("a", sa, za) | affine("b", sb, zb) | affine("y", sy, zy)


def affine(prefix, s, z):
    """Scale and zero point as arguments of qops."""
    return {f"{prefix}_scale": s, f"{prefix}_zero_point": z}
