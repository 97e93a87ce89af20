"""The product on every tier against models written with numpy."""

import itertools
import sys

import numpy as np
import pytest
from equal import equal
from ops import on_every_tier
from product_models import exact_model, extreme, model, product_model, saturating_model, uniform, wrap32

from qops._kernels.gemm import gemm, packed
from qops._kernels.machine import tiers as isa

EDGES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 70)


@pytest.fixture
def rng():
    return np.random.default_rng(20261120)


def check(a, b, pairs, **how):
    """On every tier, as the model takes longer than all of these."""
    want = model(a, b, pairs)
    equal(on_every_tier(gemm.product, a, b, pairs=pairs, **how), want)
    got = on_every_tier(lambda: gemm.product(a, packed.pack_b(b, pairs=pairs), **how))
    equal(got, want)


@pytest.mark.long
@pytest.mark.parametrize("pairs", [None, ()])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_every_edge(rng, dtype, pairs):
    """Each of m, n, k over 0 .. 70 where tiles, vectors, panels and quads begin and end; b of uint8 too."""
    edges = list(itertools.product(EDGES, EDGES))
    sizes = [(m, 13, n) for m, n in edges] + [(7, k, n) for k, n in edges] + [(m, k, 65) for m, k in edges]
    for m, k, n in sizes:
        data = extreme if (m + n + k) % 2 else uniform
        a, b = data(rng, (m, k), dtype), data(rng, (k, n), np.int8 if pairs == () or (m + n + k) % 3 else np.uint8)
        got = on_every_tier(gemm.product, a, b, pairs=pairs)
        equal(got, product_model(a, b, pairs), f"{m} x {k} x {n}")


@pytest.mark.parametrize("pairs", [None, ()])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "size",
    [
        (1, 1024, 256),
        (2, 300, 130),
        (3, 97, 200),
        (4, 64, 64),
        (5, 33, 64),
        (1, 2050, 2100),
        (4, 100, 2049),
        (8, 64, 3000),
        (100, 300, 200),
        (97, 1500, 70),
        (300, 520, 129),
        (17, 4100, 65),
        (6, 9001, 20),
        (16, 1024, 192),
        (7, 2056, 130),
        (200, 1100, 330),
        (5, 4104, 64),
        (6, 64, 127),
    ],
)
def test_big(rng, size, dtype, pairs):
    m, k, n = size
    check(uniform(rng, (m, k), dtype), uniform(rng, (k, n), np.int8), pairs)


def test_worst_sums_wrap():
    """255 * -128 * k passes -2^31 at k = 65794."""
    a, b = np.full((2, 66000), 255, np.uint8), np.full((66000, 17), -128, np.int8)
    for pairs in (None, ()):
        check(a, b, pairs)
    assert gemm.product(a, b)[0, 0] == 255 * -128 * 66000 + 2**32


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "starts", [(129,), (1, 2, 3), (2, 4), (64, 193), (0, 5), (50, 50, 257), (257,), np.array([3, 100])]
)
def test_odd_blocks(rng, dtype, starts):
    a, b = extreme(rng, (9, 257), dtype), extreme(rng, (257, 83), np.int8)
    check(a, b, starts)
    changes = any(s % 2 and s < 257 for s in starts)
    assert (saturating_model(a, b, starts) != saturating_model(a, b)).any() == changes


@pytest.mark.parametrize("pairs", [None, ()])
def test_strides(tier, rng, pairs):
    for dtype, m in itertools.product((np.uint8, np.int8), (1, 3, 20)):
        big_a, big_b = uniform(rng, (2 * m, 150), dtype), uniform(rng, (300, 260), np.int8)
        views_a = big_a[::2, 3:103], big_a[::-2, :100], big_a[m - 1 :: -1, 7:107], uniform(rng, (100, m), dtype).T
        views_b = big_b[::3, 1:80], big_b[::-3, 5:200], big_b[99::-1, :70], uniform(rng, (66, 100), np.int8).T
        for a, b in itertools.product(views_a, views_b):
            want = model(a, b, pairs)
            for weights, how in ((b, {"pairs": pairs}), (packed.pack_b(b, pairs=pairs), {})):
                equal(gemm.product(a, weights, **how), want)
            out = np.zeros((2 * m, b.shape[1] + 9), np.int32)
            view = out[::2, 2 : 2 + b.shape[1]]
            assert gemm.product(a, b, view, pairs=pairs) is view
            equal(view, want)
            view[:] = 0
            assert not out.any()


