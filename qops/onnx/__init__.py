"""ONNX's quantization operators, bit for bit as the standard's reference or as onnxruntime's CPU kernels compute them.

Each function is an operator of the ONNX standard. Its arguments have the names and the order of the standard, and a
scalar may be a plain number. By default the results are those of the reference implementation in the package `onnx`
(`ReferenceEvaluator`, 1.23). With ``runtime="ort"`` they are those of onnxruntime 1.31 on x86. Types that numpy lacks
(4 and 2 bit integers, float8, float4, bfloat16) are arrays and dtypes of the package `ml_dtypes`.

Convolutions and products keep the filters, or the second matrix, packed for calls that repeat their arguments. Each
call compares these with copies, so arrays may be changed in place. An operator keeps copies of up to 64 MB, and what is
packed of them.
"""

from qops.onnx.convolution import conv_integer, qlinear_conv
from qops.onnx.dynamic_quantize import DynamicallyQuantized, dynamic_quantize_linear
from qops.onnx.matmul import matmul_integer, qlinear_matmul
from qops.onnx.quantize import dequantize_linear, quantize_linear

__all__ = [
    "DynamicallyQuantized",
    "conv_integer",
    "dequantize_linear",
    "dynamic_quantize_linear",
    "matmul_integer",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
]
__dir__ = __all__.copy
