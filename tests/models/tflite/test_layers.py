"""What the layer of an op says is what the op does, for every golden case and every column of kernels."""

import numpy as np
import pytest
import tflite_models

from qops import tflite
from qops.models import Operator, Tensor, load, tflite_bytes
from qops.models.tflite.file import read_tflite
from qops.models.tflite.graph import load_tflite
from qops.tflite.kernels import KERNELS

SUMS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
WIDE = ("tflite-int64acc", "double-away")
"""Rules whose sums have 48 bits where the data have 16, but for a bias of int32; all others wrap to 32."""


def away(layer, acc, casts):
    """Codes of FULLY_CONNECTED by double-away, of sums of 48 bits too: beyond int32 the cast differs, then it wraps.

    The rule of `qops.rules` saturates there; the C of `params` has a function of its own for it.
    """
    values = acc * layer.requantize.scale
    near = np.sign(values) * np.floor(np.abs(values) + 0.5)
    beyond = np.where((values > 0) & (casts == "saturates"), 2.0**31 - 1, -(2.0**31))
    whole = np.where(np.abs(values) + 0.5 < 2.0**31, near, beyond).astype(np.int64)
    wrapped = (whole + layer.numbers["zero_point"] + 2**31) % 2**32 - 2**31
    codes = np.clip(wrapped, *layer.requantize.ends)
    fits = (np.abs(near) < 2**31 - 2**16) & (np.abs(acc) < 2**31)
    by_rule = layer.requantize(np.where(fits, acc, 0).astype(np.int32))
    return np.where(fits, by_rule, codes)


def factor_of(graph, kind):
    """What XNNPACK multiplies an even number of weights of 4 bits by, so that sums wrap earlier."""
    is_int4 = kind == "FULLY_CONNECTED" and graph.tensors["w"].dtype == "int4" and graph.tensors["w"].shape[1] % 2 == 0
    return KERNELS[graph.runtime].connected_int4_factor if is_int4 else 1


def loaded(kind, folder, monkeypatch):
    """Each golden case of an operator for each column of kernels that takes it, with its inputs."""
    cases, arrays = tflite_models.cases(kind)
    for case in cases:
        content, inputs = tflite_models.model(case, arrays)
        file = folder / "case.tflite"
        file.write_bytes(content)
        found = read_tflite(file)
        monkeypatch.setitem(load_tflite.__globals__, "read_tflite", lambda path, found=found: found)
        for runtime in KERNELS:
            try:
                graph = load(file, runtime=runtime)
                (y,) = graph.run(inputs).values()
            except ValueError:
                continue  # the column has no such op
            yield f"{case['id']}, {runtime}", graph, inputs, y


@pytest.mark.long
@pytest.mark.parametrize("kind", SUMS)
def test_the_sums_and_the_rule_of_a_layer_give_the_codes_of_the_op(kind, tmp_path, monkeypatch):
    columns = set()
    for where, graph, inputs, y in loaded(kind, tmp_path, monkeypatch):
        (op,) = graph.ops
        layer = op.layer
        acc = layer.sums(inputs[op.reads[0]], layer.bias)
        is_narrow = layer.bias is not None and layer.bias.dtype == np.int32
        is_wide = layer.requantize.rule in WIDE and y.dtype == np.int16 and not is_narrow
        factor = factor_of(graph, kind)
        acc = acc if is_wide else (acc * factor).astype(np.int32) // factor
        is_away = kind == "FULLY_CONNECTED" and layer.requantize.rule == "double-away"
        codes = away(layer, acc.astype(np.int64), KERNELS[graph.runtime].casts) if is_away else layer.requantize(acc)
        np.testing.assert_array_equal(codes, y, err_msg=where)
        assert layer.requantize.ends == (layer.numbers["qmin"], layer.numbers["qmax"]), where
        assert op.rule == layer.requantize.rule
        assert op.axis == layer.requantize.axis == -1
        columns.add(graph.runtime)
    assert columns == {*KERNELS}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ADD", "MUL"])
def test_a_pair_is_clamped_as_its_layer_says(kind, tmp_path, monkeypatch):
    """On codes of the whole type, of which the extremes pass any clamp that is inside of the type."""
    columns = set()
    for where, graph, _, y in loaded(kind, tmp_path, monkeypatch):
        (op,) = graph.ops
        info, numbers = np.iinfo(y.dtype), op.layer.numbers
        every = np.linspace(info.min, info.max, 256).round().astype(y.dtype)
        got = op.call(np.repeat(every, 256), np.tile(every, 256))[0]
        ends = numbers["qmin"], numbers["qmax"]
        a, b = (numbers[f"{x}_scale"] * (every.astype(float) - numbers[f"{x}_zero_point"]) for x in "ab")
        both = (np.add if kind == "ADD" else np.multiply).outer(a, b) / numbers["y_scale"] + numbers["y_zero_point"]
        assert ends[0] <= got.min(), where
        assert got.max() <= ends[1], where
        if both.min() < ends[0] - 2 and np.abs(both).max() < 2**15:
            assert got.min() == ends[0], where
        if both.max() > ends[1] + 2 and np.abs(both).max() < 2**15:
            assert got.max() == ends[1], where
        if op.layer.requantize is not None:
            assert op.layer.requantize.ends == ends
        columns.add(graph.runtime)
    assert columns == {*KERNELS}


