"""gemmlowp's functions in fixed point, on arrays: a number has b + 1 bits, some of them in front of the point.

`bits` is b, 31 or 15. Products are rounded half up and saturate; a change of the point saturates, or rounds half away.
"""

from typing import Any

import numpy as np

from qops.tflite.arithmetic import Codes, double_high, leading_zeros, quantized, rounded_shift, wrap

__all__ = ["exp_of_negative", "inverse_sqrt", "log_from_one", "logistic", "one_over_one_plus", "quotient", "tanh"]

BARREL = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2**i) for i from -2 on, with 31 bits behind the point."""


def _constant(value: int, bits: int) -> int:
    """Give a constant of 31 bits with `bits`."""
    return value if bits == 31 else min((value + (1 << (30 - bits))) >> (31 - bits), 2**bits - 1)


def _saturated(x: Codes, bits: int) -> Codes:
    return np.minimum(np.maximum(x, -(2**bits)), 2**bits - 1)


def _moved(x: Any, left_shift: Any, bits: int = 31) -> Codes:
    """Multiply by powers of two, or by one: saturating, or rounded half away."""
    if isinstance(left_shift, int):
        return rounded_shift(x, -left_shift) if left_shift < 0 else _saturated(x << left_shift, bits)
    up = _saturated(x << np.maximum(left_shift, 0), bits)
    return np.where(left_shift < 0, rounded_shift(x, np.maximum(-left_shift, 0)), up)


def _exp_of_quarter(a: Codes, bits: int) -> Codes:
    """Give exp of numbers from -1/4 to 0, all bits behind the point: a Taylor series about -1/8."""
    x = a + (1 << (bits - 3))
    square = double_high(x, x, bits)
    cube, fourth = double_high(square, x, bits), double_high(square, square, bits)
    third = _constant(715827883, bits)
    rest = _moved(double_high(_moved(fourth, -2, bits) + cube, third, bits) + square, -1, bits)
    first = _constant(1895147668, bits)
    return _saturated(first + double_high(first, x + rest, bits), bits)


def exp_of_negative(a: Codes, whole: int, bits: int = 31) -> Codes:
    """Give exp of numbers up to 0, with `whole` bits in front of the point, as numbers with none."""
    fraction = bits - whole
    quarter = 1 << (fraction - 2)
    inner = (a & (quarter - 1)) - quarter
    made, rest = _exp_of_quarter(_moved(inner, whole, bits), bits), inner - a
    for i, factor in enumerate(BARREL):
        if whole > i - 2:
            made = np.where(rest & (1 << (fraction + i - 2)), double_high(made, _constant(factor, bits), bits), made)
    if whole > 5:
        made = np.where(a < -(1 << (fraction + 5)), 0, made)
    return np.where(a == 0, 2**bits - 1, made)


def _reciprocal(a: Codes, bits: int) -> Codes:
    """Give 2 / (1 + a) for a from 0 to 1, with two bits in front of the point: three steps of Newton's."""
    total = a + 2**bits - 1
    half = (total + 1) >> 1
    x = _constant(1515870810, bits) + double_high(half, -_constant(1010580540, bits), bits)
    for _ in range(3):
        x = x + _moved(double_high(x, (1 << (bits - 2)) - double_high(half, x, bits), bits), 2, bits)
    return x


def one_over_one_plus(a: Codes, bits: int = 31) -> Codes:
    """Give 1 / (1 + a) for a from 0 to 1, without bits in front of the point."""
    return _moved(_reciprocal(a, bits), 1, bits)


def logistic(a: Codes, whole: int, bits: int = 31) -> Codes:
    """Give 1 / (1 + exp(-a)) without bits in front of the point."""
    positive = one_over_one_plus(exp_of_negative(-np.abs(a), whole, bits), bits)
    made = np.where(a > 0, positive, 2**bits - 1 - positive)
    return np.where(a == 0, 1 << (bits - 1), made)


