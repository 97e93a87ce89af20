"""`uniform_quantize`, `uniform_dequantize`: twins, ties, what int32 does not hold, slices, bad input."""

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import uniform_dequantize, uniform_quantize

TYPES = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32}
ENDS = {T: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for T, dtype in TYPES.items()}
BEYOND = np.float32([2.0**31, -(2.0**31), 1e38, -1e38, np.inf, -np.inf, np.nan, 0.0, -0.0])
SCALES = [0.5, 0.1, 3.7, -0.3, 0.0, 2.0**-124, 1e38, 1e-5]
ZEROS = [0, 5, -20, 2**31 - 1, -(2**31)]


def some_values(rng, scale):
    """Values of all sizes, and ties."""
    near = np.clip(rng.integers(-300, 300, 90) * float(np.float32(scale)) / 2, -3e38, 3e38)
    return np.concatenate([near, rng.normal(0, 100, 20), BEYOND]).astype(np.float32)


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize("zero", ZEROS)
def test_quantize_matches_twin(rng, T, zero):
    for scale in SCALES:
        x, scale = some_values(rng, scale), float(np.float32(scale))
        want = [twin.quantize(v, scale, zero, *ENDS[T]) for v in x]
        got = uniform_quantize(x, scale, zero, T)
        np.testing.assert_array_equal(got, np.array(want).astype(TYPES[T]), strict=True)


def test_quantize_of_more_than_a_stretch_matches(rng):
    x = rng.normal(0, 30, 70_000).astype(np.float32)
    want = np.clip(np.floor(x * (np.float32(1) / np.float32(0.7)) + np.float32(0.5)) + 3, -100, 90)
    np.testing.assert_array_equal(uniform_quantize(x, 0.7, 3, "qint8", -100, 90), want)
    np.testing.assert_array_equal(uniform_quantize(x.astype(">f4"), 0.7, 3, "qint8", -100, 90), want)


def test_codes_beyond_the_type_are_cut_to_their_low_bits():
    assert uniform_quantize(np.float32([200, 300]), 1.0, 0, "qint8", -1000, 1000).tolist() == [-56, 44]


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize("zero", ZEROS)
def test_dequantize_matches_twin(rng, T, zero):
    q = np.concatenate([rng.integers(*ENDS[T], 100), [*ENDS[T], 2**31 - 64 if T == "qint32" else 0]]).astype(TYPES[T])
    for scale in (0.5, 0.1, 2.0**-126, 1e-6, 1234.5):
        want = np.array([twin.dequantize(code, scale, zero) for code in q])
        np.testing.assert_array_equal(uniform_dequantize(q, scale, zero), want, strict=True)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_slices_are_those_of_each_scale(rng, axis):
    x = rng.normal(0, 9, (2, 3, 4)).astype(np.float32)
    scales, zeros = rng.random(x.shape[axis]).astype(np.float32) + 0.1, rng.integers(-9, 9, x.shape[axis])
    q = uniform_quantize(x, scales, zeros, "quint8", quantization_axis=axis)
    back = uniform_dequantize(q, scales, zeros, axis)
    for i, (scale, zero) in enumerate(zip(scales.tolist(), zeros.tolist(), strict=True)):
        part = uniform_quantize(x.take(i, axis), scale, zero, "quint8")
        np.testing.assert_array_equal(q.take(i, axis), part)
        np.testing.assert_array_equal(back.take(i, axis), uniform_dequantize(part, scale, zero))


X = np.ones((2, 3), np.float32)
BAD = [
    ((X, 1.0, 0), {"quantization_axis": -2}, "quantization_axis: must be -1 or in range"),
    ((X, [1.0], [0]), {"quantization_axis": 2}, "quantization_axis: must be -1 or in range"),
    ((X, [1.0], 0), {}, "scales: scales and zero_points must be scalar"),
    ((X, 1.0, [0]), {}, "zero_points: scales and zero_points must be scalar"),
    ((X, [1.0], [0]), {"quantization_axis": 0}, "scales: .* rank 1 and size 2"),
    ((X, np.nan, 0), {}, "scales: nan"),
    ((X, 1e-38, 0), {}, r"scales: expected 0 or at least 2\*\*-124"),
    ((X, [1.0, 1e-38], [0, 0]), {"quantization_axis": 0}, r"scales: expected 0 or at least 2\*\*-124"),
    ((X, 1.0, 2**31), {}, "zero_points: expected an integer"),
    ((X, 1.0, 0, "quint16"), {}, "Tout: 'quint16' is not"),
    ((X.astype(np.float64), 1.0, 0), {}, "input: expected float32 data"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD)
def test_quantize_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_quantize(*arguments, **options)


def test_crossed_ends_give_the_lowest():
    for kind, dtype in (("qint8", np.int8), ("quint8", np.uint8), ("qint32", np.int32)):
        got = uniform_quantize(np.linspace(-99, 99, 70, dtype=np.float32), 1.0, 0, kind, 5, 4)
        assert got.dtype == dtype
        assert (got == 5).all()


def test_dequantize_rejects():
    with pytest.raises(TypeError, match=r"^input: expected int8 or uint8 or int32 data"):
        uniform_dequantize(X, 1.0, 0)
    with pytest.raises(ValueError, match=r"^quantization_axis: must be -1"):
        uniform_dequantize(np.int8([1]), [1.0], [0], 1)
    for scale in (0.0, -1.0, 1e-45):
        with pytest.raises(ValueError, match=r"^scales: rhs scales elements must be all positive"):
            uniform_dequantize(np.int8([1]), scale, 0)
