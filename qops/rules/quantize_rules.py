"""The rules of float32 to codes: `QUANTIZE`."""

from __future__ import annotations

from typing import NamedTuple

from qops._readable import shows_fields

__all__ = ["QUANTIZE", "QuantizeRule"]


@shows_fields
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
        "times, inverse in double", the same with 1 / s of the scale that is not yet a float32; "fused",
        x * (1 / s) + z rounded once; "range", x * (255 / (max - min)) - min * (255 / (max - min)), of the real values
        of the lowest and the highest code.
    rounding : str
        How that becomes an integer: floor, ceil or truncate; outward, away from 0; or half_up, half_down, half_away,
        half_toward_zero or half_even, which say where a tie goes. half_added is half_away by adding 0.5 in float32:
        0.49999997 becomes 1. half_even_or_up sends ties to even, but negative ones up.
    zero_point : str
        "outside": z is added after the rounding; "inside": before.
    width : int
        How many elements are computed together; 0 if each is computed by itself. The last elements, which do not fill
        a width, are computed by the rule `tail`.
    tail : str
        Name of that rule.
    beyond : str
        What a rounded result that int32 does not hold becomes, a word of `BinaryRule.beyond`. "cast": the lowest
        integer, and of all results only the low bits are kept, as a cast to the type does it. "lowest of int64": the
        lowest code, but only what int64 does not hold.
    is_narrow : bool
        Whether the lowest code of a signed type is left out.
    """

    formula: str
    systems: str
    product: str
    rounding: str
    zero_point: str
    width: int = 0
    tail: str = ""
    beyond: str = "saturates"
    is_narrow: bool = False


_SYSTEMS = {
    "div-away": QuantizeRule(
        "half_away(x / s) + z", "LiteRT 2.3 reference; ESP-PPQ 1.3.12", "over", "half_away", "outside"
    ),
    "inv-even": QuantizeRule(
        "rint(x * (1 / s)) + z",
        "XNNPACK 75db3c0, so LiteRT 2.3 by default; torch 2.13 and 2.14 linear_dynamic on fbgemm, x86 and qnnpack",
        "times",
        "half_even",
        "outside",
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
        "rint(x / s) + z",
        "onnx 1.23 ReferenceEvaluator; onnxruntime 1.31 and 1.32; rknn-toolkit2 2.5.0 simulator; ESP-PPQ 1.3.12 for "
        "the ESP32-P4",
        "over",
        "half_even",
        "outside",
    ),
    "fma-zp-inside": QuantizeRule(
        "rint(fma(x, 1 / s, z))", "torch 2.13 quantize_per_tensor", "fused", "half_even", "inside"
    ),
    "torch-arm": QuantizeRule(
        "as inv-even",
        "torch 2.10 quantize_per_tensor on 64-bit ARM",
        "times",
        "half_even",
        "outside",
        8,
        "inv-even-wraps",
    ),
    "inv-even-wraps": QuantizeRule(
        "as inv-even; beyond int32 it is cut, and with z it wraps",
        "torch 2.12 and 2.14 quantize_per_tensor; torch 2.10 on 64-bit ARM, the last n % 8 elements",
        "times",
        "half_even",
        "outside",
        beyond="cut, wraps",
    ),
    "inv-even-zp-inside": QuantizeRule(
        "rint(x * (1 / s) + z), two roundings",
        "torch 2.13 quantize_per_channel, on x86 with AVX2 and with AVX-512",
        "times",
        "half_even",
        "inside",
    ),
    "double-inv-even": QuantizeRule(
        "rint(x * (1 / s)) + z, 1 / s in double, then float32",
        "torch 2.14.1 quantized_decomposed.quantize_per_tensor (PT2E)",
        "times, inverse in double",
        "half_even",
        "outside",
    ),
    "inv-even-int64": QuantizeRule(
        "as inv-even; beyond int64 the lowest code",
        "ExecuTorch 1.5.1 quantize_per_tensor.out and quantize_per_channel.out",
        "times",
        "half_even",
        "outside",
        beyond="lowest of int64",
    ),
    "ncnn": QuantizeRule(
        "half_added(x * (1 / s)), 1 / s the number that ncnn calls scale; codes from -127 on",
        "ncnn 1.0.20261020 Quantize",
        "times, inverse in double",
        "half_added",
        "outside",
        is_narrow=True,
    ),
    "mnn": QuantizeRule(
        "half_added(x * (1 / s) + z); codes from -127 on",
        "MNN 3.6.1 FloatToInt8 on x86",
        "times",
        "half_added",
        "inside",
        is_narrow=True,
    ),
    "openvino": QuantizeRule(
        "rint(x * k - min * k), k = 255 / (max - min), each operation a float32",
        "OpenVINO 2026.4.1 FakeQuantize on x86 with AVX2 and above, where SSE4.1 computes otherwise",
        "range",
        "half_even",
        "inside",
    ),
}

_OF_TOOLS: dict[str, tuple[str, str, str, str]] = {
    "div-half-up": ("over", "half_up", "outside", "ESP-PPQ 1.3.12 for the ESP32-S3 and C"),
    "div-half-up-zp-inside": ("over", "half_up", "inside", "AIMET-onnx 2.42.0 quantizeDequantize"),
    "div-half-down": ("over", "half_down", "outside", "ESP-PPQ 1.3.12 ROUND_HALF_DOWN"),
    "div-half-toward-zero": ("over", "half_toward_zero", "outside", "ESP-PPQ 1.3.12 ROUND_HALF_TOWARDS_ZERO"),
    "div-floor": ("over", "floor", "outside", "ESP-PPQ 1.3.12 ROUND_DOWN"),
    "div-ceil": ("over", "ceil", "outside", "ESP-PPQ 1.3.12 ROUND_UP"),
    "div-even-zp-inside": (
        *("over", "half_even", "inside"),
        "QONNX 1.0.0 Quant ROUND and HALF_EVEN; Brevitas 0.13.4 IntQuant ROUND",
    ),
    "div-away-zp-inside": ("over", "half_away", "inside", "QONNX 1.0.0 Quant HALF_UP"),
    "div-half-toward-zero-zp-inside": ("over", "half_toward_zero", "inside", "QONNX 1.0.0 Quant HALF_DOWN"),
    "div-outward-zp-inside": ("over", "outward", "inside", "QONNX 1.0.0 Quant UP"),
    "div-truncate-zp-inside": (
        *("over", "truncate", "inside"),
        "QONNX 1.0.0 Quant DOWN; Brevitas 0.13.4 IntQuant ROUND_TO_ZERO",
    ),
    "div-floor-zp-inside": (
        *("over", "floor", "inside"),
        "QONNX 1.0.0 Quant FLOOR; Brevitas 0.13.4 IntQuant FLOOR",
    ),
    "div-ceil-zp-inside": (*("over", "ceil", "inside"), "QONNX 1.0.0 Quant CEIL; Brevitas 0.13.4 IntQuant CEIL"),
    "div-even-or-up-zp-inside": (
        *("over", "half_even_or_up", "inside"),
        "Brevitas 0.13.4 IntQuant DPU_ROUND, for the DPU of Vitis AI",
    ),
}
_BY_HAND: dict[str, tuple[str, str, str, str]] = {
    "div-truncate": ("over", "truncate", "outside", "saturates"),
    "inv-truncate": ("times", "truncate", "outside", "saturates"),
    "inv-truncate-zp-inside": ("times", "truncate", "inside", "saturates"),
    "inv-floor": ("times", "floor", "outside", "saturates"),
    "inv-half-up": ("times", "half_up", "outside", "saturates"),
    "inv-half-up-zp-inside": ("times", "half_up", "inside", "saturates"),
    "inv-away": ("times", "half_away", "outside", "saturates"),
    "inv-away-zp-inside": ("times", "half_away", "inside", "saturates"),
    "div-even-cast": ("over", "half_even", "outside", "cast"),
    "div-away-cast": ("over", "half_away", "outside", "cast"),
    "div-half-up-cast": ("over", "half_up", "outside", "cast"),
    "div-floor-cast": ("over", "floor", "outside", "cast"),
    "div-truncate-cast": ("over", "truncate", "outside", "cast"),
    "inv-even-cast": ("times", "half_even", "outside", "cast"),
    "inv-away-cast": ("times", "half_away", "outside", "cast"),
    "inv-truncate-cast": ("times", "truncate", "outside", "cast"),
}
_WRITTEN = {"over": "x / s", "times": "x * (1 / s)"}


def _formula(product: str, rounding: str, zero_point: str, beyond: str) -> str:
    """The formula of a row that words say in full."""
    name, near = "rint" if rounding == "half_even" else rounding, _WRITTEN[product]
    code = f"{name}({near}) + z" if zero_point == "outside" else f"{name}({near} + z)"
    return f"{code}, cast to the type: what it does not hold wraps" if beyond == "cast" else code


QUANTIZE = {
    **_SYSTEMS,
    **{
        name: QuantizeRule(_formula(product, rounding, zero, "saturates"), systems, product, rounding, zero)
        for name, (product, rounding, zero, systems) in _OF_TOOLS.items()
    },
    **{
        name: QuantizeRule(_formula(*words), "code by hand", *words[:3], beyond=words[3])
        for name, words in _BY_HAND.items()
    },
}
"""Rules of float32 to codes, by name."""
