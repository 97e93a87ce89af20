"""TFLite's integer kernels, bit for bit: LiteRT 2.3's reference, optimised and XNNPACK kernels, and TFLite Micro's.

Each function is an operator, under TFLite's name in snake_case. Arrays are plain codes: int8, uint8, or int16 with zero
points of 0. Images are NHWC. Arguments mean the same in all ops:

* ``x_scale``, ``x_zero_point`` and those of ``a``, ``b``, ``w`` and ``y``, the result: a value is ``scale * (code -
  zero_point)``. A scale is taken as float32, as model files have it.
* ``activation`` is the fused one: NONE, RELU, RELU6 or RELU_N1_TO_1.
* ``stride``, ``dilation`` and ``window`` are (vertical, horizontal), ``padding`` is SAME or VALID.
* ``kernel`` tells whose bits: "reference" (LiteRT's BUILTIN_REF), "optimized" (LiteRT without delegates), "xnnpack"
  (LiteRT's default, which takes what XNNPACK has not from the optimised kernels), "tflm" (TFLite Micro; the plain C of
  CMSIS-NN gives the same in convolutions, FULLY_CONNECTED, ADD, MUL and average pools), "tflm_until_2026_06" (TFLite
  Micro before sums of 16 by 8 bits without a bias had 48 bits) or "single_rounding" (TFLite Micro built with
  TFLITE_SINGLE_ROUNDING). These kernels of LiteRT are those of x86. XNNPACK's are those of AVX-512; those of AVX2,
  "xnnpack_avx2", are others where a sum is beyond int32. On 64-bit ARM LiteRT is "reference_arm", "optimized_arm" and
  "xnnpack_arm" (cores with dot products, also with i8mm), or "optimized_neon" and "xnnpack_neon" (cores without, as in
  a Raspberry Pi 3 or 4). What differs is a table of facts, `qops.tflite.kernels`, which says what each column rests
  on.

A prepared op is for a layer that runs many times: its constructor takes all arguments but the data, and `dtype`, the
type of the codes; it checks them, makes the integers and tables, and packs the weights. It has the name of its function
in CamelCase. The function does all of that for a single call, and keeps nothing.

Not modelled: ``BIDIRECTIONAL_SEQUENCE_LSTM``, ``CUMSUM``, ``DIV``, ``EQUAL``, ``GREATER``, ``LESS``, ``PACK``,
``RESHAPE``, ``SLICE``, ``SPLIT``, ``SPLIT_V``, ``STRIDED_SLICE``, ``TRANSPOSE``, ``UNPACK``; LiteRT on 32-bit ARM, and
on cores with SME; float activations with quantized weights (hybrid), but `qops.models` runs ``FULLY_CONNECTED``,
``CONV_2D`` and ``DEPTHWISE_CONV_2D`` of these as LiteRT does on x86, not on ARM, nor TFLite Micro; blockwise weights,
weights of 2 bits, sparse weights; LSTMs with peepholes, projection or layer norm.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.tflite.abs import Abs, Neg, abs, neg
from qops.tflite.add import Add, Sub, add, sub
from qops.tflite.batch_matmul import BatchMatmul, batch_matmul
from qops.tflite.concatenation import Concatenation, concatenation
from qops.tflite.convolution import Conv2D, conv_2d
from qops.tflite.depthwise import DepthwiseConv2D, depthwise_conv_2d
from qops.tflite.exp import Elu, Exp, Gelu, Log, elu, exp, gelu, log
from qops.tflite.extremes import Maximum, Minimum, maximum, minimum
from qops.tflite.fully_connected import FullyConnected, fully_connected
from qops.tflite.hard_swish import HardSwish, hard_swish
from qops.tflite.leaky_relu import LeakyRelu, Prelu, leaky_relu, prelu
from qops.tflite.log_softmax import L2Normalization, LogSoftmax, l2_normalization, log_softmax
from qops.tflite.logistic import Logistic, Tanh, logistic, tanh
from qops.tflite.lstm import LstmSequence, UnidirectionalSequenceLstm, unidirectional_sequence_lstm
from qops.tflite.mean import Mean, Sum, mean, sum
from qops.tflite.mul import Mul, SquaredDifference, mul, squared_difference
from qops.tflite.pad import Pad, PadV2, pad, padv2
from qops.tflite.pooling import AveragePool2D, MaxPool2D, average_pool_2d, max_pool_2d
from qops.tflite.quantize import Dequantize, Quantize, dequantize, quantize
from qops.tflite.reduce_max import ReduceMax, ReduceMin, reduce_max, reduce_min
from qops.tflite.relu import Relu, Relu0To1, Relu6, ReluN1To1, relu, relu6, relu_0_to_1, relu_n1_to_1
from qops.tflite.resize import ResizeBilinear, ResizeNearestNeighbor, resize_bilinear, resize_nearest_neighbor
from qops.tflite.softmax import Softmax, softmax
from qops.tflite.sqrt import Rsqrt, Sqrt, rsqrt, sqrt
from qops.tflite.svdf import Svdf, SvdfStep, svdf
from qops.tflite.transpose_conv import TransposeConv, transpose_conv

__all__ = [
    "Abs",
    "Add",
    "AveragePool2D",
    "BatchMatmul",
    "Concatenation",
    "Conv2D",
    "DepthwiseConv2D",
    "Dequantize",
    "Elu",
    "Exp",
    "FullyConnected",
    "Gelu",
    "HardSwish",
    "L2Normalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "Logistic",
    "LstmSequence",
    "MaxPool2D",
    "Maximum",
    "Mean",
    "Minimum",
    "Mul",
    "Neg",
    "Pad",
    "PadV2",
    "Prelu",
    "Quantize",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Relu0To1",
    "Relu6",
    "ReluN1To1",
    "ResizeBilinear",
    "ResizeNearestNeighbor",
    "Rsqrt",
    "Softmax",
    "Sqrt",
    "SquaredDifference",
    "Sub",
    "Sum",
    "Svdf",
    "SvdfStep",
    "Tanh",
    "TransposeConv",
    "UnidirectionalSequenceLstm",
    "abs",
    "add",
    "average_pool_2d",
    "batch_matmul",
    "concatenation",
    "conv_2d",
    "depthwise_conv_2d",
    "dequantize",
    "elu",
    "exp",
    "fully_connected",
    "gelu",
    "hard_swish",
    "l2_normalization",
    "leaky_relu",
    "log",
    "log_softmax",
    "logistic",
    "max_pool_2d",
    "maximum",
    "mean",
    "minimum",
    "mul",
    "neg",
    "pad",
    "padv2",
    "prelu",
    "quantize",
    "reduce_max",
    "reduce_min",
    "relu",
    "relu6",
    "relu_0_to_1",
    "relu_n1_to_1",
    "resize_bilinear",
    "resize_nearest_neighbor",
    "rsqrt",
    "softmax",
    "sqrt",
    "squared_difference",
    "sub",
    "sum",
    "svdf",
    "tanh",
    "transpose_conv",
    "unidirectional_sequence_lstm",
]
__dir__ = __all__.copy
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
