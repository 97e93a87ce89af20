"""The constants of a layer under the names and with the signs of the system that it is ported to, and its C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.checks import choice
from qops.models import Graph, Layer, Op, Tensor
from qops.models.tflite_writer import packed_int4
from qops.rules import BLOCKS, TABLE, Requantize, reduced_multiplier
from qops.rules.numbers import SINGLES

__all__ = ["PORTS", "Port", "Ported", "ported"]

_CENTRED = 31  # TFLite's shift is this less the total right shift
_WIDE = "tflite-int64acc"


class Port(NamedTuple):
    """A system to port to: whose bits, and what it calls zero points and ends of codes.

    Attributes
    ----------
    runtime : str
        Whose bits, as `qops.models.load` names them.
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
    "tflm": Port("tflm", _WIDE, _ADDED, -1, ("activation_min", "activation_max")),
    "cmsis-nn": Port("tflm", "cmsis-s64", _ADDED, -1, ("activation_min", "activation_max")),
    "xnnpack": Port("xnnpack", _WIDE, _OWN, 1, ("output_min", "output_max")),
}
"""The systems of `params`, by name."""


class Ported(NamedTuple):
    """One layer as a port holds it.

    Attributes
    ----------
    name : str
        Its name, as C can have it.
    op : str
        The kind of the op.
    rules : list of str
        The rules of `qops.rules.TABLE` that its C calls.
    constants : dict
        Integers, floats and arrays, by name.
    code : str
        The function NAME_code in C, which makes one code of its result; "" for ops without one.
    arguments : tuple of str
        What the function takes: ("sum", "channel"), ("a", "b"), ("sum", "count"), or ("largest",).
    reads, writes : tuple of Tensor
        What the op reads, constants included, and what it writes.
    """

    name: str
    op: str
    rules: list[str]
    constants: dict[str, Any]
    code: str = ""
    arguments: tuple[str, ...] = ()
    reads: tuple[Tensor, ...] = ()
    writes: tuple[Tensor, ...] = ()


def ported(op: Op, graph: Graph, port: str, name: str) -> Ported:
    """Give the constants of an op.

    Parameters
    ----------
    op : Op
        Made for the runtime of the port.
    graph : Graph
        Where it stands.
    port : str
        One of `PORTS`.
    name : str
        Its name in C.

    Returns
    -------
    Ported
    """
    how = PORTS[choice(port, "port", PORTS)]
    made = Ported(name, op.kind, [], {})
    layer, integers = op.layer, _integers(op)
    if layer is not None and layer.requantize is not None:
        made = (_product if layer.kind == "mul" else _sums)(made, layer, layer.requantize, how)
    elif integers.get("kind") in _PAIRS:
        made = _PAIRS[integers["kind"]](made, integers, _zeros(op, graph), how)
    elif "POOL" in op.kind and integers:
        made = _pool(made, integers, how, average=op.kind == "AVERAGE_POOL_2D")
    else:
        made = made._replace(constants={key: v for key, v in integers.items() if not isinstance(v, str)})
    extra = _sizes(op, graph) | _packed(op, graph, port)
    reads, writes = (tuple(graph.tensors[t] for t in names) for names in (op.inputs, op.outputs))
    return made._replace(constants={**made.constants, **extra}, reads=reads, writes=writes)


def _integers(op: Op) -> dict[str, Any]:
    return getattr(op.prepared, "integers", None) or {}


def _zeros(op: Op, graph: Graph) -> tuple[int, int, int]:
    tensors = (graph.tensors[name] for name in (*op.inputs[:2], op.outputs[0]))
    a, b, y = (0 if t.zero_point is None else int(t.zero_point) for t in tensors)
    return a, b, y


def _sums(made: Ported, layer: Layer, requantize: Requantize, how: Port) -> Ported:
    """A layer of sums of products: weights, bias, and what takes sums to codes."""
    x, w, y = how.offsets
    zero = int(layer.numbers["zero_point"])
    blocks = BLOCKS.get(requantize.rule)
    rule = how.wide if requantize.rule == _WIDE else blocks.whole if blocks else requantize.rule
    constants = {
        **{x: how.sign * layer.x_zero_point, w: how.sign * layer.w_zero_point, y: zero},
        **dict(zip(how.ends, requantize.ends, strict=True)),
        **_factors(requantize, rule),
        "weights": layer.weights,
    }
    if layer.bias is not None:
        constants["bias"] = layer.bias.reshape(-1)
    of = "[channel]" if np.ndim(requantize.scale) else ""
    rules = [rule, blocks.tail] if blocks else [rule]
    calls = [_call(made.name, name, f"({_sum_type(name)})sum", of, (y, *how.ends)) for name in rules]
    body = [] if of or blocks else ["    (void)channel; /* one factor for all channels */"]
    if blocks:
        whole = np.asarray(layer.weights).shape[-1] // blocks.size * blocks.size
        body = [f"    if (channel >= {whole}) /* channels that fill no block of {blocks.size} */"]
        body.append(f"        return {calls[1]};")
    code = _function(made.name, "int64_t sum, int channel", [*body, f"    return {calls[0]};"])
    return made._replace(rules=rules, constants=constants, code=code, arguments=("sum", "channel"))


