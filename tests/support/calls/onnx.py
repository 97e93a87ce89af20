"""Good calls of `qops.onnx` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import ACC, CODES, NCHW, OIHW, OTHER, REALS, S8, Op

Q_U8 = {"x_scale": 0.5, "x_zero_point": 9, "w_scale": np.float32([0.5, 1, 2, 4]), "w_zero_point": 3}

CALLS = {
    "onnx.quantize_linear": Op({"x": REALS, "y_scale": 0.01, "y_zero_point": 100}, np.uint8),
    "onnx.dequantize_linear": Op({"x": CODES, "x_scale": 0.01, "x_zero_point": 100}, np.float32),
    "onnx.dynamic_quantize_linear": Op({"x": REALS}, each=False),
    "onnx.matmul_integer": Op({"A": CODES, "B": OTHER.T.copy(), "a_zero_point": 5}, np.int32, each=False),
    "onnx.qlinear_matmul": Op(
        {"a": CODES, "a_scale": 0.1, "a_zero_point": 9, "b": S8.T.copy(), "b_scale": 0.5, "b_zero_point": -3}
        | {"y_scale": 99.0, "y_zero_point": 128},
        np.uint8,
        each=False,
    ),
    "onnx.conv_integer": Op({"x": NCHW, "w": OIHW, "x_zero_point": 9, "pads": [1, 0, 0, 2]}, np.int32, each=False),
    "onnx.qlinear_conv": Op(
        {"x": NCHW, "w": OIHW, **Q_U8, "y_scale": 500.0, "y_zero_point": 128, "B": ACC.ravel()}, np.uint8, each=False
    ),
}
PREPARED = {
    "onnx.ConvInteger": ("onnx.conv_integer", ("x",)),
    "onnx.QLinearConv": ("onnx.qlinear_conv", ("x",)),
    "onnx.MatMulInteger": ("onnx.matmul_integer", ("A",)),
    "onnx.QLinearMatMul": ("onnx.qlinear_matmul", ("a",)),
    "onnx.QuantizeLinear": ("onnx.quantize_linear", ("x",)),
}
OTHER_CALLS = {
    "onnx.ConvInteger": {
        "w_zero_point": np.int8([1, 2, 3, -4]),
        "strides": [2, 1],
        "auto_pad": "SAME_UPPER",
        "pads": None,
    },
    "onnx.QLinearConv": {"runtime": "ort", "w_zero_point": np.int8([0, 0, 0, 0]), "pads": [1, 0, 0, 2]},
    "onnx.MatMulInteger": {"b_zero_point": np.uint8([1, 2]), "a_zero_point": np.uint8([3, 4])},
    "onnx.QLinearMatMul": {"b_scale": np.float32([0.5, 0.25]), "b_zero_point": np.int8([1, -2]), "runtime": "ort"},
    "onnx.QuantizeLinear": {"y_scale": np.float32([0.01, 0.02, 0.03]), "y_zero_point": np.int8([1, 2, 3])},
}
FEW = {
    "onnx.ConvInteger": {"w": OIHW[..., :1, :1]},
    "onnx.QLinearConv": {"w": OIHW[..., :1, :1]},
}
