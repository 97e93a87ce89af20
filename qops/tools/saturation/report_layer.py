"""`SaturationLayer`: what `qops.saturation` found of one layer, and its line in the table of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.models.lanes.route import Route
from qops.models.lanes.sums import Sums
from qops.models.lanes.worst import Accumulator, SaturatingInput
from qops.tools.saturation.seen import Seen

__all__ = ["SaturationLayer", "cells_of", "plain", "share"]

_NAME, _HOW = 22, 34


@shows_fields
@dataclass(frozen=True, eq=False)
class SaturationLayer:
    """What the lanes of one layer do with its sums.

    Attributes
    ----------
    name, kind : str
        The layer and its operator.
    lanes : str
        How its products are added: the order of codes along k, or why its lanes are wide.
    groups, unsafe_groups : int
        How many groups of products share a lane, over all output channels, and how many of them can leave it.
    channels : ndarray of int64
        The output channels that have such groups.
    loss : ndarray of int64, (outputs,)
        The most that one sum of each output channel can lose, over all inputs.
    witness : SaturatingInput or None
        An input that saturates; None if no input does.
    accumulator : Accumulator
        What the sums need, and what there is.
    seen : Seen or None
        What the data showed; None without data.
    unsafe : ndarray of bool, (outputs, groups)
        Which groups can leave their lane, in the order along k.
    """

    name: str
    kind: str
    lanes: str
    groups: int
    unsafe_groups: int
    channels: NDArray[np.int64]
    loss: NDArray[np.int64] = field(repr=False)
    witness: SaturatingInput | None
    accumulator: Accumulator
    seen: Seen | None = None
    unsafe: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_), repr=False)
    _sums: Sums | None = field(default=None, repr=False)
    _route: Route | None = field(default=None, repr=False)

    @property
    def safe(self) -> bool:
        """Whether every input gives the exact sums, in lanes and in the accumulator, and the bias fits its type."""
        return not (self.unsafe_groups or self.accumulator.channels.size or self.accumulator.bias_channels.size)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of its bias: that it does not fit its type, or that its codes are not known."""
        acc = self.accumulator
        if acc.bias_channels.size:
            which = f"{acc.bias_channels.size} of {self.loss.size} channels, the first {acc.bias_channels[0]}"
            return (f"the bias needs {acc.bias_bits} bits and is stored in {acc.has}: {which}",)
        if acc.bias_bits is None:
            return ("the bias is real values; data with their range, a QTensor, say whether its codes fit",)
        return ()

    @property
    def min_bits(self) -> int:
        """The fewest bits of a signed accumulator that holds the sums of every input, with the bias."""
        return self.accumulator.bits

    def as_dict(self) -> dict[str, Any]:
        """Give all of it as plain numbers, lists and words.

        Returns
        -------
        dict
        """
        named = {name: getattr(self, name) for name in ("name", "kind", "lanes", "groups", "unsafe_groups", "safe")}
        parts = {"witness": self.witness, "accumulator": self.accumulator, "seen": self.seen}
        told = {name: None if part is None else plain(part._asdict()) for name, part in parts.items()}
        return {
            **named,
            "channels": self.channels.tolist(),
            "largest_loss": int(self.loss.max(initial=0)),
            **told,
            "notes": list(self.notes),
        }


def plain(given: dict[str, Any]) -> dict[str, Any]:
    """Give arrays as lists, and all else as it is."""
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in given.items()}


def share(part: int, whole: int) -> float:
    """Give a part of a whole, 0 of nothing."""
    return part / whole if whole else 0.0


def cells_of(layer: SaturationLayer, has_data: bool) -> tuple[str, ...]:
    """Give the cells of a layer in the table, with those of the data if there are any."""
    acc = layer.accumulator
    bits = f"{acc.bits}>{acc.has}" if acc.channels.size else f"{acc.bits}"
    unsafe = f"{layer.unsafe_groups}/{layer.groups}" if layer.unsafe_groups else "0"
    found = [_cut(layer.name, _NAME), _cut(layer.lanes, 20 if has_data else _HOW), unsafe]
    found += [str(layer.channels.size), str(int(layer.loss.max(initial=0))), bits]
    if layer.seen is not None:
        seen = layer.seen
        found += [f"{share(seen.wrong, seen.sums):.2%}" if seen.wrong else "0", str(seen.largest)]
        found.append("" if seen.codes is None else str(seen.codes))
    return tuple(found)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
