import itertools

import numpy as np
import onednn_twins as twins
import pytest
from onednn_prepared import prepare

from qops import onednn
from qops.onednn.machine import MACHINES

ISAS = ("avx2", "avx512", "vnni")
K_STARTS = {  # read off the results of the libraries: a block of 256 or 384 terms, two halves, blocks of 384 or 768
    "avx2": {1: [0], 6: [0], 257: [0, 129], 385: [0, 193], 769: [0, 384, 768], 770: [0, 384, 768]},
    "avx512": {1: [0], 6: [0], 257: [0], 385: [0, 193], 769: [0, 385], 770: [0, 385]},
    "vnni": {1: [0], 6: [0], 257: [0], 385: [0, 193], 769: [0, 385], 770: [0, 385]},
}


def codes(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype), shape)


def run(a, b, **options):
    return (onednn.gemm_u8s8s32 if a.dtype == np.uint8 else onednn.gemm_s8s8s32)(a, b, **options)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("k", [1, 6, 257, 385, 769])
def test_matches_the_twin_at_block_edges(rng, isa, dtype, k):
    a, b = codes(rng, dtype, 3, k), codes(rng, np.int8, k, 2)
    starts = K_STARTS[isa][k]
    want = twins.matrix(a, b, isa != "vnni", starts)
    assert np.array_equal(run(a, b, isa=isa), want)
    assert np.array_equal(run(a.T, b.T, transa="T", transb="T", isa=isa), want)


def test_vnni_is_exact_with_offsets_and_all_of_co(rng):
    a, b = codes(rng, np.int8, 4, 300), codes(rng, np.int8, 300, 5)
    exact = (a.astype(np.int64) + 7) @ (b.astype(np.int64) - 3)
    for offsetc, co in (("F", np.int32([9])), ("R", np.arange(5, dtype=np.int32)), ("C", np.arange(4, dtype=np.int32))):
        add = co[:, None] if offsetc == "C" else co
        assert np.array_equal(run(a, b, ao=-7, bo=3, offsetc=offsetc, co=co), exact + add)


@pytest.mark.parametrize("isa", ISAS)
def test_offsets_never_change_saturation_of_u8(rng, isa):
    a, b = codes(rng, np.uint8, 3, 50), codes(rng, np.int8, 50, 4)
    plain = run(a, b, isa=isa).astype(np.int64)
    want = plain - 9 * b.sum(0, dtype=int) + 5 * a.sum(1, dtype=int)[:, None] - 50 * 45
    assert np.array_equal(run(a, b, ao=9, bo=-5, isa=isa), want)


@pytest.mark.parametrize("isa", ISAS)
def test_alpha_rounds_half_away_once_a_block(rng, isa):
    k = 770
    a, b = codes(rng, np.uint8, 3, k), codes(rng, np.int8, k, 4)
    c, starts = np.zeros((3, 4)), K_STARTS[isa][k]
    for lo, hi in zip(starts, [*starts[1:], k], strict=True):
        c = c + 0.5 * twins.matrix(a[:, lo:hi], b[lo:hi], isa != "vnni")
        c = np.trunc(c + np.copysign(0.5, c))
    assert np.array_equal(run(a, b, alpha=0.5, isa=isa, version="2.6"), c)


def test_alpha_saturates_and_beta_wraps():
    a, b, c = np.uint8([[1]]), np.int8([[1]]), np.int32([[2**31 - 1]])
    assert run(a, b, alpha=2.0, beta=1.0, c=c)[0, 0] == 2**31 - 1
    assert run(a, b, beta=1.0, c=c)[0, 0] == -(2**31)
    assert run(a, b, alpha=-1.0)[0, 0] == -1


def test_gemv_has_no_k_blocks_and_shifts_the_vector(rng):
    a, b = codes(rng, np.int8, 3, 385), codes(rng, np.int8, 385, 1)
    want = twins.matrix(b.T, a.T, True).T
    assert np.array_equal(run(a, b, isa="avx512"), want)
    two = run(a, np.hstack([b, b]), isa="avx512")
    assert (two[:, :1] != want).any()
    in_blocks = twins.matrix(a, b, True, K_STARTS["avx512"][385])
    assert (in_blocks != want).any()
    assert np.array_equal(run(a.T, b, transa="T", isa="avx512"), in_blocks), "only where A is stored by rows"
    row = twins.matrix(b.T, a.T, True, K_STARTS["avx512"][385])
    assert np.array_equal(run(b.T, a.T, isa="avx512"), row), "a row is a vector where B is stored by columns"
    assert np.array_equal(run(b.T, a, transb="T", isa="avx512"), twins.matrix(b.T, a.T, True))
    assert (row != twins.matrix(b.T, a.T, True)).any()
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