def _factors(requantize: Requantize, rule: str) -> dict[str, Any]:
    """Give the scale of a rule in floats, or its multiplier and shift; shifts are positive to the left."""
    row = TABLE[rule]
    if row.multiplier.startswith("float"):
        dtype = np.float32 if row.multiplier in (*SINGLES, "float64 of a float32") else np.float64
        return {"scale": np.asarray(requantize.scale, dtype)}
    multiplier, right_shift = (np.asarray(part) for part in requantize.integers)
    found = {"multiplier": multiplier.astype(np.int32), "shift": (_CENTRED - right_shift).astype(np.int32)}
    if rule == "cmsis-s64":
        found["reduced_multiplier"] = reduced_multiplier(multiplier).astype(np.int32)
    return found


def _sum_type(rule: str) -> str:
    return "int64_t" if rule in (_WIDE, "cmsis-s64") else "int32_t"


def _call(name: str, rule: str, value: str, of: str, rest: tuple[str, ...]) -> str:
    """Give the call of a rule in C; `of` is the index of the channel, if there are channels."""
    last = ", ".join(f"{name}_{part}" for part in rest)
    if TABLE[rule].multiplier.startswith("float"):
        factors = f"{name}_scale{of}"
    elif rule == "cmsis-s64":
        factors = f"{name}_reduced_multiplier{of}, 15 - {name}_shift{of}"
    else:
        factors = f"{name}_multiplier{of}, 31 - {name}_shift{of}"
    return f"{rule.replace('-', '_')}({value}, {factors}, {last})"


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return "\n".join([f"static int32_t {name}_code({arguments})", "{", *lines, "}", ""])


def _product(made: Ported, layer: Layer, requantize: Requantize, how: Port) -> Ported:
    """The product of two codes less their zero points."""
    zeros = {f"input{i}_{_ending(how)}": how.sign * layer.numbers[f"{x}_zero_point"] for i, x in ((1, "a"), (2, "b"))}
    constants = {
        **zeros,
        how.offsets[2]: layer.numbers["y_zero_point"],
        **dict(zip(how.ends, requantize.ends, strict=True)),
        **_factors(requantize, requantize.rule),
    }
    a, b = (f"({x} {'+' if how.sign < 0 else '-'} {made.name}_{zero})" for x, zero in zip("ab", zeros, strict=True))
    call = _call(made.name, requantize.rule, f"{a} * {b}", "", (how.offsets[2], *how.ends))
    code = _function(made.name, "int32_t a, int32_t b", [f"    return {call};"])
    return made._replace(rules=[requantize.rule], constants=constants, code=code, arguments=("a", "b"))


def _ending(how: Port) -> str:
    return "offset" if how.sign < 0 else "zero_point"


def _ends_of(integers: dict[str, Any], zero: int, how: Port) -> dict[str, Any]:
    return {how.offsets[2]: zero, **dict(zip(how.ends, (integers["qmin"], integers["qmax"]), strict=True))}


def _three_factors(made: Ported, integers: dict[str, Any], zeros: tuple[int, int, int], how: Port) -> Ported:
    """ADD and SUB as TFLite has them: both operands to one scale, then their sum to that of the result."""
    constants = {
        **{f"input{i}_{_ending(how)}": how.sign * zero for i, zero in ((1, zeros[0]), (2, zeros[1]))},
        "left_shift": integers["left_shift"],
    }
    for here, there in (("a", "input1"), ("b", "input2"), ("y", "output")):
        constants |= {f"{there}_{part}": integers[f"{here}_{part}"] for part in ("multiplier", "shift")}
    n, op = made.name, "+" if made.op == "ADD" else "-"

    def scaled(value: str, which: str, rest: str) -> str:
        return f"tflite_double({value}, {n}_{which}_multiplier, 31 - {n}_{which}_shift, {rest})"

    lines = []
    for x, which in (("a", "input1"), ("b", "input2")):
        centred = f"({x} {'+' if how.sign < 0 else '-'} {n}_{which}_{_ending(how)})"
        near = scaled(f"{centred} * (1 << {n}_left_shift)", which, "0, INT32_MIN, INT32_MAX")
        lines.append(f"    const int32_t near_{x} = {near};")
    last = ", ".join(f"{n}_{part}" for part in (how.offsets[2], *how.ends))
    lines.append(f"    return {scaled(f'near_a {op} near_b', 'output', last)};")
    code = _function(n, "int32_t a, int32_t b", lines)
    constants |= _ends_of(integers, zeros[2], how)
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("a", "b"))


