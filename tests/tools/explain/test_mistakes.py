"""What is wrong before the rounding is named when undoing it explains every integer, and only then."""

import numpy as np
import pytest
from qops._kernels.arrays.window import Window

import qops
from qops import rules
from qops.tools.explain.arguments import dump_of
from qops.tools.explain.dump_file import read_dump
from qops.tools.explain.mistakes import undone
from qops.tools.explain.verdicts import explained
from qops.window import padding_of

HOW = {"scale": 0.0133, "zero_point": 5}

PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 100, "y_scale": 0.7, "y_zero_point": 30}


def made(x, rule="fp32-even", **changes):
    return rules.requantize(x, rule, **{**HOW, **changes})


def image(rng, *shape):
    return rng.integers(-30_000, 30_000, shape).astype(np.int32)


@pytest.mark.parametrize(
    ("changes", "given", "words"),
    [
        ({"zero_point": -5}, {}, "zero_point of the other sign"),
        ({"zero_point": 0}, {}, "zero_point left out"),
        ({"zero_point": 17}, {}, "zero_point 17 instead of 5"),
        ({"zero_point": 17}, {"zero_point": 0}, "zero_point 17 instead of 0"),
        ({"in_zero_point": 77}, {"in_zero_point": -77}, "in_zero_point of the other sign"),
        ({}, {"in_zero_point": 77}, "in_zero_point left out"),
        ({"zero_point": 0, "in_zero_point": 5}, {}, "zero_point subtracted from acc"),
        ({"qmin": 5}, {}, "clamped at zero_point, a fused ReLU"),
        ({}, {"qmin": -100, "qmax": 100}, "qmin and qmax left out"),
        ({"qmin": -127}, {}, "clamped to a symmetric range"),
        ({"qmin": 5, "qmax": 77}, {}, "clamped to codes 5 to 77"),
        ({"qmax": 77}, {"qmin": -100, "qmax": 100}, "clamped to codes -128 to 77"),
        ({"dtype": np.uint8, "zero_point": 133}, {}, "a sign offset of 128"),
        ({"scale": 0.0133 * 127 / 127.5}, {}, "scale of 127 steps instead of 127.5"),
        ({"scale": 0.0133 * 256 / 255}, {}, "scale of 256 steps instead of 255, or of 128 instead of 127.5"),
    ],
)
def test_requantize(rng, changes, given, words):
    x = image(rng, 9000)
    y = made(x, **changes)
    found = qops.explain(x, y, **HOW | given)
    assert not found.exact
    assert words in {v.before for v in found.mistakes if v.rule == "fp32-even"}
    assert {v.before for v in found.mistakes} == {v.before for v in found.nearest if v.differs == 0}
    y[77] ^= 1  # one integer that no rule gives
    assert not qops.explain(x, y, **HOW | given).mistakes


def test_one_integer(rng):
    """A clamp that cut one integer is found; mistakes that change many integers are not tried then."""
    x = rng.integers(-9000, 9000, 5000).astype(np.int32)
    x[1234] = -30_000
    assert np.count_nonzero(made(x) == -128) == 1
    found = qops.explain(x, made(x, qmin=-127), **HOW)
    assert "clamped to a symmetric range" in {v.before for v in found.mistakes}
    dump = dump_of("requantize", x, made(x, qmin=-90, qmax=90), None, {**HOW, "qmin": -100, "qmax": 100}, "x")
    alone = {mistake.words for mistake in undone(dump, False) if mistake.may_touch_one}
    assert alone == {"clamped at zero_point, a fused ReLU", "qmin and qmax left out", "clamped to codes -90 to 90"}


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((0, 2, 3, 1), "x is NCHW, y NHWC (or OIHW, OHWI)"),
        ((0, 3, 1, 2), "x is NHWC, y NCHW (or OHWI, OIHW)"),
        ((1, 2, 3, 0), "x is OHWI, y HWIO"),
        ((3, 0, 1, 2), "x is HWIO, y OHWI"),
        ((2, 3, 1, 0), "x is OIHW, y HWIO"),
        ((1, 0, 3, 2), "y has the axes of x in the order [1, 0, 3, 2]"),
    ],
)
@pytest.mark.parametrize("flat", [False, True])
def test_layouts(rng, order, words, flat):
    x = image(rng, 6, 7, 8, 9)
    y = np.ascontiguousarray(made(x).transpose(order))
    found = qops.explain(x, y.reshape(x.shape) if flat else y, **HOW)
    assert {v.before for v in found.mistakes} == {words}
    assert "fp32-even" in {v.rule for v in found.mistakes}


