"""ONNX's quantization operators, bit for bit as the standard's reference or as onnxruntime's CPU kernels compute them.

Each function is an operator of the ONNX standard. Its arguments have the names and the order of the standard, and a
scalar may be a plain number. By default the results are those of the reference implementation in the package `onnx`
(`ReferenceEvaluator`, 1.23). With ``runtime="ort"`` they are those of onnxruntime 1.31 on x86. Types that numpy lacks
(4 and 2 bit integers, float8, float4, bfloat16) are arrays and dtypes of the package `ml_dtypes`.

A prepared op is for a layer that runs many times: its constructor takes all arguments but the data, checks them, makes
the stage and packs the weights; a call takes the data. It has the name of its function in CamelCase. The function does
all of that for a single call, and keeps nothing.

Not modelled: ``QLinearAdd``, ``QLinearMul``, ``QLinearAveragePool``, ``QLinearGlobalAveragePool``, ``QLinearConcat``,
``QLinearSigmoid``, ``QLinearLeakyRelu``, ``QGemm``, ``QAttention``, ``DynamicQuantizeMatMul``, ``MatMulNBits``;
onnxruntime on ARM and on GPUs (the sums, products and means of its CPU kernels are rules of ``qops.rules``).
"""

from qops.onnx.convolution import ConvInteger, conv_integer
from qops.onnx.dequantize import dequantize_linear
from qops.onnx.dynamic_quantize import DynamicallyQuantized, dynamic_quantize_linear
from qops.onnx.matmul import MatMulInteger, matmul_integer
from qops.onnx.qlinear_convolution import QLinearConv, qlinear_conv
from qops.onnx.qlinear_matmul import QLinearMatMul, qlinear_matmul
from qops.onnx.quantize import QuantizeLinear, quantize_linear

__all__ = [
    "ConvInteger",
    "DynamicallyQuantized",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
]
__dir__ = __all__.copy
