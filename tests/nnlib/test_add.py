"""`qops.nnlib` adds: the integer twins on random ranges, sessions and lengths, every tier, bad input."""

from functools import cache

import numpy as np
import pytest
import reference_nnlib_add as twin
from cases import ends_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from qops._kernels.nnlib.add import add_flat_integers, add_spec_integers

from qops import nnlib

magnitudes = st.floats(2.0**-10, 2.0**10, width=32)
ends = st.one_of(st.just(0.0), magnitudes, magnitudes.map(lambda v: -v))
ranges = st.tuples(ends, ends).map(sorted).map(tuple).filter(lambda r: r[0] < r[1])
guesses = st.tuples(st.one_of(st.none(), ends), st.one_of(st.none(), ends)).filter(lambda g: None in g or g[0] <= g[1])
lengths = st.one_of(st.integers(1, 40), st.sampled_from([127, 128, 129, 200]))
calls = st.tuples(ranges, ranges, lengths, st.integers(0, 2**32 - 1))


def codes(n, seed):
    return np.random.default_rng(seed).integers(0, 256, (2, n), np.uint8)


def compare(node, slow, a_range, b_range, n, seed):
    a, b = codes(n, seed)
    try:
        want = slow(a.tolist(), *a_range, b.tolist(), *b_range)
    except ValueError:
        with pytest.raises(ValueError, match="output range"):
            node((a, *a_range), (b, *b_range))
        return False
    t = node((a, *a_range), (b, *b_range))
    assert t.data.tolist() == want["out"]
    assert (t.min, t.max, node.passes) == (want["out_min"], want["out_max"], want["passes"])
    return True


@pytest.mark.long
@pytest.mark.parametrize(("form", "slow"), [("spec", twin.Spec), ("flat", twin.Flat), ("d32", twin.D32)])
@settings(max_examples=150, deadline=None)
@example(guess=(772.0, None), steps=[((0.0, 2.0**-10), (-(2.0**-9), 0.0), 1, 0)])  # the offset wraps 32 bits
@given(guess=guesses, steps=st.lists(calls, min_size=1, max_size=3))
def test_add_matches_twin(form, slow, guess, steps):
    node, slow = nnlib.QuantizedAdd8p8to8(*guess, form=form), slow(*guess)
    for step in steps:
        if not compare(node, slow, *step):
            break


@cache
def calls_of(slow, guess, offset):
    """Calls with 1 to 200 codes, each with what the twin gives, or None if it refuses: the same on every tier."""
    rng = np.random.default_rng(offset)
    memory = rng.integers(0, 256, (2, 300), np.uint8)
    found = []
    for n in range(1, 201):
        a_range, b_range = (-rng.uniform(0, 90), rng.uniform(0, 90)), (-rng.uniform(0, 2), rng.uniform(0.1, 2))
        a, b = memory[:, offset : offset + n]
        try:
            want = slow(*guess)(a.tolist(), *a_range, b.tolist(), *b_range)
        except ValueError:
            want = None
        found.append(((a, *a_range), (b, *b_range), want))
    return found


@pytest.mark.parametrize("offset", [0, 1, 31])
@pytest.mark.parametrize(
    ("form", "slow", "guess"),
    [
        ("spec", twin.Spec, ()),
        ("flat", twin.Flat, ()),
        ("flat", twin.Flat, (-64.0, 61.0)),
        ("flat", twin.Flat, (-2.0, 0.5)),  # far too narrow: codes saturate, the first shift is coarser
        ("flat", twin.Flat, (-9e3, 9e4)),
    ],
)
def test_same_on_every_tier(tier, form, slow, guess, offset):
    memory = np.zeros(300, np.uint8)
    ran = 0
    for a, b, want in calls_of(slow, guess, offset):
        node = nnlib.QuantizedAdd8p8to8(*guess, form=form)
        if want is None:
            with pytest.raises(ValueError, match="output range"):
                node(a, b)
            continue
        out = memory[offset : offset + a[0].size]
        t = node(a, b, out=out)
        assert t.data is out
        assert out.tolist() == want["out"], (tier, out.size)
        assert (t.min, t.max, node.passes) == (want["out_min"], want["out_max"], want["passes"])
        ran += 1
    assert ran > 100


def test_flat_refuses_ranges_of_a_4096th_and_narrower():
    for share, accepted in ((8, True), (2, True), (1.01, True), (1, False), (0.99, False), (0.5, False)):
        guess = 0.0, 2 / 4096 * share
        node, slow = nnlib.QuantizedAdd8p8to8(*guess, form="flat"), twin.Flat(*guess)
        assert compare(node, slow, (0.0, 1.0), (0.0, 1.0), 40, 3) == accepted


