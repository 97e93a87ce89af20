"""How systems choose a scale and a zero point for a range of real values."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from math import copysign, floor
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from qops._kernels.stage.given import rule_named
from qops.affine import Affine
from qops.checks import number
from qops.codes import of_dtype

__all__ = ["RANGE_RULES", "RangeRule", "choose_range"]

F32 = np.float32
_NEAR_CODE = F32(2.0**-14), F32(0.999938965)  # nnlib: a zero point with a fraction between these is not on a code
_SMALLEST_TORCH = float(F32(6.1e-5))


Chosen: TypeAlias = tuple[float, int]


class RangeRule(NamedTuple):
    """One row of `RANGE_RULES`.

    Attributes
    ----------
    formula : str
        What is computed.
    systems : str
        Who computes it.
    choose : callable
        (min, max, qmin, qmax) -> (scale, zero_point); min <= 0 <= max.
    """

    formula: str
    systems: str
    choose: Callable[[float, float, int, int], Chosen]


def _away(x: float) -> int:
    return int(copysign(floor(abs(x) + 0.5), x))


def _nearer_end(lo: float, hi: float, scale: float, qmin: int, qmax: int, sign: int) -> float:
    """The zero point, computed from the end with the smaller |q| + sign * |r / scale|, and cut to the codes.

    q is the code of the end, r its real value.
    """
    by_min, by_max = abs(qmin) + sign * abs(lo / scale), abs(qmax) + sign * abs(hi / scale)
    zero = qmin - lo / scale if by_min < by_max else qmax - hi / scale
    return min(max(zero, qmin), qmax)


def _tflite(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    if lo == hi:
        return 0.0, 0
    scale = (hi - lo) / (qmax - qmin)
    return scale, _away(_nearer_end(lo, hi, scale, qmin, qmax, 1))


def _ort(least: float, symmetric: bool) -> Callable[[float, float, int, int], Chosen]:
    def choose(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
        lo, hi = float(F32(lo)), float(F32(hi))
        hi = max(hi, float(F32(lo) + F32(least))) if least else hi
        if symmetric:
            hi = max(-lo, hi)
            lo = -hi
        scale = (hi - lo) / (qmax - qmin)
        if scale < 2.0**-126:
            return 1.0, 0
        return float(F32(scale)), round((qmin + qmax) / 2 if symmetric else qmin - lo / scale)

    return choose


def _torch(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    a, b = F32(lo), F32(hi)
    scale = (float(b) - float(a)) / (qmax - qmin)
    if float(F32(scale)) == 0:
        scale = 0.1
    if scale < _SMALLEST_TORCH:
        stretch, scale = F32(_SMALLEST_TORCH) / F32(scale), _SMALLEST_TORCH
        if a == 0:
            b = F32(scale * (qmax - qmin))
        elif b == 0:
            a = F32(-scale * (qmax - qmin))
        else:
            a, b = a * stretch, b * stretch
    return scale, round(_nearer_end(float(a), float(b), scale, qmin, qmax, -1))


def _torch_observer(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    scale = max((F32(hi) - F32(lo)) / F32(qmax - qmin), F32(2.0**-23))
    return float(scale), min(max(qmin - int(np.rint(F32(lo) / scale)), qmin), qmax)


def _dynamic(constant: float) -> Callable[[float, float, int, int], Chosen]:
    def choose(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
        if lo == hi:
            return constant, qmin
        scale = (F32(hi) - F32(lo)) / F32(qmax - qmin)
        zero = F32(qmin) - F32(lo) / scale
        return float(scale), int(np.rint(np.clip(zero, F32(qmin), F32(qmax))))

    return choose


def _nudge(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    scale = (F32(hi) - F32(lo)) / (F32(qmax) - F32(qmin))
    zero = float(F32(qmin) - F32(lo) / scale) if scale else float(qmin)
    return float(scale), min(max(_away(zero), qmin), qmax)


def _nnlib(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    step = (F32(hi) - F32(lo)) / F32(qmax - qmin)
    zero = qmin + floor(float(-F32(lo) / step + F32(0.5))) if step else qmin
    return float(step), min(zero, qmax)


def _nnlib_adjusted(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    steps, a, b = F32(qmax - qmin), F32(lo), F32(hi)
    zero = -a * (steps / max(b - a, F32(1e-18)))
    code = np.floor(zero)
    rest = zero - code
    if a < 0 and _NEAR_CODE[0] < rest < _NEAR_CODE[1]:
        if code > 0 and (code > 253 or (rest - F32(1)) * a >= rest * b):
            b = a + -steps * a / code
        else:
            a = b * (code + F32(1)) / (code - F32(254))
    return _nnlib(float(a), float(b), qmin, qmax)


def _at_least(width: float) -> Callable[[float, float, int, int], Chosen]:
    def choose(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
        hi = max(hi, lo + width)
        scale = (hi - lo) / (qmax - qmin)
        return scale, min(max(qmin + _away(-lo / scale), qmin), qmax)

    return choose


def _symmetric(steps: float) -> Callable[[float, float, int, int], Chosen]:
    def choose(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
        return max(hi, -lo) / steps, (qmin + qmax + 1) // 2

    return choose


def _unsigned(lo: float, hi: float, qmin: int, qmax: int) -> Chosen:
    return hi / (qmax - qmin), qmin


RANGE_RULES = {
    "tflite": RangeRule(
        "(max - min) / (qmax - qmin) in double; the zero point by the end nearer to a code, half away",
        "LiteRT 2.3 and TFLM 90b983c, ChooseQuantizationParams",
        _tflite,
    ),
    "ort": RangeRule(
        "(max - min) / (qmax - qmin) in double, then float32; half even",
        "onnxruntime 1.31 and 1.32, compute_scale_zp",
        _ort(0, False),
    ),
    "ort-1e-4": RangeRule(
        "as ort, max at least min + 1e-4", "onnxruntime 1.31 and 1.32, MinimumRealRange 1e-4", _ort(1e-4, False)
    ),
    "ort-0.01": RangeRule(
        "as ort, max at least min + 0.01", "onnxruntime 1.31 and 1.32, MinimumRealRange 0.01", _ort(0.01, False)
    ),
    "ort-symmetric": RangeRule(
        "as ort, of (-m, m), m = max(-min, max)", "onnxruntime 1.31 and 1.32, symmetric", _ort(0, True)
    ),
    "ort-symmetric-1e-4": RangeRule(
        "as ort-symmetric of ort-1e-4", "onnxruntime 1.31 and 1.32, both", _ort(1e-4, True)
    ),
    "ort-symmetric-0.01": RangeRule(
        "as ort-symmetric of ort-0.01", "onnxruntime 1.31 and 1.32, both", _ort(0.01, True)
    ),
    "torch": RangeRule(
        "in double, scale at least 6.1e-5, for which the range is stretched; half even",
        "torch 2.13, _choose_qparams_per_tensor",
        _torch,
    ),
    "torch-observer": RangeRule(
        "in float32, scale at least 2**-23; qmin - half_even(min / scale)",
        "torch 2.13, MinMaxObserver",
        _torch_observer,
    ),
    "onnx-dynamic": RangeRule(
        "in float32, half even; 1/255 for zeros alone",
        "onnx 1.23, DynamicQuantizeLinear",
        _dynamic(float(F32(1 / 255))),
    ),
    "ort-dynamic": RangeRule(
        "the same, 1 for zeros alone", "onnxruntime 1.31 and 1.32, DynamicQuantizeLinear", _dynamic(1.0)
    ),
    "tensorflow-nudge": RangeRule(
        "in float32; half_away(qmin - min / scale), cut to the codes",
        "TensorFlow 2.21, FakeQuantWithMinMaxArgs",
        _nudge,
    ),
    "nnlib": RangeRule(
        "in float32; half_up(-min / scale), cut to the codes", "Hexagon nnlib 0x00021401, its elementwise ops", _nnlib
    ),
    "nnlib-adjusted": RangeRule(
        "as nnlib, one end moved out first so that 0 is a code; the one that moves less",
        "Hexagon nnlib 0x00021401, adjust_range: Quantize and Requantize",
        _nnlib_adjusted,
    ),
    "snpe": RangeRule(
        "max at least min + 0.01; half away (the tie is not documented)", "SNPE, by its documentation", _at_least(0.01)
    ),
    "qnn": RangeRule(
        "max at least min + 1e-4; half away (the tie is not documented)", "QNN, by its documentation", _at_least(1e-4)
    ),
    "symmetric-127": RangeRule(
        "max|x| / 127", "oneDNN and LiteRT for weights, by their documentation", _symmetric(127)
    ),
    "symmetric-127.5": RangeRule(
        "max|x| / 127.5", "TensorFlow 2.21 with oneDNN; Axera, by its documentation", _symmetric(127.5)
    ),
    "symmetric-128": RangeRule("max|x| / 128", "power-of-two scales", _symmetric(128)),
    "unsigned-255": RangeRule("max / 255, code qmin is 0", "oneDNN for activations, by its documentation", _unsigned),
}
"""Range rules by name."""


def choose_range(min: float, max: float, rule: str, *, dtype: DTypeLike = "uint8") -> Affine:
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
        Type of the codes: uint8 or int8.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, min > max, a range too wide or too narrow to have a scale, a rule or type that
        is not known.

    Notes
    -----
    Sources: `RANGE_RULES` names the function of each system.

    Examples
    --------
    >>> qops.rules.choose_range(-1.0, 1.0, "tflite")
    Affine(scale=0.00784313725490196, zero_point=128, code_type='u8')
    >>> (
    ...     qops.rules.choose_range(-1.0, 1.0, "torch").zero_point,
    ...     qops.rules.choose_range(-1.0, 1.0, "symmetric-127").scale * 127,
    ... )
    (128, 1.0)
    """
    rule = rule_named(rule, RANGE_RULES)
    codes = of_dtype(dtype)
    if codes.dtype.itemsize != 1:
        raise TypeError(f"dtype: expected uint8 or int8, got {codes.dtype}")
    lo, hi = number(min, "min"), number(max, "max")
    if lo > hi:
        raise ValueError(f"min, max: {lo} > {hi}")
    lo, hi = builtins.min(lo, 0.0), builtins.max(hi, 0.0)
    try:
        with np.errstate(all="ignore"):
            found = Affine(*RANGE_RULES[rule].choose(lo, hi, codes.lowest, codes.highest), codes.name)
    except (ZeroDivisionError, OverflowError, ValueError):
        found = None
    if found is None or not np.isfinite(found.scale):
        raise ValueError(f"min, max: {rule} gives no scale for {lo} to {hi}")
    return found
