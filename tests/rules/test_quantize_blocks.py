"""`qops.rules.quantize_blocks`: formulas block after block, axes, short blocks, zeros. Golden sets have the bits."""

import numpy as np
import pytest

from qops import rules
from qops.rules import QUANTIZE_BLOCKS

F = np.float32


def fma(a, b, c):
    """One rounding: 64 bits of extended precision hold these products and sums."""
    return F(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))


def away(v):
    return np.sign(v) * np.floor(np.abs(np.float64(v)) + 0.5)


def largest(x):
    return max(x, key=abs)


def divided(x, rounding):
    scale = max(abs(x)) / F(127)
    return [np.clip(rounding(v / scale), -127, 127) for v in x], scale


def torchao(x, scale):
    scale = max(scale, F(2.0**-23))
    return [np.clip(np.rint(v * (F(1) / scale)), -128, 127) for v in x], scale


def asymmetric(x):
    low, high = min(*x, F(0)), max(*x, F(0))
    scale = max((high - low) / F(255), F(2.0**-23))
    zero = np.clip(-128 - np.rint(low / scale), -128, 127)
    return [np.clip(np.rint(v * (F(1) / scale)) + zero, -128, 127) for v in x], scale, zero


def unsigned(x, half):
    scale = largest(x) / F(-half)
    return [min(np.trunc(v * (F(1) / scale) + F(half + 0.5)), 2 * half - 1) for v in x], np.float16(scale), half


def q4_1(x):
    scale = (max(x) - min(x)) / F(15)
    return [min(np.trunc((v - min(x)) * (F(1) / scale) + F(0.5)), 15) for v in x], np.float16(scale)


def q8_k(x):
    inverse = F(-127) / largest(x)
    return [min(np.rint(v * inverse), 127) for v in x], F(1) / inverse


def reference(x):
    scale = max(abs(x)) / F(127)
    return [away(v * (F(1) / scale)) for v in x], np.float16(scale)


def x86(x):
    return [np.rint(v * (F(127) / max(abs(x)))) for v in x], np.float16(max(abs(x)) / F(127))


TWINS = {
    "ggml-q8_0": reference,
    "ggml-q8_1": reference,
    "ggml-q8_0-x86": x86,
    "ggml-q8_1-x86": x86,
    "ggml-q4_0": lambda x: unsigned(x, 8),
    "ggml-q5_0": lambda x: unsigned(x, 16),
    "ggml-q4_1": q4_1,
    "ggml-q8_K": q8_k,
    "127-over-max": lambda x: (x86(x)[0], max(abs(x)) / F(127)),
    "ct2": lambda x: ([np.rint(v * (F(127) / max(abs(x))) + F(128)) - 128 for v in x], 1 / float(F(127) / max(abs(x)))),
    "ct2-fma": lambda x: (
        [np.rint(fma(v, F(127) / max(abs(x)), 128)) - 128 for v in x],
        1 / float(F(127) / max(abs(x))),
    ),
    "bitsandbytes": lambda x: ([np.rint(v * (F(1) / max(abs(x)) * F(127))) for v in x], float(max(abs(x))) / 127),
    "torchao-symmetric": lambda x: torchao(x, max(abs(x)) / F(127.5)),
    "torchao-symmetric-no-clipping": lambda x: torchao(x, max(-min(*x, F(0)) / F(128), max(*x, F(0)) / F(127))),
    "torchao-asymmetric": asymmetric,
    "div-even": lambda x: divided(x, np.rint),
    "div-away": lambda x: divided(x, away),
    "div-truncate": lambda x: divided(x, np.trunc),
    "inv-even": lambda x: ([np.rint(v * (F(1) / (max(abs(x)) / F(127)))) for v in x], max(abs(x)) / F(127)),
}


def values(rng, shape):
    """Values rich in ties, beside ordinary ones."""
    x = rng.normal(size=shape).astype(F)
    x[::2] = (rng.integers(-127, 128, x[::2].shape) + F(0.5)) * F(2.0) ** rng.integers(-3, 3)
    return x


@pytest.mark.parametrize("rule", QUANTIZE_BLOCKS)
def test_each_block_is_as_its_formula_says(rule, rng):
    size = QUANTIZE_BLOCKS[rule].block or 24
    x = values(rng, (6, 3, size))
    made = rules.quantize_blocks(x.reshape(6, 3 * size), rule, block=size)
    assert made.data.dtype == np.int8
    assert made.scale.shape == (6, 3)
    data = made.data.reshape(x.shape)
    for at in np.ndindex(6, 3):
        codes, scale, *zero = TWINS[rule](x[at])
        np.testing.assert_array_equal(data[at], codes)
        assert made.scale[at] == scale
        assert made.scale[at].dtype == np.asarray(scale).dtype
        assert np.broadcast_to(made.zero_point, (6, 3))[at] == (zero or [0])[0]


