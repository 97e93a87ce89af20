"""`quantized_matmul` against its twin: zeros beyond the codes, transposes, any out, bad input."""

import numpy as np
import pytest
import reference_tensorflow_products as twin

from qops.tensorflow import quantized_matmul

RANGES = [(-1, 1), (0, 6), (-3, 0), (2.5, 7.25), (-9, -4.5), (-12.625, 3.3), (1e6, 1e6 + 1)]
A, B = np.arange(24, dtype=np.uint8).reshape(6, 4) * 10, np.arange(20, dtype=np.uint8).reshape(4, 5) * 12
R = -1.0, 1.0


@pytest.mark.parametrize("a_range", RANGES)
def test_matches_twin(rng, a_range):
    for b_range in RANGES:
        m, k, n = rng.integers(1, 20, 3)
        a, b = rng.integers(0, 256, (m, k), np.uint8), rng.integers(0, 256, (k, n), np.uint8)
        t = quantized_matmul((a, *a_range), (b, *b_range))
        np.testing.assert_array_equal(t.data, twin.matmul(a, a_range, b, b_range), strict=True)
        assert (t.min, t.max) == (-twin.top(a_range, b_range), twin.top(a_range, b_range))


@pytest.mark.parametrize("transposed", [(False, True), (True, False), (True, True)])
def test_transposes(transposed):
    given = [x.T.copy() if flip else x for x, flip in zip((A, B), transposed, strict=True)]
    t = quantized_matmul((given[0], *R), (given[1], 0.0, 6.0), *transposed)
    np.testing.assert_array_equal(t.data, twin.matmul(A, R, B, (0, 6)))


def test_sums_wrap_modulo_2_to_the_32():
    k = 2**31 // 255**2 + 1
    row = np.full((1, k), 255, np.uint8)
    t = quantized_matmul((row, 0.0, 255.0), (row, 0.0, 255.0), transpose_b=True)
    assert t.data.item() == 255**2 * k - 2**32


def test_results_without_rows_or_columns():
    assert quantized_matmul((A[:0], *R), (B, *R)).data.shape == (0, 5)
    assert quantized_matmul((A, *R), (B[:, :0], *R)).data.shape == (6, 0)
    assert quantized_matmul((A[:0, :0], *R), (B[:0], *R)).data.shape == (0, 5)


def test_any_out_is_filled():
    want = twin.matmul(A, R, B, R)
    for out in (np.zeros((6, 5), np.int32), np.zeros((5, 6), np.int32).T, np.zeros((6, 10), np.int32)[:, ::2]):
        assert quantized_matmul((A, *R), (B, *R), out=out).data is out
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": (A[0], *R)}, r"a: In\[0\] is not a matrix, got shape \[4\]"),
        ({"b": (B[None], *R)}, r"b: In\[1\] is not a matrix, got shape \[1,4,5\]"),
        ({"b": (B.T, *R)}, r"a, b: Matrix size-incompatible: In\[0\]: \[6,4\], In\[1\]: \[5,4\]"),
        ({"transpose_a": True}, r"a, b: Matrix size-incompatible"),
        ({"transpose_a": 1}, r"transpose_a: expected a bool, got 1"),
        ({"transpose_b": None}, r"transpose_b: expected a bool"),
        ({"a": (A, 1.0, 1.0)}, r"a: max_a must be larger than min_a, got min 1.0, max 1.0"),
        ({"b": (B, 1.0, -1.0)}, r"b: max_b must be larger than min_b"),
        ({"a": (A, 0.0, 1e20), "b": (B, 0.0, 1e20)}, r"a, b: the product of the ranges .* is beyond float32"),
        ({"a": (A[:, :0], *R), "b": (B[:0], *R)}, r"a, b: have no columns and rows"),
        ({"a": (A.astype(np.int8), *R)}, r"a: expected uint8 data, got int8"),
        ({"out": np.zeros((5, 6), np.int32)}, r"out: shape \(5, 6\), expected \(6, 5\)"),
    ],
)
def test_rejects(change, message):
    out = np.full((6, 5), 7, np.int32)
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        quantized_matmul(**{"a": (A, *R), "b": (B, *R), "out": out, **change})
    assert (out == 7).all()