@pytest.mark.parametrize("lo", [-(2.0**30), 2.0**30])
def test_flat_offset_beyond_2_30_is_reported_and_used_as_it_is(tier, lo):
    a_range, b_range, out = (0.0, 10200.0), (0.0, 255.0), (lo, lo + 256)
    found = nnlib.quantized_add_8p8to8_integers(a_range, b_range, out)
    assert found["feasible"] == 1
    assert 2**30 < abs(found["offset"]) <= 2**31
    a, b = codes(100, 1)
    want = twin.Flat(*out)(a.tolist(), *a_range, b.tolist(), *b_range)
    t = nnlib.quantized_add_8p8to8((a, *a_range), (b, *b_range), *out, form="flat")
    assert t.data.tolist() == want["out"] == [255 if lo < 0 else 0] * 100, tier


def test_spec_saturates_the_one_product_that_can(tier):
    found = add_spec_integers((-128, 127), (-1, 254), (0, -255))
    assert found["recip"] == -32768
    a, b = (np.array(c, np.uint8) for c in (np.zeros(64), np.arange(64)))
    t = nnlib.quantized_add_8p8to8((a, -128, 127), (b, -1, 254), guess_max=-255, form="spec")
    assert t.data.tolist() == twin.Spec(hi=-255)(a.tolist(), -128, 127, b.tolist(), -1, 254)["out"], tier


def test_spec_is_the_same_for_strided_and_broadcast_operands(tier):
    a, b = codes(3 * 5 * 64, 7)
    a, b = a.reshape(3, 5, 64), b.reshape(3, 5, 64)[:, ::5, ::-2]
    t = nnlib.quantized_add_8p8to8((a[..., ::2], -1, 1), (b, 0, 3), form="spec")
    whole = nnlib.quantized_add_8p8to8(
        (a[..., ::2].copy(), -1, 1), (np.broadcast_to(b, t.data.shape).copy(), 0, 3), form="spec"
    )
    np.testing.assert_array_equal(t.data, whole.data, err_msg=tier)
    assert (t.min, t.max) == (whole.min, whole.max)


def test_padding_lanes_count():
    a, b = (np.full(100, 100, np.uint8), 0, 1), (np.full(100, 50, np.uint8), 0, 1)
    plain, node = nnlib.QuantizedAdd8p8to8(form="spec"), nnlib.QuantizedAdd8p8to8(form="spec")
    assert plain(a, b).max == 1.0
    assert node(a, b, padding=(255, 255)).max == np.float32(2) * np.float32(1.2)
    assert nnlib.quantized_add_8p8to8(a, b, form="spec", padding=(100, 50)).max == 1.0
    full = (np.full(128, 100, np.uint8), 0, 1)
    assert nnlib.quantized_add_8p8to8(full, full, form="spec", padding=(255, 255)).max == 1.0


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(call=calls)
def test_add_8p8to32_matches_twin(call):
    a_range, b_range, n, seed = call
    a, b = codes(n, seed)
    t = nnlib.quantized_add_8p8to32((a, *a_range), (b, *b_range))
    want, c_max = twin.add_8p8to32(a.tolist(), *a_range, b.tolist(), *b_range)
    assert t.data.tolist() == want
    assert (t.min, t.max) == (-c_max, c_max)


@pytest.mark.parametrize("coarse", [2e-10, 1.001e-10, 0.999e-10, 5e-11])
def test_add_8p8to32_of_steps_around_1e_10(coarse):
    """The original divides by 1e-10 where the coarser step is smaller, and so loses the proportion of the finer."""
    codes_of_all = np.arange(256, dtype=np.uint8)
    for a_step, b_step in ((coarse, coarse / 3), (coarse / 3, coarse)):
        ranges = (0.0, 255 * a_step), (0.0, 255 * b_step)
        t = nnlib.quantized_add_8p8to32((codes_of_all, *ranges[0]), (codes_of_all[::-1], *ranges[1]))
        want, c_max = twin.add_8p8to32(codes_of_all.tolist(), *ranges[0], codes_of_all[::-1].tolist(), *ranges[1])
        assert t.data.tolist() == want
        assert t.max == c_max


@pytest.mark.parametrize(("a_range", "b_range"), [((1, 1), (2, 2)), ((-3.4e38, 0), (-1e38, 0))])
def test_add_8p8to32_leaves_out_alone_when_it_refuses(a_range, b_range):
    x, out = np.uint8([1, 2]), np.int32([77, 78])
    with pytest.raises(ValueError, match=r"a, b: the ranges .* both have steps of 0, or are beyond float32"):
        nnlib.quantized_add_8p8to32((x, *a_range), (x, *b_range), out=out)
    assert out.tolist() == [77, 78]


