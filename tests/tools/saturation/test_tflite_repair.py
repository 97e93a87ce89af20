"""Repairs of .tflite files: for kernels with narrow lanes; those of TFLite on x86 have none."""

import numpy as np
import pytest

import qops
from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator
from qops.models.tflite.writer import tflite_bytes


def tensor(name, shape, dtype="int8", scale=None, zero=0, axis=None, data=None):
    scale = None if scale is None else np.float32(scale)
    zeros = None if scale is None else np.full(scale.shape, zero, np.int64)
    return Tensor(name, shape, dtype, scale, zeros, axis, data)


def saved(path, seed=0, lowest=False):
    """A convolution and a depthwise one, with a scale for each channel, and a layer with one scale."""
    random = np.random.default_rng(seed)

    def weights(*shape):
        return np.full(shape, -128, np.int8) if lowest else random.integers(-127, 128, shape).astype(np.int8)

    x = tensor("x", (1, 6, 6, 11), scale=0.02, zero=-128)
    scales = random.uniform(0.005, 0.02, 4).astype(np.float32)
    a = tensor("a", (1, 6, 6, 4), scale=0.9, zero=-128)
    w = tensor("w", (4, 3, 3, 11), scale=scales, axis=0, data=weights(4, 3, 3, 11))
    b = tensor(
        "b", (4,), "int32", scales * np.float32(0.02), axis=0, data=random.integers(-500, 500, 4).astype(np.int32)
    )
    d = tensor("d", (1, 6, 6, 4), scale=2.0, zero=-128)
    dw = tensor("dw", (1, 3, 3, 4), scale=scales, axis=3, data=weights(1, 3, 3, 4))
    db = tensor("db", (4,), "int32", scales * np.float32(0.9), axis=0, data=np.zeros(4, np.int32))
    y = tensor("y", (1, 5), scale=3.0, zero=3)
    fw = tensor("fw", (5, 144), scale=0.01, data=weights(5, 144))
    fb = tensor("fb", (5,), "int32", 0.02, data=random.integers(-900, 900, 5).astype(np.int32))
    window = {"Padding": 0, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}
    ops = [
        Operator("CONV_2D", [x, w, b], [a], {**window, "FusedActivationFunction": 0}, []),
        Operator(
            "DEPTHWISE_CONV_2D", [a, dw, db], [d], {**window, "DepthMultiplier": 1, "FusedActivationFunction": 0}, []
        ),
        Operator("FULLY_CONNECTED", [d, fw, fb], [y], {"FusedActivationFunction": 0}, []),
    ]
    path.write_bytes(tflite_bytes([x, w, b, a, dw, db, d, fw, fb, y], ops, [x], [y]))
    return np.where(random.random((1, 6, 6, 11)) < 0.7, 127, -128).astype(np.int8)


@pytest.mark.parametrize("how", ["widen", "reduce_range"])
def test_wider_scales(how, tmp_path):
    """On lanes that saturate; weights, scales and biases change, and nothing else in the file."""
    x = saved(tmp_path / "net.tflite")
    found = qops.saturation(tmp_path / "net.tflite", x, machine="avx2")
    assert not found.safe
    assert found.layers[0].seen.wrong
    path = found.write(tmp_path / "new.tflite", how)
    new = qops.saturation(path, x, machine="avx2")
    assert new.safe
    assert new.errors == {"y": 0}
    off = np.abs(new.outputs["y"].astype(int) - found.exact["y"])
    assert off.max() < found.errors["y"]
    assert path.stat().st_size == (tmp_path / "net.tflite").stat().st_size
    old, changed = (qops.models.load(one) for one in (tmp_path / "net.tflite", path))
    for name in ("w", "dw", "fw"):
        one, other = old.tensors[name], changed.tensors[name]
        assert (other.scale >= one.scale).all()
        assert (other.scale > one.scale).any()
        apart = np.abs(other.values(other.data) - one.values(one.data)) / np.broadcast_to(
            one.scale
            if one.axis is None
            else one.scale.reshape([-1 if i == one.axis else 1 for i in range(one.data.ndim)]),
            one.data.shape,
        )
        assert apart.max() <= 1.01
    for name in ("b", "fb"):
        one, other = old.tensors[name], changed.tensors[name]
        np.testing.assert_allclose(other.values(other.data), one.values(one.data), atol=float(np.max(other.scale)))


def test_what_a_file_cannot_hold(tmp_path):
    x = saved(tmp_path / "net.tflite")
    found = qops.saturation(tmp_path / "net.tflite", x, machine="avx2")
    for how, why in (
        ("pairs", "a .tflite file holds no other order of channels"),
        ("types", "'types' (leaves|changes)"),
        ("data", "'data' makes int8 of uint8"),
        ("data_7_bits", "'data_7_bits' halves codes of uint8"),
    ):
        with pytest.raises(ValueError, match=f"how: {why}"):
            found.write(tmp_path / "no.tflite", how)
    assert not (tmp_path / "no.tflite").exists()
    tried = found.repairs()
    assert [one.name for one in tried.tried if not one.refused] == [
        *("exact", "as it is", "widen", "widen, seen", "reduce_range", "reduce_range, seen"),
    ]


