import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Eltwise, Scales, Sum

F = np.float32
X, Y = (g.astype(np.uint8) for g in np.meshgrid(np.arange(256), np.arange(256)))
S = (Y.astype(int) - 128).astype(np.int8)
CURVES = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("alg", CURVES)
@pytest.mark.parametrize(("dst_dt", "low", "high"), [("u8", 0, 255), ("s8", -128, 127)])
def test_all_pairs_match_the_formula(alg, dst_dt, low, high):
    got = onednn.binary(X, S, alg, scale0=0.37, scale1=1.1, dst_dt=dst_dt)
    f = CURVES[alg](X.astype(F) * F(0.37), S.astype(F) * F(1.1)).astype(np.float64)
    assert np.array_equal(got, np.rint(np.clip(f, low, high)))


def test_sum_is_fused_only_into_the_dtype_of_src0():
    x, y = np.uint8([[3, 250, 17]]), np.uint8([[5, 3, 99]])
    old = {"u8": np.uint8([[7, 100, 201]]), "s8": np.int8([[7, -100, 101]])}
    for dt, fused in (("u8", True), ("s8", False)):
        f = x.astype(F) * F(0.1) + y.astype(F)
        want = [
            twins.fma(o, F(0.3), v) if fused else v + F(0.3) * F(o)
            for o, v in zip(old[dt].ravel(), f.ravel(), strict=True)
        ]
        got = onednn.binary(x, y, "add", scale0=0.1, dst_dt=dt, post_ops=[Sum(0.3)], dst_in=old[dt])
        assert got.ravel().tolist() == [twins.store(v, dt) for v in want]


def test_src1_repeats_and_post_ops_keep_their_order():
    assert onednn.binary(X, Y[:1], "add").shape == X.shape
    x, y, old = np.int8([-9]), np.int8([0]), np.int8([4])
    order = [
        onednn.binary(x, y, "add", dst_dt="s8", post_ops=p, dst_in=old).tolist()
        for p in ([Sum(), Eltwise()], [Eltwise(), Sum()])
    ]
    assert order == [[0], [4]]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src1=X[:3]), ValueError, "src1: expected the shape of src0"),
        (dict(src0=X.astype(F)), TypeError, "src0: expected uint8, int8, got float32"),
        (dict(alg="div"), ValueError, "alg: expected one of .*got 'div'"),
        (dict(scale1=Scales([2.0, 5.0], 1)), TypeError, "scale1: expected a number, got Scales"),
        (dict(scale0=0.0), ValueError, "scale0: expected a number above zero, got 0.0"),
        (dict(dst_dt="f32"), ValueError, "dst_dt: expected one of u8, s8, got 'f32'"),
        (dict(post_ops=[Sum()]), ValueError, "dst_in: expected the destination"),
        (dict(post_ops=[Sum()], dst_in=X[:3]), ValueError, "dst_in: expected shape"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.binary(**{"src0": X, "src1": Y, "alg": "add", **options})


def test_out_may_be_what_the_sum_reads(rng):
    x, y, old = (rng.integers(0, 256, (3, 50), np.uint8) for _ in range(3))
    want = onednn.binary(x, y, "add", scale0=0.5, post_ops=[onednn.Sum(0.25)], dst_in=old)
    assert onednn.binary(x, y, "add", scale0=0.5, post_ops=[onednn.Sum(0.25)], dst_in=old, out=old) is old
    assert np.array_equal(old, want)


def test_scales_that_make_nan_are_refused_by_name():
    x = np.uint8([255])
    with pytest.raises(ValueError, match=r"^scale0, scale1, post_ops: the result holds nan, which has no code in u8"):
        onednn.binary(x, x, "sub", scale0=3e38, scale1=3e38)
