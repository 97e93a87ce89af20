"""`debug` names layer and cause of faults that are planted in a device, and calls no other fault one of these."""

import numpy as np
import planted
import pytest
import small_network
import tflite_models

import qops
from qops import rules
from qops.models import Operator, Tensor, tflite_bytes

PLACES = ("conv", "pointwise", "dense")
"""A layer at the beginning, in the middle and at the end of the network."""
WORDS = (
    "rounded by another rule",
    "NCHW",
    "wrong zero point",
    "bias that overflows",
    "scales of channels shifted",
    "sums kept in",
    "activation left out",
    "another name",
    "wrong scale",
)
"""What the causes are called that are known by name."""


@pytest.fixture(scope="module", params=["int8", "int16"])
def network(request, tmp_path_factory):
    """A graph, and images."""
    return small_network.file(tmp_path_factory.mktemp("network") / "small.tflite", request.param, images=8)


def hunt(graph, x, faults, **changes):
    dump = planted.device(graph, x, faults)
    return qops.debug(graph, device={**dump, **{name: change(dump[name]) for name, change in changes.items()}})


def first(graph, x, faults, output):
    """The answer, which must be of this output; the layers before it give every code."""
    found = hunt(graph, x, faults)
    assert found.first is not None
    assert found.first.output == output
    assert found.first.layer == next(op.name for op in graph.ops if op.outputs[0] == output)
    before = [row for row in found.layers if row.output != output]
    assert all(row.differ == 0 for row in before), "each layer alone is fed what the device fed it"
    row = next(row for row in found.layers if row.output == output)
    assert row.differ == np.count_nonzero(found.case.got != found.case.wanted) > 0
    return found.first


def test_a_device_without_faults_differs_nowhere(network):
    graph, x = network
    found = hunt(graph, x, {})
    assert found.first is None
    assert not found.differs
    assert [row.differ for row in found.layers] == [0] * len(graph.ops)
    assert str(found).endswith("no layer differs: the device gives every integer of the model")


@pytest.mark.parametrize("place", PLACES)
def test_another_rule(network, place):
    graph, x = network
    other = "fp32-even" if x.dtype == np.int8 and place != "dense" else "shift-floor"
    found = first(graph, x, {place: planted.by_rule(other)}, place)
    assert found.cause.startswith("rounded by another rule: ")
    assert other in found.rules


@pytest.mark.parametrize("place", PLACES)
def test_wrong_zero_point_of_the_result(network, place):
    graph, x = network
    found = first(graph, x, {place: planted.with_numbers(zero_point=lambda zero: zero + 3)}, place)
    zero = int(graph.tensors[place].zero_point)
    assert "a wrong zero point of the result" in found.cause
    assert f"{zero + 3} instead of {zero}" in found.cause
    assert len(found.rules) == len(set(found.rules)) > 0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("by", [-1, 5, 37])
def test_wrong_zero_point_of_the_input(network, place, by):
    graph, x = network
    found = first(graph, x, {place: planted.input_zero_point(by)}, place)
    op = next(op for op in graph.ops if op.outputs[0] == place)
    zero = op.layer.x_zero_point
    assert found.cause == f"a wrong zero point of the input: {zero + by} instead of {zero}"
    assert op.rule in found.rules


@pytest.mark.parametrize("place", PLACES)
def test_bias_that_overflows(network, place):
    graph, x = network
    found = first(graph, x, {place: planted.narrow_bias(16)}, place)
    assert found.cause == "a bias that overflows: kept in 16 bits, it wraps"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bits", [10, 12])
def test_narrow_accumulators(network, place, bits):
    """Of any width, if they have the model's own rule. Some biases are too small to overflow."""
    graph, x = network
    op = next(op for op in graph.ops if op.outputs[0] == place)
    if np.abs(op.layer.bias).max() >= 2 ** (bits - 1):
        found = first(graph, x, {place: planted.narrow_bias(bits)}, place)
        assert found.cause == f"a bias that overflows: kept in {bits} bits, it wraps"
        assert op.rule in found.rules
    found = first(graph, x, {place: planted.narrow_sums(bits)}, place)
    assert found.cause == f"sums kept in {bits} bits, which wrap"
    assert op.rule in found.rules


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("by", [1, -1])
def test_scales_shifted_by_one(network, place, by):
    graph, x = network
    found = first(graph, x, {place: planted.with_numbers(w_scale=lambda scale: np.roll(scale, by))}, place)
    which = "before" if by == 1 else "after"
    assert found.cause == f"scales of channels shifted by one: each channel has that of the channel {which}"


