"""How systems form the real scale of a requantization, and the integers that they make of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import floor, frexp, ldexp
from typing import Any, Literal, Never, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage.multipliers import DERIVATIONS as _WORDS
from qops._kernels.stage.multipliers import derived, one_multiplier
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, choice, integer, number, shown
from qops.fixedpoint import Multiplier
from qops.rules.numbers import Numbers, rule_of

__all__ = [
    "DERIVATIONS",
    "Derivation",
    "fma",
    "real_scale",
    "reduced_multiplier",
    "tflite_multiplier",
]

Derivation: TypeAlias = Literal["double", "f32-product", "f32", "f32-reciprocal", "f32-inverse-w"]
Build: TypeAlias = Literal["double", "single", "emulate-float"]
F32, F64 = np.float32, np.float64
_KINDS = {"double": "31 bits", "single": "31 bits, below 2**30", "emulate-float": "31 bits, half down"}
DERIVATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {word: partial(derived, word) for word in _WORDS}
"""in_scale * w_scale / out_scale, as TFLite does it per channel and per tensor, XNNPACK and MLAS, torch mul.

Each may be an array of doubles."""


@refusing_unknown
def real_scale(
    in_scale: ArrayLike, w_scale: ArrayLike, out_scale: ArrayLike, derive: Derivation = "double", **unknown: Never
) -> float | NDArray[np.float64]:
    """Give ``in_scale * w_scale / out_scale`` as a system rounds it on the way.

    ==============  ======================================  ================================================
    derive          computed as                             by
    ==============  ======================================  ================================================
    double          double(in) * double(w) / double(out)    TFLite per channel, 8 bits to 8 bits; TFLM
    f32-product     double(float32(in * w)) / double(out)   TFLite per tensor
    f32             float32(float32(in * w) / out)          XNNPACK, MLAS, TFLite mul, torch linear on fbgemm
    f32-reciprocal  float32(float32(in * w) * (1 / out))    torch mul, torch linear on qnnpack
    f32-inverse-w   float32(in / float32(out * (1 / w)))    torch linear per tensor on onednn, 64-bit ARM
    ==============  ======================================  ================================================

    torch on oneDNN forms no scale: it multiplies by one after another (`requantize` with ``scales``).

    Parameters
    ----------
    in_scale, w_scale, out_scale : float or array_like of float
        Above 0. Arrays are broadcast: ``w_scale`` may have one for each channel.
    derive : str
        One of the five.

    Returns
    -------
    float, or ndarray of float64
        A float for three numbers; of arrays, an array of their common shape.

    Raises
    ------
    TypeError, ValueError
        A scale that is no finite number above 0, arrays that do not broadcast, another word.

    Notes
    -----
    Sources: TFLite ``kernel_util.cc``, XNNPACK ``qs8-gemm``, onnxruntime ``qlinear``, torch ``qlinear``, ``qmul``.

    Examples
    --------
    >>> qops.rules.real_scale(0.1, 0.2, 0.3) == qops.rules.real_scale(0.1, 0.2, 0.3, "f32")
    False
    >>> qops.rules.real_scale(0.5, [0.25, 0.5], 2.0)
    array([0.0625, 0.125 ])
    """
    if unknown:
        raise unknown_keyword(real_scale, unknown)
    choice(derive, "derive", DERIVATIONS)
    names = "in_scale", "w_scale", "out_scale"
    values = [_scales(x, name) for x, name in zip((in_scale, w_scale, out_scale), names, strict=True)]
    try:
        found: float | NDArray[np.float64] = DERIVATIONS[derive](*values)
    except ValueError:
        shapes = [np.shape(value) for value in values]
        raise bad_value("in_scale, w_scale, out_scale", f"shapes {shapes} do not broadcast") from None
    if not np.all(np.isfinite(found)):
        raise bad_value("in_scale, w_scale, out_scale", f"{derive} gives {shown(found)}, no finite number")
    return found


def _scales(x: ArrayLike, name: str) -> Any:
    """One scale as a float, or an array of them as doubles, all of them above 0."""
    given = as_array(x, name)
    if given.ndim and given.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {given.dtype}")
    value = given.astype(F64) if given.ndim else number(x, name)
    if not np.all(np.isfinite(value) & np.greater(value, 0)):
        raise bad_value(name, f"expected finite numbers above 0, got {shown(value)}")
    return value


@refusing_unknown
def tflite_multiplier(scale: float, build: Build = "double", **unknown: Never) -> tuple[int, int]:
    """Give TFLite's multiplier of 31 bits and its signed shift, positive to the left, by one of its builds.

    ``scale = m * 2**shift`` with m in [0.5, 1); ``multiplier = half_away(m * 2**31)``; below 2**-32 both are 0.
    `qops.fixedpoint.quantize_multiplier` and `integers` give the total right shift instead: ``31 - shift``.

    Parameters
    ----------
    scale : float
        Not negative.
    build : {"double", "single", "emulate-float"}
        "single" gives a shift of at most 30, with the largest multiplier where it would be larger. "emulate-float"
        reads the bits of the double, and rounds an exact half down.

    Returns
    -------
    (int, int)
        The multiplier and the shift, as TFLite writes them.

    Raises
    ------
    TypeError, ValueError
        A scale that is negative or not finite, another build.

    Notes
    -----
    Source: TFLite ``quantization_util.cc``, QuantizeMultiplier.

    Examples
    --------
    >>> qops.rules.tflite_multiplier(0.0033)
    (1814194186, -8)
    """
    if unknown:
        raise unknown_keyword(tflite_multiplier, unknown)
    choice(build, "build", _KINDS)
    value = number(scale, "scale")
    if value < 0:
        raise bad_value("scale", f"{value} is negative")
    multiplier, right_shift = one_multiplier(value, _KINDS[build])
    return multiplier, 31 - right_shift


@refusing_unknown
def reduced_multiplier(multiplier: ArrayLike, **unknown: Never) -> NDArray[np.int64]:
    """Round TFLite's multipliers of 31 bits to 15 bits, for accumulators of 48 bits.

    ``(multiplier + 2**15) >> 16``, at most 0x7FFF: halves are rounded up.

    Parameters
    ----------
    multiplier : array_like of int
        Multipliers of `tflite_multiplier`.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    TypeError
        Values that are not integers, or a `Multiplier`, which has a right shift too.

    See Also
    --------
    integers : a multiplier of any number of bits, made of a scale.

    Notes
    -----
    Source: TFLite ``common.cc``, MultiplyByQuantizedMultiplier of int64.

    Examples
    --------
    >>> qops.rules.reduced_multiplier([1 << 30, 0x7FFFFFFF])
    array([16384, 32767])
    """
    if unknown:
        raise unknown_keyword(reduced_multiplier, unknown)
    if isinstance(multiplier, Multiplier):
        raise bad_type("multiplier", "expected the multiplier alone, without its right shift: take .multiplier")
    m = as_array(multiplier, "multiplier")
    if m.dtype.kind not in "iu":
        raise bad_type("multiplier", f"expected integers, got {m.dtype}; of a scale, integers(rule, scale) makes them")
    wide = m.astype(np.int64)
    return np.where(wide < 0x7FFF0000, (wide + 2**15) >> 16, 0x7FFF)


@refusing_unknown
def integers(rule: str, scale: float, *, bits: int | None = None, **unknown: Never) -> Multiplier:
    """Give the multiplier and the right shift that a rule makes of a real scale, as a port of the rule has them.

    Parameters
    ----------
    rule : str
        A name in `TABLE`.
    scale : float
        How many output steps an input step is.
    bits : int, optional
        How many bits the multiplier has at most, 1..31, in place of the rule's own number. It is the nearest one, a
        half rounded up; int16 holds 15 bits. `fewest_bits` tells how many are enough.

    Returns
    -------
    Multiplier
        ``scale`` is about ``multiplier / 2**right_shift``, where `right_shift` is the whole shift.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known or has no integers; a scale that is negative, not finite, or out of the rule's range.

    Notes
    -----
    Sources: as those of `requantize`.

    Examples
    --------
    >>> qops.rules.integers("tflite-double", 0.0033)
    Multiplier(multiplier=1814194186, right_shift=39)
    >>> qops.rules.integers("rndnu", 0.0033), qops.rules.integers("textbook7-floor", 0.0033)
    (Multiplier(multiplier=14173392, right_shift=32), Multiplier(multiplier=0, right_shift=7))
    >>> qops.rules.integers("tflite-single", 0.0037, bits=16)
    Multiplier(multiplier=62076, right_shift=24)
    """
    if unknown:
        raise unknown_keyword(integers, unknown)
    row, value = rule_of(rule), number(scale, "scale")
    if row.multiplier.startswith("float"):
        raise bad_value("rule", f"{rule} multiplies by the scale itself, in {row.multiplier}")
    if value < 0:
        raise bad_value("scale", f"{value} is negative")
    return Multiplier(*(Numbers(row, value, 0, 0, 0).integers if bits is None else _of_bits(value, bits)))


def _of_bits(scale: float, bits: int) -> tuple[int, int]:
    """Give the multiplier of so many bits that is nearest to a scale, and its right shift."""
    count = integer(bits, "bits", 1, 31)
    share, exponent = frexp(scale)
    multiplier = floor(ldexp(share, count) + 0.5)
    if multiplier == 1 << count:
        multiplier, exponent = multiplier // 2, exponent + 1
    right_shift = count - exponent if multiplier else 0
    if not 0 <= right_shift <= 62:
        raise bad_value(
            "scale", f"{scale} with a multiplier of {count} bits has a right shift of {right_shift}, not 0..62"
        )
    return multiplier, right_shift


def fma(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> NDArray[np.float32]:
    """Give ``a * b + c`` in float32, rounded once.

    The product is exact in float64. The sum is rounded to odd in float64: then rounding it to float32 gives the same as
    a single rounding of the exact sum.

    Parameters
    ----------
    a, b, c : array_like of float32
        Finite; they broadcast.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    ValueError
        Shapes that do not broadcast.

    Examples
    --------
    >>> from qops.rules.scales import fma
    >>> a = np.float32(1 + 2**-12)
    >>> float(fma(a, a, -1)), float(a * a - 1)
    (0.0004883408546447754, 0.00048828125)
    """
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    addend = np.asarray(c, np.float64)
    with np.errstate(all="ignore"):
        total = np.asarray(product + addend)
        back = total - product
        residue = (product - (total - back)) + (addend - back)
        even = (total.view(np.int64) & 1) == 0
        nudged = np.nextafter(total, np.copysign(np.inf, residue))
        return np.where(np.isfinite(total) & (residue != 0) & even, nudged, total).astype(np.float32)
