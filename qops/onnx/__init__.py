"""ONNX's quantization operators, bit for bit as the standard's reference or as onnxruntime's CPU kernels compute them.

Each function is an operator of the ONNX standard. Its arguments have the names and the order of the standard, and a
scalar may be a plain number. By default the results are those of the reference implementation in the package `onnx`
(`ReferenceEvaluator`, 1.23). `runtime` asks for those of onnxruntime 1.32, which depend on the CPU. Types that numpy
lacks (4 and 2 bit integers, float8, float4, bfloat16) are arrays and dtypes of the package `ml_dtypes`.

A prepared op is for a layer that runs many times: its constructor takes all arguments but the data, checks them, makes
the stage and packs the weights; a call takes the data. It has the name of its function in CamelCase. The function does
all of that for a single call, and keeps nothing.

onnxruntime's own operators (``com.microsoft``) have no reference: ``qlinear_add``, ``qgemm`` and their like have its
bits.

A runtime is a library on a kind of CPU:

======== ================================== ======================================= =========================
runtime  what it is                         sums of products                        floats
======== ================================== ======================================= =========================
onnx     the standard's reference           exact                                   each step is rounded
ort      onnxruntime on x86 with VNNI       exact                                   each step is rounded
ort_avx2 on x86 with AVX2, without VNNI     neighbours of uint8 by int8 saturate    each step is rounded
ort_arm  on 64-bit ARM with dot products    exact                                   fused multiply-adds
ort_neon on 64-bit ARM without dot products pairs of lowest codes lose 65,536       fused multiply-adds
======== ================================== ======================================= =========================

In ``ort_avx2``, neighbours are the codes (k, k+1) of a matrix. In ``qlinear_conv`` they are the channels of one tap
after the other, with padding; in ``conv_integer``, whose weights are uint8 and whose image is int8 where it saturates,
the taps of one channel after the other. Depthwise ``qlinear_conv`` is exact everywhere. ``ort_neon`` has the same
orders, and pairs (k, k+8) of each 16; in it also ``qlinear_conv`` of int8 by int8 is exact if zero points of weights
are 0. On ARM, ``qlinear_add`` has integers, ``qlinear_mul`` and products to float32 are fused multiply-adds, and means
beyond int32 saturate.

Between QuantizeLinear and DequantizeLinear of a model file, onnxruntime on x86 makes uint8 of int8 codes before it
fuses nodes. So layers of int8 by int8 saturate there in ``ort_avx2`` as those of uint8 by int8 do, and
``qops.models.load`` gives these bits. The operators themselves, on codes of int8, are exact.

The option ``session.x64quantprecision`` of onnxruntime makes ``ort_avx2`` exact, as ``ort``, where weights of int8 and
their zero points are constants of the file, of QLinear operators too. Weights that are given at run time saturate as
before. Where nodes share such a constant, a session with this option does not start.

Not modelled: ``QAttention``, ``QLinearWhere``, ``QLinearReduceMean``, ``MatMulNBits``; onnxruntime on GPUs, on CPUs
with AVX-512 and without VNNI, on ARM cores with SME, and its own operators without AVX2.
"""

from typing import TYPE_CHECKING

from qops._keywords import name_keywords, no_attribute
from qops.onnx.convolution import ConvInteger, conv_integer
from qops.onnx.dequantize import dequantize_linear
from qops.onnx.dynamic_quantize import DynamicallyQuantized, dynamic_quantize_linear
from qops.onnx.float_matmul import (
    DynamicQuantizeMatMul,
    MatMulIntegerToFloat,
    dynamic_quantize_matmul,
    matmul_integer_to_float,
)
from qops.onnx.matmul import MatMulInteger, matmul_integer
from qops.onnx.max_pool import MaxPool, max_pool
from qops.onnx.qgemm import QGemm, qgemm
from qops.onnx.qlinear_add import QLinearAdd, qlinear_add
from qops.onnx.qlinear_average_pool import (
    QLinearAveragePool,
    QLinearGlobalAveragePool,
    qlinear_average_pool,
    qlinear_global_average_pool,
)
from qops.onnx.qlinear_concat import QLinearConcat, qlinear_concat
from qops.onnx.qlinear_convolution import QLinearConv, qlinear_conv
from qops.onnx.qlinear_leaky_relu import QLinearLeakyRelu, qlinear_leaky_relu
from qops.onnx.qlinear_matmul import QLinearMatMul, qlinear_matmul
from qops.onnx.qlinear_mul import QLinearMul, qlinear_mul
from qops.onnx.qlinear_sigmoid import QLinearSigmoid, qlinear_sigmoid
from qops.onnx.qlinear_softmax import QLinearSoftmax, qlinear_softmax
from qops.onnx.quantize import QuantizeLinear, quantize_linear

__all__ = [
    "ConvInteger",
    "DynamicQuantizeMatMul",
    "DynamicallyQuantized",
    "MatMulInteger",
    "MatMulIntegerToFloat",
    "MaxPool",
    "QGemm",
    "QLinearAdd",
    "QLinearAveragePool",
    "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearMatMul",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QuantizeLinear",
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "dynamic_quantize_matmul",
    "matmul_integer",
    "matmul_integer_to_float",
    "max_pool",
    "qgemm",
    "qlinear_add",
    "qlinear_average_pool",
    "qlinear_concat",
    "qlinear_conv",
    "qlinear_global_average_pool",
    "qlinear_leaky_relu",
    "qlinear_matmul",
    "qlinear_mul",
    "qlinear_sigmoid",
    "qlinear_softmax",
    "quantize_linear",
]
__dir__ = __all__.copy
name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
