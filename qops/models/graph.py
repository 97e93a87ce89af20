"""A network as a plain graph: tensors by name, and prepared ops in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._readable import shows_fields
from qops.checks import as_array, choice, shown
from qops.models.op import FAILED, Op, in_real_numbers
from qops.models.tensor import Tensor

__all__ = ["Graph", "Live"]


@shows_fields
@dataclass(frozen=True, eq=False)
class Graph:
    """A network that was read from a file: tensors by name, and ops in the order in which they run.

    Attributes
    ----------
    name : str
        The name of the file.
    inputs, outputs : tuple of str
        Names of tensors.
    tensors : dict of str to Tensor
        All tensors, constants included.
    ops : tuple of Op
        All ops. Each comes after the ops whose results it reads.
    runtime : str
        The runtime whose bits the ops give, for example "reference" or "ort".
    fused : tuple of str
        Which nodes of the file the runtime runs as one op: one sentence for each group of nodes.

    Raises
    ------
    ValueError
        An op that reads what no op before it writes, a name that stands twice.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, Tensor] = field(repr=False)
    ops: tuple[Op, ...] = field(repr=False)
    runtime: str = ""
    fused: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        known = {name for name, tensor in self.tensors.items() if tensor.data is not None} | set(self.inputs)
        names: set[str] = set()
        for op in self.ops:
            who = f"{self.name}: {op.name} ({op.kind})"
            for name in op.reads:
                if name not in known:
                    raise ValueError(f"{who} reads {name!r}, which nothing before it writes")
            for name in op.outputs:
                if name in known:
                    raise ValueError(f"{who} writes {name!r}, which stands already")
            if op.name in names:
                raise ValueError(f"{self.name}: two ops are called {op.name!r}")
            names.add(op.name)
            known.update(op.outputs)
        for name in self.outputs:
            if name not in known:
                raise ValueError(f"{self.name}: nothing writes the output {name!r}")

    def run(self, x: ArrayLike | Mapping[str, ArrayLike], *, keep: str | None = None) -> dict[str, NDArray[Any]]:
        """Run all ops on codes.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The input, or each of them by its name, of the type that the graph has.
        keep : {None, "all"}
            What the result holds. By default it is the outputs of the graph, and a tensor is dropped after its last
            reader; "all" keeps every tensor that is no constant.

        Returns
        -------
        dict of str to ndarray
            Tensors by name.

        Raises
        ------
        TypeError, ValueError
            An input that is missing, unknown, or of another type or shape than the graph has; an op that refuses what
            it reads.
        """
        return self._walk(self.inputs_of(x), keep, lambda op, _, *codes: op.call(*codes))

    def real(self, x: ArrayLike | Mapping[str, ArrayLike], *, keep: str | None = None) -> dict[str, NDArray[Any]]:
        """Run all ops in real numbers: the network without any rounding of activations.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The values of the input, or of each of them by its name.
        keep : {None, "all"}
            As in `run`.

        Returns
        -------
        dict of str to ndarray of float64
            Values by the names of tensors. An op without a formula is run on the nearest codes of its inputs.

        Raises
        ------
        TypeError, ValueError
            An input that is missing, unknown, or of another shape.
        """
        given = {key: value.astype(np.float64) for key, value in self._named(x, "x").items()}
        return self._walk(given, keep, in_real_numbers)

    def inputs_of(self, x: ArrayLike | Mapping[str, ArrayLike], name: str = "x") -> dict[str, NDArray[Any]]:
        """Check codes of the inputs, and give them by name.

        Parameters
        ----------
        x : array_like, or dict of str to array_like
            The input, or each of them by its name.
        name : str
            What the caller calls them, for errors.

        Returns
        -------
        dict of str to ndarray

        Raises
        ------
        TypeError, ValueError
            An input that is missing, unknown, or of another type or shape than the graph has.
        """
        found = self._named(x, name)
        for key, data in found.items():
            if data.dtype != np.dtype(self.tensors[key].dtype):
                said = name if not isinstance(x, Mapping) else f"{name}[{key!r}]"
                raise TypeError(f"{said}: expected {self.tensors[key].dtype}, got {data.dtype}")
        return found

    def _walk(
        self, given: Mapping[str, NDArray[Any]], keep: str | None, function: Callable[..., Sequence[NDArray[Any]]]
    ) -> dict[str, NDArray[Any]]:
        """Run ops one after another: `function` takes an op, all tensors by name, and the arrays that the op reads."""
        choice("outputs" if keep is None else keep, "keep", ("outputs", "all"))
        live = Live(self, given, keep=self.outputs if keep is None else self.tensors)
        for op in self.ops:
            try:
                made = function(op, self.tensors, *live.read(op))
            except FAILED as why:
                raise ValueError(f"{self.name}: {op.name} ({op.kind}): {str(why) or repr(why)}") from why
            live.write(op, made)
        return live.values if keep else {name: self._value(name, live.values) for name in self.outputs}

    def _value(self, name: str, values: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Give an output of the graph, which may be a constant."""
        data = self.tensors[name].data
        return values[name] if data is None else data

    def _named(self, x: ArrayLike | Mapping[str, ArrayLike], name: str) -> dict[str, NDArray[Any]]:
        """Give the inputs by their names, of the shapes that the graph has."""
        if not isinstance(x, Mapping):
            if len(self.inputs) != 1:
                raise TypeError(f"{name}: expected a dict with {_list(self.inputs)}, got {shown(x)}")
            return {self.inputs[0]: self._shaped(self.inputs[0], x, name)}
        for key in x:
            if key not in self.inputs:
                raise ValueError(f"{name}: {self.name} has no input {shown(key)}, only {_list(self.inputs)}")
        for key in self.inputs:
            if key not in x:
                raise ValueError(f"{name}: the input {key!r} is missing")
        return {key: self._shaped(key, value, f"{name}[{key!r}]") for key, value in x.items()}

    def _shaped(self, key: str, value: ArrayLike, name: str) -> NDArray[Any]:
        """Give an array; ValueError unless all its sizes but the first, the batch, are those of the file."""
        data, wanted = as_array(value, name), self.tensors[key].shape
        if len(wanted) != data.ndim or any(w not in (None, n) for w, n in zip(wanted[1:], data.shape[1:], strict=True)):
            said = ", ".join("?" if size is None else str(size) for size in wanted)
            raise ValueError(f"{name}: expected shape ({said}), got {shown(data.shape)}")
        return data


class Live:
    """The tensors of a graph that runs: each is dropped after its last reader.

    Parameters
    ----------
    graph : Graph
        The graph whose ops run, in their order.
    given : dict
        Its inputs, by name.
    keep : iterable of str
        Names of tensors that are never dropped.
    """

    def __init__(self, graph: Graph, given: Mapping[str, Any], keep: Iterable[str] = ()) -> None:
        self.values: dict[str, Any] = dict(given)
        self._keep = frozenset(keep)
        self._last = {name: op.name for op in graph.ops for name in op.reads}

    def read(self, op: Op) -> list[Any]:
        """Give what an op reads."""
        return [self.values[name] for name in op.reads]

    def write(self, op: Op, made: Sequence[Any]) -> None:
        """Take the results of an op, and drop tensors that no later op reads."""
        self.values.update(zip(op.outputs, made, strict=True))
        for name in {*op.reads, *op.outputs} - self._keep:
            if self._last.get(name, op.name) == op.name:
                self.values.pop(name, None)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
