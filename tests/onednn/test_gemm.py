import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn.machine import MACHINES, machine

RNG = np.random.default_rng(4)
ISAS = ("avx2", "avx512", "vnni")


def codes(dtype, *shape):
    info = np.iinfo(dtype)
    return RNG.choice(np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype), shape)


def run(a, b, **options):
    return (onednn.gemm_u8s8s32 if a.dtype == np.uint8 else onednn.gemm_s8s8s32)(a, b, **options)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("k", [1, 6, 257, 385, 769])
def test_matches_the_twin_at_block_edges(isa, dtype, k):
    a, b = codes(dtype, 3, k), codes(np.int8, k, 2)
    m = machine("3.13", isa)
    want = twins.matrix(a, b, m.saturates, m.k_starts(k))
    assert np.array_equal(run(a, b, isa=isa), want)
    assert np.array_equal(run(a.T, b.T, transa="T", transb="T", isa=isa), want)


def test_vnni_is_exact_with_offsets_and_all_of_co():
    a, b = codes(np.int8, 4, 300), codes(np.int8, 300, 5)
    exact = (a.astype(np.int64) + 7) @ (b.astype(np.int64) - 3)
    for offsetc, co in (("F", np.int32([9])), ("R", np.arange(5, dtype=np.int32)), ("C", np.arange(4, dtype=np.int32))):
        add = co[:, None] if offsetc == "C" else co
        assert np.array_equal(run(a, b, ao=-7, bo=3, offsetc=offsetc, co=co), exact + add)


@pytest.mark.parametrize("isa", ISAS)
def test_offsets_never_change_saturation_of_u8(isa):
    a, b = codes(np.uint8, 3, 50), codes(np.int8, 50, 4)
    plain = run(a, b, isa=isa).astype(np.int64)
    want = plain - 9 * b.sum(0, dtype=int) + 5 * a.sum(1, dtype=int)[:, None] - 50 * 45
    assert np.array_equal(run(a, b, ao=9, bo=-5, isa=isa), want)


@pytest.mark.parametrize("isa", ISAS)
def test_alpha_rounds_half_away_once_a_block(isa):
    k = 770
    a, b = codes(np.uint8, 3, k), codes(np.int8, k, 4)
    m, c = machine("2.6", isa), np.zeros((3, 4))
    starts = m.k_starts(k)
    for lo, hi in zip(starts, [*starts[1:], k], strict=True):
        c = c + 0.5 * twins.matrix(a[:, lo:hi], b[lo:hi], m.saturates)
        c = np.trunc(c + np.copysign(0.5, c))
    assert np.array_equal(run(a, b, alpha=0.5, isa=isa, version="2.6"), c)


def test_alpha_saturates_and_beta_wraps():
    a, b, c = np.uint8([[1]]), np.int8([[1]]), np.int32([[2**31 - 1]])
    assert run(a, b, alpha=2.0, beta=1.0, c=c)[0, 0] == 2**31 - 1
    assert run(a, b, beta=1.0, c=c)[0, 0] == -(2**31)
    assert run(a, b, alpha=-1.0)[0, 0] == -1


def test_gemv_has_no_k_blocks_and_shifts_the_vector():
    a, b = codes(np.int8, 3, 385), codes(np.int8, 385, 1)
    want = twins.matrix(b.T, a.T, True).T
    assert np.array_equal(run(a, b, isa="avx512"), want)
    two = run(a, np.hstack([b, b]), isa="avx512")
    assert (two[:, :1] != want).any()
    in_blocks = twins.matrix(a, b, True, machine("3.2", "avx512").k_starts(385))
    assert (in_blocks != want).any()
    for offsetc, co in (("R", np.zeros(1, np.int32)), ("C", np.zeros(3, np.int32))):  # only a fixed co goes to GEMV
        assert np.array_equal(run(a, b, offsetc=offsetc, co=co, isa="avx512"), in_blocks)


def test_avx2_reference_passes_through_f32():
    k = 1100
    a, b = np.full((1, k), 127, np.int8), np.full((k, 1), 127, np.int8)
    exact = k * 128 * 127
    b[0], exact = 126, exact - 128
    assert run(a, b, ao=-1, isa="vnni")[0, 0] == exact
    assert run(a, b, ao=-1, isa="avx2")[0, 0] == int(np.float32(exact))
    b[1] = 0
    odd = exact - 128 * 127 + 1
    assert run(a, b, ao=-1, co=1, isa="avx2")[0, 0] == int(np.float32(odd)) != odd


