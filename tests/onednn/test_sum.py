import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn

F = np.float32
U8, S8 = (
    np.random.default_rng(10).integers(0, 256, (4, 50)).astype(np.uint8),
    np.random.default_rng(11).integers(-128, 128, (4, 50)).astype(np.int8),
)


@pytest.mark.parametrize("dt", ["u8", "s8", "s32", "f32"])
def test_matches_the_formula_in_order(dt):
    scales = F([0.3, 0.7, -0.11])
    got = onednn.sum([U8, S8, U8], scales, dst_dt=dt)
    want = [
        twins.store((F(a) * scales[0] + F(b) * scales[1]) + F(a) * scales[2], dt)
        for a, b in zip(U8.ravel(), S8.ravel(), strict=True)
    ]
    assert got.ravel().tolist() == want


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: onednn.sum([], []), ValueError, "scales: expected one a source, got 0 sources and 0 scales"),
        (lambda: onednn.sum([U8], 1.0), TypeError, "scales: expected a sequence, got 1.0"),
        (lambda: onednn.sum([U8, U8], [1.0]), ValueError, "got 2 sources and 1 scales"),
        (
            lambda: onednn.sum([U8, U8[:1]], [1.0, 1.0]),
            ValueError,
            r"srcs\[1\]: expected shape \(4, 50\), got \(1, 50\)",
        ),
        (lambda: onednn.sum([U8.astype(F)], [1.0]), TypeError, r"srcs\[0\]: expected uint8, int8"),
        (lambda: onednn.sum([U8], [np.nan]), ValueError, r"scales\[0\]: nan is not a finite float32"),
        (lambda: onednn.sum([U8 | 128, U8 | 128], [3e38, -3e38]), ValueError, "^scales: the result holds nan"),
        (lambda: onednn.sum([U8], 10**5000), TypeError, "^scales: expected a sequence, got an integer of 16610 bits"),
        (lambda: onednn.sum([U8], [1.0], dst_dt="u16"), ValueError, "dst_dt: expected one of"),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