@pytest.mark.parametrize("place", ["conv", "depthwise"])
def test_fused_relu_left_out(network, place):
    graph, x = network
    found = first(graph, x, {place: planted.without_activation}, place)
    assert found.cause.startswith("a fused activation left out")


@pytest.mark.parametrize("place", ["conv", "depthwise", "pool"])
def test_dump_in_nchw(network, place):
    graph, x = network
    for change in (lambda y: y.transpose(0, 3, 1, 2), lambda y: y.transpose(0, 3, 1, 2).reshape(-1)):
        found = hunt(graph, x, {}, **{place: change})
        assert found.first.output == place
        assert found.first.cause == "the dump is NCHW, the model NHWC"
        assert [row.output for row in found.layers if row.differ] == [place]


@pytest.mark.parametrize("names", [("conv", "pointwise"), ("depthwise", "sum")])
def test_two_dumps_exchanged(network, names):
    graph, x = network
    dump = planted.device(graph, x, {})
    one, two = names
    found = qops.debug(graph, device={**dump, one: dump[two], two: dump[one]})
    assert found.first.output == one
    assert found.first.cause == f"the dump of {one!r} holds {two!r}: a dump under another name"


@pytest.mark.parametrize("place", [*PLACES, "softmax"])
def test_dump_under_a_name_that_no_tensor_has(network, place):
    graph, x = network
    dump = planted.device(graph, x, {})
    dump["layer 7"] = dump.pop(place)
    found = qops.debug(graph, device=dump)
    assert found.first.output == place
    assert found.first.cause == "the dump has it under another name, 'layer 7'"
    assert found.differs


@pytest.mark.parametrize("place", ["sum", "pool", "softmax"])
def test_wrong_zero_point_of_other_ops(network, place):
    graph, x = network
    if place == "sum":
        x = np.concatenate([x, x[:, ::-1]])
    found = first(graph, x, {place: planted.moved(2)}, place)
    zero = int(graph.tensors[place].zero_point)
    assert found.cause.startswith("a wrong zero point of the result")
    assert f"{zero + 2} instead of {zero}" in found.cause


def test_another_runtime(tmp_path):
    """A golden case of LOGISTIC, whose codes are those of TFLite Micro."""
    cases, arrays = tflite_models.cases("LOGISTIC")
    case = next(case for case in cases if "outputs_tflm" in case and "ref" in case["systems"])
    content, inputs = tflite_models.model(case, arrays)
    (tmp_path / "one.tflite").write_bytes(content)
    found = qops.debug(tmp_path / "one.tflite", device={**inputs, "y": tflite_models.wanted(case, arrays, "tflm")})
    assert found.column.words.startswith("these are the integers of TensorFlow Lite Micro: runtime 'tflm' gives")
    assert (
        qops.debug(
            tmp_path / "one.tflite", device={**inputs, "y": tflite_models.wanted(case, arrays, "tflm")}, runtime="tflm"
        ).first
        is None
    )


@pytest.mark.long
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("how", ["wrap", "saturate"])
def test_sums_kept_in_32_bits_where_48_were_meant(tmp_path, place, how):
    """Layers of 1,400 products of 16 by 8 bits, at the beginning, in the middle and at the end."""
    graph, x = small_network.wide(tmp_path / "wide.tflite")
    name = graph.ops[place].outputs[0]

    def narrow(op, inputs, made):
        sums = op.layer.sums(inputs[0], op.layer.bias)
        cut = planted.wrapped(sums, 32) if how == "wrap" else np.clip(sums, -(2**31), 2**31 - 1)
        return planted.rounded(op, made, cut)

    found = first(graph, x, {name: narrow}, name)
    assert f"sums kept in 32 bits, which {how}" in found.cause
    assert graph.ops[place].rule in found.rules


