"""onnxruntime's own operators against slow twins, on codes and scales that make many ties, and its recorded results."""

import inspect
import json
from functools import partial, wraps
from pathlib import Path

import numpy as np
import pytest
import reference_onnxruntime as twin
from cases import case
from equal import equal as equal_arrays
from npz import read_npz

from qops import onnx

GOLDEN = Path(__file__).parents[1] / "golden/rules"
SCALES = (0.5, 0.25, 0.75, 1.0, 1.5, 0.1, 0.03, 2.5)
TYPES = (np.uint8, np.int8)
F32 = np.float32
equal = partial(equal_arrays, strict=True)


def of_40_draws(test):
    """The test with 40 sources of random numbers, its first argument, in one item; the error names the seed."""

    @wraps(test)
    def of_all(**given):
        for seed in range(40):
            with case("seed", seed):
                test(np.random.default_rng(seed), **given)

    drawn = inspect.signature(test)
    of_all.__signature__ = drawn.replace(parameters=[*drawn.parameters.values()][1:])
    return of_all


def numbers(rng, dtype, prefix):
    """Scale and zero point by their names, as the operators and the twins take them."""
    info = np.iinfo(dtype)
    zero = int(rng.choice([info.min, info.max, 0, 1, rng.integers(info.min, info.max + 1)]))
    return {f"{prefix}_scale": float(F32(rng.choice(SCALES))), f"{prefix}_zero_point": zero}


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize(("function", "slow"), [(onnx.qlinear_add, twin.add), (onnx.qlinear_mul, twin.mul)])
@of_40_draws
def test_pairs(rng, function, slow):
    for dtype in TYPES:
        a, b, c = (numbers(rng, dtype, name) for name in "ABC")
        x, y = codes(rng, (3, 50), dtype), codes(rng, (3, 50), dtype)
        want = slow(x, *a.values(), y, *b.values(), *c.values())
        equal(function(x, *a.values(), y, *b.values(), *c.values()), want)
        row, column = y[:1], y[:, :1].copy()
        want = slow(x, *a.values(), np.broadcast_to(row, x.shape), *b.values(), *c.values())
        equal(function(x, *a.values(), row[0], *b.values(), *c.values()), want)
        # one number beside many is taken second, whichever it is
        wide = np.broadcast_to(column, x.shape)
        equal(
            function(column, *b.values(), x, *a.values(), *c.values()),
            slow(x, *a.values(), wide, *b.values(), *c.values()),
        )


@pytest.mark.parametrize("shapes", [((1,), ()), ((), ()), ((1,), (1, 1)), ((1, 1), (1, 1)), ((), (1,))])
def test_two_numbers_are_exchanged(shapes):
    """The sum is -0.5 for a moment, and the order of the fused steps tells where it goes: onnxruntime 1.32.0 gave 0."""
    a, b = (np.full(shape, code, np.int8) for shape, code in zip(shapes, (127, 124), strict=True))
    got = onnx.qlinear_add(a, F32(0.00743674), 127, b, F32(0.55490154), 127, F32(3.3294091), 0)
    equal(got, np.zeros(np.broadcast_shapes(*shapes), np.int8))


def recorded(name):
    """What onnxruntime gave: arrays by name, numbers, and the result of each case of a set."""
    data, cases = read_npz(GOLDEN / f"{name}.npz"), json.loads((GOLDEN / f"{name}.json").read_text())
    assert len(cases) > 10
    for one in cases:
        yield {key: data[value] for key, value in one["inputs"].items()}, one["attrs"], data[one["outputs"]["y"]]


@pytest.mark.parametrize("name", ["add", "mul"])
def test_pairs_give_what_onnxruntime_gave(name):
    for arrays, given, want in recorded(f"ort_qlinear{name}"):
        a, b, y = ((given[f"{x}_scale"], given[f"{x}_zp"]) for x in "aby")
        equal(getattr(onnx, f"qlinear_{name}")(arrays["a"], *a, arrays["b"], *b, *y), want)


@pytest.mark.parametrize("name", ["ort_averagepool", "ort_averagepool_whole"])
def test_average_pools_give_what_onnxruntime_gave(name):
    for arrays, given, want in recorded(name):
        numbers = given["x_scale"], given["zero_point"], given["y_scale"], given["y_zp"]
        if given["op"] == "QLinearGlobalAveragePool":
            got = onnx.qlinear_global_average_pool(arrays["x"], *numbers, channels_last=1)
        else:
            got = onnx.qlinear_average_pool(arrays["x"], *numbers, channels_last=1, kernel_shape=given["kernel"])
        equal(got, want)


