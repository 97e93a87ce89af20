"""onnxruntime's own operators and whole networks, beside `qops.onnx` and `qops.models`."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from cpu import COLUMN
from draws import TYPES, Pair, codes, length, operands, pick, result_scale, scale, values, zero_point
from elsewhere import call
from onnx_networks import drawn
from onnxruntime_runs import called, matrices, numbers, result

from qops import models, onnx

ORT = {"runtime": COLUMN}


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
        outputs = [(dtype, max(a.ndim, b.ndim))]
        return called(op, inputs, outputs, lambda all_: function(*all_.values()), models_refusals=False)

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
        return called(op, inputs, [(dtype, 1)], lambda all_: function(*all_.values(), **given), given)

    return make


def softmax(rng):
    shape = [int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 4)))]
    axis, dtype = int(rng.integers(-len(shape), len(shape))), pick(rng, TYPES)
    shape[axis] = length(rng, 200)
    sy = pick(rng, [2**-8, 1 / 255, 2**-7, 0.01, 0.3, 1.5, 1e-6])
    inputs = {
        "X": codes(rng, shape, dtype),
        **numbers("X", pick(rng, [scale(rng), 0.01, 0.1, 1 / 256]), zero_point(rng, dtype), dtype),
        **numbers("Y", sy, zero_point(rng, dtype), dtype),
    }
    how = {"axis": axis, "opset": pick(rng, [1, 11, 13])}
    outputs = [(dtype, len(shape))]
    return called("QLinearSoftmax", inputs, outputs, lambda given: onnx.qlinear_softmax(*given.values(), **how), how)


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
    return called(
        "QLinearAveragePool",
        inputs,
        [(x.dtype, x.ndim)],
        lambda given: onnx.qlinear_average_pool(*given.values(), **how, **ORT),
        how,
    )


def pooled_whole(rng):
    last = int(rng.integers(2))
    x, zero, _ = window(rng, last)
    sx = scale(rng)
    inputs = {
        "X": x,
        **numbers("x", sx, zero, x.dtype),
        **numbers("y", result_scale(rng, sx), zero_point(rng, x.dtype), x.dtype),
    }
    how = {"channels_last": last}
    return called(
        "QLinearGlobalAveragePool",
        inputs,
        [(x.dtype, x.ndim)],
        lambda given: onnx.qlinear_global_average_pool(*given.values(), **how),
        how,
    )


def max_pool(rng):
    x, _, how = window(rng, 0)
    if rng.random() < 0.3 and "pads" in how and x.shape[-1] > 2 * (how["kernel_shape"][-1] - 1):
        how |= {"dilations": [1] * (x.ndim - 3) + [2], "pads": [0] * len(how["pads"])}
    return called("MaxPool", {"X": x}, [(x.dtype, x.ndim)], lambda given: onnx.max_pool(**given, **how), how)


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

    def ours(all_):
        parts = [all_[f"x{i}"] for i in range(len(tensors))]
        return onnx.qlinear_concat(sy, zy, parts, scales, zeros, axis=axis)

    return called("QLinearConcat", inputs, [(dtype, rank)], ours, {"axis": axis}, data="x0")


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
    outputs = [(a.dtype if as_codes else np.float32, 2)]
    return called("QGemm", inputs, outputs, lambda given: onnx.qgemm(*given.values(), **how, **ORT), how)


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
    outputs = [(np.float32, 2)]
    return called("DynamicQuantizeMatMul", inputs, outputs, lambda given: onnx.dynamic_quantize_matmul(**given, **ORT))


def matmul_to_float(rng):
    a, b, a_zero, b_zero = matrices(rng)
    b_scale, bias, count = to_float(rng, b)
    inputs = {"A": a, "B": b, "a_scale": np.array(scale(rng), np.float32), "b_scale": b_scale, "a_zero_point": a_zero}
    inputs |= {"b_zero_point": np.full(count, b_zero.flat[0], b.dtype), "bias": bias}
    outputs = [(np.float32, 2)]
    return called("MatMulIntegerToFloat", inputs, outputs, lambda given: onnx.matmul_integer_to_float(**given, **ORT))


SUMS = ("Conv", "MatMul", "Gemm", "AveragePool", "GlobalAveragePool")


def network(runtime):
    """A maker of whole networks, read by `qops.models`: as written, or as onnxruntime fuses them.

    Networks with what qops refuses, MatMulNBits and pairs between which moves vanish, are left out. Where sums are in
    float32, they are such that it holds them, as their order is not told.
    """

    def make(rng):
        with TemporaryDirectory() as folder:
            path, graph = Path(folder) / "network.onnx", None
            while graph is None:
                seed = int(rng.integers(2**32))
                most = 4 if runtime == "onnx" or seed % 3 else 200  # pairs of large ones saturate on some CPUs
                how = {"exact": runtime == "onnx", "more": runtime != "onnx" and seed % 2 == 1, "most": most}
                model, x = drawn(seed, **how)
                path.write_bytes(proto := model.SerializeToString())
                try:
                    graph = models.load(path, runtime=runtime)
                except ValueError as refused:
                    if not any(words in str(refused) for words in ("MatMulNBits", "one of two pairs")):
                        raise
                    continue
                if runtime != "onnx" and any(op.rule == "float32" and op.kind in SUMS for op in graph.ops):
                    graph = None
        return Pair(
            lambda feeds: call("system_onnxruntime", "run", proto, feeds, runtime != "onnx"),
            lambda feeds: [graph.run(fed)[graph.outputs[0]] for fed in feeds],
            {"seed": seed},
            fed={model.graph.input[0].name: x},
        )

    return make


OWN = {
    "MaxPool": max_pool,
    "QLinearAdd": broadcasting("QLinearAdd", partial(onnx.qlinear_add, **ORT)),
    "QLinearMul": broadcasting("QLinearMul", partial(onnx.qlinear_mul, **ORT)),
    "QLinearAveragePool": pooled,
    "QLinearGlobalAveragePool": pooled_whole,
    "QLinearConcat": concat,
    "QLinearSigmoid": by_table("QLinearSigmoid", onnx.qlinear_sigmoid),
    "QLinearLeakyRelu": by_table(
        "QLinearLeakyRelu", onnx.qlinear_leaky_relu, alpha=lambda rng: pick(rng, [0.01, 0.1, 0.5, -1, 2])
    ),
    "QLinearSoftmax": softmax,
    "QGemm": gemm,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
    "models, as written": network("onnx"),
    "models, fused": network(COLUMN),
}
