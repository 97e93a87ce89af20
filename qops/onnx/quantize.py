"""QuantizeLinear: floats to codes."""

from __future__ import annotations

from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage import prepared as stages
from qops.checks import flag, int32, integer, native, output, put
from qops.onnx import _checks as check
from qops.onnx.runtimes import COLUMNS
from qops.prepared import Prepared

__all__ = ["QuantizeLinear", "quantize_linear"]

NAN = "holds NaN, which has no integer code"


class QuantizeLinear(Prepared):
    """The prepared form of `quantize_linear`, called ``op(x, out=None)``; all other arguments are the constructor's.

    `y_scale`, `y_zero_point`, `runtime` and `dtype`, the type of the codes, are attributes.

    Examples
    --------
    >>> op = qops.onnx.QuantizeLinear(0.1, 128)
    >>> op, op.dtype, op(np.array([-1.0, 0.0, 0.7, 99.0], np.float32))
    (QuantizeLinear(0.1, y_zero_point=128), dtype('uint8'), array([118, 128, 135, 255], dtype=uint8))
    """

    __slots__ = ("_of_quotients", "_of_values", "_precision", "_scale", "_slices", "_zero")

    def __init__(
        self,
        y_scale: ArrayLike,
        y_zero_point: ArrayLike | None = 0,
        *,
        axis: int = 1,
        block_size: int = 0,
        output_dtype: DTypeLike | None = None,
        precision: DTypeLike | None = None,
        saturate: bool = True,
        runtime: str = "onnx",
    ) -> None:
        runtime = check.runtime(runtime)
        self._make(locals())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes."""
        return self._zero.dtype

    def _prepare(self, once: bool) -> None:
        given = self._arguments
        self._slices = integer(given["axis"], "axis", -64, 63), int32(given["block_size"], "block_size", 0)
        is_ort, precision = COLUMNS[given["runtime"]].is_ort, given["precision"]
        flag(given["saturate"], "saturate")
        (zero,) = check.optional(given["y_zero_point"])
        self._zero = check.zero_point(zero, "y_zero_point", _output_type(zero, given["output_dtype"]))
        self._scale = check.scale(given["y_scale"], "y_scale", (*check.SCALES, "int32", "float8_e8m0fnu"), divides=True)
        wanted = None if precision is None else check.type_of(precision, "precision", check.SCALES)
        name = self.dtype.type.__name__
        if name in check.FLOATS and self._zero.astype(np.float32).any():
            raise bad_value("y_zero_point", f"expected 0 for {self.dtype} codes, got {self._zero}")
        if is_ort:
            _ort_has_kernel(self._scale.dtype, wanted, self.dtype)
            if self._slices[1] and self._scale.shape in ((), (1,)):
                raise bad_value(
                    "block_size", "block_size must be 0 for per-tensor quantization, which one scale makes it"
                )
        self._precision = np.dtype(np.float32) if is_ort and wanted is None else wanted
        is_whole = self._zero.size == 1 and name in check.WHOLE
        step = float(self._scale.item()) if self._scale.size == 1 and self._scale.dtype == np.float32 else 0.0
        divides = is_whole and step > 0 and self._precision in (None, np.float32)
        self._of_quotients = _stage(1.0, self._zero) if is_whole else None
        self._of_values = _stage(step, self._zero) if divides else None  # without keeping quotients

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = native(x, "x", (*check.SCALES, "int32"))
        if COLUMNS[self.runtime].is_ort and data.dtype not in (np.float32, np.float16):
            raise bad_type("x", f"onnxruntime has no kernel for {data.dtype}")
        axis, block_size = self._slices
        scale = check.of_slices(self._scale, "y_scale", data.shape, axis, block_size)
        zero = check.of_slices(self._zero, "y_zero_point", data.shape, axis, block_size)
        check.out(out, zero.dtype, data.shape, data, self)
        if self._of_values is not None and data.dtype == np.float32:
            return _coded(self._of_values, data, zero, out)
        quotient = self._quotient(data, scale)
        if self._of_quotients is not None and quotient.dtype != np.float64:
            return _coded(self._of_quotients, np.asarray(quotient, np.float32), zero, out)
        if zero.dtype.type.__name__ in check.FLOATS:
            return put(self._float_codes(quotient, zero), out)
        if np.isnan(quotient).any():
            raise bad_value("x", NAN)
        sums = np.rint(quotient) + zero.astype(np.float64)
        return put(np.asarray(np.clip(sums, *check.ends(zero.dtype)).astype(zero.dtype)), out)

    def _quotient(self, data: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            if self._precision is None:
                return np.asarray(data / scale)
            return np.asarray(data.astype(self._precision) / scale.astype(self._precision))

    def _float_codes(self, quotient: NDArray[Any], zero: NDArray[Any]) -> NDArray[Any]:
        if not isinstance(self.y_zero_point, (int, NoneType)) and not zero.dtype.name.startswith("float8"):
            quotient = quotient + zero.astype(quotient.dtype)  # which makes 0 of -0
        largest = check.FLOATS[zero.dtype.name]
        cut = np.clip(quotient, -largest, largest) if self.saturate else quotient
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(cut.astype(zero.dtype))


def _ort_has_kernel(scale: np.dtype[Any], precision: np.dtype[Any] | None, codes: np.dtype[Any]) -> None:
    """Raise TypeError if onnxruntime has no kernel for a scale and codes of these types."""
    if scale not in (np.float32, np.float16) or precision not in (None, np.float32, np.float16):
        raise bad_type("y_scale, precision", f"onnxruntime has no kernel for {scale}, {precision}")
    if codes.type.__name__ in check.FLOATS:
        raise bad_type("output_dtype, y_zero_point", f"{codes} of onnxruntime is not modelled")


def _output_type(zero: ArrayLike, output_dtype: DTypeLike | None) -> np.dtype[Any]:
    """Give the type of the codes, from the zero point or from `output_dtype`."""
    told = None if isinstance(zero, int) else native(zero, "y_zero_point", check.CODES).dtype
    if output_dtype is None:
        return told or np.dtype(np.uint8)
    wanted = check.type_of(output_dtype, "output_dtype", check.CODES)
    if told not in (None, wanted):
        raise bad_type("output_dtype", f"expected that of y_zero_point, {told}, got {wanted}")
    return wanted


def _stage(scale: float, zero: NDArray[Any]) -> stages.FloatStage:
    """Give ``saturate(half_even(x / scale) + zero)`` in float32."""
    return stages.FloatStage(scale, "half_even", *check.ends(zero.dtype), shift=int(zero.item()), form="over")


def _coded(
    stage: stages.FloatStage, values: NDArray[np.float32], zero: NDArray[Any], out: NDArray[Any] | None
) -> NDArray[Any]:
    codes = output(out, zero.dtype.num, values)
    if not stage.run_unless_nan(values, codes):
        raise bad_value("x", NAN)
    return codes


def quantize_linear(
    x: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike | None = 0,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: DTypeLike | None = None,
    precision: DTypeLike | None = None,
    saturate: bool = True,
    runtime: str = "onnx",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Quantize floats with one scale, with one for each slice along an axis, or with one for each block along it.

    ``y = saturate(half_even(x / y_scale) + y_zero_point)``: the zero point is added after the quotient is rounded. If
    the codes are floats, ``y = x / y_scale`` is rounded to their type, half to even. The quotient has the type that
    `precision` says: by default the wider one of both, so float16 if both are float16; with ``runtime="ort"`` float32.
    If `x` is int32 it is float64.

    Parameters
    ----------
    x : ndarray of float32, float16, bfloat16 or int32
        Any shape. Infinities saturate.
    y_scale : float, or ndarray of float32, float16, bfloat16, int32 or float8_e8m0fnu
        Real size of one code step: one value; a 1-D array of one for each slice along `axis`; or an array with the
        dimensions of `x` and one for each block along `axis`.
    y_zero_point : int or ndarray, optional
        Code of real 0, like `y_scale`. The result has its type; a plain int, and None, which is 0, have `output_dtype`.
        It is 0 for float codes.
    axis, block_size : int
        Axis of the slices or blocks, and the length of a block; 0 if there are no blocks.
    output_dtype : dtype, optional
        uint8 by default; or int8, uint16, int16; or uint4, int4, uint2, int2, float8 and narrower types of `ml_dtypes`.
    precision : dtype, optional
        Type of the quotient: float32, float16 or bfloat16. onnxruntime has float32 and float16; from opset 23 on a node
        that says none has the type of `y_scale` there.
    saturate : bool
        Whether float8 codes saturate. If not, what is too large becomes infinite or NaN.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The implementation whose results are reproduced.
    out : ndarray of the type of the result, of the shape of `x`, optional
        Where the result is written, apart from the inputs.

    Returns
    -------
    ndarray
        Codes, of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        Types that are not listed; NaN, which has no integer code; a scale that is 0 or not finite; scales or zero
        points that do not fit `x`; an `output_dtype` that is not that of the zero point; an `out` that does not fit;
        for ``runtime="ort"``, which has no kernel for them: an `x`, a scale or a `precision` that is neither float32
        nor float16; blocks with a scale of shape () or (1,); float codes, which are not modelled there.

    Notes
    -----
    Source: onnx, ``reference/ops/op_quantize_linear.py``; onnxruntime, ``core/mlas/lib/quantize.cpp``,
    ``quantize_linear.cc``. The reference casts the quotient to int32 before it saturates. C leaves that undefined from
    2**31 on, and it gives the lowest code there, for infinity too. This function saturates, as the standard says, and
    as onnxruntime does, except for infinity to 4 and 2 bits.

    **Hazards.** The quotient is rounded, not the sum with the zero point. A port that adds an odd zero point first gets
    other codes for all ties:

    >>> x = np.array([0.5, 1.5, 2.5], np.float32)
    >>> qops.onnx.quantize_linear(x, 1.0, 3), np.rint(x + 3)
    (array([3, 5, 5], dtype=uint8), array([4., 4., 6.], dtype=float32))

    The quotient of float16 is float16 in the reference, and float32 in onnxruntime, until opset 22:

    >>> x = np.array([0.45, 2.25], np.float16)
    >>> [qops.onnx.quantize_linear(x, np.float16(0.3), 5, runtime=r).tolist() for r in ("onnx", "ort")]
    [[7, 13], [6, 12]]

    Examples
    --------
    >>> qops.onnx.quantize_linear(np.array([-1.0, 0.0, 0.7, 99.0], np.float32), 0.1, 128)
    array([118, 128, 135, 255], dtype=uint8)
    >>> qops.onnx.quantize_linear(
    ...     np.array([[1, 2], [1, 2]], np.float32), np.array([0.5, 0.25], np.float32), axis=0, output_dtype=np.int8
    ... ).tolist()
    [[2, 4], [4, 8]]
    """
    runtime = check.runtime(runtime)
    return QuantizeLinear._once(locals())(x, out)
