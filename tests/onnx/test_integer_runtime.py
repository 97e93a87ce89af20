"""`runtime="ort"` of conv_integer and matmul_integer: the same bits, and what onnxruntime 1.32.0 refuses."""

import numpy as np
import pytest
from equal import equal

from qops import onnx

U8, S8 = np.uint8, np.int8


def codes(dtype, *shape):
    return (np.arange(np.prod(shape)) % 251).astype(U8).view(dtype).reshape(shape)


def test_both_runtimes_give_the_same():
    x, w = codes(U8, 1, 2, 5, 5), codes(S8, 3, 2, 3, 3)
    how = {"x_zero_point": U8([3]), "w_zero_point": S8([1]), "pads": [1, 0, 2, 1]}
    equal(onnx.conv_integer(x, w, **how), onnx.conv_integer(x, w, **how, runtime="onnxruntime"))
    a, b = codes(U8, 2, 3, 4), codes(S8, 2, 4, 5)
    for zero in (S8(7), codes(S8, 2, 1, 5)):
        of_both = [onnx.matmul_integer(a, b, U8([9]), zero, runtime=runtime) for runtime in ("onnx", "ort")]
        equal(*of_both)
    op = onnx.MatMulInteger(b[0], 9, S8([1, 2, 3, 4, 5]), runtime="ort")
    assert op.runtime == "ort"
    assert "runtime='ort'" in repr(op)


REFUSED = [
    (lambda how: onnx.matmul_integer(codes(U8, 3, 4), codes(S8, 4, 5), U8([1, 2, 3]), **how), "a_zero_point: "),
    (
        lambda how: onnx.matmul_integer(codes(U8, 2, 3, 4), codes(S8, 2, 4, 5), 0, codes(S8, 5), **how),
        r"b_zero_point: onnxruntime takes \(..., 1, N\)",
    ),
    (lambda how: onnx.matmul_integer(codes(U8, 3, 0), codes(S8, 0, 5), **how), "B: of no rows"),
    (
        lambda how: onnx.conv_integer(codes(U8, 1, 2, 5, 5), codes(S8, 3, 2, 3, 3), 0, S8([1, 1, 1]), **how),
        "w_zero_point: ",
    ),
    (
        lambda how: onnx.conv_integer(
            codes(U8, 1, 2, 7, 7), codes(S8, 3, 2, 3, 3), auto_pad="SAME_UPPER", dilations=[2, 2], **how
        ),
        "dilations: onnxruntime takes none with auto_pad 'SAME_UPPER'",
    ),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_onnxruntime_refuses(call, text):
    call({})  # the standard takes it
    with pytest.raises(ValueError, match=f"^{text}"):
        call({"runtime": "ort"})


@pytest.mark.parametrize("call", [onnx.conv_integer, onnx.matmul_integer])
def test_a_runtime_that_is_not_known(call):
    with pytest.raises(ValueError, match=r"^runtime: expected one of onnx, ort"):
        call(codes(U8, 3, 4), codes(S8, 4, 5), runtime="tflite")


RAGGED = ([[1]], [1, 2])


@pytest.mark.parametrize("name", ["w_zero_point", "x_zero_point"])
@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_zero_points_of_a_convolution_that_are_no_array_are_named(name, runtime):
    x, w = np.ones((1, 2, 3, 3), np.uint8), np.ones((1, 2, 1, 1), np.int8)
    with pytest.raises(TypeError, match=rf"^{name}: expected an array, got tuple"):
        onnx.conv_integer(x, w, **{name: RAGGED, "runtime": runtime})


@pytest.mark.parametrize("name", ["a_zero_point", "b_zero_point"])
@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_zero_points_of_a_product_that_are_no_array_are_named(name, runtime):
    x, how = np.ones((3, 3), np.uint8), {"a_zero_point": 1, "b_zero_point": 1, name: RAGGED, "runtime": runtime}
    with pytest.raises(TypeError, match=rf"^{name}: expected an array, got tuple"):
        onnx.matmul_integer(x, x, **how)
    with pytest.raises(TypeError, match=rf"^{name}: expected an array, got tuple"):
        onnx.qlinear_matmul(x, 0.1, b=x, b_scale=0.1, y_scale=1.0, y_zero_point=9, **how)
