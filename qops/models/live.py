"""The tensors of a graph that runs: each is dropped after its last reader; and the states that ops keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from qops.models.op import Op

__all__ = ["Live"]


class Live:
    """The tensors of a graph that runs.

    Parameters
    ----------
    ops : sequence of Op
        All ops, in the order in which they run.
    given : dict
        The inputs of the graph, by name.
    keep : iterable of str
        Names of tensors that are never dropped.
    states : dict, optional
        What ops keep from one call to the next, by name. It is changed as they run; one that is not in it starts anew.
    """

    def __init__(
        self,
        ops: Sequence[Op],
        given: Mapping[str, Any],
        keep: Iterable[str] = (),
        states: dict[str, Any] | None = None,
    ) -> None:
        self.values: dict[str, Any] = dict(given)
        self.states: dict[str, Any] = {} if states is None else states
        self._keep = frozenset(keep)
        self._last = {name: op.name for op in ops for name in op.reads}

    def has(self, op: Op) -> bool:
        """Whether all that an op reads is there: nothing of it depends on a gap."""
        return all(name in self.values for name in op.reads)

    def read(self, op: Op) -> list[Any]:
        """Give what an op reads, and its states."""
        return [*(self.values[name] for name in op.reads), *(self.states.get(name) for name in op.states)]

    def write(self, op: Op, made: Sequence[Any]) -> None:
        """Take the results of an op and its states, and drop tensors that no later op reads; None is not there."""
        results, states = made[: len(op.outputs)], made[len(op.outputs) :]
        self.values.update((name, y) for name, y in zip(op.outputs, results, strict=True) if y is not None)
        self.states.update(zip(op.states, states, strict=False))
        for name in {*op.reads, *op.outputs} - self._keep:
            if self._last.get(name, op.name) == op.name:
                self.values.pop(name, None)
