"""Good calls of `qops.onnx` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import ACC, CODES, NCHW, OIHW, OTHER, REALS, S8, Op

Q_U8 = {"x_scale": 0.5, "x_zero_point": 9, "w_scale": np.float32([0.5, 1, 2, 4]), "w_zero_point": 3}

PAIR = {"A_scale": 0.5, "A_zero_point": 9, "B_scale": 0.25, "B_zero_point": 3, "C_scale": 0.75, "C_zero_point": 128}
X_TO_Y = {"X_scale": 0.5, "X_zero_point": 9, "Y_scale": 0.75, "Y_zero_point": 128}
POOLED = {"x_scale": 0.5, "x_zero_point": 9, "y_scale": 0.75, "y_zero_point": 128}
GEMM = {"a_scale": 0.5, "a_zero_point": 9, "B": S8.T.copy(), "b_scale": 0.25, "b_zero_point": -3}

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
    "onnx.qlinear_add": Op({"A": CODES, "B": OTHER, **PAIR}, np.uint8),
    "onnx.qlinear_mul": Op({"A": CODES, "B": OTHER, **PAIR, "C_scale": 9.0}, np.uint8),
    "onnx.qlinear_sigmoid": Op({"X": CODES, **X_TO_Y, "Y_scale": 0.004, "Y_zero_point": 0}, np.uint8),
    "onnx.qlinear_leaky_relu": Op({"X": CODES, **X_TO_Y, "alpha": 0.25}, np.uint8),
    "onnx.qlinear_softmax": Op({"X": CODES, **X_TO_Y, "Y_scale": 0.004, "Y_zero_point": 0}, np.uint8, each=False),
    "onnx.qlinear_concat": Op(
        {"Y_scale": 0.5, "Y_zero_point": 3, "tensors": [CODES, OTHER], "scales": [0.5, 0.75], "zero_points": [3, 9]}
        | {"axis": 1},
        np.uint8,
        each=False,
    ),
    "onnx.qlinear_average_pool": Op(
        {"X": NCHW, **POOLED, "kernel_shape": [2, 3], "pads": [1, 0, 0, 2], "strides": [1, 2]}, np.uint8, each=False
    ),
    "onnx.qlinear_global_average_pool": Op({"X": NCHW, **POOLED}, np.uint8, each=False),
    "onnx.max_pool": Op({"X": NCHW, "kernel_shape": [2, 3], "pads": [1, 0, 0, 2]}, np.uint8, each=False),
    "onnx.qgemm": Op(
        {"A": CODES, **GEMM, "C": np.int32([5, -9]), "y_scale": 99.0, "y_zero_point": 128}, np.uint8, each=False
    ),
    "onnx.dynamic_quantize_matmul": Op(
        {"A": REALS, "B": S8.T.copy(), "b_scale": 0.25, "b_zero_point": -3, "bias": np.float32([0.5, -1])},
        np.float32,
        each=False,
    ),
    "onnx.matmul_integer_to_float": Op({"A": CODES, **GEMM, "bias": np.float32([0.5, -1])}, np.float32, each=False),
}
PREPARED = {
    "onnx.ConvInteger": ("onnx.conv_integer", ("x",)),
    "onnx.QLinearConv": ("onnx.qlinear_conv", ("x",)),
    "onnx.MatMulInteger": ("onnx.matmul_integer", ("A",)),
    "onnx.QLinearMatMul": ("onnx.qlinear_matmul", ("a",)),
    "onnx.QuantizeLinear": ("onnx.quantize_linear", ("x",)),
    "onnx.QLinearAdd": ("onnx.qlinear_add", ("A", "B")),
    "onnx.QLinearMul": ("onnx.qlinear_mul", ("A", "B")),
    "onnx.QLinearSigmoid": ("onnx.qlinear_sigmoid", ("X",)),
    "onnx.QLinearLeakyRelu": ("onnx.qlinear_leaky_relu", ("X",)),
    "onnx.QLinearSoftmax": ("onnx.qlinear_softmax", ("X",)),
    "onnx.QLinearConcat": ("onnx.qlinear_concat", ("tensors",)),
    "onnx.QLinearAveragePool": ("onnx.qlinear_average_pool", ("X",)),
    "onnx.QLinearGlobalAveragePool": ("onnx.qlinear_global_average_pool", ("X",)),
    "onnx.MaxPool": ("onnx.max_pool", ("X",)),
    "onnx.QGemm": ("onnx.qgemm", ("A",)),
    "onnx.DynamicQuantizeMatMul": ("onnx.dynamic_quantize_matmul", ("A",)),
    "onnx.MatMulIntegerToFloat": ("onnx.matmul_integer_to_float", ("A",)),
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
    "onnx.QLinearSoftmax": {"axis": 0, "opset": 11, "Y_scale": 0.001},
    "onnx.QLinearConcat": {"axis": -2, "scales": np.float32([0.5, 0.75]), "zero_points": list(np.uint8([3, 9]))},
    "onnx.QLinearAveragePool": {"channels_last": 1, "count_include_pad": 1, "ceil_mode": 1, "strides": None},
    "onnx.QLinearGlobalAveragePool": {"channels_last": 1},
    "onnx.MaxPool": {"auto_pad": "SAME_LOWER", "pads": None, "dilations": [1, 2], "strides": [2, 1]},
    "onnx.QGemm": {"transA": 1, "transB": 1, "B": np.int8([[1, 2], [3, 4]]), "y_scale": None, "y_zero_point": None},
    "onnx.DynamicQuantizeMatMul": {"b_scale": np.float32([0.5, 0.25]), "b_zero_point": np.int8([1, -2]), "bias": None},
    "onnx.MatMulIntegerToFloat": {"b_scale": np.float32([0.5, 0.25]), "b_zero_point": None, "a_zero_point": None},
}
FEW = {
    "onnx.ConvInteger": {"w": OIHW[..., :1, :1]},
    "onnx.QLinearConv": {"w": OIHW[..., :1, :1]},
}
