"""nnlib's square root, reciprocal and quotient of uint8 codes, all by tables of the 256 codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.channels import look_up_channels
from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import U8, into, operand, operands, output, put, shown, span
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_div_8", "quantized_recip_8", "quantized_sqrt_8"]

F32 = np.float32
CODES = np.arange(256)
TABLE_SIZE = 256  # from so many codes on, the original makes a table
EPSILON = F32(1e-6)


def quantized_sqrt_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedSqrt_8: ``round(sqrt(255 * q))``, in the range ``(sqrt(min), sqrt(max))``.

    Parameters
    ----------
    t : uint8 tensor
        In a range that begins at 0 or above.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a min below 0, which nnlib refuses.

    Notes
    -----
    Source: ``sqrt_execute``, ``op_sqrt.c``.

    A root is off by 0.50 LSB at most, in ranges from 0 on.

    **Hazards.** The table is right only in ranges that begin at 0, others are no error:

    >>> for low in (0.0, 1.0):
    ...     t = qops.nnlib.quantized_sqrt_8((np.array([64], np.uint8), low, 4.0))
    ...     real = low + 64 * (4.0 - low) / 255
    ...     round(float(t.min + t.data.item() * t.scale), 2), round(real**0.5, 2)
    (1.0, 1.0)
    (1.5, 1.32)

    Examples
    --------
    >>> qops.nnlib.quantized_sqrt_8((np.array([0, 1, 64, 255], np.uint8), 0.0, 4.0))
    QTensor(np.uint8([0, 16, 128, 255]), 0.0, 2.0)
    """
    codes, lo, hi = operand(t, "t", U8)
    if lo < 0:
        raise bad_value("t", f"the range {(lo, hi)} begins below 0, which the original refuses")
    result = output(out, U8, codes)
    look_up_bytes(codes, np.rint(np.sqrt(255 * CODES)).astype(np.uint8), result)  # no root is a tie
    return tensor(result, float(np.sqrt(F32(lo))), float(np.sqrt(F32(hi))))


