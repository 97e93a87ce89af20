"""Bad values of the arguments of a good call: what `ops.OPS` says is a number, a word, a flag, an array, a tensor."""

import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction

import calls
import numpy as np
from numpy.lib.stride_tricks import as_strided
from ops import OPS, arrays, changed, function, is_tensor

NAN, INF = math.nan, math.inf
NOT_NUMBERS = {
    "text": "1",
    "bytes": b"1",
    "none": None,
    "bool": True,
    "numpy_bool": np.True_,
    "complex": 1j,
    "list": [1.0],
    "array": np.ones(2),
    "masked": np.ma.masked,
    "time": np.timedelta64(1, "s"),
}
NOT_FINITE = {
    "nan": NAN,
    "inf": INF,
    "minus_inf": -INF,
    "huge": 10**400,
    "unwritable": 10**5000,  # Python writes no more than 4300 digits
    "huge_fraction": Fraction(10**400),
}
NOT_INTEGERS = {"half": 1.5, "whole_float": 1.0, "huge": 10**400, "unwritable": 10**5000, "decimal": Decimal(1)}
NOT_ARRAYS = {
    "none": lambda x: None,
    "text": lambda x: "codes",
    "objects": lambda x: x.astype(object),
    "complex": lambda x: x.astype(complex),
    "bools": lambda x: x > 0,
    "times": lambda x: x.astype("m8[s]"),
    "records": lambda x: x.astype([("x", x.dtype)]),
    "masked": lambda x: np.ma.masked_equal(x, x.flat[0]),
}
NOT_TENSORS = {
    "none": lambda q, lo, hi: None,
    "number": lambda q, lo, hi: 5,
    "array": lambda q, lo, hi: q,
    "pair": lambda q, lo, hi: (q, lo),
    "four": lambda q, lo, hi: (q, lo, hi, hi),
    "nan": lambda q, lo, hi: (q, NAN, hi),
    "infinite": lambda q, lo, hi: (q, lo, INF),
    "beyond_float32": lambda q, lo, hi: (q, -1e39, 1e39),
    "inverted": lambda q, lo, hi: (q, 3.0, -3.0),
    **{f"{kind}_min": lambda q, lo, hi, value=value: (q, value, hi) for kind, value in NOT_NUMBERS.items()},
    **{f"{kind}_max": lambda q, lo, hi, value=value: (q, lo, value) for kind, value in NOT_NUMBERS.items()},
}
ALLOWED = {  # what the original takes too
    *(("isa.hvx_vasr_rnd_sat", "shift", kind) for kind in ("huge", "unwritable")),  # it has the lowest bits alone
    *(("nnlib.quantized_pad_8", "value", end) for end in ("inf", "minus_inf")),  # the ends of the range
    *((f"tensorflow.{name}", key, "inverted") for name, key in calls.tensorflow.RANGES_IN_ANY_ORDER),
    *(("tensorflow.quantize_v2", key, "list") for key in ("min_range", "max_range")),  # one number a slice
    *(("tensorflow.dequantize", "input", f"list_{end}") for end in ("min", "max")),
    *((name, end, "list") for name in ("quantize", "requantize", "requantize_32to8") for end in ("min", "max")),
    *(
        (name, "t", f"list_{end}")  # one number a channel
        for name in ("dequantize", "error", "relu", "requantize", "signed_error", "values")
        for end in ("min", "max")
    ),
    *(
        (f"onnx.{name}", f"{operand}_scale", "list")  # of one element
        for name, operands in {
            "quantize_linear": "y",
            "dequantize_linear": "x",
            "qlinear_matmul": "aby",
            "qlinear_conv": "xy",
            "qlinear_add": "ABC",
            "qlinear_mul": "ABC",
            "qlinear_sigmoid": "XY",
            "qlinear_leaky_relu": "XY",
            "qlinear_softmax": "XY",
            "qlinear_concat": "Y",
            "qlinear_average_pool": "xy",
            "qlinear_global_average_pool": "xy",
            "qgemm": "aby",
            "dynamic_quantize_matmul": "b",
            "matmul_integer_to_float": "ab",
        }.items()
        for operand in operands
    ),
    *((f"onnx.{name}", "b_scale", "array") for name in ("qgemm", "dynamic_quantize_matmul", "matmul_integer_to_float")),
    *(
        ("onnx.qlinear_matmul", f"{operand}_scale", "array") for operand in "ab"
    ),  # one for each row, one for each column
    *(
        ("tensorflow.requantization_range", "input", f"{kind}_{end}")
        for kind in ("list", "array")
        for end in ("min", "max")
    ),
    *((f"onednn.{cell}", "weights_scale", "list") for cell in ("lstm", "gru")),  # one scale, or one for each output
    ("rules.requantize", "scale", "list"),  # one for each channel
    *(("explain", "scale", kind) for kind in ("list", "array")),  # which finds the axis of so many channels
    *(("rules.real_scale", f"{end}_scale", kind) for end in ("in", "w", "out") for kind in ("list", "array")),
    *(  # ONNX: an input left out is None
        (f"onnx.{name}", f"{operand}_zero_point", "none")
        for name, operands in {
            "quantize_linear": "y",
            "dequantize_linear": "x",
            "matmul_integer": "ab",
            "conv_integer": "xw",
            "qlinear_add": "ABC",
            "qlinear_mul": "ABC",
            "qlinear_sigmoid": "XY",
            "qlinear_leaky_relu": "XY",
            "qlinear_softmax": "XY",
            "qlinear_concat": "Y",
            "qlinear_average_pool": "xy",
            "qlinear_global_average_pool": "xy",
            "qgemm": "ab",
            "dynamic_quantize_matmul": "b",
            "matmul_integer_to_float": "ab",
        }.items()
        for operand in operands
    ),
}
NOT_WORDS = ["none of these", "", "\udc80", None, 5, b"x", ["vnni"], NAN]
NOT_FLAGS = [None, 0, 1, "", "no", [True], np.array([True]), np.zeros(3), NAN]
RANGES = re.compile("(requested_output_)?(min|max)(_range)?")