def tanh(a: Codes, whole: int, bits: int = 31) -> Codes:
    """Give tanh(a) without bits in front of the point."""
    part = exp_of_negative(-np.abs(a), whole + 1, bits)
    made = _moved(_reciprocal(part, bits) - (1 << (bits - 2)), 2, bits)
    return np.where(a == 0, 0, np.where(a < 0, -made, made))


def log_from_one(v: Codes) -> Codes:
    """Give log of numbers from 1 on, with 12 bits in front of the point, as numbers with 5."""
    sqrt_half, quarter = 1518500250, 536870912 >> 6
    zeros = leading_zeros(v)
    low = _moved(double_high(_moved(v, zeros - 1), sqrt_half), 1)
    low_z = _saturated(_moved(12 - zeros, 31 - 6) + quarter, 31)
    other = double_high(v, sqrt_half)
    zeros = leading_zeros(other) - 1
    high_z = _saturated(_moved(12 - zeros, 31 - 6) - quarter, 31)
    r, z = np.minimum(low, _moved(v, zeros)), np.maximum(low_z, high_z)
    p, q = rounded_shift(r + 1805811301, 1), wrap(2 * wrap(r - 1805811301))
    square = double_high(q, q)
    top = wrap(double_high(q, r) + double_high(double_high(q, square), 117049297))
    inner = wrap(1057819769 + q + double_high(127690142, square))
    bottom = wrap(double_high(p, inner) + double_high(638450708, q))
    series = double_high(_moved(top, -6), one_over_one_plus(bottom))
    return _moved(wrap(double_high(z, 1488522236) + series), 1)


def inverse_sqrt(x: Codes) -> tuple[Codes, Codes]:
    """Give 1 / sqrt(x) of integers from 0 on as a multiplier and a shift that is positive to the left."""
    given, shift = x, np.full(np.shape(x), 11, np.int64)
    while (x >= 1 << 29).any():
        shift, x = shift + (x >= 1 << 29), np.where(x >= 1 << 29, x // 4, x)
    fours = (leading_zeros(x) - 1) // 2 - 1
    shift = shift - fours
    a = (x << np.maximum(2 * fours, 0)) >> 1
    half, root = rounded_shift(a, 1), np.full(np.shape(x), 1 << 28, np.int64)
    for _ in range(5):
        cube = _moved(double_high(double_high(root, root), root), 6)
        root = _moved(double_high((1 << 28) + (1 << 27), root) - double_high(half, cube), 3)
    made = double_high(root, 1518500250)
    made, shift = np.where(shift < 0, made << np.maximum(-shift, 0), made), np.maximum(shift, 0)
    return np.where(given <= 1, 2**31 - 1, made), np.where(given <= 1, 0, -shift)


def quotient(x: Codes, by: Codes, scale: float) -> Codes:
    """Give ``x / by * scale``: x and 1 / by with as many bits as there is room for, then one multiplier.

    ``GetReciprocal``, then SaturatingRoundingDoublingHighMul twice, and RoundingDivideByPOT. Where a quotient is so
    small that this shifts by 32 or more, C does not define it: x86 shifts by that modulo 32, so codes near the zero
    point saturate, and 0 itself becomes the code after the zero point.
    """
    multiplier, shift = quantized(scale)
    x, by = np.broadcast_arrays(np.where(by < 0, -x, x), np.abs(by))
    zeros = leading_zeros(by)
    inverse = one_over_one_plus(wrap((by << zeros) - 2**31))
    room = leading_zeros(np.where(x < 0, -x - 1, x)) - 1
    near = double_high(double_high(x << room, inverse), multiplier)
    right = room + 31 - zeros - shift
    if ((right < 0) & (x != 0)).any():
        raise ValueError("its quotients are too large for the last shift")
    beyond = (near >> (right & 31)) + (near >= 0)
    return np.where(right > 31, beyond, rounded_shift(near, np.clip(right, 0, 31)))
