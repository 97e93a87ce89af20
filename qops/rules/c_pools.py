"""Means of windows as portable C, for `qops.rules.c_binary`. Products that no sum may fuse are volatile."""

from __future__ import annotations

__all__ = ["POOLS_C", "WHY_NO_POOL_C"]

_ENDS = "int32_t lo, int32_t hi"
_ZERO = f"int32_t zero_point, {_ENDS}"
_SUM = "int32_t sum, int32_t count"
_INTEGER = "return y < lo ? lo : y > hi ? hi : (int32_t)y;"
_FLOAT = "return code < (float)lo ? lo : code > (float)hi ? hi : (int32_t)code;"
_INVERSE = "const volatile float mean = (float)sum * (1.0f / (float)count);"
_INSIDE = "const float code = rintf(mean + (float)zero_point);"
_OUTSIDE = "const float code = rintf(mean) + (float)zero_point;"
_TAPS = [
    "float sum = 0;",
    "for (int i = 0; i < count; i++) {",
    "    const volatile float value = (float)(x[i] - x_zero_point) * x_scale;",
    "    sum += value;",
    "}",
    "const volatile float steps = sum / (float)count / y_scale;",
    "const float t = rintf(steps + (float)zero_point);",
]
_OF_TAPS = f"const int32_t *x, int32_t count, float x_scale, int32_t x_zero_point, float y_scale, {_ZERO}"
_TEXTS: dict[str, tuple[str, list[str]]] = {
    "away-stored": (
        f"{_SUM}, {_ENDS}",
        ["const int32_t y = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;", _INTEGER],
    ),
    "away": (
        f"{_SUM}, {_ZERO}",
        [
            "const int64_t twice = 2 * (int64_t)sum + (sum < 0 ? -(int64_t)count : count);",
            "const int64_t y = twice / (2 * (int64_t)count) + zero_point;",
            _INTEGER,
        ],
    ),
    "half-up": (
        f"{_SUM}, {_ENDS}",
        [
            "const int64_t twice = 2 * (int64_t)sum + count, by = 2 * (int64_t)count;",
            "const int64_t y = twice / by - (twice % by < 0); /* floored */",
            _INTEGER,
        ],
    ),
    "floor": (f"{_SUM}, {_ENDS}", ["const int32_t y = sum / count - (sum % count < 0);", _INTEGER]),
    "truncate": (f"{_SUM}, {_ZERO}", ["const int32_t y = sum / count + zero_point;", _INTEGER]),
    "truncate-stored": (f"{_SUM}, {_ENDS}", ["const int32_t y = sum / count;", _INTEGER]),
    "even": (f"{_SUM}, {_ZERO}", ["const volatile float mean = (float)sum / (float)count;", _OUTSIDE, _FLOAT]),
    "torch-nchw": (f"{_SUM}, {_ZERO}", [_INVERSE, _INSIDE, _FLOAT]),
    "torch-2.14-nhwc": (f"{_SUM}, {_ZERO}", [_INVERSE, _OUTSIDE, _FLOAT]),
    "torch-arm-nchw": (
        f"{_SUM}, {_ZERO}",
        ["const float code = rintf(fmaf((float)sum, 1.0f / (float)count, (float)zero_point));", _FLOAT],
    ),
    "ort": (
        _OF_TAPS,
        [*_TAPS, "const float code = t >= 0x1p31f ? -0x1p31f : t; /* what int32 does not hold */", _FLOAT],
    ),
    "ort-arm": (_OF_TAPS, [*_TAPS, "const float code = t;", _FLOAT]),
}


def _function(rule: str) -> str:
    arguments, lines = _TEXTS[rule]
    name = "average_pool_" + rule.replace("-", "_").replace(".", "_")
    return "\n".join([f"static int32_t {name}({arguments})", "{", *(f"    {line}" for line in lines), "}", ""])


POOLS_C: dict[str, tuple[tuple[str, ...], str]] = {rule: ((), _function(rule)) for rule in _TEXTS}
"""The C of means that no rule of requantize computes, as `OPS` of `qops.rules.c_binary` has that of others."""
_BLOCKS = "computes blocks of {} channels as torch-2.14-nhwc does, and the last ones as torch-nchw does"
WHY_NO_POOL_C = {"torch-nhwc": _BLOCKS.format(16), "torch-nhwc-avx2": _BLOCKS.format(8)}
"""Why a rule has no C of its own, by its name."""
