"""Quantized ops on ``(data, min, max)`` triples, right within a stated bound for every valid input.

quantize, dequantize                                real numbers to codes, and back
range_of, Observer                                  the range that data should have, at once or from batches
add, sub, mul                                       sum, difference, product of two tensors, of 8 or of 32 bits
quantized_add_8p8to8, quantized_add_8p8to32         the sum of uint8 tensors, whose names say the types
quantized_sub_8p8to8, quantized_sub_8p8to32         the difference
quantized_mul_8x8to8, quantized_mul_8x8to32         the product, element by element
matmul, conv2d                                      layers: products, bias, clip, into 32 or 8 bits, rounded once
MatMul, Conv2D                                      the same, prepared: weights packed once for many inputs
relu                                                values below 0, and above a limit, cut off
max_pool, avg_pool                                  the largest and the mean value of windows over images
concat                                              tensors of different ranges, joined in one
pad                                                 elements of one value around a tensor
lookup                                              any function of one variable
softmax                                             shares of exponentials in their sum
requantization_range, requantize, requantize_32to8  codes of another range
multiply_shift                                      integers times a real factor, in fixed point
error, signed_error, values, bound                  how far codes are from a float reference, and may be, in LSB
sweep                                               the errors of an op on many ranges; `plot` draws them
explain                                             which rule of a real system made these integers
debug                                               which layer of a network differs first from a device's dump, and why
params                                              every constant that a port of a network needs, and its C
saturation, safe_products                           whether sums saturate on a machine, and how many products are safe
vectors, add_vectors, quantize_vectors, pool_vectors  numbers that tell a port of a rule from all others
isa_tier                                            which of the CPU's instructions are used

`nnlib`, `tensorflow`, `onednn`, `onnx` and `tflite` are what real systems compute, bit for bit; `rules` their roundings
by name. `models` reads model files, `testing` has assertions for test suites. `codes` has the code types: what the
codes of each dtype stand for.
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
    from qops import (
        affine,
        codes,
        fixedpoint,
        frontdoor,
        isa,
        models,
        nnlib,
        onednn,
        onnx,
        plot,
        rules,
        tensorflow,
        testing,
        tflite,
    )
    from qops.frontdoor.add import add, quantized_add_8p8to8, quantized_add_8p8to32
    from qops.frontdoor.bound import bound
    from qops.frontdoor.concat import concat
    from qops.frontdoor.conv2d import Conv2D, conv2d
    from qops.frontdoor.error import error
    from qops.frontdoor.lookup import lookup
    from qops.frontdoor.matmul import MatMul, matmul
    from qops.frontdoor.mul import mul, quantized_mul_8x8to8, quantized_mul_8x8to32
    from qops.frontdoor.multiply_shift import multiply_shift
    from qops.frontdoor.observer import Observer, range_of
    from qops.frontdoor.pad import pad
    from qops.frontdoor.passes import RangeInfo
    from qops.frontdoor.pool import avg_pool, max_pool
    from qops.frontdoor.quantize import dequantize, quantize
    from qops.frontdoor.relu import relu
    from qops.frontdoor.report import ErrorReport
    from qops.frontdoor.requantize import requantization_range, requantize, requantize_32to8
    from qops.frontdoor.signed_error import signed_error, values
    from qops.frontdoor.softmax import softmax
    from qops.frontdoor.sub import quantized_sub_8p8to8, quantized_sub_8p8to32, sub
    from qops.qtensor import QTensor
    from qops.tools.debug.debug import debug
    from qops.tools.debug.hunt import Hunt
    from qops.tools.explain.explain import explain
    from qops.tools.explain.explanation import Explanation
    from qops.tools.params.params import Params, params
    from qops.tools.saturation.repairs import Repairs, RepairTried
    from qops.tools.saturation.report import Saturation
    from qops.tools.saturation.report_layer import SaturationLayer
    from qops.tools.saturation.safe_products import SafeProducts, safe_products
    from qops.tools.saturation.saturation import saturation
    from qops.tools.sweep.sweep import Sweep, SweepRow, sweep
    from qops.tools.vectors.add_vectors import AddVectors, add_vectors
    from qops.tools.vectors.pool_vectors import PoolVectors, pool_vectors
    from qops.tools.vectors.quantize_vectors import QuantizeVectors, quantize_vectors
    from qops.tools.vectors.vectors import Vectors, vectors

__version__ = "0.1.0"

_HOMES = {
    "frontdoor.add": ("add", "quantized_add_8p8to8", "quantized_add_8p8to32"),
    "frontdoor.bound": ("bound",),
    "frontdoor.concat": ("concat",),
    "frontdoor.conv2d": ("Conv2D", "conv2d"),
    "frontdoor.error": ("error",),
    "frontdoor.lookup": ("lookup",),
    "frontdoor.matmul": ("MatMul", "matmul"),
    "frontdoor.mul": ("mul", "quantized_mul_8x8to8", "quantized_mul_8x8to32"),
    "frontdoor.multiply_shift": ("multiply_shift",),
    "frontdoor.observer": ("Observer", "range_of"),
    "frontdoor.pad": ("pad",),
    "frontdoor.passes": ("RangeInfo",),
    "frontdoor.pool": ("avg_pool", "max_pool"),
    "frontdoor.quantize": ("dequantize", "quantize"),
    "frontdoor.relu": ("relu",),
    "frontdoor.report": ("ErrorReport",),
    "frontdoor.requantize": ("requantization_range", "requantize", "requantize_32to8"),
    "frontdoor.signed_error": ("signed_error", "values"),
    "frontdoor.softmax": ("softmax",),
    "frontdoor.sub": ("quantized_sub_8p8to8", "quantized_sub_8p8to32", "sub"),
    "qtensor": ("QTensor",),
    "tools.vectors.add_vectors": ("AddVectors", "add_vectors"),
    "tools.vectors.pool_vectors": ("PoolVectors", "pool_vectors"),
    "tools.vectors.quantize_vectors": ("QuantizeVectors", "quantize_vectors"),
    "tools.debug.debug": ("debug",),
    "tools.explain.explain": ("explain",),
    "tools.explain.explanation": ("Explanation",),
    "tools.debug.hunt": ("Hunt",),
    "tools.params.params": ("Params", "params"),
    "tools.saturation.repairs": ("RepairTried", "Repairs"),
    "tools.saturation.report": ("Saturation",),
    "tools.saturation.report_layer": ("SaturationLayer",),
    "tools.saturation.safe_products": ("SafeProducts", "safe_products"),
    "tools.saturation.saturation": ("saturation",),
    "tools.sweep.sweep": ("Sweep", "SweepRow", "sweep"),
    "tools.vectors.vectors": ("Vectors", "vectors"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
"""The module that each public name comes from; all other public names are modules themselves."""


def __getattr__(name: str) -> Any:
    """Import a public name, or a module of qops, when it is first used (PEP 562)."""
    if name in _HOME:
        value = getattr(import_module(f"qops.{_HOME[name]}"), name)
        if isinstance(value, type):
            import_module("qops._keywords").name_keywords_of_class(value)
    elif name in __all__ or name in ("qtensor", "tools"):
        value = import_module(f"qops.{name}")
    else:
        raise import_module("qops._keywords").no_attribute(__name__, name, __all__)
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
    >>> qops.isa_tier() in ("plain", "avx2", "avxvnni", "avx512", "vnni", "amx", "neon", "dotprod", "i8mm")
    True
    """
    name: str = _name_of_tier()
    return name