def quantized_recip_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedRecip_8: ``1 / x``, into the range of the reciprocals.

    With ``x = min + q * step``, in float32: ``c = half_away((1 / x - out_min) / out_step)``. The range is that of the
    reciprocals, and of 0 if all have one sign. Of fewer than 256 elements it is that of the codes that occur. From 256
    elements on, it is that of all codes from the end of the range to the code that occurs next to 0, on both sides.

    Parameters
    ----------
    t : uint8 tensor
        At least one element.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `t`, in the range found.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); no elements; a 0 among the elements, or from 256 elements on the
        rounded code of 0, for which nnlib divides by 0 or reads what is in memory; 256 elements or more in a range that
        holds no 0, for which nnlib makes no table; an output range beyond float32.

    Notes
    -----
    Source: ``recip_execute``, ``op_recip.c``.

    A reciprocal is off by 0.50 LSB at most.

    **Hazards.** One element next to 0 takes the whole range, and the others become one code:

    >>> t = qops.nnlib.quantized_recip_8((np.array([1, 100, 200], np.uint8), 0.0, 25.5))
    >>> t.data, round(t.max, 2)
    (array([255,   3,   1], dtype=uint8), 10.0)

    How many elements there are picks what the range is made of. From 256 on it holds the reciprocal of min, whether or
    not that occurs:

    >>> for n in (255, 256):
    ...     t = qops.nnlib.quantized_recip_8((np.full(n, 200, np.uint8), -12.8, 12.7))
    ...     print(t.data[0], round(t.min, 3), round(t.max, 3))
    255 0.0 0.139
    255 -0.078 0.139

    Examples
    --------
    >>> qops.nnlib.quantized_recip_8((np.array([10, 20, 40], np.uint8), 0.0, 255.0)).data
    array([255, 128,  64], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    if codes.size == 0:
        raise bad_value("t", "has no elements, so there is no range of the result")
    used = np.unique(codes)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        values = F32(lo) + CODES.astype(F32) * (F32(F32(hi) - F32(lo)) / F32(255))
        among = used if codes.size < TABLE_SIZE else _table_codes(used, F32(lo), F32(hi))
        inverses = F32(1) / values
        if (values[used] == 0).any():
            raise bad_value("t", f"holds the code {used[values[used] == 0][0]}, a 0 in the range {(lo, hi)}")
        seen = inverses[among[values[among] != 0]]
        low = 0.0 if seen.min() > 0 else float(seen.min())
        high = 0.0 if seen.max() < 0 else float(seen.max())
        step = (F32(high) - F32(low)) / F32(255)
        places = (inverses - F32(low)) / step
    if not (np.isfinite([low, high]).all() and np.isfinite(step)):
        raise bad_value("t", f"the reciprocals of the range {(lo, hi)} are beyond float32")
    table = np.zeros(256, np.uint8)
    table[used] = _half_away(places[used])
    result = output(out, U8, codes)
    look_up_bytes(codes, table, result)
    return tensor(result, low, high)


def quantized_div_8(
    a: TensorLike,
    b: TensorLike,
    min: float | None = None,
    max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedDiv_8: ``a / b``, with one divisor, or one for each channel.

    With one divisor and no range given, only the range changes. It is divided by b, and the codes stay; for a b below 0
    the codes become ``255 - q``, and the ends are exchanged. Otherwise each result is the `quantize_uint8` of the
    float32 quotient in the range, which is given, or that of all quotients of the ends of a, and of 0 if both its ends
    have one sign. A divisor of 0 counts as 1e-6.

    Parameters
    ----------
    a : uint8 tensor
        Channels last.
    b : uint8 tensor
        One divisor, or one for each channel, along the last axis.
    min, max : float, optional
        The range of the result: both or none.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); one of `min` and `max` alone; another number of divisors; one
        divisor of 0 with a range given, which nnlib refuses; an output range beyond float32. Divisors for each image of
        a batch are not modelled.

    Notes
    -----
    Source: ``div_execute``, ``op_div.c``. What a divisor of 0 becomes is known from this source only.

    A quotient is off by 0.50 LSB at most.

    **Hazards.** One small divisor widens the range for all channels:

    >>> a = np.array([[200, 200]], np.uint8), 0.0, 255.0
    >>> for divisors in ([100, 50], [100, 1]):
    ...     t = qops.nnlib.quantized_div_8(a, (np.uint8(divisors), 0.0, 255.0))
    ...     (t.data * t.scale).round(2).tolist()  # the first is 2
    [[2.0, 4.0]]
    [[2.0, 200.0]]

    A divisor of 0 is no error:

    >>> qops.nnlib.quantized_div_8((np.array([1], np.uint8), 0.0, 255.0), (np.array([0], np.uint8), 0.0, 255.0)).max
    255000000.0

    Examples
    --------
    >>> t = qops.nnlib.quantized_div_8(
    ...     (np.array([0, 100], np.uint8), 0.0, 255.0), (np.array([50], np.uint8), 0.0, 255.0)
    ... )
    >>> t.data, round(t.max, 2)
    (array([  0, 100], dtype=uint8), 5.1)
    """
    if (min is None) != (max is None):
        raise bad_value("min, max", f"expected both or none, got {shown(min)} and {shown(max)}")
    ends = None if min is None else span(min, max)
    (codes, lo, hi), (divisors, b_lo, b_hi) = operands(a, b, "a", "b", U8)
    if (
        codes.ndim == 0
        or divisors.size not in (1, codes.shape[-1])
        or (divisors.ndim and divisors.shape[-1] != divisors.size)
    ):
        raise bad_value(
            "b", f"expected one divisor, or one for each channel of a, got shapes {divisors.shape}, {codes.shape}"
        )
    by = F32(b_lo) + divisors.ravel().astype(F32) * (F32(F32(b_hi) - F32(b_lo)) / F32(255))
    if divisors.size == 1 and ends is not None and by[0] == 0:
        raise bad_value("b", "a divisor of 0, which the original refuses where a range is given")
    by = np.where(by == 0, EPSILON, by)
    with np.errstate(over="ignore"):
        quotients = np.sort(np.array([F32(lo), F32(hi)]) / by[:, np.newaxis], axis=1)
        scaled = divisors.size == 1 and ends is None
        low, high = ends or _hull(quotients, scaled)
    if not np.isfinite(F32(high) - F32(low)):
        raise bad_value("a, b", f"quotients in the range {(low, high)} are beyond float32")
    place = into(out, codes.shape, [codes, divisors], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    if scaled:
        np.copyto(made, codes) if by[0] > 0 else np.invert(codes, out=made)
    elif codes.size:
        look_up_channels(np.require(codes, np.uint8, "C"), _quotient_tables(by, lo, hi, low, high), made)
    return tensor(put(made, out), low, high)


def _table_codes(used: NDArray[np.uint8], lo: np.float32, hi: np.float32) -> NDArray[np.integer[Any]]:
    """Give the codes of which nnlib makes the range of the table."""
    if lo < 0 < hi:
        zero = int(_half_away(-lo / ((hi - lo) / F32(255)))) & 255
        if zero in used:
            raise bad_value("t", f"holds the code {zero}, that of 0, for which nnlib reads what is in memory")
        below, above = used[used < zero], used[used > zero]
        last, first = below.max() if below.size else 0, above.min() if above.size else 255
        return np.concatenate([CODES[: int(last) + 1], CODES[int(first) :]])
    if lo == 0 and hi > 0:
        return CODES[int(used.min()) :]
    if lo < 0 and hi == 0:
        return CODES[: int(used.max()) + 1]
    raise bad_value(
        "t", f"{TABLE_SIZE} codes or more in the range {(float(lo), float(hi))}, for which nnlib makes no table"
    )


def _hull(quotients: NDArray[Any], single: bool) -> tuple[float, float]:
    """Give the range of the quotients, with 0 unless there is a single divisor."""
    low, high = float(quotients.min()) + 0.0, float(quotients.max()) + 0.0
    if single:
        return float(quotients[0, 0]), float(quotients[0, 1])
    return (0.0 if low > 0 else low), (0.0 if high < 0 else high)


def _quotient_tables(by: NDArray[np.float32], lo: float, hi: float, low: float, high: float) -> NDArray[np.uint8]:
    """Give the codes of the quotients of all codes, for each divisor."""
    values = F32(lo) + CODES.astype(F32) * (F32(F32(hi) - F32(lo)) / F32(255))
    width = max(F32(1e-18), F32(high) - F32(low))
    with np.errstate(over="ignore"):
        places = (values / by[:, np.newaxis] - F32(low)) * (F32(255) / width)
    return _half_away(places).clip(0, 255).astype(np.uint8)


def _half_away(v: Any) -> Any:
    """Round float32 to the nearest integers."""
    wide = np.asarray(v, np.float64)
    return np.trunc(wide + np.copysign(0.5, wide))