@of_40_draws
def test_leaky_relu(rng):
    for dtype in TYPES:
        x, y, alpha = numbers(rng, dtype, "X"), numbers(rng, dtype, "Y"), float(rng.choice([0.01, 0.5, -1, 0.3]))
        q = codes(rng, (7, 30), dtype)
        equal(
            onnx.qlinear_leaky_relu(q, **x, **y, alpha=alpha),
            twin.table(twin.leaky(alpha), q, *x.values(), *y.values()),
        )


@of_40_draws
def test_softmax(rng):
    """Along each axis; before version 13 along an axis and all behind it."""
    for dtype in TYPES:
        x, zero = numbers(rng, dtype, "X"), numbers(rng, dtype, "Y")["Y_zero_point"]
        q, y_scale = codes(rng, (2, 3, 4), dtype), rng.choice([2**-8, 1 / 255, 0.003, 0.3, 1.5])
        given = {**x, "Y_scale": y_scale, "Y_zero_point": zero}

        def row(part, numbers=(x["X_scale"], y_scale, zero)):
            return twin.softmax(part, *numbers)

        for axis in range(-3, 3):
            equal(onnx.qlinear_softmax(q, **given, axis=axis), np.apply_along_axis(row, axis, q))
        for axis, rows in ((0, (1, 24)), (1, (2, 12)), (2, (6, 4))):
            want = np.apply_along_axis(row, 1, q.reshape(rows)).reshape(q.shape)
            equal(onnx.qlinear_softmax(q, **given, axis=axis, opset=12), want)
        equal(onnx.qlinear_softmax(q, **given), onnx.qlinear_softmax(q, **given, axis=2))
        equal(onnx.qlinear_softmax(q, **given, opset=1), onnx.qlinear_softmax(q, **given, axis=1, opset=1))


def test_softmax_gives_what_onnxruntime_gave():
    """Codes of onnxruntime 1.32.0: one code, a scale whose reciprocal is no whole number, the highest code."""
    q = np.uint8([[9, 9], [200, 190], [0, 255]])
    assert onnx.qlinear_softmax(q, 0.1, 3, 1 / 255, 0).tolist() == [[127, 127], [186, 68], [0, 254]]
    assert onnx.qlinear_softmax(q, 0.1, 3, 0.0067, 10).tolist() == [[84, 84], [119, 50], [10, 159]]
    assert onnx.qlinear_softmax(q[:, :1], 0.1, 3, 1 / 255, 0).tolist() == [[254]] * 3
    q = np.int8([[-128, 127], [5, 4]])
    assert onnx.qlinear_softmax(q, 1.0, 0, 2**-8, -128).tolist() == [[-128, 127], [59, -59]]
    with pytest.raises(ValueError, match="Y_scale: expected a number whose reciprocal"):
        onnx.QLinearSoftmax(0.5, 0, 1e-42)
    with pytest.raises(ValueError, match="axis: expected an axis of 2 dimensions, got 2"):
        onnx.QLinearSoftmax(0.5, 0, 0.5, axis=2)(q)
    assert onnx.qlinear_softmax(np.empty((0, 3), np.int8), 0.5, 0, 0.5).shape == (0, 3)


SIGMOIDS = [
    (
        np.uint8,
        (0.0625, 128),
        (2**-8, 0),
        "000000000000000000000000000000000000000000000000000000000001010101010101010101010101010101010202"
        "020202020202020303030303040404040505050606060707080808090a0a0b0b0c0d0e0f0f10111213151617181a1b1d"
        "1f20222426282a2c2f313436393c3f4245484b4f5256595d6164686c7074787c8084888c9094989c9fa3a7aaaeb1b5b8"
        "bbbec1c4c7cacccfd1d4d6d8dadcdee0e1e3e5e6e8e9eaebedeeeff0f1f1f2f3f4f5f5f6f6f7f8f8f8f9f9fafafafbfb"
        "fbfcfcfcfcfdfdfdfdfdfefefefefefefefefeffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffffffffffffff",
    ),
    (
        np.int8,
        (0.1, -3),
        (0.003, -7),
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f"
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f"
        "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7ff9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9"
        "f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9fafafafa"
        "fafafafafafafafafbfbfbfbfbfcfcfcfdfdfdfefeff000001020304050607090a0c0e101215171a1d2124282c31363b"
        "40464c535960686f777f7f7f7f7f7f7f",
    ),
]