def test_layouts_are_tried_only_if_the_sum_of_the_codes_is_that_of_a_rule(rng):
    x = image(rng, 6, 7, 8, 9)
    y = np.ascontiguousarray(made(x).transpose(1, 0, 3, 2)).reshape(x.shape)
    for change in (0, 1):
        y[0, 0, 0, 0] ^= 64 * change
        steps = []
        explained(dump_of("requantize", x, y, None, HOW), progress=steps.append)
        assert any(words.startswith("y has the axes of x") for words in steps) == (not change)


def test_layouts_of_weights_and_of_an_operand(rng):
    w = rng.normal(0, 1, (5, 3, 3, 7)).astype(np.float32)
    y = rules.quantize(w, "div-even", scale=0.02, zero_point=0, dtype=np.int8)
    found = qops.explain(w, y.transpose(1, 2, 3, 0), kind="quantize", scale=0.02, zero_point=0)
    assert {v.before for v in found.mistakes} == {"x is OHWI, y HWIO"}
    a, b = rng.integers(0, 256, (2, 1, 4, 5, 6)).astype(np.uint8)
    y = rules.add(a, b, "xnnpack", **PAIR)
    found = qops.explain(a, y, kind="add", b=b.transpose(0, 2, 3, 1), **PAIR)
    assert {v.before for v in found.mistakes} == {"of b, x is NCHW, b NHWC (or OIHW, OHWI)"}
    swapped = {**PAIR, "a_scale": 0.25, "a_zero_point": 100, "b_scale": 0.5, "b_zero_point": 3}
    assert "a and b exchanged" in {v.before for v in qops.explain(a, y, kind="add", b=b, **swapped).mistakes}


@pytest.mark.parametrize(
    ("kind", "rule", "numbers"),
    [
        ("add", "tflite-double", PAIR),
        ("mul", "fp32-even", PAIR | {"b_zero_point": 99, "y_scale": 40.0, "y_zero_point": 110}),
        ("quantize", "div-even", {"scale": 0.02, "zero_point": 60}),
        ("average_pool", "away-stored", {"kernel": (2, 2), "zero_point": 120}),
    ],
)
def test_fused_activations(rng, kind, rule, numbers):
    if kind == "quantize":
        x, b = rng.normal(0, 2, 4000).astype(np.float32), None
    else:
        x, b = rng.integers(0, 256, (2, 1, 40, 50, 2)).astype(np.uint8)
    call = {"add": rules.add, "mul": rules.mul, "quantize": rules.quantize, "average_pool": rules.average_pool}[kind]
    how = numbers | ({"dtype": np.uint8} if kind == "quantize" else {})
    b = None if kind == "average_pool" else b
    y = call(x, *([] if b is None else [b]), rule, **how)
    zero = numbers.get("y_zero_point", numbers.get("zero_point"))
    given = {"kind": kind, "b": b, **numbers}
    for ends, words in (
        ({"qmin": zero}, f"clamped at {'y_zero_point' if 'y_zero_point' in numbers else 'zero_point'}, a fused ReLU"),
        ({"qmin": zero, "qmax": zero + 9}, f"clamped to codes {zero} to {zero + 9}"),
    ):
        cut = np.clip(y, ends["qmin"], ends.get("qmax"))
        assert rule in qops.explain(x, cut, **given, **ends).exact
        found = qops.explain(x, cut, **given)
        assert not found.exact
        assert (rule, words) in {(v.rule, v.before) for v in found.mistakes}
    assert rule not in qops.explain(x, y, **given, qmin=zero).exact


def test_sums_that_the_device_wrapped(rng):
    x = 2**31 + rng.integers(-(2**16), 2**16, 3000)
    y = rules.requantize(x.astype(np.int32), "tflite-double", scale=5e-8, zero_point=5)
    found = qops.explain(x, y, scale=5e-8, zero_point=5)
    assert not found.exact
    assert {v.before for v in found.mistakes} == {"acc not wrapped to 32 bits"}


