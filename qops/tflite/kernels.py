"""What differs between TFLite's kernels: one table of facts, in which a kernel library is a column.

The other modules read these facts. None of them asks for a kernel library by name.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.checks import choice
from qops.tflite.arithmetic import scaled, scaled_once
from qops.tflite.types import LITE, TAKES

__all__ = ["KERNELS", "Kernel", "kernel_for"]


class Kernel(NamedTuple):
    """One library of kernels. A rule is a name in `qops.rules.TABLE`; "" means that there is no such kernel."""

    name: str
    conv: str
    """The rule of convolutions of int8, without groups."""
    conv_groups: str
    """The same with groups."""
    conv_int4: str
    """The same for weights of 4 bits, without groups; with groups it is the one of the tail, as for int16 by int32."""
    conv_u8: str
    """The same for uint8, without groups; with groups it is that of int8."""
    conv_bias32: str
    """The same for int16 with a bias of int32; with one of int64 it is "tflite-int64acc"."""
    conv_no_bias: str
    """The same for int16 without a bias; sums of a rule of 32 bits wrap."""
    depthwise: str
    """The rule of depthwise convolutions of int8."""
    depthwise_int4: str
    """The same for weights of 4 bits."""
    depthwise_u8: str
    """The same for uint8, without groups; with groups it is that of int8."""
    depthwise_block: int
    """Channels that a depthwise convolution computes together. Channels behind the last block take the tail's rule."""
    channel_block: int
    """The same for weights of 4 bits, and in TRANSPOSE_CONV."""
    tail: str
    """The rule of the elements that fill no block."""
    channel_scale: str
    """How the scale of a convolution of int8 is made, in the words of `qops.rules.real_scale`."""
    u8_scale: str
    """The same of uint8."""
    ignores_w_zero_point: bool
    """Whether DEPTHWISE_CONV_2D of int8 takes a zero point of the weights, which it does not read."""
    scale_below: float
    """The scale from which on there is no convolution of 8 bits."""
    needs_bias: bool
    """Whether CONV_2D refuses to run without a bias."""
    depthwise_needs_bias: bool
    """Whether DEPTHWISE_CONV_2D of 8 bits does."""
    checks_bias: bool
    """Whether the scale of a bias is compared with that of the sums, where all channels have one scale."""
    svdf_bias_off: float
    """How far the scale of a bias of SVDF may be from that of its sums."""
    biases_by_option: bool
    """Whether an option, not the tensor, gives the type of the bias of CONV_2D and TRANSPOSE_CONV of int16."""
    transpose: str
    """The rule of TRANSPOSE_CONV of int8."""
    transpose_block: int
    """Channels that it computes together."""
    transpose_beyond: str
    """The rule that takes over where padding is SAME and the window smaller than the stride."""
    transpose_bias32: str
    """The same for int16 with a bias of int32."""
    connected: str
    """The rule of FULLY_CONNECTED of int8, with weights of 8 bits."""
    connected_int4: str
    """The same with weights of 4 bits, an even number for each sum."""
    connected_odd_int4: str
    """The same for an odd number, which XNNPACK leaves to the optimised kernel."""
    connected_int4_factor: int
    """What an even number of weights and the bias are multiplied by, and the scale divided; sums wrap earlier."""
    connected_u8: str
    """The same for uint8, without groups; with groups it is that of int8."""
    connected_scale: str
    """How the one scale of a FULLY_CONNECTED is made."""
    connected_odd_scale: str
    """The same for an odd number of weights of 4 bits for each sum."""
    connected_wide: str
    """The rule for int16 with a bias of int64."""
    connected_no_bias: str
    """The same without a bias; sums of a rule of 32 bits wrap."""
    connected_bias32: str
    """The same with a bias of int32."""
    connected_int16: str
    """The rule of int16 with weights of 16 bits."""
    connected_channels_int4: bool
    """Whether weights of 4 bits may have a scale for each output."""
    matmul: str
    """The rule of BATCH_MATMUL of int8, if the zero point of b is 0."""
    matmul_offset: str
    """The same for another zero point."""
    matmul_scale: str
    """How BATCH_MATMUL of int8 makes its scale, if the zero point of b is 0."""
    matmul_other_scale: str
    """The same for another zero point, and for int16."""
    matmul_16x8: tuple[str, ...]
    """Types of b beside int16 that go with an a of int16."""
    limits: str
    """Where 8 bits add the zero point to the limits of an activation: "outside" of a rounding half away from 0, as
    the kernels that take over do, or "inside" of one half to even."""
    checks_activation: bool
    """Whether a limit of a convolution's activation, in steps of the result, must fit int32."""
    rounds_once: bool
    """Whether multipliers round once, half up; else twice, half up and half away."""
    add: str
    """The rule of ADD of 8 bits, in `qops.rules.ADD`; "blocks" are those of 16 elements, of uint8 8, of "optimized"."""
    sub: str
    """The same of SUB."""
    add_beyond: str
    """The one of ADD that takes over where ratios of scales are not in [2**-10, 2**8)."""
    sub_beyond: str
    """The one of SUB."""
    any_zero_point: bool
    """Whether the zero points of operands of ADD and MUL need not be codes."""
    shifts_int16: bool
    """Whether ADD and SUB of int16 have a kernel for scales that are powers of two."""
    mul: str
    """The rule of MUL of int8; "blocks" are those of 16 elements."""
    mul_beyond: str
    """The one that takes over where the scale is not in [2**-16, 2**8)."""
    mul_scale: str
    """How MUL makes its scale."""
    difference_aborts: bool
    """Whether SQUARED_DIFFERENCE ends the process if the last ratio of scales is 1 or more."""
    pool_rescales: bool
    """Whether pools take a result of another scale or zero point than x, whose codes they copy."""
    max_pool_same: bool
    """Whether MAX_POOL_2D of 8 bits, with strides within its window, demands one scale and zero point of x and y, but
    for a window of 1 by 1 with an activation, which is then all that it computes."""
    mean: str
    """How MEAN of 8 bits is made: "integer", "blocks" of 16 channels over the spatial axes, or "float"."""
    sum: str
    """How SUM is made: "bytes", which reads int8 as uint8, "linear" in float32, "float", or "integer"."""
    reduce_scales: bool
    """Whether REDUCE_MAX and REDUCE_MIN take a result of another scale than x."""
    float_softmax: bool
    """Whether SOFTMAX of 8 bits and LOG_SOFTMAX of int8 use tables of float32."""
    sigmoid_s8: str
    """How LOGISTIC and TANH of int8 are made: a "table" of float32, or "gemmlowp"."""
    sigmoid_float: str
    """The type in which the table of LOGISTIC of 8 bits is made, before its values become float32."""
    table_zero_point: str
    """Where LOGISTIC, TANH and ELU of 8 bits add the zero point: "outside" or "inside" of the rounding."""
    sigmoid_s16: str
    """The same for int16, if the scale is the power of two of that kernel; else a table of 256 sigmoids is used."""
    sigmoid_output: str
    """What LOGISTIC of 8 bits demands of the result: its "scale", its "zero point" of -128, or nothing."""
    norm_checks: bool
    """Whether L2_NORMALIZATION refuses another scale or zero point of the result than the one that it has."""
    ratio: str
    """The type of the ratios of scales in ABS, LEAKY_RELU, PRELU, RELU and SVDF."""
    leaky: str
    """How LEAKY_RELU of 8 bits is made: "integer", or "8.8", of multipliers with 8 bits behind the point."""
    leaky_s16_signed: bool
    """Whether a negative slope of LEAKY_RELU of int16 is a negative multiplier; else the product is negated."""
    relu6_rescales: bool
    """Whether RELU6 takes codes to the scale of the result; else it only clamps."""
    rsqrt_s16: str
    """How RSQRT of int16 is made: a "table" of 513 entries, or "integer"."""
    prelu_alpha_s16: tuple[str, ...]
    """The types that alpha may have in PRELU of int16, which reads its bytes as int8."""
    quantize: str
    """How QUANTIZE of float32 is made: "divide", "blocks" of 8 elements, or "even"."""
    requantize: str
    """How QUANTIZE of 8 bits to 8 bits is made: "integer", "blocks" of 16 elements, or "8.8"."""
    dequantize_block: int
    """Elements that DEQUANTIZE computes together, as ``x * scale - zero_point * scale`` in float32."""
    bilinear_bits: int
    """The fraction of the weights of RESIZE_BILINEAR of int8, in bits; 10 is TFLite's, which truncates positions."""
    bilinear_weights: bool
    """Whether RESIZE_BILINEAR of uint8 multiplies the two weights of a pixel first, not the pixel by one of them."""
    concatenates_any: bool
    """Whether CONCATENATION ignores a fused activation."""
    reads_int32: bool
    """Whether PAD and PADV2 read paddings of int64 as words of int32."""
    quantizes: dict[str, str]
    """The types that QUANTIZE makes of a type."""
    lstm: str
    """The arithmetic of the LSTM: "lite" or "micro"."""
    state_s8: bool
    """Whether SVDF keeps a state of int8."""

    def scaled(self, x: Any, by: tuple[Any, Any]) -> NDArray[np.int64]:
        """Give x times a multiplier, rounded as often as the kernel library does."""
        return (scaled_once if self.rounds_once else scaled)(x, by)