@pytest.mark.parametrize("pairs", [None, ()])
def test_accumulate(tier, rng, pairs):
    sizes = [(1, 100, 130), (4, 64, 64), (13, 45, 70), (3, 0, 4), (16, 1400, 129)]
    for dtype, (m, k, n) in itertools.product((np.uint8, np.int8), sizes):
        a, b = uniform(rng, (m, k), dtype), uniform(rng, (k, n), np.int8)
        out = rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
        want = wrap32(out.astype(np.int64) + model(a, b, pairs))
        for weights, how in ((b, {"pairs": pairs}), (packed.pack_b(b, pairs=pairs), {})):
            got = out.copy()
            gemm.product(a, weights, got, accumulate=True, **how)
            equal(got, want)


@pytest.mark.parametrize("pairs", [None, ()])
@pytest.mark.parametrize("size", [(200, 77, 30), (3, 130, 700), (1, 64, 64), (5, 4, 1), (64, 64, 64)])
def test_threads_give_the_same_bits(rng, size, pairs):
    m, k, n = size
    for dtype in (np.uint8, np.int8):
        a, b = uniform(rng, (m, k), dtype), uniform(rng, (k, n), np.int8)
        for num_threads in (1, 2, 3, 5):
            check(a, b, pairs, num_threads=num_threads)


@pytest.mark.parametrize("a_type", [np.uint8, np.int8])
@pytest.mark.parametrize("b_type", [np.uint8, np.int8])
def test_offsets_bias_and_unsigned_b(tier, rng, a_type, b_type):
    sizes = [(1, 5, 7), (3, 100, 130), (20, 64, 65), (7, 1, 1), (2, 0, 3), (1, 1024, 200)]
    offsets = [(0, 0), (255, 0), (0, 128), (-128, 127), (-(2**31), 2**31 - 1)]
    for (m, k, n), (ao, bo) in itertools.product(sizes, offsets):
        a, b = extreme(rng, (m, k), a_type), extreme(rng, (k, n), b_type)
        bias, old = (rng.integers(-(2**31), 2**31, shape).astype(np.int32) for shape in (n, (m, n)))
        want = wrap32((a.astype(np.int64) - ao) @ (b.astype(np.int64) - bo))  # the lower half of sums that wrap
        for weights in (b, packed.pack_b(b)):
            how = {"offsets": (ao, bo), "num_threads": 2}
            equal(gemm.product(a, weights, **how), want)
            out = old.copy()
            assert gemm.product(a, weights, out, bias=bias, accumulate=True, **how) is out
            equal(out, wrap32(want.astype(np.int64) + bias + old))


def test_offsets_may_be_one_a_row_and_one_a_column(tier, rng):
    for a_type, b_type in itertools.product((np.uint8, np.int8), repeat=2):
        a, b = extreme(rng, (7, 30), a_type), extreme(rng, (30, 70), b_type)
        ao, bo = extreme(rng, (7, 1), a_type), extreme(rng, 70, b_type)
        want = (a.astype(np.int64) - ao) @ (b.astype(np.int64) - bo)
        for weights in (b, packed.pack_b(b)):
            equal(gemm.product(a, weights, offsets=(ao, bo)), want)


def test_offsets_change_nothing_of_what_saturates(tier):
    a, b = np.uint8([[255, 255]]), np.int8([[127], [127]])
    got = gemm.product(a, b, offsets=(3, 5), pairs=())
    assert got.item() == 32767 - 3 * 254 - 5 * 510 + 2 * 15


