"""The layer that differs first, with all that it read and gave; and the smallest part of it that still differs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models import Graph, Op, load

__all__ = ["Case", "Smallest", "Worst", "apart", "smallest_of"]

_FLOAT = 2.0**-16  # differences of float32 tensors up to this share of the largest value are not told
_TRIED = 64  # elements to choose from; the one with the fewest inputs is taken


class Case(NamedTuple):
    """One layer of a network on a device.

    Attributes
    ----------
    graph : Graph
        The network.
    op : Op
        The layer.
    inputs : list of ndarray
        What it read on the device, and its states before.
    output : str
        The result that differs, by its name.
    got, wanted : ndarray
        The codes of this result: the device's, and those of the graph for the same inputs.
    """

    graph: Graph
    op: Op
    inputs: list[NDArray[Any]]
    output: str
    got: NDArray[Any]
    wanted: NDArray[Any]

    @property
    def reads(self) -> dict[str, NDArray[Any]]:
        """The inputs of the op, by the names of the tensors."""
        return dict(zip(self.op.reads, self.inputs, strict=False))

    @property
    def where(self) -> NDArray[np.intp]:
        """The places in the result that differ, one for each row."""
        return np.argwhere(apart(self.got, self.wanted))


class Worst(NamedTuple):
    """How far each element of the worst layer is off.

    Attributes
    ----------
    layer : str
        The name of the op.
    off : ndarray of float64
        Signed: the device less the graph, in codes; without a dump the graph less the float network, in steps.
    unit : str
        "codes" or "LSB".
    channel : int
        Which axis has the channels.
    """

    layer: str
    off: NDArray[np.float64]
    unit: str
    channel: int


class Smallest(NamedTuple):
    """A model that makes one element of the layer, and differs from the device in it.

    Attributes
    ----------
    file : bytes
        The model.
    graph : Graph
        What is read of `file`.
    reads : dict of str to ndarray
        What it reads.
    got, wanted : ndarray
        Its result: the device's, where the layer has it, and that of the graph.
    place : tuple of int
        Where the element is in the result of the layer.
    how : str
        How the layer was cut down to it.
    """

    file: bytes
    graph: Graph
    reads: dict[str, NDArray[Any]]
    got: NDArray[Any]
    wanted: NDArray[Any]
    place: tuple[int, ...]
    how: str


def apart(got: NDArray[Any], wanted: NDArray[Any], beside: float = 0.0) -> NDArray[Any]:
    """Give how far apart two tensors are; of floats nothing up to a share of the largest value.

    Parameters
    ----------
    got, wanted : ndarray
        Tensors of one shape.
    beside : float
        A larger value that the floats are made of, where there is one: the last bits of sums are those of their terms.

    Returns
    -------
    ndarray of float64
        Not negative; infinite where one of the two is no number.
    """
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        found = np.asarray(np.abs(got.astype(wide) - wanted.astype(wide)))
    if got.dtype.kind in "fc":
        found[(got == wanted) | (np.isnan(got) & np.isnan(wanted))] = 0  # also infinities
        found[np.isnan(found)] = np.inf
        found[found <= _FLOAT * np.abs(wanted[np.isfinite(wanted)]).max(initial=beside)] = 0
    return found


def smallest_of(case: Case) -> Smallest | None:
    """Cut a layer down to one element that differs, the one that needs the fewest inputs.

    Each model is run: it must give the code of the whole layer.

    Parameters
    ----------
    case : Case
        A layer that differs.

    Returns
    -------
    Smallest or None
        None if no smaller model makes an element that differs.
    """
    places, outputs = case.where, case.op.call(*case.inputs)
    if case.op.alone is None or len(case.op.outputs) > 1:
        return None
    found = []
    for place in places[:: -(-len(places) // _TRIED) or 1]:
        index = tuple(map(int, place))
        alone = case.op.alone(case.inputs, outputs, index)
        if alone is not None:
            found.append((sum(x.size for x in alone.inputs.values()), index, alone))
    for _, index, alone in sorted(found, key=lambda one: one[:2]):
        file = alone.file()
        graph = _read(file, alone.suffix, case.graph.runtime)
        wanted = graph.run(alone.inputs)[case.output]
        if wanted[alone.place] == case.wanted[index]:
            got = wanted.copy()
            got[alone.place] = case.got[index]
            if got.size == case.got.shape[-1] > 1:  # a row
                got[...] = case.got[index[:-1]]
            how = f"{alone.how}; of {len(places):,} elements that differ, {len(found)} were tried, fewest inputs first"
            return Smallest(file, graph, alone.inputs, got, wanted, index, how)
    return None


def _read(file: bytes, suffix: str, runtime: str) -> Graph:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"smallest{suffix}")
        path.write_bytes(file)
        return load(path, runtime=runtime)
