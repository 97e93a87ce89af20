"""QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear beside their slow twins, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
import reference_onnx as twin
from equal import equal
from ops import same

from qops import onnx

TYPES = [np.uint8, np.int8, np.uint16, np.int16]
SHAPE = (3, 5, 4)
GRANULARITIES = {  # axis, block size, shape of scale and zero point
    "tensor": (1, 0, ()),
    "one value": (1, 0, (1,)),
    "axis 0": (0, 0, (3,)),
    "axis 1": (1, 0, (5,)),
    "axis -1": (-1, 0, (4,)),
    "blocks of 2": (1, 2, (3, 3, 4)),
    "blocks of 3, axis -1": (-1, 3, (3, 5, 2)),
    "one block": (0, 3, (1, 5, 4)),
}


def scales(rng, shape, dtype=np.float32):
    return np.asarray(2.0 ** rng.integers(-4, 3, shape) * rng.choice([1.0, 1.1], shape), dtype)


def zero_points(rng, shape, dtype):
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True), dtype)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("real", [np.float32, np.float16])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_quantize_is_its_twin(rng, granularity, dtype, real, runtime):
    axis, block, shape = GRANULARITIES[granularity]
    scale, zero = scales(rng, shape, real), zero_points(rng, shape, dtype)
    x = (rng.integers(-900, 900, SHAPE) * 0.0625).astype(real)  # many ties, many beyond the ends
    got = onnx.quantize_linear(x, scale, zero, axis=axis, block_size=block, runtime=runtime)
    same(got, twin.quantize_linear(x, scale, zero, axis, block, runtime))


@pytest.mark.parametrize("real", [np.float32, np.float16])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_dequantize_is_its_twin(rng, granularity, dtype, real):
    axis, block, shape = GRANULARITIES[granularity]
    scale, zero = scales(rng, shape, real), zero_points(rng, shape, dtype)
    x = zero_points(rng, SHAPE, dtype)
    same(
        onnx.dequantize_linear(x, scale, zero, axis=axis, block_size=block),
        twin.dequantize_linear(x, scale, zero, axis, block),
    )


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("shift", [-9.0, -1.0, 0.0, 0.3, 9.0])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_dynamic_quantize_is_its_twin(rng, size, shift, runtime):
    x = ((rng.standard_normal((3, 40)) + shift) * size).astype(np.float32)
    y, scale, zero = onnx.dynamic_quantize_linear(x, runtime=runtime)
    for got, want in zip((y, scale, zero), twin.dynamic_quantize_linear(x, runtime), strict=True):
        same(got, want)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_dynamic_quantize_of_zeros_is_its_twin(runtime):
    for x in (np.zeros((2, 3), np.float32), np.float32(-0.0)):
        got = onnx.dynamic_quantize_linear(x, runtime=runtime)
        for one, want in zip(got, twin.dynamic_quantize_linear(np.asarray(x), runtime), strict=True):
            same(one, want)


@pytest.mark.parametrize(("value", "code"), [(np.inf, 255), (-np.inf, 0), (3e38, 255), (-3e38, 0), (2.0**31, 255)])
def test_quotients_beyond_int32_saturate(value, code):
    assert onnx.quantize_linear(np.float32(value), 0.5, 200) == code
    assert onnx.quantize_linear(np.float32(value), 0.5, 200, runtime="ort") == code


def test_plain_numbers_take_the_type_that_is_told():
    x = np.float32([-300, 0.5, 300])
    assert onnx.quantize_linear(x, 1).dtype == np.uint8
    same(onnx.quantize_linear(x, 1, 5, output_dtype="int16"), np.int16([-295, 5, 305]))
    same(onnx.quantize_linear(x, 1.0, np.int8(5)), np.int8([-128, 5, 127]))
    same(onnx.dequantize_linear(np.int8([-128, 5]), 0.5, 5), np.float32([-66.5, 0]))


def test_integers_are_divided_in_float64():
    x = np.int32([2**28, 2**28 + 1])  # a tie, and just above one, where float32 would lose the last bits
    same(onnx.quantize_linear(x, np.int32(2**29)), np.uint8([0, 1]))


def test_precision_is_that_of_the_division():
    x = np.float32([0.45, 2.25])
    low = onnx.quantize_linear(x, np.float32(0.3), precision=np.float16)
    same(low, onnx.quantize_linear(x.astype(np.float16), np.float16(0.3)))
    assert (low != onnx.quantize_linear(x, np.float32(0.3))).any()


def test_types_of_dequantized_values():
    x = np.uint8([0, 1, 255])
    same(onnx.dequantize_linear(x, 0.3, output_dtype=np.float16), (x * np.float32(0.3)).astype(np.float16))
    assert onnx.dequantize_linear(x, ml_dtypes.bfloat16(0.5)).dtype == ml_dtypes.bfloat16
    assert np.isinf(onnx.dequantize_linear(x, np.float16(60000))[2])


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_small_integers_saturate_at_their_ends(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    info = ml_dtypes.iinfo(dtype)
    y = onnx.quantize_linear(np.float32([-99, -0.5, 0.5, 1.5, 99]), 1.0, output_dtype=dtype)
    assert y.dtype == dtype
    assert y.astype(int).tolist() == [info.min, 0, 0, min(2, info.max), info.max]
    assert onnx.dequantize_linear(y, 0.5).tolist() == [info.min / 2, 0, 0, min(2, info.max) / 2, info.max / 2]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_float8_saturates_if_it_is_told_to(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    x, largest = np.float32([1e6, -np.inf, np.nan, 1]), float(ml_dtypes.finfo(dtype).max)
    y = onnx.quantize_linear(x, 1.0, output_dtype=dtype).astype(np.float32)
    equal(y, [largest, -largest, np.nan, 1])
    assert not np.isfinite(onnx.quantize_linear(x, 1.0, output_dtype=dtype, saturate=False)[:3].astype(float)).any()


X = np.float32([[1, 2, 3], [4, 5, 6]])
Q = np.uint8([[1, 2, 3], [4, 5, 6]])
TWO = np.float32([1, 2])
E5M2 = np.ones(1, ml_dtypes.float8_e5m2)
REFUSED = [
    ({"x": X.astype(np.float64)}, TypeError, "x: expected float32, .* got float64"),
    ({"x": [[True]]}, TypeError, "x: expected float32, .* got bool"),
    ({"x": np.float32([[1, np.nan]])}, ValueError, "x: holds NaN"),
    ({"y_scale": 0.0}, ValueError, "y_scale: expected finite numbers other than 0, got 0.0"),
    ({"y_scale": np.inf}, ValueError, "y_scale: inf is not"),
    ({"y_scale": 1e39}, ValueError, "y_scale: 1e\\+39 is not a finite float32"),
    ({"y_scale": "1"}, TypeError, "y_scale: expected float32"),
    ({"y_scale": True}, TypeError, "y_scale: expected a number, got True"),
    ({"y_scale": np.float32([1, np.nan]), "axis": 0}, ValueError, "y_scale: expected finite numbers .* got nan"),
    ({"y_scale": TWO}, ValueError, r"y_scale: expected 1 value or 3, one along axis 1, got \(2,\)"),
    ({"y_scale": TWO, "axis": 2}, ValueError, r"axis: expected an axis of 2 dimensions, got 2, with y_scale \(2,\)"),
    ({"y_scale": TWO, "axis": 0.0}, TypeError, "axis: expected an integer, got 0.0"),
    ({"y_scale": np.ones((2, 3), np.float32)}, ValueError, "y_scale: expected 1 value or 3"),
    (
        {"y_scale": np.ones((2, 3), np.float32), "block_size": 2},
        ValueError,
        r"y_scale: expected shape \(2, 2\), blocks",
    ),
    ({"block_size": -1}, ValueError, "block_size: expected an integer in"),
    (
        {"x": X[0], "y_scale": np.float32([0.5]), "axis": -1, "block_size": 3, "runtime": "ort"},
        ValueError,
        "block_size: block_size must be 0 for per-tensor quantization",
    ),
    ({"y_zero_point": 256}, ValueError, r"y_zero_point: expected an integer in \[0, 255\], got 256"),
    ({"y_zero_point": -1}, ValueError, r"y_zero_point: expected an integer in \[0, 255\], got -1"),
    ({"y_zero_point": True}, TypeError, "y_zero_point: expected an integer, got True"),
    ({"y_zero_point": np.int32(3)}, TypeError, "y_zero_point: expected uint8, .* got int32"),
    ({"y_zero_point": np.zeros(2, np.uint8)}, ValueError, "y_zero_point: expected 1 value or 3"),
    ({"y_zero_point": np.uint8(3), "output_dtype": np.int8}, TypeError, "output_dtype: expected that of y_zero_point"),
    ({"output_dtype": np.int32}, TypeError, "output_dtype: expected uint8, .* got int32"),
    ({"output_dtype": "nothing"}, TypeError, "output_dtype: expected a dtype, got 'nothing'"),
    ({"y_zero_point": 1, "output_dtype": ml_dtypes.float8_e5m2}, ValueError, "y_zero_point: expected an integer in"),
    ({"y_zero_point": ml_dtypes.float4_e2m1fn(1)}, ValueError, "y_zero_point: expected 0 for float4_e2m1fn codes"),
    ({"precision": np.float64}, TypeError, "precision: expected float32"),
    ({"runtime": "tvm"}, ValueError, "runtime: expected one of onnx, ort, ort_avx2, ort_arm, ort_neon, got 'tvm'"),
    ({"x": X.astype(np.int32), "runtime": "ort"}, TypeError, "x: onnxruntime has no kernel for int32"),
    ({"y_scale": ml_dtypes.bfloat16(1), "runtime": "ort"}, TypeError, "y_scale, precision: onnxruntime has no kernel"),
    ({"precision": ml_dtypes.bfloat16, "runtime": "ort"}, TypeError, "y_scale, precision: onnxruntime has no kernel"),
    ({"output_dtype": ml_dtypes.float8_e5m2, "runtime": "ort"}, TypeError, "output_dtype, .* is not modelled"),
]


@pytest.mark.parametrize(("changes", "kind", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_quantize_refuses(changes, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.quantize_linear(**({"x": X, "y_scale": 1.0} | changes))


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"x": X}, TypeError, "x: expected uint8, .* got float32"),
        ({"x_scale": np.nan}, ValueError, "x_scale: nan is not a finite float32"),
        ({"x_scale": np.int32(1)}, TypeError, "x_scale: expected float32"),
        ({"x_scale": TWO}, ValueError, "x_scale: expected 1 value or 3"),
        ({"x_zero_point": np.int8(1)}, TypeError, "x_zero_point: expected uint8, got int8"),
        ({"x_zero_point": 300}, ValueError, "x_zero_point: expected an integer in"),
        ({"x": Q.astype(np.int32), "x_zero_point": 1}, ValueError, "x_zero_point: expected 0 for int32 codes, got 1"),
        ({"x": E5M2, "x_zero_point": E5M2[0]}, ValueError, "x_zero_point: expected 0 for float8_e5m2 codes"),
        ({"output_dtype": np.float64}, TypeError, "output_dtype: expected float32"),
    ],
)
def test_dequantize_refuses(changes, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.dequantize_linear(**({"x": Q, "x_scale": 1.0} | changes))


def test_int32_codes_are_rounded_to_float32_first():
    same(onnx.dequantize_linear(np.int32([2**24 + 1, 2**24 + 3]), 1.5), np.float32([1.5 * 2**24, 1.5 * (2**24 + 4)]))


def test_scales_of_0_are_dequantized():
    assert onnx.dequantize_linear(Q, 0.0).max() == 0


@pytest.mark.parametrize(
    ("x", "kind", "text"),
    [
        ([1.0], TypeError, "x: expected float32, got float64"),
        (np.zeros((0, 3), np.float32), ValueError, r"x: expected data, got none, shape \(0, 3\)"),
        (np.float32([1, np.nan]), ValueError, r"x: the range \(nan, nan\) has no float32 scale above 0"),
        (np.float32([np.nan]), ValueError, r"x: the range \(nan, nan\)"),
        (np.float32([1, np.inf]), ValueError, r"x: the range \(0.0, inf\)"),
        (np.float32([3e38, -3e38]), ValueError, r"x: the range \(-3e\+38, 3e\+38\)"),
        (np.float32([1e-45]), ValueError, r"x: the range \(0.0, 1e-45\)"),
    ],
)
def test_dynamic_quantize_refuses(x, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.dynamic_quantize_linear(x)
    with pytest.raises(ValueError, match=r"^runtime: expected one of"):
        onnx.dynamic_quantize_linear(X, runtime="numpy")


def test_a_type_that_is_no_text_is_refused_by_name():
    with pytest.raises(TypeError, match=r"^output_dtype: expected a dtype, got '.udc80'"):
        onnx.quantize_linear(np.float32([1.0]), 1.0, output_dtype="\udc80")
