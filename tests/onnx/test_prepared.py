"""The prepared ops give the bits of their functions, keep nothing of the caller's, and may be shared."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from ops import PREPARED, function, on_every_tier, same

from qops import onnx
from qops._kernels.machine import tiers


def some(shape, dtype, seed=3):
    rng, info = np.random.default_rng(seed), np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True), dtype)


def scales(*shape):
    return np.float32(np.random.default_rng(4).choice([1, 2, 3], shape) / 512)


SCALES = {"x_scale": np.array(0.5, np.float32), "x_zero_point": np.uint8(7), "w_zero_point": some((6,), np.int8)}
SCALES |= {"y_scale": np.float32(0.5), "y_zero_point": 101, "B": some((6,), np.int16).astype(np.int32)}
W = some((6, 4, 3, 2), np.int8)
IMAGES, MATRIX, B = some((2, 4, 16, 17), np.uint8), some((301, 70), np.uint8), some((70, 530), np.int8)
PLAIN = {"a_scale": 0.5, "a_zero_point": 7, "b_scale": 0.25, "b_zero_point": 0, "y_scale": 9.0, "y_zero_point": 101}
REALS = np.float32(np.random.default_rng(5).normal(0, 9, (3, 5, 4)))

CALLS = {  # op, data, all other arguments
    "conv": ("ConvInteger", IMAGES, {"w": W}),
    "conv, all": (
        "ConvInteger",
        IMAGES,
        {"w": W[:, :2], "x_zero_point": 9, "w_zero_point": some((6,), np.int8), "group": 2, "pads": [1, 0, 2, 1]}
        | {"strides": (2, 1), "dilations": np.array([1, 2]), "kernel_shape": [3, 2]},
    ),
    "conv, 1-D": ("ConvInteger", IMAGES[:, :, 0], {"w": W[:, :, 0], "auto_pad": "SAME_UPPER", "strides": [3]}),
    "conv, 3-D": ("ConvInteger", IMAGES[:, :, None], {"w": W[:, :, None], "pads": [0, 1, 0, 0, 0, 2]}),
    "conv, same": ("ConvInteger", IMAGES, {"w": W.view(np.uint8), "auto_pad": "SAME_LOWER", "x_zero_point": None}),
    "conv, int8": ("ConvInteger", IMAGES.view(np.int8), {"w": W, "x_zero_point": 5, "w_zero_point": np.int8([3])}),
    "conv, no images": ("ConvInteger", IMAGES[:0], {"w": W}),
    "qconv": ("QLinearConv", IMAGES, {"w": W, "w_scale": scales(6), **SCALES}),
    "qconv, ort": ("QLinearConv", IMAGES, {"w": W, "w_scale": 0.01, **SCALES, "runtime": "ort", "pads": [1, 1, 1, 1]}),
    "qconv, int8": (
        "QLinearConv",
        IMAGES.view(np.int8),
        {"w": W, "w_scale": scales(6), **SCALES, "x_zero_point": 3, "y_zero_point": 100, "B": None},
    ),
    "qconv, 3-D": (
        "QLinearConv",
        IMAGES[:, :, None],
        {"w": W[:, :, None], "w_scale": scales(6), **SCALES, "y_zero_point": np.int8(-9)},
    ),
    "matmul": ("MatMulInteger", MATRIX, {"B": B, "a_zero_point": 9, "b_zero_point": some((530,), np.int8)}),
    "matmul, int8": ("MatMulInteger", MATRIX.view(np.int8), {"B": B.view(np.uint8), "a_zero_point": np.int8(-9)}),
    "matmul, a row": ("MatMulInteger", MATRIX[0], {"B": B, "b_zero_point": None}),
    "matmul, a column": ("MatMulInteger", MATRIX, {"B": B[:, 0]}),
    "matmul, a dot": ("MatMulInteger", MATRIX[0], {"B": B[:, 0], "a_zero_point": 3}),
    "matmul, a batch": ("MatMulInteger", MATRIX[:300].reshape(5, 60, 70), {"B": B, "a_zero_point": 3}),
    "matmul, rows": ("MatMulInteger", MATRIX, {"B": B, "a_zero_point": some((301,), np.uint8), "b_zero_point": 5}),
    "matmul, batches": (
        "MatMulInteger",
        some((3, 1, 4, 5), np.uint8),
        {"B": some((2, 5, 6), np.int8), "a_zero_point": some((3, 1, 4, 1), np.uint8)}
        | {"b_zero_point": some((2, 1, 6), np.int8)},
    ),
    "matmul, nothing": ("MatMulInteger", some((3, 0), np.uint8), {"B": some((0, 4), np.int8)}),
    "qmatmul": ("QLinearMatMul", MATRIX, {"b": B, **PLAIN, "b_scale": scales(530), "b_zero_point": some(530, np.int8)}),
    "qmatmul, zeros": ("QLinearMatMul", MATRIX, {"b": B, **PLAIN, "a_zero_point": some((301,), np.uint8)}),
    "qmatmul, ort": ("QLinearMatMul", MATRIX, {"b": B, **PLAIN, "runtime": "ort"}),
    "qmatmul, int8": ("QLinearMatMul", MATRIX.view(np.int8), {"b": B, **PLAIN, "y_zero_point": np.uint8(9)}),
    "qmatmul, rows": ("QLinearMatMul", MATRIX, {"b": B, **PLAIN, "a_scale": scales(301), "b_scale": scales(530)}),
    "qmatmul, a column": ("QLinearMatMul", MATRIX, {"b": B[:, 0], **PLAIN, "a_scale": scales(301, 1)}),
    "qmatmul, half": (
        "QLinearMatMul",
        MATRIX,
        {"b": B, **PLAIN, "a_scale": np.float16(0.5), "b_scale": np.float16(0.1), "y_scale": np.float16(3)},
    ),
    "qmatmul, batches": (
        "QLinearMatMul",
        some((3, 1, 4, 5), np.uint8),
        {"b": some((2, 5, 6), np.int8), **PLAIN, "b_scale": scales(2, 1, 6)},
    ),
    "qmatmul, no columns": ("QLinearMatMul", MATRIX, {"b": B[:, :0], **PLAIN}),
    "quantize": ("QuantizeLinear", REALS, {"y_scale": 0.125, "y_zero_point": 100}),
    "quantize, ort": (
        "QuantizeLinear",
        REALS,
        {"y_scale": scales(5), "y_zero_point": some(5, np.int8), "runtime": "ort"},
    ),
    "quantize, axis": ("QuantizeLinear", REALS, {"y_scale": scales(4), "output_dtype": np.int16, "axis": -1}),
    "quantize, blocks": ("QuantizeLinear", REALS, {"y_scale": scales(3, 3, 4), "block_size": 2}),
    "quantize, half": ("QuantizeLinear", np.float16(REALS), {"y_scale": np.float16(0.3), "precision": "float32"}),
    "quantize, integers": ("QuantizeLinear", np.int32(REALS), {"y_scale": 0.5, "y_zero_point": np.uint16(9)}),
    "quantize, 4 bits": ("QuantizeLinear", REALS, {"y_scale": 3.0, "output_dtype": ml_dtypes.int4}),
    "quantize, floats": (
        "QuantizeLinear",
        REALS,
        {"y_scale": 1e-3, "output_dtype": ml_dtypes.float8_e4m3fn, "saturate": False},
    ),
}
CALLED = pytest.mark.parametrize("name", CALLS)


def parts(name):
    """The class, the function, the name of the data, the data and copies of all other arguments."""
    kind, data, given = CALLS[name]
    op, (of, (argument,)) = getattr(onnx, kind), PREPARED[f"onnx.{kind}"]
    given = {key: v.copy() if isinstance(v, (np.ndarray, list)) else v for key, v in given.items()}
    return op, function(of), argument, data, given


def called(name):
    op, f, argument, data, given = parts(name)
    return op(**given), data, f(**{argument: data}, **given)


@CALLED
def test_the_bits_are_those_of_the_function(name):
    op, data, want = called(name)
    for _ in range(2):
        same(op(data), want)
    assert op(data).flags.c_contiguous
    more = {} if "quantize" in name else {"num_threads": 3}
    for out in (
        np.empty_like(want),
        np.asfortranarray(np.zeros_like(want)),
        np.zeros([2 * n for n in want.shape], want.dtype)[tuple(slice(None, None, 2) for _ in want.shape)],
        np.zeros(want.nbytes + 1, np.uint8)[1:].view(want.dtype).reshape(want.shape),
    ):
        if isinstance(out, np.ndarray) and out.shape == want.shape:
            assert op(data, out, **more) is out
            same(out, want)
    if not name.startswith("quantize"):
        assert op.shape_of(data.shape) == want.shape
        assert op.nbytes > 0


@CALLED
def test_an_op_pickles_and_shows_what_it_was_made_of(name):
    op, data, want = called(name)
    other = pickle.loads(pickle.dumps(op))
    assert type(other) is type(op)
    assert repr(other) == repr(op)
    assert repr(op).startswith(type(op).__name__ + "(")
    same(other(data), want)


def test_a_short_op_is_shown_as_it_is_typed():
    w, names = np.int8([[[1, 2]], [[3, -4]]]), {**vars(onnx), "np": np}
    for op, data in (
        (onnx.ConvInteger(w, 3, np.int8([4, 5]), pads=np.array([1, 0]), strides=[2]), some((1, 1, 6), np.uint8)),
        (onnx.QLinearConv(0.5, 3, w, np.float32([1, 2]), 0, 3.0, 9, runtime="ort"), some((1, 1, 6), np.uint8)),
        (onnx.MatMulInteger(w[0], 3, np.int8([4, 5])), some((3, 1), np.uint8)),
        (onnx.QLinearMatMul(0.5, 3, w[0], np.float32([0.5, 1]), 0, 3.0, 9), some((3, 1), np.uint8)),
        (onnx.QuantizeLinear(0.5, axis=0, output_dtype=np.int16, precision="float16"), REALS),
        (onnx.QuantizeLinear(np.float32([0.5, 1]), np.int8([3, 4]), runtime="ort"), REALS[:, :2]),
    ):
        same(eval(repr(op), names)(data), op(data))
    assert repr(onnx.ConvInteger(W, np.uint8(3), pads=(1, 1, 0, 0))) == (
        "ConvInteger(<int8 (6, 4, 3, 2)>, x_zero_point=np.uint8(3), pads=(1, 1, 0, 0))"
    )


@CALLED
def test_what_the_caller_changes_afterwards_changes_nothing(name):
    op, f, argument, data, given = parts(name)
    want, made = f(**{argument: data}, **given), op(**given)
    for value in given.values():
        if isinstance(value, np.ndarray):
            value[...] = 1
        if isinstance(value, list):
            value[:] = [5] * len(value)
    same(made(data), want)
    for key in given:
        if hasattr(made, key) and isinstance(getattr(made, key), np.ndarray):
            assert not getattr(made, key).flags.writeable, key
            with pytest.raises(AttributeError):
                setattr(made, key, 3)


@pytest.mark.parametrize("name", [name for name in CALLS if "conv" in name and "D" not in name])
def test_one_op_takes_images_of_any_size(name):
    op, f, argument, data, given = parts(name)
    made = op(**given)
    for x in (data, data[:1, :, 3:, 1:], data[:, :, :9], data):
        same(made(x), f(**{argument: x}, **given))
        assert made.shape_of(x.shape) == made(x).shape


@pytest.mark.parametrize("name", ["matmul", "matmul, a column", "qmatmul", "qmatmul, int8"])
def test_one_op_takes_any_rows(name):
    op, f, argument, data, given = parts(name)
    made = op(**given)
    for a in (data, data[:1], data[0], data[:20].reshape(2, 2, 5, 70), data[:0], data[::3], np.asfortranarray(data)):
        same(made(a), f(**{argument: a}, **given))
        assert made.shape_of(a.shape) == made(a).shape


@pytest.mark.parametrize("kind", ["ConvInteger", "QLinearConv", "MatMulInteger", "QLinearMatMul"])
def test_plain_zero_points_have_the_type_of_each_calls_data(kind):
    w = W if "Conv" in kind else W[:, :, 0, 0]
    given = {"x_scale": 0.5, "x_zero_point": 3, "w": w, "w_scale": 0.01, "w_zero_point": 0, "y_scale": 1.0}
    op = getattr(onnx, kind)
    made = op(w, 3) if "Integer" in kind else op(*given.values(), 5)
    x = (IMAGES if "Conv" in kind else IMAGES[0, :2, :6, :6])[..., :6]
    for data in (x, x.view(np.int8)):
        y = made(data)
        assert y.dtype == (np.int32 if "Integer" in kind else data.dtype)
        same(y, function(PREPARED[f"onnx.{kind}"][0])(data, *((w, 3) if "Integer" in kind else (*given.values(), 5))))


@CALLED
def test_threads_share_an_op(name):
    op, data, want = called(name)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(op, [data] * 40):
            same(got, want)


@CALLED
def test_every_tier_gives_the_same_also_with_an_op_of_another_tier(name):
    op, f, argument, data, given = parts(name)
    same(on_every_tier(f, **{argument: data}, **given), on_every_tier(op(**given), data))
    before = tiers.name()
    try:
        for tier in tiers.available():
            tiers.use(tier)
            same(on_every_tier(op(**given), data), f(**{argument: data}, **given))
    finally:
        tiers.use(before)


@CALLED
def test_neither_ops_nor_functions_keep_arrays_of_the_caller(name):
    """Also where the call is refused, and of an op that refuses one type: a traceback would keep them."""
    gc.freeze()  # what was there before need not be searched for garbage
    op, f, argument, data, given = parts(name)
    seen = [weakref.ref(v) for v in given.values() if isinstance(v, np.ndarray)]
    made = op(**given)
    f(**{argument: data}, **given)
    with pytest.raises(TypeError, match=f"^{argument}: expected"):
        f(**{argument: data.astype(complex)}, **given)
    given.clear()
    gc.collect()
    assert not [ref() for ref in seen if ref() is not None], made


def test_the_factor_of_the_sums_can_be_read():
    """One number, or one for each channel, row or column."""
    conv = onnx.QLinearConv(0.5, 0, W, scales(6), 0, 2.0, 5)
    assert conv.factor.tolist() == (scales(6) / 4).tolist()
    by_row, by_column = scales(5), scales(530)
    made = [
        onnx.QLinearMatMul(rows, 0, B, columns, 0, 2.0, 5) for rows in (by_row, 0.5) for columns in (by_column, 0.25)
    ]
    want = (by_row[:, None] * by_column, by_row[:, None] / 4, by_column[None] / 2, np.full((1, 1), 0.125))
    for op, factor in zip(made, want, strict=True):
        assert op.factor.tolist() == (factor / 2).tolist()
