"""onnxruntime: models of one op, on the CPU, beside `qops.onnx` and the rules named after it."""

import numpy as np
from cpu import COLUMN
from draws import (
    TYPES,
    affine,
    codes,
    length,
    moves,
    operands,
    pick,
    quantized,
    scale,
    values,
    zero_point,
)
from elsewhere import call
from onnx_blocks import chain
from onnx_graphs import graph
from onnxruntime_own import OWN
from onnxruntime_runs import called, matrices, numbers, result

from qops import onnx, rules

VERSION = call("system_onnxruntime", "version")
ORT = {"runtime": COLUMN}


def slices(rng, shape, dtype):
    """A scale and a zero point of a tensor, or one a slice, and the axis."""
    axis = int(rng.integers(len(shape)))
    count = () if rng.random() < 0.6 else shape[axis]
    s = np.array([scale(rng) for _ in range(int(np.prod(count)))], np.float32).reshape(count)
    z = np.array([zero_point(rng, dtype) for _ in range(s.size)], dtype).reshape(count)
    return s, z, axis


def quantize(rng):
    shape, dtype = (length(rng, 20), length(rng, 40)), pick(rng, TYPES)
    s, z, axis = slices(rng, shape, dtype)
    x = values(rng, shape, float(s.flat[0]))
    inputs, how = {"x": x, "s": s, "z": z}, {"axis": axis}
    return called(
        "QuantizeLinear", inputs, [(dtype, 2)], lambda given: onnx.quantize_linear(*given.values(), **how, **ORT), how
    )


def dequantize(rng):
    shape, dtype = (length(rng, 20), length(rng, 40)), pick(rng, (*TYPES, np.int32))
    s, z, axis = slices(rng, shape, dtype)
    z = np.zeros_like(z) if dtype is np.int32 else z
    x = codes(rng, shape, dtype)
    inputs, how = {"x": x, "s": s, "z": z}, {"axis": axis}
    return called(
        "DequantizeLinear", inputs, [(np.float32, 2)], lambda given: onnx.dequantize_linear(*given.values(), **how), how
    )


def dynamic_quantize(rng):
    x = values(rng, length(rng), scale(rng)) + np.float32(pick(rng, [0, 0, 3, -900]))
    outputs = [(np.uint8, 1), (np.float32, 0), (np.uint8, 0)]
    return called(
        "DynamicQuantizeLinear", {"x": x}, outputs, lambda given: onnx.dynamic_quantize_linear(**given, **ORT)
    )


def matmul_integer(rng):
    a, b, a_zero, b_zero = matrices(rng)
    inputs = {"A": a, "B": b, "a_zero_point": a_zero, "b_zero_point": b_zero}
    return called("MatMulInteger", inputs, [(np.int32, 2)], lambda given: onnx.matmul_integer(**given, **ORT))


def qlinear_matmul(rng):
    a, b, a_zero, b_zero = matrices(rng)
    y_type, count = pick(rng, (a.dtype.type, np.uint8)), pick(rng, [(), b.shape[1]])
    b_scale = np.array([scale(rng) for _ in range(int(np.prod(count)))], np.float32).reshape(count)
    b_zero = np.zeros(count, b.dtype) if b.dtype == np.int8 else np.full(count, b_zero.flat[0], b.dtype)
    a_numbers = {"a_scale": np.array(scale(rng), np.float32), "a_zero_point": a_zero}
    b_numbers = {"b": b, "b_scale": b_scale, "b_zero_point": b_zero}
    y = {
        "y_scale": result(rng, a_numbers["a_scale"], b_scale),
        "y_zero_point": np.array(zero_point(rng, y_type), y_type),
    }
    inputs = {"a": a, **a_numbers, **b_numbers, **y}
    return called("QLinearMatMul", inputs, [(y_type, 2)], lambda given: onnx.qlinear_matmul(**given, **ORT))


