"""The stages that rules are made of refuse what their loops would read wrongly."""

from itertools import product

import numpy as np
import pytest
import reference_rules as twin
from qops._kernels.onednn.destination import PostOpStage
from qops._kernels.stage.rules import Numbers

from qops import rules
from qops._kernels.stage import prepared as stages
from qops.onednn.cast import stage_of

EDGES = [-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1, 2**30, -(2**30)]
TFLITE, DOUBLE = rules.TABLE["tflite-double"], rules.TABLE["double-away"]
CODES = (0, -128, 127)
ENDS = {"rounding": "half_even", "lowest": -128.0, "highest": 127.0}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x, y: Numbers(TFLITE, 0.1, *CODES).stage().run(x, y.astype(np.uint32)), "^out: expected uint8, int8"),
        (lambda x, y: Numbers(TFLITE, 0.1, *CODES).stage().run(x, y.astype(np.float32)), "^out: expected uint8, int8"),
        (lambda x, y: Numbers(TFLITE, 0.1, *CODES).stage().run(y, y), "^x: expected int32 or int64, got int16"),
        (lambda x, y: stages.PreparedStage().run(x, y), "^PreparedStage: is made in Cython only"),
        (lambda x, y: stages.FloatStage(np.float32([]), **ENDS), "^scales, integers: expected one"),
        (lambda x, y: Numbers(DOUBLE, np.float64([]), *CODES).stage(), "^scales, integers: expected one"),
        (lambda x, y: Numbers(TFLITE, np.float64([]), *CODES).stage(), "^scales, integers: expected one"),
        (lambda x, y: Numbers(TFLITE, (np.int64([5, 6]), np.int64([3])), *CODES), "^factor: expected one"),
        (lambda x, y: Numbers(TFLITE, np.full((2, 2), 0.1), *CODES), "^factor: expected one"),
        (lambda x, y: Numbers(TFLITE, np.full(2, 0.1), *CODES).stage().run(x, y, 0), "^x, out, inner: .* got 0"),
        (lambda x, y: Numbers(TFLITE, np.full(2, 0.1), *CODES).stage().run(x, y[1:]), "^x, out, inner: "),
        (lambda x, y: stages.FloatStage(0.5, **ENDS).run(y, y), "^x: expected int32, int64 or float32, got"),
        (lambda x, y: stages.FloatStage(0.5, **ENDS).run_unless_nan(x, y), "^x: expected float32"),
        (lambda x, y: Numbers(DOUBLE, 0.5, *CODES).stage().run(y, y), "^x: expected int32 or int64, got int16"),
        (
            lambda x, y: PostOpStage([("relu", 0.0)], stage_of("s8")).run(x.astype(np.int64), y),
            "^x: expected int32, got",
        ),
    ],
)
def test_kernels_refuse_what_they_would_read_wrongly(call, text):
    x, y = np.arange(9, dtype=np.int32), np.full(9, 77, np.int16)
    with pytest.raises((TypeError, ValueError), match=text):
        call(x, y)
    assert (y == 77).all()


@pytest.mark.parametrize("first", [0, 1, 5, 64, 67])
@pytest.mark.parametrize("rule", ["tflite-double", "fp32-even", "double-away", "rndnu16"])
def test_a_part_of_the_elements_has_the_channels_of_its_place(tier, rng, rule, first):
    """A tensor that begins at another channel has its scales rolled by as many."""
    scales, x = 2.0 ** rng.uniform(-9, -5, 7), rng.integers(-20000, 20000, (40, 7)).astype(np.int32)
    op = rules.Requantize(rule, scale=scales, zero_point=3)
    np.testing.assert_array_equal(op(x[first // 7 :]), op(x)[first // 7 :])
    rolled = rules.Requantize(rule, scale=np.roll(scales, -first), zero_point=3)
    flat = x.ravel()[first:][: 7 * 30].reshape(30, 7)
    np.testing.assert_array_equal(rolled(flat), op(x).ravel()[first:][: 7 * 30].reshape(30, 7))


@pytest.mark.parametrize("rule", ["torch-fbgemm", "torch-qnnpack", "fp32-even-zp-inside", "fp32-even", "torch-onednn"])
@pytest.mark.parametrize("each", [False, True])
def test_floats_beyond_int32_become_what_the_row_says(tier, rng, rule, each):
    x = np.concatenate([EDGES, rng.integers(-(2**31), 2**31, 300)]).astype(np.int32)
    row = rules.TABLE[rule]
    for scale, dtype, zero in product((0.9, 1.0, 3.7, 2.0**60), (np.uint8, np.int16, np.int32), (0, 7, 200)):
        scales = scale * 2.0 ** -np.arange(x.size) if each else scale  # the first one may stay within int32
        got = rules.requantize(x, rule, scale=scales[::-1] if each else scale, zero_point=zero, dtype=dtype)
        real = x.astype(np.float32) * np.float32(scales[::-1] if each else scale)
        plus, shift = (zero, 0) if row.zero_point == "inside" else (0, zero)
        info = np.iinfo(dtype)
        want = [twin.beyond_int32(v, shift, row.beyond) for v in np.rint(real + np.float32(plus)).tolist()]
        assert got.tolist() == [min(max(v, info.min), info.max) for v in want], (scale, dtype, zero)


@pytest.mark.parametrize("rule", ["tflite-double", "fp32-even", "torch-qnnpack", "double-away", "rndnu16"])
@pytest.mark.parametrize("channels", [1, 5])
@pytest.mark.parametrize("inner", [1, 3])
def test_a_stage_of_any_kind_takes_int64(tier, rng, rule, channels, inner):
    scales = 2.0 ** rng.uniform(-12, -6, channels) if channels > 1 else 2.0**-9
    x = rng.integers(-(2**16), 2**16, (41, channels, inner)).astype(np.int32)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int32):
        lo, hi = max(np.iinfo(dtype).min, -1000), min(np.iinfo(dtype).max, 1000)
        stage = Numbers(rules.TABLE[rule], scales, 3, lo, hi).stage()
        near, wide = np.empty(x.shape, dtype), np.empty(x.shape, dtype)
        stage.run(x, near, inner)
        stage.run(x.astype(np.int64), wide, inner)
        np.testing.assert_array_equal(near, wide)


@pytest.mark.parametrize("rule", ["double-away", "fp32-even"])
def test_int64_beyond_int32_is_rounded_once_before_the_scale(tier, rng, rule):
    x = np.concatenate([2 ** np.arange(31, 53), rng.integers(-(2**52), 2**52, 100)])
    for scale in (2.0**-46, 1e-14):
        stage, made = Numbers(rules.TABLE[rule], scale, 3, -128, 127).stage(), np.empty(x.shape, np.int8)
        stage.run(x, made)
        if rule == "fp32-even":
            real = np.rint(x.astype(np.float32) * np.float32(scale))
        else:
            real = np.trunc(np.abs(x * scale) + 0.5) * np.sign(x)
        assert made.tolist() == np.clip(real + 3, -128, 127).tolist()
