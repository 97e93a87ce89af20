"""The registry of public ops: one good call of each, which the sweeps over all rooms start from.

A public function that is not in `OPS` fails a test. From the good call the sweeps derive what else they need: an array
or a tensor (a tuple that begins with an array) is laid out in other ways, resized and spoilt; a number is replaced.
"""

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import calls_of_frontdoor
import calls_of_onednn
import calls_of_rules
import calls_of_tensorflow
import calls_of_tflite
import calls_of_uniform
import numpy as np

import qops
from qops import affine, fixedpoint, isa, nnlib, onednn, onnx, rules, tensorflow, tflite
from qops._kernels.machine import tiers

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])
S8 = np.int8([[-128, -3, 0], [7, 90, 127]])
S16 = np.int16([[-32768, -300, 0], [7, 900, 32767]])
PAIRS_U8 = np.arange(16, dtype=np.uint8).reshape(2, 8) * 17
PAIRS_S8 = (np.arange(16, dtype=np.int16).reshape(2, 8) * 16 - 120).astype(np.int8)
ACC = np.int32([[1, -70_000, 2**31 - 1, 9], [0, 5, -(2**31), 3]])[:, :2]
IMAGE = (np.arange(2 * 3 * 5 * 4) * 37 % 256).astype(np.uint8).reshape(2, 3, 5, 4)
TAPS = (np.arange(4 * 3 * 2 * 2) * 29 % 256 - 128).astype(np.int8).reshape(4, 3, 2, 2)

U8_, S32_ = (CODES, -1.0, 2.0), (CODES_32, -4.0, 4.0)
PIXELS, FILTERS = (IMAGE, -1.0, 2.0), ((TAPS.view(np.uint8)).reshape(2, 2, 4, 3), 0.0, 3.0)
MOVES = {"stride": (2, 1), "padding": "SAME"}
A_B = {"a": U8_, "b": (OTHER, 0.0, 3.0)}
Q_U8 = {"x_scale": 0.5, "x_zero_point": 9, "w_scale": np.float32([0.5, 1, 2, 4]), "w_zero_point": 3}
PARTS = (calls_of_frontdoor, calls_of_tensorflow, calls_of_uniform, calls_of_rules, calls_of_onednn, calls_of_tflite)
"""Modules with calls of their own."""


class Op(NamedTuple):
    """A good call of an op."""

    good: dict[str, Any]
    out: Any = None
    """The type of `out`; None if the op takes none."""
    each: bool = True
    """It works element by element, on arrays of any shape."""
    rows: bool = False
    """Each row of `out` must be contiguous."""


