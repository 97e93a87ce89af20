"""`uniform_quantized_dot`: the twin, one scale a column, what wraps, bad input."""

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import uniform_quantized_dot

ENDS = (-(2**31), 2**31 - 1)


@pytest.mark.parametrize("shape", [(2, 7, 3), (1, 1, 1), (3, 0, 2), (0, 4, 2), (5, 40, 4)], ids=str)
@pytest.mark.parametrize("zeros", [(0, 0, 0), (5, -3, 11), (1000, -(2**31), 2**31 - 1)], ids=str)
@pytest.mark.parametrize("out_scale", [0.125, 1e-6, 1e5])
def test_dot_matches_twin(rng, shape, zeros, out_scale):
    m, k, n = shape
    a, b = (rng.integers(-128, 128, size).astype(np.int8) for size in ((m, k), (k, n)))
    last = float(np.float32(out_scale))
    for ends in (ENDS, (-500, 500)):
        want = twin.dot(a, b, zeros[0], [zeros[1]] * n, [0.5 * 0.25 / last] * n, [zeros[2]] * n, ends, False)
        got = uniform_quantized_dot(a, b, 0.5, zeros[0], 0.25, zeros[1], last, zeros[2], *ends)
        np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("out_axis", [-1, 1])
def test_dot_of_one_scale_a_column_matches_twin(rng, out_axis):
    a, b = (rng.integers(-128, 128, size).astype(np.int8) for size in ((4, 9), (9, 5)))
    scales, zeros = rng.random(5).astype(np.float32) + 0.1, rng.integers(-9, 9, 5)
    last, out_zeros = (scales[::-1], zeros[::-1]) if out_axis == 1 else (np.float32(0.7), np.int64(-4))
    factors = [
        float(np.float32(0.3)) * float(s) / float(y) for s, y in zip(scales, np.broadcast_to(last, 5), strict=True)
    ]
    want = twin.dot(a, b, 3, zeros.tolist(), factors, np.broadcast_to(out_zeros, 5).tolist(), ENDS, True)
    options = {"rhs_quantization_axis": 1, "output_quantization_axis": out_axis}
    got = uniform_quantized_dot(a, b, 0.3, 3, scales, zeros, last, out_zeros, **options)
    np.testing.assert_array_equal(got, want, strict=True)


def test_sums_of_one_scale_are_float32():
    a, b = np.full((1, 1100), -128, np.int8), np.full((1100, 1), -128, np.int8)
    a[0, -1] = b[-1] = 1
    exact = 1099 * 2**14 + 1
    assert uniform_quantized_dot(a, b, 1.0, 0, 1.0, 0, 1.0, 0).item() == exact - 1 == twin.in_float32([exact - 1, 1])
    by_column = uniform_quantized_dot(a, b, 1.0, 0, [1.0], [0], 1.0, 0, rhs_quantization_axis=1)
    assert by_column.item() == exact


def test_sums_beyond_int32():
    a, b = np.full((1, 140_000), 127, np.int8), np.full((140_000, 1), 127, np.int8)
    by_column = uniform_quantized_dot(a, b, 1.0, 0, [1.0], [0], 1.0, 0, rhs_quantization_axis=1)
    assert by_column.item() == twin.wrap(140_000 * 127**2) < 0
    assert uniform_quantized_dot(a, b, 1.0, 0, 1.0, 0, 1.0, 0).item() == twin.in_float32([127**2] * 140_000)


@pytest.mark.parametrize("zeros", [(0, 0), (-5, 3), (100, -100)], ids=str)
def test_many_products_that_float32_holds_match_twin(rng, zeros):
    a, b = rng.integers(-128, 128, (1, 1500)).astype(np.int8), rng.integers(-128, 128, (1500, 2)).astype(np.int8)
    want = twin.dot(a, b, zeros[0], [zeros[1]] * 2, [1.0] * 2, [0] * 2, ENDS, False)
    np.testing.assert_array_equal(uniform_quantized_dot(a, b, 1.0, zeros[0], 1.0, zeros[1], 1.0, 0), want)


def test_crossed_ends_give_the_lowest():
    assert (uniform_quantized_dot(A, B, *ONE, 9, 8) == 9).all()


A, B = np.ones((2, 3), np.int8), np.ones((3, 2), np.int8)
ONE = [1.0, 0, 1.0, 0, 1.0, 0]
BAD = [
    ((A[None], B, *ONE), {}, r"lhs: lhs rank must be 2, but given lhs shape \[1,2,3\]"),
    ((A, B[0], *ONE), {}, "rhs: rhs rank must be 2"),
    ((A, A, *ONE), {}, r"lhs, rhs: lhs.dim_size\(1\) and rhs.dim_size\(0\) must be equal"),
    ((A, B, *ONE), {"lhs_quantization_axis": 0}, "lhs_quantization_axis: lhs_quantization_axis Attr must be -1"),
    ((A, B, *ONE), {"rhs_quantization_axis": 0}, "rhs_quantization_axis: must be -1"),
    ((A, B, *ONE[:4], [1.0] * 2, [0] * 2), {"output_quantization_axis": 1}, "output_quantization_axis: is 1, but rhs"),
    ((A, B, 1.0, 0, 0.0, *ONE[3:]), {}, "rhs_scales: rhs scales elements must be all positive"),
    ((A, B, 1.0, 0, [1.0] * 3, [0] * 3, 1.0, 0), {"rhs_quantization_axis": 1}, "rhs_scales: .* size 2"),
    ((A.view(np.uint8), B, *ONE), {}, "lhs: expected int8 data"),
    ((A, B, *ONE), {"out": np.zeros((2, 2), np.int8)}, "out: expected native int32"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD)
def test_dot_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_quantized_dot(*arguments, **options)