def test_kernels_of_tflite_have_nothing_to_repair(tmp_path):
    saved(tmp_path / "net.tflite")
    for runtime in (None, "xnnpack", "optimized", "tflm"):
        found = qops.saturation(tmp_path / "net.tflite", runtime=runtime)
        assert found.safe
        with pytest.raises(ValueError, match=r"path: .* nothing to repair: the kernels of TFLite add products in 32"):
            found.write(tmp_path / "no.tflite")


@pytest.mark.parametrize("kernel", ["optimized_neon", "xnnpack_neon"])
def test_arm_without_dot_products(kernel, tmp_path):
    """Weights of -128 wrap there; one step less is enough."""
    saved(tmp_path / "net.tflite", lowest=True)
    graph = qops.models.load(tmp_path / "net.tflite", runtime=kernel)
    assert "can wrap in 16 bits" in graph.hazards[0]
    found = qops.saturation(tmp_path / "net.tflite", runtime=kernel)
    has_pairs_of_taps = kernel == "xnnpack_neon"  # in depthwise layers
    assert [layer.safe for layer in found.layers] == [False, not has_pairs_of_taps, False]
    path = found.write(tmp_path / "new.tflite")
    assert qops.saturation(path, runtime=kernel).safe
    new = qops.models.load(path, runtime=kernel)
    assert new.hazards == ()
    assert new.tensors["w"].data.min() == -127
    assert new.tensors["dw"].data.min() == (-127 if has_pairs_of_taps else -128)


@pytest.mark.parametrize("kernel", ["optimized_neon", "xnnpack_neon"])
def test_groups_with_the_lowest_code(kernel, tmp_path):
    """XNNPACK's kernels of groups are as its others, LiteRT's own are exact; with data too."""
    x = tensor("x", (1, 5, 5, 18), scale=0.02, zero=-128)
    a, y = tensor("a", (1, 3, 3, 4), scale=0.5, zero=0), tensor("y", (1, 5), scale=3.0, zero=3)
    w = tensor("w", (4, 3, 3, 9), scale=0.01, data=np.full((4, 3, 3, 9), -128, np.int8))
    b = tensor("b", (4,), "int32", 0.0002, data=np.zeros(4, np.int32))
    fw = tensor("fw", (5, 36), scale=0.01, data=np.full((5, 36), -128, np.int8))
    fb = tensor("fb", (5,), "int32", 0.005, data=np.zeros(5, np.int32))
    window = {"Padding": 1, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1}
    ops = [
        Operator("CONV_2D", [x, w, b], [a], {**window, "FusedActivationFunction": 0}, []),
        Operator("FULLY_CONNECTED", [a, fw, fb], [y], {"FusedActivationFunction": 0}, []),
    ]
    path = tmp_path / "groups.tflite"
    path.write_bytes(tflite_bytes([x, w, b, a, fw, fb, y], ops, [x], [y]))
    for data in (None, np.full((1, 5, 5, 18), -128, np.int8)):
        found = qops.saturation(path, data, runtime=kernel)
        assert [(layer.kind, layer.safe) for layer in found.layers] == [
            ("CONV_2D", kernel == "optimized_neon"),
            ("FULLY_CONNECTED", False),
        ]
        assert not found.unread
    graph = qops.models.load(path, runtime=kernel)
    assert np.array_equal(found.outputs["y"], graph.run(data)["y"])
    assert found.layers[0].seen.wrong == (36 if kernel == "xnnpack_neon" else 0)


@pytest.mark.parametrize("kernel", ["xnnpack_arm", "xnnpack_neon"])
def test_depthwise_layers_of_xnnpack_on_arm(kernel, tmp_path):
    """Two taps down a column share 16 bits: the audit counts what the layer loses, and weights of -127 lose nothing."""
    x, y = tensor("x", (1, 4, 4, 3), scale=0.02, zero=-128), tensor("y", (1, 2, 2, 3), scale=20.0, zero=0)
    w = tensor("w", (1, 3, 3, 3), scale=0.01, data=np.full((1, 3, 3, 3), -128, np.int8))
    b = tensor("b", (3,), "int32", 0.0002, data=np.zeros(3, np.int32))
    how = {"Padding": 1, "StrideW": 1, "StrideH": 1, "DilationWFactor": 1, "DilationHFactor": 1, "DepthMultiplier": 1}
    ops = [Operator("DEPTHWISE_CONV_2D", [x, w, b], [y], {**how, "FusedActivationFunction": 0}, [])]
    path = tmp_path / "depthwise.tflite"
    path.write_bytes(tflite_bytes([x, w, b, y], ops, [x], [y]))
    data = np.full((1, 4, 4, 3), -128, np.int8)
    graph = qops.models.load(path, runtime=kernel)
    assert "12 of 15 pairs of products can wrap in 16 bits" in graph.hazards[0]
    for what in (path, graph):
        found = qops.saturation(what, data, runtime=kernel)
        assert found.layers[0].seen.largest == 4 * 65536
        assert np.array_equal(found.outputs["y"], graph.run(data)["y"])
        assert np.array_equal(found.exact["y"], qops.models.load(path, runtime="xnnpack_avx2").run(data)["y"])
        assert found.errors["y"] > 0
    new = qops.saturation(path, data, runtime=kernel).write(tmp_path / "new.tflite")
    assert qops.saturation(new, runtime=kernel).safe
    assert qops.models.load(new, runtime=kernel).hazards == ()
    assert not qops.models.load(path, runtime="xnnpack").hazards


