"""Sums, products and means of codes as portable C, and rules with a real bias, on `qops.rules.c_source`."""

from __future__ import annotations

from typing import NamedTuple

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.rules.averages import AVERAGE_POOL
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.binary import ADD, MUL
from qops.rules.c_pools import POOLS_C, WHY_NO_POOL_C
from qops.rules.c_quantize import QUANTIZE_C, WHY_NO_QUANTIZE_C
from qops.rules.c_real_bias import REAL_BIAS_C
from qops.rules.quantize_rules import QUANTIZE
from qops.rules.table import TABLE

__all__ = ["OPS", "Text", "text_of"]


class Text(NamedTuple):
    """C of one rule.

    Attributes
    ----------
    system : str
        Who computes it.
    needs : tuple of str
        The rules of `TABLE` whose functions it calls.
    body : str
        The function.
    """

    system: str
    needs: tuple[str, ...]
    body: str


_ENDS = "int32_t zero_point, int32_t lo, int32_t hi"
_CLAMPED = "    return y < lo ? lo : y > hi ? hi : {cast}y;"


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return "\n".join([f"static int32_t {name}({arguments})", "{", *lines, "}", ""])


def _c(rule: str) -> str:
    return rule.replace("-", "_")


def _staged(name: str, rule: str, op: str) -> str:
    """Both operands to one scale, then their sum or difference to that of the result."""
    near = [
        f"    const int32_t near_{x} = {rule}({x} * (1 << left_shift), {x}_multiplier, {x}_right_shift, 0, INT32_MIN, "
        "INT32_MAX);"
        for x in "ab"
    ]
    arguments = (
        "int32_t a, int32_t b, int left_shift, int32_t a_multiplier, int a_right_shift,\n    int32_t b_multiplier, "
        f"int b_right_shift, int32_t multiplier, int right_shift, {_ENDS}"
    )
    last = f"    return {rule}(near_a {op} near_b, multiplier, right_shift, zero_point, lo, hi);"
    return _function(name, arguments, [*near, last])


def _ratios(name: str, rule: str, op: str) -> str:
    """Two products, summed up and shifted once."""
    total = f"    const int32_t total = a * a_multiplier {op} b * b_multiplier;"
    arguments = f"int32_t a, int32_t b, int32_t a_multiplier, int32_t b_multiplier, int right_shift,\n    {_ENDS}"
    return _function(name, arguments, [total, f"    return {rule}(total, 1, right_shift, zero_point, lo, hi);"])


def _powers(name: str, op: str) -> str:
    """Scales that are powers of two: shifts with ties away from 0, then a sum in 16 bits."""
    near = ", ".join(f"near_{x} = rndna({x}, 1, {x}_right_shift, 0, INT16_MIN, INT16_MAX)" for x in "ab")
    arguments = "int32_t a, int32_t b, int a_right_shift, int b_right_shift, int32_t lo, int32_t hi"
    lines = [f"    const int32_t {near}, y = near_a {op} near_b;", _CLAMPED.format(cast="")]
    return _function(name, arguments, lines)


def _chain(name: str) -> str:
    """Two fused steps on codes with their zero points; what int32 does not hold is its lowest number."""
    lines = [
        "    const float t = fmaf((float)a, a_ratio, fmaf((float)b, b_ratio, constant));",
        "    const float y = rintf(t >= 0x1p31f ? -0x1p31f : t);",
        "    return y < (float)lo ? lo : y > (float)hi ? hi : (int32_t)y;",
    ]
    arguments = "int32_t a, int32_t b, float a_ratio, float b_ratio, float constant, int32_t lo, int32_t hi"
    return _function(name, arguments, lines)


def _product(name: str, rule: str) -> str:
    """The product of two codes less their zero points, by a rule of requantize."""
    is_float = TABLE[rule].multiplier.startswith("float")
    numbers = "float scale" if is_float else "int32_t multiplier, int right_shift"
    passed = "scale" if is_float else "multiplier, right_shift"
    call = f"    return {_c(rule)}(a * b, {passed}, zero_point, lo, hi);"
    return _function(name, f"int32_t a, int32_t b, {numbers}, {_ENDS}", [call])


def _mean_in_float(name: str, rule: str) -> str:
    """The sum of codes less their zero points, by a rule of requantize whose scale holds the count."""
    call = f"    return {_c(rule)}(sum, scale, zero_point, lo, hi);"
    return _function(name, f"int32_t sum, float scale, {_ENDS}", [call])


def _sums(op: str, sign: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Give the rules of a sum or a difference: the rules that each needs, and its text."""
    by_shift = (("xnnpack", "rndnu"), ("qnnpack", "rndna"), ("torch-qnnpack", "rndna"))[: 3 if op == "add" else 1]
    return {
        **{rule: ((rule,), _staged(f"{op}_{_c(rule)}", _c(rule), sign)) for rule in ("tflite-double", "tflite-single")},
        **{rule: ((shift,), _ratios(f"{op}_{_c(rule)}", shift, sign)) for rule, shift in by_shift},
        "powers-of-two": (("rndna",), _powers(f"{op}_powers_of_two", sign)),
    }


_PRODUCTS = {
    **dict.fromkeys(("tflite-double", "tflm-double"), "tflite-double"),
    **{"tflite-single": "tflite-single", "fp32-even": "fp32-even", "ort-x86": "fp32-even-zp-inside", "rndnu": "rndnu"},
}
_GLOBAL = ("ort-global", "torch-qnnpack")
OPS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    "add": {**_sums("add", "+"), "ort-x86": ((), _chain("add_ort_x86"))},
    "sub": _sums("sub", "-"),
    "mul": {rule: ((by,), _product(f"mul_{_c(rule)}", by)) for rule, by in _PRODUCTS.items()},
    "average_pool": {
        **POOLS_C,
        **{rule: (("fp32-even",), _mean_in_float(f"average_pool_{_c(rule)}", "fp32-even")) for rule in _GLOBAL},
    },
    "quantize": QUANTIZE_C,
    "requantize": REAL_BIAS_C,
}
"""The C of each rule, by op and rule: the rules of requantize that it needs, and its text."""
_WHY_NONE = {"quantize": WHY_NO_QUANTIZE_C, "average_pool": WHY_NO_POOL_C}
_SYSTEMS = {
    **{("add", rule): row.systems for rule, row in ADD.items()},
    **{("mul", rule): row.systems for rule, row in MUL.items()},
    **{("average_pool", rule): row.systems for rule, row in AVERAGE_POOL.items()},
    **{("quantize", rule): row.systems for rule, row in QUANTIZE.items()},
    **{("requantize", rule): row.systems for rule, row in REAL_BIAS.items()},
}


def text_of(op: str, rule: str) -> Text:
    """Give the C of one rule of an op of pairs, of means, or of values.

    Parameters
    ----------
    op : {"add", "sub", "mul", "average_pool", "quantize", "requantize"}
    rule : str
        One of `OPS` there; of requantize those with a real bias.

    Returns
    -------
    Text

    Raises
    ------
    ValueError
        Another op or rule, or one of blocks, which two other rules compute.
    """
    why = _WHY_NONE.get(op, {}).get(rule)
    if why is not None:
        raise bad_value("rule", f"{rule} has no C of its own: it {why}; write these two")
    needs, body = OPS[choice(op, "op", OPS)][choice(rule, "rule", OPS[op])]
    return Text(_SYSTEMS.get((op, rule), "TFLite"), needs, body)
