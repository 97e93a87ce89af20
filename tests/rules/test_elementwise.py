"""`qops.rules.add` and `mul`: many elements as few, int16, tails, bad input. The golden set has the bits."""

import itertools

import numpy as np
import pytest
import reference_rules as twin
from cases import case
from exact import fma
from ops import on_every_tier

from qops import rules

HOW = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.125, "b_zero_point": 100, "y_scale": 0.55, "y_zero_point": 20}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("call", "rule"), [*((rules.add, r) for r in rules.ADD), *((rules.mul, r) for r in rules.MUL)])
def test_many_elements_are_as_few(rng, call, rule, dtype):
    info = np.iinfo(dtype)
    a, b = rng.integers(info.min, info.max + 1, (2, 70_013)).astype(dtype)
    many = call(a, b, rule, **HOW)
    width = 64  # of the widest vector: from its multiples on, parts are as the whole
    for start in (0, width * 500):
        few = call(a[start : start + width * 9], b[start : start + width * 9], rule, **HOW)
        np.testing.assert_array_equal(many[start : start + width * 9], few)
    assert len(np.unique(many)) > 20


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("rule", rules.MUL)
def test_products_in_lanes_are_those_of_parts_too_short_for_lanes(rng, rule, dtype):
    info = np.iinfo(dtype)
    pairs = np.array(np.meshgrid(*[np.arange(info.min, info.max + 1)] * 2)).reshape(2, -1).astype(dtype)
    a, b = pairs[:, rng.permutation(pairs.shape[1])[:3100]]
    for scale in (0.55, 2.0**-4, 2.0**-9, 40.0):
        how = {**HOW, "a_zero_point": info.max, "b_zero_point": info.min, "y_scale": scale}
        parts = [rules.mul(a[i : i + 31], b[i : i + 31], rule, **how) for i in range(0, a.size, 31)]
        np.testing.assert_array_equal(rules.mul(a, b, rule, **how), np.concatenate(parts))


@pytest.mark.parametrize("rule", ["tflite-opt-s8", "tflite-opt-u8"])
def test_scales_of_an_optimised_add_may_be_2_20_apart(rng, rule):
    a, b = rng.integers(0, 128, (2, 64)).astype(np.int8)
    how = {**HOW, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0}
    for word in ("a", "b"):
        codes = {word: a, "b" if word == "a" else "a": b}
        scales = how | {"a_scale": 1.0, f"{word}_scale": 2.0**-20}
        codes_of_one = rules.add(**codes, rule=rule, **scales).astype(int) - 20
        exact = sum((q.astype(int) - scales[f"{w}_zero_point"]) * scales[f"{w}_scale"] for w, q in codes.items())
        assert np.abs(codes_of_one - exact.clip(-148, 107)).max() <= 1
        with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .* are more than 2\*\*20 apart"):
            rules.add(**codes, rule=rule, **scales | {f"{word}_scale": 2.0**-21})


