"""Quantized ops on ``(data, min, max)`` triples, right within a stated bound for every valid input.

quantize, dequantize                                real numbers to codes, and back
quantized_add_8p8to8, quantized_add_8p8to32         the sum of two tensors, of 8 or of 32 bits
quantized_sub_8p8to8, quantized_sub_8p8to32         the difference
quantized_mul_8x8to8, quantized_mul_8x8to32         the product, element by element
matmul, conv2d                                      sums of products, exact, into 32 bits
MatMul, Conv2D                                      the same, prepared: weights packed once for many inputs
relu                                                values below 0, and above a limit, cut off
requantization_range, requantize, requantize_32to8  codes of another range
multiply_shift                                      integers times a real factor, in fixed point
error                                               how far codes are from a float reference, in LSB
explain                                             which rule of a real system made these integers
vectors, add_vectors                                integers that tell a port of a rule, or of an add, from all others
isa_tier                                            which of the CPU's instructions are used

`nnlib`, `tensorflow`, `onednn`, `onnx` and `tflite` are what real systems compute, bit for bit; `rules` their roundings
by name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from qops._kernels.machine.tiers import name as _name_of_tier
except ModuleNotFoundError as missing:
    raise ImportError(
        f"{__path__[0]} is the source of qops, whose kernels are not compiled: run `make dev` there and use "
        ".venv/bin/python, or start Python in another folder to use a qops that is installed"
    ) from missing

if TYPE_CHECKING:  # these are imported when they are first used: see __getattr__
    from qops import affine, fixedpoint, frontdoor, isa, nnlib, onednn, onnx, rules, tensorflow, tflite
    from qops.frontdoor.add import quantized_add_8p8to8, quantized_add_8p8to32
    from qops.frontdoor.conv2d import Conv2D, conv2d
    from qops.frontdoor.error import ErrorReport, error
    from qops.frontdoor.matmul import MatMul, matmul
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

__version__ = "0.1.0"

_HOMES = {
    "frontdoor.add": ("quantized_add_8p8to8", "quantized_add_8p8to32"),
    "frontdoor.conv2d": ("Conv2D", "conv2d"),
    "frontdoor.error": ("ErrorReport", "error"),
    "frontdoor.matmul": ("MatMul", "matmul"),
    "frontdoor.mul": ("quantized_mul_8x8to8", "quantized_mul_8x8to32"),
    "frontdoor.multiply_shift": ("multiply_shift",),
    "frontdoor.passes": ("RangeInfo",),
    "frontdoor.quantize": ("dequantize", "quantize"),
    "frontdoor.relu": ("relu",),
    "frontdoor.requantize": ("requantization_range", "requantize", "requantize_32to8"),
    "frontdoor.sub": ("quantized_sub_8p8to8", "quantized_sub_8p8to32"),
    "qtensor": ("QTensor",),
    "tools.add_vectors": ("AddVectors", "add_vectors"),
    "tools.explain": ("explain",),
    "tools.explanation": ("Explanation",),
    "tools.vectors": ("Vectors", "vectors"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
"""The module that each public name comes from; all other public names are modules themselves."""


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of qops, when it is first used (PEP 562)."""
    if name in _HOME:
        value = getattr(import_module(f"qops.{_HOME[name]}"), name)
    elif name in __all__ or name in ("codes", "qtensor", "tools"):
        value = import_module(f"qops.{name}")
    else:
        raise AttributeError(f"module 'qops' has no attribute {name!r}")
    globals()[name] = value
    return value


def isa_tier() -> str:
    """Name of the tier of SIMD lanes in use: the loops of the kernels are there once for each kind of CPU.

    It is the best one that the CPU has: "avx2", "avxvnni", "avx512", "vnni" or "amx" on x86, "neon", "dotprod" or
    "i8mm" on ARM, and "plain", which is no lanes at all, elsewhere. The environment variable QOPS_ISA names another
    one.

    Returns
    -------
    str

    Examples
    --------
    >>> isa_tier() in ("plain", "avx2", "avxvnni", "avx512", "vnni", "amx", "neon", "dotprod", "i8mm")
    True
    """
    name: str = _name_of_tier()
    return name


__all__ = [
    "AddVectors",
    "Conv2D",
    "ErrorReport",
    "Explanation",
    "MatMul",
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
    "tflite",
    "vectors",
]
__dir__ = __all__.copy
