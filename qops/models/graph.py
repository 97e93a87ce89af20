"""A network as a plain graph: tensors by name, and prepared ops in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.numbers import shown
from qops.checks import as_array, choice
from qops.rules import Requantize

__all__ = ["FAILED", "Alone", "Graph", "Layer", "Live", "Op", "Tensor", "in_real_numbers"]

FAILED = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError)
"""The errors of an op with bad numbers from a damaged file: shapes that do not fit, sizes that no memory holds."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor of a graph: what its codes mean.

    Attributes
    ----------
    name : str
        Unique in its graph.
    shape : tuple of int or None
        As the file announces it; None where a size is only known at run time.
    dtype : str
        The name of the type: "int8", "uint8", "int16", "int4", "int32", "float32" and so on. Codes of int4 are kept
        in arrays of int8.
    scale, zero_point : ndarray or None
        A value is ``scale * (code - zero_point)``. float32 and int64, of shape () or, with `axis`, (channels,). None
        for tensors that are not quantized.
    axis : int or None
        Which axis has a scale for each channel.
    data : ndarray or None
        The codes or values of a constant.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str
    scale: NDArray[np.float32] | None = None
    zero_point: NDArray[np.int64] | None = None
    axis: int | None = None
    data: NDArray[Any] | None = None

    def values(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Give the real values of codes of this tensor, ``scale * (code - zero_point)``.

        Parameters
        ----------
        codes : ndarray
            Codes; values, if the tensor is not quantized.

        Returns
        -------
        ndarray of float64
        """
        if self.scale is None or self.zero_point is None:
            return codes.astype(np.float64)
        scale, zero = (self._along(part, codes.ndim) for part in (self.scale.astype(np.float64), self.zero_point))
        return np.asarray((codes.astype(np.float64) - zero) * scale)

    def codes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give the nearest codes of real values, half to even, clamped to the type.

        Parameters
        ----------
        values : ndarray
            Real numbers.

        Returns
        -------
        ndarray
            Codes; the values in the type of the tensor, if it is not quantized.
        """
        dtype = np.dtype("int8" if self.dtype == "int4" else self.dtype)
        if self.scale is None or self.zero_point is None:
            return values.astype(dtype)
        scale, zero = (self._along(part, values.ndim) for part in (self.scale.astype(np.float64), self.zero_point))
        info = np.iinfo(dtype)
        return np.clip(np.rint(values / scale) + zero, info.min, info.max).astype(dtype)

    def _along(self, part: NDArray[Any], axes: int) -> NDArray[Any]:
        """Give scales or zero points in a shape that broadcasts against an array with so many axes."""
        if self.axis is None or part.ndim == 0:
            return part.reshape(())
        shape = [1] * axes
        shape[self.axis] = -1
        return part.reshape(shape)


@dataclass(frozen=True, eq=False)
class Layer:
    """What `explain` and a port need of an op: its kind, and its numbers, weights and bias.

    Attributes
    ----------
    kind : str
        What `qops.explain` calls the op: "requantize" of sums, "add", "mul", "average_pool".
    numbers : dict
        Scales, zero points and ends of codes, by the names of `qops.explain`.
    weights, bias : ndarray or None
        The codes of the weights in the order of the file, and the bias.
    sums : callable or None
        ``sums(x, bias)`` gives the exact sums of products of codes, int64, with the bias, for codes `x` of the op's
        input. Only for "requantize".
    x_zero_point, w_zero_point : int
        The zero points of the data and of the weights, which `sums` subtracts.
    channel : int
        Which axis of the weights has the output channels.
    requantize : Requantize or None
        What takes the sums to codes, or the products of codes of "mul": a rule and its integers.
    """

    kind: str
    numbers: dict[str, Any]
    weights: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    sums: Callable[[NDArray[Any], NDArray[Any] | None], NDArray[np.int64]] | None = None
    x_zero_point: int = 0
    w_zero_point: int = 0
    requantize: Requantize | None = None
    channel: int = 0


class Alone(NamedTuple):
    """One op as a model of its own.

    Attributes
    ----------
    file : bytes
        The model.
    suffix : str
        What the name of such a file ends with, for example ``.tflite``.
    inputs : dict of str to ndarray
        The arrays that the model reads, by the names of its inputs.
    place : tuple of int
        The index of the element in the result of the model, if that was cut down to one element.
    how : str
        In words, how the model was cut down; "" if it was not.
    """

    file: bytes
    suffix: str
    inputs: dict[str, NDArray[Any]]
    place: tuple[int, ...]
    how: str


@dataclass(frozen=True, eq=False)
class Op:
    """One op of a graph, ready to run.

    Attributes
    ----------
    name : str
        Unique in its graph, for example ``conv_2d_3``.
    kind : str
        The name of the operator in the format of the file, for example ``CONV_2D``.
    inputs, outputs : tuple of str
        Names of tensors, constants included.
    reads : tuple of str
        Those of `inputs` that are no constants: what a call takes, in this order.
    call : callable
        Codes of `reads` to a tuple of the codes of `outputs`.
    real : callable or None
        The same in real numbers: values of `reads` to a tuple of the values of `outputs`, in float64. None where the op
        has no such formula here.
    rule : str
        The rule or the runtime whose bits the op gives, or in words what it does, for example "moves codes".
    layer : Layer or None
        What `explain` needs to find the rule; None where `explain` has no question for the op.
    remade : callable or None
        ``remade(runtime)`` gives the same op with the bits of another runtime; ValueError if that has no such op.
    prepared : object or None
        The prepared op of `qops.tflite` or `qops.onnx`, where one does all the work.
    alone : callable or None
        ``alone(inputs, outputs, index=None)`` gives an `Alone`, a model of this op that reads `inputs`. With `index` it
        makes one element of the first output alone; None if no smaller op does.
    runtime : str
        The runtime for which the op was made. An op with `remade` is pickled as ``remade(runtime)``.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    call: Callable[..., tuple[NDArray[Any], ...]] = field(repr=False)
    real: Callable[..., tuple[NDArray[Any], ...]] | None = field(default=None, repr=False)
    rule: str = ""
    layer: Layer | None = field(default=None, repr=False)
    remade: Callable[[str], Op] | None = field(default=None, repr=False)
    prepared: Any = field(default=None, repr=False)
    alone: Callable[..., Alone | None] | None = field(default=None, repr=False)
    runtime: str = field(default="", repr=False)

    def __reduce__(self) -> Any:
        return super().__reduce__() if self.remade is None else (self.remade, (self.runtime,))


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
        All of them, constants included.
    ops : tuple of Op
        In an order in which each op comes after those whose results it reads.
    runtime : str
        Whose bits the ops give, for example "reference" or "ort".
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
        Whose ops are run in their order.
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


def in_real_numbers(op: Op, tensors: Mapping[str, Tensor], *values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Run an op in real numbers; one without a formula takes the nearest codes of what it reads.

    Parameters
    ----------
    op : Op
        One op of a graph.
    tensors : dict of str to Tensor
        All that it reads and writes, by name.
    *values : ndarray
        The values of ``op.reads``.

    Returns
    -------
    tuple of ndarray
        The values of ``op.outputs``.
    """
    if op.real is not None:
        return op.real(*values)
    codes = (tensors[name].codes(value) for name, value in zip(op.reads, values, strict=True))
    made = zip(op.outputs, op.call(*codes), strict=True)
    return tuple(tensors[name].values(y) for name, y in made)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
