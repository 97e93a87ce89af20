"""Requantization with a real bias as portable C. Products that a sum must not fuse are volatile."""

from __future__ import annotations

from qops.rules.bias_rules import REAL_BIAS

__all__ = ["REAL_BIAS_C"]

_HALF_ADDED = "    const float near = truncf(steps + copysignf(0.5f, steps));"
_HALF_EVEN = "    const float near = rintf(steps);"
_CODE = "    return near < (float)lo ? lo : near > (float)hi ? hi : (int32_t)near;"
_ENDS = "int32_t lo, int32_t hi"
_FUSED_REAL = "    const float real = fmaf((float)x, scale, bias);"
_ADDED_REAL = [
    "    const volatile float scaled = (float)x * scale;",
    "    const float real = scaled + bias;",
]
_OF_NCNN = "float scale, float bias, float codes_per_unit"
_TEXTS: dict[str, tuple[str, list[str]]] = {
    "ncnn": (_OF_NCNN, [_FUSED_REAL, "    const volatile float steps = real * codes_per_unit;", _HALF_ADDED]),
    "ncnn-depthwise": (
        _OF_NCNN,
        [*_ADDED_REAL, "    const volatile float steps = real * codes_per_unit;", _HALF_ADDED],
    ),
    "mnn": (
        "int32_t raised, float scale, float ratio, float shift",
        [
            "    const float sum = (float)((int64_t)x + raised);",
            "    const float real = sum * scale;",
            "    const volatile float scaled = real * ratio;",
            "    const float steps = scaled + shift;",
            _HALF_ADDED,
        ],
    ),
    "openvino": (
        "float scale, float bias, float factor, float shift",
        [*_ADDED_REAL, "    const float steps = fmaf(real, factor, shift);", _HALF_EVEN],
    ),
    "openvino-no-bias": (
        "float factor, float shift",
        [
            "    const volatile float scaled = (float)x * factor;",
            "    const float steps = scaled + shift;",
            _HALF_EVEN,
        ],
    ),
    "openvino-one-channel": (
        "float factor, float shift",
        ["    const float steps = fmaf((float)x, factor, shift);", _HALF_EVEN],
    ),
    "torch-fbgemm-bias": (
        "float bias, float scale, int32_t zero_point",
        [
            "    const volatile float sum = (float)x + bias;",
            "    const float product = sum * scale;",
            "    const float steps = fabsf(product) >= 0x1p31f ? -0x1p31f : product; /* what int32 does not hold */",
            "    const float near = rintf(steps) + (float)zero_point;",
        ],
    ),
    "torch-onednn-groups": (
        "float before, float scale, float divisor, float zero",
        ["    const float steps = (float)x * before * scale / divisor + zero;", _HALF_EVEN],
    ),
    "cadence": (
        "float scale, float inverse, int32_t zero_point",
        [
            "    const float real = (float)x * scale;",
            "    const float steps = real * inverse;",
            "    const float near = rintf(steps) + (float)zero_point;",
        ],
    ),
}


def _onednn(arguments: str, product: str, has_bias: bool) -> tuple[str, list[str]]:
    """Sums to codes in oneDNN's order: each step is a float32, and none is fused."""
    lines = [f"    const volatile float real = {product};"]
    if has_bias:
        lines.append("    const float sum = real + bias;")
    lines.append(f"    const volatile float scaled = {'sum' if has_bias else 'real'} * inverse;")
    return f"{arguments}float inverse, float zero", [*lines, "    const float steps = scaled + zero;", _HALF_EVEN]


_TEXTS |= {
    "onednn-2.6": (
        "float bias, float scale, float zero",
        [
            "    const float sum = (float)x + bias;",
            "    const volatile float scaled = sum * scale;",
            "    const float steps = scaled + zero;",
            _HALF_EVEN,
        ],
    ),
    "onednn-2.6-no-bias": (
        "float scale, float zero",
        ["    const volatile float scaled = (float)x * scale;", "    const float steps = scaled + zero;", _HALF_EVEN],
    ),
    "onednn-3.2": _onednn("float scale, float bias, ", "(float)x * scale", True),
    "onednn-3.2-no-bias": _onednn("float scale, ", "(float)x * scale", False),
    "onednn-3.13": _onednn("float x_scale, float w_scale, float bias, ", "(float)x * x_scale * w_scale", True),
    "onednn-3.13-no-bias": _onednn("float x_scale, float w_scale, ", "(float)x * x_scale * w_scale", False),
}
_TEXTS["ncnn-requantize"] = _TEXTS["ncnn"]


def _function(rule: str) -> str:
    arguments, lines = _TEXTS[rule]
    head = f"static int32_t {rule.replace('-', '_').replace('.', '_')}(int32_t x, {arguments}, {_ENDS})"
    return "\n".join([head, "{", *lines, _CODE, "}", ""])


REAL_BIAS_C: dict[str, tuple[tuple[str, ...], str]] = {rule: ((), _function(rule)) for rule in REAL_BIAS}
"""The C of each rule of `REAL_BIAS`, as `OPS` of `qops.rules.c_binary` has that of others."""
