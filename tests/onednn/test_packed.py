"""Packed weights, threads and `out`: other ways to the same bits, which the tests of each primitive hold to a twin."""

import numpy as np
import pytest

from qops import onednn
from qops.onednn import Attr, Sum, Window
from qops.onednn.cast import DTYPES
from qops.onednn.machine import MACHINES


def codes(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, 0, 1, info.max - 1, info.max], dtype), shape)


def run(a, b, **options):
    return (onednn.gemm_u8s8s32 if a.dtype == np.uint8 else onednn.gemm_s8s8s32)(a, b, **options)


OPTIONS = [{}, {"ao": 3, "bo": -7}, {"alpha": 0.5}, {"beta": 1.0}, {"co": 9}, {"alpha": -1.5, "beta": 0.25, "ao": 1}]


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_packed_weights_threads_and_out_change_no_bit_of_gemm(rng, version, isa, dtype):
    for k in (0, 5, 257, 385, 769):
        for m, n in ((1, 3), (4, 1), (7, 70)):
            a, b = codes(rng, dtype, m, k), codes(rng, np.int8, k, n)
            packed = onednn.pack_weights(b, isa=isa, version=version)
            assert packed.shape == (k, n)
            for options in OPTIONS:
                options = {"isa": isa, "version": version, "c": codes(rng, np.int32, m, n), **options}
                want, old = run(a, b, **options), options["c"].copy()
                out = codes(rng, np.int32, m, 2 * n + 1)[:, 1 : n + 1]
                assert np.array_equal(run(a, packed, **options), want)
                assert np.array_equal(run(a, packed, num_threads=2, **options), want)
                assert np.array_equal(run(a, b, num_threads=3, **options), want)
                assert run(a, b, out=out, **options) is out
                assert np.array_equal(out, want)
                assert np.array_equal(options["c"], old)
                assert run(a, packed, out=options["c"], **options) is options["c"]
                assert np.array_equal(options["c"], want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_packed_weights_and_threads_change_no_bit_of_inner_product_and_matmul(rng, version, isa):
    machine = {"isa": isa, "version": version}
    for dtype in (np.uint8, np.int8):
        for k, n in ((6, 5), (257, 1), (385, 66)):
            a, b = codes(rng, dtype, 4, k), codes(rng, np.int8, k, n)
            packed = onednn.pack_weights(b, **machine)
            for weights_format in ("any", "oi"):
                how = {"weights_format": weights_format, **machine}
                want = onednn.inner_product(a, b.T, **how)
                assert np.array_equal(onednn.inner_product(a, packed, num_threads=2, **how), want)
            for attr in (Attr(), Attr(src_zp=1, wei_zp=-1), Attr(src_zp=1000, wei_zp=2)):
                want = onednn.matmul(a, b, attr=attr, **machine)
                assert np.array_equal(onednn.matmul(a, packed, attr=attr, num_threads=2, **machine), want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dst_dt", ["s32", "f32", "u8"])
def test_out_changes_no_bit_of_inner_product_and_matmul(rng, version, isa, dst_dt):
    a, b, bias = codes(rng, np.uint8, 4, 30), codes(rng, np.int8, 30, 6), codes(rng, np.int32, 6) // 2**20
    for call, weights in ((onednn.inner_product, b.T), (onednn.matmul, b), (onednn.matmul, onednn.pack_weights(b))):
        for options in ({}, {"bias": bias}, {"attr": Attr(post_ops=[Sum()])}):
            how = {"isa": "vnni", "dst_dt": dst_dt, **options}
            how |= {} if isinstance(weights, onednn.PackedWeights) else {"isa": isa, "version": version}
            old = codes(rng, np.int8, 4, 6).astype(DTYPES[dst_dt])
            how["dst_in"] = old if "attr" in how else None
            want = call(a, weights, **how)
            for out in (np.full_like(want, 77), np.full((6, 8), 77, want.dtype).T[::2], old):
                assert call(a, weights, out=out, **how) is out
                assert np.array_equal(out, want)


@pytest.mark.parametrize("isa", ["avx2", "vnni"])
def test_threads_change_no_bit_of_convolution(rng, isa):
    src, weights = codes(rng, np.int8, 2, 6, 9, 8), codes(rng, np.int8, 10, 6, 3, 3)
    window, attr = Window(pad_l=(1, 1), stride=(1, 2)), Attr(src_zp=200)
    want = onednn.convolution(src, weights, window=window, attr=attr, isa=isa)
    assert want.any()
    for num_threads in (2, 3, 64):
        got = onednn.convolution(src, weights, window=window, attr=attr, isa=isa, num_threads=num_threads)
        assert np.array_equal(got, want)


def test_what_is_packed_is_a_copy(rng):
    a, b = codes(rng, np.uint8, 3, 8), codes(rng, np.int8, 8, 4)
    want, packed = run(a, b), onednn.pack_weights(b)
    b[:] = 0
    assert want.any()
    assert np.array_equal(run(a, packed), want)
    assert np.array_equal(run(a, packed, ao=1) - want, run(a, packed.codes, ao=1) - want)
    assert not packed.codes.flags.writeable


A, B = np.zeros((2, 3), np.uint8), np.zeros((3, 4), np.int8)
PACKED, ROOM = onednn.pack_weights(B), np.zeros(11, np.int32)
READ_ONLY = np.zeros((2, 4), np.int32)
READ_ONLY.flags.writeable = False
IN_ROOM, OUT = ROOM.view(np.int8)[:12].reshape(3, 4), ROOM[2:10].reshape(2, 4)


@pytest.mark.parametrize("alpha", [1.0, 2.0], ids=["the short way", "the long way"])
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(b=PACKED, isa="avx2"), ValueError, "b: packed for isa 'vnni' of version '3.13', expected isa 'avx2'"),
        (dict(b=PACKED, version="2.6"), ValueError, "b: packed for .* expected isa 'vnni' of version '2.6'"),
        (dict(b=PACKED, transb="T"), ValueError, "transb: expected 'N', as b is packed, got 'T'"),
        (dict(b=onednn.pack_weights(B[:2])), ValueError, r"agree in k, got shapes \(2, 3\) and \(2, 4\)"),
        (dict(a=A.astype(np.int8)), TypeError, "a: expected uint8 data, got int8"),
        (dict(a=A[0]), ValueError, "a: expected 2 dimensions"),
        (dict(b=B.view(np.uint8)), TypeError, "b: expected int8 data, got uint8"),
        (dict(b=B[0]), ValueError, "b: expected 2 dimensions"),
        (dict(num_threads=0), ValueError, "num_threads: expected an integer in .*, got 0"),
        (dict(num_threads=1.5), TypeError, "num_threads: expected an integer, got 1.5"),
        (dict(out=[[0]]), TypeError, "out: expected an ndarray, got list"),
        (dict(out=np.zeros((2, 4))), TypeError, "out: expected native int32, got dtype"),
        (dict(out=np.zeros((2, 4), ">i4")), TypeError, "out: expected native int32, got dtype"),
        (dict(out=np.zeros((4, 2), np.int32)), ValueError, r"out: shape \(4, 2\), expected \(2, 4\)"),
        (dict(out=np.zeros((4, 2), np.int32).T), ValueError, "out: expected aligned rows, contiguous each"),
        (dict(out=READ_ONLY), ValueError, "out: is read-only"),
        (dict(a=ROOM.view(np.uint8)[:6].reshape(2, 3), out=ROOM[:8].reshape(2, 4)), ValueError, "out: shares memory"),
        (dict(b=IN_ROOM, out=OUT), ValueError, "out: shares memory"),
    ],
)
def test_rejects_bad_input_on_both_ways(options, error, words, alpha):
    with pytest.raises(error, match=words):
        onednn.gemm_u8s8s32(**{"a": A, "b": B, "alpha": alpha, **options})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: onednn.pack_weights(A), TypeError, "b: expected int8 data, got uint8"),
        (lambda: onednn.pack_weights(B[0]), ValueError, "b: expected 2 dimensions"),
        (lambda: onednn.pack_weights(B, isa="amx"), ValueError, "isa: expected one of"),
        (lambda: onednn.inner_product(A, onednn.pack_weights(B.T)), ValueError, r"weights: expected \(3, OC\) packed"),
        (lambda: onednn.matmul(A, onednn.pack_weights(B.T)), ValueError, "src, weights: expected shapes"),
        (lambda: onednn.matmul(A, PACKED, isa="avx2"), ValueError, "weights: packed for isa 'vnni'"),
        (lambda: onednn.inner_product(A, PACKED, isa="avx2"), ValueError, "weights: packed for isa 'vnni'"),
        (lambda: onednn.inner_product(A, B.T, num_threads=0), ValueError, "num_threads: expected"),
        (lambda: onednn.matmul(A, B, num_threads=0), ValueError, "num_threads: expected"),
        (lambda: onednn.matmul(A, B, out=[[0]]), TypeError, "out: expected an ndarray, got list"),
        (lambda: onednn.matmul(A, PACKED, out=READ_ONLY), ValueError, "out: is read-only"),
        (lambda: onednn.matmul(A, B, dst_dt="u8", out=READ_ONLY), TypeError, "out: expected native uint8"),
        (lambda: onednn.inner_product(A, B.T, out=READ_ONLY.T), ValueError, r"out: shape \(4, 2\), expected \(2, 4\)"),
        (lambda: onednn.inner_product(A, IN_ROOM.T, out=OUT), ValueError, "out: shares memory"),
        (lambda: onednn.matmul(A, IN_ROOM, out=OUT), ValueError, "out: shares memory"),
    ],
)
def test_rejects_what_cannot_be_packed_or_used_packed(call, error, words):
    with pytest.raises(error, match=words):
        call()
