"""What operators of single elements share: how they are made, their real function, one element of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qops.models.cut import Index
from qops.models.tensor import Values
from qops.models.tflite.cut import CutOperator, with_data
from qops.models.tflite.file import Operator
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator

__all__ = ["cut_elementwise", "make_of_codes", "make_one", "real_one"]


Given = Sequence[Any]


def make_of_codes(maker: Callable[..., Any], takes: tuple[int, ...]) -> Maker:
    """An operator that ignores scales."""
    return lambda site: OperatorRunner(takes, maker(**site.own()))


def make_one(maker: Callable[..., Any], **options: str) -> Maker:
    """An operator of one tensor; `options` are its own arguments, by their names in the schema."""

    def make(site: PlacedOperator) -> OperatorRunner:
        more = {name: site.options[field] for name, field in options.items()}
        return OperatorRunner((0,), maker(**site.x(), **site.y, **more, **site.own()))

    return make


def real_one(function: Callable[[Values], Any]) -> Callable[[Operator, Given], Values]:
    """Give the real function of an operator of one tensor."""
    return lambda op, given: np.asarray(function(given[0]))


def cut_elementwise(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """One element of each operand."""
    shape = np.broadcast_shapes(*(x.shape for x in given))
    one = [np.broadcast_to(x, shape)[index].reshape(1) for x in given]
    tensors = [t if t is None or t.data is None else with_data(t, x) for t, x in zip(operator.inputs, one, strict=True)]
    return CutOperator(replace(operator, inputs=tensors), list(one), [(1,)], (0,), "one element")
