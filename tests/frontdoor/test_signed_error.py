"""qops.values and qops.signed_error against exact fractions."""

import numpy as np
import pytest
import reference

import qops


@pytest.mark.parametrize("ends", [(1.0, 2.0), (-3.0, 0.1), (-1.0, 254.0), (1e-30, 2e-30), (-1e30, 3e30)])
def test_values_and_errors_are_those_of_fractions(rng, ends):
    codes = np.arange(256, dtype=np.uint8)
    t = (codes, *map(float, np.float32(ends)))
    exact, (_, step) = reference.values(*t), reference.signed_error(*t, np.zeros(256))
    want = np.float32(qops.values(t) + float(step) * rng.uniform(-3, 3, 256))
    off = [float(difference / step) for difference in reference.signed_error(*t, want)[0]]
    np.testing.assert_allclose(qops.values(t), [float(x) for x in exact], rtol=0, atol=float(step) * 2**-15)
    np.testing.assert_allclose(qops.signed_error(t, want), off, rtol=0, atol=1e-9)


def test_error_sums_up_the_signed_error(rng):
    x = rng.normal(0, 1, (7, 50))
    t = qops.quantize(x, axis=0)
    off, report = qops.signed_error(t, x), qops.error(t, x)
    assert off.shape == x.shape
    np.testing.assert_allclose(np.abs(off).max(), report.max, rtol=1e-12)
    np.testing.assert_allclose(off.mean(), report.bias, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble", "uint8", "int64"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_the_error_is_float64_and_the_arguments_stay(dtype, shape):
    codes, true = np.full(shape, 7, np.uint8), np.full((), 5, dtype)
    off = qops.signed_error((codes, 0.0, 255.0), true)
    assert (off.dtype, off.shape) == (np.float64, shape)
    assert (off == 2).all()
    assert (codes == 7).all()
    assert true == 5


@pytest.mark.parametrize(
    ("t", "reference", "error", "text"),
    [
        ((np.uint8([1]), 0.0, 0.0), [0.0], ValueError, "t: its range is zero wide"),
        ((np.uint8([1]), 0.0, 1.0), [np.nan], ValueError, "reference: has values that are NaN"),
        ((np.uint8([1]), 0.0, 1.0), [1e308], ValueError, "reference: has values that are .* beyond float32"),
        ((np.uint8([1]), 0.0, 1.0), [-4e38], ValueError, "reference: has values that are .* beyond float32"),
        ((np.uint8([1]), 0.0, 1.0), [0.0, 1.0], ValueError, "reference: shape"),
        ((np.uint8([1]), 0.0, 1.0), ["a"], TypeError, "reference: expected real numbers"),
        ((np.float32([1]), 0.0, 1.0), [0.0], TypeError, "t: "),
    ],
)
def test_what_has_no_error_is_named(t, reference, error, text):
    with pytest.raises(error, match=f"^{text}"):
        qops.signed_error(t, reference)
