"""Rules of requantization with a real bias: accumulators become real values, a float bias is added, then they round.

Each operation of numpy on float32 arrays is one rounding, as in the formulas of `REAL_BIAS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.rules.scales import fma

__all__ = ["REAL_BIAS", "BiasNumbers", "BiasRule", "codes_per_unit", "ncnn_scale"]

Array = NDArray[Any]
F32, F64 = np.float32, np.float64


class BiasNumbers(NamedTuple):
    """Numbers of a rule with a real bias; those of channels are arrays that broadcast against the accumulators.

    Attributes
    ----------
    in_scale, w_scale, out_scale : float64
        Real sizes of a code step; out_scale is None where the rule takes a range.
    bias : ndarray of float32 or None
        Real bias.
    zero_point : int
        Code of real 0 of the result.
    lo, hi : float32 or None
        Real values of the lowest and the highest code, for rules that take a range.
    w_sums : ndarray of int64 or None
        Sum of the weights of each channel.
    x_zero_point : int
        Code of real 0 of the input.
    """

    in_scale: Any
    w_scale: Any
    out_scale: Any
    bias: Any
    zero_point: int
    lo: Any
    hi: Any
    w_sums: Any
    x_zero_point: int


@shows_fields
class BiasRule(NamedTuple):
    """One row of `REAL_BIAS`.

    Attributes
    ----------
    formula : str
        What is computed in float32, one rounding an operation; sx, sw and sy are the scales, b is the bias.
    systems : str
        Who computes it.
    takes : tuple of str
        Which of "bias", "range" and "w_sums" the rule needs beside the scales.
    rounding : str
        How a real value becomes an integer, as in `QuantizeRule.rounding`.
    is_narrow : bool
        Whether the lowest code of a signed type is left out.
    made : callable
        BiasNumbers -> the numbers that the C of `emit` takes, in its order: float32, or whole numbers.
    steps : callable
        ``(int64 accumulators, *those numbers)`` -> values in code steps.
    zero_point : str
        "inside": `steps` adds it; "outside": it is added after the rounding; "": the rule has none.
    """

    formula: str
    systems: str
    takes: tuple[str, ...]
    rounding: str
    is_narrow: bool
    made: Callable[[BiasNumbers], tuple[Any, ...]]
    steps: Callable[..., Array]
    zero_point: str = ""


def codes_per_unit(scale: Any) -> Any:
    """Give ncnn's scale, how many code steps 1.0 is, as a float32.

    Parameters
    ----------
    scale : float64
        Real size of a code step; may be an array.

    Returns
    -------
    ndarray of float32
    """
    return np.asarray(1 / np.asarray(scale, F64)).astype(F32)


def ncnn_scale(in_scale: Any, w_scale: Any) -> Any:
    """Give the real size of an accumulator's step as ncnn forms it: the reciprocal of the product of its scales.

    Parameters
    ----------
    in_scale, w_scale : float64
        Real sizes of a code step; may be arrays.

    Returns
    -------
    float32 or ndarray of float32
    """
    return F32(1) / (codes_per_unit(in_scale) * codes_per_unit(w_scale))


def _of_ncnn(n: BiasNumbers) -> tuple[Any, ...]:
    return ncnn_scale(n.in_scale, n.w_scale), n.bias, codes_per_unit(n.out_scale)


def _of_ncnn_requantize(n: BiasNumbers) -> tuple[Any, ...]:
    return (n.in_scale * n.w_scale).astype(F32), n.bias, codes_per_unit(n.out_scale)


def _of_mnn(n: BiasNumbers) -> tuple[Any, ...]:
    """Codes are used as unsigned ones, 128 higher: what that adds to the sums is taken back in float32."""
    in_scale, w_scale, out_scale = n.in_scale.astype(F32), n.w_scale.astype(F32), n.out_scale.astype(F32)
    undone = n.w_sums.astype(F32) * w_scale * F32(n.x_zero_point + 128) * in_scale
    shift = (n.bias - undone) / out_scale + F32(n.zero_point)
    return n.w_sums * (n.x_zero_point + 128), w_scale, in_scale / out_scale, shift


def _acc_scale(n: BiasNumbers) -> Any:
    return n.in_scale.astype(F32) * n.w_scale.astype(F32)


def _steps_of(lo: Any, hi: Any) -> tuple[Any, Any]:
    return F32(255) / (hi - lo), -lo * F32(255) / (hi - lo)


def _of_openvino(n: BiasNumbers) -> tuple[Any, ...]:
    return (_acc_scale(n), n.bias, *_steps_of(n.lo, n.hi))


def _of_openvino_no_bias(n: BiasNumbers) -> tuple[Any, ...]:
    factor, shift = map(np.asarray, _steps_of(n.lo / _acc_scale(n), n.hi / _acc_scale(n)))
    if shift.size and shift.max() - shift.min() < _NEAR_SHIFTS:
        shift = shift.reshape(-1)[0]
    return factor, shift


def _of_openvino_one_channel(n: BiasNumbers) -> tuple[Any, ...]:
    return _steps_of((n.lo - n.bias) / _acc_scale(n), (n.hi - n.bias) / _acc_scale(n))


def _of_fbgemm(n: BiasNumbers) -> tuple[Any, ...]:
    return n.bias / _acc_scale(n), _acc_scale(n) / n.out_scale.astype(F32)


def _twice_reciprocal(scale: Any) -> Any:
    return F32(1) / (F32(1) / scale.astype(F32))


def _of_onednn_groups(n: BiasNumbers) -> tuple[Any, ...]:
    return _twice_reciprocal(n.in_scale), n.w_scale.astype(F32), _twice_reciprocal(n.out_scale), F32(n.zero_point)


def _of_cadence(n: BiasNumbers) -> tuple[Any, ...]:
    return (n.in_scale * n.w_scale).astype(F32), (1 / n.out_scale).astype(F32)


def _of_onednn_2(n: BiasNumbers) -> tuple[Any, ...]:
    both = n.in_scale * n.w_scale
    scale = (both / n.out_scale).astype(F32)
    return (*(() if n.bias is None else ((n.bias / both).astype(F32),)), scale, F32(n.zero_point))


def _of_onednn_3(n: BiasNumbers) -> tuple[Any, ...]:
    return (*_before_bias(n, (_acc_scale(n),)), F32(1) / n.out_scale.astype(F32), F32(n.zero_point))


def _of_onednn_split(n: BiasNumbers) -> tuple[Any, ...]:
    split = n.in_scale.astype(F32), n.w_scale.astype(F32)
    return (*_before_bias(n, split), F32(1) / n.out_scale.astype(F32), F32(n.zero_point))


def _before_bias(n: BiasNumbers, scales: tuple[Any, ...]) -> tuple[Any, ...]:
    return scales if n.bias is None else (*scales, n.bias)


def _fused_then_scaled(acc: Array, scale: Any, bias: Any, per_unit: Any) -> Array:
    return np.asarray(fma(acc.astype(F32), scale, bias) * per_unit)


def _added_then_scaled(acc: Array, scale: Any, bias: Any, per_unit: Any) -> Array:
    return np.asarray((acc.astype(F32) * scale + bias) * per_unit)


def _raised(acc: Array, more: Any, scale: Any, ratio: Any, shift: Any) -> Array:
    return np.asarray((acc + more).astype(F32) * scale * ratio + shift)


def _added_then_fused(acc: Array, scale: Any, bias: Any, factor: Any, shift: Any) -> Array:
    return fma(acc.astype(F32) * scale + bias, factor, shift)


def _scaled_then_added(acc: Array, factor: Any, shift: Any) -> Array:
    return np.asarray(acc.astype(F32) * factor + shift)


def _fused(acc: Array, factor: Any, shift: Any) -> Array:
    return fma(acc.astype(F32), factor, shift)


def _divided_bias_added(acc: Array, bias: Any, scale: Any) -> Array:
    steps = (acc.astype(F32) + bias) * scale
    return np.asarray(np.where(np.abs(steps) >= _S32, -_S32, steps))


def _divided(acc: Array, before: Any, scale: Any, divisor: Any, zero: Any) -> Array:
    return np.asarray(acc.astype(F32) * before * scale / divisor + zero)


def _scaled_twice(acc: Array, scale: Any, inverse: Any) -> Array:
    return np.asarray(acc.astype(F32) * scale * inverse)


def _scaled_with_zero(acc: Array, scale: Any, zero: Any) -> Array:
    return np.asarray(acc.astype(F32) * scale + zero)


def _added_then_scaled_with_zero(acc: Array, bias: Any, scale: Any, zero: Any) -> Array:
    return np.asarray((acc.astype(F32) + bias) * scale + zero)


def _merged(acc: Array, scale: Any, inverse: Any, zero: Any) -> Array:
    return np.asarray(acc.astype(F32) * scale * inverse + zero)


def _merged_with_bias(acc: Array, scale: Any, bias: Any, inverse: Any, zero: Any) -> Array:
    return np.asarray((acc.astype(F32) * scale + bias) * inverse + zero)


def _split(acc: Array, first: Any, second: Any, inverse: Any, zero: Any) -> Array:
    return np.asarray(acc.astype(F32) * first * second * inverse + zero)


def _split_with_bias(acc: Array, first: Any, second: Any, bias: Any, inverse: Any, zero: Any) -> Array:
    return np.asarray((acc.astype(F32) * first * second + bias) * inverse + zero)


_S32 = F32(2**31)
_PRODUCTS = "inner products, matmul and convolutions to codes of 8 bits on x86 with VNNI"
_ONEDNN_2 = f"oneDNN 2.6.3, an older version than 3.x: {{}}{_PRODUCTS}"
_ONEDNN_3 = f"oneDNN 3.2.0, an older version than 3.13: {{}}{_PRODUCTS}"
_ONEDNN_SPLIT = f"oneDNN 3.13.2: {{}}{_PRODUCTS}"
_NEAR_SHIFTS = 5e-5
"""OpenVINO takes the shift of the first channel for all, if they are nearer to each other than this."""
REAL_BIAS = {
    "ncnn": BiasRule(
        "half_added(fma(acc, k, b) * Sy), k = 1 / (Sx * Sw), S = 1 / s as ncnn's scales; codes from -127 on",
        "ncnn 1.0.20261020 Convolution int8 on x86 with fma",
        ("bias",),
        "half_added",
        True,
        _of_ncnn,
        _fused_then_scaled,
    ),
    "ncnn-depthwise": BiasRule(
        "half_added((acc * k + b) * Sy), without fma; else as ncnn",
        "ncnn 1.0.20261020 ConvolutionDepthWise int8 on x86 where C % 8 is not 0 (else k is of RCPPS)",
        ("bias",),
        "half_added",
        True,
        _of_ncnn,
        _added_then_scaled,
    ),
    "ncnn-requantize": BiasRule(
        "half_added(fma(acc, sx * sw, b) * Sy); else as ncnn",
        "ncnn 1.0.20261020 Requantize on x86 with fma",
        ("bias",),
        "half_added",
        True,
        _of_ncnn_requantize,
        _fused_then_scaled,
    ),
    "mnn": BiasRule(
        "half_added(u * sw * (sx / sy) + ((b - c) / sy + z)), u = acc + W * (zx + 128), "
        "c = W * sw * (zx + 128) * sx, W the sum of the weights",
        "MNN 3.6.1 convolution int8 on x86",
        ("bias", "w_sums"),
        "half_added",
        False,
        _of_mnn,
        _raised,
        "inside",
    ),
    "openvino": BiasRule(
        "rint(fma(acc * s + b, 255 / (max - min), -min * 255 / (max - min))), s = sx * sw",
        "OpenVINO 2026.4.1 convolution, bias, FakeQuantize on x86 with AVX2, VNNI and AMX",
        ("bias", "range"),
        "half_even",
        False,
        _of_openvino,
        _added_then_fused,
    ),
    "openvino-no-bias": BiasRule(
        "rint(acc * (255 / (h - l)) + (-l * 255 / (h - l))), l = min / s, h = max / s, s = sx * sw",
        "OpenVINO 2026.4.1 convolution, FakeQuantize on x86 with SSE4.1, AVX2, VNNI and AMX",
        ("range",),
        "half_even",
        False,
        _of_openvino_no_bias,
        _scaled_then_added,
    ),
    "openvino-one-channel": BiasRule(
        "rint(fma(acc, 255 / (h - l), -l * 255 / (h - l))), l = (min - b) / s, h = (max - b) / s, s = sx * sw",
        "OpenVINO 2026.4.1 convolution with one output channel, bias, FakeQuantize on x86 with AVX2 and above",
        ("bias", "range"),
        "half_even",
        False,
        _of_openvino_one_channel,
        _fused,
    ),
    "torch-fbgemm-bias": BiasRule(
        "rint((acc + b / s) * (s / sy)) + z, s = sx * sw; beyond int32 the lowest code",
        "torch 2.13 linear and conv with a bias on fbgemm, x86 with AVX2 and with VNNI",
        ("bias",),
        "half_even",
        False,
        _of_fbgemm,
        _divided_bias_added,
        "outside",
    ),
    "torch-onednn-groups": BiasRule(
        "rint(acc * sx * sw / sy + z), sx and sy as 1 / (1 / s); adds no bias",
        "torch 2.13 conv on onednn, x86 with AVX2, in groups whose channels or filters are no multiple of 4",
        (),
        "half_even",
        False,
        _of_onednn_groups,
        _divided,
        "inside",
    ),
    "cadence": BiasRule(
        "rint(acc * float32(sx * sw) * float32(1 / sy)) + z, products and quotients of scales in double; adds no bias",
        "ExecuTorch 1.5.1 cadence reference conv and requantize",
        (),
        "half_even",
        False,
        _of_cadence,
        _scaled_twice,
        "outside",
    ),
    **{
        name: BiasRule(formula, systems, takes, "half_even", False, made, steps, "inside")
        for name, formula, systems, takes, made, steps in (
            (
                *("onednn-2.6", "rint((acc + b / s) * (s / sy) + z), s = sx * sw in double", _ONEDNN_2.format("")),
                *(("bias",), _of_onednn_2, _added_then_scaled_with_zero),
            ),
            (
                *("onednn-2.6-no-bias", "rint(acc * (s / sy) + z), s = sx * sw in double"),
                *(_ONEDNN_2.format("without a bias, "), (), _of_onednn_2, _scaled_with_zero),
            ),
            (
                *("onednn-3.2", "rint((acc * (sx * sw) + b) * (1 / sy) + z)", _ONEDNN_3.format("")),
                *(("bias",), _of_onednn_3, _merged_with_bias),
            ),
            (
                *("onednn-3.2-no-bias", "rint(acc * (sx * sw) * (1 / sy) + z)"),
                *(_ONEDNN_3.format("without a bias, "), (), _of_onednn_3, _merged),
            ),
            (
                *("onednn-3.13", "rint((acc * sx * sw + b) * (1 / sy) + z)", _ONEDNN_SPLIT.format("")),
                *(("bias",), _of_onednn_split, _split_with_bias),
            ),
            (
                *("onednn-3.13-no-bias", "rint(acc * sx * sw * (1 / sy) + z)"),
                *(_ONEDNN_SPLIT.format("without a bias, "), (), _of_onednn_split, _split),
            ),
        )
    },
}
"""Rules of requantization by real values: they add a real bias, or round twice, by name."""
