"""`qops.rules.block_dot` and `block_sums`: whole numbers by Python, both orders by hand. Golden sets have the bits."""

import numpy as np
import pytest

from qops import rules

F = np.float32


def fma(a, b, c):
    return F(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))


def test_sums_of_blocks_are_exact(rng):
    a, b = rng.integers(0, 256, (3, 96)).astype(np.uint8), rng.integers(-128, 128, (3, 96)).astype(np.int8)
    got = rules.block_sums(a, b, block=16, a_zero_point=3, b_zero_point=-2)
    assert got.dtype == np.int64
    for i, j in np.ndindex(3, 6):
        pairs = zip(a[i, 16 * j : 16 * j + 16].tolist(), b[i, 16 * j : 16 * j + 16].tolist(), strict=True)
        assert got[i, j] == sum((x - 3) * (y + 2) for x, y in pairs)
    assert rules.block_sums(np.full(2**17, 255, np.uint8), np.full(2**17, 255, np.uint8), block=2**17).item() > 2**32


@pytest.mark.parametrize("has_minima", [False, True])
def test_both_orders_add_as_they_say(rng, has_minima):
    a, b = rng.integers(-127, 128, (2, 4, 160)).astype(np.int8)
    da, db, ma, sb = rng.uniform(0.01, 0.1, (4, 4, 5)).astype(np.float16)
    how = {"a_minimum": ma, "b_sums": sb} if has_minima else {}
    got = {order: rules.block_dot(a, b, da, db, order=order, **how) for order in rules.BLOCK_ORDERS}
    for row in range(4):
        total, lanes, rest = F(0), [F(0)] * 8, F(0)
        for i in range(5):
            factor = F(da[row, i]) * F(db[row, i])
            products = (a[row].astype(int) * b[row].astype(int)).reshape(5, 8, 4)[i].sum(1)
            part = F(ma[row, i]) * F(sb[row, i])
            total = F(total + fma(factor, products.sum(), part)) if has_minima else fma(factor, products.sum(), total)
            lanes = [fma(factor, p, lane) for p, lane in zip(products, lanes, strict=True)]
            rest = F(rest + part)
        tree = F(
            F(F(lanes[0] + lanes[4]) + F(lanes[2] + lanes[6])) + F(F(lanes[1] + lanes[5]) + F(lanes[3] + lanes[7]))
        )
        assert got["ggml"][row] == total
        assert got["ggml-x86"][row] == (F(tree + rest) if has_minima else tree)
    assert got["ggml"].dtype == F
    assert got["ggml"].tobytes() != got["ggml-x86"].tobytes()


def test_weights_broadcast_against_rows(rng):
    w, x = rng.integers(0, 16, (7, 1, 64)).astype(np.int8), rng.integers(-127, 128, (3, 64)).astype(np.int8)
    dw, dx = rng.uniform(0.01, 0.1, (7, 1, 2)).astype(np.float16), rng.uniform(0.01, 0.1, (3, 2)).astype(F)
    got = rules.block_dot(w, x, dw, dx, a_zero_point=8)
    assert got.shape == (7, 3)
    for i, j in np.ndindex(7, 3):
        assert got[i, j] == rules.block_dot(w[i, 0], x[j], dw[i, 0], dx[j], a_zero_point=8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"a": np.zeros(64)}, "a: expected"),
        ({"b": np.zeros(63, np.int8)}, r"a, b: shapes \(64,\) and \(63,\)"),
        ({"block": 48}, "block: 48 does not divide 64"),
        ({"block": 64, "order": "ggml-x86"}, "block: ggml-x86 has blocks of 32, got 64"),
        ({"order": "none"}, "order: expected one of ggml"),
        ({"a_scale": [1.0, 2.0, 3.0]}, r"a_scale: shape \(3,\) does not fit \(2,\)"),
        ({"b_scale": ["1", "2"]}, "b_scale: expected numbers"),
        ({"b_scale": [np.nan, 1]}, "b_scale: expected finite numbers"),
        ({"b_sums": [1.0, 2.0]}, "a_minimum, b_sums: expected both or none"),
        ({"a_zero_point": 300}, "a_zero_point: expected an integer"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, words):
    zeros = np.zeros(64, np.int8)
    how = {"a": zeros, "b": zeros, "a_scale": [1.0, 1.0], "b_scale": [1.0, 1.0]} | change
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.block_dot(**how)
