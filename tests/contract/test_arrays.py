"""Every way that arrays can lie in memory gives the same result, on every tier, in every op of every room."""

import functools
import itertools
import pickle

import numpy as np
import pytest
from calls.parts import CODES, OTHER
from cases import OUT_WAYS, WAYS, case, lay_out
from equal import equal
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops import (
    OPS,
    OUTPUTS,
    arrays,
    call,
    changed,
    first_array,
    on_every_tier,
    parts,
    same,
    words,
)

import qops

TAKES_ARRAYS = [name for name in OPS if arrays(name)]
EACH = [name for name in TAKES_ARRAYS if OPS[name].each]
RANGES_OF_NOTHING = {  # what the ops return that look for a range only; tensorflow's lowest is one below its highest
    "requantization_range": (0.0, 0.0),
    "nnlib.requantization_range_32": (0.0, 0.0),
    "tensorflow.requantization_range": (0.0, -4.0),
}


def resized(name, change):
    """The good call's arguments with `change` made to every array."""
    return {key: changed(name, key, change) for key in arrays(name)}


def other_names(x):
    """`x` under each other name of its dtype: C has two integers of one size, on Windows int and long."""
    same_type = [np.dtype(code) for code in np.typecodes["AllInteger"] if np.dtype(code) == x.dtype]
    return [x.view(dtype) for dtype in same_type if dtype.num != x.dtype.num]


@pytest.mark.parametrize("name", TAKES_ARRAYS)
def test_inputs_may_lie_in_any_way(name):
    want = call(name)
    for way, key in itertools.product(WAYS, arrays(name)):
        with case(way, key):
            argument = changed(name, key, functools.partial(lay_out, way=way))
            before = pickle.dumps(argument)
            same(call(name, **{key: argument}), want)
            assert pickle.dumps(argument) == before


class Own(np.ndarray):
    pass


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_may_lie_in_any_way(name):
    """Also between others, which are left alone; and one of a subclass is what is returned."""
    want = call(name)
    codes, dtype = first_array(want), OPS[name].out
    for way in OUT_WAYS:
        with case(way):
            out = lay_out(np.full(codes.shape, 77, dtype), way)
            if way != "plain" and OPS[name].rows:
                with pytest.raises(ValueError, match=r"^out: "):
                    call(name, out=out)
                assert (out == 77).all()
            else:
                got = call(name, out=out)
                assert first_array(got) is out
                same(got, want)
    own = np.full(codes.shape, 77, dtype).view(Own)
    assert first_array(call(name, out=own)) is own
    equal(own.view(np.ndarray), codes)
    wide = np.full((*codes.shape[:-1], 3 * codes.shape[-1]), 77, dtype)
    before, out, after = np.split(wide, 3, axis=-1)
    call(name, out=out)
    equal(out, codes)
    assert (before == 77).all()
    assert (after == 77).all()


def test_dtypes_may_have_any_name():
    """Arrays as long as a table of codes is, and longer; on Linux C has two names of int64, on Windows of int32."""
    tried = set()
    for name in TAKES_ARRAYS:
        for change in [lambda x: x, *([lambda x: np.resize(x, 1000)] if OPS[name].each else [])]:
            good = resized(name, change)
            want = call(name, **good)
            for key, argument in good.items():
                codes, *ends = argument if isinstance(argument, tuple) else (argument,)
                for codes_too in other_names(codes):
                    same(call(name, **good | {key: (codes_too, *ends) if ends else codes_too}), want)
                    tried.add(name)
            for out in other_names(np.full(first_array(want).shape, 77, OPS[name].out)) if OPS[name].out else []:
                call(name, **good, out=out)
                equal(out, first_array(want))
    assert tried


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_new_native_and_writeable(name):
    data = first_array(call(name))
    assert type(data) is np.ndarray
    assert data.dtype == OPS[name].out
    assert data.dtype.isnative
    assert data.flags.writeable
    if OPS[name].each:
        assert data.flags.c_contiguous
        assert data.flags.owndata
    assert data.min() < data.max(), "all alike would not test much"


@pytest.mark.parametrize("name", EACH)
def test_one_element_gives_what_many_alike_give(name):
    """Of 200 equal elements most are done by SIMD lanes, where there are any; one is done by the plain loop."""
    many = parts(call(name, **resized(name, lambda x: np.full(200, x.flat[0]))))
    for shape in ((), (1,), (1, 1, 1), (1,) * 64):
        one = parts(call(name, **resized(name, functools.partial(first_of, shape=shape))))
        if name == "error":  # which counts the elements; its sums of many are rounded
            np.testing.assert_allclose(many[:5], one[:5], rtol=1e-13)
            continue
        assert len(one) == len(many)
        for got, want in zip(one, many, strict=True):
            if isinstance(got, np.ndarray):
                assert got.shape == shape
                assert got.dtype == want.dtype
                assert set(want.tolist()) == {got.item()}, shape
            else:
                assert got == want, shape


