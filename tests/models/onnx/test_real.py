"""Each ONNX operator of real numbers, and each that moves elements, against the reference of the standard."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_networks import Network

from qops.models.onnx.kinds import KINDS

F32, INT = np.float32, np.int64
REAL = {kind for kind, row in KINDS.items() if row.real and kind not in ("Cast", "DynamicQuantizeLSTM")}
MOVES = {kind for kind, row in KINDS.items() if row.rule == "moves codes" and kind != "Cast"}
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
    *(("LRN", [of(4, 4, 3, 2)], how) for how in ({"size": 3}, {"size": 4, "alpha": 0.5, "beta": 0.6, "bias": 2.0}, {"size": 9})),
    *(("Einsum", [M, of(3, 5, 2)], {"equation": e}) for e in ("bij,bjk->bik", "bij, bjk", "...ij,...jk->...ki")),
    ("Einsum", [M], {"equation": "ijk->k"}),
    ("LeakyRelu", [M], {}),
    ("LeakyRelu", [M], {"alpha": 0.3}),
    ("Elu", [M], {"alpha": 0.7}),
    ("HardSigmoid", [M], {"alpha": 0.3, "beta": 0.4}),
    ("Gelu", [M], {"opset": 20}),
    ("Gelu", [M], {"opset": 20, "approximate": "tanh"}),
    *((kind, [M], how) for kind in ("Softmax", "LogSoftmax") for how in ({}, {"axis": 1})),
    *((kind, [M], {"opset": 11}) for kind in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")),
    ("ReduceMean", [M], {"axes": [-1, 1], "keepdims": 0}),
    ("ReduceMax", [M], {"axes": [1]}),
    ("ReduceSum", [M, AXES], {}),
    ("ReduceSum", [M], {"noop_with_empty_axes": 1}),
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
    *(("Resize", [X, [], F32(SCALES)], {"mode": m, "coordinate_transformation_mode": how}) for m in MODES for how in LIES),
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


def test_every_operator_is_here():
    assert {kind for kind, *_ in NODES} == REAL | MOVES


def one(kind, inputs, *, opset=17, results=1, dtype=TensorProto.FLOAT, **attributes):
    """A model of one node, whose first input is that of the model; an empty input is left out."""
    net = Network(opset)
    x = net.input(inputs[0].shape, helper.np_dtype_to_tensor_dtype(inputs[0].dtype))
    names = [x, *(net.constant(other) if np.size(other) else "" for other in inputs[1:])]
    made = net.node(kind, *names, results=results, **attributes)
    return net.model(*([made] if results == 1 else made), dtype=dtype), x


@pytest.mark.parametrize(
    ("kind", "inputs", "how"), [pytest.param(*node, id=f"{i}-{node[0]}") for i, node in enumerate(NODES)]
)
def test_an_operator_gives_what_the_reference_gives(load, kind, inputs, how):
    """The reference computes in float32, and so are its sums; what is moved, or is an integer, is the same."""
    model, x = one(kind, inputs, **how)
    want = ReferenceEvaluator(model).run(None, {x: inputs[0]})
    model, x = one(kind, inputs, dtype=helper.np_dtype_to_tensor_dtype(want[0].dtype), **how)
    graph = load(model)
    got, real = graph.run(inputs[0]), graph.real(inputs[0])
    near = 2e-6 if kind in REAL else 0
    for name, y in zip(graph.outputs, want, strict=True):
        assert (got[name].dtype, got[name].shape) == (y.dtype, y.shape)
        for values in (got[name], real[name]):
            np.testing.assert_allclose(values, y, rtol=near, atol=near * np.abs(y).max(initial=0))


PART, LRN = of(3, 4)[:2, 1:], F32([3 / 11, 1 / 15, 2 / 6]).reshape(1, 3, 1)


@pytest.mark.parametrize(
    ("kind", "inputs", "how", "want"),
    [
        ("Div", [np.int32([7, -7, 6, -9]), np.int32([2, 2, -4, -3])], {}, np.int32([3, -3, -1, 3])),
        ("Pad", [of(3, 4), INT([1, -1, -1, 2]), F32(7)], {}, np.pad(PART, [(1, 0), (0, 2)], constant_values=7)),
        ("Pad", [of(3, 4), INT([0, -1, -1, 0])], {"mode": "edge"}, PART),
        ("LogSoftmax", [F32([-900, 0, -2000])], {}, F32([-900, 0, -2000])),
        ("LRN", [F32([[[3]], [[1]], [[2]]]).reshape(1, 3, 1)], {"size": 3, "alpha": 3.0, "beta": 1.0}, LRN),
    ],
)
def test_what_the_reference_does_otherwise(load, kind, inputs, how, want):
    """Integers are divided toward zero, negative pads cut, no exp of a logarithm becomes 0, LRN goes over channels."""
    model, _ = one(kind, inputs, dtype=helper.np_dtype_to_tensor_dtype(want.dtype), **how)
    (got,) = load(model).run(inputs[0]).values()
    np.testing.assert_array_equal(got, want, strict=True)


HUGE = of(2**15)


@pytest.mark.parametrize(
    ("kind", "inputs", "how"),
    [
        *((kind, [HUGE, HUGE.reshape(-1, 1)], {}) for kind in ("Add", "Max")),
        ("Where", [HUGE > 0, HUGE, HUGE.reshape(-1, 1)], {}),
        ("Expand", [HUGE, INT([2**15, 1])], {}),
        ("Tile", [HUGE, INT([2**15])], {}),
        ("Gather", [HUGE.reshape(1, -1), np.zeros(2**15, INT)], {}),
        ("Pad", [HUGE, INT([0, 2**29])], {}),
        ("ConstantOfShape", [INT([2**15, 2**15])], {}),
        ("Range", [INT(0), INT(2**29), INT(1)], {}),
        ("ConvTranspose", [X, of(4, 3, 1, 1)], {"strides": [2**14, 2**14]}),
    ],
)
def test_results_too_large_to_be_meant_are_refused(load, kind, inputs, how):
    """Of 2**29 elements and more."""
    with pytest.raises(ValueError, match=r"network\.onnx: .* is too large$"):
        load(one(kind, inputs, **how)[0]).run(inputs[0])


@pytest.mark.parametrize(
    "how",
    [{"pads": [0, -1, 0, 0]}, {"output_padding": [-1, 0]}, {"strides": [0, 1]}, {"dilations": [1, 0]}],
)
def test_a_transposed_convolution_refuses_what_it_cannot_mean(load, how):
    with pytest.raises(ValueError, match=r"its attributes do not fit$"):
        load(one("ConvTranspose", [X, of(4, 3, 3, 2)], **how)[0]).run(X)


@pytest.mark.parametrize(("kind", "opset"), [("Resize", 10), ("Upsample", 9)])
@pytest.mark.parametrize(("mode", "want"), [("nearest", [1, 1, 3, 3, 5, 5]), ("linear", [1, 2, 3, 4, 5, 5])])
def test_an_old_resize_places_pixels_at_their_number_by_the_factor(load, kind, opset, mode, want):
    """The results are those of onnxruntime 1.32.0."""
    model, _ = one(kind, [F32([[[[1, 3, 5]]]]), F32([1, 1, 1, 2])], opset=opset, mode=mode)
    (got,) = load(model, "ort").run(F32([[[[1, 3, 5]]]])).values()
    assert got.ravel().tolist() == want


RAMP = np.arange(13, dtype=F32).reshape(1, 1, 1, 13)
PIXELS = [
    ({"nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "asymmetric"}, 8, [0, 2, 3, 5, 7, 8, 10, 11]),
    ({"nearest_mode": "floor"}, 5, [0, 3, 6, 8, 11]),
]


@pytest.mark.parametrize(("how", "size", "want"), PIXELS)
def test_nearest_pixels_of_onnxruntime(load, how, size, want):
    """Pixels of onnxruntime 1.32.0, for which a place within 1e-6 of the middle of two pixels is the middle."""
    model, _ = one("Resize", [RAMP, [], [], INT([1, 1, 1, size])], mode="nearest", **how)
    (got,) = load(model, "ort").run(RAMP).values()
    assert got.ravel().tolist() == want


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"mode": "area"}, "its mode is area"),
        ({"coordinate_transformation_mode": "half_pixel_symmetric"}, "mode is half_pixel_symmetric"),
        ({"nearest_mode": "middle"}, "its nearest_mode is middle"),
    ],
)
def test_a_resize_that_qops_lacks_is_named(load, how, text):
    with pytest.raises(ValueError, match=text):
        load(one("Resize", [X, [], F32([1, 1, 2, 2])], **how)[0])


def test_an_old_softmax_is_that_of_all_axes_from_one_on(load):
    flat = load(one("Softmax", [M.reshape(3, 20)])[0])
    (want,) = flat.run(M.reshape(3, 20)).values()
    for how in ({}, {"axis": 1}, {"axis": -2}):
        (got,) = load(one("Softmax", [M], opset=12, **how)[0]).run(M).values()
        np.testing.assert_array_equal(got, want.reshape(M.shape), strict=True)


def test_each_group_of_a_transposed_convolution_is_one_alone(load):
    w, how = of(4, 3, 3, 2), {"strides": [2, 1]}
    (got,) = load(one("ConvTranspose", [X, w], group=2, **how)[0]).run(X).values()
    halves = [(X[:, part], w[part]) for part in (slice(2), slice(2, 4))]
    each = [load(one("ConvTranspose", [*half], **how)[0]).run(half[0]) for half in halves]
    np.testing.assert_array_equal(got, np.concatenate([y for made in each for y in made.values()], 1), strict=True)