def test_colsum(tier, rng):
    b = uniform(rng, (1300, 150), np.int8)
    for pairs in (None, (3,)):
        ready = packed.pack_b(b, pairs=pairs)
        equal(ready.colsum, b.sum(0, np.int32))
        assert (ready.shape, ready.tier) == (b.shape, tier)


def test_packed_outlives_its_tier_and_its_source(tier, rng):
    a, b = uniform(rng, (7, 50), np.uint8), uniform(rng, (50, 70), np.int8)
    ready, want = packed.pack_b(b), exact_model(a, b)
    b[:] = 0
    isa.use("plain")
    equal(gemm.product(a, ready), want)


def test_bad_input():
    a, b = np.ones((2, 3), np.uint8), np.ones((3, 4), np.int8)
    memory = np.zeros(64, np.int32)
    inside = memory.view(np.uint8)[:6].reshape(2, 3), b, memory[1:9].reshape(2, 4)
    for error, text, call in [
        (ValueError, "a, b: expected op", lambda: gemm.product(a, b.T)),
        (TypeError, "a: expected int8 or uint8", lambda: gemm.product(a.astype(np.int16), b)),
        (TypeError, "b: expected int8 or uint8", lambda: gemm.product(a, b.astype(np.int16))),
        (ValueError, "pairs: expected None", lambda: gemm.product(a, b.astype(np.uint8), pairs=())),
        (ValueError, "pairs: expected None", lambda: packed.pack_b(b.astype(np.uint8), pairs=())),
        (TypeError, "bias: expected int32", lambda: gemm.product(a, b, bias=np.zeros(4))),
        (ValueError, "bias: expected shape", lambda: gemm.product(a, b, bias=np.zeros(3, np.int32))),
        (TypeError, "a: expected int8", lambda: gemm.product([[1]], b)),
        (ValueError, "a: expected 2 dim", lambda: gemm.product(a[0], b)),
        (TypeError, "out: expected native int32", lambda: gemm.product(a, b, np.zeros((2, 4)))),
        (ValueError, "out: shape", lambda: gemm.product(a, b, np.zeros((2, 5), np.int32))),
        (ValueError, "out: expected aligned rows", lambda: gemm.product(a, b, np.zeros((4, 2), np.int32).T)),
        (TypeError, "out: expected native int32", lambda: gemm.product(a, b, np.zeros((2, 4), ">i4"))),
        (ValueError, "out: expected the matrix", lambda: gemm.product(a, b, accumulate=True)),
        (ValueError, "num_threads: expected", lambda: gemm.product(a, b, num_threads=0)),
        (ValueError, "pairs: expected them to rise", lambda: gemm.product(a, b, pairs=(2, 1))),
        (ValueError, "pairs: expected them to rise", lambda: gemm.product(a, b, pairs=(4,))),
        (ValueError, "pairs: expected with pack_b", lambda: gemm.product(a, packed.pack_b(b), pairs=())),
        (
            ValueError,
            "out: shares memory",
            lambda: gemm.product(*inside),
        ),
        (ValueError, "QOPS_ISA: 'sse9'", lambda: isa.use("sse9")),
    ]:
        with pytest.raises(error, match=f"^{text}"):
            call()


def test_sizes_beyond_memory_are_refused():
    """The product of the sizes of the result is one more than can be counted; panels have four times the bytes of B."""
    size = 1 << sys.maxsize.bit_length() // 2 + 1
    column, row = np.broadcast_to(np.uint8(1), (size, 1)), np.broadcast_to(np.int8(1), (1, size))
    with pytest.raises(MemoryError):
        gemm.product(column, row)
    with pytest.raises(MemoryError):
        packed.pack_b(np.broadcast_to(np.int8(1), (1, sys.maxsize // 2 + 1)))