def test_vnni_cuts_long_k_in_two_where_avx512_cuts_it_in_three():
    """Bits of all three libraries: each block rounds 0.5*1 up to 1."""
    a, b = np.zeros((2, 1600), np.uint8), np.ones((1600, 2), np.int8)
    a[:, [0, 790]] = 1
    for version, isa in MACHINES:
        got = onednn.gemm_u8s8s32(a, b, alpha=0.5, isa=isa, version=version)
        assert set(got.ravel().tolist()) == {1 if isa == "vnni" else 2}


def test_of_two_vectors_the_transposed_b_decides():
    """Bits of all three libraries."""
    a, b = np.zeros((1, 8), np.int8), np.zeros((8, 1), np.int8)
    a[0, :2], b[:2, 0] = 127, (127, 100)
    for version, isa in MACHINES:
        options = {"isa": isa, "version": version}
        got = [onednn.gemm_s8s8s32(a, b, **options).item(), onednn.gemm_s8s8s32(a, b.T, transb="T", **options).item()]
        assert got == {"avx2": [3711, 3711], "avx512": [255, 3711], "vnni": [28829, 28829]}[isa]


def test_avx2_reference_overflows_to_int_min():
    """Bits of all three libraries."""
    one, c = np.ones((1, 1), np.int8), np.int32([[2**31 - 1]])
    for version, isa in MACHINES:
        got = onednn.gemm_s8s8s32(one, one, ao=2, beta=1.5, c=c, isa=isa, version=version).item()
        assert got == (-(2**31) if isa == "avx2" else 2**31 - 1)


def test_inputs_are_untouched_and_layout_does_not_matter():
    a, b = codes(np.int8, 4, 9), codes(np.int8, 9, 5)
    a.flags.writeable = b.flags.writeable = False
    wide = np.zeros((4, 18), np.int8)
    wide[:, ::2] = a
    want = run(a, b, isa="avx2")
    assert np.array_equal(run(wide[:, ::2], np.asfortranarray(b), isa="avx2"), want)
    assert run(np.zeros((0, 9), np.int8), b).shape == (0, 5)
    assert not run(np.zeros((2, 0), np.uint8), np.zeros((0, 3), np.int8), isa="avx2").any()


A, B = np.zeros((2, 3), np.uint8), np.zeros((3, 4), np.int8)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(a=A.astype(np.int8)), TypeError, "a: expected uint8 data, got int8"),
        (dict(b=B.astype(float)), TypeError, "b: expected int8 data, got float64"),
        (dict(a=A[0]), ValueError, "a: expected 2 dimensions"),
        (dict(b=B[:2]), ValueError, "a, b: expected .* agree in k"),
        (dict(transa="t"), ValueError, "transa: expected one of 'N', 'T', got 't'"),
        (dict(ao=-1), ValueError, r"ao: expected an integer in \[0, 255\], got -1"),
        (dict(bo=128), ValueError, r"bo: expected an integer in \[-128, 127\], got 128"),
        (dict(ao=1.5), TypeError, "ao: expected an integer, got 1.5"),
        (dict(alpha=np.nan), ValueError, "alpha: nan is not a finite float32"),
        (dict(beta=1.0), ValueError, r"c: expected the matrix that beta = 1\.0 multiplies"),
        (dict(beta=1.0, c=np.zeros((2, 2), np.int32)), ValueError, r"c: expected shape \(2, 4\)"),
        (dict(offsetc="X"), ValueError, "offsetc: expected one of"),
        (dict(offsetc="R", co=np.zeros(2, np.int32)), ValueError, r"co: expected 4 values, as offsetc is 'R', got 2"),
        (dict(co=2**31), ValueError, "co: expected an integer in .*got 2147483648"),
        (dict(co=1.5), TypeError, "co: expected int32 data, got float64"),
        (dict(co=np.zeros(4, np.int32)), ValueError, "co: expected 1 values, as offsetc is 'F', got 4"),
        (dict(isa="sse41"), ValueError, "isa: expected one of"),
        (dict(version="1.2"), ValueError, "version: expected one of .*got '1.2'"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.gemm_u8s8s32(**{"a": A, "b": B, **options})


def test_s8_sums_wrap_from_131072_terms_on():
    a, b = np.full((1, 131072), -128, np.int8), np.full((131072, 1), -128, np.int8)
    assert onednn.gemm_s8s8s32(a, b).item() == -(2**31)
    assert onednn.gemm_s8s8s32(a[:, 1:], b[1:]).item() == 2**31 - 16384
