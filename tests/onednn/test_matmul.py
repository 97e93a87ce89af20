import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum
from qops.onednn.cast import store, to_f32
from qops.onednn.machine import MACHINES, machine

S8 = np.random.default_rng(7).integers(-128, 128, (2, 4, 19)).astype(np.int8)
U8 = np.random.default_rng(8).integers(0, 256, (2, 4, 19)).astype(np.uint8)
WEIGHTS = np.random.default_rng(9).integers(-128, 128, (2, 19, 3)).astype(np.int8)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize(
    ("src_zp", "wei_zp"),
    [(0, 0), (5, -3), (300, 2), (-200, 0), (7, 200), (255, 127), (256, 1), (-1, 1), (0, -128), (0, 128), (0, -129)],
)
def test_zero_points_are_exact_but_for_the_product(version, isa, src_zp, wei_zp):
    m = MACHINES[version, isa]
    got = onednn.matmul(U8, WEIGHTS, attr=Attr(src_zp=src_zp, wei_zp=wei_zp), isa=isa, version=version)
    fits = 0 <= src_zp <= 255 and -128 <= wei_zp <= 127
    for x, w, y in zip(U8, WEIGHTS, got, strict=True):
        rows = x.view(np.int8) if m.zp_rowsum_s8 and not fits else x
        want = twins.matrix(x, w, m.saturates).astype(int) - src_zp * w.sum(0, dtype=int)
        want = want - wei_zp * rows.sum(1, dtype=int)[:, None] + 19 * src_zp * wei_zp
        assert np.array_equal(y, want)


def test_avx2_gemm_is_exact_for_s8_with_a_small_zero_point_and_saturates_with_a_large_one():
    exact = S8.astype(int) @ WEIGHTS.astype(int)
    columns = WEIGHTS.sum(1, dtype=int, keepdims=True)
    small, large = (onednn.matmul(S8, WEIGHTS, attr=Attr(src_zp=zp), isa="avx2") for zp in (1, 200))
    assert np.array_equal(small, exact - columns)
    saturated = np.stack([twins.matrix(x, w, True) for x, w in zip(S8, WEIGHTS, strict=True)])
    assert np.array_equal(large, saturated - 200 * columns)
    assert (saturated != exact).any()


@pytest.mark.parametrize(("zp", "is_exact"), [(-128, True), (127, True), (-129, False), (128, False)])
def test_a_zero_point_of_s8_is_small_if_it_is_a_code(zp, is_exact):
    got = onednn.matmul(S8[0], WEIGHTS[0], attr=Attr(src_zp=zp), isa="avx2")
    product = twins.matrix(S8[0], WEIGHTS[0], not is_exact)
    assert np.array_equal(got, product - zp * WEIGHTS[0].sum(0, dtype=int))


def test_a_vector_of_weights_is_what_its_kernel_shifts():
    src, vector = S8[0], WEIGHTS[0, :, :1]
    shifted_vector, shifted_src = twins.matrix(vector.T, src.T, True).T, twins.matrix(src, vector, True)
    assert not np.array_equal(shifted_vector, shifted_src)
    for isa, want in (("avx512", shifted_vector), ("avx2", shifted_src)):
        assert np.array_equal(onednn.matmul(src, vector, isa=isa, version="2.6"), want)
    large = onednn.matmul(src, vector, isa="avx512", version="2.6", attr=Attr(src_zp=200))
    assert np.array_equal(large, shifted_vector - 200 * vector.sum(dtype=int))


@pytest.mark.parametrize("dst_dt", ["u8", "s8", "s32", "f32"])
def test_post_ops_write_to_out_what_they_return_also_over_what_they_add(dst_dt):
    attr = Attr(src_scale=0.25, wei_scale=0.125, dst_scale=3.0, post_ops=[Sum(0.5), Eltwise(alpha=0.25)])
    dtype = onednn.cast.DTYPES[dst_dt]
    old = np.arange(24).reshape(2, 4, 3).astype(dtype)
    before = old.copy()
    want = onednn.matmul(U8, WEIGHTS, dst_dt=dst_dt, attr=attr, dst_in=old)
    assert np.array_equal(old, before)
    plain = onednn.matmul(U8, WEIGHTS, dst_dt=dst_dt, attr=attr, dst_in=np.zeros_like(old))
    assert not np.array_equal(want, plain)
    for out in (np.empty_like(old), np.empty((2, 3, 4), dtype).swapaxes(1, 2), old):
        assert onednn.matmul(U8, WEIGHTS, dst_dt=dst_dt, attr=attr, dst_in=old, out=out) is out
        assert np.array_equal(out, want)


def test_batches_broadcast():
    one = onednn.matmul(U8, WEIGHTS[:1])
    assert np.array_equal(one[1], onednn.matmul(U8[1], WEIGHTS[0]))


def test_extreme_zero_points_wrap():
    top = 2**31 - 1
    got = onednn.matmul(U8, WEIGHTS, attr=Attr(src_zp=top, wei_zp=-top))
    want = (U8.astype(object) - top) @ (WEIGHTS.astype(object) + top)
    assert np.array_equal(got, store(to_f32(np.vectorize(twins.wrap32)(want)), "s32"))


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_s32_passes_through_f32_where_it_is_compensated_and_under_gemm_of_3(version, isa):
    """Bits of all three libraries: the sum has 25 bits."""
    src, weights = np.full((2, 1300), 127, np.uint8), np.full((1300, 2), 127, np.int8)
    weights[0] = 126

    def run(x, w, **attr):
        return set(onednn.matmul(x, w, attr=Attr(**attr), isa=isa, version=version).ravel().tolist())

    m = machine(version, isa)
    gemm = m.matmul == "gemm"
    assert run(src, weights) == {20967572 if gemm and version != "2.6" else 20967573}
    for zero in ({"src_zp": 0}, {"wei_zp": 0}):
        assert run(src, weights, **zero) == {20967573 if gemm and version == "2.6" else 20967572}
    assert run(src.view(np.int8), -weights) == {-166528 if m.saturates else -20967572}


def test_destination_scale_and_zero_point_come_last():
    attr = Attr(src_scale=0.06, wei_scale=Scales(np.float32([0.1, 0.2, 0.3]), 1 << 2), dst_scale=0.7, dst_zp=-9)
    got = onednn.matmul(S8, WEIGHTS, dst_dt="s8", attr=attr, version="3.2")
    f = (S8.astype(int) @ WEIGHTS.astype(int)).astype(np.float32)
    f = f * (np.float32(0.06) * np.float32([0.1, 0.2, 0.3])) * (np.float32(1) / np.float32(0.7)) + np.float32(-9)
    assert got.ravel().tolist() == [twins.store(v, "s8") for v in f.ravel()]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src=U8[0, 0]), ValueError, r"src, weights: expected shapes .* got"),
        (dict(weights=WEIGHTS[:, :5]), ValueError, r"src, weights: expected shapes .* got"),
        (dict(weights=np.zeros((3, 19, 3), np.int8)), ValueError, "src, weights: expected equal batches or 1"),
        (dict(weights=WEIGHTS.view(np.uint8)), TypeError, "weights: expected int8, got uint8"),
        (dict(attr=Attr(wei_scale=Scales(np.ones(3), 2))), ValueError, "wei_scale: expected mask 0 or 4, got 2"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.matmul(**{"src": U8, "weights": WEIGHTS, **options})
