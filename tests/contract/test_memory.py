"""Arrays of any argument, also within tensors and lists: other shapes of them, and an `out` that lies on them."""

import inspect

import numpy as np
import pytest
from bad import blamed_by
from equal import equal
from nested import at, paths, replaced
from ops import OPS, OUTPUTS, call, first_array, function

SHAPES = {
    "single": lambda x: x[(0,) * x.ndim],
    "none": lambda x: x[:0],
    "none across": lambda x: x[..., :0],
    "fewer": lambda x: x[..., :-1],
    "more axes": lambda x: np.stack([x, x]),
    "two rows": lambda x: np.concatenate([x, x]),
    "many axes": lambda x: x[(np.newaxis,) * (40 - x.ndim)],
}


def refused(name, arguments):
    """Why the call is refused; "" if it is not."""
    try:
        call(name, **arguments)
    except (TypeError, ValueError) as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("name", [name for name in OPS if paths(OPS[name].good)])
def test_other_shapes_are_taken_or_refused_by_name(name):
    """A refusal begins with arguments of the caller: never with what a function further down calls its own."""
    good = OPS[name].good
    known = {*inspect.signature(function(name)).parameters}
    for path in paths(good):
        for change in SHAPES.values():
            error = refused(name, replaced(good, path, np.asarray(change(at(good, path)))))
            assert not error or set(blamed_by(error)) <= known, error


@pytest.mark.parametrize("name", [name for name in OPS if paths(OPS[name].good)])
def test_arrays_may_have_more_axes_than_numpy_broadcasts(name):
    for ndim in (33, 64):
        arguments = good = OPS[name].good
        for path in paths(good):
            x = at(good, path)
            arguments = replaced(arguments, path, x[(np.newaxis,) * (ndim - x.ndim)])
        error = refused(name, arguments)
        if OPS[name].each:
            assert not error, ndim
            got, want = (first_array(result) for result in (call(name, **arguments), call(name)))
            if isinstance(want, np.ndarray):
                equal(got, want.reshape(got.shape))
        else:
            assert not error or set(blamed_by(error)) <= {*inspect.signature(function(name)).parameters}, (ndim, error)


def on_one_memory(x, shape, dtype):
    """A copy of x and an output that share memory, each time another way."""
    length = dtype.itemsize * int(np.prod(shape))
    memory = np.zeros(2 * x.nbytes + 2 * length + 256, np.uint8)
    codes = memory[128 : 128 + x.nbytes].view(x.dtype)
    for shift in (0, dtype.itemsize, -dtype.itemsize, x.nbytes // dtype.itemsize * dtype.itemsize):
        out = memory[128 + shift : 128 + shift + length].view(dtype)
        for one, other in ((codes, out), (codes[::-1], out), (codes, out[::-1])):
            yield memory, one.reshape(x.shape), other.reshape(shape)
    if x.itemsize == dtype.itemsize and x.shape == shape:
        between = memory[: 2 * x.nbytes].view(x.dtype)
        yield memory, between[::2].reshape(x.shape), between.view(dtype)[1::2].reshape(shape)


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_on_the_memory_of_an_input_change_nothing_else(name):
    """The same result as without; or a refusal, after which the memory is as it was."""
    good, want = OPS[name].good, call(name)
    for path in paths(good):
        for memory, x, out in on_one_memory(at(good, path), first_array(want).shape, np.dtype(OPS[name].out)):
            x[...] = at(good, path)
            before = memory.copy()
            error = refused(name, {**replaced(good, path, x), "out": out})
            if error:
                assert error.startswith("out: ")
                equal(memory, before)
            else:
                equal(out, first_array(want))