def numbers(name):
    """The good values of the arguments that are numbers, those left to their defaults among them."""
    defaults = {p.name: p.default for p in inspect.signature(function(name)).parameters.values()}
    return {key: value for key, value in (defaults | OPS[name].good).items() if type(value) in (int, float)}


def words(name):
    defaults = {p.name: p.default for p in inspect.signature(function(name)).parameters.values()}
    return {key: value for key, value in (defaults | OPS[name].good).items() if type(value) is str}


def allowed(name, key, kind):
    """Whether a bad value of that kind is a good one for this argument."""
    return (kind == "none" and inspect.signature(function(name)).parameters[key].default is None) or (
        (name, key, kind) in ALLOWED
    )


def flags(name):
    """The arguments that are True or False."""
    parameters = inspect.signature(function(name)).parameters
    return [key for key, p in parameters.items() if p.annotation in (bool, "bool") or type(p.default) is bool]


def number_cases(name):
    """Each argument that is a number, the kinds of bad values for it, and the values."""
    for key, good in numbers(name).items():
        bad = NOT_NUMBERS | (NOT_FINITE if isinstance(good, float) else NOT_INTEGERS)
        yield from ((key, kind, bad[kind]) for kind in bad if not allowed(name, key, kind))


def array_cases(name):
    """Each argument that is an array or a tensor, and the kinds of bad values for it."""
    for key in arrays(name):
        yield from ((key, kind) for kind in NOT_ARRAYS if not allowed(name, key, kind))


def tensor_cases(name):
    """Each argument that is a tensor, and the kinds of values that are none."""
    for key in (key for key in arrays(name) if is_tensor(OPS[name].good[key])):
        yield from ((key, kind) for kind in NOT_TENSORS if not allowed(name, key, kind))


def blamed(key):
    """How the error begins where this number is bad: with its name, or with those of both ends of its range."""
    return rf"(min, max|{key})\b" if RANGES.fullmatch(key) else rf"{key}\b"


def bad_arguments(name):
    """Each argument of the good call with each bad value, and how the error begins."""
    yield from ((key, value, blamed(key)) for key, _, value in number_cases(name))
    yield from ((key, value, rf"{key}\b") for key in words(name) for value in NOT_WORDS)
    yield from ((key, value, rf"{key}: expected a bool, got ") for key in flags(name) for value in NOT_FLAGS)
    yield from ((key, changed(name, key, NOT_ARRAYS[kind]), rf"{key}\b") for key, kind in array_cases(name))
    for key, kind in tensor_cases(name):
        yield key, NOT_TENSORS[kind](*OPS[name].good[key]), rf"{key}\b"


def bad_outputs(good):
    """Arrays, and what is none, that are no `out` where `good` is one."""
    read_only = good.copy()
    read_only.flags.writeable = False
    first = [slice(0, 1)] * good.ndim
    return [
        good.astype(np.float64),
        good.astype(np.uint16),
        good.astype(object),
        good.tolist(),
        bytearray(good.nbytes),
        good[None],
        good.ravel()[: good.size // 2],
        read_only,
        as_strided(good[tuple(first)], good.shape, (0,) * good.ndim),
        as_strided(good, strides=(good.itemsize,) * good.ndim),
        *([good.astype(good.dtype.newbyteorder(">"))] if good.itemsize > 1 else []),
    ]


def blamed_by(text):
    """The arguments that an error text begins with."""
    return re.sub(r"\[\d+\]|(?<!,) (min|max|codes)\b", "", text.partition(":")[0]).split(", ")
