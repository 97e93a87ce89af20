"""The C of layers of sums of products, and of products of two codes."""

from __future__ import annotations

import numpy as np

from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import WIDE, PortedLayer, Target, call, ending, factors, function

__all__ = ["AWAY", "c_of_product", "c_of_sums"]


from qops.rules import BLOCKS

AWAY = "double-away of 48 bits"
"""What TFLite's FULLY_CONNECTED does beyond the rule double-away, where int32 does not hold what is rounded."""


_WIDE = (WIDE, "cmsis-s64", AWAY)


def c_of_sums(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Give a layer of sums of products: weights, bias, and what takes sums to codes.

    Returns
    -------
    PortedLayer or None
        None if nothing is known of the layer.
    """
    layer = op.layer
    if layer is None or layer.requantize is None:
        return None
    requantize, (x, w, y) = layer.requantize, target.offsets
    zero = requantize.zero_point
    blocks = BLOCKS.get(requantize.rule)
    rule = target.wide if requantize.rule == WIDE else blocks.whole if blocks else requantize.rule
    constants = {
        **{x: target.sign * layer.x_zero_point, w: target.sign * layer.w_zero_point, y: zero},
        **dict(zip(target.ends, requantize.ends, strict=True)),
        **factors(requantize, rule),
        "weights": layer.weights,
    }
    if layer.bias is not None:
        constants["bias"] = layer.bias.reshape(-1)
    of = "[channel]" if np.ndim(requantize.scale) else ""
    rules = [rule, blocks.tail] if blocks else [AWAY if rule == "double-away" else rule]
    last = (y, *target.ends)
    calls = [call(made.name, name, f"{'' if name in _WIDE else '(int32_t)'}sum", of, last) for name in rules]
    body = [] if of or blocks else ["    (void)channel; /* one factor for all channels */"]
    if blocks:
        whole = np.asarray(layer.weights).shape[-1] // blocks.size * blocks.size
        body = [f"    if (channel >= {whole}) /* channels that fill no block of {blocks.size} */"]
        body.append(f"        return {calls[1]};")
    code = function(made.name, "int64_t sum, int channel", [*body, f"    return {calls[0]};"])
    return made._replace(rules=rules, constants=constants, code=code, arguments=("sum", "channel"))


def c_of_product(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Give the product of two codes less their zero points.

    Returns
    -------
    PortedLayer or None
        None if nothing is known of the layer.
    """
    layer = op.layer
    if layer is None or layer.requantize is None:
        return None
    requantize, numbers = layer.requantize, layer.numbers
    zeros = {f"input{i}_{ending(target)}": target.sign * numbers[f"{x}_zero_point"] for i, x in ((1, "a"), (2, "b"))}
    constants = {
        **zeros,
        target.offsets[2]: requantize.zero_point,
        **dict(zip(target.ends, requantize.ends, strict=True)),
        **factors(requantize, requantize.rule),
    }
    sign = "+" if target.sign < 0 else "-"
    a, b = (f"({x} {sign} {made.name}_{zero})" for x, zero in zip("ab", zeros, strict=True))
    line = f"    return {call(made.name, requantize.rule, f'{a} * {b}', '', (target.offsets[2], *target.ends))};"
    code = function(made.name, "int32_t a, int32_t b", [line])
    return made._replace(rules=[requantize.rule], constants=constants, code=code, arguments=("a", "b"))
