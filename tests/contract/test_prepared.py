"""The contract of prepared ops, on all of them: made of all that is not data, then called with the data."""

import copy
import inspect
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import calls
import numpy as np
import pytest
from equal import equal
from nested import at, paths
from ops import OPS, PREPARED, ROOMS, call, changed, first_array, function, is_tensor, on_every_tier, same
from prepared_ops import CALL, FEW, OTHER_CALLS, kind_of, made, parts, room_of

import qops
from qops.prepared import Prepared

WITH_TYPE = {"rules.Add", "rules.Mul", "rules.AveragePool"} | {*calls.tflite.PREPARED} - {"tflite.Quantize"}
"""Their constructors take `dtype`, which the functions read off the data."""
DIRECT = (
    *(f"rules.{name}" for name in ("Requantize", "Quantize", "Add", "Mul")),
    *(f"tflite.{name}" for name in ("Conv2D", "DepthwiseConv2D", "FullyConnected", "Add", "Mul")),
)
LONG = ("nnlib.SuperFC", "nnlib.Supernode3322")
"""Their smallest weights are too long to be shown whole."""
NAMED = pytest.mark.parametrize("name", PREPARED)
CALLED = pytest.mark.parametrize(
    ("name", "changes"),
    [pytest.param(name, {}, id=name) for name in PREPARED]
    + [
        pytest.param(name, changes, id=f"{name}, other{i or ''}")
        for name, others in OTHER_CALLS.items()
        for i, changes in enumerate(others if isinstance(others, tuple) else (others,))
    ],
)


def outputs(good):
    """Arrays of the shape and type of `good`: contiguous, by columns, with gaps, and not aligned."""
    gaps = np.zeros([2 * n for n in good.shape], good.dtype)[tuple(slice(None, None, 2) for _ in good.shape)]
    odd = np.zeros(good.nbytes + 1, np.uint8)[1:].view(good.dtype).reshape(good.shape)
    return [np.zeros_like(good), np.asfortranarray(np.zeros_like(good)), gaps, odd]


@CALLED
def test_the_bits_are_those_of_the_function(name, changes):
    """Called twice with names, once without, and on every tier; `shape_of` is the shape of the result."""
    op, data, want = made(name, changes)
    assert op.shape_of(shape_of_data(name, data)) == first_array(want).shape
    for _ in range(2):
        same(op(**data), want)
    same(on_every_tier(op, **data), want)
    names = PREPARED[name][1]
    if "dst_in" not in names and "c" not in names:
        same(op(*(data[key] for key in names)), want)


@pytest.mark.parametrize("name", [name for name, (of, _) in PREPARED.items() if OPS[of].each])
def test_one_op_takes_data_of_any_shape(name):
    of, names = PREPARED[name]
    op, data, want = made(name)
    for change in (lambda x: x[0, 0], lambda x: x[:0], lambda x: np.tile(x, (50, 70))[None], lambda x: x[::-1, ::2]):
        other = {key: changed(of, key, change) for key in names}
        same(op(**other), call(of, **other))
        assert op.shape_of(shape_of_data(name, other)) == op(**other).shape
    same(op(**data), want)


@pytest.mark.parametrize("name", [name for name, (of, _) in PREPARED.items() if not OPS[of].each])
def test_one_op_takes_any_number_of_rows_or_images(name):
    of, names = PREPARED[name]
    op, data, want = made(name)
    for change in (lambda x: np.concatenate([x, x[::-1], x]), lambda x: x[:1]):
        other = {key: changed(of, key, change) for key in names if key in data}
        same(op(**other), call(of, **other))
        assert op.shape_of(shape_of_data(name, other)) == first_array(op(**other)).shape
    same(op(**data), want)


def shape_of_data(name, data):
    """The shape of the first array that the op is called with, or those of a list of arrays."""
    first = data[PREPARED[name][1][0]]
    if isinstance(first, list):
        return [x.shape for x in first]
    return (first[0] if is_tensor(first) else first).shape


