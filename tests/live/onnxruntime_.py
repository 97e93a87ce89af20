"""onnxruntime: models of one op, on the CPU, beside `qops.onnx` and the rules named after it."""

from types import SimpleNamespace

import numpy as np
import onnxruntime as ort
from draws import (
    TYPES,
    Pair,
    affine,
    codes,
    length,
    moves,
    of_rule,
    operands,
    pick,
    quantized,
    result_scale,
    scale,
    values,
    zero_point,
)

from benchmarks.peers.onnx_model import model
from qops import onnx, rules

VERSION = ort.__version__
ORT = {"runtime": "ort"}


def ran(op, inputs, outputs, **attributes):
    """A function that runs the op on arrays by name; those without a name are left out. `outputs`: (dtype, rank)."""
    given = {name: x for name, x in inputs.items() if x is not None}
    made = {f"y{i}": SimpleNamespace(dtype=np.dtype(t), shape=(None,) * rank) for i, (t, rank) in enumerate(outputs)}
    names = [name if name in given else "" for name in inputs]
    data = {name: given[name] for name in [*given][:1]}
    constants = {name: x for name, x in given.items() if name not in data}

    def run():
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        proto = model([(op, names, [*made], attributes)], constants, data, made)
        found = ort.InferenceSession(proto, options, providers=["CPUExecutionProvider"]).run(None, data)
        return found[0] if len(found) == 1 else found

    return run


def numbers(name, s, zero, dtype):
    """Scale and zero point as arrays."""
    return {f"{name}_scale": np.array(s, np.float32), f"{name}_zero": np.array(zero, dtype)}


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
    real = ran("QuantizeLinear", {"x": x, "s": s, "z": z}, [(dtype, 2)], axis=axis)
    return Pair(real, lambda: onnx.quantize_linear(x, s, z, axis=axis, **ORT), {"x": x, "s": s, "z": z, "axis": axis})


def dequantize(rng):
    shape, dtype = (length(rng, 20), length(rng, 40)), pick(rng, (*TYPES, np.int32))
    s, z, axis = slices(rng, shape, dtype)
    z = np.zeros_like(z) if dtype is np.int32 else z
    x = codes(rng, shape, dtype)
    real = ran("DequantizeLinear", {"x": x, "s": s, "z": z}, [(np.float32, 2)], axis=axis)
    return Pair(real, lambda: onnx.dequantize_linear(x, s, z, axis=axis), {"x": x, "s": s, "z": z, "axis": axis})


def dynamic_quantize(rng):
    x = values(rng, length(rng), scale(rng)) + np.float32(pick(rng, [0, 0, 3, -900]))
    real = ran("DynamicQuantizeLinear", {"x": x}, [(np.uint8, 1), (np.float32, 0), (np.uint8, 0)])
    return Pair(real, lambda: onnx.dynamic_quantize_linear(x, **ORT), {"x": x})


def result(rng, of_x, of_w):
    """The scale of a product as an array."""
    return np.array(result_scale(rng, of_x.item(), float(of_w.flat[0])), np.float32)


def matrices(rng):
    """Codes of two matrices, and zero points; those of the second may be one a column."""
    m, k, n = length(rng, 17), length(rng), length(rng, 40)
    a_type, b_type = pick(rng, TYPES), pick(rng, TYPES)
    a_zero, b_zero = zero_point(rng, a_type), np.array(zero_point(rng, b_type), b_type)
    if rng.random() < 0.4:
        b_zero = codes(rng, n, b_type)
    return codes(rng, (m, k), a_type, a_zero), codes(rng, (k, n), b_type, 0), np.array(a_zero, a_type), b_zero


def matmul_integer(rng):
    a, b, a_zero, b_zero = matrices(rng)
    inputs = {"A": a, "B": b, "a_zero_point": a_zero, "b_zero_point": b_zero}
    return Pair(ran("MatMulInteger", inputs, [(np.int32, 2)]), lambda: onnx.matmul_integer(**inputs), inputs)


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
    return Pair(ran("QLinearMatMul", inputs, [(y_type, 2)]), lambda: onnx.qlinear_matmul(**inputs, **ORT), inputs)


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
    real = ran("ConvInteger", inputs, [(np.int32, 4)], **how)
    return Pair(real, lambda: onnx.conv_integer(**inputs, **how), inputs | how)


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
    real = ran("QLinearConv", inputs, [(y_type, 4)], **how)
    return Pair(real, lambda: onnx.qlinear_conv(**inputs, **how, **ORT), inputs | how)


