"""What differs between TFLite's kernels: one table of facts, in which a kernel library is a column.

What each row means stands in `qops.tflite.facts`. The other modules read these facts; none asks for a library by name.
"""

from math import inf
from typing import Any

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.tflite.facts import Kernel
from qops.tflite.types import LITE, OF_CPUS, TAKES

__all__ = ["KERNELS", "Kernel", "kernel_for"]


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
_EITHER, _F32, _F64 = ("int8", "int16"), np.float32, np.float64
# fmt: off
_FACTS: dict[str, tuple[Any, ...]] = {
    #                           reference     optimized      xnnpack        tflm
    "conv":                    (_DOUBLE,      _UP,           _EVEN,         _DOUBLE),
    "conv_groups":             (_DOUBLE,      _DOUBLE,       _EVEN,         _DOUBLE),
    "conv_int4":               (_DOUBLE,      _UP,           _UP,           _DOUBLE),
    "conv_u8":                 (_DOUBLE,      _UP,           _EVEN,         ""),
    "conv_groups_u8":          (_DOUBLE,      _DOUBLE,       _EVEN,         ""),
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
    "checks_output_shape":     (True,         True,          True,          False),
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
    "add_int16_in_blocks":     (False,        True,          True,          False),
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
    "softmax":                 ("fixed point", "floats",      "floats",       "fixed point"),
    "float_log_softmax":       (False,        True,          True,          False),
    "softmax_s16":             (_F64,         _F64,          _F64,          _F32),
    "sigmoid_s8":              ("table",      "table",       "table",       "gemmlowp"),
    "sigmoid_float":           (_F32,         _F32,          _F64,          _F32),
    "table_zero_point":        ("outside",    "outside",     "inside",      "outside"),
    "sigmoid_s16":             ("table",      "gemmlowp",    "gemmlowp",    "table"),
    "sigmoid_output":          ("scale",      "scale",       "",            "zero point"),
    "norm_checks":             (True,         True,          True,          False),
    "ratio":                   (_F32,         _F32,          _F32,          _F64),
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
    "one_column":              ({},           {},            {},            {}),
    "left_shift":              ({},           {},            {},            {}),
    "depthwise_left_shift":    ({},           {},            {},            {}),
    "shifts_3x3_last":         ((),           (),            (),            ()),
    "pairs":                   ("",           "",            "",            ""),
    "rules_of_pairs":          ((),           (),            (),            ()),
    "depthwise_pairs":         ("",           "",            "",            ""),
    "transpose_pairs":         ("",           "",            "",            ""),
    "lstm_pairs":              ("",           "",            "",            ""),
    "wraps_below":             (False,        False,         True,          False),
    "int4_wraps_below":        (False,        False,         False,         False),
    "casts":                   ("lowest",     "lowest",      "lowest",      "lowest"),
    "fuses":                   (False,        False,         False,         False),
    "hard_swish_block":        (1,            1,             1,             1),
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
_ON_AVX2: dict[str, dict[str, Any]] = {
    "xnnpack_avx2": {"connected_int4_factor": 1, "wraps_below": False, "int4_wraps_below": True},
}
"""Columns of LiteRT on x86 without AVX-512, by what they have otherwise: XNNPACK's layers beyond int32."""
_RNDNU = "rndnu"
_REFERENCE_ARM: dict[str, Any] = {"casts": "saturates", "fuses": True, "wraps_below": False, "lstm_pairs": "whole"}
_ONCE_ARM: dict[str, Any] = _REFERENCE_ARM | {
    **{fact: _ONCE for fact in ("conv_int4", "conv_bias32", "connected_odd_int4", "connected_bias32")},
    "connected_no_bias": _ONCE,
    "one_column": {_ONCE: _UP},
    "shifts_3x3_last": (_UP,),
    "softmax": "16 bits",
    "hard_swish_block": 8,
}
_OPTIMIZED_ARM: dict[str, Any] = _ONCE_ARM | {
    **{fact: _ONCE for fact in ("conv", "conv_u8", "connected", "connected_int4", "connected_u8")},
    "left_shift": {_ONCE: "wraps"},
}
_XNNPACK_ARM: dict[str, Any] = _ONCE_ARM | {
    **{fact: _RNDNU for fact in ("conv_u8", "conv_groups_u8", "depthwise_u8", "connected_u8")},
    "mul": _RNDNU,
    "left_shift": {_ONCE: "wraps", _RNDNU: "saturates"},
    "depthwise_left_shift": {_RNDNU: "wraps"},
    "depthwise_pairs": "column",
}
_ON_ARM: dict[str, dict[str, Any]] = {
    "reference_arm": _REFERENCE_ARM,
    "optimized_arm": _OPTIMIZED_ARM,
    "optimized_neon": _OPTIMIZED_ARM | {"pairs": "window", "rules_of_pairs": (_ONCE,), "transpose_pairs": "pixels"},
    "xnnpack_arm": _XNNPACK_ARM,
    "xnnpack_neon": _XNNPACK_ARM | {"pairs": "tap", "rules_of_pairs": (_EVEN,), "transpose_pairs": "grid"},
}
"""Columns of LiteRT on 64-bit ARM by what they have otherwise than on x86.

"_arm" is of cores with dot products, and with i8mm, which give the same bits. "_neon" is of cores without them, as
Cortex-A53 and A72 (Raspberry Pi 3 and 4), which differ in sums of the lowest codes alone. Depthwise kernels of XNNPACK
and the LSTM of all kernels lose such sums on all cores. The reference is one column for all cores.
"""
_COLUMNS = {name: {fact: cells[i] for fact, cells in _FACTS.items()} for i, name in enumerate((*LITE, "tflm"))}
_COLUMNS |= {name: _COLUMNS[OF_CPUS[name]] | facts for name, facts in (_ON_AVX2 | _ON_ARM).items()}
_COLUMNS |= {name: _COLUMNS["tflm"] | facts for name, facts in _AS_TFLM.items()}
KERNELS = {name: Kernel(name, **facts) for name, facts in _COLUMNS.items()}
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
    if dtype.type.__name__ not in TAKES[op, name]:
        raise bad_value("kernel", f"{name} has no {dtype} {op}")
    return facts
