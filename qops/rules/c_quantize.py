"""Quantizers as portable C: float32 values to codes. Each step is one rounding; what no sum may fuse is volatile."""

from __future__ import annotations

from qops.rules.quantize_rules import QUANTIZE, QuantizeRule

__all__ = ["QUANTIZE_C", "WHY_NO_QUANTIZE_C"]

_STEPS = {
    "over": ("float", "const volatile float steps = x / scale;"),
    "over in double": ("double", "const double steps = (double)x / (double)scale;"),
    "times": ("float", "const volatile float steps = x * (1.0f / scale);"),
    "times, inverse in double": ("float", "const volatile float steps = x * (float)(1.0 / scale);"),
    "fused": ("float", "const float steps = fmaf(x, 1.0f / scale, (float)zero_point);"),
    "range": ("float", "const volatile float product = x * factor;"),
}
"""What is done with the scale: the type of the result, and the line that does it."""
_ROUNDED = {
    "floor": "floor{f}(steps)",
    "ceil": "ceil{f}(steps)",
    "truncate": "trunc{f}(steps)",
    "outward": "copysign{f}(ceil{f}(fabs{f}(steps)), steps)",
    "half_up": "floor{f}(steps + 0.5{f})",
    "half_down": "ceil{f}(steps - 0.5{f})",
    "half_away": "round{f}(steps)",
    "half_added": "trunc{f}(steps + copysign{f}(0.5{f}, steps))",
    "half_toward_zero": "copysign{f}(ceil{f}(fabs{f}(steps) - 0.5{f}), steps)",
    "half_even": "rint{f}(steps)",
    "half_even_or_up": "steps < 0 && steps - floor{f}(steps) == 0.5{f} ? ceil{f}(steps) : rint{f}(steps)",
}
_CLAMPED = "return code < ({kind})lo ? lo : code > ({kind})hi ? hi : (int32_t)code;"
_CAST = [
    "const int64_t kept = near >= -0x1p31f && near < 0x1p31f ? (int64_t)near : INT32_MIN;",
    "const uint32_t above = (uint32_t)(kept + zero_point) - (uint32_t)lo;",
    "return lo + (int32_t)(above & (uint32_t)(hi - lo)); /* the low bits: lo and hi are the ends of the type */",
]
_CUT = [
    "const int64_t kept = near < -0x1p31f ? INT32_MIN : near > 0x1p31f - 128 ? INT32_MAX - 127 : (int64_t)near;",
    "const int32_t code = wrap_s32(kept + zero_point);",
    "return code < lo ? lo : code > hi ? hi : code;",
]


def _lines(row: QuantizeRule) -> list[str]:
    kind, first = _STEPS[row.product]
    is_inside, f = row.zero_point == "inside", "f" if kind == "float" else ""
    lines = [first]
    if row.product == "range":
        lines.append("const float steps = product + shift;")
    elif is_inside and row.product != "fused":
        lines[0] = first.replace(" steps ", " scaled ")
        lines.append("const volatile float steps = scaled + (float)zero_point;")
    lines.append(f"const {kind} near = {_ROUNDED[row.rounding].format(f=f)};")
    if row.beyond == "cast":
        return lines + _CAST
    if row.beyond == "cut, wraps":
        return lines + _CUT
    if row.beyond == "lowest of int64":
        lines[-1] = lines[-1].replace(" near ", " whole ")
        lines.append("const float near = fabsf(whole) < 0x1p63f ? whole : -0x1p63f; /* what int64 does not hold */")
    after = "lowest" if row.product == "range" else "" if is_inside else "zero_point"
    lines.append(f"const {kind} code = near{f' + ({kind}){after}' if after else ''};")
    return [*lines, _CLAMPED.format(kind=kind)]


def _text(rule: str, row: QuantizeRule) -> str:
    given = {"range": "float factor, float shift, int32_t lowest", "times, inverse in double": "double scale"}
    numbers = given.get(row.product, "float scale") + (", int32_t zero_point" if row.product != "range" else "")
    head = f"static int32_t quantize_{rule.replace('-', '_')}(float x, {numbers}, int32_t lo, int32_t hi)"
    return "\n".join([head, "{", *(f"    {line}" for line in _lines(row)), "}", ""])


QUANTIZE_C: dict[str, tuple[tuple[str, ...], str]] = {
    rule: ((), _text(rule, row)) for rule, row in QUANTIZE.items() if not row.width
}
"""The C of each rule of `QUANTIZE` that computes each element by itself, as `OPS` of `qops.rules.c_binary` has it."""
WHY_NO_QUANTIZE_C = {
    rule: f"computes whole blocks of {row.width} elements {row.formula} does, and the last ones as {row.tail} does"
    for rule, row in QUANTIZE.items()
    if row.width
}
"""Why a rule has no C of its own, by its name."""