__all__ = [
    "AddVectors",
    "Conv2D",
    "ErrorReport",
    "Explanation",
    "Hunt",
    "MatMul",
    "Observer",
    "Params",
    "PoolVectors",
    "QTensor",
    "QuantizeVectors",
    "RangeInfo",
    "RepairTried",
    "Repairs",
    "SafeProducts",
    "Saturation",
    "SaturationLayer",
    "Sweep",
    "SweepRow",
    "Vectors",
    "add",
    "add_vectors",
    "affine",
    "avg_pool",
    "bound",
    "codes",
    "concat",
    "conv2d",
    "debug",
    "dequantize",
    "error",
    "explain",
    "fixedpoint",
    "frontdoor",
    "isa",
    "isa_tier",
    "lookup",
    "matmul",
    "max_pool",
    "models",
    "mul",
    "multiply_shift",
    "nnlib",
    "onednn",
    "onnx",
    "pad",
    "params",
    "plot",
    "pool_vectors",
    "quantize",
    "quantize_vectors",
    "quantized_add_8p8to8",
    "quantized_add_8p8to32",
    "quantized_mul_8x8to8",
    "quantized_mul_8x8to32",
    "quantized_sub_8p8to8",
    "quantized_sub_8p8to32",
    "range_of",
    "relu",
    "requantization_range",
    "requantize",
    "requantize_32to8",
    "rules",
    "safe_products",
    "saturation",
    "signed_error",
    "softmax",
    "sub",
    "sweep",
    "tensorflow",
    "testing",
    "tflite",
    "values",
    "vectors",
]
__dir__ = __all__.copy