def elementwise(op, rule, kind):
    """A maker for an op of two tensors."""

    def make(rng):
        n, dtype = length(rng), pick(rng, TYPES)
        a, b, given = operands(rng, n, dtype, op == "QLinearMul")
        of_a, of_b, of_y = (numbers(x, given[f"{x}_scale"], given[f"{x}_zero_point"], dtype) for x in "aby")
        real = ran(op, {"a": a, **of_a, "b": b, **of_b, **of_y}, [(dtype, 1)])
        return of_rule(real, lambda: rule(a, b, kind, **given), {"a": a, "b": b, **given})

    return make


def broadcasting(op, function):
    """A maker for an op of two tensors whose shapes broadcast."""

    def make(rng):
        whole, dtype = [int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 5)))], pick(rng, TYPES)
        shapes = [[n if rng.random() < 0.6 else 1 for n in whole][int(rng.integers(len(whole) + 1)) :] for _ in "AB"]
        _, _, given = operands(rng, 1, dtype, op == "QLinearMul")
        a, b = (
            np.asarray(codes(rng, shape, dtype, given[f"{x}_zero_point"]))
            for shape, x in zip(shapes, "ab", strict=True)
        )
        named = {
            name: numbers(name, given[f"{x}_scale"], given[f"{x}_zero_point"], dtype)
            for name, x in zip("ABC", "aby", strict=True)
        }
        inputs = {"A": a, **named["A"], "B": b, **named["B"], **named["C"]}
        real = ran(op, inputs, [(dtype, max(a.ndim, b.ndim))])
        return of_rule(real, lambda: function(*inputs.values()), inputs)

    return make


def by_table(op, function, **options):
    """A maker for an op of one tensor, on all codes; `options` are attributes and what draws them."""

    def make(rng):
        dtype = pick(rng, TYPES)
        x, sx = np.arange(256, dtype=np.uint8).view(dtype), scale(rng)
        sy = pick(rng, [2**-8, 1 / 255, 2**-7, 0.01]) if op == "QLinearSigmoid" else result_scale(rng, sx)
        inputs = {
            "X": x,
            **numbers("X", sx, zero_point(rng, dtype), dtype),
            **numbers("Y", sy, zero_point(rng, dtype), dtype),
        }
        given = {name: float(np.float32(draw(rng))) for name, draw in options.items()}
        real = ran(op, inputs, [(dtype, 1)], **given)
        return Pair(real, lambda: function(*inputs.values(), **given), inputs | given)

    return make


def window(rng, channels_last):
    """Codes of images, and the attributes of a pool over them."""
    rank, dtype = pick(rng, [1, 2, 2, 3]), pick(rng, TYPES)
    kernel = [int(rng.integers(1, 4)) for _ in range(rank)]
    sizes = kernel if rng.random() < 0.15 else [k + int(rng.integers(5)) for k in kernel]
    pads = [int(rng.integers(k)) if rng.random() < 0.5 else 0 for k in kernel * 2]
    zero, shape = zero_point(rng, dtype), [int(rng.integers(1, 3)), length(rng, 17), *sizes]
    x = codes(rng, [shape[0], *shape[2:], shape[1]] if channels_last else shape, dtype, zero)
    how = {
        "kernel_shape": kernel,
        "strides": [int(rng.integers(1, 4)) for _ in kernel],
        "ceil_mode": int(rng.random() < 0.3),
    }
    how |= {"auto_pad": pick(rng, ["SAME_UPPER", "SAME_LOWER", "VALID"])} if rng.random() < 0.2 else {"pads": pads}
    return x, zero, how


