"""A rule as portable C: no undefined behaviour, no shift of a negative number left to the compiler."""

from collections.abc import Iterable
from typing import Literal, Never

from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import choice
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.c_binary import OPS, text_of
from qops.rules.fitted import FittedRule
from qops.rules.numbers import rule_of
from qops.rules.table import Rule

__all__ = ["emit", "emit_all"]

_SHIFT = """static int64_t shifted_64(int64_t v, int n)
{
    return v >= 0 ? v >> n : ~(~v >> n);
}
"""
_WRAP = """static int32_t wrap_s32(int64_t v)
{
    const uint32_t low = (uint32_t)v;
    return low <= INT32_MAX ? (int32_t)low : -(int32_t)(UINT32_MAX - low) - 1;
}
"""
_TERMS = {  # what is added to v before `v >> n`, which floors, to round in another way; n may be 0
    "floor": "0",
    "truncate": "({v} < 0 ? ((int64_t)1 << {n}) - 1 : 0)",
    "half_up": "((int64_t)1 << {n} >> 1)",
    "half_away": "((int64_t)1 << {n} >> 1) - ({v} < 0 && {n} > 0)",
    "half_down": "((int64_t)1 << {n} >> 1) - ({n} > 0)",
    "half_toward_zero": "((int64_t)1 << {n} >> 1) - ({v} >= 0 && {n} > 0)",
    "half_even": "((int64_t)1 << {n} >> 1) - ({n} > 0 && !(shifted_64({v}, {n}) & 1))",
}
_IN_SUM = "in the accumulator"
_REDUCES = "31 bits, 16 of them"
_REDUCED = "multiplier < 0x7FFF0000 ? (int32_t)shifted_64((int64_t)multiplier + (1 << 15), 16) : 0x7FFF"
_ROUNDS = {"half_even": "rint{f}({t})", "half_away": "round{f}({t})"}


def _shifted(value: str, count: str, rounding: str) -> str:
    term = _TERMS[rounding].format(v=value, n=count)
    return f"shifted_64({value} + {term}, {count})" if term != "0" else f"shifted_64({value}, {count})"


def _once(rule: Rule, product: str = "product") -> list[str]:
    high = _shifted(product, "right_shift", rule.first)
    return [
        f"    const int64_t {product} = (int64_t)x * multiplier;",
        f"    int64_t y = {f'wrap_s32({high})' if rule.wraps == 'result' else high} + (int64_t)zero_point;",
    ]


def _every_step_wraps(rule: Rule) -> list[str]:
    return [
        "    const int32_t product = wrap_s32((int64_t)x * multiplier);",
        "    const int32_t sum = wrap_s32((int64_t)product + ((int64_t)1 << right_shift >> 1));",
        "    const int64_t y = shifted_64(sum, right_shift) + (int64_t)zero_point;",
    ]


def _at_31(rule: Rule) -> list[str]:
    return [
        "    const int left = right_shift < 31 ? 31 - right_shift : 0;",
        "    const int rest = right_shift > 31 ? right_shift - 31 : 0;",
        "    const int64_t product = (int64_t)wrap_s32((int64_t)((uint64_t)(int64_t)x << left)) * multiplier;",
        f"    const int64_t high = {_shifted('product', '31', rule.first)};",
        f"    int64_t y = {_shifted('high', 'rest', rule.second)} + (int64_t)zero_point;",
    ]


def _past_31(rule: Rule) -> list[str]:
    whole, code = _once(rule, "whole")
    code = code.replace("int64_t", "const int64_t", 1)
    return [whole, "    if (right_shift <= 31) {", f"    {code}", f"    {_CLAMPED}", "    }", *_at_31(rule)]


def _last_bit(rule: Rule) -> list[str]:
    return [
        "    const int64_t product = (int64_t)x * multiplier;",
        f"    const int64_t high = wrap_s32({_shifted('product', 'right_shift - 1', rule.first)});",
        f"    int64_t y = {_shifted('high', '1', rule.second)} + (int64_t)zero_point;",
    ]


