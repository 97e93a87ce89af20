"""One node in its place, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.onnx.inputs import constant
from qops.models.tensor import Tensor
from qops.onnx.runtimes import COLUMNS

__all__ = ["Given", "NodeRunner", "PlacedNode", "Run", "own_runtime"]


Given = Sequence[Any]
Run = Callable[..., Any]


class NodeRunner(NamedTuple):
    """What is made of a node.

    Attributes
    ----------
    run : callable
        Takes all inputs, None for one that is left out, and gives the results.
    prepared : object or None
        The prepared op that does the work, where all but the data are constants.
    is_own : bool
        Whether `prepared` takes the data as they are, so that it can stand for the node.
    direct : callable or None
        Of a product whose only data are the first input: takes these, None and the number of threads.
    with_zero : callable or None
        ``with_zero(n)`` gives the prepared op for data whose zero point is n, where the node reads that at run time.
    """

    run: Run
    prepared: Any = None
    is_own: bool = True
    direct: Run | None = None
    with_zero: Callable[[int], Any] | None = None


class PlacedNode(NamedTuple):
    """One node in its place: the tensors that it reads, and whose bits it should give."""

    node: Node
    tensors: dict[str, Tensor]
    runtime: str

    def constant(self, place: int | None) -> NDArray[Any] | None:
        """Give the constant that an input is; None if it is none, or is left out."""
        return constant(self.tensors, self.node, place)

    def is_given(self, place: int) -> bool:
        """Whether an input is not left out."""
        return place < len(self.node.inputs) and bool(self.node.inputs[place])

    def is_fixed(self, place: int) -> bool:
        """Whether an input is a constant, or left out."""
        return not self.is_given(place) or self.constant(place) is not None


def own_runtime(site: PlacedNode) -> str:
    """Give the runtime of an operator of onnxruntime's own domain, which no other runtime has."""
    return site.runtime if COLUMNS[site.runtime].is_ort else "ort"
