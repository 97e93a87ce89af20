"""Accumulators to real values, by a rule's name: the float result of a layer whose sums are integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops._kernels.stage.given import row_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import shows_fields
from qops.checks import as_array, check_out, integer, put, shown
from qops.rules.bias_rules import codes_per_unit, ncnn_scale
from qops.rules.scales import fma

__all__ = ["DEQUANTIZE", "DequantizeRule", "dequantize"]

Array = NDArray[Any]
F32, F64 = np.float32, np.float64


@shows_fields
class DequantizeRule(NamedTuple):
    """One row of `DEQUANTIZE`.

    Attributes
    ----------
    formula : str
        What is computed in float32, one rounding an operation; sx and sw are the scales, b is the bias.
    systems : str
        Who computes it.
    real : callable
        (float32 accumulators, in_scale, w_scale, bias or None) -> float32 values; scales are float64. Of a rule that
        `splits`, the first is a pair of arrays: sums without the zero point, and what that takes off them.
    splits : bool
        Whether the zero point is taken off in float32: the rule needs ``w_sums`` and ``x_zero_point``.
    """

    formula: str
    systems: str
    real: Callable[[Any, Any, Any, Any], Array]
    splits: bool = False


def _plus(values: Array, bias: Any) -> Array:
    return np.asarray(values if bias is None else values + bias)


def _fused(acc: Array, scale: Any, bias: Any) -> Array:
    return np.asarray(acc * scale) if bias is None else fma(acc, scale, bias)


def _zero_point_fused(sums: tuple[Array, Array], a: Any, w: Any, bias: Any) -> Array:
    scale = _product(a, w)
    return fma(-sums[1], scale, fma(sums[0], scale, F32(0) if bias is None else bias))


def _product(a: Any, w: Any) -> Any:
    return a.astype(F32) * w.astype(F32)


def _ct2(acc: Array, a: Any, w: Any, bias: Any) -> Array:
    return _plus(acc * (F32(1) / codes_per_unit(a)) / codes_per_unit(w), bias)


def _bitsandbytes(acc: Array, a: Any, w: Any, bias: Any) -> Array:
    return _plus(acc * ((a * 127).astype(F32) * (w * 127).astype(F32)) * _BITSANDBYTES, bias)


_BITSANDBYTES = F32(6.200124e-05)
"""What bitsandbytes multiplies by in place of 1 / 127**2, which is 6.200012e-05."""
DEQUANTIZE = {
    "multiply-add": DequantizeRule(
        "acc * (sx * sw) + b",
        "onnxruntime 1.32 MatMulIntegerToFloat, DynamicQuantizeMatMul on x86; "
        "torch 2.10 linear_dynamic on 64-bit ARM, engine qnnpack",
        lambda acc, a, w, bias: _plus(acc * _product(a, w), bias),
    ),
    "fma": DequantizeRule(
        "fma(acc, sx * sw, b)",
        "torch 2.13 linear_dynamic on x86, fbgemm and x86; onnxruntime 1.32 MatMulIntegerToFloat, "
        "DynamicQuantizeMatMul on 64-bit ARM",
        lambda acc, a, w, bias: _fused(acc, _product(a, w), bias),
    ),
    "torch-onednn-arm": DequantizeRule(
        "fma(-c, s, fma(acc + c, s, b)), s = sx * sw, c = (zx - 128) * W, W the sum of the weights",
        "torch 2.10 linear_dynamic on 64-bit ARM, engine onednn",
        _zero_point_fused,
        splits=True,
    ),
    "ncnn": DequantizeRule(
        "fma(acc, k, b), k = 1 / (Sx * Sw), S = 1 / s as ncnn's scales",
        "ncnn 1.0.20261020 Convolution int8 with float output on x86 with fma",
        lambda acc, a, w, bias: _fused(acc, ncnn_scale(a, w), bias),
    ),
    "ncnn-no-fma": DequantizeRule(
        "acc * k + b, k as in ncnn",
        "ncnn 1.0.20261020 InnerProduct int8, and ConvolutionDepthWise int8 where C % 8 is not 0, on x86",
        lambda acc, a, w, bias: _plus(acc * ncnn_scale(a, w), bias),
    ),
    "ct2": DequantizeRule("acc * (1 / Sx) / Sw, S = 1 / s as CTranslate2's scales", "CTranslate2 4.8.5 on x86", _ct2),
    "bitsandbytes": DequantizeRule(
        "acc * (127 * sx * (127 * sw)) * 6.200124e-05 + b; the factor is not 1 / 127**2",
        "bitsandbytes 0.50.2 int8_mm_dequant on x86",
        _bitsandbytes,
    ),
}
"""Rules from accumulators to real values, by name."""


@refusing_unknown
def dequantize(
    acc: ArrayLike,
    rule: str,
    *,
    in_scale: ArrayLike,
    w_scale: ArrayLike,
    bias: ArrayLike | None = None,
    w_sums: ArrayLike | None = None,
    x_zero_point: int | None = None,
    out: NDArray[np.float32] | None = None,
    **unknown: Never,
) -> NDArray[np.float32]:
    """Give the real values of accumulators as a system computes them, to the bit of float32.

    In real numbers ``y = acc * in_scale * w_scale + bias``; `DEQUANTIZE` has the formula of each rule.

    Parameters
    ----------
    acc : array_like of int
        Accumulators that int32 holds.
    rule : str
        A name in `DEQUANTIZE`.
    in_scale, w_scale : float or array_like of float
        Real sizes of a code step, above 0. They broadcast against `acc`: a scale for each row has shape (rows, 1).
        The systems of ncnn, ct2 and bitsandbytes hold ``1 / scale`` or ``127 * scale``, a float32: with the scale in
        double, the rule gets back that very number.
    bias : float or array_like of float, optional
        Real bias, used as float32; it broadcasts against `acc`. Without one nothing is added.
    w_sums : int or array_like of int, optional
        For the rule torch-onednn-arm: the sum of the weights of each channel; it broadcasts against `acc`.
    x_zero_point : int, optional
        For the same rule: the code of real 0 of the data, as uint8.
    out : ndarray of float32, optional
        Where the values are written; of the shape of `acc`.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, accumulators that are no integers of int32, scales that are not above 0, shapes that
        do not broadcast against `acc`, sums of weights or a zero point that the rule does not take or lacks, an `out`
        that does not fit or overlaps an input.

    Notes
    -----
    Sources: torch ``qlinear_dynamic``, onnxruntime ``matmul_integer``, ncnn ``dequantize``, CTranslate2 and
    bitsandbytes.

    **Hazard.** A multiplication and an addition round twice, a fused one once:

    >>> acc, how = 16777215, {"in_scale": 0.1, "w_scale": 0.1, "bias": 0.3}
    >>> [qops.rules.dequantize(acc, rule, **how).item() for rule in ("multiply-add", "fma")]
    [167772.453125, 167772.46875]

    Examples
    --------
    >>> qops.rules.dequantize([[100, 200]], "fma", in_scale=[[0.5]], w_scale=[0.25, 0.125])
    array([[12.5, 12.5]], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(dequantize, unknown)
    check_rounding()
    row, x = row_named(rule, DEQUANTIZE), as_array(acc, "acc")
    if x.dtype.kind not in "iu":
        raise bad_type("acc", f"expected integers, got {x.dtype}")
    if x.size and not -(2**31) <= x.min() <= x.max() < 2**31:
        raise bad_value("acc", f"int32 does not hold its values, {x.min()} to {x.max()}")
    a, w = (_above_0(_fitting(value, name, x)) for value, name in ((in_scale, "in_scale"), (w_scale, "w_scale")))
    added = None if bias is None else _fitting(bias, "bias", x)[0].astype(F32)
    sums: Any = _split(row, x, w_sums, x_zero_point, rule)
    if out is not None:
        given = in_scale, w_scale, bias, w_sums
        check_out(out, np.dtype(F32).num, x.shape, [x, *(v for v in given if type(v) is np.ndarray)])
    with np.errstate(all="ignore"):
        values = row.real(sums, a, w, added)
    return put(np.asarray(values, F32), out)


def _split(row: DequantizeRule, x: Array, w_sums: ArrayLike | None, x_zero_point: int | None, rule: str) -> Any:
    """Accumulators in float32; or sums without the zero point, and what that takes off them."""
    for value, name in ((w_sums, "w_sums"), (x_zero_point, "x_zero_point")):
        if (value is not None) != row.splits:
            says = "missing" if row.splits else f"given, {rule} takes none"
            raise bad_value(name, f"{says}")
    if w_sums is None:
        return x.astype(F32)
    found = as_array(w_sums, "w_sums")
    if found.dtype.kind not in "iu":
        raise bad_type("w_sums", f"expected integers, got {found.dtype}")
    _fitting(found, "w_sums", x)
    taken = (integer(x_zero_point, "x_zero_point", 0, 255) - 128) * found.astype(np.int64)
    return (x.astype(np.int64) + taken).astype(F32), np.broadcast_to(taken, x.shape).astype(F32)


def _fitting(value: Any, name: str, x: Array) -> tuple[Array, str]:
    """Numbers in double that broadcast against x."""
    found = as_array(value, name)
    if found.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {found.dtype}")
    last = x.shape[x.ndim - found.ndim :] if found.ndim <= x.ndim else ()
    fits = len(last) == found.ndim and all(m in (1, n) for m, n in zip(found.shape, last, strict=True))
    if not fits:
        raise bad_value(name, f"shape {found.shape} does not broadcast against acc, shape {x.shape}")
    with np.errstate(over="ignore"):
        if not np.isfinite(found.astype(F32)).all():
            raise bad_value(name, f"expected finite float32 numbers, got {shown(value)}")
    return found.astype(F64), name


def _above_0(checked: tuple[Array, str]) -> Array:
    values, name = checked
    if not np.all(values > 0):
        raise bad_value(name, f"expected numbers above 0, got {shown(values)}")
    return values