def _into_16_bits(rule: Rule) -> list[str]:
    return [
        "    const int left = right_shift < 15 ? 15 - right_shift : 0;",
        "    const int right = right_shift > 15 ? right_shift - 15 : 0;",
        "    const int64_t wide = (int64_t)x * ((int64_t)1 << left);",
        f"    const int64_t near = {_shifted('wide', 'right', rule.first)};",
        "    const int64_t product = (near < -32768 ? -32768 : near > 32767 ? 32767 : near) * multiplier;",
        f"    const int64_t y = {_shifted('product', '15', rule.second)} + (int64_t)zero_point;",
    ]


_CLAMPED = "    return y < lo ? lo : y > hi ? hi : (int32_t)y;"
_SPLITS = {"once": _once, "at 31": _at_31, "past 31": _past_31, "last bit": _last_bit, "16 bits": _into_16_bits}


def _integers(rule: Rule, name: str) -> str:
    lines = _every_step_wraps(rule) if rule.wraps == "every step" else _SPLITS[rule.split](rule)
    if rule.multiplier == _REDUCES:
        lines = [f"    const int32_t reduced = {_REDUCED};", *lines]
        lines = [
            line.replace("* multiplier", "* reduced").replace("right_shift", "(right_shift - 16)") for line in lines
        ]
    if rule.zero_point == _IN_SUM:
        sums = ["    const int32_t sum = wrap_s32((int64_t)x + zero_point);"]
        lines = [*sums, *(line.replace(")x <<", ")sum <<").replace(" + (int64_t)zero_point", "") for line in lines)]
    if rule.wraps == "sum with the zero point":
        lines.append("    y = wrap_s32(y);")
    return "\n".join([*_head(rule, name), *lines, _CLAMPED, "}", ""])


def _head(rule: Rule, name: str) -> list[str]:
    x = "int64_t x" if rule.multiplier in (_REDUCES, "16 bits of 31") else "int32_t x"
    first = f"static int32_t {name}({x}, int32_t multiplier, int right_shift,"
    return [first, " " * first.index("(") + " int32_t zero_point, int32_t lo, int32_t hi)", "{"]


def _fitted(rule: FittedRule) -> str:
    name = rule.name.replace("-", "_")
    added = " int64_t added," * isinstance(rule.added, tuple)
    first = f"static int32_t {name}(int64_t x, int64_t multiplier, int right_shift,{added}"
    lines = [first, " " * first.index("(") + " int32_t zero_point, int32_t lo, int32_t hi)", "{"]
    value, rest = "product", "right_shift"
    if rule.split != "once":
        k = rule.first_shift
        wanted = f"right_shift - {-k}" if k < 0 else str(k)
        lines.append(f"    const int wanted = {wanted};")
        lines.append("    const int part = wanted < 0 ? 0 : wanted > right_shift ? right_shift : wanted;")
        lines.append("    const int rest = right_shift - part;")
        rest = "rest"
    if rule.split == "before":
        lines.append(f"    const int64_t near = {_shifted('x', 'part', rule.first)};")
        lines.append("    const int64_t product = near * multiplier;")
    else:
        plus = " + added" if added else f" + INT64_C({rule.added})" * rule.has_bias
        lines.append(f"    const int64_t product = x * multiplier{plus};")
    if rule.split == "after":
        lines.append(f"    const int64_t high = {_shifted('product', 'part', rule.first)};")
        value = "high"
    if rule.zero_point == "inside":
        lines.append(f"    const int64_t sum = {value} + (int64_t)zero_point * ((int64_t)1 << {rest});")
        lines.append(f"    const int64_t y = {_shifted('sum', rest, rule.second)};")
    else:
        lines.append(f"    int64_t y = {_shifted(value, rest, rule.second)};")
        if rule.clamp == "before":
            lines.append("    y = y < OWN_LO ? OWN_LO : y > OWN_HI ? OWN_HI : y; /* the ends of the type of codes */")
        lines.append("    y += zero_point;")
    text = "\n".join([*lines, _CLAMPED, "}", ""])
    if rule.clamp == "before":
        text = "#ifndef OWN_LO /* int8 */\n#define OWN_LO -128\n#define OWN_HI 127\n#endif\n" + text
    return text


