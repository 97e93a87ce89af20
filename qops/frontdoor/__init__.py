"""The front door: ops on ``(data, min, max)`` triples that are right, within a stated bound, for every valid input.

`qops` has the ops; here are their modules, each with its ops, their bounds and their integers.
"""

from qops.frontdoor import add, conv2d, error, matmul, mul, multiply_shift, passes, quantize, relu, requantize, sub

__all__ = [
    "add",
    "conv2d",
    "error",
    "matmul",
    "mul",
    "multiply_shift",
    "passes",
    "quantize",
    "relu",
    "requantize",
    "sub",
]
