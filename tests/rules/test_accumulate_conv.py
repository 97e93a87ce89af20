"""`qops.rules.accumulate_conv` and the rules of `ACCUMULATE`: sums beside loops of Python integers, and oneDNN's."""

import itertools

import numpy as np
import pytest

from qops import onednn, rules
from qops.onednn.machine import machine


def cells(rule, layer, w_at, place):
    """The codes and weights of one sum in the order of pairs, beside the zero point of each code: None is a partner."""
    x, kernel, strides, pads, dilations, x_zero = layer
    found = []
    for tap in itertools.product(*map(range, kernel)):
        at = [p * s - b + t * d for p, s, b, t, d in zip(place, strides, pads, tap, dilations, strict=False)]
        is_inside = all(0 <= i < n for i, n in zip(at, x.shape[1:], strict=True))
        for c in range(len(x)):
            code = int(x[c, *at]) if is_inside else x_zero if rule.padding == "inside" else 0
            zero = x_zero if is_inside or rule.padding == "inside" else 0
            found.append((code, int(w_at[c, *tap]), zero))
        if rule.order == "channels of a tap" and len(x) % 2:
            found.append((0, 0, None))
    return found


def summed(found, w_zero, saturates):
    """One sum: pairs are cut to 16 bits, zero points are taken off exactly."""
    products = [code * w for code, w, _ in found]
    if saturates:
        pairs = itertools.zip_longest(products[::2], products[1::2], fillvalue=0)
        total = sum(max(-32768, min(32767, a + b)) for a, b in pairs)
    else:
        total = sum(products)
    real = [(code, w, zero) for code, w, zero in found if zero is not None]
    return total - sum(zero * (w - w_zero) for _, w, zero in real) - w_zero * sum(code for code, _, _ in real)


def drawn(rng, axes, groups, is_depthwise):
    inputs, outputs = (1, 1) if is_depthwise else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    kernel = tuple(int(k) for k in rng.integers(1, 4, axes))
    sizes = tuple(int(n) for n in rng.integers(3, 6, axes))
    x = rng.choice([0, 1, 128, 254, 255], (2, groups * inputs, *sizes)).astype(np.uint8)
    w = rng.choice([-128, -127, -1, 0, 126, 127], (groups * outputs, inputs, *kernel)).astype(np.int8)
    how = {
        "x_zero_point": int(rng.choice([0, 7, 255])),
        "w_zero_point": int(rng.choice([0, 0, -3])),
        "strides": tuple(int(s) for s in rng.integers(1, 3, axes)),
        "pads": tuple(int(p) for p in rng.integers(0, 3, 2 * axes)),
        "dilations": (1,) * axes,
        "groups": groups,
    }
    return x, w, how


def twin(rule, x, w, how, saturates):
    groups, kernel, axes = how["groups"], w.shape[2:], w.ndim - 2
    places = [
        (n + b + a - k) // s + 1
        for n, k, s, b, a in zip(
            x.shape[2:], kernel, how["strides"], how["pads"][:axes], how["pads"][axes:], strict=True
        )
    ]
    made = np.zeros((len(x), len(w), *places), np.int64)
    for n, o, *place in np.ndindex(made.shape):
        group = o // (len(w) // groups)
        own = x[n, group * w.shape[1] : (group + 1) * w.shape[1]]
        layer = own, kernel, how["strides"], how["pads"], how["dilations"], how["x_zero_point"]
        made[n, o, *place] = summed(cells(rule, layer, w[o], place), how["w_zero_point"], saturates)
    return made


@pytest.mark.parametrize("name", rules.ACCUMULATE)
def test_sums_are_those_of_a_loop(tier, rng, name):
    rule, differ = rules.ACCUMULATE[name], 0
    for axes, groups, is_depthwise in ((1, 1, False), (2, 1, False), (2, 2, False), (2, 8, True), (3, 1, False)):
        x, w, how = drawn(rng, axes, groups, is_depthwise)
        layer = rules.SumLayer(
            w.shape[2:],
            how["strides"],
            how["dilations"],
            how["pads"],
            groups,
            w.shape[1],
            len(w) // groups,
            how["w_zero_point"],
        )
        got = rules.accumulate_conv(x, w, **how, rule=name, num_threads=2)
        np.testing.assert_array_equal(got, twin(rule, x, w, how, not rule.is_exact(layer)))
        exact = rules.accumulate_conv(x, w, **how)
        np.testing.assert_array_equal(exact, twin(rules.ACCUMULATE["exact"], x, w, how, False))
        differ += np.count_nonzero(got != exact)
        bias = np.arange(len(w)) - 2
        shape = (-1, *(1,) * axes)
        narrow = rules.accumulate_conv(x, w, bias, **how, rule=name, dtype="int32")
        np.testing.assert_array_equal(narrow, (got + bias.reshape(shape)).astype(np.int32))
    assert bool(differ) == (name not in ("exact", "fbgemm-vnni", "x86-vnni"))


