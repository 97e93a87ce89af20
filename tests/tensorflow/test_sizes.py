"""Every op of `qops.tensorflow`, of no element, one and two, against its twin."""

import numpy as np
import pytest
import reference_tensorflow as twin

from qops import tensorflow

A, B = (-1.5, 2.0), (-0.25, 3.0)
SIZES = pytest.mark.parametrize("n", [0, 1, 2])


@SIZES
@pytest.mark.parametrize("T", twin.TYPES)
@pytest.mark.parametrize("mode", twin.MODES)
def test_quantize_and_back(rng, T, mode, n):
    x = rng.normal(size=n).astype(np.float32)
    want, *ends = twin.quantize(x, *A, twin.TYPES[T], mode)
    t = tensorflow.quantize_v2(x, *A, T, mode)
    np.testing.assert_array_equal(t.data, want, strict=True)
    assert [t.min, t.max] == ends
    np.testing.assert_array_equal(tensorflow.dequantize(t, mode), twin.dequantize(want, *ends, mode), strict=True)


@SIZES
@pytest.mark.parametrize("T", ["quint8", "qint8"])
def test_quantize_by_onednn(rng, T, n):
    x = rng.normal(size=n).astype(np.float32)
    want, *ends = twin.quantize_onednn(x, *A, twin.TYPES[T], "SCALED")
    t = tensorflow.quantize_v2(x, *A, T, "SCALED", "HALF_TO_EVEN", onednn=True)
    np.testing.assert_array_equal(t.data, want, strict=True)
    assert [t.min, t.max] == ends


@SIZES
def test_adds(rng, n):
    x, y = rng.integers(0, 256, (2, n), np.uint8)
    z_max = twin.add_max(A, B)
    z = tensorflow.quantized_add((x, *A), (y, *B))
    want = twin.add_terms(*A, z_max, n == 1)[x] + twin.add_terms(*B, z_max)[y]
    np.testing.assert_array_equal(z.data, want)
    assert (z.min, z.max) == (-z_max, z_max)
    if n:  # no bias is refused
        want, t_max = twin.bias_add(x[None], A, y, B)
        t = tensorflow.quantized_bias_add((x[None], *A), (y, *B))
        np.testing.assert_array_equal(t.data, want)
        assert (t.min, t.max) == (-t_max, t_max)


def test_steps_of_the_smallest_normal_float32_are_the_smallest_taken():
    codes, top = np.uint8([0, 255]), 255 * 2.0**-126
    for end in (top, np.float64(top)):  # plain floats are checked by themselves
        assert tensorflow.quantized_mul((codes, 0.0, end), (codes, *A)).data.tolist() == [0, 255 * 146]
        with pytest.raises(ValueError, match="has steps too small for float32"):
            tensorflow.quantized_mul((codes, 0.0, end * (1 - 2.0**-23)), (codes, *A))


@SIZES
def test_requantizers(rng, n):
    q = rng.integers(-(2**31), 2**31, n, np.int32)
    for out_type, slow in (("quint8", twin.requantize_u8), ("qint8", twin.requantize_s8)):
        np.testing.assert_array_equal(tensorflow.requantize((q, *B), *A, out_type).data, slow(q, *B, *A), strict=True)
    found = twin.real_range(q, *B)
    assert tensorflow.requantization_range((q, *B)) == tuple(found)
    t = tensorflow.quantize_down_and_shrink_range((q, *B))
    np.testing.assert_array_equal(t.data, twin.requantize_u8(q, *B, *found), strict=True)