def test_what_is_kept_beside_the_codes(rng):
    x = values(rng, (4, 256))
    made = rules.quantize_blocks(x, "ggml-q8_K")
    np.testing.assert_array_equal(made.sums[:, 0], made.data.reshape(4, 16, 16).sum(2))
    made = rules.quantize_blocks(x, "ggml-q8_1")
    scale = np.abs(x.reshape(4, 8, 32)).max(2) / F(127)
    np.testing.assert_array_equal(made.sums, (made.data.reshape(4, 8, 32).sum(2).astype(F) * scale).astype(np.float16))
    made = rules.quantize_blocks(x, "ggml-q4_1")
    np.testing.assert_array_equal(made.minimum, x.reshape(4, 8, 32).min(2).astype(np.float16))


@pytest.mark.parametrize("rule", QUANTIZE_BLOCKS)
def test_blocks_lie_along_the_axis(rule, rng):
    size = QUANTIZE_BLOCKS[rule].block or 5
    x = values(rng, (2, 3 * size, 4))
    made, moved = (
        rules.quantize_blocks(x, rule, axis=1, block=size),
        rules.quantize_blocks(x.swapaxes(1, 2), rule, block=size),
    )
    np.testing.assert_array_equal(made.data, moved.data.swapaxes(1, 2))
    np.testing.assert_array_equal(made.scale, moved.scale.swapaxes(1, 2))
    assert made.scale.shape == (2, 3, 4)
    assert made.data.flags.c_contiguous


@pytest.mark.parametrize("rule", [rule for rule, row in QUANTIZE_BLOCKS.items() if row.block is None])
def test_a_last_block_may_be_shorter(rule, rng):
    x = values(rng, (3, 21))
    made = rules.quantize_blocks(x, rule, block=8)
    assert made.scale.shape == (3, 3)
    parts = [rules.quantize_blocks(x[:, i : i + 8], rule) for i in (0, 8, 16)]
    np.testing.assert_array_equal(made.data, np.concatenate([part.data for part in parts], 1))
    np.testing.assert_array_equal(made.scale, np.concatenate([part.scale for part in parts], 1))


@pytest.mark.parametrize("rule", QUANTIZE_BLOCKS)
def test_zeros_are_the_code_of_0(rule):
    made = rules.quantize_blocks(np.zeros((2, 256)), rule)
    assert np.isfinite(made.scale).all()
    np.testing.assert_array_equal(made.data, np.broadcast_to(np.repeat(made.zero_point, 1, -1), made.data.shape))
    empty = rules.quantize_blocks(np.zeros((0, 256)), rule)
    assert empty.data.shape == (0, 256)
    assert len(empty.scale) == 0


@pytest.mark.parametrize("rule", QUANTIZE_BLOCKS)
def test_values_come_back_within_a_step(rule, rng):
    x = rng.normal(size=(5, 256)).astype(F)
    made = rules.quantize_blocks(x, rule)
    count = made.scale.shape[1]
    codes = made.data.reshape(5, count, -1).astype(np.float64)
    zero, scale = (
        np.broadcast_to(made.zero_point, made.scale.shape)[..., None],
        made.scale[..., None].astype(np.float64),
    )
    back = codes * scale + made.minimum[..., None] if made.minimum is not None else (codes - zero) * scale
    assert np.abs(back - x.reshape(5, count, -1)).max() <= 1.01 * np.abs(scale).max()


@pytest.mark.parametrize(
    ("x", "rule", "how", "words"),
    [
        ([1.0, np.nan], "ct2", {}, "x: has NaN"),
        ([1.0, np.inf], "ct2", {}, "x: has NaN, infinite"),
        (["1"], "ct2", {}, "x: expected"),
        ([1.0], "none", {}, "rule: expected one of ggml-q8_0"),
        ([1.0], "ct2", {"axis": 1}, r"axis: expected an integer in \[-1, 0\], got 1"),
        ([1.0], "ct2", {"block": 0}, "block: expected an integer"),
        ([1.0] * 33, "ggml-q8_0", {}, "x: 33 values along axis -1 are no whole blocks of 32"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(x, rule, how, words):
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.quantize_blocks(x, rule, **how)
