"""Three scales of a layer, as the rules of `qops.rules.requantize` multiply by them."""

import numpy as np
import pytest

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


CONVOLUTIONS = [  # scales of x, w, y, zero point, sum, and the code of torch 2.13.0 on x86
    (0.125, 0.0018749999580904841, 0.00046874998952262104, 0, 229, 115),
    (2.4023635387420654, 0.00046874998952262104, 0.002252215752378106, 93, -69, 58),
    (0.03424476459622383, 0.0018749999580904841, 0.00038525357376784086, 0, 1155, 193),
    (0.078125, 0.0142469247803092, 0.002226081909611821, 0, 127, 63),
    (4194304.0, 0.029999999329447746, 754974.6875, 0, 339, 57),
    (0.5, 0.0037499999161809683, 0.0037499999161809683, 0, 93, 47),
]


@pytest.mark.parametrize(("x", "w", "y", "zero", "acc", "code"), CONVOLUTIONS)
def test_torch_rounds_the_scale_of_weights_of_a_convolution_once(x, w, y, zero, acc, code):
    how = {"zero_point": zero, "dtype": "uint8"}
    of_row = rules.requantize([acc], "torch-onednn-conv", scales=(x, w, y), **how).item()
    of_linear = rules.requantize([acc], "torch-onednn", scales=(x, w, y), **how).item()
    of_fbgemm = rules.requantize([acc], "torch-fbgemm", scales=(x, w, y), **how).item()
    assert of_row == code
    assert abs(of_linear - code) == abs(of_fbgemm - code) == 1


ON_AMX = [  # rule, scales of x, w, y, zero point, sum, and the code of torch 2.13.0 and 2.14.1 on Sapphire Rapids
    ("torch-onednn", 0.24674320220947266, 0.4375, 1.0795015096664429, 65, -335, 32),
    ("torch-onednn", 0.015426686964929104, 0.0546875, 0.0016872938722372055, 254, -231, 139),
    ("torch-onednn", 3.0, 0.007499999832361937, 0.13499999046325684, 2, 81, 15),
    ("torch-onednn", 0.005810495465993881, 0.47999998927116394, 0.02789037674665451, 97, -395, 58),
    ("torch-onednn", 0.0003906250058207661, 0.00023437499476131052, 5.493163826031378e-07, 201, -717, 82),
    ("torch-onednn-conv", 0.02500000037252903, 0.029999999329447746, 0.007500000298023224, 82, -435, 38),
    ("torch-onednn-conv", 0.008571102283895016, 1.5518869161605835, 0.026602763682603836, 216, -249, 91),
    ("torch-onednn-conv", 0.875, 0.00011718749738065526, 0.0006152343703433871, 163, -303, 112),
    ("torch-onednn-conv", 0.0003906250058207661, 0.11999999731779099, 9.375000081490725e-05, 33, 353, 210),
    ("torch-onednn-conv", 0.2270558774471283, 112.0, 50.86051559448242, 56, -89, 11),
]


@pytest.mark.parametrize(("rule", "x", "w", "y", "zero", "acc", "code"), ON_AMX)
def test_on_amx_torch_multiplies_the_scales_of_x_and_w_first(rule, x, w, y, zero, acc, code):
    """Each case has a code that no other row of torch gives."""
    rows = [name for name in rules.TABLE if name.startswith("torch-") and name != "torch-acl"]  # not of x86
    how = {"scales": (x, w, y), "zero_point": zero, "dtype": "uint8"}
    assert [name for name in rows if rules.requantize([acc], name, **how).item() == code] == [f"{rule}-amx"]


@pytest.mark.parametrize("derive", ["double", "f32-product", "f32", "f32-reciprocal", "f32-inverse-w"])
def test_real_scales_of_arrays_are_those_of_each_number(derive):
    random = np.random.default_rng(31)
    a, w, y = (2.0 ** random.uniform(-9, 3, shape) for shape in ((40, 1), 7, ()))
    found = rules.real_scale(a, w, float(y), derive)
    each = [[rules.real_scale(float(p), float(q), float(y), derive) for q in w] for p in a[:, 0]]
    assert found.dtype == np.float64
    assert found.tolist() == each
    assert isinstance(rules.real_scale(0.5, 0.25, 2.0, derive), float)


@pytest.mark.parametrize(
    ("scales", "error", "said"),
    [
        ((0.5, [0.25, 0.0], 1.0), ValueError, "w_scale: "),
        (([0.5, np.nan], 0.25, 1.0), ValueError, "in_scale: "),
        ((0.5, 0.25, [True]), TypeError, "out_scale: "),
        ((0.5, [0.25, [0.5]], 1.0), TypeError, "w_scale: "),
        (([0.5, 0.5], [0.5, 0.5, 0.5], 1.0), ValueError, "in_scale, w_scale, out_scale: "),
        (([1e300], 1e300, 1.0), ValueError, "in_scale, w_scale, out_scale: "),
    ],
)
def test_bad_arrays_of_scales_are_refused(scales, error, said):
    with pytest.raises(error, match=f"^{said}"):
        rules.real_scale(*scales)


@pytest.mark.parametrize(
    ("multiplier", "text"),
    [
        (0.0037, r"^multiplier: expected integers, got float64; of a scale, integers\(rule, scale\) makes them$"),
        (rules.integers("q31", 0.0037), "^multiplier: expected the multiplier alone, without its right shift"),
    ],
)
def test_a_multiplier_to_reduce_is_an_integer_without_its_shift(multiplier, text):
    with pytest.raises(TypeError, match=text):
        rules.reduced_multiplier(multiplier)