def first_of(x, shape):
    return np.full(shape, x.flat[0])


@pytest.mark.parametrize("name", EACH)
def test_no_elements_give_none(name):
    dtype = first_array(call(name)).dtype if name != "error" and name not in RANGES_OF_NOTHING else None
    for shape in ((0,), (0, 3), (2, 0, 4)):
        empty = resized(name, functools.partial(np.resize, new_shape=shape))
        if name == "error":
            with pytest.raises(ValueError, match=r"^t: has no elements"):
                call(name, **empty)
        elif name in RANGES_OF_NOTHING:
            assert call(name, **empty) == RANGES_OF_NOTHING[name], shape
        else:
            got = call(name, **empty)
            assert first_array(got).shape == shape
            assert first_array(got).dtype == dtype, shape
            if OPS[name].out:
                same(call(name, **empty, out=np.full(shape, 77, OPS[name].out)), got)


@pytest.mark.parametrize("name", [name for name in OPS if name != "isa_tier"])
def test_every_tier_gives_the_same(name):
    on_every_tier(call, name)
    if OPS[name].each:
        on_every_tier(call, name, **resized(name, lambda x: np.resize(x, 1000)))


@given(data=st.data(), shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
def test_any_view_gives_what_its_copy_gives(data, shape):
    """Slices with steps of either sign, transposed and broadcast views."""
    name = data.draw(st.sampled_from(EACH))
    index = data.draw(hnp.basic_indices(shape, min_dims=1, allow_ellipsis=False))
    axes = data.draw(st.permutations(range(len(shape))))

    def view(x):
        return np.resize(x, [shape[axis] for axis in axes]).transpose(np.argsort(axes))[index]

    if view(CODES).size:
        same(call(name, **resized(name, view)), call(name, **resized(name, lambda x: view(x).copy())))


ADDS = ["quantized_add_8p8to8", "quantized_add_8p8to32", "nnlib.quantized_add_8p8to32"]


BROADCASTS = {
    "rows against columns": ((500, 1), (201,)),
    "a row": ((500, 201), (201,)),
    "a row of many axes": ((30, 10, 201), (1, 10, 201)),
    "a row between ones": ((30, 10, 201), (10, 1)),
    "one element": ((500, 201), ()),
    "a row longer than a stretch": ((3, 40_000), (40_000,)),
}


MUL = "nnlib.quantized_mul_8x8to8"  # which passes twice over both operands, and only scales the range for one element


@pytest.mark.parametrize(
    ("name", "way"), [(n, way) for n in (*ADDS, MUL) for way in BROADCASTS if (n, way) != (MUL, "one element")]
)
def test_broadcasts_longer_than_a_stretch_match(name, way):
    """More elements than the 32,768 of one stretch, on either side."""
    x, y = (np.resize(np.arange(251, dtype=np.uint8), shape) for shape in BROADCASTS[way])
    (a, b), op = arrays(name), OPS[name]
    for one, other in ((x, y), (y, x)):
        wide = [v.copy() for v in np.broadcast_arrays(one, other)]
        got = call(name, **{a: (one, *op.good[a][1:]), b: (other, *op.good[b][1:])})
        same(got, call(name, **{a: (wide[0], *op.good[a][1:]), b: (wide[1], *op.good[b][1:])}))


@pytest.mark.parametrize("name", ADDS)
def test_one_array_may_be_both_operands(name):
    t, (a, b) = (CODES, -1.0, 2.0), arrays(name)
    same(call(name, **{a: t, b: t}), call(name, **{a: t, b: (CODES.copy(), -1.0, 2.0)}))


def test_output_may_touch_but_not_overlap_an_input():
    memory = np.zeros(12, np.uint8)
    memory[:6] = CODES.ravel()
    t = qops.quantized_add_8p8to8((memory[:6], 0.0, 1.0), (OTHER.ravel(), 0.0, 1.0), out=memory[6:])
    want = qops.quantized_add_8p8to8((CODES.ravel(), 0.0, 1.0), (OTHER.ravel(), 0.0, 1.0))
    same(t, want)
    interleaved = np.zeros(12, np.uint8)
    interleaved[::2] = CODES.ravel()
    same(
        qops.quantized_add_8p8to8((interleaved[::2], 0.0, 1.0), (OTHER.ravel(), 0.0, 1.0), out=interleaved[1::2]), want
    )


def test_subclasses_and_buffers_are_taken_as_arrays():
    want = qops.dequantize((CODES, -1.0, 2.0))
    same(qops.dequantize((np.ma.masked_array(CODES), -1.0, 2.0)), want)
    same(qops.dequantize((memoryview(CODES), -1.0, 2.0)), want)


@pytest.mark.parametrize("name", [name for name in OPS if words(name)])
def test_words_may_be_numpys(name):
    """As an element of an array of words is, or of a recorded file."""
    for key, word in words(name).items():
        same(call(name, **{key: np.str_(word)}), call(name, **{key: word}))