def images(rng):
    """Codes of an image and of filters, and how the window moves."""
    group, channels, out = pick(rng, [(1, 3, 5), (1, 16, 16), (4, 4, 4), (2, 4, 6), (1, 1, 8)])
    x_type, w_type = pick(rng, TYPES), pick(rng, TYPES)
    taps, x_zero = [int(rng.integers(1, 4)) for _ in "hw"], zero_point(rng, x_type)
    x = codes(
        rng, (int(rng.integers(1, 3)), channels, int(rng.integers(3, 9)), int(rng.integers(3, 9))), x_type, x_zero
    )
    how = {"strides": [int(rng.integers(1, 3)) for _ in "hw"], "pads": [int(rng.integers(2)) for _ in "hwhw"]}
    how |= {"group": group} | ({"dilations": [1, 2]} if rng.random() < 0.2 and taps[1] < 3 else {})
    w = codes(rng, (out, channels // group, *taps), w_type, 0)
    return x, w, np.array(x_zero, x_type), how


def conv_integer(rng):
    x, w, x_zero, how = images(rng)
    w_zero = np.array(zero_point(rng, w.dtype), w.dtype)
    inputs = {"x": x, "w": w, "x_zero_point": x_zero, "w_zero_point": w_zero}
    return called("ConvInteger", inputs, [(np.int32, 4)], lambda given: onnx.conv_integer(**given, **how, **ORT), how)


def qlinear_conv(rng):
    x, w, x_zero, how = images(rng)
    count = pick(rng, [(), w.shape[0]])
    w_scale = np.array([scale(rng) for _ in range(int(np.prod(count)))], np.float32).reshape(count)
    w_zero = np.full(count, 0 if w.dtype == np.int8 else zero_point(rng, w.dtype), w.dtype)
    y_type = x.dtype.type
    inputs = {"x": x, "x_scale": np.array(scale(rng), np.float32), "x_zero_point": x_zero}
    inputs |= {"w": w, "w_scale": w_scale, "w_zero_point": w_zero, "y_scale": result(rng, inputs["x_scale"], w_scale)}
    inputs["y_zero_point"] = np.array(zero_point(rng, y_type), y_type)
    inputs["B"] = rng.integers(-999, 999, len(w), np.int32) if rng.random() < 0.5 else None
    return called("QLinearConv", inputs, [(y_type, 4)], lambda given: onnx.qlinear_conv(**given, **how, **ORT), how)


def elementwise(op, rule, prepared):
    """A maker for an op of two tensors, by the rule that the prepared op says it has."""

    def make(rng):
        n, dtype = length(rng), pick(rng, TYPES)
        a, b, given = operands(rng, n, dtype, op == "QLinearMul")
        of_a, of_b, of_y = (numbers(x, given[f"{x}_scale"], given[f"{x}_zero_point"], dtype) for x in "aby")
        kind = prepared(*(value for x in (of_a, of_b, of_y) for value in x.values()), **ORT).rule
        inputs = {"a": a, **of_a, "b": b, **of_b, **of_y}
        return called(op, inputs, [(dtype, 1)], lambda all_: rule(all_["a"], b, kind, **given), models_refusals=False)

    return make


def average_pool(rng):
    dtype, kernel = pick(rng, TYPES), (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    shape = (1, kernel[0] + int(rng.integers(4)), kernel[1] + int(rng.integers(4)), length(rng, 17))
    (x, sx, zx), (_, sy, zy) = quantized(rng, shape, dtype), quantized(rng, 1, dtype)
    inputs = {"x": x, **numbers("x", sx, zx, dtype), **numbers("y", sy, zy, dtype)}
    (stride, pads), counts = moves(rng, kernel), bool(rng.integers(2))
    how = {"kernel_shape": [*kernel], "strides": stride, "pads": pads, "count_include_pad": counts, "channels_last": 1}
    given = {"kernel": kernel, "x_scale": sx, "zero_point": zx, **affine("y", sy, zy), "count_padding": counts}
    given |= {"stride": tuple(stride), "padding": (tuple(pads[::2]), tuple(pads[1::2]))}
    rule = "ort-arm" if COLUMN.endswith(("_arm", "_neon")) else "ort"
    return called(
        "QLinearAveragePool",
        inputs,
        [(dtype, 4)],
        lambda all_: rules.average_pool(all_["x"], rule, **given),
        how,
        models_refusals=False,
    )


OPS = {
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    "MatMulInteger": matmul_integer,
    "QLinearMatMul": qlinear_matmul,
    "ConvInteger": conv_integer,
    "QLinearConv": qlinear_conv,
    "rules.add": elementwise("QLinearAdd", rules.add, onnx.QLinearAdd),
    "rules.mul": elementwise("QLinearMul", rules.mul, onnx.QLinearMul),
    "rules.average_pool": average_pool,
    "graphs of QDQ": graph,
    "products by blocks": chain,
    **OWN,
}
