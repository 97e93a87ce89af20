"""qops: DSP-style quantized ops on ``(data, min, max)`` triples, and what real systems compute, bit for bit."""

from qops import affine, fixedpoint, isa, nnlib, onednn, tensorflow
from qops._kernels.isa import name as isa_tier
from qops.add import AddInfo, quantized_add_8p8to8, quantized_add_8p8to32
from qops.error import ErrorReport, error
from qops.multiply_shift import multiply_shift
from qops.qtensor import QTensor
from qops.quantize import dequantize, quantize
from qops.requantize import requantization_range, requantize_32to8

__all__ = [
    "AddInfo",
    "ErrorReport",
    "QTensor",
    "affine",
    "dequantize",
    "error",
    "fixedpoint",
    "isa",
    "isa_tier",
    "multiply_shift",
    "nnlib",
    "onednn",
    "quantize",
    "quantized_add_8p8to8",
    "quantized_add_8p8to32",
    "requantization_range",
    "requantize_32to8",
    "tensorflow",
]
