"""A model of one node for each ONNX operator of real numbers, and each that moves elements."""

import numpy as np
from onnx import TensorProto, helper
from onnx_networks import Network

F32, INT = np.float32, np.int64
IMAGE = (2, 4, 6, 5)


def of(*shape):
    """Numbers whose order, sums and ties tell places apart."""
    return ((np.arange(np.prod(shape)) * 37 % 101 - 50) / 16).astype(F32).reshape(shape)


def positive(*shape):
    return np.abs(of(*shape)) + F32(0.25)


X, M = of(*IMAGE), of(3, 4, 5)
AXES = INT([-1, 1])
SAME = {"auto_pad": "SAME_UPPER", "kernel_shape": [3, 2], "strides": [2, 3]}
MODES, LIES = ("nearest", "linear", "cubic"), ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
SCALES = [1, 1, 1.5, 0.6]
RESIZED = (
    {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"},
    {"nearest_mode": "ceil", "cubic_coeff_a": -0.5},
    {"nearest_mode": "round_prefer_ceil", "exclude_outside": 1},
)
CUT = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
BOTH, REVERSE = {"direction": "bidirectional"}, {"hidden_size": 3, "results": 3, "direction": "reverse"}
WINDOW = {"kernel_shape": [3, 2], "pads": [1, 0, 2, 1], "strides": [2, 1]}
NODES = [
    *((kind, [M], {}) for kind in ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign", "Erf", "Abs", "Neg", "Exp")),
    *((kind, [M], {}) for kind in ("Floor", "Ceil", "Round", "HardSwish", "HardSigmoid", "Elu")),
    *((kind, [positive(3, 4)], {}) for kind in ("Sqrt", "Log", "Reciprocal")),
    *((kind, [M, of(4, 1)], {}) for kind in ("Add", "Sub", "Mul", "PRelu")),
    ("Div", [M, positive(5)], {}),
    ("Pow", [positive(3, 4), of(4)], {}),
    *((kind, [M, of(4, 1), of(5)], {}) for kind in ("Min", "Max", "Sum")),
    *(("Clip", [M, *ends], {}) for ends in ([F32(-0.5)], [F32(-0.5), F32(1.25)], [[], F32(1.25)])),
    ("Clip", [M], {"min": -0.5, "max": 1.25, "opset": 6}),
    *(("Selu", [M], how) for how in ({}, {"alpha": 2.0, "gamma": 0.5})),
    ("Mish", [M], {"opset": 18}),
    ("Mean", [M, of(4, 1), of(5)], {}),
    *(
        ("LRN", [of(4, 4, 3, 2)], how)
        for how in ({"size": 3}, {"size": 4, "alpha": 0.5, "beta": 0.6, "bias": 2.0}, {"size": 9})
    ),
    *(("Einsum", [M, of(3, 5, 2)], {"equation": e}) for e in ("bij,bjk->bik", "bij, bjk", "...ij,...jk->...ki")),
    ("Einsum", [M], {"equation": "ijk->k"}),
    ("LeakyRelu", [M], {}),
    ("LeakyRelu", [M], {"alpha": 0.3}),
    ("Elu", [M], {"alpha": 0.7}),
    ("HardSigmoid", [M], {"alpha": 0.3, "beta": 0.4}),
    ("Gelu", [M], {"opset": 20}),
    ("Gelu", [M], {"opset": 20, "approximate": "tanh"}),
    *((kind, [M], how) for kind in ("Softmax", "LogSoftmax") for how in ({}, {"axis": 1})),
    *((kind, [M], {}) for kind in ("Sin", "Cos", "Atan")),
    *((kind, [M], {"opset": 11}) for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")),
    *((kind, [positive(2, 3, 4)], {"axes": [-1, 0]}) for kind in ("ReduceProd", "ReduceLogSum")),
    *((f"Reduce{kind}", [M], {"axes": [1], "keepdims": 0}) for kind in ("L1", "L2", "SumSquare", "LogSumExp")),
    ("ReduceMean", [M], {"axes": [-1, 1], "keepdims": 0}),
    ("ReduceMax", [M], {"axes": [1]}),
    ("ReduceSum", [M, AXES], {}),
    ("ReduceSum", [M], {"noop_with_empty_axes": 1}),
    *((f"Reduce{kind}", [M], {"noop_with_empty_axes": 1, "opset": 18}) for kind in ("L1", "L2", "SumSquare")),
    ("ReduceMean", [M, AXES], {"opset": 18, "keepdims": 0}),
    ("BatchNormalization", [X, of(4), of(4), of(4), positive(4)], {}),
    ("BatchNormalization", [X, of(4), of(4), of(4), positive(4)], {"epsilon": 0.5}),
    ("InstanceNormalization", [X, of(4), of(4)], {}),
    ("InstanceNormalization", [X, of(4), of(4)], {"epsilon": 0.5}),
    ("LayerNormalization", [M, of(5)], {}),
    ("LayerNormalization", [M, of(4, 5), of(4, 5)], {"axis": 1, "epsilon": 0.5}),
    ("Conv", [X, of(6, 2, 3, 2), of(6)], {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", [X, of(3, 4, 3, 2)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("Conv", [of(2, 3, 9), of(2, 3, 4)], {"auto_pad": "VALID"}),
    ("ConvTranspose", [X, of(4, 3, 3, 2), of(3)], {}),
    (
        "ConvTranspose",
        [X, of(4, 3, 3, 2)],
        {"group": 1, "pads": [1, 0, 0, 1], "strides": [2, 3], "dilations": [2, 1], "output_padding": [1, 2]},
    ),
    ("MatMul", [of(2, 1, 3, 4), of(5, 4, 6)], {}),
    ("Gemm", [of(3, 4), of(4, 5), of(5)], {"alpha": 0.5, "beta": 0.25}),
    ("Gemm", [of(4, 3), of(5, 4)], {"transA": 1, "transB": 1}),
    *(
        ("Resize", [X, [], F32(SCALES)], {"mode": m, "coordinate_transformation_mode": how})
        for m in MODES
        for how in LIES
    ),
    *(("Resize", [X, [], [], INT([2, 4, 9, 3])], {"mode": mode, **how}) for mode in MODES for how in RESIZED),
    *(("Resize", [X, F32(2 * [0, 0.1] + [1, 1, 0.8, 1.3]), [], INT([2, 4, 9, 3])], {"mode": m, **CUT}) for m in MODES),
    ("Resize", [X, [], F32([0.4, 0.6])], {"mode": "linear", "opset": 18, "axes": [3, 2], "antialias": 1}),
    ("Resize", [X, [], [], INT([9, 8])], {"opset": 18, "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}),
    ("Upsample", [X, F32([1, 1, 2, 3])], {"opset": 9}),
    ("LSTM", [of(3, 2, 4), of(2, 12, 4), of(2, 12, 3), of(2, 24)], {"hidden_size": 3, "results": 3, **BOTH}),
    ("LSTM", [of(3, 2, 4), of(1, 12, 4), of(1, 12, 3), [], [], of(1, 2, 3), of(1, 2, 3), of(1, 9)], REVERSE),
    *(("MaxPool", [X], how) for how in (WINDOW, SAME, {"kernel_shape": [2, 2], "dilations": [2, 3]})),
    ("MaxPool", [X], {"kernel_shape": [2, 2], "strides": [3, 2], "ceil_mode": 1}),
    *(("AveragePool", [X], how) for how in (WINDOW, SAME, {**WINDOW, "count_include_pad": 1})),
    *((kind, [X], {}) for kind in ("GlobalAveragePool", "GlobalMaxPool")),
    ("Reshape", [M, INT([0, -1])], {}),
    ("Reshape", [np.zeros((0, 3), F32), INT([3, 0])], {"allowzero": 1}),
    *(("Transpose", [M], how) for how in ({}, {"perm": [1, 2, 0]})),
    *(("Flatten", [X], how) for how in ({}, {"axis": 0}, {"axis": -1})),
    ("Squeeze", [of(1, 3, 1)], {}),
    ("Squeeze", [of(1, 3, 1), INT([-1])], {}),
    ("Squeeze", [of(1, 3, 1)], {"axes": [0], "opset": 11}),
    ("Unsqueeze", [M, INT([0, -1])], {}),
    ("Unsqueeze", [M], {"axes": [1], "opset": 11}),
    ("Slice", [M, INT([1, -1]), INT([3, -9]), INT([0, -1]), INT([1, -2])], {}),
    ("Slice", [M, INT([1, 0]), INT([9, -1])], {}),
    ("Slice", [M], {"starts": [1, 0], "ends": [9, -1], "axes": [2, 1], "opset": 9}),
    ("Gather", [M, INT([[2, 0], [-1, 1]])], {}),
    ("Gather", [M, INT(3)], {"axis": -1}),
    ("Concat", [M, of(3, 2, 5)], {"axis": 1}),
    ("Concat", [M, of(3, 4, 1)], {"axis": -1}),
    ("Split", [M, INT([1, 3])], {"axis": 1, "results": 2}),
    ("Split", [M], {"axis": 2, "num_outputs": 3, "results": 3, "opset": 18}),
    ("Split", [M], {"axis": 1, "split": [3, 1], "results": 2, "opset": 11}),
    ("Expand", [of(3, 1), INT([2, 1, 4])], {}),
    ("Tile", [of(3, 2), INT([2, 3])], {}),
    ("Pad", [of(3, 4), INT([0, 1, 2, 0])], {}),
    ("Pad", [of(3, 4), INT([1, 2]), F32(7), INT([-1])], {"opset": 18}),
    *(("Pad", [of(4, 5), INT([1, 2, 3, 0])], {"mode": mode}) for mode in ("reflect", "edge", "wrap")),
    ("Pad", [of(3, 4)], {"pads": [1, 0, 1, 2], "value": 7.0, "opset": 2}),
    *(("DepthToSpace", [of(2, 8, 3, 2)], {"blocksize": 2, **how}) for how in ({}, {"mode": "CRD"})),
    ("SpaceToDepth", [of(2, 3, 4, 6)], {"blocksize": 2}),
    *((kind, [M], {}) for kind in ("Identity", "Dropout", "Size", "Shape")),
    ("Shape", [M], {"start": 1, "end": -1}),
    ("Where", [of(4, 1) > 0, M, of(5)], {}),
    ("GatherND", [M, INT([[0, 1], [-1, 3]])], {}),
    ("GatherND", [M, INT([[1], [0], [3]])], {"batch_dims": 1}),
    ("GatherElements", [M, np.arange(-12, 12).reshape(3, 4, 2) % 5], {"axis": 2}),
    *(("ScatterND", [M, INT([[0], [-1], [0]]), of(3, 4, 5)], how) for how in ({}, {"reduction": "add", "opset": 18})),
    *(("ScatterND", [M, INT([[0, 1]]), of(1, 5)], {"reduction": r, "opset": 18}) for r in ("mul", "max", "min")),
    ("ScatterElements", [M, INT([[[0, -1]], [[1, 2]]]), of(2, 1, 2)], {"axis": 2}),
    ("ScatterElements", [M, INT([[[0, 0]]]), of(1, 1, 2)], {"axis": 1, "reduction": "add", "opset": 18}),
    ("ConstantOfShape", [INT([2, 3])], {}),
    ("ConstantOfShape", [INT([2, 3])], {"value": helper.make_tensor("", TensorProto.INT32, [1], [7])}),
    ("Range", [INT(9), INT(0), INT(-4)], {}),
]


def one(kind, inputs, *, opset=17, results=1, dtype=TensorProto.FLOAT, **attributes):
    """A model of one node, whose first input is that of the model; an empty input is left out."""
    net = Network(opset)
    x = net.input(inputs[0].shape, helper.np_dtype_to_tensor_dtype(inputs[0].dtype))
    names = [x, *(net.constant(other) if np.size(other) else "" for other in inputs[1:])]
    made = net.node(kind, *names, results=results, **attributes)
    return net.model(*([made] if results == 1 else made), dtype=dtype), x
