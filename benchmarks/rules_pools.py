"""`qops.rules.average_pool`: windows of 3 x 3 over images of n uint8 codes, 64 channels or fewer, by every rule."""

from collections.abc import Callable
from functools import lru_cache, partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from benchmarks.products import any_codes
from qops import rules

Array = NDArray[Any]
F32 = np.float32
SIZES, QUICK = (16, 10_000, 100_000, 1_000_000), (100_000,)
PREPARED = {"torch-nchw", "ort"}
TAPS = 3
COUNT, INVERSE = TAPS * TAPS, F32(1) / F32(TAPS * TAPS)
X_SCALE, X_ZERO, Y_SCALE, Y_ZERO = 0.031, 118, 0.029, 125
RESCALED = {"x_scale": X_SCALE, "y_scale": Y_SCALE, "y_zero_point": Y_ZERO}
GLOBAL = F32(X_SCALE) / F32(F32(Y_SCALE) * F32(COUNT))


@lru_cache(maxsize=1)
def shape_of(n: int) -> tuple[int, int, int, int]:
    """As near to a square as may be, of as many channels as leave room for windows."""
    for channels in (64, 32, 16, 8, 4, 2, 1):
        pixels = n // channels
        height = next((h for h in range(isqrt(pixels), 0, -1) if pixels % h == 0), 0)
        if n % channels == 0 and height >= TAPS:
            return 1, height, pixels // height, channels
    raise ValueError(f"no image of {n} codes has windows of {TAPS} x {TAPS}")


def image(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw an image, all codes equally likely."""
    return {"x": any_codes(rng, shape_of(n), np.uint8)}


def tap(x: Array, i: int) -> Array:
    """Give the i-th code of every window."""
    row, column = divmod(i, TAPS)
    _, height, width, _ = x.shape
    return x[:, row : height - TAPS + 1 + row, column : width - TAPS + 1 + column]


def total(x: Array) -> Array:
    """Sum up every window."""
    return sum(tap(x.astype(np.int64), i) for i in range(COUNT))


def away(x: Array) -> Array:
    """Give the means, rounded half away from 0."""
    return (total(x) + COUNT // 2) // COUNT


def inside(x: Array) -> Array:
    """Give the means of the codes less their zero point, which is added before they are rounded half to even."""
    return np.rint((total(x) - COUNT * X_ZERO).astype(F32) * INVERSE + F32(X_ZERO))


def of_values(x: Array) -> Array:
    """Give the means of the codes less their zero point, rounded half to even."""
    return np.rint((total(x) - COUNT * X_ZERO).astype(F32) * INVERSE) + X_ZERO


def ort(x: Array) -> Array:
    """Sum up the real values of the codes in float32, one tap after the other, as onnxruntime does."""
    values, found = (x.astype(F32) - F32(X_ZERO)) * F32(X_SCALE), F32(0)
    for i in range(COUNT):
        found = found + tap(values, i)
    return np.clip(np.rint(found / F32(COUNT) / F32(Y_SCALE) + F32(Y_ZERO)), 0, 255)


def ort_global(x: Array) -> Array:
    """Divide the sum in float32, and round half to even, as onnxruntime's global pool does."""
    return np.clip(np.rint((total(x) - COUNT * X_ZERO).astype(F32) * GLOBAL) + Y_ZERO, 0, 255)


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "away-stored": away,
    "torch-nchw": inside,
    "torch-nhwc": of_values,
    "ort": ort,
    "ort-global": ort_global,
}


def work(n: int) -> int:
    """Count the bytes that are read and written."""
    _, height, width, channels = shape_of(n)
    return n + (height - TAPS + 1) * (width - TAPS + 1) * channels


def blank_result(x: Array) -> Array:
    """Make the array that the codes go to."""
    _, height, width, channels = x.shape
    shape = 1, height - TAPS + 1, width - TAPS + 1, channels
    return shared(int(np.prod(shape)), np.uint8).reshape(shape)


def qops_pool(rule: str, x: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function or the prepared op."""
    out, more = blank_result(x), RESCALED if rules.AVERAGE_POOL[rule].rescales else {}
    how: dict[str, Any] = {"kernel": (TAPS, TAPS), "zero_point": X_ZERO, **more}
    if prepared:
        op = rules.AveragePool(rule, **how)
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: rules.average_pool(x, rule, out=out, **how), lambda: out, 0)


def rows(rule: str, exact: Callable[[Array], Array]) -> list[Case]:
    """Make the row of the function, and that of the prepared op for two of the rules."""
    case = Case(f"rules_avg_pool_{rule}", image, exact, partial(qops_pool, rule), work, BYTES, SIZES, QUICK)
    return both(case) if rule in PREPARED else [case]


RULES_POOLS = [case for rule, exact in REFERENCES.items() for case in rows(rule, exact)]
