"""The front door: ops on ``(data, min, max)`` triples that are right, within a stated bound, for every valid input.

`qops` has the ops; here are their modules, each with its ops, their bounds and their integers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from qops._keywords import no_attribute

if TYPE_CHECKING:
    from qops.frontdoor import (
        add,
        bound,
        concat,
        conv2d,
        error,
        layer,
        lookup,
        matmul,
        mul,
        multiply_shift,
        observer,
        pad,
        passes,
        pool,
        quantize,
        relu,
        report,
        requantize,
        signed_error,
        softmax,
        sub,
        targets,
    )

__all__ = [
    "add",
    "bound",
    "concat",
    "conv2d",
    "error",
    "layer",
    "lookup",
    "matmul",
    "mul",
    "multiply_shift",
    "observer",
    "pad",
    "passes",
    "pool",
    "quantize",
    "relu",
    "report",
    "requantize",
    "signed_error",
    "softmax",
    "sub",
    "targets",
]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    """Import a module of this room when it is first used."""
    if name in __all__:
        return import_module(f"qops.frontdoor.{name}")
    raise no_attribute(__name__, name, __all__)