@pytest.mark.parametrize(("dtype", "x", "y", "recorded"), SIGMOIDS, ids=["uint8", "int8"])
def test_sigmoid_gives_what_onnxruntime_gave(dtype, x, y, recorded):
    """Results of onnxruntime 1.32.0 for all codes, as bytes."""
    every = np.arange(256, dtype=np.uint8).view(dtype)
    equal(onnx.qlinear_sigmoid(every, *x, *y), np.frombuffer(bytes.fromhex(recorded), dtype))


@of_40_draws
def test_sigmoid_is_near_the_exact_one(rng):
    x, y = numbers(rng, np.int8, "X"), {"Y_scale": 2**-8, "Y_zero_point": -128}
    every = np.arange(-128, 128).astype(np.int8)
    exact = 1 / (1 + np.exp(-x["X_scale"] * (every.astype(float) - x["X_zero_point"])))
    got = onnx.qlinear_sigmoid(every, **x, **y)
    assert np.abs(got - np.clip(exact * 256 - 128, -128, 127)).max() < 0.5001


@of_40_draws
def test_concat(rng):
    for dtype in TYPES:
        x, z, y = (numbers(rng, dtype, name) for name in "XZY")
        p, q, r = (codes(rng, (2, n, 3), dtype) for n in (4, 5, 1))
        parts = [twin.table(lambda v: v, t, *n.values(), *y.values()) for t, n in ((p, x), (q, z))]
        pairs = [tuple(n.values()) for n in (x, z, y)]
        got = onnx.qlinear_concat(*y.values(), [p, q, r], *map(list, zip(*pairs, strict=True)), axis=-2)
        equal(got, np.concatenate([*parts, r], 1))
    op = onnx.QLinearConcat(0.5, None, [0.5, 0.25], [0, None], axis=0)
    assert repr(op) == "QLinearConcat(0.5, None, [0.5, 0.25], (0, 0), axis=0)"


