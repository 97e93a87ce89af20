import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn

F = np.float32
ALL = {np.uint8: np.arange(256).astype(np.uint8), np.int8: np.arange(-128, 128).astype(np.int8)}


@pytest.mark.parametrize(("dtype", "dt"), [(np.uint8, "u8"), (np.int8, "s8")])
def test_every_code_matches_the_formula(dtype, dt):
    x = ALL[dtype].astype(F)
    alpha, beta = F(0.3), F(7.5)
    want = {
        "relu": [v if v > 0 else alpha * v for v in x],
        "linear": [twins.fma(v, alpha, beta) for v in x],
        "clip": [min(max(v, alpha), beta) for v in x],
    }
    for alg, values in want.items():
        assert onednn.eltwise(ALL[dtype], alg, alpha, beta).tolist() == [twins.store(v, dt) for v in values]


def test_s32_passes_through_f32_and_relu_has_no_upper_clamp():
    x = np.int32([2**24 + 1, 2**31 - 1, -(2**31)])
    assert onednn.eltwise(x, "relu", 0.5).tolist() == [2**24, -(2**31), -(2**30)]
    assert onednn.eltwise(x, "linear", 1.0).tolist() == [2**24, 2147483520, -(2**31)]
    assert onednn.eltwise(x, "clip", -5, 3e9).tolist() == [2**24, 2147483520, -5]


def test_zero_dimensions_and_big_endian_codes():
    got = onednn.eltwise(np.array(-5, ">i4"), "relu", 2.0)
    assert isinstance(got, np.ndarray)
    assert got == np.int32(-10)
    assert got.dtype == np.int32


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src=np.zeros(1, F)), TypeError, "src: expected uint8, int8, int32, got float32"),
        (dict(alg="gelu"), ValueError, "alg: expected one of .*got 'gelu'"),
        (dict(alpha=np.inf), ValueError, "alpha: inf is not a finite float32"),
        (dict(alpha="1"), TypeError, "alpha: expected a number, got '1'"),
        (
            dict(alg="clip", alpha=2, beta=1),
            ValueError,
            "alpha, beta: expected alpha <= beta for a clip, got 2.0 and 1.0",
        ),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.eltwise(**{"src": np.zeros(1, np.int8), "alg": "relu", **options})
