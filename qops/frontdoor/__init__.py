"""The front door: ops on ``(data, min, max)`` triples that are right, within a stated bound, for every valid input."""

from qops.frontdoor.add import quantized_add_8p8to8, quantized_add_8p8to32
from qops.frontdoor.conv2d import conv2d
from qops.frontdoor.matmul import matmul
from qops.frontdoor.mul import quantized_mul_8x8to8, quantized_mul_8x8to32
from qops.frontdoor.multiply_shift import multiply_shift
from qops.frontdoor.passes import RangeInfo
from qops.frontdoor.quantize import dequantize, quantize
from qops.frontdoor.relu import relu
from qops.frontdoor.requantize import requantization_range, requantize, requantize_32to8
from qops.frontdoor.sub import quantized_sub_8p8to8, quantized_sub_8p8to32

__all__ = [
    "RangeInfo",
    "conv2d",
    "dequantize",
    "matmul",
    "multiply_shift",
    "quantize",
    "quantized_add_8p8to8",
    "quantized_add_8p8to32",
    "quantized_mul_8x8to8",
    "quantized_mul_8x8to32",
    "quantized_sub_8p8to8",
    "quantized_sub_8p8to32",
    "relu",
    "requantization_range",
    "requantize",
    "requantize_32to8",
]
