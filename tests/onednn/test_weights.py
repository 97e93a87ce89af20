"""Prepared products, threads and `out`: other ways to the bits that the tests of each primitive hold to a twin."""

from functools import partial

import numpy as np
import pytest
from onednn_prepared import prepare
from onednn_prepared import run as run_prepared

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
def test_prepared_ops_threads_and_out_change_no_bit_of_gemm(rng, version, isa, dtype):
    for k in (0, 5, 257, 385, 769):
        for m, n in ((1, 3), (4, 1), (7, 70)):
            a, b = codes(rng, dtype, m, k), codes(rng, np.int8, k, n)
            for options in OPTIONS:
                options = {"isa": isa, "version": version, "c": codes(rng, np.int32, m, n), **options}
                want, old = run(a, b, **options), options["c"].copy()
                op, data = prepare(onednn.gemm_u8s8s32 if dtype == np.uint8 else onednn.gemm_s8s8s32, b, **options)
                assert op.shape_of(a.shape) == (m, n)
                out = codes(rng, np.int32, m, 2 * n + 1)[:, 1 : n + 1]
                assert np.array_equal(op(a, **data), want)
                assert np.array_equal(op(a, num_threads=2, **data), want)
                assert np.array_equal(run(a, b, num_threads=3, **options), want)
                assert run(a, b, out=out, **options) is out
                assert np.array_equal(out, want)
                assert np.array_equal(options["c"], old)
                assert op(a, options["c"], **data) is options["c"]
                assert np.array_equal(options["c"], want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_prepared_ops_and_threads_change_no_bit_of_inner_product_and_matmul(rng, version, isa):
    machine = {"isa": isa, "version": version}
    for dtype in (np.uint8, np.int8):
        for k, n in ((6, 5), (257, 1), (385, 66)):
            a, b = codes(rng, dtype, 4, k), codes(rng, np.int8, k, n)
            for weights_format in ("any", "oi"):
                how = {"weights_format": weights_format, **machine}
                want = onednn.inner_product(a, b.T, **how)
                for op in (onednn.InnerProduct(b.T, **how), onednn.InnerProduct(np.ascontiguousarray(b.T), **how)):
                    assert np.array_equal(op(a, num_threads=2), want)
            for attr in (Attr(), Attr(src_zp=1, wei_zp=-1), Attr(src_zp=1000, wei_zp=2)):
                want = onednn.matmul(a, b, attr=attr, **machine)
                assert np.array_equal(onednn.MatMul(b, attr=attr, **machine)(a, num_threads=2), want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dst_dt", ["s32", "f32", "u8"])
def test_out_changes_no_bit_of_inner_product_and_matmul(rng, version, isa, dst_dt):
    a, b, bias = codes(rng, np.uint8, 4, 30), codes(rng, np.int8, 30, 6), codes(rng, np.int32, 6) // 2**20
    for call, weights in ((onednn.inner_product, b.T), (onednn.matmul, b)):
        for options in ({}, {"bias": bias}, {"attr": Attr(post_ops=[Sum()])}):
            how = {"isa": isa, "version": version, "dst_dt": dst_dt, **options}
            first = codes(rng, np.int8, 4, 6).astype(DTYPES[dst_dt])
            want = call(a, weights, dst_in=first, **how)
            op, _ = prepare(call, weights, **how)
            for run in (op, partial(call, weights=weights, **how)):
                old = first.copy()
                for out in (np.full_like(want, 77), np.full((6, 8), 77, want.dtype).T[::2], old):
                    assert run(a, out=out, dst_in=old) is out
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


A, B = np.zeros((2, 3), np.uint8), np.zeros((3, 4), np.int8)
BIAS, CO = np.float32([1, -2, 3, 0.5]), np.int32([9, -9, 0, 1])
ROOM = np.zeros(11, np.int32)
READ_ONLY = np.zeros((2, 4), np.int32)
READ_ONLY.flags.writeable = False
IN_ROOM, OUT = ROOM.view(np.int8)[:12].reshape(3, 4), ROOM[2:10].reshape(2, 4)


@pytest.mark.parametrize("alpha", [1.0, 2.0], ids=["the short way", "the long way"])
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(isa="amx"), ValueError, "isa: expected one of"),
        (dict(version="1.0"), ValueError, "version: expected one of"),
        (dict(transb="t"), ValueError, "transb: expected one of T, N, got 't'"),
        (dict(b=B[:2]), ValueError, r"agree in k, got shapes \(2, 3\) and \(2, 4\)"),
        (dict(c=A, beta=1.0), TypeError, "c: expected int32 data, got uint8"),
        (dict(offsetc="C", co=CO), ValueError, "co: expected 2 values, as offsetc is 'C', got 4"),
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
    given = {"a": A, "b": B, "alpha": alpha, **options}
    with pytest.raises(error, match=words):
        onednn.gemm_u8s8s32(**given)
    if given["b"] is not IN_ROOM:  # an op has its own copy
        with pytest.raises(error, match=words):
            run_prepared(onednn.gemm_u8s8s32, given.pop("a"), given.pop("b"), **given)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: onednn.GemmU8S8S32(A), TypeError, "b: expected int8 data, got uint8"),
        (lambda: onednn.GemmU8S8S32(B[0]), ValueError, "b: expected 2 dimensions"),
        (lambda: onednn.GemmS8S8S32(B, ao=128), ValueError, r"ao: expected an integer in \[-128, 127\], got 128"),
        (lambda: onednn.GemmU8S8S32(B, offsetc="R", co=CO[:2]), ValueError, "co: expected 4 values"),
        (lambda: onednn.InnerProduct(A), TypeError, "weights: expected int8, got uint8"),
        (lambda: onednn.InnerProduct(B, isa="amx"), ValueError, "isa: expected one of"),
        (lambda: onednn.InnerProduct(B, BIAS), ValueError, "bias: expected 3 values"),
        (lambda: onednn.InnerProduct(B, attr=Attr(src_zp=1)), ValueError, "src_zp: not supported here"),
        (lambda: onednn.InnerProduct(B, attr=Attr(oscale=1)), ValueError, "oscale: not known to version '3.13'"),
        (lambda: onednn.InnerProduct(B, dst_dt="s16"), ValueError, "dst_dt: expected one of"),
        (lambda: onednn.InnerProduct(B)(A), ValueError, r"weights: expected shape \(3, 3\), got \(3, 4\)"),
        (lambda: onednn.MatMul(B[0]), ValueError, r"weights: expected shape \(..., K, N\), got \(4,\)"),
        (lambda: onednn.MatMul(B, attr={}), TypeError, "attr: expected a qops.onednn.Attr"),
        (lambda: onednn.MatMul(B, version="1.0"), ValueError, "version: expected one of"),
        (lambda: onednn.MatMul(B.T)(A), ValueError, "src, weights: expected shapes"),
        (lambda: onednn.MatMul(B, attr=Attr(post_ops=[Sum()]))(A), ValueError, "dst_in: expected the destination"),
        (lambda: onednn.inner_product(A, B.T, num_threads=0), ValueError, "num_threads: expected"),
        (lambda: onednn.matmul(A, B, num_threads=0), ValueError, "num_threads: expected"),
        (lambda: onednn.matmul(A, B, out=[[0]]), TypeError, "out: expected an ndarray, got list"),
        (lambda: onednn.MatMul(B)(A, READ_ONLY), ValueError, "out: is read-only"),
        (lambda: onednn.matmul(A, B, dst_dt="u8", out=READ_ONLY), TypeError, "out: expected native uint8"),
        (lambda: onednn.inner_product(A, B.T, out=READ_ONLY.T), ValueError, r"out: shape \(4, 2\), expected \(2, 4\)"),
        (lambda: onednn.inner_product(A, IN_ROOM.T, out=OUT), ValueError, "out: shares memory"),
        (lambda: onednn.matmul(A, IN_ROOM, out=OUT), ValueError, "out: shares memory"),
    ],
)
def test_rejects_what_cannot_be_prepared_or_called(call, error, words):
    with pytest.raises(error, match=words):
        call()
