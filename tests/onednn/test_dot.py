"""Exact and saturating products against a model of their own: all small shapes, blocks, layouts, extremes."""

from itertools import combinations

import numpy as np
import onednn_twins as twins
import pytest
from product_models import exact_model, saturating_model

from qops import isa
from qops.onednn import dot

SIZES = range(21)
U8_ENDS, S8_ENDS = np.uint8([0, 1, 127, 128, 254, 255]), np.int8([-128, -127, -1, 0, 1, 126, 127])


def exact(a, b):
    return dot.compensated(a, b, saturates=False)


def saturating(a, b, starts=(0,)):
    return dot.compensated(a, b, saturates=True, k_starts=starts)


def full_range(rng, m, k, n):
    return rng.integers(0, 256, (m, k), np.uint8), rng.integers(-128, 128, (k, n), np.int8)


def ends(rng, m, k, n):
    return rng.choice(U8_ENDS, (m, k)), rng.choice(S8_ENDS, (k, n))


def model(a, b, starts=None):
    """With `starts`, pairs of products from each of them on saturate."""
    return exact_model(a, b) if starts is None else saturating_model(a, b, starts)


def check(got, want):
    assert got.dtype == np.int32
    assert got.shape == want.shape
    assert np.array_equal(got, want)


@pytest.mark.parametrize("k", SIZES)
def test_products_match_the_model_at_all_shapes(k):
    rng = np.random.default_rng(k)
    for m in SIZES:
        for n in SIZES:
            a, b = (full_range, ends)[(m + n) % 2](rng, m, k, n)
            check(exact(a, b), model(a, b))
            check(saturating(a, b), model(a, b, (0,)))


@pytest.mark.parametrize("k", range(1, 8))
def test_pairing_starts_anew_at_each_block_however_k_is_cut(k):
    a, b = ends(np.random.default_rng(k), 5, k, 9)
    cuts = [(0, *cut) for size in range(k) for cut in combinations(range(1, k), size)]
    assert len(cuts) == 2 ** (k - 1)
    for starts in cuts:
        check(saturating(a, b, starts), model(a, b, starts))
        check(saturating(a, b, list(starts)), twins.matrix(a, b, True, starts))


@pytest.mark.parametrize("k", [255, 256, 257, 258, 261, 383, 385, 767, 769, 1537])
def test_blocks_of_gemm_odd_ones_too(k):
    a, b = ends(np.random.default_rng(k), 3, k, 18)
    check(exact(a, b), model(a, b))
    cuts = {(0,), tuple(twins.k_starts(k, 384, 256)), tuple(range(0, k, 3)), (0, k // 2 | 1)}
    for starts in cuts:
        check(saturating(a, b, starts), model(a, b, starts))


@pytest.mark.parametrize("code", [0, 1, 128, 255])
@pytest.mark.parametrize("weight", [-128, -127, -1, 0, 1, 127])
def test_constant_extremes(code, weight):
    for k in (1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 129):
        a, b = np.full((2, k), code, np.uint8), np.full((k, 17), weight, np.int8)
        assert set(exact(a, b).ravel()) == {k * code * weight}
        pair = min(max(2 * code * weight, -32768), 32767)
        assert set(saturating(a, b).ravel()) == {k // 2 * pair + k % 2 * code * weight}


def test_both_accumulators_wrap():
    for k in (65792, 65793, 65794, 131600):
        a, b = np.full((1, k), 255, np.uint8), np.full((k, 1), -128, np.int8)
        assert exact(a, b).item() == twins.wrap32(-k * 255 * 128)
        alone = range(k)  # every product a block of its own, so that none saturates
        assert saturating(a, b, alone).item() == twins.wrap32(-k * 255 * 128)


def test_layout_in_memory_does_not_matter_and_inputs_stay():
    a, b = ends(np.random.default_rng(5), 20, 34, 50)
    want = model(a, b), model(a, b, (0, 7))
    wide = np.zeros((40, 68), np.uint8)
    wide[::2, ::2] = a
    lefts = a, np.asfortranarray(a), wide[::2, ::2], a[::-1].copy()[::-1]
    rights = b, np.asfortranarray(b), np.repeat(b, 2, axis=1)[:, ::2], b.T.copy().T, b[:, ::-1].copy()[:, ::-1]
    for left in lefts:
        for right in rights:
            left.flags.writeable = right.flags.writeable = False
            check(exact(left, right), want[0])
            check(saturating(left, right, (0, 7)), want[1])
            assert np.array_equal(left, a)
            assert np.array_equal(right, b)
    repeated = np.broadcast_to(a[:1], (20, 34)), np.broadcast_to(b[:, :1], (34, 50))
    check(exact(*repeated), model(*repeated))
    check(saturating(*repeated), model(*repeated, (0,)))


def test_each_result_is_fresh_and_writeable():
    a, b = full_range(np.random.default_rng(6), 2, 4, 3)
    for product in (exact, saturating):
        first = product(a, b)
        first[:] = 0
        assert product(a, b).any()


def test_saturating_is_the_avx2_sequence_of_instructions():
    a, b = full_range(np.random.default_rng(7), 5, 16, 1)
    acc = np.zeros((5, 4), np.int32)
    partial = isa.dot4_maddubs(acc, a, np.broadcast_to(b[:, 0], a.shape))
    assert np.array_equal(partial.sum(axis=1), saturating(a, b)[:, 0])


def test_a_pair_of_opposite_signs_is_safe_and_repairing_cures():
    a, b = np.full((1, 4), 255, np.uint8), np.int8([[127], [127], [-127], [-127]])
    assert saturating(a, b)[0, 0] == -1  # 32767 - 32768
    order = [0, 2, 1, 3]
    assert saturating(a[:, order], b[order])[0, 0] == exact(a, b)[0, 0] == 0


def test_shift_and_compensation_cancel():
    a = np.arange(-128, 128).astype(np.int8).reshape(8, 32)
    b = np.random.default_rng(8).integers(-128, 128, (32, 5), np.int8)
    assert np.array_equal(dot.compensated(a, b, saturates=False), a.astype(int) @ b.astype(int))
    assert np.array_equal(dot.compensated(a, b, saturates=True), twins.matrix(a, b, True))
