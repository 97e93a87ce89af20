"""Quantize by a rule's name: float32 values to codes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage import rows
from qops._kernels.stage.calls import KnownQuantizers
from qops.codes import of_dtype
from qops.qtensor import as_array, choice, integer, number

__all__ = ["QUANTIZE", "QuantizeRule", "quantize"]

F32 = np.float32
_KNOWN = KnownQuantizers()


class QuantizeRule(NamedTuple):
    """One row of `QUANTIZE`.

    Attributes
    ----------
    formula : str
        What is computed in float32, one rounding an operation.
    systems : str
        Who computes it.
    product : str
        What is done with the scale s: "over", x / s; "times", x * (1 / s); "fused", x * (1 / s) + z rounded once.
    rounding : str
        How that becomes an integer.
    zero_point : str
        "outside": z is added after the rounding; "inside": before.
    """

    formula: str
    systems: str
    product: str
    rounding: str
    zero_point: str


QUANTIZE = {
    "div-away": QuantizeRule("half_away(x / s) + z", "TFLite reference", "over", "half_away", "outside"),
    "inv-even": QuantizeRule("rint(x * (1 / s)) + z", "TFLite optimised and default", "times", "half_even", "outside"),
    "div-even": QuantizeRule("rint(x / s) + z", "ONNX, onnxruntime", "over", "half_even", "outside"),
    "fma-zp-inside": QuantizeRule(
        "rint(fma(x, 1 / s, z))", "torch.quantize_per_tensor", "fused", "half_even", "inside"
    ),
}
"""Rules of float32 to codes, by name."""


def quantize(
    x: ArrayLike,
    rule: str,
    *,
    scale: float,
    zero_point: int = 0,
    dtype: DTypeLike = "uint8",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Quantize float32 values by the rule of a real system, to the bit.

    ``y = saturate(round(x / scale) + zero_point)``; `QUANTIZE` has the formula of each rule.

    Parameters
    ----------
    x : array_like of float32
        No NaN; infinities saturate.
    rule : str
        A name in `QUANTIZE`.
    scale : float
        Real size of a code step, above 0, used as float32.
    zero_point : int
        Code of real 0.
    dtype : data type
        uint8, int8, uint16 or int16.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    ndarray of `dtype`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, data that are not real numbers or NaN, a scale that is not above 0, a zero point that
        is no code, an `out` that does not fit or overlaps `x`.

    Notes
    -----
    Sources: TFLite ``quantize.h``, ONNX QuantizeLinear, onnxruntime ``quantize.cpp``, torch ``quantized/library``.

    **Hazards.** Each system rounds ties in its own way. With the zero point inside the rounding, ties of the sum go to
    even codes:

    >>> x = np.float32([-2.5, -0.5, 0.5, 2.5])
    >>> names = ("div-away", "div-even", "fma-zp-inside")
    >>> {rule: quantize(x, rule, scale=1.0, zero_point=5).tolist() for rule in names}
    {'div-away': [2, 4, 6, 8], 'div-even': [3, 5, 5, 7], 'fma-zp-inside': [2, 4, 6, 8]}

    Examples
    --------
    >>> quantize([0.1, 0.25, 9.9], "inv-even", scale=0.1)
    array([ 1,  2, 99], dtype=uint8)
    """
    made = _KNOWN(x, out, rule, scale, zero_point, dtype)
    if made is not None:
        return made
    name = choice(rule.removeprefix("quantize/") if isinstance(rule, str) else rule, "rule", QUANTIZE)
    source, codes = as_array(x, "x"), of_dtype(dtype)
    values = source if source.dtype == F32 else _as_float32(source)
    zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
    run, has_inverse = _run(name, number(scale, "scale"), zero, codes.lowest, codes.highest)
    if not (has_inverse or values.all()):
        raise ValueError(f"scale: {scale} has no reciprocal in float32, which {name} takes")
    made = run.of_values(values, source, out, codes.dtype.num)
    if made is None:
        raise ValueError("x: has NaN, which has no code")
    if has_inverse:
        _KNOWN.keep(run, rule, scale, zero_point, dtype, codes.dtype.num)
    return made


def _as_float32(x: NDArray[Any]) -> NDArray[np.float32]:
    if x.dtype.kind not in "fiu":
        raise TypeError(f"x: expected real numbers, got {x.dtype}")
    with np.errstate(all="ignore"):
        return x.astype(F32)


@lru_cache(maxsize=256)
def _run(name: str, scale: float, zero: int, lowest: int, highest: int) -> tuple[rows.FloatCodes, bool]:
    """What runs a rule, and whether its factor is finite; kept for the next call with the same arguments."""
    rule = QUANTIZE[name]
    with np.errstate(all="ignore"):
        step = F32(scale)
        factor = step if rule.product == "over" else F32(1) / step
    if not (step > 0 and np.isfinite(step)):
        raise ValueError(f"scale: expected a number above 0, got {scale}")
    where = {"plus" if rule.zero_point == "inside" else "shift": zero}
    row = rows.floats(float(factor), rule.rounding, lowest, highest, form=rule.product, **where)
    return rows.FloatCodes(row), bool(np.isfinite(factor))
