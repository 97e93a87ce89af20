"""Three scales of a layer, as the rules of `qops.rules.requantize` multiply by them."""

import numpy as np

from qops import rules

SCALES_OF_A_TIE = 0.03125, 0.3120425343513489, 0.6240850687026978
F32 = np.float32


def test_three_scales_make_the_scale_of_the_rule(rng):
    x = rng.integers(-20_000, 20_000, (50, 3)).astype(np.int32)
    three = 0.01976543851196766, [0.3, 8.0, 0.011], 20.239809036254883
    for rule, derive in (("tflite-double", "double"), ("fp32-even", "f32"), ("torch-qnnpack", "f32-reciprocal")):
        each = [rules.real_scale(three[0], w, three[2], derive) for w in three[1]]
        np.testing.assert_array_equal(rules.requantize(x, rule, scales=three), rules.requantize(x, rule, scale=each))


def test_scales_one_after_another(rng):
    """So fine a scale of the result that each bit of the floats is seen."""
    x, w = rng.integers(-2000, 2000, (50, 300)).astype(np.int32), rng.uniform(0.01, 2, 300).astype(F32)
    twice, last = F32(1) / (F32(1) / w), F32(1) / F32(1e-5)
    assert 0 < np.count_nonzero(twice != w) < 150
    for one in rng.uniform(0.01, 0.03, 20).astype(F32):
        op = rules.Requantize("torch-onednn", scales=(float(one), w, 1e-5), zero_point=5, dtype=np.int32)
        real = x.astype(F32) * (F32(1) / (F32(1) / one)) * twice * last + F32(5)
        np.testing.assert_array_equal(op(x), np.rint(real).astype(int))
        np.testing.assert_allclose(op.scale, float(one) * w / 1e-5, rtol=1e-6)


def test_three_scales_tell_a_tie_that_their_product_does_not():
    acc, how = [-6048], {"zero_point": 198, "dtype": "uint8"}
    assert rules.requantize(acc, "torch-onednn", scales=SCALES_OF_A_TIE, **how) == 103
    assert rules.requantize(acc, "torch-onednn", scale=rules.real_scale(*SCALES_OF_A_TIE, "f32"), **how) == 104
