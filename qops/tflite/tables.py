"""Tables of a function: of all codes of 8 bits, of 513 points between which 16 bits are interpolated, of sigmoids."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.tflite.arithmetic import F32, Codes, half_away, multiply_add, wrap

__all__ = ["SIGMOIDS", "Function", "interpolated", "of_8_bits", "of_16_bits", "sigmoid_16", "tanh_16"]

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""A function of real numbers, in double; tables round its values to float32, as C's functions of floats do."""
_HIGHER = (
    "4 8 12 14 15 16 17 19 20 21 22 25 27 28 29 30 31 33 34 35 37 39 40 41 43 44 45 46 49 50 54 62 63 64 66 82 86 93 "
    "100 103 112 116 135 255"
)
"""Entries of TFLite's table of sigmoids that are one higher than the rounded values."""


def _sigmoids() -> Codes:
    values = half_away(65536 / (1 + np.exp(-np.arange(256) / 24))).astype(np.int64)
    values[[int(i) for i in _HIGHER.split()]] += 1
    values.flags.writeable = False
    return values


SIGMOIDS = _sigmoids()
"""TFLite's table of 256 sigmoids of i / 24, in 16 bits."""


def _floats(function: Function, x: NDArray[Any], kind: Any = F32) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return function(x.astype(np.float64)).astype(kind)


def of_8_bits(
    function: Function,
    x: Codes,
    x_scale: float,
    y: tuple[float, int],
    zero_point: str = "outside",
    fuses: bool = False,
) -> NDArray[Any]:
    """Give ``half_away(f(x * x_scale) / y_scale) + y_zero_point`` in float32, of codes less their zero point.

    With the zero point "inside" it is added before ``rint``; where a multiply-add `fuses`, to the product that is not
    rounded. The result may be infinite.
    """
    (y_scale, zero), values = y, _floats(function, F32(x_scale) * x.astype(F32))
    with np.errstate(all="ignore"):
        inverse = F32(1) / F32(y_scale)
        if zero_point == "inside":
            return np.rint(multiply_add(values, inverse, F32(zero), fuses))
        return np.asarray(half_away(values * inverse)) + zero


def of_16_bits(
    function: Function, x: tuple[float, int], y: tuple[float, int], kind: Any = F32, fuses: bool = False
) -> Codes:
    """Give the 513 points of a function of codes of 16 bits; x and y are scale and zero point, `kind` the steps' type.

    In the middle between two points the line is off the function; both points are moved by half of that.
    """
    (x_min, x_max), (y_min, y_max) = (
        [kind(scale) * kind(code - zero) for code in (-32768, 32767)] for scale, zero in (x, y)
    )
    step, inverse = kind(x_max - x_min) / kind(512), kind(65536) / kind(y_max - y_min)
    points = multiply_add(np.arange(513, dtype=kind), step, x_min, fuses)
    values = _floats(function, points, kind)
    samples = half_away(values[:512] * inverse)
    middle = half_away(_floats(function, points[:512] + step / kind(2), kind) * inverse)
    line = half_away(multiply_add(values[1:], inverse, samples, fuses) / kind(2))
    last = half_away(_floats(function, np.array([x_max]), kind) * inverse)
    table = np.append(samples - half_away((line - middle) / kind(2)), last)
    return np.clip(table, -32768, 32767).astype(np.int64)


def interpolated(table: Codes, x: Codes) -> Codes:
    """Give the values of codes of 16 bits by a table of 513 points."""
    at, rest = 256 + (x >> 7), x & 127
    slope = wrap(table[at + 1] - table[at], 16)
    return wrap(table[at] + ((slope * rest + 64) >> 7), 16)


def _between(near: Codes, bits: int, beyond: int) -> Codes:
    """Interpolate between two of the sigmoids, which lie 2**bits apart; `beyond` the last of them."""
    at, rest = np.minimum(near >> bits, 254), near & ((1 << bits) - 1)
    made = (SIGMOIDS[at] << bits) + rest * (SIGMOIDS[at + 1] - SIGMOIDS[at])
    return np.where(near >> bits >= 255, beyond, made)


def sigmoid_16(x: Codes) -> Codes:
    """Give the sigmoid in 15 bits of numbers with 12 bits behind the point, times 3."""
    made = _between(np.abs(x), 9, 0x7FFF << 10)
    return np.where(x >= 0, made + 512, (1 << 25) - made + 511) >> 10


def tanh_16(x: Codes) -> Codes:
    """Give the hyperbolic tangent in 15 bits of the same numbers."""
    made = _between(np.abs(x), 8, 0xFFFF << 8)
    return np.where(x >= 0, made - (1 << 23) + 128, -made + (1 << 23) + 127) >> 8