def test_a_tail_of_another_rule():
    """Vectors of 8 round halves to even, and so does the rest, but up by one more; then LiteRT's own tail."""
    x = np.arange(35, dtype=np.float32) - 17.5
    y = rules.quantize(x, "inv-even", scale=1.0, zero_point=3, dtype=np.int8)
    y[32:] += 1
    found = qops.explain(x, y, kind="quantize", scale=1.0, zero_point=3)
    assert not found.exact
    named = {v.rule: v.before for v in found.mistakes}
    assert named["inv-even"] == "the last 3 made in another way, after vectors of 8"
    assert "div-away" not in named
    y[32:] = rules.quantize(x[32:], "div-away", scale=1.0, zero_point=3, dtype=np.int8)
    assert qops.explain(x, y, kind="quantize", scale=1.0, zero_point=3).exact == ["tflite-opt"]


def test_a_clamp_or_a_zero_point_is_not_told_by_a_few_results():
    x = np.array([-900, 200, 900, 900, 900, 900, 900], np.int32)
    y = np.array([-9, 2, 7, 7, 7, 7, 7], np.int8)
    assert not qops.explain(x, y, scale=0.01).mistakes
    assert not qops.explain(x, np.full(7, 3, np.int8), scale=0.01).mistakes


ONE_SIDED = ["shift-floor", "textbook7-floor", "shift-toward-zero", "xnnpack-cvt", "rndnu", "rndna"]


@pytest.mark.parametrize("rule", ONE_SIDED)
@pytest.mark.parametrize("step", [1, 64])
def test_a_zero_point_is_told_whatever_the_rounding(rng, rule, step):
    """Rounded to one side, results are half a code off in the middle; ties are, whichever code they go to."""
    scale = 1 / (2 * step) if step > 1 else 0.0233
    x = step * (2 * rng.integers(-90, 90, 3000).astype(np.int32) + 1)
    for zero in (17, -44):
        found = qops.explain(x, rules.requantize(x, rule, scale=scale, zero_point=zero), scale=scale, zero_point=3)
        assert not found.exact
        assert (rule, f"zero_point {zero} instead of 3") in {(v.rule, v.before) for v in found.mistakes}


def test_pools_of_planes(rng):
    x = rng.integers(0, 256, (2, 9, 10, 20)).astype(np.uint8)
    y = rules.average_pool(x, "away-stored", kernel=(2, 3), zero_point=9)
    planes, how = x.transpose(0, 3, 1, 2), {"kind": "average_pool", "kernel": (2, 3), "zero_point": 9}
    found = qops.explain(planes, y.transpose(0, 3, 1, 2), **how)
    assert {v.before for v in found.mistakes} == {"x and y are NCHW"}
    assert {v.before for v in qops.explain(planes, y, **how).mistakes} == {"x is NCHW, y NHWC"}
    with pytest.raises(ValueError, match=r"^y: shape .* a kernel of .* makes"):
        qops.explain(x, y[:, 1:], **how)


@pytest.mark.parametrize("padding", [1, "same", ((1, 0), (1, 1))])
def test_pools_that_stride_over_padding(rng, padding, tmp_path):
    x = rng.integers(0, 256, (2, 9, 9, 5)).astype(np.uint8)
    how = {"kernel": (3, 3), "zero_point": 9, "stride": (2, 1), "padding": padding}
    y = rules.average_pool(x, "away-stored", **how)
    np.savez(tmp_path / "pool.npz", kind="average_pool", x=x, y=y, **how)
    assert explained(read_dump(tmp_path / "pool.npz")).exact == ["away-stored"]
    assert qops.explain(x, y, kind="average_pool", **how).exact == ["away-stored"]
    scales = {"x_scale": 0.11, "y_scale": 0.13, "y_zero_point": 3}
    y = rules.average_pool(x, "ort", **how, **scales, count_padding=True)
    found = qops.explain(x, y, kind="average_pool", **how, **scales, probe=True)
    assert {(v.rule, v.before) for v in found.mistakes} >= {("ort", "taps on padding counted")}
    assert "ort" in qops.explain(x, y, kind="average_pool", **how, **scales, count_padding=True).exact
    y = rules.average_pool(x, "ort", **how, **scales)
    found = qops.explain(x, y, kind="average_pool", **how, **scales, count_padding=True)
    assert {(v.rule, v.before) for v in found.mistakes} >= {("ort", "taps on padding not counted")}
    sides = Window.named("SAME", (9, 9), (3, 3), (2, 1)).padding if padding == "same" else padding_of(padding)
    y = rules.average_pool(np.pad(x, ((0, 0), *sides, (0, 0))), "away-stored", **how | {"padding": 0})
    found = qops.explain(x, y, kind="average_pool", **how)
    assert ("away-stored", "padded with code 0 instead of the zero point") in {
        (v.rule, v.before) for v in found.mistakes
    }
    assert all(v.first is None or v.first.acc is None for v in found.nearest)  # no one code was read


