"""Quantized ops on ``(data, min, max)`` triples, right within a stated bound for every valid input.

quantize, dequantize                                real numbers to codes, and back
quantized_add_8p8to8, quantized_add_8p8to32         the sum of two tensors, of 8 or of 32 bits
quantized_sub_8p8to8, quantized_sub_8p8to32         the difference
quantized_mul_8x8to8, quantized_mul_8x8to32         the product, element by element
matmul, conv2d                                      sums of products, exact, into 32 bits
relu                                                values below 0, and above a limit, cut off
requantization_range, requantize, requantize_32to8  codes of another range
multiply_shift                                      integers times a real factor, in fixed point
error                                               how far codes are from a float reference, in LSB
explain                                             which rule of a real system made these integers
vectors, add_vectors                                integers that tell a port of a rule, or of an add, from all others
isa_tier                                            which of the CPU's instructions are used

`nnlib`, `tensorflow`, `onednn` and `onnx` are what real systems compute, bit for bit; `rules` their roundings by name.
"""

import sys

try:
    from qops.compiled import isa_tier
except ModuleNotFoundError as missing:
    raise ImportError(
        f"{__path__[0]} is the source of qops, whose kernels are not compiled: run `make dev` there and use "
        ".venv/bin/python, or start Python in another folder to use a qops that is installed"
    ) from missing
from qops import affine, fixedpoint, frontdoor, isa, nnlib, onednn, onnx, rules, tensorflow
from qops.frontdoor.add import quantized_add_8p8to8, quantized_add_8p8to32
from qops.frontdoor.conv2d import conv2d
from qops.frontdoor.error import ErrorReport, error
from qops.frontdoor.matmul import matmul
from qops.frontdoor.mul import quantized_mul_8x8to8, quantized_mul_8x8to32
from qops.frontdoor.multiply_shift import multiply_shift
from qops.frontdoor.passes import RangeInfo
from qops.frontdoor.quantize import dequantize, quantize
from qops.frontdoor.relu import relu
from qops.frontdoor.requantize import requantization_range, requantize, requantize_32to8
from qops.frontdoor.sub import quantized_sub_8p8to8, quantized_sub_8p8to32
from qops.qtensor import QTensor
from qops.tools.add_vectors import AddVectors, add_vectors
from qops.tools.explain import explain
from qops.tools.explanation import Explanation
from qops.tools.vectors import Vectors, vectors

for _name, _module in [*sys.modules.items()]:
    if _name.startswith("qops.") and "._" not in _name:
        vars(_module)["__dir__"] = vars(_module).get("__all__", []).copy  # what completion and help() show
        for _type in vars(_module).values():
            # help() of a named tuple shows the types of its fields as they are written
            if isinstance(_type, type) and hasattr(_type, "_fields"):
                _written = {word: getattr(t, "__forward_arg__", t) for word, t in _type.__annotations__.items()}
                _type.__new__.__annotations__ = _written

__version__ = "0.1.0"

__all__ = [
    "AddVectors",
    "ErrorReport",
    "Explanation",
    "QTensor",
    "RangeInfo",
    "Vectors",
    "add_vectors",
    "affine",
    "conv2d",
    "dequantize",
    "error",
    "explain",
    "fixedpoint",
    "frontdoor",
    "isa",
    "isa_tier",
    "matmul",
    "multiply_shift",
    "nnlib",
    "onednn",
    "onnx",
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
    "rules",
    "tensorflow",
    "vectors",
]
__dir__ = __all__.copy
