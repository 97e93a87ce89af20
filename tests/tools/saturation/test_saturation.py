"""`qops.saturation` against exact arithmetic: every "safe" on all inputs, every "unsafe" by a witness that is run."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from extra_outputs import with_outputs

import qops
from qops import isa, onnx, rules, tflite
from qops.isa import MACHINES, Machine

GOLDEN = Path(__file__).parents[2] / "golden/rules_avx2"
NARROW = [
    Machine("two", "s8", "s8", 2, 6, "saturates"),
    Machine("wraps", "s8", "s8", 2, 6, "wraps"),
    Machine("apart", "s8", "s8", 2, 6, "wraps", distance=2),
    Machine("all", "s8", "s8", 0, 6, "wraps", acc_bits=6),
    Machine("running", "s8", "s8", 2, 6, "saturates", acc_bits=6),
    Machine("signs", "s8", "s8", 2, 6, "saturates", magnitudes=True),
]
"""Lanes so narrow that all inputs can be tried."""


def draw(seed=0):
    return np.random.default_rng(seed)


def run_alone(witness, machine):
    """What the machine makes of a witness, and the exact sum."""
    exact = sum(int(a) * int(b) for a, b in zip(witness.x, witness.w, strict=True))
    return int(machine.dot(witness.x, witness.w)), exact


def wrong_inputs(row, machine, ends):
    """All inputs of a row of weights that a machine does not add exactly."""
    inputs = np.array(list(product(range(ends[0], ends[1] + 1), repeat=len(row))), np.int8)
    return np.count_nonzero(machine.dot(inputs, row) != inputs.astype(int) @ row.astype(int))


@pytest.mark.parametrize("machine", NARROW, ids=lambda machine: machine.name)
@pytest.mark.parametrize("ends", [(0, 3), (-3, 2), (1, 4), (-4, -2)])
def test_safe_if_and_only_if_no_input_is_wrong(machine, ends):
    """Of all inputs, for weights about as large as the lanes hold."""
    random, kinds = draw(ends[0] + 9), set()
    for bound in (3, 6, 12):
        w = random.integers(-bound, bound + 1, (12, 5)).astype(np.int8)
        for row in w:
            found = qops.saturation(row[None], machine=machine, runtime="plain", ends=ends).layers[0]
            wrong = wrong_inputs(row, machine, ends)
            assert (found.unsafe_groups > 0) == (wrong > 0), (row, found)
            kinds.add(wrong > 0)
            if wrong:
                there, exact = run_alone(found.witness, machine)
                assert (there, exact) == (found.witness.there, found.witness.exact)
                assert there != exact
                assert ends[0] <= found.witness.x.min() or not found.witness.x.min()
            else:
                assert found.witness is None
    assert kinds == {False, True}


def test_the_largest_loss_is_what_the_worst_input_loses():
    """Of all inputs, in lanes that saturate."""
    machine, ends = NARROW[0], (-3, 2)
    inputs = np.array(list(product(range(-3, 3), repeat=4)), np.int8)
    for row in draw().integers(-12, 13, (20, 4)).astype(np.int8):
        found = qops.saturation(row[None], machine=machine, ends=ends).layers[0]
        lost = np.abs(inputs.astype(int) @ row.astype(int) - machine.dot(inputs, row))
        assert found.loss.tolist() == [lost.max()]


@pytest.mark.parametrize("name", MACHINES)
def test_witnesses_of_real_machines(name):
    """The worst weights of each machine: where it is not exact, the witness is not."""
    machine = MACHINES[name]
    w = np.full((2, 24), -128 if name in ("psign", "neon") else 127, np.int8)
    if machine.right == "u8":
        w = np.full((2, 24), 255, np.uint8)
    found = qops.saturation(w, machine=name).layers[0]
    assert (found.witness is not None) == (name in ("avx2", "psign", "neon"))
    if found.witness is not None:
        there, exact = run_alone(found.witness, machine)
        assert there != exact


def test_a_sign_that_is_lost():
    """|a| * sign(b, a) is wrong for negative data beside -128, though the lane holds it."""
    found = qops.saturation(np.int8([[3, -128, 5]]), machine="psign", ends=(-4, 4)).layers[0]
    assert found.unsafe.tolist() == [[True, False]]
    assert (found.witness.exact, found.witness.there) == (512, -512)


def test_pairs_of_weights_agree_with_onednn():
    """For matrices of one k block."""
    w = draw().integers(-128, 128, (9, 31)).astype(np.int8)
    for top in (255, 200, 127):
        found = qops.saturation(w, ends=(0, top)).layers[0]
        np.testing.assert_array_equal(found.unsafe, qops.onednn.unsafe_pairs(w, top))


def test_order_of_convolutions():
    """Pairs cross taps where channels are odd, for onnxruntime; OpenVINO begins anew at each."""
    w = np.zeros((1, 1, 1, 4), np.int8)
    w[0, 0, 0, :2] = 100
    assert qops.saturation(w).layers[0].unsafe.tolist() == [[True, False]]
    found = qops.saturation(w, runtime="openvino")
    assert found.safe
    assert found.layers[0].unsafe.shape == (1, 4)
    w = np.zeros((1, 3, 1, 2), np.int8)
    w[0, 2, 0, 0] = w[0, 0, 0, 1] = 100  # places 2 and 3 along (taps, channels)
    assert qops.saturation(w).layers[0].unsafe.tolist() == [[False, True, False]]


@pytest.mark.parametrize("k", [1, 2, 7, 64])
def test_data_against_the_machine(k):
    """Counted and lost sums of a matrix are those of dot products, row by row."""
    random = draw(k)
    x, w = random.integers(0, 256, (11, k)).astype(np.uint8), random.integers(-128, 128, (6, k)).astype(np.int8)
    x[::3], w[::2] = 255, 127
    for name in ("avx2", "vnni", "amx"):
        seen = qops.saturation(w, x, machine=name).layers[0].seen
        there = MACHINES[name].dot(x[:, None], w[None])
        exact = x.astype(int) @ w.T.astype(int)
        assert seen.wrong == np.count_nonzero(there != exact)
        assert seen.largest == np.abs(there - exact).max()
        assert seen.mean == np.abs(there - exact).mean()
        assert (seen.lowest, seen.highest) == (exact.min(), exact.max())


@pytest.mark.parametrize("machine", [NARROW[1], NARROW[4], NARROW[5]], ids=lambda machine: machine.name)
def test_data_on_lanes_that_wrap_run_on_or_lose_signs(machine):
    random = draw()
    x, w = (random.integers(-128, 128, (7, 12)).astype(np.int8) for _ in range(2))
    w[:, 3] = -128
    seen = qops.saturation(w, x, machine=machine).layers[0].seen
    there, exact = machine.dot(x[:, None], w[None]), x.astype(int) @ w.T.astype(int)
    lost = np.abs(there - exact)
    assert seen.wrong == np.count_nonzero(lost)
    assert seen.largest == lost.max()


def convolution(channels, outputs, group=1, w_dtype=np.int8, **more):
    random = draw(channels)
    ends = np.iinfo(w_dtype)
    w = random.integers(ends.min, ends.max + 1, (outputs, channels // group, 3, 3)).astype(w_dtype)
    return onnx.QLinearConv(
        *(0.02, np.uint8(7), w, np.float32(0.01), w_dtype(0), 0.5, np.uint8(128), np.arange(outputs, dtype=np.int32)),
        group=group,
        **more,
    )


@pytest.mark.parametrize(
    ("channels", "outputs", "more"),
    [
        (3, 4, {"pads": [1, 0, 2, 1]}),
        (4, 6, {"group": 2, "strides": [2, 1]}),
        (3, 2, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        (2, 3, {"dilations": [2, 1], "pads": [1, 1, 1, 1]}),
    ],
)
def test_convolutions_from_data(channels, outputs, more):
    """Windows of codes, padding with the zero point included, laid as (kh, kw, c), by a loop."""
    op = convolution(channels, outputs, **more)
    x = draw().integers(0, 256, (2, channels, 6, 7)).astype(np.uint8)
    x[0] = 255
    seen = qops.saturation(op, x).layers[0].seen
    pads, (sh, sw), (dh, dw) = more.get("pads", [0] * 4), more.get("strides", (1, 1)), more.get("dilations", (1, 1))
    if "auto_pad" in more:
        pads = [0, 1, 1, 1]
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=7)
    group, lost = more.get("group", 1), []
    for n, o in product(range(2), range(outputs)):
        g = o // (outputs // group)
        each = channels // group
        part, filters = padded[n, g * each : (g + 1) * each], op.w[o]
        for i in range(0, part.shape[1] - 2 * dh, sh):
            for j in range(0, part.shape[2] - 2 * dw, sw):
                window = part[:, i : i + 2 * dh + 1 : dh, j : j + 2 * dw + 1 : dw].transpose(1, 2, 0).ravel()
                row = filters.transpose(1, 2, 0).ravel()
                lost.append(int(window.astype(int) @ row.astype(int)) - int(MACHINES["avx2"].dot(window, row)))
    assert (seen.sums, seen.wrong) == (len(lost), np.count_nonzero(lost))
    assert seen.largest == max(map(abs, lost))
    assert seen.wrong


def test_onnxruntime_knows_exact_kernels():
    """u8 by u8 and depthwise are exact there; ConvInteger swaps the roles for int8 images."""
    assert not qops.saturation(convolution(4, 4)).safe
    assert qops.saturation(convolution(4, 4, w_dtype=np.uint8)).safe
    assert qops.saturation(convolution(4, 4, group=4)).safe
    assert not qops.saturation(convolution(4, 8, group=4)).safe
    ints = onnx.ConvInteger(np.full((2, 3, 3, 3), 255, np.uint8))
    assert qops.saturation(ints).safe
    found = qops.saturation(ints, np.full((1, 3, 4, 4), 127, np.int8))
    assert found.layers[0].seen.wrong == 8
    assert found.layers[0].witness.there != found.layers[0].witness.exact


@pytest.mark.parametrize("bits", [8, 16])
def test_accumulators(bits):
    """The bits that sums need are exact: one sum meets them."""
    dtype = np.dtype(f"int{bits}")
    w = np.full((1, 300), 127, np.int8)
    bias = np.array([2**31 - 1 - 300 * 127 * 255], np.int64 if bits == 16 else np.int32)
    numbers = {"x_scale": 1.0, "x_zero_point": 0 if bits == 16 else -128, "w_scale": 1.0, "y_scale": 1.0}
    op = tflite.FullyConnected(w, bias, **numbers, y_zero_point=0, dtype=dtype)
    acc = qops.saturation(op).layers[0].accumulator
    if bits == 8:
        assert (acc.highest, acc.bits, acc.channels.tolist()) == (2**31 - 1, 32, [])
        more = tflite.FullyConnected(w, bias + 1, **numbers, y_zero_point=0, dtype=dtype)
        found = qops.saturation(more)
        assert (found.layers[0].min_bits, found.layers[0].accumulator.channels.tolist()) == (33, [0])
        assert not found.safe
    else:
        assert (acc.highest, acc.lowest) == (32767 * 127 * 300 + bias[0], bias[0] - 32768 * 127 * 300)
        assert (acc.bits, acc.has, acc.channels.size) == (33, 64, 0)
        assert qops.saturation(op, machine="s48_16x8").layers[0].accumulator.has == 48
        assert not qops.saturation(op, machine="s32_16x8").safe


def test_layers_of_the_front_door():
    w = qops.quantize(np.float32([[1, -1], [1, 1], [0.2, 1]]), axis=1, dtype="int8", symmetric=True)
    found = qops.saturation(qops.MatMul(w), np.uint8([[255, 255, 3]]))
    assert found.layers[0].channels.tolist() == [0]
    assert found.layers[0].seen.wrong == 1
    filters = (np.full((3, 3, 2, 4), 127, np.int8), -1.0, 1.0)
    image = np.full((1, 5, 5, 2), 255, np.uint8)
    for padding, rows in (("same", 25), (((1, 0), (0, 2)), 4 * 5)):
        seen = qops.saturation(qops.Conv2D(filters, padding=padding), image).layers[0].seen
        assert seen.sums == rows * 4


LAYERS = [
    {"shape": (8, 3, 3, 3), "pads": (1, 1, 1, 1)},
    {"shape": (8, 5, 3, 2), "strides": (2, 1), "dilations": (1, 2)},
    {"shape": (8, 4, 3, 3), "groups": 2, "pads": (1, 0, 1, 0)},
    {"shape": (8, 2, 3, 3), "groups": 4, "pads": (1, 1, 1, 1)},
    {"shape": (8, 1, 3, 3), "groups": 8, "pads": (1, 1, 1, 1)},
    {"shape": (104, 1, 5, 5), "groups": 104, "pads": (2, 2, 2, 2)},
    {"shape": (16, 1, 3, 3), "groups": 8, "pads": (1, 1, 1, 1), "strides": (2, 2)},
    {"shape": (6, 5, 4)},
]
RULES = [
    *(("fbgemm", "avx2", "fbgemm-avx2"), ("fbgemm", "vnni", "fbgemm-vnni"), ("x86", "vnni", "x86-vnni")),
    *(("onednn", "avx2", "onednn-avx2"), ("onednn", "vnni", "exact"), ("openvino", "avx2", "openvino-avx2")),
    ("openvino_gemm", "avx2", "openvino-gemm-avx2"),
]


@pytest.mark.parametrize(("runtime", "machine", "rule"), RULES)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_libraries_lose_what_their_rule_says(layer, runtime, machine, rule):
    """Sums of a rule of `qops.rules.ACCUMULATE`, padding with another zero point than 0 included."""
    random = draw(len(str(layer)))
    how = {name: value for name, value in layer.items() if name not in ("shape", "groups")}
    shape, groups = layer["shape"], layer.get("groups", 1)
    w = random.integers(-128, 128, shape).astype(np.int8)
    x = random.integers(100, 256, (2, shape[1] * groups, *[7] * (len(shape) - 2))).astype(np.uint8)
    op = onnx.ConvInteger(w, 200, group=groups, **how)
    found = qops.saturation(op, x, machine=machine, runtime=runtime).layers[0]
    numbers = {**how, "groups": groups, "x_zero_point": 200}
    exact, there = (rules.accumulate_conv(x, w, **numbers, rule=name) for name in ("exact", rule))
    assert found.seen.wrong == np.count_nonzero(exact != there)
    assert found.seen.largest == np.abs(exact - there).max()
    assert (found.unsafe_groups > 0) >= (found.seen.wrong > 0)


@pytest.mark.parametrize(("runtime", "machine", "rule"), RULES)
@pytest.mark.parametrize("k", [1, 7, 256, 257, 300, 769])
def test_matrices_lose_what_their_rule_says(k, runtime, machine, rule):
    random = draw(k)
    x, w = random.integers(100, 256, (9, k)).astype(np.uint8), random.integers(-128, 128, (5, k)).astype(np.int8)
    found = qops.saturation(w, x, machine=machine, runtime=runtime).layers[0]
    exact, there = (rules.accumulate(x, w.T.copy(), rule=name) for name in ("exact", rule))
    assert found.seen.wrong == np.count_nonzero(exact != there)
    assert found.seen.largest == np.abs(exact - there).max()


@pytest.mark.parametrize("kernel", ["optimized_neon", "xnnpack_neon"])
@pytest.mark.parametrize("channels", [11, 20])
def test_tflite_on_arm_without_dot_products(kernel, channels):
    """Pairs of lowest codes wrap in 16 bits, in the order of these kernels: the results are those of the op there."""
    random = draw(channels)
    w = np.where(random.random((4, 3, 3, channels)) < 0.5, -128, 100).astype(np.int8)
    x = np.where(random.random((1, 6, 6, channels)) < 0.5, -128, 100).astype(np.int8)
    numbers = {"x_scale": 1.0, "x_zero_point": -128, "w_scale": 1.0, "y_scale": 16384.0, "y_zero_point": 0}
    ops = {
        name: tflite.Conv2D(w, np.zeros(4, np.int32), **numbers, kernel=name, padding="SAME")
        for name in (kernel, kernel.replace("neon", "arm"))
    }
    there, exact = (op(x) for op in ops.values())
    found = qops.saturation(ops[kernel], x, runtime=kernel)
    narrow = tflite.Conv2D(w[..., :3], np.zeros(4, np.int32), **numbers, kernel=kernel)
    assert qops.saturation(narrow, runtime=kernel).safe == (kernel == "xnnpack_neon")  # no lane has two of one tap
    assert found.machine == "neon"
    assert not found.safe
    assert found.layers[0].seen.wrong >= np.count_nonzero(there != exact) > 0
    tame = tflite.Conv2D(np.maximum(w, -127), np.zeros(4, np.int32), **numbers, padding="SAME")
    assert qops.saturation(tame, runtime=kernel).safe


@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (0, 0, 0, 0)])
def test_padding_takes_part(pads):
    """With data of 7 bits and a zero point of 255, only codes of padding saturate."""
    w = np.zeros((1, 2, 3, 3), np.int8)
    w[0, :, 0, 0] = 127
    op = onnx.ConvInteger(w, 255, pads=pads)
    found = qops.saturation(op, runtime="plain", ends=(0, 127))
    assert found.safe == (not any(pads))
    if any(pads):
        layer = found.layers[0]
        assert layer.witness.x[:2].tolist() == [255, 255]
        assert layer.witness.there != layer.witness.exact


def test_taps_that_never_see_the_image():
    """They read padding alone, so what looks unsafe is safe."""
    from qops.models.lanes.route import route
    from qops.models.lanes.sums import of_prepared
    from qops.models.lanes.worst import worst

    w = np.zeros((1, 2, 3, 3), np.int8)
    w[0, :, 0, 1] = 127  # the row above
    sums = of_prepared(onnx.ConvInteger(w, 0, pads=(1, 1, 1, 1)), "u8")
    for image, is_unsafe in ((None, True), ((1, 9), False), ((2, 9), True)):
        own = replace(sums, image=image)
        assert worst(own, route(own, MACHINES["avx2"], "plain")).unsafe.any() == is_unsafe


def test_columns_by_their_names():
    path = GOLDEN / "ort_avx2_models/cnn_qdq_channel_u8s8.onnx"
    found = qops.saturation(path, runtime="ort_avx2")
    assert (found.machine, found.runtime, found.safe) == ("avx2", "ort", False)
    graph = qops.models.load(path, runtime="ort_avx2")
    assert [words.split(" ")[0] for words in graph.hazards] == [layer.name for layer in found.layers]
    assert "24 of 112 pairs of products can saturate in 16 bits" in graph.hazards[0]
    assert "hazards" in repr(graph)
    assert [x.unsafe_groups for x in qops.saturation(graph).layers] == [x.unsafe_groups for x in found.layers]
    safe = qops.models.load(path, runtime="ort")
    assert safe.hazards == ()
    assert "hazards" not in repr(safe)
    assert qops.saturation(path, runtime="ort_arm").safe
    neon = qops.saturation(path, runtime="ort_neon")
    assert (neon.machine, neon.runtime) == ("neon", "ort")


def test_tflite_is_exact_on_its_own_kernels_and_not_on_lanes():
    w = np.full((4, 3, 3, 2), 127, np.int8)
    op = tflite.Conv2D(
        w, np.zeros(4, np.int32), x_scale=1.0, x_zero_point=0, w_scale=1.0, y_scale=1.0, y_zero_point=0, padding="SAME"
    )
    assert qops.saturation(op).safe
    found = qops.saturation(op, np.full((1, 4, 4, 2), 127, np.int8), machine="avx2")
    assert not found.safe
    assert found.layers[0].seen.wrong == 64
    depthwise = tflite.DepthwiseConv2D(
        *(np.full((1, 3, 3, 4), 127, np.int8), np.zeros(4, np.int32)),
        **{"depth_multiplier": 2, "x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0},
    )
    assert qops.saturation(depthwise, machine="neon", runtime="plain").layers[0].groups == 4 * 8


CASES = json.loads((GOLDEN / "ort_avx2_models.json").read_text())


@pytest.fixture(scope="module")
def arrays():
    with np.load(GOLDEN / "ort_avx2_models.npz") as file:
        return dict(file)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_models_of_onnxruntime(case, arrays, tmp_path):
    """Every tensor of a network on a CPU without VNNI, bit for bit, as onnxruntime computed it there."""
    given = {name: arrays[key] for name, key in case["inputs"].items()}
    path = GOLDEN / case["attrs"]["model"]
    names = [name for name in case["outputs"] if not name.endswith("_vnni")]
    if not case["attrs"]["same_without_extra_outputs"]:
        path = with_outputs(path, names, tmp_path)
    graph = qops.models.load(path, runtime="ort")
    own = [name for name in names if name in graph.tensors]
    assert set(graph.outputs) <= set(own)
    found = qops.saturation(replace(graph, outputs=tuple(own)), given)
    for name in own:
        want = arrays[case["outputs"][name]]
        assert found.outputs[name].dtype == want.dtype
        np.testing.assert_array_equal(found.outputs[name], want, err_msg=name)
    differs = [name for name in own if f"{name}_vnni" in case["outputs"]]
    assert [name for name in own if found.errors[name] > 0] == differs
    assert not (found.safe and differs)
    for layer in found.layers:
        if layer.witness is not None:
            there, exact = run_alone(layer.witness, MACHINES["avx2"])
            assert (there, exact) == (layer.witness.there, layer.witness.exact)
            assert there != exact
        assert layer.safe or layer.witness is not None
        assert layer.seen.wrong == 0 or not layer.safe
        assert (layer.seen.code > 0) == (layer.seen.codes > 0) == (layer.seen.mean_code > 0)
        assert layer.seen.mean_code <= layer.seen.code


def test_a_million_weights_take_less_than_a_second():
    w = draw().integers(-128, 128, (1000, 1000)).astype(np.int8)
    took = []
    for _ in range(3):
        start = perf_counter()
        qops.saturation(w)
        took.append(perf_counter() - start)
    assert min(took) < 1


def test_printed_report_is_short():
    """At most 30 lines of 100 columns, for any number of layers."""
    graph = qops.models.load(GOLDEN / CASES[6]["attrs"]["model"], runtime="ort")
    found = qops.saturation(graph)
    text = str(replace(found, layers=found.layers * 20, unread=("x" * 200,) * 9))
    assert len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines())) <= 100
    assert "and 60 layers with less" in text
    told = json.loads(json.dumps(found.as_dict()))
    assert [layer["name"] for layer in told["layers"]] == [layer.name for layer in found.layers]
    assert told["safe"] is False
    assert found["c1"].name in found.page()
    assert "<table>" in found._repr_html_()
    heights = [bar.get_height() for bar in found.plot().patches]
    assert heights == [layer.unsafe_groups / layer.groups for layer in found.layers]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"what": 3}, TypeError, "what: expected a model"),
        ({"what": np.zeros((2, 2), np.float32)}, TypeError, "what: expected weights of int8 or uint8, got float32"),
        ({"what": np.int8([1])}, ValueError, r"what: .* got \(1,\)"),
        ({"what": np.int8([[1, 2]]), "machine": "avx9"}, ValueError, "machine: .*avx9"),
        ({"what": np.int8([[1, 2]]), "runtime": "tvm"}, ValueError, "runtime: .*tvm"),
        (
            {"what": np.int8([[1, 2]]), "runtime": "ort", "machine": "hvx"},
            ValueError,
            "machine: 'ort' is known on avx2",
        ),
        (
            {"what": np.int8([[1, 2]]), "runtime": "ort_avx2", "machine": "vnni"},
            ValueError,
            "machine: 'ort_avx2' runs on 'avx2', got 'vnni'",
        ),
        (
            {"what": np.int8([[1, 2]]), "runtime": "tflite", "machine": "neon"},
            ValueError,
            "machine: on 'neon' give the runtime 'optimized_neon' or 'xnnpack_neon'",
        ),
        (
            {"what": np.uint8([[1, 2]]), "runtime": "onednn"},
            ValueError,
            "runtime: onednn-avx2 multiplies weights of int8, and these are u8",
        ),
        ({"what": np.int8([[1, 2]]), "ends": (0, 256)}, ValueError, "ends"),
        ({"what": np.int8([[1, 2]]), "ends": (5, 2)}, ValueError, "ends: 5 > 2"),
        ({"what": np.int8([[1, 2]]), "ends": 5}, TypeError, "ends: expected two codes"),
        ({"what": np.int8([[1, 2]]), "data": np.zeros((1, 3), np.uint8)}, ValueError, "data: expected rows of 2 codes"),
        ({"what": np.int8([[1, 2]]), "data": np.zeros((1, 2))}, TypeError, "data: expected codes of"),
        ({"what": np.int8([[[1, 2]]]), "data": np.zeros((1, 2), np.uint8)}, ValueError, "data: filters alone"),
        ({"what": np.int8([[1, 2]]), "dta": 1}, TypeError, "Did you mean 'data'"),
        ({"what": "none.onnx", "ends": (0, 1)}, ValueError, "ends: a model has its own"),
        ({"what": "none.txt"}, ValueError, "what: expected a .tflite or an .onnx file"),
    ],
)
def test_bad_arguments(given, error, said):
    with pytest.raises(error, match=said):
        qops.saturation(**given)


def test_machine_is_one_of_the_table():
    assert qops.saturation(np.int8([[1]]), machine=isa.MACHINES["avx2"]).machine == "avx2"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 40])
@pytest.mark.parametrize(
    ("stride", "dilation", "before", "after"), [(1, 1, 1, 1), (2, 1, 0, 3), (3, 2, 4, 2), (1, 3, 9, 9)]
)
def test_which_taps_see_the_image(size, stride, dilation, before, after):
    """All kinds of places are found, though only those near the ends of the image are looked at."""
    from qops.models.lanes.sums import of_prepared

    op = onnx.ConvInteger(
        np.ones((1, 1, 3), np.int8), 255, strides=[stride], dilations=[dilation], pads=[before, after]
    )
    if size + before + after < 2 * dilation + 1:
        return
    sums = replace(of_prepared(op, "u8"), image=(size,), x_ends=(0, 3))
    want = set()
    for place in range((size + before + after - 2 * dilation - 1) // stride + 1):
        pixels = [place * stride - before + tap * dilation for tap in range(3)]
        want.add(tuple(0 <= pixel < size for pixel in pixels))
    assert set(map(tuple, sums.inside(255).tolist())) == want


def test_an_image_of_any_size_takes_little_memory():
    from qops.models.lanes.sums import of_prepared

    op = onnx.ConvInteger(np.ones((1, 1, 3, 3), np.int8), 255, pads=[1, 1, 1, 1])
    sums = replace(of_prepared(op, "u8"), image=(2**40, 2**40), x_ends=(0, 3))
    assert len(sums.inside(255)) == 9
