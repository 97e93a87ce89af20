"""lookup: any function of one variable, as a table of its 256 results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage.lookup import look_up_bytes
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import U8, as_array, both_ends, operand, output, shown
from qops.codes import CodeType
from qops.frontdoor.targets import Range, code_type, range_of_all
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_LOOKUP", "lookup"]

BOUND_LOOKUP = 0.5 + 2**-40
"""Largest error of `lookup` in output LSB, for results within the range: 0.5 for the rounding, the rest for float64."""

Reals = NDArray[np.float64]
_S8 = _codes.TABLE["s8"].dtype.num
_BYTES = np.arange(256, dtype=np.uint8)


@refusing_unknown
def lookup(
    t: TensorLike,
    function: Callable[[Reals], Any],
    range: Range | None = None,
    *,
    dtype: DTypeLike = "uint8",
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Apply any function of one variable: sigmoid, tanh, gelu, exp, sqrt, or your own.

    The function is called once, with the float64 values of all 256 codes, and each result is rounded to a code once,
    half to even. The codes of the tensor are then looked up in this table::

        c = table[q]
        table[q] = saturate(round_half_even((function(value of q) - min) / step) + lowest)

    **Error: at most** ``0.5 + 2**-40`` LSB (`BOUND_LOOKUP`) from what the function gives, within the output range.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int8 tensor.
    function : callable
        Takes an array of 256 float64 values and gives as many real numbers, each of its own value alone. The value of
        a code that stands for 0 is exactly 0. ``np.vectorize`` makes such a function of one that takes a single number.
    range : (float, float), optional
        The output range; results outside it saturate. By default the smallest range that holds the results of all 256
        codes and, on a code, 0. It does not depend on which codes are present.
    dtype : dtype, optional
        Type of the codes: uint8 or int8.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        The codes and their range. If min == max, every code is the lowest, which stands for that value.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, type or range, a function that gives something else, or for one of the 256
        codes NaN or an infinity, results beyond float32 if no range is given, an ``out`` that does not fit or overlaps
        the data. What the function raises passes through.

    Examples
    --------
    >>> t = np.array([0, 128, 192, 255], np.uint8), -4.0, 3.96875
    >>> qops.lookup(t, np.tanh).dequantize().round(3)
    array([-0.999,  0.   ,  0.968,  0.999], dtype=float32)
    >>> qops.lookup(t, lambda x: 1 / (1 + np.exp(-x)), (0.0, 1.0))
    QTensor(np.uint8([5, 128, 225, 250]), 0.0, 1.0)
    >>> qops.lookup(t, np.log)
    Traceback (most recent call last):
    ValueError: function: expected finite results, got nan for code 0, whose value is -4
    """
    if unknown:
        raise unknown_keyword(lookup, unknown)
    row, kept = code_type(dtype), None if range is None else both_ends(range, "range")
    codes, lo, hi = operand(t, "t", U8, _S8)
    results = _results(function, _codes.of(codes), lo, hi)
    ends = kept or range_of_all(results.min(), results.max(), row, "function")
    result = output(out, row.dtype.num, codes)
    look_up_bytes(codes, _rounded(results, ends, row), result)
    return tensor(result, *ends)


def _results(function: Callable[[Reals], Any], row: CodeType, lo: float, hi: float) -> Reals:
    """Give what the function makes of the value of each code, in the order of bytes: codes below 0 come last."""
    if not callable(function):
        raise bad_type("function", f"expected a callable, got {shown(function)}")
    step, zero, base = row.line(lo, hi)
    codes = _BYTES.view(row.dtype)
    values = (codes - float(zero)) * step + base
    with np.errstate(all="ignore"):  # what is not finite is refused below
        results = as_array(function(values.copy()), "function")
    if results.shape != values.shape or results.dtype.kind not in "fiu":
        found = f"{results.dtype} of shape {results.shape}"
        raise bad_type("function", f"expected real numbers of the shape of its argument, {values.shape}, got {found}")
    found = results.astype(np.float64)
    if not np.isfinite(found).all():
        k = np.isfinite(found).argmin()
        where = f"code {codes[k]}, whose value is {values[k]:.6g}"
        raise bad_value("function", f"expected finite results, got {found[k]} for {where}")
    return found


def _rounded(values: Reals, ends: Range, row: CodeType) -> NDArray[Any]:
    """Give the codes of values in a range. If it has no width, every code is the lowest."""
    lo, hi = ends
    if lo == hi:
        return np.full(values.shape, row.lowest, row.dtype)
    with np.errstate(over="ignore"):  # values far outside saturate
        positions = (values - lo) / (hi - lo) * row.steps
    return (np.rint(positions).clip(0, row.steps) + row.lowest).astype(row.dtype)
