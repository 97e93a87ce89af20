"""oneDNN's float32 operations and stores on every tier, against numpy, one operation at a time on the whole array."""

import numpy as np
import onednn_twins as twins
import pytest
from ops import on_every_tier

from qops import onednn
from qops._kernels.onednn import destination as kernels
from qops.onednn import cast
from qops.onednn.destination import Epilogue, destination

F = np.float32


def model(x, float_ops, old):
    x = x.astype(F)
    for name, operand in float_ops:
        match name:
            case "add":
                x = x + F(operand)
            case "multiply":
                x = x * F(operand)
            case "divide":
                x = x / F(operand)
            case "relu":
                x = np.where(x > 0, x, F(0))
            case "leak":
                x = np.where(x > 0, x, F(operand) * x)
            case "sum":
                x = x + F(operand) * old
    return x


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (700, 3), (41, 64), (2, 1500)], ids=str)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_operations_are_made_in_order_one_rounding_each(rng, tier, shape, dtype):
    x = (rng.normal(0, 2.0**20, shape)).astype(dtype)
    old = rng.normal(0, 100, shape).astype(F)
    channels = rng.normal(0, 3, shape[1]).astype(F)
    float_ops = [
        ("multiply", channels),
        ("add", 0.1),
        ("leak", 0.3),
        ("sum", 0.7),
        ("multiply", -1.7),
        ("add", channels),
    ]
    for chosen in ([], float_ops, [*float_ops, ("divide", channels), ("relu", 0.0), ("leak", 0.0)]):
        want, work = model(x, chosen, old), x.copy()
        got = kernels.finish(work, chosen, old)
        assert got.dtype == F
        assert np.shares_memory(got, work) or not x.size
        assert got.tobytes() == want.tobytes()


def test_a_fused_sum_rounds_once(rng, tier):
    x, old = (rng.normal(0, 100, (9, 23)).astype(F) for _ in range(2))
    want = [twins.fma(o, F(0.3), v) for o, v in zip(old.ravel(), x.ravel(), strict=True)]
    assert kernels.finish(x, [("fma", 0.3)], old).ravel().tolist() == want
    a = np.full((3, 40), 1 + 2**-12, F)
    assert (kernels.finish(np.full_like(a, -1), [("fma", float(a[0, 0]))], a) == F(2**-11 + 2**-24)).all()
    assert (kernels.finish(np.full_like(a, -1), [("sum", float(a[0, 0]))], a) == F(2**-11)).all()


def test_relu_of_alpha_0_is_never_minus_0(tier):
    x = np.full((2, 40), -0.0, F)
    assert not np.signbit(kernels.finish(x, [("relu", 0.0)])).any()
    assert np.signbit(kernels.finish(np.full((2, 40), -2, F), [("leak", 0.0)])).all()


@pytest.mark.parametrize("factor", [0.0, -0.0, 1.0, 0.25, 1.5, -3.0])
@pytest.mark.parametrize("name", ["relu", "leak"])
def test_what_is_not_finite_is_as_c_says(tier, name, factor):
    x = F([np.inf, -np.inf, np.nan, 0.0, -0.0, 3e38, -3e38, 1e-45, -1e-45] * 15)
    with np.errstate(all="ignore"):
        want = model(x, [(name, factor)], None)
    got = kernels.finish(x.copy(), [(name, factor)])
    assert (np.isnan(got) == np.isnan(want)).all()
    assert got[~np.isnan(want)].tobytes() == want[~np.isnan(want)].tobytes()


@pytest.mark.parametrize("name", ["u8", "s8", "s32"])
def test_stores_saturate_and_round_half_to_even(rng, tier, name):
    x = np.concatenate([np.arange(-300, 300, 0.25), rng.normal(0, 2.0**24, 500), [3e38, -3e38, 2**31, -(2**31)]])
    x = x.astype(F)
    assert cast.store(x, name).tolist() == [twins.store(v, name) for v in x]


CHAINS = {
    "all in the store": [("add", 3.5), ("multiply", 0.3), ("add", -7.0)],
    "channels": [("multiply", F([0.1, 2, 3])), ("relu", 0.0), ("multiply", 0.7), ("add", 5.0)],
    "two products": [("multiply", 0.3), ("multiply", 0.1)],
    "a scale of 1": [("multiply", 0.3), ("add", F([1, 2, 3])), ("multiply", 1.0)],
    "the old one": [("multiply", 0.3), ("sum", 0.5), ("add", 1.0)],
    "an infinite term": [("add", 1.0), ("add", F([np.inf]))],
    "a scale of 0": [("multiply", 0.0)],
}


