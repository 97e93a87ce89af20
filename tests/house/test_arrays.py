"""Every way that arrays can lie in memory gives the same result, in every front-door op that takes arrays."""

import numpy as np
import pytest
from cases import OUT_WAYS, WAYS, lay_out
from frontdoor import ARGUMENTS, CODES, OTHER, OUTPUTS, first_array, function, same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import qops

TAKES_ARRAYS = [name for name, arguments in ARGUMENTS.items() if {"a", "t", "x"} & set(arguments)]


def array_keys(name):
    return [key for key in ARGUMENTS[name] if key in {"a", "b", "t", "x", "reference"}]


def replaced(name, key, change):
    """Good arguments of the op with `change` made to the array of one of them."""
    value = ARGUMENTS[name][key]
    new = (change(value[0]), *value[1:]) if isinstance(value, tuple) else change(value)
    return {**ARGUMENTS[name], key: new}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TAKES_ARRAYS)
def test_inputs_may_lie_in_any_way(name, way):
    want = function(name)(**ARGUMENTS[name])
    for key in array_keys(name):
        arguments = replaced(name, key, lambda x: lay_out(x, way))
        before = repr(arguments)
        same(function(name)(**arguments), want)
        assert repr(arguments) == before


@pytest.mark.parametrize("way", OUT_WAYS)
@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_may_lie_in_any_way(name, way):
    want = function(name)(**ARGUMENTS[name])
    out = lay_out(np.full((2, 3), 77, OUTPUTS[name]), way)
    got = function(name)(**ARGUMENTS[name], out=out)
    assert first_array(got) is out
    same(got, want)


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_between_others_leave_them_alone(name):
    wide = np.full((2, 9), 77, OUTPUTS[name])
    want = function(name)(**ARGUMENTS[name])
    function(name)(**ARGUMENTS[name], out=wide[:, 3:6])
    np.testing.assert_array_equal(wide[:, 3:6], first_array(want))
    assert (wide[:, :3] == 77).all()
    assert (wide[:, 6:] == 77).all()


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_new_native_and_writeable(name):
    data = first_array(function(name)(**ARGUMENTS[name]))
    assert type(data) is np.ndarray
    assert data.dtype == OUTPUTS[name]
    assert data.dtype.isnative
    assert data.flags.c_contiguous
    assert data.flags.writeable
    assert data.flags.owndata
    assert data.min() < data.max(), "all alike would not test much"


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (2, 0, 4), (1, 1, 1), (1,) * 32], ids=str)
@pytest.mark.parametrize("name", TAKES_ARRAYS)
def test_shapes_of_any_size_work(name, shape):
    arguments = dict(ARGUMENTS[name])
    for key in array_keys(name):
        arguments |= {key: replaced(name, key, lambda x: np.resize(x, shape))[key]}
    if name == "error" and 0 in shape:
        with pytest.raises(ValueError, match="t: has no elements"):
            function(name)(**arguments)
        return
    got = function(name)(**arguments)
    if name not in {"error", "requantization_range"}:
        assert first_array(got).shape == shape
        if 0 not in shape:
            key = array_keys(name)[0]
            flat = {k: replaced(name, k, lambda x: np.resize(x, 1))[k] for k in array_keys(name)}
            assert first_array(function(name)(**{**ARGUMENTS[name], **flat}))[0] == first_array(got).item(), key
    if name in OUTPUTS:
        out = np.full(shape, 77, OUTPUTS[name])
        same(function(name)(**arguments, out=out), got)


@given(data=st.data(), shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
def test_any_view_gives_what_its_copy_gives(data, shape):
    """Slices with steps of either sign, transposed and broadcast views."""
    name = data.draw(st.sampled_from(TAKES_ARRAYS))
    index = data.draw(hnp.basic_indices(shape, min_dims=1, allow_ellipsis=False))
    axes = data.draw(st.permutations(range(len(shape))))

    def view(x):
        return np.resize(x, [shape[axis] for axis in axes]).transpose(np.argsort(axes))[index]

    views, copies = dict(ARGUMENTS[name]), dict(ARGUMENTS[name])
    for key in array_keys(name):
        views |= {key: replaced(name, key, view)[key]}
        copies |= {key: replaced(name, key, lambda x: view(x).copy())[key]}
    if name != "error" or view(CODES).size:
        same(function(name)(**views), function(name)(**copies))


@pytest.mark.parametrize("name", ["quantized_add_8p8to8", "quantized_add_8p8to32"])
@pytest.mark.parametrize("ndim", [33, 64])
def test_inputs_may_have_more_axes_than_numpy_broadcasts(name, ndim):
    many = CODES.reshape((1,) * (ndim - 2) + CODES.shape)
    want = function(name)((CODES, 0.0, 1.0), (OTHER, 0.0, 1.0)).data
    got = function(name)((many, 0.0, 1.0), (OTHER, 0.0, 1.0)).data
    np.testing.assert_array_equal(got, want.reshape(many.shape))


@pytest.mark.parametrize("name", ["quantized_add_8p8to8", "quantized_add_8p8to32"])
def test_broadcasts_longer_than_a_buffer_match(name):
    """Rows against columns, more elements than the 32,768 of one stretch."""
    x, y = np.arange(500, dtype=np.uint8)[:, None], np.arange(201, dtype=np.uint8)
    got = function(name)((x, -1.0, 2.0), (y, 0.0, 3.0))
    wide = [np.broadcast_to(v, (500, 201)).copy() for v in (x, y)]
    same(got, function(name)((wide[0], -1.0, 2.0), (wide[1], 0.0, 3.0)))


@pytest.mark.parametrize("name", ["quantized_add_8p8to8", "quantized_add_8p8to32"])
def test_one_array_may_be_both_operands(name):
    t = (CODES, -1.0, 2.0)
    same(function(name)(t, t), function(name)(t, (CODES.copy(), -1.0, 2.0)))


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
    with pytest.raises(TypeError, match="t: has masked elements"):
        qops.dequantize((np.ma.masked_equal(CODES, CODES.flat[0]), -1.0, 2.0))


@pytest.mark.parametrize("name", TAKES_ARRAYS)
def test_calls_do_not_depend_on_those_before(name):
    """Each op twice, with all the others between: no state is left."""
    want = function(name)(**ARGUMENTS[name])
    for other in ARGUMENTS:
        function(other)(**ARGUMENTS[other])
    same(function(name)(**ARGUMENTS[name]), want)