@CALLED
def test_out_is_written_and_returned(name, changes):
    op, data, want = made(name, changes)
    codes, threads = first_array(want), {"num_threads": 3} if takes_threads(name) else {}
    for out in outputs(codes):
        if OPS[PREPARED[name][0]].rows and not (out.strides[-1] == out.itemsize and out.flags.aligned):
            continue
        got = op(**data, out=out, **threads)
        assert first_array(got) is out
        equal(out, codes, strict=True)


@pytest.mark.parametrize("name", DIRECT)
def test_a_call_of_a_kernel_has_no_frame_of_python(name):
    """A frame takes longer than a small kernel computes."""
    op, data, want = made(name)
    frames, arrays = [], [data[key] for key in PREPARED[name][1]]
    sys.setprofile(lambda frame, event, _: frames.append(frame) if event == "call" else None)
    try:
        got = op(*arrays)
    finally:
        sys.setprofile(None)
    same(got, want)
    assert not frames


def takes_threads(name):
    return "num_threads" in inspect.signature(kind_of(name).__call__).parameters


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(8) as threads:
        yield threads


@CALLED
def test_eight_threads_share_an_op(name, changes, pool):
    """Also with data of other shapes at the same time."""
    of, names = PREPARED[name]
    op, data, want = made(name, changes)
    calls = [(data, want)]
    if not changes:
        repeat = (100, 50) if OPS[of].each else (3,)
        more = {
            key: changed(of, key, lambda x: np.tile(x, repeat + (1,) * (x.ndim - len(repeat))))
            for key in names
            if key in data
        }
        calls.append((more, call(of, **more)))
    start = Barrier(8)

    def work(_):
        start.wait()
        return [op(**given) for given, _ in calls * 5]

    for results in pool.map(work, range(8)):
        for got, (_, known) in zip(results, calls * 5, strict=True):
            same(got, known)


@CALLED
def test_an_op_pickles(name, changes):
    op, data, want = made(name, changes)
    for other in (pickle.loads(pickle.dumps(op)), copy.deepcopy(op)):
        assert type(other) is type(op)
        assert repr(other) == repr(op)
        same(other(**data), want)


@CALLED
def test_an_op_is_shown_as_it_is_typed(name, changes):
    room, kind = room_of(name)
    op, data, want = made(name, FEW.get(name, {}) | changes)
    assert repr(op).startswith(f"{kind}(")
    if name in LONG:
        assert "QTensor(<uint8 (" in repr(op)
        return
    again = eval(repr(op), {key: getattr(room, key) for key in room.__all__} | {"np": np, "QTensor": qops.QTensor})
    assert type(again) is type(op)
    assert repr(again) == repr(op)
    same(again(**data), want)


@CALLED
def test_each_argument_is_an_attribute(name, changes):
    """Of its name, and with its value where that is a number or a word; what the caller left out, the default."""
    numbers, _ = parts(name, changes)
    op = made(name, changes)[0]
    for key, parameter in inspect.signature(kind_of(name)).parameters.items():
        given = numbers.get(key, parameter.default)
        value = attribute_of(op, key)
        if isinstance(given, (int, float, str)) and isinstance(value, (int, float, str)):
            assert value == given, key


@NAMED
def test_long_arrays_are_not_shown(name):
    assert len(repr(made(name)[0])) < 250


@CALLED
def test_what_the_caller_changes_afterwards_changes_nothing(name, changes):
    numbers, data = parts(name, changes)
    op, want = kind_of(name)(**numbers), function(PREPARED[name][0])(**numbers, **data)
    pickled, words = pickle.dumps(op), repr(op)
    for path in paths(numbers):
        at(numbers, path)[...] = 1
    for value in numbers.values():
        if isinstance(value, list):
            value[:] = [0] * len(value)
    same(op(**data), want)
    assert repr(op) == words
    assert pickle.dumps(op) == pickled


