"""`uniform_requantize`: the twin, all codes of 8 bits, wraps, slices, bad input."""

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import uniform_requantize

ALL = np.arange(-128, 128).astype(np.int8)
EDGES = [0, 1, -1, 2**24 + 1, 2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31), -(2**31) + 64]
FACTORS = [
    (1.0, 1.0),
    (0.5, 0.25),
    (0.1, 0.3),
    (1e-6, 1e5),
    (1e5, 1e-6),
    (2.0**-32, 1.0),
    (2.0**-33, 1.0),
    (3.0, 0.001),
]
ZEROS = [(0, 0), (3, -5), (-128, 127), (2**31 - 1, 9), (5, -(2**31))]


def as_floats(*scales):
    return [float(np.float32(scale)) for scale in scales]


@pytest.mark.parametrize("scales", FACTORS, ids=str)
@pytest.mark.parametrize("zeros", ZEROS, ids=str)
def test_requantize_matches_twin(rng, scales, zeros):
    one, other = as_floats(*scales)
    wide = np.concatenate([rng.integers(-(2**31), 2**31, 60) >> rng.integers(0, 31, 60), EDGES]).astype(np.int32)
    for q in (ALL, wide) if zeros[0] != 2**31 - 1 else (wide,):
        want = [twin.requantize(code, one / other, *zeros, -128, 100) for code in q]
        got = uniform_requantize(q, one, zeros[0], other, zeros[1], "qint8", -128, 100)
        np.testing.assert_array_equal(got, np.array(want, np.int8), strict=True)


def test_requantize_rounds_half_up():
    assert uniform_requantize(np.int8([-3, -1, 1, 3]), 0.5, 0, 1.0, 0).tolist() == [-1, 0, 1, 2]
    assert uniform_requantize(np.int32([-3, -1, 1, 3]), 0.5, 0, 1.0, 0).tolist() == [-1, 0, 1, 2]


def test_crossed_ends_give_the_lowest():
    for q in (ALL, ALL.astype(np.int32)):
        assert (uniform_requantize(q, 1.0, 0, 1.0, 0, "qint8", 9, 8) == 9).all()


@pytest.mark.parametrize("zero", [2**31 - 1, -(2**31), 7])
def test_the_zero_point_of_a_slice_is_subtracted_in_64_bits(zero):
    q = np.int32([-(2**31), -5, 0, 5, 2**31 - 65])
    got = uniform_requantize(q[None], [1e-8], [zero], 0.5, 3, input_quantization_axis=0)
    factor = float(np.float32(1e-8)) / 0.5
    want = [twin.requantize(code, factor, zero, 3, -128, 127, is_slice=True) for code in q]
    assert got[0].tolist() == want
    assert uniform_requantize(q, 1e-8, zero, 0.5, 3).tolist() != want


@pytest.mark.parametrize("factor", [0.25, 0.375, 0.5, 0.75])
@pytest.mark.parametrize("zeros", [(-(2**31), 10**9), (2**31 - 1, -(10**9)), (-(2**31), 2**31 - 1), (7, 2**31 - 1)])
def test_sums_with_the_zero_point_of_a_slice_wrap(factor, zeros):
    """int32 codes less a zero point have 33 bits, so their part of the sum may need all of int32."""
    q = np.int32([-(2**31), -5, 0, 5, 2**30, 2**31 - 65])
    got = uniform_requantize(q[None], [factor], [zeros[0]], 1.0, zeros[1], input_quantization_axis=0)
    want = [twin.requantize(code, factor, *zeros, -128, 127, is_slice=True) for code in q]
    assert got[0].tolist() == want


def test_codes_beyond_the_type_are_cut_to_their_low_bits():
    got = uniform_requantize(np.int32([200, 300]), 1.0, 0, 1.0, 0, "qint8", -(2**31), 2**31 - 1)
    assert got.tolist() == [-56, 44]


def test_requantize_of_more_than_a_stretch_matches(rng):
    q = rng.integers(-(2**20), 2**20, 70_000).astype(np.int32)
    got = uniform_requantize(q, 1.0, 5, 2.0**14, 7)
    np.testing.assert_array_equal(got, np.clip(((q - 5 + 2**13) >> 14) + 7, -128, 127))
    np.testing.assert_array_equal(uniform_requantize(q.astype(">i4"), 1.0, 5, 2.0**14, 7), got)


@pytest.mark.parametrize("dtype", [np.int8, np.int32])
@pytest.mark.parametrize(("before", "after"), [(0, -1), (-1, 1), (2, 2)])
def test_slices_are_those_of_each_scale(rng, dtype, before, after):
    q = rng.integers(-128, 128, (2, 3, 4)).astype(dtype)

    def affine(axis):
        count = q.shape[axis] if axis >= 0 else ()
        return (rng.random(count) + 0.1).astype(np.float32), rng.integers(-9, 9, count)

    (one, one_zeros), (other, other_zeros) = affine(before), affine(after)
    got = uniform_requantize(
        q, one, one_zeros, other, other_zeros, input_quantization_axis=before, output_quantization_axis=after
    )
    axis = max(before, after)
    for i in range(q.shape[axis]):
        at = [np.ravel(v)[i if np.ndim(v) else 0].item() for v in (one, one_zeros, other, other_zeros)]
        np.testing.assert_array_equal(got.take(i, axis), uniform_requantize(q.take(i, axis), *at))


BAD = [
    ((ALL, 0.0, 0, 1.0, 0), {}, "input_scales: input/output scales elements must be all positive"),
    ((ALL, 1.0, 0, -1.0, 0), {}, "output_scales: input/output scales elements must be all positive"),
    ((ALL, 1e-39, 0, 1.0, 0), {}, "input_scales: input/output scales elements must be all positive"),
    ((ALL, 1.0, 0, 1.0, 0, "qint32"), {}, "Tout: 'qint32' is not in the list"),
    ((ALL, 1.0, 2**31 - 127, 1.0, 0), {}, "input_zero_points: int32 does not hold its distance"),
    ((ALL, 1.0, -(2**31) + 127, 1.0, 0), {}, "input_zero_points: int32 does not hold its distance"),
    ((ALL, 1.0, 0.5, 1.0, 0), {}, "input_zero_points: expected an integer"),
    ((ALL.view(np.uint8), 1.0, 0, 1.0, 0), {}, "input: expected int8 or int32 data"),
    ((ALL, 1.0, 0, [1.0], [0]), {"output_quantization_axis": 0}, "output_scales: .* size 256"),
    (
        (ALL, [1.0], [0], [1.0], [0]),
        {"input_quantization_axis": 0, "output_quantization_axis": 1},
        "output_quantization_axis: If input and output is both per-axis",
    ),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD)
def test_requantize_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_requantize(*arguments, **options)
