"""Quantize by a rule's name: float32 values to codes."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage.quantize import Quantization
from qops.codes import of_dtype
from qops.prepared import Prepared, direct

__all__ = ["QUANTIZE", "Quantize", "QuantizeRule", "quantize"]


class QuantizeRule(NamedTuple):
    """One row of `QUANTIZE`.

    Attributes
    ----------
    formula : str
        What is computed in float32, one rounding an operation, unless it says double.
    systems : str
        Who computes it.
    product : str
        What is done with the scale s: "over", x / s; "over in double", the same in double; "times", x * (1 / s);
        "fused", x * (1 / s) + z rounded once.
    rounding : str
        How that becomes an integer.
    zero_point : str
        "outside": z is added after the rounding; "inside": before.
    width : int
        How many elements are computed together; 0 if each is computed by itself. The last elements, which do not fill
        a width, are computed by the rule `tail`.
    tail : str
        Name of that rule.
    beyond : str
        What a rounded result that int32 does not hold becomes, a word of `BinaryRule.beyond`.
    """

    formula: str
    systems: str
    product: str
    rounding: str
    zero_point: str
    width: int = 0
    tail: str = ""
    beyond: str = "saturates"


QUANTIZE = {
    "div-away": QuantizeRule("half_away(x / s) + z", "LiteRT 2.3 reference", "over", "half_away", "outside"),
    "inv-even": QuantizeRule(
        "rint(x * (1 / s)) + z", "XNNPACK 75db3c0, so LiteRT 2.3 by default", "times", "half_even", "outside"
    ),
    "tflite-opt": QuantizeRule(
        "as inv-even",
        "LiteRT 2.3 optimised",
        "times",
        "half_even",
        "outside",
        8,
        "double-div-away",
    ),
    "double-div-away": QuantizeRule(
        "half_away(x / s) + z in double",
        "LiteRT 2.3 optimised, the last n % 8 elements",
        "over in double",
        "half_away",
        "outside",
    ),
    "div-even": QuantizeRule(
        "rint(x / s) + z", "onnx 1.23 ReferenceEvaluator; onnxruntime 1.31 and 1.32", "over", "half_even", "outside"
    ),
    "fma-zp-inside": QuantizeRule(
        "rint(fma(x, 1 / s, z))", "torch 2.13 quantize_per_tensor", "fused", "half_even", "inside"
    ),
    "inv-even-wraps": QuantizeRule(
        "as inv-even; beyond int32 it is cut, and with z it wraps",
        "torch 2.12 and 2.14 quantize_per_tensor",
        "times",
        "half_even",
        "outside",
        beyond="cut, wraps",
    ),
}
"""Rules of float32 to codes, by name."""


class Quantize(Prepared):
    """Prepared form of `quantize`: float32 values to codes by the rule of a real system.

    It is called as ``op(x, out=None)``, and gives the bits of `quantize`.

    Parameters
    ----------
    rule, scale, zero_point, dtype
        As `quantize` takes them.

    Raises
    ------
    TypeError, ValueError
        What `quantize` refuses, except values and `out`, which are checked at each call.

    See Also
    --------
    quantize : the formula, the parameters, sources and hazards.

    Examples
    --------
    >>> op = qops.rules.Quantize("inv-even", scale=0.1)
    >>> op([0.1, 0.25, 9.9])
    array([ 1,  2, 99], dtype=uint8)
    """

    __slots__ = ("_kernel",)

    def __init__(self, rule: str, *, scale: float, zero_point: int = 0, dtype: DTypeLike = "uint8"):
        op = self._kernel = Quantization(QUANTIZE, of_dtype(dtype), rule, scale, zero_point)
        scale, zero_point, dtype = op.scale, op.zero_point, op.dtype
        self._keep(locals())

    @property
    def scale(self) -> float:
        """Real size of a code step."""
        return float(self._kernel.scale)

    @property
    def zero_point(self) -> int:
        """Code of real 0."""
        return int(self._kernel.zero_point)

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of values.

        Parameters
        ----------
        x : array_like of float32
            No NaN; infinities saturate.
        out : ndarray of the dtype of the codes, optional
            Where they are written; of the shape of `x`. After an error that NaN raises, it may hold anything.

        Returns
        -------
        ndarray

        Raises
        ------
        TypeError, ValueError
            Data that are not real numbers, or NaN; an `out` that does not fit or overlaps `x`.
        """
        return self._kernel(x, out)


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
        No NaN; infinities saturate, but by inv-even-wraps.
    rule : str
        A name in `QUANTIZE`.
    scale : float
        Real size of a code step, above 0, used as float32.
    zero_point : int
        Code of real 0.
    dtype : data type
        uint8, int8, uint16 or int16.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `x`. After an error that NaN raises, it may hold anything.

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
    >>> {rule: qops.rules.quantize(x, rule, scale=1.0, zero_point=5).tolist() for rule in names}
    {'div-away': [2, 4, 6, 8], 'div-even': [3, 5, 5, 7], 'fma-zp-inside': [2, 4, 6, 8]}

    Examples
    --------
    >>> qops.rules.quantize([0.1, 0.25, 9.9], "inv-even", scale=0.1)
    array([ 1,  2, 99], dtype=uint8)
    """
    return Quantization(QUANTIZE, of_dtype(dtype), rule, scale, zero_point)(x, out)