class Changing:
    """Numbers that another thread writes to: each time they are read, they are others."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        self.x = np.roll(self.x, 1)
        return self.x.copy()


ARRAYS = [
    (name, key)
    for name in PREPARED
    for key, value in parts(name)[0].items()
    if isinstance(value, np.ndarray) and value.ndim and key != "output_shape"
]


@pytest.mark.parametrize(("name", "key"), ARRAYS)
def test_an_array_is_read_once(name, key):
    """What is packed and what is kept are one copy, so an op and its pickle never differ."""
    numbers, data = parts(name)
    op = kind_of(name)(**numbers | {key: Changing(numbers[key])})
    same(op(**data), pickle.loads(pickle.dumps(op))(**data))


def test_arrays_that_are_read_once_are_weights_and_their_scales():
    assert {("onnx.ConvInteger", "w"), ("onednn.MatMul", "weights"), ("tflite.Conv2D", "w_scale")} <= {*ARRAYS}


@CALLED
def test_no_attribute_can_be_set_and_nothing_written_to_one_changes_the_op(name, changes):
    op, data, want = made(name, changes)
    attributes = [key for key in dir(op) if not key.startswith("_")]
    for attribute in ["other", *attributes]:
        with pytest.raises(AttributeError):
            setattr(op, attribute, 3)
        with pytest.raises(AttributeError):
            delattr(op, attribute)
    for attribute in attributes:
        value = [attribute_of(op, attribute)]
        for array in (at(value, path) for path in paths(value)):
            if array.flags.writeable:  # made for whoever asks
                array[...] = 1
    same(op(**data), want)


def attribute_of(op, attribute):
    """Its value; None of the integers of a rule that has none."""
    try:
        return getattr(op, attribute)
    except ValueError:
        return None


@NAMED
def test_constructor_and_call_take_what_the_function_takes(name):
    """No argument is lost; the data are taken in one order, and what both have has one default."""
    of, data = PREPARED[name]
    whole = inspect.signature(function(of)).parameters
    made_of, called_with = (
        [p for p in inspect.signature(f).parameters.values() if p.name != "self"]
        for f in (kind_of(name).__init__, kind_of(name).__call__)
    )
    own = {"dtype"} if name in WITH_TYPE else set()
    assert {p.name for p in made_of} - own == whole.keys() - {*data, *CALL}
    assert {p.name for p in called_with} == whole.keys() & {*data, *CALL}
    for p in (*made_of, *called_with):
        assert p.name in own or p.default == whole[p.name].default, p.name
    assert called_with[0].name == data[0]
    assert [p.name for p in called_with if p.name in data] == [*data]
    assert [p.name for p in called_with if p.name in CALL] == [key for key in CALL if key in whole]


def test_every_prepared_op_is_in_the_registry():
    found = {
        f"{room}.{name}".lstrip(".")
        for room, module in ROOMS.items()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(getattr(module, name)) and issubclass(getattr(module, name), Prepared)
    }
    assert found == PREPARED.keys()
    assert all(
        kind_of(name).__name__.lower() == of.rpartition(".")[2].replace("_", "") for name, (of, _) in PREPARED.items()
    )
    assert OTHER_CALLS.keys() <= found


def test_rooms_have_the_prepared_ops_that_they_promise():
    promised = {
        "": "MatMul Conv2D",
        "rules.": "Requantize Quantize Add Mul AveragePool",
        "onnx.": "QLinearConv ConvInteger MatMulInteger QLinearMatMul QuantizeLinear",
        "tflite.": "Conv2D DepthwiseConv2D FullyConnected Add Mul Softmax Tanh",
        "onednn.": "Convolution InnerProduct MatMul GemmU8S8S32 GemmS8S8S32",
    }
    assert {room + kind for room, kinds in promised.items() for kind in kinds.split()} <= PREPARED.keys()