@pytest.mark.parametrize("kernel", ["optimized_neon", "xnnpack_neon", "xnnpack_arm"])
def test_transposed_convolutions_on_arm(kernel, tmp_path):
    """The audit does not read their sums, and says so; the results of a run have what is lost."""
    x, y = tensor("x", (1, 1, 1, 16), scale=1.0, zero=-128), tensor("y", (1, 1, 3, 1), scale=65536.0)
    w = tensor("w", (1, 1, 3, 16), scale=1.0, data=np.full((1, 1, 3, 16), -128, np.int8))
    b, size = (
        tensor("b", (1,), "int32", 1.0, data=np.int32([0])),
        tensor("s", (4,), "int32", data=np.int32([1, 1, 3, 1])),
    )
    how = {"Padding": 1, "StrideW": 1, "StrideH": 1, "FusedActivationFunction": 0}
    path, data = tmp_path / "transposed.tflite", np.full((1, 1, 1, 16), -128, np.int8)
    path.write_bytes(
        tflite_bytes([size, w, x, b, y], [Operator("TRANSPOSE_CONV", [size, w, x, b], [y], how, [])], [x], [y])
    )
    graph, is_lossy = qops.models.load(path, runtime=kernel), kernel.endswith("_neon")
    assert [words.split(" (")[0] for words in graph.hazards] == ["transpose_conv"] * is_lossy
    pairs = "transpose_conv (TRANSPOSE_CONV): 24 of 24 pairs of products can wrap in 16 bits"
    assert graph.hazards == (pairs,) * is_lossy
    for what in (path, graph):
        found = qops.saturation(what, data, runtime=kernel)
        assert found.unread[0].startswith(pairs) == is_lossy
        assert (len(found.unread), found.safe, found.errors["y"] > 0) == (1, False, is_lossy)
        assert np.array_equal(found.outputs["y"], graph.run(data)["y"])
        assert not found.exact["y"].any()


@pytest.mark.parametrize("kernel", ["reference_arm", "optimized_arm", "optimized_neon", "xnnpack_neon"])
def test_lstms_on_arm(kernel, tmp_path):
    """The same of LSTMs, whose exact sums are those of x86."""
    x, y = tensor("x", (1, 1, 16), scale=0.1), tensor("y", (1, 1, 1), scale=1 / 128)
    w = [tensor(f"w{i}", (1, 16), scale=0.0001, data=np.full((1, 16), -128, np.int8)) for i in range(4)]
    r = [tensor(f"r{i}", (1, 1), scale=0.01, data=np.zeros((1, 1), np.int8)) for i in range(4)]
    b = [tensor(f"b{i}", (1,), "int32", 0.00001, data=np.int32([0])) for i in range(4)]
    states = [tensor("h", (1, 1), scale=1 / 128), tensor("c", (1, 1), "int16", 2.0**-11)]
    inner = [tensor(f"i{i}", (0,), "int16", 2.0**-12) for i in range(4)] + [tensor("i4", (0,), scale=1 / 128)]
    inputs = [x, *w, *r, None, None, None, *b, None, None, *states, None, None, None, None]
    options = {"FusedActivationFunction": 4, "CellClip": 0.0, "TimeMajor": False}
    operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options, inner)
    path, data = tmp_path / "lstm.tflite", np.full((1, 1, 16), -128, np.int8)
    path.write_bytes(tflite_bytes([x, *w, *r, *b, *states, *inner, y], [operator], [x], [y]))
    graph = qops.models.load(path, runtime=kernel)
    words = (
        "unidirectional_sequence_lstm (UNIDIRECTIONAL_SEQUENCE_LSTM): 32 of 32 pairs of products can wrap in 16 bits"
    )
    assert graph.hazards == (words,)
    for what in (path, graph):
        found = qops.saturation(what, data, runtime=kernel)
        assert (found.outputs["y"].item(), found.exact["y"].item(), found.errors["y"]) == (-1, 87, 88)
        assert found.unread == (f"{words}; its accumulator is not read",)