@pytest.mark.parametrize("w_zero", [0, 3])
@pytest.mark.parametrize(
    ("kernel", "groups", "stride"), [(3, 8, 1), (5, 16, 2), (7, 8, 1), (3, 104, 1), (3, 9, 1), (2, 8, 1)]
)
def test_fast_depthwise_kernels_saturate_with_vnni_too(kernel, groups, stride, w_zero):
    x, w = np.full((1, groups, 8, 8), 255, np.uint8), np.full((groups, 1, kernel, kernel), 127, np.int8)
    how = {"pads": (kernel // 2,) * 4, "strides": (stride, stride), "groups": groups, "w_zero_point": w_zero}
    sums = {name: rules.accumulate_conv(x, w, **how, rule=name) for name in rules.ACCUMULATE}
    is_fast = kernel in (3, 5, 7) and groups % 8 == 0
    to_own_kernel = {"fbgemm-vnni": is_fast, "x86-vnni": is_fast and (w_zero != 0 or groups > 100)}
    for name, is_own in to_own_kernel.items():
        np.testing.assert_array_equal(sums[name], sums["fbgemm-avx2" if is_own else "exact"])
    assert not np.array_equal(sums["fbgemm-avx2"], sums["exact"])
    other = rules.accumulate_conv(x, w, **how | {"pads": (0,) * 4}, rule="fbgemm-vnni")
    np.testing.assert_array_equal(other, rules.accumulate_conv(x, w, **how | {"pads": (0,) * 4}))


def test_pairs_begin_where_onednn_has_its_k_blocks():
    facts, row = machine("3.13", "avx2"), rules.ACCUMULATE["onednn-avx2"]
    for length in range(1, 1200):
        assert row.starts(length) == (facts.pair_starts(length) or (0,)) or row.starts(length)[1] % 2 == 0
    rng = np.random.default_rng(3)
    for k in (8, 256, 257, 500, 767, 768, 900):
        x, w = rng.integers(200, 256, (3, k)).astype(np.uint8), rng.integers(60, 128, (k, 2)).astype(np.int8)
        want = onednn.gemm_u8s8s32(x, w, isa="avx2")
        np.testing.assert_array_equal(rules.accumulate(x, w, rule="onednn-avx2", dtype="int32"), want)
        assert not np.array_equal(want, rules.accumulate(x, w))


def test_sums_of_matrices_saturate_beyond_what_is_multiplied_at_once():
    k = 2**15 + 3
    x, w = np.full((1, k), 255, np.uint8), np.full((k, 1), 127, np.int8)
    got = rules.accumulate(x, w, rule="fbgemm-avx2").item(), rules.Accumulate(w, rule="fbgemm-avx2")(x).item()
    assert got == (32767 * (k // 2) + 255 * 127,) * 2


def test_int8_data_of_openvino_are_shifted(rng):
    x, w = rng.integers(-128, 128, (4, 301)).astype(np.int8), rng.integers(-128, 128, (301, 3)).astype(np.int8)
    shifted = (x.astype(int) + 128).astype(np.uint8)
    for name in ("openvino-avx2", "openvino-gemm-avx2"):
        want = rules.accumulate(shifted, w, x_zero_point=128, rule=name)
        np.testing.assert_array_equal(rules.accumulate(x, w, rule=name), want)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"x": np.zeros((1, 2, 4), np.int8)}, "x: expected uint8"),
        ({"x": np.zeros((1, 3, 4), np.uint8)}, "x, w: shapes"),
        ({"x": np.zeros((2, 4), np.uint8)}, "x, w: shapes"),
        ({"x": np.zeros((1, 2, 2), np.uint8)}, "x, w: a window of"),
        ({"w": np.zeros((2, 2, 3), np.uint8)}, "w: expected int8"),
        ({"w": np.zeros((2, 2), np.int8)}, r"w: expected \(O, C / groups, kernel\)"),
        ({"groups": 3}, r"w: expected \(O, C / groups, kernel\), O divisible by groups 3"),
        ({"bias": np.zeros(3, np.int64)}, "bias: expected one value a filter"),
        ({"strides": (0,)}, "strides: "),
        ({"dilations": (1, 1)}, "dilations: "),
        ({"pads": (1,)}, "pads: "),
        ({"pads": (1, 0), "x_zero_point": 256}, "x_zero_point: "),
        ({"rule": "avx2"}, "rule: expected one of exact, fbgemm-avx2"),
        ({"dtype": "int8"}, "dtype: expected int32, int64"),
        ({"out": np.zeros((1, 2, 2), np.int32)}, "out: "),
    ],
)
def test_bad_input_is_named(change, text):
    how = {"x": np.zeros((1, 2, 4), np.uint8), "w": np.zeros((2, 2, 3), np.int8), "rule": "fbgemm-avx2"} | change
    with pytest.raises((ValueError, TypeError), match=f"^{text}"):
        rules.accumulate_conv(**how)


def test_a_bias_may_be_a_list_beside_out():
    x, w = np.array([[[5, 7]]], np.uint8), np.array([[[1]], [[2]]], np.int8)
    out = np.zeros((1, 2, 2), np.int64)
    assert rules.accumulate_conv(x, w, [10, 20], out=out) is out
    assert out.tolist() == [[[15, 17], [30, 34]]]
    out = np.zeros((1, 2), np.int64)
    assert rules.accumulate(np.array([[5]], np.uint8), np.array([[1, 2]], np.int8), [10, 20], out=out) is out
    assert out.tolist() == [[15, 30]]