def test_sums_of_integers_that_reach_beyond_32_bits(tier):
    """With integers of a caller a sum and its half, or a shift to the left, need more bits."""
    m, half, a = 2**22 - 1, (2**30, 31), np.full(200, 255, np.uint8)
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    for n in (0, 1, 2, 3, 4, 24, 25, 26, 30):
        want = min((510 * m + (1 << n >> 1)) >> n, 255)
        for rule in ("xnnpack", "qnnpack"):
            assert (rules.add(a, a, rule, integers=((m, 0), (m, 0), (1, n)), **zeros) == want).all()
    assert (rules.add(a // 255, a - a, "tflite-single", integers=(half, half, (2**11, 0)), **zeros) == 255).all()


@pytest.mark.parametrize(("rule", "width", "tail"), [(n, r.width, r.tail) for n, r in rules.ADD.items() if r.width])
def test_the_tail_goes_by_another_rule(rng, rule, width, tail):
    a, b = rng.integers(0, 256, (2, 100_000)).astype(np.uint8)
    cut = 1000 * width + width - 1
    got, want = rules.add(a[:cut], b[:cut], rule, **HOW), rules.add(a[:cut], b[:cut], tail, **HOW)
    whole = rules.add(a, b, rule, **HOW)
    np.testing.assert_array_equal(got[-(width - 1) :], want[-(width - 1) :])
    np.testing.assert_array_equal(got[: 1000 * width], whole[: 1000 * width])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "tflite"}, "^rule: expected one of.* got 'tflite'"),
        ({"a": np.zeros(3)}, "^a: expected uint8 or int8"),
        ({"b": np.zeros(3, np.int8)}, "^b: expected uint8 data, got int8"),
        ({"b": np.zeros(4, np.uint8)}, "^a, b: expected equal shapes"),
        ({"a_scale": 0.0}, "^a_scale: expected a number above 0"),
        ({"y_scale": np.inf}, "^y_scale: inf is not finite"),
        ({"b_zero_point": 256}, "^b_zero_point: expected an integer in"),
        ({"out": np.zeros(3, np.int8)}, "^out: expected native uint8"),
    ],
)
@pytest.mark.parametrize("call", [rules.add, rules.mul])
def test_bad_input_is_named(call, changes, text):
    codes = np.zeros(3, np.uint8)
    how = {"a": codes, "b": codes, "rule": "tflite-double", **HOW} | changes
    with pytest.raises((ValueError, TypeError), match=text):
        call(how.pop("a"), how.pop("b"), how.pop("rule"), **how)


def test_a_product_has_the_scale_that_its_system_forms():
    """The three scales make one of 26 in 300 random calls another integer."""
    how = {"a_scale": 0.029999999329447746, "b_scale": 0.019999999552965164, "y_scale": 0.03839999809861183}
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    codes = np.int8([-95]), np.int8([65])
    assert rules.mul(*codes, "tflite-double", **how, **zeros).item() == -96
    assert rules.mul(*codes, "tflm-double", **how, **zeros).item() == -97


BEYOND = [  # op, rule, what it makes of results beyond int32, whether it adds the zero point before it rounds
    ("add", "ort-x86", "lowest", True),
    ("add", "torch", "cut, wraps", False),
    ("add", "torch-tail", "saturates", True),
    ("add", "torch-2.14", "cut, wraps", False),
    ("add", "torch-2.14-tail", "saturates", False),
    ("mul", "ort-x86", "lowest", True),
    ("mul", "torch", "lowest, wraps", False),
    ("mul", "torch-tail", "saturates", False),
    ("mul", "fp32-even", "saturates", False),
]


@pytest.mark.parametrize(("op", "rule", "beyond", "inside"), BEYOND)
def test_what_int32_does_not_hold_becomes_what_the_row_says(rng, op, rule, beyond, inside):
    """Compared with float32 steps and with Python integers, which are cut and wrapped as C and x86 do it."""
    row = (rules.ADD if op == "add" else rules.MUL)[rule]
    assert row.beyond == beyond
    for zero, scale in itertools.product((0, 1, 100, 127, -1, -128, 128, 255), (4.2e6, 4.22e6, 1e8, 2.0**24, 3e33)):
        with case(zero, scale):
            dtype, call = (np.int8 if zero < 0 else np.uint8), getattr(rules, op)
            info = np.iinfo(dtype)
            a, b = rng.integers(info.min, info.max + 1, (2, 101)).astype(dtype)
            how = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": zero, "a_scale": scale, "y_scale": 1.0}
            how["b_scale"] = 1.0 if op == "mul" else scale
            x, y, s = a.astype(np.float32), b.astype(np.float32), np.float32(scale)
            real = x * y * s if op == "mul" else x * s + y * s
            if (op, rule) == ("add", "ort-x86"):
                real = fma(x, s, fma(y, s, zero))
            elif inside:
                real = real + np.float32(zero)
            want = [twin.beyond_int32(np.rint(v).item(), 0 if inside else zero, beyond) for v in real]
            want = np.clip(np.array(want, object), info.min, info.max).astype(dtype)
            if row.tail:
                want[64:] = on_every_tier(call, a[64:], b[64:], row.tail, **how)
            np.testing.assert_array_equal(on_every_tier(call, a, b, rule, **how), want)


