"""Range rules: the table, and how each of its rules chooses a scale and a zero point for a range of real values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import copysign, floor
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from qops._readable import shows_fields

__all__ = ["RANGE_RULES", "RangeRule"]

F32 = np.float32
_NEAR_CODE = F32(2.0**-14), F32(0.999938965)  # nnlib: a zero point with a fraction between these is not on a code
_SMALLEST_TORCH = float(F32(6.1e-5))


Chosen: TypeAlias = tuple[float, int]


@shows_fields
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
    ends : dict of str to (int, int)
        Lowest and highest code that the rule uses, by the name of a code type; those of the type where it has none.
    takes_int16 : bool
        Whether the rule is also one of uint16 and int16 codes.
    """

    formula: str
    systems: str
    choose: Callable[[float, float, int, int], Chosen]
    ends: Mapping[str, tuple[int, int]] = MappingProxyType({})
    takes_int16: bool = False


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


_BALANCED = MappingProxyType({"s8": (-127, 127), "s16": (-32767, 32767)})
_REDUCED_ORT = MappingProxyType({"u8": (0, 127), "s8": (-64, 64), "u16": (0, 32767), "s16": (-16384, 16384)})
_REDUCED_TORCH = MappingProxyType({"u8": (0, 127), "s8": (-64, 63)})

RANGE_RULES = {
    "tflite": RangeRule(
        "(max - min) / (qmax - qmin) in double; the zero point by the end nearer to a code, half away",
        "LiteRT 2.3 and TFLM 90b983c, ChooseQuantizationParams",
        _tflite,
    ),
    "ort": RangeRule(
        "(max - min) / (qmax - qmin) in double, then float32; half even",
        "onnxruntime 1.31 and 1.32, compute_scale_zp; rknn-toolkit2 2.5.0 for activations, quantized_algorithm normal",
        _ort(0, False),
        takes_int16=True,
    ),
    "ort-1e-4": RangeRule(
        "as ort, max at least min + 1e-4",
        "onnxruntime 1.31 and 1.32, MinimumRealRange 1e-4",
        _ort(1e-4, False),
        takes_int16=True,
    ),
    "ort-0.01": RangeRule(
        "as ort, max at least min + 0.01",
        "onnxruntime 1.31 and 1.32, MinimumRealRange 0.01",
        _ort(0.01, False),
        takes_int16=True,
    ),
    "ort-symmetric": RangeRule(
        "as ort, of (-m, m), m = max(-min, max); signed codes without the lowest",
        "onnxruntime 1.31 and 1.32, symmetric",
        _ort(0, True),
        _BALANCED,
        takes_int16=True,
    ),
    "ort-symmetric-1e-4": RangeRule(
        "as ort-symmetric of ort-1e-4", "onnxruntime 1.31 and 1.32, both", _ort(1e-4, True), _BALANCED, takes_int16=True
    ),
    "ort-symmetric-0.01": RangeRule(
        "as ort-symmetric of ort-0.01", "onnxruntime 1.31 and 1.32, both", _ort(0.01, True), _BALANCED, takes_int16=True
    ),
    "ort-reduced": RangeRule(
        "as ort, half of the codes: 0..127, -64..64, 0..32767, -16384..16384",
        "onnxruntime 1.32, reduce_range",
        _ort(0, False),
        _REDUCED_ORT,
        takes_int16=True,
    ),
    "ort-reduced-symmetric": RangeRule(
        "as ort-reduced, of (-m, m), m = max(-min, max)",
        "onnxruntime 1.32, reduce_range and symmetric",
        _ort(0, True),
        _REDUCED_ORT,
        takes_int16=True,
    ),
    "torch": RangeRule(
        "in double, scale at least 6.1e-5, for which the range is stretched; half even",
        "torch 2.13, _choose_qparams_per_tensor; torch 2.13 and 2.14 linear_dynamic on fbgemm, x86 and qnnpack",
        _torch,
    ),
    "torch-reduced": RangeRule(
        "as torch, half of the codes: 0..127, -64..63",
        "torch 2.13, _choose_qparams_per_tensor with reduce_range",
        _torch,
        _REDUCED_TORCH,
    ),
    "torch-observer": RangeRule(
        "in float32, scale at least 2**-23; qmin - half_even(min / scale)",
        "torch 2.13, MinMaxObserver; torchao 0.18.0, ASYMMETRIC",
        _torch_observer,
    ),
    "torch-observer-reduced": RangeRule(
        "as torch-observer, half of the codes: 0..127, -64..63",
        "torch 2.13, MinMaxObserver with reduce_range",
        _torch_observer,
        _REDUCED_TORCH,
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
        "max|x| / 127.5",
        "TensorFlow 2.21 with oneDNN; Axera, by its documentation; torchao 0.18.0, SYMMETRIC, but for zeros alone",
        _symmetric(127.5),
    ),
    "symmetric-128": RangeRule("max|x| / 128", "power-of-two scales", _symmetric(128)),
    "unsigned-255": RangeRule("max / 255, code qmin is 0", "oneDNN for activations, by its documentation", _unsigned),
}
"""Range rules by name."""
