"""What `debug` says of one layer, and of the first that differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qops._readable import shows_fields

__all__ = ["First", "LayerRow", "same"]


@shows_fields
class LayerRow(NamedTuple):
    """One layer: how far the device is from the graph, and the codes from float.

    Attributes
    ----------
    name, op, output : str
        The name of the op, its kind, and the tensor that is compared: the first of its results, or the first that
        differs.
    rule : str
        The rule by which the op rounds, as `qops.rules` names it; for other ops, the runtime of the graph.
    differ : int or None
        How many codes of the device differ when the layer is fed what the device fed it. None without a dump of it.
    largest : int, float or None
        The largest of these differences, in codes; None if it is not finite.
    share : float or None
        Which share of all codes differ.
    saturated : float or None
        Which share of the codes are the lowest or the highest of the type, and not real 0; None for real numbers.
    lsb : float or None
        Largest distance from the float network, in steps of the tensor; None for tensors without a scale.
    sqnr : float or None
        Signal against quantization noise, ``10 log10(sum(real**2) / sum((value - real)**2))`` dB. None if it is not
        finite.
    whole : int or None
        How many codes of the device differ from the graph run as a whole: errors of the layers before add up.
    unchecked : str or None
        Why nothing is compared, in words: the layer is a gap, or reads what depends on one. None if it was run.
    """

    name: str
    op: str
    output: str
    rule: str
    differ: int | None
    largest: int | float | None
    share: float | None
    saturated: float | None
    lsb: float | None
    sqnr: float | None
    whole: int | None
    unchecked: str | None = None


@shows_fields
class First(NamedTuple):
    """The first layer that differs.

    Attributes
    ----------
    layer, output : str
        The name of the op and of the tensor.
    cause : str
        Why, in one sentence without its full stop.
    rules : list of str
        The rules that give the integers of the device, once the cause is undone.
    where : tuple of str
        Where its codes differ, in phrases such as "only channel 2, and all of it"; empty if they differ all over.
    """

    layer: str
    output: str
    cause: str
    rules: list[str]
    where: tuple[str, ...] = ()


def same(rows: Sequence[LayerRow]) -> str:
    """Say of rows that do not differ that they do not, and how many of them were not checked."""
    count = sum(row.unchecked is not None for row in rows)
    if not count:
        return "no layer differs: the device gives every integer of the model"
    others = f"{count} layer{'s were' if count > 1 else ' was'} not checked"
    return f"no layer differs: the device gives every integer of the model that was checked; {others}"
