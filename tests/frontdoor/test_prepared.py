"""MatMul and Conv2D: the bits of their functions for any data, whatever happens to the arrays they were made of."""

import pickle

import numpy as np
import pytest
from ops import on_every_tier, same

import qops
from qops import QTensor


def drawn(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8).view(dtype)


B = {
    "uint8": (drawn((9, 5), np.uint8), -1.0, 2.0),
    "int8": (drawn((9, 5), np.int8), 1.0, 3.0),
    "zero_on_the_middle_code": (drawn((9, 5), np.int8), -128.0, 127.0),
}
A = [
    (drawn((2, 9), np.uint8), -1.0, 1.5),
    (drawn((3, 4, 9), np.int8), 2.0, 3.0),
    (drawn(9, np.uint8), 0.0, 1.0),
    (drawn((0, 9), np.uint8), 0.0, 1.0),
]
W = (drawn((3, 2, 4, 5), np.int8), -3.0, 1.0)
WAYS = {
    "valid": {},
    "same": {"padding": "SAME", "stride": (2, 1)},
    "uneven": {"padding": ((1, 0), (2, 3)), "dilation": (1, 2)},
}
X = [
    (drawn((1, 5, 6, 4), np.uint8), -1.0, 2.0),
    (drawn((2, 3, 7, 4), np.int8), 1.0, 2.0),
    (drawn((1, 9, 9, 4), np.uint8), 0.0, 255.0),
]
FUNCTIONS = {
    **{
        f"matmul-{name}": (qops.MatMul(b), A, lambda a, b=b, **more: qops.matmul(a, b, **more)) for name, b in B.items()
    },
    **{
        f"conv2d-{name}": (qops.Conv2D(W, **way), X, lambda x, way=way, **more: qops.conv2d(x, W, **way, **more))
        for name, way in WAYS.items()
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_prepared_ops_give_the_bits_of_their_functions(name):
    """One op takes data of other shapes, types and ranges, one after the other, into `out` and with threads too."""
    op, data, function = FUNCTIONS[name]
    for x in (*data, data[0]):
        want = function(x)
        got = on_every_tier(op, x)
        same(got, want)
        assert got.data.shape == op.shape_of(x[0].shape)
        out = np.full(want.data.shape, 77, np.int32)
        assert op(x, out=out).data is out
        same(op(x, out, num_threads=2), want)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_prepared_ops_are_pickled_and_shown_as_one_types_them(name):
    op, data, function = FUNCTIONS[name]
    other = pickle.loads(pickle.dumps(op))
    same(other(data[0]), function(data[0]))
    assert repr(other) == repr(op)
    small = {"MatMul": (np.int8([[1, -2]]), -1.0, 2.0), "Conv2D": (np.int8([[[[1, -2]]]]), -1.0, 2.0)}
    op = type(op)(small[type(op).__name__])
    words = {"MatMul": qops.MatMul, "Conv2D": qops.Conv2D, "QTensor": QTensor, "np": np}
    assert repr(eval(repr(op), words)) == repr(op)


def test_repr_gives_what_is_no_default():
    assert repr(qops.Conv2D(W, stride=(2, 1))) == "Conv2D(QTensor(<int8 (3, 2, 4, 5)>, -3.0, 1.0), stride=(2, 1))"
    assert repr(qops.MatMul(B["uint8"])) == "MatMul(QTensor(<uint8 (9, 5)>, -1.0, 2.0))"


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_arrays_that_change_afterwards_change_nothing(dtype):
    b, w = drawn((9, 5), dtype), drawn((3, 2, 4, 5), dtype)
    product, filters = qops.MatMul((b, -1.0, 2.0)), qops.Conv2D((w, -1.0, 2.0))
    want = product(A[0]), filters(X[0])
    b[...], w[...] = 7, 7
    same(product(A[0]), want[0])
    same(pickle.loads(pickle.dumps(filters))(X[0]), want[1])
    for kept in (product.b.data, filters.w.data):
        assert not kept.flags.writeable
    with pytest.raises(AttributeError):
        product.scale = 1.0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: qops.MatMul(B["int8"])((drawn((2, 8), np.uint8), 0.0, 1.0)),
            r"a: expected shape \(\.\.\., 9\) .* \(2, 8",
        ),
        (lambda: qops.MatMul(B["int8"])(drawn((2, 9), np.uint8)), r"a: expected a \(data, min, max\) triple"),
        (lambda: qops.MatMul(B["int8"])((drawn((2, 9), np.uint8), 1.0, 0.0)), "a: min"),
        (lambda: qops.MatMul(B["int8"])(A[0], np.zeros((2, 4), np.int32)), "out: shape"),
        (lambda: qops.MatMul(B["int8"])(A[0], num_threads=0), "num_threads: expected"),
        (lambda: qops.MatMul(B["int8"])((A[0][0], 0.0, 1e38)), "a, b: sums of 9 products"),
        (lambda: qops.MatMul(A[1]), r"b: expected a matrix \(K, N\)"),
        (
            lambda: qops.MatMul(QTensor(np.uint8([[1]]), 0.0, 1.0, "u8_narrow")),
            "b: code type u8_narrow is not supported",
        ),
        (lambda: qops.MatMul((np.zeros((2, 2), np.int32), -1.0, 1.0)), "b: expected uint8 or int8 data"),
        (lambda: qops.MatMul((np.zeros((2**17, 1), np.uint8), 0.0, 1.0)), "b: sums of 131072 products"),
        (lambda: qops.Conv2D(W)((drawn((1, 5, 6, 3), np.uint8), 0.0, 1.0)), "x: expected images of 4 channels"),
        (lambda: qops.Conv2D(W)((drawn((5, 6, 4), np.uint8), 0.0, 1.0)), r"x: expected \(N, H, W, C\)"),
        (
            lambda: qops.Conv2D(W)((drawn((1, 2, 6, 4), np.uint8), 0.0, 1.0)),
            r"x: padded images of \(2, 6\) have no room",
        ),
        (lambda: qops.Conv2D(W)(X[0], num_threads=0), "num_threads: expected"),
        (lambda: qops.Conv2D(W, stride=(0, 1)), "stride: expected"),
        (lambda: qops.Conv2D(W, padding="FULL"), "padding: expected"),
        (lambda: qops.Conv2D(B["int8"]), r"w: expected \(KH, KW, C, O\)"),
        (lambda: qops.Conv2D((drawn((2**17, 1, 1, 1), np.int8), 0.0, 1.0)), "w: sums of 131072 products"),
    ],
)
def test_prepared_ops_name_what_is_wrong(call, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        call()


def test_functions_refuse_an_out_that_shares_memory_with_the_weights():
    """A prepared op has a copy of them; a function would write over what its caller passed."""
    room = np.zeros(64, np.int32)
    b, w = room.view(np.uint8)[:45].reshape(9, 5), room.view(np.int8)[:32].reshape(2, 2, 4, 2)
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        qops.matmul(A[0], (b, -1.0, 1.0), out=room[:10].reshape(2, 5))
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        qops.matmul(A[0], qops.QTensor(b, -1.0, 1.0), out=room[:10].reshape(2, 5))
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        qops.conv2d(X[0], [w, -1.0, 1.0], out=room[:40].reshape(1, 4, 5, 2))
