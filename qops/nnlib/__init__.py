"""What Qualcomm's hexagon nnlib (version 0x00021401) computes, bit for bit, quirks included.

A function has the name of nnlib's op in snake_case. Ops that differ in the type of the bias only, as Supernode_8x8p8to8
and Supernode_8x8p32to8, are one function, whose name is without the types. "The original" is nnlib, on the vector unit
(HVX) of its DSP unless a docstring says otherwise. The following holds for every function here; the docstrings do not
repeat it.

Tensors
    A tensor is a triple ``(data, min, max)``: codes, and two real values, which are read as float32. For uint8 codes
    they are the values of the codes 0 and 255, and one step is ``(max - min) / 255``. For int32 codes ``min == -max``,
    and one step is ``(max - min) / 2**32``. Two operands of one op may have any shapes that broadcast, unless it says
    otherwise.
``out``
    An array of the dtype and shape of the result, which is written there. It must not share memory with an input.
    Without it a new array is made.
Errors
    Every function raises TypeError or ValueError, which names the argument, for a type, dtype, word or integer that its
    docstring does not allow, a number that is not finite in float32, a range with min > max, a range of int32 codes
    that is not symmetric, shapes that do not fit together, and an ``out`` that does not fit or is read-only. An op that
    raises has written nothing. The section Raises lists what else an op refuses.
Formulas
    All arithmetic on real numbers is in float32, rounded after every operation. ``trunc`` rounds toward zero;
    ``half_up``, ``half_away`` and ``half_even`` round to the nearest integer and send ties up, away from zero, and to
    the even one. ``plus_half(v)`` is ``trunc(v + copysign(0.5, v))``: half away, but 0.49999997 becomes 1, and an odd
    number between 2**23 and 2**24 the next even one, because the sum is rounded to float32. ``sat_u8``, ``sat_s16`` and
    ``sat_s32`` saturate, ``>>`` is an arithmetic shift, which rounds down.
Zeros
    An op that subtracts the zero of an operand subtracts a code. A zero that lies between two codes is rounded to one
    of them, and a range that excludes 0 loses its offset.
Supernodes
    The prepared form of one packs its weights once, for images of any size and range. Called as ``op(x, out=None,
    num_threads=1)``, it gives what its function gives: each call is that of a node that has not run before. `Session`
    is a node that remembers its range. ``op.within(x, lo, hi)`` runs it in a range that another call has found, and
    ``op.sums(x)`` gives what it requantizes. `qops.explain` and `qops.debug` take such ops, with dumps of a device.

Not modelled: ``QuantizedConv2d_16x16to32``, ``GroupedConv2d_8x8p32to8``, ``InstanceNormBG_8``; other ops on 16-bit
codes; input supernodes with a stride of 3 across; groups of a transposed convolution; softmax of 5632 codes or more in
rows of 1408 or more; LRN over rows or columns; a bilinear resize of at most two channels with ``align_corners`` to four
times the width, a power of two; the range that a batch norm keeps from run to run, and how a graph gets one; other
versions than 0x00021401; the blocked ``_d32`` layout (its ops take plain arrays here); the vector paths of matmul and
conv2d.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.nnlib.add import quantized_add_8p8to8, quantized_add_8p8to8_integers
from qops.nnlib.add_8p8to32 import quantized_add_8p8to32
from qops.nnlib.add_node import QuantizedAdd8p8to8, QuantizedSub8p8to8D32
from qops.nnlib.batch_norm import quantized_batch_norm_8x8p8to8, quantized_batch_norm_8x8p32to8
from qops.nnlib.bias_add import quantized_bias_add_8p8to32, quantized_bias_add_32p32to32
from qops.nnlib.concat import quantized_concat_8, quantized_concat_8_ref
from qops.nnlib.convolution import quantized_conv2d_8x8to32
from qops.nnlib.depthwise_convolution import quantized_depthwise_conv2d_8x8to32
from qops.nnlib.depthwise_supernode import DepthwiseSupernode, depthwise_supernode
from qops.nnlib.dequantize import dequantize, dequantize_qint32_f
from qops.nnlib.extremes import quantized_maximum_8, quantized_minimum_8
from qops.nnlib.fuse import fuse
from qops.nnlib.input_supernode import InputSupernode, input_supernode
from qops.nnlib.instance_norm import quantized_instance_norm_8
from qops.nnlib.l2_pool import quantized_l2_pool_8
from qops.nnlib.lrn import quantized_lrn_8
from qops.nnlib.matmul import quantized_matmul_8x8to32
from qops.nnlib.mul import quantized_mul_8x8to8, quantized_mul_8x8to32
from qops.nnlib.multiply_shift import (
    MultiplierBelowOne,
    mul_by_quantized_multiplier,
    multiplier_below_one,
    rounding_divide_by_pot,
)
from qops.nnlib.pooling import quantized_avg_pool_8, quantized_max_pool_8
from qops.nnlib.prelu import quantized_prelu_8
from qops.nnlib.quantize import (
    auto_quantize,
    auto_quantize_ref,
    quantize,
    quantize_ref,
)
from qops.nnlib.quantize_32 import quantize_int32
from qops.nnlib.quantize_number import quantize_int, quantize_uint, quantize_uint8
from qops.nnlib.ranges import (
    AdjustedRange,
    LevelZero,
    MovedRange,
    adjust_minmax_fixed,
    adjust_minmax_for_zero,
    adjust_range,
    level_zero,
)
from qops.nnlib.reciprocal import quantized_div_8, quantized_recip_8, quantized_sqrt_8
from qops.nnlib.reduce import quantized_mean_8, quantized_sum_8to32
from qops.nnlib.relu import quantized_clamp_8, quantized_neg_8, quantized_relu_8, quantized_relux_8
from qops.nnlib.requantize import (
    quantize_down_and_shrink_range_32to8,
    requantization_range_32,
    requantize_8to8,
    requantize_32to8,
)
from qops.nnlib.requantize_16 import quantize_down_and_shrink_range_32to16, requantize_32to16
from qops.nnlib.requantize_codes import requantize_i32, requantize_i32_scalar, requantize_u8
from qops.nnlib.resize import quantized_resize_bilinear_8, resize_nearest_neighbor_8
from qops.nnlib.session import Session
from qops.nnlib.shapes import quantized_pad_8, quantized_split_8, quantized_strided_slice_8
from qops.nnlib.sigmoid import quantized_sigmoid_8, quantized_tanh_8
from qops.nnlib.softmax import quantized_softmax_8
from qops.nnlib.sub import quantized_sub_8p8to8_d32, quantized_sub_8p8to32
from qops.nnlib.super_fc import SuperFC, super_fc
from qops.nnlib.supernode import Supernode, supernode
from qops.nnlib.supernode3322 import Supernode3322, supernode3322
from qops.nnlib.transpose_conv2d import QuantizedTransposeConv2d8x8p32to8, quantized_transpose_conv2d_8x8p32to8

__all__ = [
    "AdjustedRange",
    "DepthwiseSupernode",
    "InputSupernode",
    "LevelZero",
    "MovedRange",
    "MultiplierBelowOne",
    "QuantizedAdd8p8to8",
    "QuantizedSub8p8to8D32",
    "QuantizedTransposeConv2d8x8p32to8",
    "Session",
    "SuperFC",
    "Supernode",
    "Supernode3322",
    "adjust_minmax_fixed",
    "adjust_minmax_for_zero",
    "adjust_range",
    "auto_quantize",
    "auto_quantize_ref",
    "depthwise_supernode",
    "dequantize",
    "dequantize_qint32_f",
    "fuse",
    "input_supernode",
    "level_zero",
    "mul_by_quantized_multiplier",
    "multiplier_below_one",
    "quantize",
    "quantize_down_and_shrink_range_32to8",
    "quantize_down_and_shrink_range_32to16",
    "quantize_int",
    "quantize_int32",
    "quantize_ref",
    "quantize_uint",
    "quantize_uint8",
    "quantized_add_8p8to8",
    "quantized_add_8p8to8_integers",
    "quantized_add_8p8to32",
    "quantized_avg_pool_8",
    "quantized_batch_norm_8x8p8to8",
    "quantized_batch_norm_8x8p32to8",
    "quantized_bias_add_8p8to32",
    "quantized_bias_add_32p32to32",
    "quantized_clamp_8",
    "quantized_concat_8",
    "quantized_concat_8_ref",
    "quantized_conv2d_8x8to32",
    "quantized_depthwise_conv2d_8x8to32",
    "quantized_div_8",
    "quantized_instance_norm_8",
    "quantized_l2_pool_8",
    "quantized_lrn_8",
    "quantized_matmul_8x8to32",
    "quantized_max_pool_8",
    "quantized_maximum_8",
    "quantized_mean_8",
    "quantized_minimum_8",
    "quantized_mul_8x8to8",
    "quantized_mul_8x8to32",
    "quantized_neg_8",
    "quantized_pad_8",
    "quantized_prelu_8",
    "quantized_recip_8",
    "quantized_relu_8",
    "quantized_relux_8",
    "quantized_resize_bilinear_8",
    "quantized_sigmoid_8",
    "quantized_softmax_8",
    "quantized_split_8",
    "quantized_sqrt_8",
    "quantized_strided_slice_8",
    "quantized_sub_8p8to8_d32",
    "quantized_sub_8p8to32",
    "quantized_sum_8to32",
    "quantized_tanh_8",
    "quantized_transpose_conv2d_8x8p32to8",
    "requantization_range_32",
    "requantize_8to8",
    "requantize_32to8",
    "requantize_32to16",
    "requantize_i32",
    "requantize_i32_scalar",
    "requantize_u8",
    "resize_nearest_neighbor_8",
    "rounding_divide_by_pot",
    "super_fc",
    "supernode",
    "supernode3322",
]
__dir__ = __all__.copy
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
