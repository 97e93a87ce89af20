"""Each ONNX operator of real numbers, and each that moves elements, against the reference of the standard."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_networks import Network
from onnx_nodes import NODES, M, X, of, one

from qops.models.onnx.kinds import KINDS

F32, INT = np.float32, np.int64
REAL = {kind for kind, row in KINDS.items() if row.real and not row.is_own and kind != "Cast"}
MOVES = {kind for kind, row in KINDS.items() if row.rule == "moves codes" and kind != "Cast"}


def test_every_operator_is_here():
    assert {kind for kind, *_ in NODES} == REAL | MOVES


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
    (
        {"nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "asymmetric"},
        8,
        [0, 2, 3, 5, 7, 8, 10, 11],
    ),
    ({"nearest_mode": "floor"}, 5, [0, 3, 6, 8, 11]),
]


@pytest.mark.parametrize(("how", "size", "want"), PIXELS)
def test_nearest_pixels_of_onnxruntime(load, how, size, want):
    """Pixels of onnxruntime 1.32.0, for which a place within 1e-6 of the middle of two pixels is the middle."""
    model, _ = one("Resize", [RAMP, [], [], INT([1, 1, 1, size])], mode="nearest", **how)
    (got,) = load(model, "ort").run(RAMP).values()
    assert got.ravel().tolist() == want


SYMMETRIC_NEAR = [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12]
SYMMETRIC = 6 + (np.arange(16) - 7.5) / 1.3


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize(
    ("scale", "mode", "want"),
    [(1.3, "nearest", SYMMETRIC_NEAR), (1.3, "linear", SYMMETRIC), (0.6, "linear", 3 + (np.arange(4) - 1.5) / 0.6)],
)
def test_a_symmetric_resize_keeps_the_middle(load, runtime, scale, mode, want):
    """Pixels of onnxruntime 1.32.0; 13 pixels become 16, 7 become 4."""
    x = RAMP if scale > 1 else RAMP[..., :7]
    how = {"mode": mode, "coordinate_transformation_mode": "half_pixel_symmetric", "opset": 19}
    model, _ = one("Resize", [x, [], F32([1, 1, 1, scale])], **how)
    (got,) = load(model, runtime).run(x).values()
    np.testing.assert_allclose(got.ravel(), want, rtol=0, atol=2e-6)


def test_sizes_are_those_of_each_runtime(load):
    """5 pixels times float32(2.6) are 12.99999976 in the reference, and 13 in float32."""
    x = RAMP[..., :5]
    model, _ = one("Resize", [x, [], F32([1, 1, 1, 2.6])], mode="nearest")
    shapes = [next(iter(load(model, runtime).run(x).values())).shape[-1] for runtime in ("onnx", "ort")]
    assert shapes == [12, 13]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"mode": "area"}, "its mode is area"),
        ({"coordinate_transformation_mode": "half_pixel_of_tf"}, "mode is half_pixel_of_tf"),
        ({"nearest_mode": "middle"}, "its nearest_mode is middle"),
    ],
)
def test_a_resize_that_qops_lacks_is_named(load, how, text):
    with pytest.raises(ValueError, match=text):
        load(one("Resize", [X, [], F32([1, 1, 2, 2])], **how)[0])


def test_a_node_that_lacks_an_input_names_the_file(load):
    net = Network()
    graph = load(net.model(net.node("Sub", net.input([2]), "")))
    with pytest.raises(ValueError, match=r"^network\.onnx: Sub_0 \(Sub\): an input that it needs is left out$"):
        graph.run(F32([1, 2]))


def test_a_node_with_too_many_results_is_refused(load):
    net = Network()
    x = net.input([2])
    made = net.node("Sub", x, x, results=2)
    with pytest.raises(ValueError, match=r"node 0, Sub \(Sub_0\): it has 2 results, where qops gives 1"):
        load(net.model(*made))


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


@pytest.mark.parametrize("end", [np.inf, -np.inf])
def test_the_logarithm_of_sums_at_the_ends(load, end):
    """As onnxruntime: infinity itself, and no NaN."""
    x = F32([[end, end]])
    (y,) = load(one("ReduceLogSumExp", [x])[0]).run(x).values()
    assert y.tolist() == [[end]]