def test_scales_beyond_float32_are_refused():
    codes = np.zeros(64, np.uint8)
    with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .* are out of the range of torch: float32 "):
        rules.add(codes, codes, "torch", **HOW | {"a_scale": 1e39})
    with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .* not between 2\*\*-40 and 2\*\*8$"):
        rules.add(codes, codes, "xnnpack", **HOW | {"y_scale": 3e38})


def test_adds_of_16_bits_are_what_tflite_gives():
    """Shifted by 15 bits, not 20; compared with exact products, rounded twice."""
    a, b = np.array([[15690, -8797, 32767, -32768, 4648], [8190, 13631, 32767, -32768, -14782]], np.int16)
    how = {"a_scale": 0.00021, "b_scale": 0.00034, "y_scale": 0.0004}
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    assert rules.add(a, b, "tflite-double", **how, **zeros).tolist() == [15199, 6968, 32767, -32768, -10125]
    assert rules.add(a, b, "tflite-single", **how, **zeros)[4] == -10124
    with pytest.raises(TypeError, match=r"^a: expected uint8 or int8, or int16 by tflite-double, tflite-single"):
        rules.add(a, b, "xnnpack", **how, **zeros)
    with pytest.raises(ValueError, match=r"^b_zero_point: expected an integer in"):
        rules.add(a, b, "tflite-double", **how, **{**zeros, "b_zero_point": 1})


def test_products_of_16_bits_are_rounded_as_their_accumulators(rng):
    ends = np.int16([-32768, -32768, 32767, 32767])
    a, b = np.concatenate([rng.integers(-32768, 32768, (2, 500)).astype(np.int16), [ends, ends[[0, 2, 1, 3]]]], axis=1)
    how = {"a_scale": 0.00021, "b_scale": 0.00034, "y_scale": 0.00004}
    zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 0}
    for rule, derive in (("tflite-double", "f32"), ("tflm-double", "double"), ("tflite-single", "double")):
        scale, name = rules.real_scale(*how.values(), derive), rule.replace("tflm", "tflite")
        want = twin.requantize(a.astype(np.int32) * b, name, scale, 0, -32768, 32767)
        np.testing.assert_array_equal(rules.mul(a, b, rule, **how, **zeros), want)
    with pytest.raises(
        TypeError, match=r"^a: expected uint8 or int8, or int16 by tflite-double, tflm-double, tflite-single"
    ):
        rules.mul(a, b, "torch", **how, **zeros)


@pytest.mark.parametrize("rule", ["tflite-double", "tflite-single"])
@pytest.mark.parametrize("call", [rules.add, rules.mul])
def test_int16_goes_through_the_rule_of_requantize(rng, call, rule):
    how = {"a_scale": 0.4, "a_zero_point": 0, "b_scale": 0.125, "b_zero_point": 0, "y_scale": 0.55, "y_zero_point": 0}
    a, b = rng.integers(-32768, 32768, (2, 5000)).astype(np.int16)
    a[:2] = b[:2] = -32768, 32767
    if call is rules.mul:
        want = rules.requantize(a.astype(np.int32) * b, rule, scale=0.4 * 0.125 / 0.55, dtype=np.int16)
    else:
        parts = [
            rules.requantize(q.astype(np.int32) << 15, rule, scale=s / 0.8, dtype=np.int32)
            for q, s in ((a, 0.4), (b, 0.125))
        ]
        want = rules.requantize(parts[0] + parts[1], rule, scale=0.8 / (2**15 * 0.55), dtype=np.int16)
    np.testing.assert_array_equal(call(a, b, rule, **how), want)