@pytest.mark.parametrize(
    ("kernel", "y_scale", "zero", "highest"),
    [
        ("xnnpack", np.float32(12 / 41), -100, -80),  # half_even(20.5 - 100), the zero point inside of the rounding
        ("reference", np.float32(12 / 41), -100, -79),  # -100 + half_away(20.5)
        ("reference", np.nextafter(np.float32(12), np.float32(13)), 0, 0),  # 6 / y_scale is below 0.5 in float32
    ],
)
def test_the_end_of_a_fused_activation_is_that_of_the_op(kernel, y_scale, zero, highest, tmp_path):
    one = {"scale": np.float32(1), "zero_point": np.asarray(0)}
    x, y = Tensor("x", (1, 1, 1, 1), "int8", **one), Tensor("y", (1, 1, 1, 1), "int8", y_scale, np.asarray(zero))
    w = Tensor("w", (1, 1, 1, 1), "int8", **one, data=np.ones((1, 1, 1, 1), np.int8))
    bias = Tensor("bias", (1,), "int32", **one, data=np.zeros(1, np.int32))
    options = {"StrideH": 1, "StrideW": 1, "Padding": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    operator = Operator("CONV_2D", [x, w, bias], [y], {**options, "FusedActivationFunction": 3}, [])
    file = tmp_path / "one.tflite"
    file.write_bytes(tflite_bytes([x, w, bias, y], [operator], [x], [y]))
    graph = load(file, runtime=kernel)
    assert graph.ops[0].layer.numbers["qmax"] == highest
    how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": float(y_scale), "y_zero_point": zero}
    code = np.full((1, 1, 1, 1), 127, np.int8)
    assert tflite.conv_2d(code, w.data, bias.data, **how, activation="RELU6", kernel=kernel).item() == highest
    assert graph.run(code)["y"].item() == highest


def lossy_layer(kind, dtype, w, bias, kernel, folder):
    """A graph of one layer of codes of a type, (N, 3, 3, C) or (N, C), on weights of the same type."""
    info, shape = np.iinfo(dtype), (4, 3, 3, w.shape[-1]) if kind == "CONV_2D" else (6, w.shape[-1])
    zero = np.asarray(0 if dtype == "int8" else 128)
    one = {"scale": np.float32(1), "zero_point": zero}
    x, weights = Tensor("x", shape, dtype, **one), Tensor("w", w.shape, dtype, **one, data=w)
    y = Tensor("y", (), dtype, np.float32(2**13), np.asarray(info.min + 120))
    added = Tensor("bias", bias.shape, "int32", np.float32(1), np.asarray(0), data=bias)
    windows = {"StrideH": 1, "StrideW": 1, "Padding": 0, "DilationHFactor": 1, "DilationWFactor": 1}
    operator = Operator(kind, [x, weights, added], [y], windows if kind == "CONV_2D" else {}, [])
    file = folder / "layer.tflite"
    file.write_bytes(tflite_bytes([x, weights, added, y], [operator], [x], [y]))
    return load(file, runtime=kernel)


@pytest.mark.parametrize(("kernel", "dtype"), [("xnnpack", "int8"), ("optimized", "int8"), ("optimized", "uint8")])
@pytest.mark.parametrize(("kind", "window"), [("CONV_2D", (2, 2)), ("FULLY_CONNECTED", ())])
def test_sums_of_a_layer_lose_pairs_of_lowest_codes_on_plain_neon(kernel, dtype, kind, window, tmp_path, rng):
    """Also those of other weights, as causes of a difference try them; what weights add is read without any loss."""
    lowest = np.iinfo(dtype).min
    first, other = (
        rng.choice([lowest, lowest, lowest + 100, lowest + 200], (5, *window, 33)).astype(dtype) for _ in range(2)
    )
    bias = rng.integers(-(2**17), 2**17, 5).astype(np.int32)
    neon, dot, changed = (
        lossy_layer(kind, dtype, w, bias, f"{kernel}_{core}", tmp_path)
        for w, core in ((first, "neon"), (first, "arm"), (other, "neon"))
    )
    shape = neon.tensors["x"].shape
    x = rng.choice([lowest, lowest, lowest + 100, lowest + 255], shape).astype(dtype)
    layer, plain = neon.ops[0].layer, dot.ops[0].layer
    sums, exact = layer.sums(x, bias), plain.sums(x, bias)
    assert ((sums - exact) % -(2**16) == 0).all()
    assert (sums < exact).any()
    np.testing.assert_array_equal(layer.requantize(sums.astype(np.int32)), neon.run(x)["y"])
    np.testing.assert_array_equal(layer.exact(x, bias), exact)
    np.testing.assert_array_equal(layer.sums(x, bias, other), changed.ops[0].layer.sums(x, bias))
    assert (layer.sums(x, bias, other) != layer.exact(x, bias, other)).any()
    np.testing.assert_array_equal(layer.sums_of_weights(x), plain.sums_of_weights(x))
