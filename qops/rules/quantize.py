"""Quantize by a rule's name: float32 values to codes."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage.given import row_named
from qops._kernels.stage.quantize import Quantization, QuantizeWords, once
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array
from qops.codes import BY_TYPE, of_dtype
from qops.fixedpoint import SINGLE_ROUNDINGS
from qops.prepared import Prepared, direct
from qops.rules.quantize_arrays import ArrayQuantization
from qops.rules.quantize_rules import QUANTIZE

__all__ = ["Quantize", "quantize"]

_LOOPS = {
    name: QuantizeWords(name, QUANTIZE)
    for name, row in QUANTIZE.items()
    if row.rounding in SINGLE_ROUNDINGS and row.product != "range" and row.beyond != "lowest of int64"
}
"""The rules that a loop computes for one scale; numpy does the others, and those of several scales."""


def _kernel(
    rule: str,
    scale: Any,
    zero_point: Any,
    dtype: DTypeLike,
    qmin: int | None,
    qmax: int | None,
    axis: int | None,
    block: int | None,
    range: tuple[float, float] | None,
) -> Any:
    """What computes the codes: a loop where one scale and a rule of _LOOPS do, else numpy."""
    codes = of_dtype(dtype)
    row_named(rule, QUANTIZE)
    is_plain = (
        axis is None and block is None and range is None and scale is not None and as_array(scale, "scale").ndim == 0
    )
    if is_plain and rule in _LOOPS:
        return Quantization(_LOOPS[rule], codes, scale, zero_point, qmin, qmax)
    return ArrayQuantization(codes, str(rule), scale, zero_point, qmin, qmax, axis, block, range)


class Quantize(Prepared):
    """Prepared form of `quantize`: float32 values to codes by the rule of a real system.

    It is called as ``op(x, out=None)``, and gives the bits of `quantize`.

    Parameters
    ----------
    rule, scale, zero_point, dtype, qmin, qmax, axis, block, range
        As `quantize` takes them. Arrays are copied.

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

    def __init__(
        self,
        rule: str,
        *,
        scale: ArrayLike | None = None,
        zero_point: ArrayLike = 0,
        dtype: DTypeLike = "uint8",
        qmin: int | None = None,
        qmax: int | None = None,
        axis: int | None = None,
        block: int | None = None,
        range: tuple[float, float] | None = None,
    ):
        op = self._kernel = _kernel(rule, scale, zero_point, dtype, qmin, qmax, axis, block, range)
        scale, zero_point = None if op.scale is None else _plain(op.scale), _plain(op.zero_point)
        dtype, range = op.dtype, None if range is None else op.range
        self._keep(locals())

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


def _plain(value: Any) -> Any:
    """A number of Python's for an array without axes."""
    return value if np.ndim(value) else np.asarray(value).item()


@refusing_unknown
def quantize(
    x: ArrayLike,
    rule: str,
    *,
    scale: ArrayLike | None = None,
    zero_point: ArrayLike = 0,
    dtype: DTypeLike = "uint8",
    qmin: int | None = None,
    qmax: int | None = None,
    axis: int | None = None,
    block: int | None = None,
    range: tuple[float, float] | None = None,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Quantize float32 values by the rule of a real system, to the bit.

    ``y = clamp(round(x / scale) + zero_point, qmin, qmax)``; `QUANTIZE` has the formula of each rule.

    Parameters
    ----------
    x : array_like of float32
        No NaN; infinities saturate, but by the rules whose `QuantizeRule.beyond` says otherwise.
    rule : str
        A name in `QUANTIZE`.
    scale : float or array_like of float
        Real size of a code step, above 0, used as float32. An array has one for each index along `axis`; or, with
        `block`, one for each block: it has the shape of `x` with ``ceil(n / block)`` along `axis`.
    zero_point : int or array_like of int
        Code of real 0; an array of the shape of `scale`.
    dtype : data type
        uint8, int8, uint16 or int16.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given, for narrow rules without the lowest
        code. Of a rule that casts, only the low bits are kept: then nothing is clamped and these are refused.
    axis : int, optional
        The axis along which scales differ: of channels, or of rows, whose scales are along axis 0.
    block : int, optional
        How many neighbours along `axis` share a scale.
    range : (float, float), optional
        Instead of scale and zero point, for the rule openvino: the real values of the lowest and the highest code.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `x`. After an error that NaN raises, it may hold anything.

    Returns
    -------
    ndarray of `dtype`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, data that are not real numbers or NaN, a scale that is not above 0, a zero point that
        is no code, scales that do not fit the axis, an `out` that does not fit or overlaps `x`.

    See Also
    --------
    quantize_blocks : rows or blocks whose scales are made of the data.

    Notes
    -----
    Sources: TFLite ``quantize.h``, ONNX QuantizeLinear, onnxruntime ``quantize.cpp``, torch ``quantized/library``,
    ncnn ``quantize.cpp``, MNN ``Int8FunctionsOpt``, OpenVINO FakeQuantize, QONNX and Brevitas Quant, ESP-PPQ.

    **Hazards.** Each system rounds ties in its own way. With the zero point inside the rounding, ties of the sum go to
    even codes:

    >>> x = np.array([-2.5, -0.5, 0.5, 2.5], np.float32)
    >>> names = ("div-away", "div-even", "fma-zp-inside", "div-half-up")
    >>> {rule: qops.rules.quantize(x, rule, scale=1.0, zero_point=5).tolist() for rule in names}
    {'div-away': [2, 4, 6, 8], 'div-even': [3, 5, 5, 7], 'fma-zp-inside': [2, 4, 6, 8], 'div-half-up': [3, 5, 6, 8]}

    Code by hand often casts: it truncates, and what the type does not hold wraps:

    >>> x = np.array([-0.9, 0.9, 127.6, 128.5, 300.0], np.float32)
    >>> for rule in ("div-even", "div-truncate", "div-truncate-cast"):
    ...     print(rule, qops.rules.quantize(x, rule, scale=1.0, dtype="int8"))
    div-even [ -1   1 127 127 127]
    div-truncate [  0   0 127 127 127]
    div-truncate-cast [   0    0  127 -128   44]

    Examples
    --------
    >>> qops.rules.quantize([0.1, 0.25, 9.9], "inv-even", scale=0.1)
    array([ 1,  2, 99], dtype=uint8)
    >>> qops.rules.quantize([[0.1, 0.2], [1.0, 2.0]], "div-even", scale=[0.1, 1.0], axis=0)
    array([[1, 2],
           [1, 2]], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(quantize, unknown)
    made = once(_LOOPS, BY_TYPE, x, out, rule, dtype, scale, zero_point, qmin, qmax, axis, block, range)
    return _kernel(rule, scale, zero_point, dtype, qmin, qmax, axis, block, range)(x, out) if made is None else made
