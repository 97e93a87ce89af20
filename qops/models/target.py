"""`Target`: names and sign conventions of a runtime. `PortedLayer`: a layer's constants and the C for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qops._readable import shows_fields
from qops.models.tensor import Tensor
from qops.rules import TABLE, Requantize, reduced_multiplier
from qops.rules.numbers import SINGLES

__all__ = ["PORTS", "WIDE", "PortedLayer", "Target", "call", "ending", "ends_of", "factors", "function"]

_CENTRED = 31  # TFLite's shift is this less the total right shift
WIDE = "tflite-int64acc"
"""The rule of sums of 48 bits in TFLite and TFLM."""


class Target(NamedTuple):
    """A system to port to: the runtime whose bits it gives, and its names for zero points and ends of codes.

    Attributes
    ----------
    runtime : str
        The runtime whose bits the port gives, as `qops.models.load` names it.
    wide : str
        The rule of sums of 48 bits.
    offsets : tuple of str
        The names of the zero points of data and weights, and of the result.
    sign : int
        1, or -1 where the system adds the zero points of data and weights, which are then negated.
    ends : tuple of str
        The names of the lowest and the highest code.
    """

    runtime: str
    wide: str
    offsets: tuple[str, str, str]
    sign: int
    ends: tuple[str, str]


_ADDED = ("input_offset", "filter_offset", "output_offset")
_OWN = ("input_zero_point", "kernel_zero_point", "output_zero_point")
PORTS = {
    "tflm": Target("tflm", WIDE, _ADDED, -1, ("activation_min", "activation_max")),
    "cmsis-nn": Target("tflm", "cmsis-s64", _ADDED, -1, ("activation_min", "activation_max")),
    "xnnpack": Target("xnnpack", WIDE, _OWN, 1, ("output_min", "output_max")),
    "onnxruntime": Target("ort", WIDE, _OWN, 1, ("output_min", "output_max")),
}
"""The systems of `params`, by name."""


@shows_fields
class PortedLayer(NamedTuple):
    """One layer as a port holds it.

    Attributes
    ----------
    name : str
        Its name, as C can have it.
    op : str
        The kind of the op.
    rules : list of str
        The rules that its C calls, as `qops.rules.c_source.emit_all` takes them.
    constants : dict
        Integers, floats and arrays, by name.
    code : str
        Functions in C, "" for ops without one: NAME_code makes one code of the result, NAME_row a row of them,
        NAME_step one step of an op with a memory; NAME_place names the place in the inputs, one after another, that a
        code comes from, -1 for ``pad_value``, and NAME_partN_place does so for each of several results.
    arguments : tuple of str
        What the function takes, for example ("sum", "channel"): a sum of products of codes less their zero points, with
        the bias, and the output channel.
    reads, writes : tuple of Tensor
        What the op reads, constants included, and what it writes.
    gap : str
        What qops does not have of the operator, in words; "" if it has it.
    """

    name: str
    op: str
    rules: list[str]
    constants: dict[str, Any]
    code: str = ""
    arguments: tuple[str, ...] = ()
    reads: tuple[Tensor, ...] = ()
    writes: tuple[Tensor, ...] = ()
    gap: str = ""


def factors(requantize: Requantize, rule: str) -> dict[str, Any]:
    """Give the scale of a rule in floats, or its multiplier and shift; shifts are positive to the left.

    Parameters
    ----------
    requantize : Requantize
    rule : str
        The rule of `TABLE` whose factors they are.

    Returns
    -------
    dict
    """
    row = TABLE[rule]
    if row.multiplier.startswith("float"):
        dtype = np.float32 if row.multiplier in (*SINGLES, "float64 of a float32") else np.float64
        return {"scale": np.asarray(requantize.scale, dtype)}
    multiplier, right_shift = (np.asarray(part) for part in requantize.integers)
    found = {"multiplier": multiplier.astype(np.int32), "shift": (_CENTRED - right_shift).astype(np.int32)}
    if rule == "cmsis-s64":
        found["reduced_multiplier"] = reduced_multiplier(multiplier).astype(np.int32)
    return found


def call(name: str, rule: str, value: str, of: str, rest: tuple[str, ...]) -> str:
    """Give the call of a rule in C.

    Parameters
    ----------
    name : str
        Of the layer.
    rule : str
    value : str
        What is requantized, in C.
    of : str
        The index of the channel, "" if there is one factor for all.
    rest : tuple of str
        The constants that come last.

    Returns
    -------
    str
    """
    last = ", ".join(f"{name}_{part}" for part in rest)
    if rule not in TABLE or TABLE[rule].multiplier.startswith("float"):
        numbers = f"{name}_scale{of}"
    elif rule == "cmsis-s64":
        numbers = f"{name}_reduced_multiplier{of}, 15 - {name}_shift{of}"
    else:
        numbers = f"{name}_multiplier{of}, 31 - {name}_shift{of}"
    return f"{rule.replace('-', '_').replace(' ', '_')}({value}, {numbers}, {last})"


def function(name: str, arguments: str, lines: list[str], kind: str = "int32_t", what: str = "code") -> str:
    """Give a function of a layer in C.

    Parameters
    ----------
    name : str
        Of the layer.
    arguments : str
    lines : list of str
        Its body.
    kind, what : str
        The type of its result, and what stands behind the name of the layer.

    Returns
    -------
    str
    """
    return "\n".join([f"static {kind} {name}_{what}({arguments})", "{", *lines, "}", ""])


def ending(how: Target) -> str:
    """Give what the zero points of operands are called."""
    return "offset" if how.sign < 0 else "zero_point"


def ends_of(integers: dict[str, Any], zero: int, how: Target) -> dict[str, Any]:
    """Give the zero point of the result and the ends of its codes by their names."""
    return {how.offsets[2]: zero, **dict(zip(how.ends, (integers["qmin"], integers["qmax"]), strict=True))}