@pytest.mark.parametrize("dt", ["u8", "s8", "s32", "f32"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("float_ops", CHAINS.values(), ids=CHAINS)
def test_what_the_store_takes_over_changes_no_bit(rng, float_ops, dtype, dt):
    x = rng.normal(0, 300, (67, 3)).astype(dtype)
    old = rng.integers(0, 100, x.shape).astype(cast.DTYPES[dt])
    want = model(x, float_ops, old.astype(F))
    finite = np.clip(want, F(-3e38), F(3e38)).ravel()
    codes = want if dt == "f32" else np.reshape([twins.store(v, dt) for v in finite], want.shape)
    for out in (None, np.empty(x.shape, old.dtype), np.empty(x.shape[::-1], old.dtype).T):
        given = x.copy()

        def finished(out=out, given=given):
            dst = destination(x.shape, dt, out, (), old)
            got = Epilogue(dt, float_ops).finish(given, dst, is_scratch=False)
            assert out is None or got is out
            return got.copy()

        got = on_every_tier(finished)
        assert got.dtype == old.dtype
        assert np.array_equal(got, codes)
        assert np.array_equal(given, x), "the source is left alone"


@pytest.mark.parametrize("float_ops", [[], [("add", F(range(7))), ("multiply", 0.3)]], ids=["none", "some"])
def test_s32_codes_take_the_place_of_sums(rng, tier, float_ops):
    x = rng.normal(0, 2.0**20, (5000, 7)).astype(np.int32)
    want = np.rint(model(x, float_ops, None)).astype(np.int32)
    got = Epilogue("s32", float_ops).finish(x, destination(x.shape, "s32", None, ()))
    assert np.shares_memory(got, x)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("shape", [(1, 1), (700, 3), (41, 64), (3, 5000)], ids=str)
@pytest.mark.parametrize("dst_dt", ["u8", "s8", "s32"])
def test_codes_in_one_pass_are_those_of_operations_and_a_store(rng, tier, shape, dst_dt):
    x = rng.integers(-(2**20), 2**20, shape, np.int32)
    x[0, 0] = -(2**31)
    old, channels = rng.normal(0, 100, shape).astype(F), rng.normal(0, 1, shape[1]).astype(F)
    chains = [], [("multiply", 1e-3)], [("multiply", channels), ("add", 0.5), ("leak", 1.5), ("fma", 0.7), ("relu", 0)]
    for float_ops in chains:
        for terms in ({}, {"scales": -0.01, "plus": 7.0}, {"minus": 3.0, "scales": 1e-4}):
            out = np.zeros(shape, cast.DTYPES[dst_dt])
            kernels.PostOpStage(float_ops, cast.stage_of(dst_dt, **terms)).codes(x, old, out)
            assert np.array_equal(out, cast.store(kernels.finish(x.copy(), float_ops, old), dst_dt, **terms))


def test_a_nan_that_the_operations_make_is_refused():
    for float_ops in ([("add", np.inf), ("add", F([-np.inf]))], [("multiply", np.inf)]):
        with pytest.raises(ValueError, match=r"^attr: the result holds nan, which has no code in u8"):
            Epilogue("u8", float_ops).finish(np.zeros(2, np.int32), destination((2,), "u8", None, ()))


def test_arrays_that_do_not_fit_are_refused():
    x = np.zeros((4, 6), F)
    for float_ops, work, old in (
        ([], x.T, None),
        ([("sum", 1.0)], x, x.T),
        ([("fma", 2.0)], x, None),
        ([("sum", 1.0)], x, x[1:]),
        ([("sum", 1.0)], x, x.astype(np.float64)),
    ):
        with pytest.raises(ValueError, match="old: expected"):
            kernels.finish(work, float_ops, old)
    with pytest.raises(TypeError, match="x: expected int32 or float32, got float64"):
        kernels.finish(x.astype(np.float64), [])
    with pytest.raises(KeyError, match="halve"):
        kernels.finish(x, [("halve", 2.0)])
    assert not x.any()


SMALL_LEAK = [("leak", 1e-9), ("multiply", 3e37)]  # what is above 0 does not get smaller


def test_codes_are_made_only_where_all_floats_are_finite():
    x, row = np.zeros(5, np.int32), cast.stage_of("u8")
    out = np.full(5, 7, np.uint8)
    for float_ops in (
        [("multiply", 3e38)],
        [("add", np.nan)],
        [("divide", 0.0)],
        [("leak", 3e38)],
        [("sum", 3e38)],
        SMALL_LEAK,
    ):
        stage = kernels.PostOpStage(float_ops, row)
        assert not stage.is_finite
        with pytest.raises(ValueError, match="float_ops: a float might not be finite"):
            stage.codes(x, np.zeros(5, F), out)
        assert (out == 7).all()
    with pytest.raises(ValueError, match="float_ops: a float might not be finite"):
        kernels.PostOpStage([]).codes(x, None, out)
    kernels.PostOpStage([("multiply", 1e20), ("add", F(range(5)))], row).codes(x, None, out)
    assert out.tolist() == [*range(5)]
    stage = kernels.PostOpStage([], row)
    with pytest.raises(TypeError, match="x: expected int32, got float32"):
        stage.codes(x.astype(F), None, out)
    with pytest.raises(TypeError, match="out: expected uint8, int8 or int32, got int16"):
        stage.codes(x, None, out.astype(np.int16))
    for wrong in (out[:4], np.zeros(10, np.uint8)[::2]):
        with pytest.raises(ValueError, match="out: expected an array in C order with as many elements"):
            stage.codes(x, None, wrong)


def test_a_stage_is_used_again_with_another_old_destination(rng, tier):
    x, channels = rng.integers(-500, 500, (9, 40), np.int32), rng.normal(0, 1, 40).astype(F)
    float_ops = [("multiply", channels), ("fma", 0.5), ("relu", 0.0)]
    epilogue = Epilogue("u8", float_ops)
    for _ in range(3):
        old = rng.integers(0, 256, x.shape, np.uint8)
        got = epilogue.finish(x, destination(x.shape, "u8", None, (), old))
        assert np.array_equal(got, cast.store(kernels.finish(x.copy(), float_ops, old.astype(F)), "u8"))


def test_without_channels_nothing_is_computed():
    bias, attr = np.zeros(0, F), onednn.Attr(dst_zp=3)
    for dt in cast.DTYPES:
        src, weights = np.ones((2, 4), np.uint8), np.ones((0, 4), np.int8)
        assert onednn.inner_product(src, weights, bias, dst_dt=dt).shape == (2, 0)
        assert onednn.matmul(src, weights.T, bias, dst_dt=dt, attr=attr).shape == (2, 0)
        image, taps = np.ones((1, 4, 1, 1), np.uint8), np.ones((0, 4, 1, 1), np.int8)
        assert onednn.convolution(image, taps, bias, dst_dt=dt, attr=attr).shape == (1, 0, 1, 1)
