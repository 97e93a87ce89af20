"""One operator of a .tflite file as a model of its own: whole, or cut down to what makes one element of its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.op import Alone
from qops.models.tflite.cut import CutOperator
from qops.models.tflite.file import Operator
from qops.models.tflite.kinds import KINDS
from qops.models.tflite.writer import tflite_bytes

__all__ = ["alone"]


def alone(
    operator: Operator,
    reads: Sequence[str],
    inputs: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
    index: Index | None = None,
) -> Alone | None:
    """Give a model of one operator.

    Parameters
    ----------
    operator : Operator
        As the file has it.
    reads : sequence of str
        The names of a call's arguments.
    inputs, outputs : sequence of ndarray
        What a call takes and gives; the states behind them are left out, so that the model starts anew.
    index : tuple of int, optional
        An element of the first output: the model is then cut down to what makes it.

    Returns
    -------
    Alone or None
        None if no smaller operator makes this element.
    """
    read = dict(zip(reads, inputs, strict=False))
    given = [None if t is None else read.get(t.name, t.data) for t in operator.inputs]
    if index is None:
        return _model(reads, CutOperator(operator, given, [y.shape for y in outputs[: len(operator.outputs)]], (), ""))
    kind = KINDS.get(operator.kind)
    if kind is None or kind.cut is None:
        return None
    cut = kind.cut(operator, given, index)
    return None if cut is None else _model(reads, cut)


def _model(reads: Sequence[str], cut: CutOperator) -> Alone:
    """Write a model; tensors have the shapes that the arrays have."""
    operator = cut.operator
    each = list(zip(operator.inputs, cut.inputs, strict=True))
    inputs = [t if t is None or x is None else replace(t, shape=x.shape) for t, x in each]
    outputs = [replace(t, shape=shape) for t, shape in zip(operator.outputs, cut.shapes, strict=True)]
    tensors = {t.name: t for t in (*inputs, *outputs, *operator.intermediates) if t is not None}
    own = replace(operator, inputs=[None if t is None else tensors[t.name] for t in inputs], outputs=outputs)
    given = {t.name: x for t, x in each if t is not None and x is not None and t.name in reads}
    file = partial(tflite_bytes, list(tensors.values()), [own], [tensors[name] for name in given], outputs)
    return Alone(file, ".tflite", given, cut.place, cut.how)
