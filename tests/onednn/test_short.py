"""The short way gives what the functions themselves give, refuses what they refuse, and is taken."""

import numpy as np
import pytest

from qops import onednn
from qops._kernels.onednn.short import short_way
from qops.onednn import PackedWeights
from qops.onednn.machine import MACHINES

GEMMS = {np.uint8: onednn.gemm_u8s8s32, np.int8: onednn.gemm_s8s8s32}
RNG = np.random.default_rng(30)
A, B = np.uint8([[255, 255]]), np.int8([[127], [127]])


def codes(dtype, *shape):
    info = np.iinfo(dtype)
    return RNG.choice(np.array([info.min, 0, 1, info.max - 1, info.max], dtype), shape)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_same_bits_as_the_long_way(version, isa, dtype):
    short, how = GEMMS[dtype], {"version": version, "isa": isa}
    for k in (0, 1, 64, 256, 257, 384, 385, 769):
        for m, n in ((0, 4), (1, 3), (4, 1), (1, 1), (7, 70), (64, 64)):
            a, b = codes(dtype, m, k), codes(np.int8, k, n)
            want = short.__wrapped__(a, b, **how)
            assert np.array_equal(short(a, b, **how), want)
            packed, out = onednn.pack_weights(b, **how), codes(np.int32, m, 2 * n)[:, :n]
            assert short(a, packed, out=out, **how) is out
            assert np.array_equal(out, want)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_rows_that_are_not_contiguous_take_the_long_way(dtype):
    a, b = codes(dtype, 5, 12), codes(np.int8, 12, 8)
    want = a.astype(int) @ b.astype(int)
    for left in (a, np.asfortranarray(a), np.ma.array(a)):
        for right in (b, np.asfortranarray(b), np.repeat(b, 2, axis=1)[:, ::2]):
            assert np.array_equal(GEMMS[dtype](left, right), want)


@pytest.fixture
def recorded():
    """A function with the short way, and the calls that came through to it."""
    calls = []

    def gemm(a, b, *, alpha=1.0, isa="vnni", version="3.13", out=None):
        calls.append((isa, version, alpha))

    return short_way(np.dtype(np.uint8).num, MACHINES, PackedWeights)(gemm), calls


def test_bare_products_do_not_come_through(recorded):
    gemm, calls = recorded
    out = np.zeros((1, 1), np.int32)
    for how in ({}, {"b": onednn.pack_weights(B)}, {"out": out}, {"version": "2.6"}):
        assert gemm(**{"a": A, "b": B, **how}) == 64770
    assert out == 64770
    pair = gemm(np.vstack([A, A]), np.hstack([B, B]), isa="avx2")
    assert (pair == 32767).all()
    assert not calls


@pytest.mark.parametrize(
    "how",
    [
        {"isa": "avx2"},  # a vector: another kernel pairs along it
        {"isa": "avx512"},
        {"alpha": 1.0},
        {"isa": "sse41"},
        {"version": "1.0"},
        {"isa": ["vnni"]},
        {"a": A.astype(np.int8)},
        {"a": A.astype(np.uint16)},
        {"a": A[0]},
        {"a": A.tolist()},
        {"a": np.uint8([[1, 2, 3]])},
        {"b": B.astype(np.uint8)},
        {"b": B.T},
        {"b": onednn.pack_weights(B, isa="avx2")},
    ],
)
def test_all_else_does(recorded, how):
    gemm, calls = recorded
    assert gemm(**{"a": A, "b": B, **how}) is None
    assert calls == [(how.get("isa", "vnni"), how.get("version", "3.13"), how.get("alpha", 1.0))]


@pytest.mark.parametrize(
    ("error", "out"),
    [
        (TypeError, [[0]]),
        (TypeError, np.zeros((1, 1))),
        (ValueError, np.zeros((1, 2), np.int32)),
        (ValueError, np.broadcast_to(np.int32(0), (1, 1))),
    ],
)
def test_refuses_an_out_as_the_long_way_does(error, out):
    with pytest.raises(error, match="out: ") as short:
        onednn.gemm_u8s8s32(A, B, out=out)
    with pytest.raises(error) as long:
        onednn.gemm_u8s8s32.__wrapped__(A, B, out=out)
    assert str(short.value) == str(long.value)