def window(rng):
    """Attributes of a pool over two axes, and the size of an image."""
    kernel = [int(n) for n in rng.integers(1, 4, 2)]
    sizes = kernel if rng.random() < 0.2 else [k + int(rng.integers(5)) for k in kernel]
    how = {
        "kernel_shape": kernel,
        "strides": [int(n) for n in rng.integers(1, 4, 2)],
        "ceil_mode": int(rng.integers(2)),
    }
    word = str(rng.choice(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if word == "NOTSET":
        return sizes, how | {"pads": [int(rng.integers(k)) if rng.random() < 0.5 else 0 for k in kernel * 2]}
    return sizes, how | {"auto_pad": word}


@of_40_draws
def test_average_pool(rng):
    for dtype in TYPES:
        (sizes, how), x, y = window(rng), numbers(rng, dtype, "x"), numbers(rng, dtype, "y")
        image, how = codes(rng, (2, 3, *sizes), dtype), how | {"count_include_pad": int(rng.integers(2))}
        want = twin.average_pool(image, *x.values(), *y.values(), **how)
        equal(onnx.qlinear_average_pool(image, **x, **y, **how), want)
        last = onnx.qlinear_average_pool(np.moveaxis(image, 1, -1), **x, **y, **how, channels_last=1)
        equal(last, np.moveaxis(want, 1, -1))


def test_average_pool_beyond_int32_is_the_lowest_code():
    x = np.uint8([[[255, 255, 0]]])
    got = onnx.qlinear_average_pool(x, 2.0**30, 0, 1.0, 9, kernel_shape=[1])
    equal(got, np.uint8([[[0, 0, 9]]]))


@pytest.mark.parametrize("runtime", ["ort_arm", "ort_neon"])
def test_average_pool_beyond_int32_saturates_on_arm(runtime):
    for zero, want in ((0, [255, 255, 9]), (255, [9, 9, 0])):
        x = np.uint8([[[255, 255, 0]]])
        got = onnx.qlinear_average_pool(x, 2.0**30, zero, 1.0, 9, kernel_shape=[1], runtime=runtime)
        equal(got, np.uint8([[want]]))


@of_40_draws
def test_global_average_pool(rng):
    for dtype in TYPES:
        x, y, sizes = numbers(rng, dtype, "x"), numbers(rng, dtype, "y"), [int(n) for n in rng.integers(1, 6, 2)]
        image = codes(rng, (2, 5, *sizes), dtype)
        want = twin.pooled(image, twin.mean_of_all(*x.values(), *y.values(), dtype), kernel_shape=sizes)
        equal(onnx.qlinear_global_average_pool(image, **x, **y), want)
        last = onnx.qlinear_global_average_pool(np.moveaxis(image, 1, -1), **x, **y, channels_last=1)
        equal(last, np.moveaxis(want, 1, -1))


def test_pools_refuse_what_onnxruntime_refuses():
    x = np.uint8([[[7, 9]]])
    for scale in (2.0**-32, 2.0**-31.99):
        onnx.qlinear_global_average_pool(x, 2 * scale, 0, 1.0, 0)
    for scale in (2.0**-32.01, 256.0):
        with pytest.raises(ValueError, match=r"^x_scale, y_scale: .* it is not in 2\*\*-32 to 256"):
            onnx.qlinear_global_average_pool(x, 2 * scale, 0, 1.0, 0)
    with pytest.raises(ValueError, match=r"^channels_last: expected an integer in \[0, 1\], got 2"):
        onnx.qlinear_global_average_pool(x, 1.0, 0, 1.0, 0, channels_last=2)


@of_40_draws
def test_max_pool(rng):
    for dtype in TYPES:
        sizes, how = window(rng)
        if "pads" in how and rng.random() < 0.5:
            sizes, how = [n + 3 for n in sizes], how | {"dilations": [2, 1]}
        image = codes(rng, (2, 3, *sizes), dtype)
        equal(onnx.max_pool(image, **how), twin.pooled(image, max, **how))


def matrices(rng):
    """Codes of two matrices, zero points, scales of the first and of each column of the second."""
    a_type, b_type = TYPES[rng.integers(2)], np.int8
    m, k, n = (int(x) for x in rng.integers(1, 9, 3))
    a, b = codes(rng, (m, k), a_type), codes(rng, (k, n), b_type)
    zeros = numbers(rng, a_type, "a")["a_zero_point"], int(rng.integers(-9, 9))
    return a, b, zeros, F32(rng.choice(SCALES)), rng.choice(SCALES, n).astype(F32)


@of_40_draws
def test_gemm(rng):
    a, b, zeros, a_scale, b_scale = matrices(rng)
    y, alpha = numbers(rng, a.dtype, "y"), F32(rng.choice([1, 0.5, 0.3]))
    bias = rng.integers(-500, 500, (1, b.shape[1]), np.int32)
    whole, b_zero = np.broadcast_to(bias, (len(a), b.shape[1])), np.full(len(b_scale), zeros[1], b.dtype)
    factors = alpha * a_scale * b_scale
    given = float(a_scale), zeros[0], b.T.copy(), b_scale, b_zero, bias[0]
    equal(onnx.qgemm(a, *given, alpha=float(alpha), transB=1), twin.gemm(a, b, zeros, factors, whole))
    want = twin.gemm(a, b, zeros, factors / F32(y["y_scale"]), whole, y["y_zero_point"])
    zero = a.dtype.type(y["y_zero_point"])
    equal(onnx.qgemm(a.T.copy(), *given, y["y_scale"], zero, alpha=float(alpha), transA=1, transB=1), want)


@of_40_draws
def test_matrices_to_float(rng):
    a, b, zeros, a_scale, b_scale = matrices(rng)
    bias, b_zero = rng.normal(0, 5, b.shape[1]).astype(F32), np.full(len(b_scale), zeros[1], b.dtype)
    nothing = np.zeros((len(a), b.shape[1]), int)
    want = twin.gemm(a, b, zeros, a_scale * b_scale, nothing)
    equal(onnx.matmul_integer_to_float(a, b, a_scale, b_scale, zeros[0], b_zero, bias), want + bias)
    equal(onnx.matmul_integer_to_float(a, b, a_scale, b_scale, zeros[0], b_zero), want)
    reals = (rng.integers(-300, 300, a.shape) * F32(0.125)).astype(F32)
    made = onnx.dynamic_quantize_linear(reals, runtime="ort")
    want = twin.gemm(made.y, b, (int(made.y_zero_point), zeros[1]), made.y_scale * b_scale, nothing)
    equal(onnx.dynamic_quantize_matmul(reals, b, b_scale, b_zero, bias), want + bias)


IMAGE, MATRIX = np.zeros((1, 2, 5, 4), np.uint8), np.zeros((2, 3), np.uint8)
POOL = {"x_scale": 0.5, "x_zero_point": 0, "y_scale": 0.5, "y_zero_point": 0}
REFUSED = [
    (lambda: onnx.qlinear_add(MATRIX, 0.5, 0, MATRIX.T.copy(), 0.5, 0, 1.0), ValueError, "A, B: shapes"),
    (lambda: onnx.qlinear_add(MATRIX, 0.5, 0, MATRIX.view(np.int8), 0.5, 0, 1.0), TypeError, "B: expected uint8 data"),
    (lambda: onnx.qlinear_mul(MATRIX, 1e30, 0, MATRIX, 1e30, 0, 1e-30), ValueError, "A_scale, B_scale, C_scale: "),
    (lambda: onnx.qlinear_add(MATRIX, 0.0, 0, MATRIX, 0.5, 0, 1.0), ValueError, "A_scale: expected a number above 0"),
    (
        lambda: onnx.qlinear_add(MATRIX, 1.0, -1, MATRIX, 0.5, 0, 1.0),
        ValueError,
        "A_zero_point: expected an integer in",
    ),
    (lambda: onnx.max_pool(IMAGE, kernel_shape=[9, 1]), ValueError, "X, kernel_shape: a window of 9"),
    (lambda: onnx.max_pool(IMAGE, kernel_shape=[2]), ValueError, "X: expected 1 spatial axes"),
    (lambda: onnx.max_pool(IMAGE, kernel_shape=[2, 2], pads=[2, 0, 0, 0]), ValueError, "pads: expected less than"),
    (lambda: onnx.max_pool(IMAGE, kernel_shape=[2, 2], pads=[0, 0, 0, 2]), ValueError, "pads: expected less than a"),
    (
        lambda: onnx.max_pool(IMAGE, kernel_shape=[2, 2], pads=[0] * 4, auto_pad="VALID"),
        ValueError,
        "pads: expected none",
    ),
    (
        lambda: onnx.max_pool(IMAGE, kernel_shape=[2**11, 2**11]),
        ValueError,
        "kernel_shape: expected windows of at most",
    ),
    (lambda: onnx.qlinear_global_average_pool(MATRIX, **POOL), ValueError, "X: expected "),
    (lambda: onnx.qlinear_global_average_pool(IMAGE, 1e38, 0, 1e-38), ValueError, "x_scale, y_scale: "),
    (
        lambda: onnx.qlinear_concat(1.0, 0, [MATRIX, MATRIX[:, :1]], [1.0] * 2, [0] * 2, axis=0),
        ValueError,
        "tensors: expected",
    ),
    (lambda: onnx.qlinear_concat(1.0, 0, [MATRIX], [1.0] * 2, [0], axis=0), ValueError, "scales, zero_points: "),
    (lambda: onnx.qlinear_concat(1.0, 0, [MATRIX], [1.0] * 2, [0] * 2, axis=0), ValueError, "tensors: expected 2, as"),
    (lambda: onnx.qgemm(MATRIX, 1.0, 0, MATRIX, 1.0, 0), ValueError, "A, B: shapes"),
    (
        lambda: onnx.qgemm(MATRIX.view(np.int8), 1.0, 0, MATRIX, 1.0, 0, transB=1),
        TypeError,
        "A, B, y_zero_point: onnxruntime",
    ),
    (lambda: onnx.qgemm(MATRIX, 1.0, 0, MATRIX, 1.0, 0, np.int32([1] * 5), transB=1), ValueError, "C: shape"),
    (
        lambda: onnx.qgemm(MATRIX, 1.0, 0, MATRIX, 1.0, 0, y_scale=1.0, transB=1),
        ValueError,
        "y_scale, y_zero_point: expected",
    ),
    (lambda: onnx.dynamic_quantize_matmul(np.float32([[np.inf]]), np.int8([[1]]), 1.0), ValueError, "A: "),
    (
        lambda: onnx.matmul_integer_to_float(MATRIX, MATRIX.T, 1.0, 1.0, 0, 0, np.float32([1])),
        ValueError,
        "bias: expected 2",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_wrong_inputs_are_named(call, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        call()
