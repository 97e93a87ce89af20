"""How systems choose a scale and a zero point for a range of real values."""

from __future__ import annotations

import builtins
from typing import Never

import numpy as np
from numpy.typing import DTypeLike

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage.given import rule_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops.affine import Affine
from qops.checks import integer, number
from qops.codes import of_dtype
from qops.rules.range_rules import RANGE_RULES

__all__ = ["choose_range"]


@refusing_unknown
def choose_range(
    min: float,
    max: float,
    rule: str,
    *,
    dtype: DTypeLike = "uint8",
    qmin: int | None = None,
    qmax: int | None = None,
    **unknown: Never,
) -> Affine:
    """Choose the scale and the zero point of a range as a system does.

    The range is first widened to hold 0, as every rule does. Then ``scale`` is about ``(max - min) / (qmax - qmin)``
    and ``zero_point`` about ``qmin - min / scale``; `RANGE_RULES` has the formula of each rule.

    Parameters
    ----------
    min, max : float
        Ends of the real values, min <= max.
    rule : str
        A name in `RANGE_RULES`.
    dtype : data type
        Type of the codes: uint8 or int8; uint16 and int16 where `RangeRule.takes_int16`.
    qmin, qmax : int, optional
        Lowest and highest code that is used, qmin <= 0 <= qmax; those of the rule if not given (`RangeRule.ends`). The
        rules whose names end in a number of steps do not read them for their scale.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, min > max, a range too wide or too narrow to have a scale, a rule or type that
        is not known, a code that the type does not have.

    Notes
    -----
    Sources: `RANGE_RULES` names the function of each system.

    **Hazard.** onnxruntime's symmetric int8 leaves out -128, so its scale is that of 254 steps, not of 255:

    >>> qops.rules.choose_range(-3.0, 2.0, "ort-symmetric", dtype="int8").scale
    0.023622047156095505
    >>> qops.rules.choose_range(-3.0, 2.0, "ort-symmetric", dtype="int8", qmin=-128).scale
    0.0235294122248888

    Examples
    --------
    >>> qops.rules.choose_range(-1.0, 1.0, "tflite")
    Affine(scale=0.00784313725490196, zero_point=128, code_type='u8')
    >>> (
    ...     qops.rules.choose_range(-1.0, 1.0, "torch").zero_point,
    ...     qops.rules.choose_range(-1.0, 1.0, "symmetric-127").scale * 127,
    ... )
    (128, 1.0)
    >>> qops.rules.choose_range(-1.0, 1.0, "ort-reduced", dtype="int16")
    Affine(scale=6.103515625e-05, zero_point=0, code_type='s16')
    """
    if unknown:
        raise unknown_keyword(choose_range, unknown)
    rule = rule_named(rule, RANGE_RULES)
    row, codes = RANGE_RULES[rule], of_dtype(dtype)
    if codes.dtype.itemsize > 1 + row.takes_int16:
        types = "uint8, int8, uint16 or int16" if row.takes_int16 else f"uint8 or int8 by {rule}"
        raise bad_type("dtype", f"expected {types}, got {codes.dtype}")
    lowest, highest = row.ends.get(codes.name, (codes.lowest, codes.highest))
    first = lowest if qmin is None else integer(qmin, "qmin", codes.lowest, 0)
    last = highest if qmax is None else integer(qmax, "qmax", builtins.max(first + 1, 0), codes.highest)
    lo, hi = number(min, "min"), number(max, "max")
    if lo > hi:
        raise bad_value("min, max", f"{lo} > {hi}")
    lo, hi = builtins.min(lo, 0.0), builtins.max(hi, 0.0)
    try:
        with np.errstate(all="ignore"):
            found = Affine(*row.choose(lo, hi, first, last), codes.name)
    except (ZeroDivisionError, OverflowError, ValueError):
        found = None
    if found is None or not np.isfinite(found.scale):
        raise bad_value("min, max", f"{rule} gives no scale for {lo} to {hi}")
    return found