def pooled(rng):
    last = int(rng.integers(2))
    x, zero, how = window(rng, last)
    sx = scale(rng)
    inputs = {
        "X": x,
        **numbers("x", sx, zero, x.dtype),
        **numbers("y", result_scale(rng, sx), zero_point(rng, x.dtype), x.dtype),
    }
    how |= {"channels_last": last, "count_include_pad": int(rng.random() < 0.3)}
    real = ran("QLinearAveragePool", inputs, [(x.dtype, x.ndim)], **how)
    return Pair(real, lambda: onnx.qlinear_average_pool(*inputs.values(), **how), inputs | how)


def pooled_whole(rng):
    last = int(rng.integers(2))
    x, zero, _ = window(rng, last)
    sx = scale(rng)
    inputs = {
        "X": x,
        **numbers("x", sx, zero, x.dtype),
        **numbers("y", result_scale(rng, sx), zero_point(rng, x.dtype), x.dtype),
    }
    real = ran("QLinearGlobalAveragePool", inputs, [(x.dtype, x.ndim)], channels_last=last)
    return Pair(real, lambda: onnx.qlinear_global_average_pool(*inputs.values(), channels_last=last), inputs)


def max_pool(rng):
    x, _, how = window(rng, 0)
    if rng.random() < 0.3 and "pads" in how and x.shape[-1] > 2 * (how["kernel_shape"][-1] - 1):
        how |= {"dilations": [1] * (x.ndim - 3) + [2], "pads": [0] * len(how["pads"])}
    real = ran("MaxPool", {"X": x}, [(x.dtype, x.ndim)], **how)
    return Pair(real, lambda: onnx.max_pool(x, **how), {"X": x} | how)


def concat(rng):
    dtype, rank = pick(rng, TYPES), int(rng.integers(1, 4))
    shape, axis = [int(rng.integers(1, 5)) for _ in range(rank)], int(rng.integers(-rank, rank))
    sy, zy = scale(rng), zero_point(rng, dtype)
    tensors, scales, zeros = [], [], []
    for _ in range(int(rng.integers(1, 4))):
        shape[axis] = length(rng, 40)
        tensors.append(codes(rng, shape, dtype))
        scales.append(sy if rng.random() < 0.4 else result_scale(rng, sy))
        zeros.append(zy if rng.random() < 0.6 else zero_point(rng, dtype))
    inputs = {"x0": tensors[0], **numbers("y", sy, zy, dtype)}
    names, given = ["y_scale", "y_zero"], {}
    for i, part in enumerate(zip(tensors, scales, zeros, strict=True)):
        given |= {f"x{i}": part[0], **numbers(f"x{i}", part[1], part[2], dtype)}
        names += [f"x{i}", f"x{i}_scale", f"x{i}_zero"]
    inputs = {name: (inputs | given)[name] for name in names}
    real = ran("QLinearConcat", inputs, [(dtype, rank)], axis=axis)
    return Pair(real, lambda: onnx.qlinear_concat(sy, zy, tensors, scales, zeros, axis=axis), inputs | {"axis": axis})


def gemm(rng):
    a, b, a_zero, b_zero = matrices(rng)
    count, as_codes = pick(rng, [(), b.shape[1]]), rng.random() < 0.7
    b_scale = np.array([scale(rng) for _ in range(int(np.prod(count)))], np.float32).reshape(count)
    a_scale = np.array(scale(rng), np.float32)
    bias = rng.integers(-999, 999, pick(rng, [(b.shape[1],), (len(a), b.shape[1]), (1,), (len(a), 1)]), np.int32)
    how = {
        "alpha": pick(rng, [1.0, 0.5, 2.0, float(np.float32(0.3))]),
        **{name: int(rng.integers(2)) for name in ("transA", "transB")},
    }
    inputs = {"A": a.T.copy() if how["transA"] else a, "a_scale": a_scale, "a_zero_point": a_zero}
    inputs |= {
        "B": b.T.copy() if how["transB"] else b,
        "b_scale": b_scale,
        "b_zero_point": np.full(count, b_zero.flat[0], b.dtype),
    }
    inputs |= {"C": bias if rng.random() < 0.6 else None}
    y_zero = np.array(zero_point(rng, a.dtype), a.dtype)
    inputs |= {"y_scale": result(rng, a_scale, b_scale), "y_zero_point": y_zero} if as_codes else {}
    real = ran("QGemm", inputs, [(a.dtype if as_codes else np.float32, 2)], **how)
    return Pair(real, lambda: onnx.qgemm(*inputs.values(), **how), inputs | how)