def test_scales_too_far_apart_are_refused_by_their_names():
    codes = np.zeros(3, np.int16)
    how = {"a_scale": 1e30, "a_zero_point": 0, "b_scale": 1e-30, "b_zero_point": 0, "y_zero_point": 0}
    with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .* of tflite-double: too far apart"):
        rules.add(codes, codes, "tflite-double", y_scale=1e-30, **how)


def refusal(call, *arguments, **named):
    """The text of the ValueError that a call raises; "" of one that gives codes. A warning would be an error here."""
    try:
        assert call(*arguments, **named).dtype == np.uint8
    except ValueError as why:
        return str(why)
    return ""


@pytest.mark.parametrize("odd", [1e308, 1e300, 5e-324, 1e-310, 1e-46, 3.5e38, 1e-300])
@pytest.mark.parametrize(("call", "rule"), [*((rules.add, r) for r in rules.ADD), *((rules.mul, r) for r in rules.MUL)])
def test_odd_scales_are_taken_or_refused_by_their_names(call, rule, odd):
    codes = np.arange(256, dtype=np.uint8)
    refused = [refusal(call, codes, codes, rule, **HOW | {name: odd}) for name in ("a_scale", "b_scale", "y_scale")]
    assert all(
        not why or why.startswith(("a_scale, b_scale, y_scale: ", "a_scale, b_scale: ", "y_scale: ")) for why in refused
    )
    assert any(refused) or rule == "tflite-single"  # which cuts its multipliers


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
@pytest.mark.parametrize("scales", [(0.5, 0.25), (0.25, 0.5), (0.5, 0.5), (0.3, 0.1), (0.1, 0.3)])
@pytest.mark.parametrize("rule", ["tflite-double", "tflite-single"])
def test_the_operand_with_the_larger_scale_is_halved_exactly(rng, rule, scales, dtype):
    info, left = np.iinfo(dtype), 15 if dtype == np.int16 else 20
    a, b = rng.integers(info.min, info.max + 1, (2, 3000)).astype(dtype)
    zeros = (0, 0, 0) if dtype == np.int16 else (info.min + 3, info.max - 9, info.min + 70)
    how = {f"{n}_zero_point": z for n, z in zip("aby", zeros, strict=True)} | dict(
        zip(("a_scale", "b_scale", "y_scale"), (*scales, 0.55), strict=True)
    )
    parts = [
        rules.requantize((q.astype(np.int32) - z) << left, rule, scale=s / (2 * max(scales)), dtype=np.int32)
        for q, z, s in zip((a, b), zeros, scales, strict=False)
    ]
    want = rules.requantize(
        parts[0] + parts[1], rule, scale=2 * max(scales) / (2**left * 0.55), zero_point=zeros[2], dtype=dtype
    )
    np.testing.assert_array_equal(on_every_tier(rules.add, a, b, rule, **how), want)


def test_what_c_does_not_define_is_refused():
    """Torch 2.13 gave 29 where the exact sum is 30: the mask of the remainder was that of a shift by 0."""
    codes = np.uint8([0, 255])
    how = {"a_scale": 1.0, "a_zero_point": 128, "b_scale": 0.699, "b_zero_point": 131, "y_zero_point": 30}
    assert rules.add(codes, codes, "torch-qnnpack", **how, y_scale=1024.0).tolist() == [30, 30]
    with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .*torch-qnnpack: torch shifts int32 by 32 bits"):
        rules.add(codes, codes, "torch-qnnpack", **how, y_scale=1025.0)
    assert rules.add(codes, codes, "qnnpack", **how, y_scale=1025.0).tolist() == [30, 30]
    given = {name: value for name, value in how.items() if "scale" not in name}
    with pytest.raises(ValueError, match=r"^integers: .*which C does not define"):
        rules.add(codes, codes, "torch-qnnpack", **given, integers=((1 << 21, 0), (1 << 20, 0), (1, 32)))