def test_prepare_gives_the_integers():
    found = add_spec_integers((0, 2), (0, 1), (0, 3))
    assert found == {"ialpha": 256, "ikappa": 256, "recip": 10922, "offset": 0, "copies": False}
    assert [add_spec_integers((0, high), (0, 1), (0, 3))["copies"] for high in (255.99, 256)] == [False, True]
    found = add_flat_integers((0, 2), (0, 1), (0, 3), True)
    assert (found["ka"], found["kb"], found["feasible"]) == (5461, 2731, True)
    assert add_flat_integers((0, 2), (0, 1), (0, 1e-9), True)["feasible"] is False


def test_integers_are_those_of_the_loops():
    a, b, out = (0.0, 2.0), (-1.0, 0.5), (-1.0, 2.5)
    assert nnlib.quantized_add_8p8to8_integers(a, b, out, form="spec") == add_spec_integers(a, b, out)
    for form in ("op", "flat", "d32"):
        assert nnlib.quantized_add_8p8to8_integers(a, b, out, form=form) == add_flat_integers(a, b, out, True)


T = (np.zeros(3, np.uint8), -1.0, 1.0)
BAD = [
    (lambda: nnlib.quantized_add_8p8to8((T[0], np.nan, 1), T), "a: the range .nan"),
    (lambda: nnlib.quantized_add_8p8to8(T, (T[0], 1, -1)), "b: min"),
    (lambda: nnlib.quantized_add_8p8to8(T, (np.zeros(3, np.int8), -1, 1)), "b: expected uint8"),
    (lambda: nnlib.quantized_add_8p8to8(T, (np.zeros(2, np.uint8), -1, 1)), "do not broadcast"),
    (lambda: nnlib.quantized_add_8p8to8(T, (T[0][:1], -1, 1), form="flat"), "shapes"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, 1, 0), "^guess_min, guess_max: 1.0 > 0.0"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, np.inf), "guess_min"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, None, "1"), "guess_max"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, form="fast"), "form: expected one of flat, op, spec, d32, got 'fast'"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, form="spec", padding=(1, 256)), "padding"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, form="spec", padding=(1.5, 2)), "padding: expected an integer"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, form="spec", padding=5), "padding: expected 2 integers"),
    (lambda: nnlib.quantized_add_8p8to8_integers(5, (0, 1), (0, 2)), r"a: expected \(min, max\)"),
    (lambda: nnlib.quantized_add_8p8to8_integers((0, 1), (0,), (0, 2)), r"b: expected \(min, max\)"),
    (lambda: nnlib.quantized_add_8p8to8((T[0][:0], -1, 1), (T[0][:0], -1, 1), form="spec"), "no elements"),
    (lambda: nnlib.quantized_add_8p8to8((T[0], -3e38, 3e38), (T[0], -3e38, 3e38), form="flat"), "beyond float32"),
    (lambda: nnlib.quantized_add_8p8to8((T[0], -3e38, 3e38), T, form="spec"), "beyond float32"),
    (lambda: nnlib.quantized_add_8p8to8((np.zeros((1,) * 5, np.uint8), 0, 1), T), "at most 4 axes"),
    (lambda: nnlib.quantized_add_8p8to8(T, T, out=T[0]), "out: shares memory"),
    (lambda: nnlib.quantized_add_8p8to8_integers((1, 0), (0, 1), (0, 2)), "a: min 1"),
    (lambda: nnlib.quantized_add_8p8to8_integers((0, 1), (0, 1), (2, 2)), "0 wide"),
    (lambda: nnlib.quantized_add_8p8to8_integers((0, 1), (1, 1), (0, 2), form="spec"), "0 wide"),
    (
        lambda: nnlib.quantized_add_8p8to8_integers((0, 1), (0, 1), (0, 2), form="c32"),
        "form: expected one of d32, op, flat, spec, got 'c32'",
    ),
    (lambda: nnlib.quantized_add_8p8to32((T[0], 1, 1), (T[0], 2, 2)), "both have steps of 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_call_that_raises_leaves_the_range():
    node = nnlib.QuantizedAdd8p8to8(form="flat")
    first = node(T, T)
    wide = (T[0], -1e6, 1e6)
    with pytest.raises(ValueError, match="beyond float32"):
        node((T[0], -3e38, 3e38), (T[0], -3e38, 3e38))
    assert ends_of(node(T, T)) == (first.min, first.max)
    assert node(wide, wide).max > first.max
