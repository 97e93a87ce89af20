"""Layers of sums of products as ports hold them."""

from __future__ import annotations

import numpy as np

from qops.models import Layer
from qops.rules import BLOCKS, Requantize
from qops.tools.params.target import WIDE, PortedLayer, Target, call, factors, function

__all__ = ["sums"]

AWAY = "double-away of 48 bits"
"""What TFLite's FULLY_CONNECTED does beyond the rule double-away, where int32 does not hold what is rounded."""
_WIDE = (WIDE, "cmsis-s64", AWAY)


def sums(made: PortedLayer, layer: Layer, requantize: Requantize, how: Target) -> PortedLayer:
    """A layer of sums of products: weights, bias, and what takes sums to codes."""
    x, w, y = how.offsets
    zero = int(layer.numbers["zero_point"])
    blocks = BLOCKS.get(requantize.rule)
    rule = how.wide if requantize.rule == WIDE else blocks.whole if blocks else requantize.rule
    constants = {
        **{x: how.sign * layer.x_zero_point, w: how.sign * layer.w_zero_point, y: zero},
        **dict(zip(how.ends, requantize.ends, strict=True)),
        **factors(requantize, rule),
        "weights": layer.weights,
    }
    if layer.bias is not None:
        constants["bias"] = layer.bias.reshape(-1)
    of = "[channel]" if np.ndim(requantize.scale) else ""
    rules = [rule, blocks.tail] if blocks else [AWAY if rule == "double-away" else rule]
    calls = [call(made.name, name, f"{'' if name in _WIDE else '(int32_t)'}sum", of, (y, *how.ends)) for name in rules]
    body = [] if of or blocks else ["    (void)channel; /* one factor for all channels */"]
    if blocks:
        whole = np.asarray(layer.weights).shape[-1] // blocks.size * blocks.size
        body = [f"    if (channel >= {whole}) /* channels that fill no block of {blocks.size} */"]
        body.append(f"        return {calls[1]};")
    code = function(made.name, "int64_t sum, int channel", [*body, f"    return {calls[0]};"])
    return made._replace(rules=rules, constants=constants, code=code, arguments=("sum", "channel"))