def _one_shift(made: Ported, integers: dict[str, Any], zeros: tuple[int, int, int], how: Port) -> Ported:
    """ADD and SUB as XNNPACK has them: two products and a bias (zero points, half a step), shifted once."""
    (a, b, shift), sign = (integers[key] for key in ("a_multiplier", "b_multiplier", "a_shift")), made.op == "ADD"
    b = b if sign else -b
    constants = {
        **{
            "a_multiplier": a,
            "b_multiplier": b,
            "bias": (1 << (-shift - 1)) - zeros[0] * a - zeros[1] * b,
            "right_shift": -shift,
        },
        **_ends_of(integers, zeros[2], how),
    }
    n = made.name
    total = f"{n}_bias + a * {n}_a_multiplier + b * {n}_b_multiplier"
    last = ", ".join(f"{n}_{part}" for part in ("right_shift", how.offsets[2], *how.ends))
    code = _function(n, "int32_t a, int32_t b", [f"    return shift_floor({total}, 1, {last});"])
    return made._replace(rules=["shift-floor"], constants=constants, code=code, arguments=("a", "b"))


def _powers(made: Ported, integers: dict[str, Any], zeros: tuple[int, int, int], how: Port) -> Ported:
    """ADD and SUB of 16 bits whose scales are powers of two: shifts with ties away from 0, then a sum."""
    n, op = made.name, "+" if made.op == "ADD" else "-"
    constants = {f"input{i}_right_shift": -integers[f"{x}_shift"] for i, x in ((1, "a"), (2, "b"))}
    constants |= _ends_of(integers, zeros[2], how)
    terms = (f"rndna({x}, 1, {n}_input{i}_right_shift, 0, INT16_MIN, INT16_MAX)" for i, x in ((1, "a"), (2, "b")))
    lo, hi = (f"{n}_{end}" for end in how.ends)
    lines = [f"    const int32_t y = {f' {op} '.join(terms)};", f"    return y < {lo} ? {lo} : y > {hi} ? {hi} : y;"]
    code = _function(n, "int32_t a, int32_t b", lines)
    return made._replace(rules=["rndna"], constants=constants, code=code, arguments=("a", "b"))


_PAIRS: dict[str, Callable[..., Ported]] = {
    "tflite-double": _three_factors,
    "xnnpack": _one_shift,
    "powers of two": _powers,
}
"""How ADD and SUB are made, by the kind that their integers name."""


def _pool(made: Ported, integers: dict[str, Any], how: Port, *, average: bool) -> Ported:
    """A pool copies codes of one scale; an average is rounded half away from code 0."""
    lo, hi = (f"{made.name}_{end}" for end in how.ends)
    clamped = f"    return y < {lo} ? {lo} : y > {hi} ? {hi} : y;"
    mean = "    const int32_t y = sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;"
    first = mean if average else "    const int32_t y = largest;"
    arguments = ("sum", "count") if average else ("largest",)
    code = _function(made.name, ", ".join(f"int32_t {name}" for name in arguments), [first, clamped])
    constants = dict(zip(how.ends, (integers["qmin"], integers["qmax"]), strict=True))
    return made._replace(constants=constants, code=code, arguments=arguments)


def _sizes(op: Op, graph: Graph) -> dict[str, Any]:
    """Give sizes of images, and how windows move over them."""
    windows = getattr(op.prepared, "windows", None)
    if windows is None or len(graph.tensors[op.outputs[0]].shape) != len("nhwc"):
        return {}
    is_first = op.layer is not None and op.layer.requantize is not None and op.layer.requantize.axis == 1
    x, y = (tuple(n or 1 for n in graph.tensors[name].shape) for name in (op.reads[0], op.outputs[0]))
    named, axes = (("input", x), ("output", y)), "nchw" if is_first else "nhwc"
    sizes = {f"{which}_{axis}": n for which, shape in named for axis, n in zip(axes, shape, strict=True)}
    return sizes | windows(x)


def _packed(op: Op, graph: Graph, port: str) -> dict[str, NDArray[Any]]:
    """Give weights and biases as a port wants them packed, and sums of weights where it takes them."""
    layer = op.layer
    if layer is None or layer.weights is None:
        return {}
    found: dict[str, NDArray[Any]] = {}
    w = layer.weights.astype(np.int64) - layer.w_zero_point
    tensors = [graph.tensors[name] for name in op.inputs]
    if port == "cmsis-nn" and any(t.dtype == "int4" for t in tensors):
        found["packed_weights"] = packed_int4(layer.weights)
    outputs = layer.channel % w.ndim
    sums = w.sum(tuple(axis for axis in range(w.ndim) if axis != outputs))
    bias = 0 if layer.bias is None else layer.bias.reshape(-1).astype(np.int64)
    moved = bias - layer.x_zero_point * sums
    if np.abs(moved).max(initial=0) >= 2**31:
        return found
    if port == "cmsis-nn" and op.kind == "FULLY_CONNECTED":
        found |= {"kernel_sums": sums.astype(np.int32), "kernel_sums_with_bias": moved.astype(np.int32)}
    elif port == "xnnpack":
        found |= {"kernel_sums": sums.astype(np.int32), "packed_bias": moved.astype(np.int32)}
    return found