def _floats(rule: Rule, name: str) -> str:
    kind, suffix = ("double", "") if rule.multiplier.startswith("float64") else ("float", "f")
    given = "double scale" if rule.multiplier == "float64" else "float scale"
    product = f"({kind})x * scale"
    if rule.is_stepwise:
        given, product = "float before, float scale, float after", f"{product.replace('x *', 'x * before *')} * after"
    head = [f"static int32_t {name}(int32_t x, {given}, int32_t zero_point, int32_t lo, int32_t hi)", "{"]
    if not rule.multiplier.startswith("float"):  # of its integers
        head = [*_head(rule, name), "    const float scale = (float)multiplier * ldexpf(1, -right_shift);"]
    inside = rule.zero_point == "inside"
    rounded = _ROUNDS[rule.first].format(f=suffix, t="t")
    low, high = ("lo", "hi") if inside else ("lo - zero_point", "hi - zero_point")
    return "\n".join(
        [
            *head,
            *(_sum(kind, product) if inside else [f"    {kind} t = {product};"]),
            *(
                ["    t = t >= 0x1p31f ? -0x1p31f : t; /* what int32 does not hold */"]
                if rule.beyond == "lowest"
                else []
            ),
            f"    t = t < ({kind})({low}) ? ({kind})({low}) : t > ({kind})({high}) ? ({kind})({high}) : t;",
            f"    return (int32_t){rounded}{'' if inside else ' + zero_point'};",
            "}",
            "",
        ]
    )


def _sum(kind: str, product: str) -> list[str]:
    return [
        f"    const volatile {kind} product = {product}; /* volatile: never one fma with the sum */",
        f"    {kind} t = product + ({kind})zero_point;",
    ]