def test_scales_along_another_axis_or_formed_otherwise(rng):
    x, scales = image(rng, 50, 12, 12), rng.uniform(0.001, 0.01, 12)
    y = rules.requantize(x, "rndna", scale=scales, axis=1)
    assert "scales along axis 1" in {v.before for v in qops.explain(x, y, scale=scales).mistakes}
    assert "rndna" in qops.explain(x, y, scale=scales, axis=1).exact
    parts = {"in_scale": 0.1, "w_scale": 0.3, "out_scale": 123456.7}
    scale = rules.real_scale(*parts.values(), "f32")
    wide = np.rint(np.arange(-500, 500) / scale).astype(np.int32)  # at the codes' edges
    y = rules.requantize(wide, "shift-floor", scale=scale, dtype=np.int16)
    found = qops.explain(wide, y, **parts)
    assert ("shift-floor", "scale f32") in {(v.rule, v.before) for v in found.mistakes}


def test_range_rules(rng):
    x = rng.normal(0, 1, 3000).astype(np.float32)
    for choice in ("tflite", "torch", "symmetric-127.5", "snpe"):
        p = rules.choose_range(-3.03, 2.9, choice)
        y = rules.quantize(x, "div-even", scale=p.scale, zero_point=p.zero_point)
        found = qops.explain(x, y, kind="quantize", rmin=-3.03, rmax=2.9)
        assert f"{choice}, div-even" in found.exact
        assert "symmetric-128, div-even" not in found.exact


ASIDE = {  # of the same products: ties that a zero point inside moves, by hand
    "double-away": lambda t, z: np.copysign(np.floor(np.abs(t + z) + 0.5), t + z),
    "rndna": lambda t, z: np.copysign(np.floor(np.abs(t + z) + 0.5), t + z),
    "shift-toward-zero": lambda t, z: np.trunc(t + z),
}


@pytest.mark.parametrize("rule", ASIDE)
@pytest.mark.parametrize("scale", [0.5, [0.5, 0.25, 1.5]])
def test_a_zero_point_on_the_other_side_of_the_rounding(rule, scale):
    x = np.arange(-300, 300, dtype=np.int32).reshape(-1, 3)
    y = np.clip(ASIDE[rule](x * np.float64(scale), 5), -128, 127).astype(np.int8)
    found = qops.explain(x, y, scale=scale, zero_point=5)
    assert not found.exact
    assert rule in {v.rule for v in found.mistakes if v.before == "zero_point inside of the rounding"}


def test_a_zero_point_inside_of_two_roundings_and_of_quantize():
    x = np.arange(-4000, 4000, dtype=np.int32)
    m, n = rules.integers("tflite-double", 0.1875)
    total = ((x.astype(np.int64) * m + 2**30) >> 31) + (7 << (n - 31))
    y = np.sign(total) * ((np.abs(total) + (1 << (n - 32))) >> (n - 31))
    y = np.clip(y, -128, 127).astype(np.int8)
    found = qops.explain(x, y, scale=0.1875, zero_point=7)
    assert "tflite-double" in {v.rule for v in found.mistakes if v.before == "zero_point inside of the rounding"}
    values = (np.arange(-200, 200) / np.float32(2)).astype(np.float32)
    y = np.clip(np.trunc(values + 3 + np.copysign(np.float32(0.5), values + 3)), -128, 127).astype(np.int8)
    found = qops.explain(values, y, kind="quantize", scale=1.0, zero_point=3)
    assert {*found.exact} >= {"mnn", "div-away-zp-inside"}, "quantizers that add it there are rows"