_DOUBLE, _ONCE, _UP, _EVEN = "tflite-double", "tflite-single", "half-up-double", "fp32-even"
_AWAY, _WIDE = "double-away", "tflite-int64acc"
_LITE = {
    "float32": "int8 int16 uint8",
    "int8": "int8 int16 uint8",
    "int16": "int8 int16 int32",
    "uint8": "int8 int16 uint8",
    "int32": "int8 int16",
}
_MICRO = {
    "float32": "int8 int16",
    "int8": "int8 int16 uint8 int32",
    "int16": "int8 int16 int32",
    "uint8": "int8",
    "int32": "int8 int16",
}
_EITHER = ("int8", "int16")
# fmt: off
_FACTS: dict[str, tuple[Any, ...]] = {
    #                           reference     optimized      xnnpack        tflm
    "conv":                    (_DOUBLE,      _UP,           _EVEN,         _DOUBLE),
    "conv_groups":             (_DOUBLE,      _DOUBLE,       _EVEN,         _DOUBLE),
    "conv_int4":               (_DOUBLE,      _UP,           _UP,           _DOUBLE),
    "conv_u8":                 (_DOUBLE,      _UP,           _EVEN,         ""),
    "conv_bias32":             (_DOUBLE,      _UP,           _UP,           _DOUBLE),
    "conv_no_bias":            (_WIDE,        _WIDE,         _WIDE,         _WIDE),
    "depthwise":               (_DOUBLE,      _UP,           _EVEN,         _DOUBLE),
    "depthwise_int4":          ("",           _UP,           _UP,           _DOUBLE),
    "depthwise_u8":            (_DOUBLE,      _DOUBLE,       _EVEN,         ""),
    "depthwise_block":         (1,            8,             1,             1),
    "channel_block":           (1,            8,             8,             1),
    "tail":                    (_DOUBLE,      _DOUBLE,       _DOUBLE,       _DOUBLE),
    "channel_scale":           ("double",     "double",      "f32",         "double"),
    "u8_scale":                ("f32-product", "f32-product", "f32",        "f32-product"),
    "ignores_w_zero_point":    (True,         True,          False,         True),
    "scale_below":             (inf,          inf,           256.0,         inf),
    "needs_bias":              (True,         True,          True,          False),
    "depthwise_needs_bias":    (False,        True,          True,          False),
    "checks_bias":             (True,         True,          False,         True),
    "svdf_bias_off":           (inf,          inf,           inf,           1e-5),
    "biases_by_option":        (True,         True,          True,          False),
    "transpose":               (_DOUBLE,      _UP,           _EVEN,         _DOUBLE),
    "transpose_block":         (1,            8,             1,             1),
    "transpose_beyond":        (_DOUBLE,      _UP,           _UP,           _DOUBLE),
    "transpose_bias32":        (_DOUBLE,      _UP,           _UP,           ""),
    "connected":               (_AWAY,        _UP,           _EVEN,         _DOUBLE),
    "connected_int4":          (_AWAY,        _UP,           _EVEN,         _DOUBLE),
    "connected_odd_int4":      (_AWAY,        _UP,           _UP,           _DOUBLE),
    "connected_int4_factor":   (1,            1,             16,            1),
    "connected_u8":            (_AWAY,        _UP,           _EVEN,         ""),
    "connected_scale":         ("double",     "f32-product", "f32",         "double"),
    "connected_odd_scale":     ("double",     "f32-product", "f32-product", "double"),
    "connected_wide":          (_AWAY,        _AWAY,         _AWAY,         _WIDE),
    "connected_no_bias":       (_AWAY,        _UP,           _UP,           _WIDE),
    "connected_bias32":        (_AWAY,        _UP,           _UP,           _DOUBLE),
    "connected_int16":         (_WIDE,        _WIDE,         _WIDE,         ""),
    "connected_channels_int4": (True,         True,          True,          False),
    "matmul":                  (_DOUBLE,      _DOUBLE,       _EVEN,         _DOUBLE),
    "matmul_offset":           (_DOUBLE,      _DOUBLE,       _DOUBLE,       _DOUBLE),
    "matmul_scale":            ("f32-product", "f32-product", "f32",        "double"),
    "matmul_other_scale":      ("f32-product", "f32-product", "f32-product", "double"),
    "matmul_16x8":             (("int8",),    ("int8",),     ("int8",),     ()),
    "limits":                  ("outside",    "outside",     "inside",      "outside"),
    "checks_activation":       (True,         True,          False,         True),
    "rounds_once":             (False,        False,         False,         False),
    "add":                     (_DOUBLE,      "blocks",      "xnnpack",     _DOUBLE),
    "sub":                     (_DOUBLE,      _DOUBLE,       "xnnpack",     _DOUBLE),
    "add_beyond":              ("",           "",            "blocks",       ""),
    "sub_beyond":              ("",           "",            _DOUBLE,        ""),
    "any_zero_point":          (True,         True,          False,         True),
    "shifts_int16":            (True,         True,          True,          False),
    "mul":                     (_DOUBLE,      "blocks",      _EVEN,         _DOUBLE),
    "mul_beyond":              ("",           "",            "blocks",       ""),
    "mul_scale":               ("f32",        "f32",         "f32",         "double"),
    "difference_aborts":       (True,         True,          True,          False),
    "pool_rescales":           (True,         True,          True,          False),
    "max_pool_same":           (False,        False,         True,          False),
    "mean":                    ("integer",    "blocks",      "float",       "integer"),
    "sum":                     ("bytes",      "linear",      "float",       "integer"),
    "reduce_scales":           (False,        False,         True,          False),
    "float_softmax":           (False,        True,          True,          False),
    "sigmoid_s8":              ("table",      "table",       "table",       "gemmlowp"),
    "sigmoid_float":           ("float32",    "float32",     "float64",     "float32"),
    "table_zero_point":        ("outside",    "outside",     "inside",      "outside"),
    "sigmoid_s16":             ("table",      "gemmlowp",    "gemmlowp",    "table"),
    "sigmoid_output":          ("scale",      "scale",       "",            "zero point"),
    "norm_checks":             (True,         True,          True,          False),
    "ratio":                   ("float32",    "float32",     "float32",     "float64"),
    "leaky":                   ("integer",    "integer",     "8.8",         "integer"),
    "leaky_s16_signed":        (False,        True,          True,          False),
    "relu6_rescales":          (True,         True,          True,          False),
    "rsqrt_s16":               ("table",      "table",       "table",       "integer"),
    "prelu_alpha_s16":         (_EITHER,      _EITHER,       _EITHER,       ("int8",)),
    "quantize":                ("divide",     "blocks",      "even",        "divide"),
    "requantize":              ("integer",    "blocks",      "8.8",         "integer"),
    "dequantize_block":        (1,            8,             1,             1),
    "bilinear_bits":           (10,           10,            11,            10),
    "bilinear_weights":        (False,        True,          False,         False),
    "concatenates_any":        (False,        False,         True,          False),
    "reads_int32":             (False,        False,         False,         True),
    "quantizes":               (_LITE,        _LITE,         _LITE,         _MICRO),
    "lstm":                    ("lite",       "lite",        "lite",        "micro"),
    "state_s8":                (False,        False,         False,         True),
}
# fmt: on
_AS_TFLM: dict[str, dict[str, Any]] = {
    "tflm_until_2026_06": {"conv_no_bias": _DOUBLE, "connected_no_bias": _DOUBLE},
    "single_rounding": {fact: _ONCE for fact, cells in _FACTS.items() if cells[3] == _DOUBLE} | {"rounds_once": True},
}
"""Columns by what they have otherwise than "tflm".

"tflm_until_2026_06": TFLite Micro before its change "Ensure int64 accumulation for bias-less 16x8 ops" of June 2026. It
rests on that change and its description; no results of that version are stored.

"single_rounding": TFLite Micro built with TFLITE_SINGLE_ROUNDING. The rule itself is held by results of its function
and of CMSIS-NN's, and ADD and MUL of int8 by those of CMSIS-NN built so. All else rests on the source, in which every
op calls that function; results of whole ops of such a build are not stored.
"""
_COLUMNS = {name: {fact: cells[i] for fact, cells in _FACTS.items()} for i, name in enumerate((*LITE, "tflm"))}
KERNELS = {
    name: Kernel(name, **facts)
    for name, facts in (_COLUMNS | {name: _COLUMNS["tflm"] | facts for name, facts in _AS_TFLM.items()}).items()
}
"""All kernel libraries, by name."""


def kernel_for(name: str, op: str, dtype: "np.dtype[Any]") -> Kernel:
    """Give the facts of a kernel library; ValueError if there is none of that name, or it has no such op.

    Examples
    --------
    >>> from qops.tflite.kernels import kernel_for
    >>> kernel_for("xnnpack", "ADD", np.dtype("int8")).add
    'xnnpack'
    >>> kernel_for("tflm", "ADD", np.dtype("uint8"))
    Traceback (most recent call last):
    ValueError: kernel: tflm has no uint8 ADD
    """
    facts = KERNELS[choice(name, "kernel", KERNELS)]
    if dtype.name not in TAKES[op, name]:
        raise ValueError(f"kernel: {name} has no {dtype} {op}")
    return facts