OPS = {
    "isa_tier": Op({}, each=False),
    "explain": Op({"x": CODES_32, "y": S8, "scale": 1e-7}, each=False),
    "sweep": Op({"op": qops.relu, "exact": np.abs, "ranges": [(-1.0, 2.0)], "codes": 9}, each=False),
    "vectors": Op({"rule": "fp32-even", "scale": 0.3, "zero_point": 5}),
    "add_vectors": Op({"rule": "frontdoor", "a_range": (0.0, 1.0), "b_range": (0.0, 1.0), "y_range": (0.0, 2.0)}),
    "fixedpoint.apply_multiplier": Op({"x": CODES_32, "multiplier": 1 << 30, "right_shift": 32}, np.int32),
    "fixedpoint.quantize_multiplier": Op({"factor": 0.3}),
    "affine.holding_zero": Op({"min": -1.0, "max": 2.0}),
    "affine.exact": Op({"min": -1.0, "max": 1.55}),
    "affine.max_abs": Op({"limit": 2.0}),
    "affine.symmetric": Op({"limit": 2.0}),
    # --- instructions
    "isa.saturate": Op({"x": np.int64(CODES_32), "dtype": np.int16}),
    "isa.vpaddd": Op({"a": CODES_32, "b": CODES_32[::-1].copy()}),
    "isa.vpmovsxbw": Op({"a": S8}),
    "isa.vpmovzxbw": Op({"a": CODES}),
    "isa.vpmulhrsw": Op({"a": S16, "b": S16[::-1].copy()}),
    "isa.vpmaddubsw": Op({"a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.vpmaddwd": Op({"a": np.int16(PAIRS_U8) * 99, "b": np.int16(PAIRS_S8) * 99}, each=False),
    "isa.vpdpbusd": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.dot4_maddubs": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.dot4_widened": Op({"c": ACC, "a": PAIRS_U8, "b": PAIRS_S8}, each=False),
    "isa.hvx_vasr_rnd_sat": Op({"x": S16, "shift": 3, "dtype": np.uint8}),
    "isa.hvx_vavg": Op({"a": S16, "b": S16[::-1].copy()}),
    "isa.hvx_vmpa": Op({"a": CODES, "b": OTHER, "scale_a": -128, "scale_b": 127}),
    "isa.hvx_vmpy_h_s1_rnd_sat": Op({"u": S16, "v": S16[::-1].copy()}),
    "isa.hvx_vmpye_vmpyo_s1_rnd_sat": Op({"u": CODES_32, "v": CODES_32[::-1].copy()}),
    "isa.hvx_vsat_ub": Op({"x": S16}),
    # --- nnlib
    "nnlib.adjust_minmax_fixed": Op({"min": -1.0, "max": 2.0, "fixed": 0}),
    "nnlib.adjust_minmax_for_zero": Op({"min": -1.0, "max": 2.0}),
    "nnlib.adjust_range": Op({"min": -1.0, "max": 2.0}),
    "nnlib.level_zero": Op({"min": -1.0, "max": 2.0}),
    "nnlib.multiplier_below_one": Op({"x": 0.3}),
    "nnlib.auto_quantize": Op({"x": REALS}, np.uint8),
    "nnlib.auto_quantize_ref": Op({"x": REALS}, np.uint8),
    "nnlib.quantize": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.uint8),
    "nnlib.quantize_ref": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.uint8),
    "nnlib.quantize_int": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.quantize_uint": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.quantize_uint8": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.dequantize": Op({"t": U8_}, np.float32),
    "nnlib.dequantize_qint32_f": Op({"t": S32_}, np.float32),
    "nnlib.quantized_add_8p8to8": Op({**A_B, "guess_min": 0.0, "guess_max": 1.0}, np.uint8),
    "nnlib.quantized_add_8p8to8_integers": Op({"a": (-1.0, 2.0), "b": (0.0, 3.0), "range": (-1.0, 5.0)}),
    "nnlib.quantized_add_8p8to32": Op(A_B, np.int32),
    "nnlib.quantized_bias_add_8p8to32": Op({"x": U8_, "bias": (OTHER, 0.0, 3.0)}, np.int32),
    "nnlib.quantized_avg_pool_8": Op({"x": PIXELS, "window": (2, 3), **MOVES}, np.uint8, each=False),
    "nnlib.quantized_max_pool_8": Op({"x": PIXELS, "window": (2, 3), **MOVES}, np.uint8, each=False),
    "nnlib.quantized_conv2d_8x8to32": Op({"x": PIXELS, "w": FILTERS, **MOVES}, np.int32, each=False),
    "nnlib.quantized_matmul_8x8to32": Op({"a": U8_, "b": (OTHER.T.copy(), 0.0, 3.0)}, np.int32, each=False),
    "nnlib.quantized_bias_add_32p32to32": Op({"x": S32_, "bias": (CODES_32[::-1].copy(), -2.0, 2.0)}, np.int32),
    "nnlib.quantized_clamp_8": Op({"t": U8_, "lower": -0.5, "upper": 1.0}, np.uint8),
    "nnlib.quantized_concat_8": Op({"tensors": [U8_, (OTHER, 0.0, 3.0)]}, np.uint8, each=False),
    "nnlib.quantized_concat_8_ref": Op({"tensors": [U8_, (OTHER, 0.0, 3.0)]}, np.uint8, each=False),
    "nnlib.quantized_maximum_8": Op({**A_B, "min": -1.5, "max": 3.5}, np.uint8),
    "nnlib.quantized_minimum_8": Op({**A_B, "min": -1.5, "max": 3.5}, np.uint8),
    "nnlib.quantized_mul_8x8to8": Op(A_B, np.uint8, each=False),  # a single element is no factor of each
    "nnlib.quantized_mul_8x8to32": Op(A_B, np.int32),
    "nnlib.quantized_neg_8": Op({"t": U8_}, np.uint8),
    "nnlib.quantized_relu_8": Op({"t": U8_}, np.uint8),
    "nnlib.quantized_relux_8": Op({"t": U8_, "limit": 1.0}, np.uint8),
    "nnlib.quantized_sub_8p8to8_d32": Op({**A_B, "guess_min": -3.0, "guess_max": 1.0}, np.uint8),
    "nnlib.quantized_sub_8p8to32": Op(A_B, np.int32),
    "nnlib.quantize_down_and_shrink_range_32to8": Op({"t": S32_}, np.uint8),
    "nnlib.requantization_range_32": Op({"t": S32_}),
    "nnlib.requantize_8to8": Op({"t": U8_, "min": -2.0, "max": 1.984375}, np.uint8),
    "nnlib.quantize_int32": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.int32),
    "nnlib.quantize_down_and_shrink_range_32to16": Op({"t": S32_}, np.int16),
    "nnlib.requantize_32to16": Op({"t": S32_, "min": -1.0, "max": 1.5}, np.int16),
    "nnlib.requantize_32to8": Op({"t": S32_, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_i32": Op({"x": CODES_32, "level": 1e-9, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_i32_scalar": Op({"x": CODES_32, "level": 1e-9, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_u8": Op({"x": CODES, "gain": 0.7, "in_zero": 80, "out_zero": 90}, np.uint8),
    "nnlib.mul_by_quantized_multiplier": Op({"x": CODES_32, "multiplier": 1 << 30, "shift": 2}, np.int32),
    "nnlib.rounding_divide_by_pot": Op({"x": CODES_32, "exponent": 5}, np.int32),
    **{name: Op(**call) for calls in PARTS for name, call in calls.CALLS.items()},
    # --- ONNX
    "onnx.quantize_linear": Op({"x": REALS, "y_scale": 0.01, "y_zero_point": 100}, np.uint8),
    "onnx.dequantize_linear": Op({"x": CODES, "x_scale": 0.01, "x_zero_point": 100}, np.float32),
    "onnx.dynamic_quantize_linear": Op({"x": REALS}, each=False),
    "onnx.matmul_integer": Op({"A": CODES, "B": OTHER.T.copy(), "a_zero_point": 5}, np.int32, each=False),
    "onnx.qlinear_matmul": Op(
        {"a": CODES, "a_scale": 0.1, "a_zero_point": 9, "b": S8.T.copy(), "b_scale": 0.5, "b_zero_point": -3}
        | {"y_scale": 99.0, "y_zero_point": 128},
        np.uint8,
        each=False,
    ),
    "onnx.conv_integer": Op({"x": IMAGE, "w": TAPS, "x_zero_point": 9, "pads": [1, 0, 0, 2]}, np.int32, each=False),
    "onnx.qlinear_conv": Op(
        {"x": IMAGE, "w": TAPS, **Q_U8, "y_scale": 500.0, "y_zero_point": 128, "B": ACC.ravel()}, np.uint8, each=False
    ),
}
PREPARED = {
    "MatMul": ("matmul", ("a",)),
    "Conv2D": ("conv2d", ("x",)),
    "rules.Requantize": ("rules.requantize", ("acc",)),
    "rules.Quantize": ("rules.quantize", ("x",)),
    "rules.Add": ("rules.add", ("a", "b")),
    "rules.Mul": ("rules.mul", ("a", "b")),
    "rules.AveragePool": ("rules.average_pool", ("x",)),
    "onednn.Convolution": ("onednn.convolution", ("src", "dst_in")),
    "onednn.InnerProduct": ("onednn.inner_product", ("src", "dst_in")),
    "onednn.MatMul": ("onednn.matmul", ("src", "dst_in")),
    "onednn.GemmU8S8S32": ("onednn.gemm_u8s8s32", ("a", "c")),
    "onednn.GemmS8S8S32": ("onednn.gemm_s8s8s32", ("a", "c")),
    "onnx.ConvInteger": ("onnx.conv_integer", ("x",)),
    "onnx.QLinearConv": ("onnx.qlinear_conv", ("x",)),
    "onnx.MatMulInteger": ("onnx.matmul_integer", ("A",)),
    "onnx.QLinearMatMul": ("onnx.qlinear_matmul", ("a",)),
    "onnx.QuantizeLinear": ("onnx.quantize_linear", ("x",)),
    **calls_of_tflite.PREPARED,
}
"""Prepared ops: the function whose bits each gives, and those of its arguments that are data, which a call takes."""
ROOMS = {"": qops, "affine": affine, "fixedpoint": fixedpoint, "isa": isa} | {
    "nnlib": nnlib,
    "tensorflow": tensorflow,
    "onednn": onednn,
    "onnx": onnx,
    "rules": rules,
    "tflite": tflite,
    "onednn.workflow": onednn.workflow,
}
TOOLS = {"bound", "sweep", "isa_tier", "explain", "vectors", "add_vectors"}
FRONT_DOOR = [name for name in OPS if name.rpartition(".")[0] in {"", "affine", "fixedpoint"} and name not in TOOLS]
OUTPUTS = [name for name, op in OPS.items() if op.out]


def function(name):
    room, _, attribute = name.rpartition(".")
    return getattr(ROOMS[room], attribute)


def call(name, **changes):
    return function(name)(**{**OPS[name].good, **changes})


def own_functions(module):
    """The public functions that a package exports, or that a module defines."""
    names = (
        module.__all__ if hasattr(module, "__all__") else vars(module)
    )  # a room may import them when they are asked for
    found = {name: getattr(module, name) for name in names}
    found = {name: value for name, value in found.items() if inspect.isroutine(inspect.unwrap(value))}
    if hasattr(module, "__all__"):
        return found
    own = {name: value for name, value in found.items() if inspect.unwrap(value).__module__ == module.__name__}
    functions = {name: value for name, value in own.items() if inspect.isfunction(inspect.unwrap(value))}
    return {name: value for name, value in functions.items() if not name.startswith("_")}


def public():
    """The names of all public functions, as `OPS` has them."""
    return [f"{room}.{name}".lstrip(".") for room, module in ROOMS.items() for name in own_functions(module)]


def words(name):
    """The arguments that are words, with the ones of the good call."""
    defaults = {key: p.default for key, p in inspect.signature(function(name)).parameters.items()}
    return {key: value for key, value in {**defaults, **OPS[name].good}.items() if isinstance(value, str)}


def is_tensor(value):
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.ndarray)


def arrays(name):
    """The names of the arguments that are arrays, or tensors."""
    return [key for key, value in OPS[name].good.items() if isinstance(value, np.ndarray) or is_tensor(value)]


def changed(name, key, change):
    """A good argument with `change` made to its array."""
    value = OPS[name].good[key]
    return (change(value[0]), *value[1:]) if is_tensor(value) else change(value)


def parts(result):
    """What a result is made of: arrays, numbers, words."""
    if isinstance(result, qops.QTensor):
        return [result.data, result.min, result.max, result.code_type.name]
    if isinstance(result, (tuple, list)):  # a named tuple too
        return [part for value in result for part in parts(value)]
    if hasattr(result, "__dataclass_fields__"):
        return parts([getattr(result, field) for field in result.__dataclass_fields__])
    if isinstance(result, Mapping):
        return parts([*result.items()])
    return [result]


def same(one, two):
    """Bit equality of two results."""
    assert type(one) is type(two)
    lefts, rights = parts(one), parts(two)
    assert len(lefts) == len(rights)
    for left, right in zip(lefts, rights, strict=True):
        assert type(left) is type(right)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            assert left.shape == right.shape
            assert left.tobytes() == right.tobytes(), f"{left} is not {right}"
        elif left is None or isinstance(left, (str, int, float, complex, np.generic)):
            assert repr(left) == repr(right)


def first_array(result):
    """The array of a result: a QTensor's codes, the first of several arrays, or the array itself."""
    if isinstance(result, (tflite.SvdfStep, tflite.LstmSequence)):
        return result.y
    return result.data if isinstance(result, qops.QTensor) else result


def on_every_tier(op, *arguments, **keywords):
    """The result of a call, the same bits from the plain loop and from every SIMD body that this CPU has."""
    before, results = tiers.name(), []
    try:
        for tier in tiers.available():
            tiers.use(tier)
            results.append(op(*arguments, **keywords))
    finally:
        tiers.use(before)
    for other in results[1:]:
        same(other, results[0])
    return results[0]
