"""Three scales of a layer, as the rules of `qops.rules.requantize` multiply by them."""

import numpy as np

from qops import rules

SCALES_OF_A_TIE = 0.03125, 0.3120425343513489, 0.6240850687026978


def test_three_scales_make_the_scale_of_the_rule(rng):
    x = rng.integers(-20_000, 20_000, (50, 3)).astype(np.int32)
    three, f32 = (0.01976543851196766, [0.3, 8.0, 0.011], 20.239809036254883), np.float32
    for rule, derive in (("tflite-double", "double"), ("fp32-even", "f32"), ("torch-qnnpack", "f32-reciprocal")):
        each = [rules.real_scale(three[0], w, three[2], derive) for w in three[1]]
        np.testing.assert_array_equal(rules.requantize(x, rule, scales=three), rules.requantize(x, rule, scale=each))
    first, last = f32(1) / (f32(1) / f32(three[0])), f32(1) / f32(three[2])
    real = x.astype(f32) * first * (f32(1) / (f32(1) / f32(three[1]))) * last + f32(5)
    op = rules.Requantize("torch-onednn", scales=three, zero_point=5)
    np.testing.assert_array_equal(op(x), np.rint(real).clip(-128, 127))
    np.testing.assert_allclose(op.scale, np.prod([three[0], 1 / three[2]]) * np.array(three[1]), rtol=1e-6)
    assert rules.requantize([-6048], "torch-onednn", scales=SCALES_OF_A_TIE, zero_point=198, dtype="uint8") == 103
    whole = rules.real_scale(*SCALES_OF_A_TIE, "f32")
    assert rules.requantize([-6048], "torch-onednn", scale=whole, zero_point=198, dtype="uint8") == 104