@pytest.mark.long
@pytest.mark.parametrize("factor", [1 / 1.01, 0.93, 2.2])
@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_scale_is_fitted(network, place, factor):
    graph, x = network
    found = first(graph, x, {place: planted.with_numbers(out_scale=lambda scale: scale / factor)}, place)
    words = found.cause.partition(" times that of the model, as fitted")[0]
    assert words.startswith("a wrong scale: ")
    assert float(words.rpartition(" ")[2]) == pytest.approx(factor, rel=0.02)
    assert next(op.rule for op in graph.ops if op.outputs[0] == place) in found.rules


@pytest.mark.long
def test_of_two_faults_the_first_is_named(network):
    graph, x = network
    faults = {"pointwise": planted.input_zero_point(3), "dense": planted.by_rule("shift-floor")}
    found = hunt(graph, x, faults)
    assert found.first.output == "pointwise"
    assert found.first.cause.startswith("a wrong zero point of the input")
    assert [row.output for row in found.layers if row.differ] == ["pointwise", "dense"]
    mended = hunt(graph, x, {"dense": faults["dense"]})
    assert mended.first.output == "dense"
    assert mended.first.cause.startswith("rounded by another rule")


# --- faults that are none of these -----------------------------------------------------------------------------------


def noise(by):
    """One in a hundred codes is wrong, two at least: up to `by` away, or any code."""

    def fault(op, inputs, made):
        draw = np.random.default_rng(2)
        info, count = np.iinfo(made.dtype), max(2, made.size // 100)
        codes = made.reshape(-1).astype(np.int64)
        at = draw.choice(made.size, count, replace=False)
        step = draw.integers(1, by + 1, count) * draw.choice([-1, 1], count)
        codes[at] = np.clip(codes[at] + step, info.min, info.max)
        return codes.astype(made.dtype).reshape(made.shape)

    return fault


def shuffled_weights(op, inputs, made):
    """The weights of a layer in an order that has no form."""
    w = op.layer.weights
    other = np.random.default_rng(4).permutation(w.reshape(-1)).reshape(w.shape)
    return planted.rounded(op, made, op.layer.sums(inputs[0], op.layer.bias, other))


UNKNOWN = {
    "noise of 1": noise(1),
    "noise": noise(100),
    "shuffled weights": shuffled_weights,
    "rows exchanged": lambda op, inputs, made: np.ascontiguousarray(made[::-1]),
}


@pytest.mark.parametrize("fault", UNKNOWN)
@pytest.mark.parametrize("place", PLACES)
def test_other_faults_are_not_called_one_of_these(network, place, fault):
    graph, x = network
    found = first(graph, x, {place: UNKNOWN[fault]}, place)
    assert not [words for words in WORDS if words in found.cause], found.cause
    assert found.cause.startswith("no ")
    assert found.rules == []


def test_a_rounding_is_named_where_the_end_of_an_activation_is_a_tie(tmp_path):
    """XNNPACK rounds the end of RELU6 with the zero point: half_even(20.5 - 100) = -80, where TFLite has -79."""
    y_scale, zero, shape = np.float32(12 / 41), -100, (1, 16, 16, 1)
    one = {"scale": np.float32(1), "zero_point": np.asarray(0)}
    x, y = Tensor("x", shape, "int8", **one), Tensor("y", shape, "int8", y_scale, np.asarray(zero))
    w = Tensor("w", (1, 1, 1, 1), "int8", **one, data=np.ones((1, 1, 1, 1), np.int8))
    bias = Tensor("bias", (1,), "int32", **one, data=np.zeros(1, np.int32))
    options = {"StrideH": 1, "StrideW": 1, "Padding": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    operator = Operator("CONV_2D", [x, w, bias], [y], {**options, "FusedActivationFunction": 3}, [])
    file = tmp_path / "one.tflite"
    file.write_bytes(tflite_bytes([x, w, bias, y], [operator], [x], [y]))
    codes = np.arange(-128, 128).astype(np.int8).reshape(shape)
    how = {"scale": float(np.float32(1) / y_scale), "zero_point": zero, "qmin": zero, "qmax": -80}
    got = rules.requantize(codes.astype(np.int32), "shift-floor", **how)
    found = qops.debug(file, device={"x": codes, "y": got}, runtime="xnnpack")
    assert "shift-floor" in found.first.rules
    assert "clamped" not in found.first.cause