@refusing_unknown
def emit(rule: str | FittedRule, lang: Literal["c"] = "c", *, op: str = "requantize", **unknown: Never) -> str:
    """Write a rule as a function in portable C11, with the functions that it calls.

    The function of a rule in integers takes ``(x, multiplier, right_shift, zero_point, lo, hi)``, where
    `qops.rules.integers` gives the multiplier and the shift. The function of any other rule takes
    ``(x, scale, zero_point, lo, hi)``, for codes of at most 16 bits. The rules of torch on oneDNN have three
    floats instead of the scale, ``1 / (1 / in_scale)``, ``1 / (1 / w_scale)`` and ``1 / out_scale``, each rounded to
    float32; the second is just ``w_scale`` for convolutions. On AMX they are 1, the product of the first two, and
    the last. The text begins with the systems of the rule. x is
    int32_t; of tflite-int64acc and cmsis-s64, whose accumulators have 48 bits, it is int64_t. double-away refuses those
    too: beyond int32 TFLite's op wraps where the rule clamps. C that does so stands in what `Hunt.reduce` writes.

    The functions of other ops are ``OP_RULE``. ``add``, ``sub`` and ``mul`` take two codes less their zero points, but
    ``add_ort_x86``, which takes whole codes and the constant ``z - (ra * za + rb * zb)`` of both zero points;
    ``average_pool`` takes the sum that the rule's formula has: of the stored codes, or of the codes less their zero
    points; of onnxruntime's rules, which add float32 values, it takes the codes. Then come the numbers of the rule, as
    the rows of `qops.rules.add` name them, with right shifts in place of shifts.

    ``quantize`` takes a float, its scale, ``zero_point``, ``lo`` and ``hi``. `lo` of the rules that leave out the
    lowest code is -127; of those that cast, `lo` and `hi` are the ends of the type. openvino takes
    ``255 / (max - min)`` and ``-min * 255 / (max - min)``, each rounded to float32, and the lowest code of the type, in
    place of the scale and the zero point. NaN has no code.

    The functions of the rules of `REAL_BIAS` take ``x``, then the numbers that `Requantize.floats` has, in its order,
    then ``zero_point`` if their formula has a z, and ``lo, hi``. MNN's z is in its last number already.

    nnlib-supernode adds its zero point to the accumulator. Give the function `zero_point` in steps of that, which is
    ``half_even(zero_point / scale)`` in float32.

    A `FittedRule` that adds one number to the product has it in its text; of several channels the function takes
    ``added`` after the right shift.

    gemmlowp-legacy adds its offset to the accumulator. Give the function this sum as ``x``, and 0 as ``zero_point``.

    Parameters
    ----------
    rule : str or FittedRule
        A rule by its parts; or a name in `qops.rules.TABLE` or `REAL_BIAS`; of other ops one in `ADD`, `MUL`,
        `AVERAGE_POOL` or `QUANTIZE` that is no kernel of blocks.
        ``add`` and ``sub`` also have ``powers-of-two``, TFLite's form of int16.
    lang : {"c"}
        The language.
    op : {"requantize", "add", "sub", "mul", "average_pool", "quantize"}
        What the rule is of.

    Returns
    -------
    str
        Text of C, with the includes that it needs.

    Raises
    ------
    ValueError
        A rule, language or op that is not known, or a rule that two others compute, whose names are told.

    Notes
    -----
    Sources: `qops.rules.TABLE` names the systems; the text is written here.

    Examples
    --------
    >>> print(qops.rules.emit("textbook7-floor"))  # doctest: +ELLIPSIS
    /* textbook7-floor: textbooks, code by hand */
    #include <stdint.h>
    ...
    static int32_t textbook7_floor(int32_t x, int32_t multiplier, int right_shift,
                                   int32_t zero_point, int32_t lo, int32_t hi)
    {
        const int64_t product = (int64_t)x * multiplier;
        int64_t y = shifted_64(product, right_shift) + (int64_t)zero_point;
        return y < lo ? lo : y > hi ? hi : (int32_t)y;
    }
    <BLANKLINE>
    """
    if unknown:
        raise unknown_keyword(emit, unknown)
    choice(lang, "lang", ["c"])
    if isinstance(rule, FittedRule):
        choice(op, "op", ["requantize"])
        return f"/* {rule} */\n#include <stdint.h>\n\n{_SHIFT}\n{_fitted(rule)}"
    is_requantize = choice(op, "op", dict.fromkeys(["requantize", *OPS])) == "requantize"
    has_real_bias = is_requantize and isinstance(rule, str) and rule in REAL_BIAS
    return emit_all([rule_of(rule).name if is_requantize and not has_real_bias else f"{op} {rule}"])


def emit_all(rules: Iterable[str]) -> str:
    """Write rules in one text, in which each helper stands once.

    Parameters
    ----------
    rules : iterable of str
        Names in `qops.rules.TABLE`, or the op and the rule of others, as in "add xnnpack". One that stands twice is
        written once.

    Returns
    -------
    str
        Text of C.

    Raises
    ------
    ValueError
        A rule that is not known.
    """
    names = list(dict.fromkeys(rules))
    others = [text_of(*name.split(" ", 1)) for name in names if " " in name]
    needed = [*(name for name in names if " " not in name), *(rule for text in others for rule in text.needs)]
    rows = [rule_of(rule) for rule in dict.fromkeys(needed)]
    made = [(_floats if "float" in row.multiplier else _integers)(row, row.name.replace("-", "_")) for row in rows]
    bodies = [*made, *(text.body for text in others)]
    helpers = (text for word, text in (("shifted_64", _SHIFT), ("wrap_s32", _WRAP)) if word in "".join(bodies))
    said = [(row.name, row.systems) for row in rows]
    said += [(name, text.system) for name, text in zip((n for n in names if " " in n), others, strict=True)]
    says = "\n".join(f"/* {name}: {systems} */" for name, systems in said)
    has_floats = "float" in "".join(bodies) or "double" in "".join(bodies).replace("_double", "")
    includes = "#include <math.h>\n#include <stdint.h>\n" if has_floats else "#include <stdint.h>\n"
    return "\n".join((f"{says}\n{includes}", *helpers, *bodies))
