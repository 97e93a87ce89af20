"""What the prepared ops refuse, when they are made and when they are called."""

import sys

import numpy as np
import pytest

from qops.onnx import ConvInteger, MatMulInteger, QLinearMatMul, QuantizeLinear, window

W = np.ones((6, 4, 3, 2), np.int8)
IMAGES, MATRIX, B = np.ones((2, 4, 16, 17), np.uint8), np.ones((301, 70), np.uint8), np.ones((70, 530), np.int8)
REALS = np.ones((3, 5, 4), np.float32)
REFUSED = [
    (lambda: ConvInteger(W, -300), ValueError, "x_zero_point: expected an integer in"),
    (lambda: ConvInteger(W, np.int16(3)), TypeError, "x_zero_point: expected uint8, got int16"),
    (lambda: ConvInteger(W[0, 0]), ValueError, "w: expected"),
    (lambda: ConvInteger(W, group=4), ValueError, "w: expected .* divisible by group 4"),
    (lambda: ConvInteger(W, strides=[1]), ValueError, "strides: expected 2 integers"),
    (lambda: ConvInteger(W)(IMAGES[0]), ValueError, "x, w: shapes"),
    (lambda: ConvInteger(W)(IMAGES[0, 0]), ValueError, "x: expected"),
    (lambda: ConvInteger(W).shape_of((1, 5, 9, 9)), ValueError, "x, w: shapes"),
    (lambda: ConvInteger(W).shape_of((1, 4, 2, 9)), ValueError, "x, w: a kernel of 3"),
    (lambda: ConvInteger(W)(IMAGES.astype(np.int64)), TypeError, "x: expected uint8, int8, got int64"),
    (lambda: ConvInteger(W, 200)(IMAGES.view(np.int8)), ValueError, "x_zero_point: expected an integer in"),
    (
        lambda: ConvInteger(W, np.uint8(2))(IMAGES.view(np.int8)),
        TypeError,
        "x_zero_point: expected int8, got uint8",
    ),
    (lambda: ConvInteger(W)(IMAGES, np.zeros((2, 6, 14, 16), np.int8)), TypeError, "out: expected native int32"),
    (lambda: ConvInteger(W)(IMAGES, np.zeros((2, 6, 14, 15), np.int32)), ValueError, "out: shape"),
    (lambda: ConvInteger(W)(IMAGES, num_threads=0), ValueError, "num_threads: expected an integer in"),
    (lambda: MatMulInteger(B)(MATRIX[:, 1:]), ValueError, "A, B: shapes"),
    (lambda: MatMulInteger(B).shape_of(()), ValueError, "A: expected at least 1 dimension"),
    (
        lambda: MatMulInteger(B, np.arange(7, dtype=np.uint8))(MATRIX),
        ValueError,
        "a_zero_point: expected 1 value, or 301",
    ),
    (lambda: MatMulInteger(B)(MATRIX, MATRIX.view(np.int8)), TypeError, "out: expected native int32"),
    (
        lambda: QLinearMatMul(0.5, 0, B, 1.0, 0, 0.0, 0),
        ValueError,
        "y_scale: expected finite numbers other than 0",
    ),
    (
        lambda: QLinearMatMul(0.5, 0, B.view(np.uint8), 1.0, 0, 1.0, 0, runtime="ort")(MATRIX.view(np.int8)),
        TypeError,
        "a, b, y_zero_point: onnxruntime has no kernel",
    ),
    (lambda: QuantizeLinear(0.0), ValueError, "y_scale: expected finite numbers other than 0"),
    (lambda: QuantizeLinear(np.ones(3, np.float32))(REALS), ValueError, "y_scale: expected 1 value or 5"),
    (lambda: QuantizeLinear(1.0)(REALS, np.zeros(3, np.uint8)), ValueError, "out: shape"),
    (lambda: QuantizeLinear(1.0)(np.float32(np.nan)), ValueError, "x: holds NaN"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_wrong_inputs_are_named(call, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        call()


def test_an_out_within_the_data_is_refused():
    memory = np.zeros(9 * IMAGES.size, np.uint8)
    x, out = memory[: IMAGES.size].reshape(IMAGES.shape), memory[: 4 * 2 * 6 * 14 * 16].view(np.int32)
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        ConvInteger(W)(x, out.reshape(2, 6, 14, 16))
    a, out = memory[:140].reshape(2, 70), memory[: 4 * 2 * 530].view(np.int32).reshape(2, 530)
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        MatMulInteger(B)(a, out)
    x = memory[:16].view(np.float32)
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        QuantizeLinear(1.0)(x, memory[1:5])


# --- sizes that 32 bits do not count: on a Py_ssize_t of 64 bits these only show that the same is refused there


@pytest.mark.parametrize("channels", (4, 2**18) if sys.maxsize < 2**32 else (2**18,))
def test_rows_beyond_memory_are_refused(channels):
    """In 32 bits the bytes of a row wrap to 16 or a megabyte, of which 2**30 pixels were set."""
    x, w = np.ones((1, channels, 1, 1), np.uint8), np.ones((1, channels, 1, 1), np.int8)
    op = ConvInteger(w, 1, strides=[1, 2**30 + 3], pads=[0, 2**28, 0, 2**30 + 3 - 2**28])
    assert op.shape_of(x.shape) == (1, 1, 1, 2)
    with pytest.raises(MemoryError):
        op(x)


def test_padding_beyond_the_count_is_refused(monkeypatch):
    x, op = (1, 1, 5, 5), ConvInteger(np.ones((1, 1, 1, 5), np.int8), dilations=[1, 2**30], auto_pad="SAME_UPPER")
    if sys.maxsize > 2**32:
        assert op.shape_of(x) == x
    monkeypatch.setattr(window, "MOST", 2**31 - 1)
    with pytest.raises(ValueError, match=r"^x, w: .*5 padded by \d{10}, "):
        op.shape_of(x)