def to_float(rng, b):
    """Scales of the columns of a matrix, and a bias, or none."""
    count = pick(rng, [(), b.shape[1]])
    b_scale = np.array([scale(rng) for _ in range(int(np.prod(count)))], np.float32).reshape(count)
    return b_scale, rng.normal(0, 10, b.shape[1]).astype(np.float32) if rng.random() < 0.5 else None, count


def dynamic_matmul(rng):
    _, b, _, b_zero = matrices(rng)
    b_scale, bias, count = to_float(rng, b)
    a = values(rng, (length(rng, 17), len(b)), scale(rng))
    inputs = {"A": a, "B": b, "b_scale": b_scale, "b_zero_point": np.full(count, b_zero.flat[0], b.dtype), "bias": bias}
    real = ran("DynamicQuantizeMatMul", inputs, [(np.float32, 2)])
    return Pair(real, lambda: onnx.dynamic_quantize_matmul(**inputs), inputs)


def matmul_to_float(rng):
    a, b, a_zero, b_zero = matrices(rng)
    b_scale, bias, count = to_float(rng, b)
    inputs = {"A": a, "B": b, "a_scale": np.array(scale(rng), np.float32), "b_scale": b_scale, "a_zero_point": a_zero}
    inputs |= {"b_zero_point": np.full(count, b_zero.flat[0], b.dtype), "bias": bias}
    real = ran("MatMulIntegerToFloat", inputs, [(np.float32, 2)])
    return Pair(real, lambda: onnx.matmul_integer_to_float(**inputs), inputs)


def average_pool(rng):
    dtype, kernel = pick(rng, TYPES), (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    shape = (1, kernel[0] + int(rng.integers(4)), kernel[1] + int(rng.integers(4)), length(rng, 17))
    (x, sx, zx), (_, sy, zy) = quantized(rng, shape, dtype), quantized(rng, 1, dtype)
    inputs = {"x": x, **numbers("x", sx, zx, dtype), **numbers("y", sy, zy, dtype)}
    (stride, pads), counts = moves(rng, kernel), bool(rng.integers(2))
    how = {"kernel_shape": [*kernel], "strides": stride, "pads": pads, "count_include_pad": counts, "channels_last": 1}
    real = ran("QLinearAveragePool", inputs, [(dtype, 4)], **how)
    given = {"kernel": kernel, "x_scale": sx, "zero_point": zx, **affine("y", sy, zy), "count_padding": counts}
    given |= {"stride": tuple(stride), "padding": (tuple(pads[::2]), tuple(pads[1::2]))}
    return of_rule(real, lambda: rules.average_pool(x, "ort", **given), {"x": x, **given})


OPS = {
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    "MatMulInteger": matmul_integer,
    "QLinearMatMul": qlinear_matmul,
    "ConvInteger": conv_integer,
    "QLinearConv": qlinear_conv,
    "MaxPool": max_pool,
    "QLinearAdd": broadcasting("QLinearAdd", onnx.qlinear_add),
    "QLinearMul": broadcasting("QLinearMul", onnx.qlinear_mul),
    "QLinearAveragePool": pooled,
    "QLinearGlobalAveragePool": pooled_whole,
    "QLinearConcat": concat,
    "QLinearSigmoid": by_table("QLinearSigmoid", onnx.qlinear_sigmoid),
    "QLinearLeakyRelu": by_table(
        "QLinearLeakyRelu", onnx.qlinear_leaky_relu, alpha=lambda rng: pick(rng, [0.01, 0.1, 0.5, -1, 2])
    ),
    "QGemm": gemm,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
    "rules.add": elementwise("QLinearAdd", rules.add, "ort-x86"),
    "rules.mul": elementwise("QLinearMul", rules.mul, "ort-x86"),
    "rules.average_pool": average_pool,
}
