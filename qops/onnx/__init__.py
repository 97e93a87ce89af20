"""ONNX's quantization operators, bit for bit as the standard's reference or as onnxruntime's CPU kernels compute them.

Each function is an operator of the ONNX standard, its arguments in the order and by the names of the standard; a plain
number does for a scalar. The default gives what the reference implementation of the `onnx` package gives
(`ReferenceEvaluator`, 1.23); ``runtime="ort"`` what onnxruntime 1.31 gives on x86, where the two differ. Types that
numpy lacks (4 and 2 bit integers, float8, float4, bfloat16) are taken as arrays and dtypes of the package `ml_dtypes`.
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