def test_inputs_are_untouched_and_layout_does_not_matter(rng):
    a, b = codes(rng, np.int8, 4, 9), codes(rng, np.int8, 9, 5)
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
        (dict(transa="t"), ValueError, "transa: expected one of T, N, got 't'"),
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


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_every_shape_layout_and_form_of_b_is_one_product(rng, isa, dtype):
    """Vectors too: on AVX-512 they have no k blocks, and of two s8 operands the vector is the shifted one."""
    for k, (m, n) in itertools.product((0, 1, 64, 385), ((0, 4), (1, 3), (4, 1), (1, 1), (7, 70))):
        a, b = codes(rng, dtype, m, k), codes(rng, np.int8, k, n)
        starts = K_STARTS[isa].get(k, [0])
        if isa != "avx512" or n > 1:
            want = twins.matrix(a, b, isa != "vnni", starts)
        elif dtype == np.int8:
            want = twins.matrix(b.T, a.T, True).T
        else:
            want = twins.matrix(a, b, True)
        multiply = onednn.gemm_u8s8s32 if dtype == np.uint8 else onednn.gemm_s8s8s32
        op, out = prepare(multiply, b, isa=isa)[0], codes(rng, np.int32, m, 2 * n)[:, :n]
        assert np.array_equal(run(a, b, isa=isa), want)
        assert np.array_equal(run(np.asfortranarray(a), np.repeat(b, 2, axis=1)[:, ::2], isa=isa), want)
        assert op(a, out) is out
        assert np.array_equal(out, want)
        old = codes(rng, np.int32, m, n)
        total = (want.astype(np.int64) + old).astype(np.int32)
        for c in (old, old.astype(">i4"), np.asfortranarray(old)):
            assert np.array_equal(run(a, b, beta=1.0, c=c, isa=isa), total)
        assert prepare(multiply, b, beta=1.0, isa=isa)[0](a, out=old, c=old) is old
        assert np.array_equal(old, total)


def test_one_row_times_a_transposed_b_has_no_k_blocks_on_avx512(rng):
    a, b = codes(rng, np.uint8, 1, 385), codes(rng, np.int8, 3, 385)
    in_blocks, whole = (twins.matrix(a, b.T, True, starts) for starts in (K_STARTS["avx512"][385], [0]))
    assert (in_blocks != whole).any()
    assert np.array_equal(run(a, b, transb="T", isa="avx512"), whole)
    assert np.array_equal(run(a, b.T, isa="avx512"), in_blocks)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_ends_of_offsets_are_taken_and_no_more(dtype):
    a, b = np.ones((2, 3), dtype), np.ones((3, 4), np.int8)
    info = np.iinfo(dtype)
    for ao, bo in ((info.min, 127), (info.max, -128)):
        assert (run(a, b, ao=ao, bo=bo) == 3 * (1 - ao) * (1 - bo)).all()
    for how, name in (
        ({"ao": info.min - 1}, "ao"),
        ({"ao": info.max + 1}, "ao"),
        ({"bo": -129}, "bo"),
        ({"bo": 128}, "bo"),
    ):
        with pytest.raises(ValueError, match=f"{name}: expected an integer in"):
            run(a, b, **how)


def test_extreme_alpha_and_beta_saturate_without_a_warning():
    a, b, c = np.int8([[1, -1]]), np.int8([[1], [-1]]), np.int32([[2**31 - 1]])
    for isa, factor in itertools.product(ISAS, (3e38, -3e38)):
        end = 2**31 - 1 if factor > 0 else -(2**31)
        assert run(a, b, alpha=factor, isa=isa).item() == end
        assert run(a, b, alpha=factor, beta=factor, c=c, isa=isa).item() == end
        got = run(a, b, alpha=factor, ao=1, beta=factor, c=c, isa=isa).item()
        assert got == (-(2**31) if isa == "avx2" else end)


@pytest.mark.filterwarnings("ignore:Setting the shape")  # numpy 2.5 would rather not
def test_numbers_are_converted_once_and_before_arrays_are_looked_at():
    class Once:
        def __init__(self, array):
            self.array, self.asked = array, 0

        def __index__(self):
            self.asked += 1
            self.array.shape = (1, 6)
            return 1

    for name in ("ao", "bo", "num_threads"):
        a, b = np.ones((2, 3), np.uint8), np.ones((6, 2), np.int8)
        number = Once(a)
        got = onednn.gemm_u8s8s32(a, b, **{name: number})
        assert number.asked == 1
        assert got.tolist() == [[0 if name != "num_threads" else 6] * 2]
