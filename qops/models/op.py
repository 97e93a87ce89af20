"""One op of a graph: what it runs, what `explain` and a port need of it, and how it becomes a model of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.models.tensor import Tensor
from qops.rules import Requantize

__all__ = ["FAILED", "Alone", "Layer", "Missing", "Op", "gap", "in_real_numbers", "takes_threads", "unread"]

FAILED = (ValueError, TypeError, LookupError, ArithmeticError, MemoryError)
"""The errors of an op with bad numbers from a damaged file: shapes that do not fit, sizes that no memory holds."""


class Missing(ValueError):
    """An operator that qops does not have, in words."""


@shows_fields
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
        ``sums(x, bias, weights=None)`` gives the sums of products of codes, int64, with the bias, for codes `x` of the
        op's input, and for other codes of weights if they are given. Only for "requantize". They are exact, but for
        what pairs of products lose on the CPU of the runtime.
    x_zero_point, w_zero_point : int
        The zero points of the data and of the weights, which `sums` subtracts.
    channel : int
        Which axis of the weights has the output channels.
    exact : callable or None
        Called as `sums`, gives the sums without loss; None where `sums` loses nothing.
    requantize : Requantize or None
        What takes the sums to codes, or the products of codes of "mul": a rule and its integers.
    """

    kind: str
    numbers: dict[str, Any]
    weights: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    sums: Callable[..., NDArray[np.int64]] | None = None
    x_zero_point: int = 0
    w_zero_point: int = 0
    requantize: Requantize | None = None
    channel: int = 0
    exact: Callable[..., NDArray[np.int64]] | None = None

    def sums_of_weights(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """Give what one more step in every code of the input adds to each sum: the weights that it multiplies.

        Parameters
        ----------
        x : ndarray
            Codes of the op's input; only their shape and type count.

        Returns
        -------
        ndarray of int64, of the shape of the sums
        """
        sums = self.exact or self.sums
        assert sums is not None
        return sums(np.full_like(x, 1), None) - sums(np.zeros_like(x), None)


class Alone(NamedTuple):
    """One op as a model of its own.

    Attributes
    ----------
    file : callable
        ``file()`` gives the bytes of the model.
    suffix : str
        What the name of such a file ends with, for example ``.tflite``.
    inputs : dict of str to ndarray
        The arrays that the model reads, by the names of its inputs.
    place : tuple of int
        The index of the element in the result of the model, if that was cut down to one element.
    how : str
        In words, how the model was cut down; "" if it was not.
    """

    file: Callable[[], bytes]
    suffix: str
    inputs: dict[str, NDArray[Any]]
    place: tuple[int, ...]
    how: str


@shows_fields
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
        The inputs that are not constants, in the order in which a call takes them.
    call : callable
        Codes of `reads` to a tuple of the codes of `outputs`. An op with `states` takes these behind `reads`, or starts
        where they are left out or None, and gives them as they are afterwards, behind the outputs.
    real : callable or None
        The op in real numbers: values of `reads` to a tuple of the values of `outputs`, in float64. None where the
        op has no such formula here.
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
    axis : int
        Which axis of the results has the channels.
    states : dict of str to ndarray
        What the op keeps from one call to the next, by name: the values with which it starts.
    gap : str
        Why qops cannot run the operator, in words; "" if it can.
    direct : callable or None
        Codes of `reads`, each an argument, to the only result, without the tuple that `call` makes of it.
    is_view : bool
        Whether the result of `direct` may be a view of what it reads.
    on_uint8 : object or None
        The prepared op on codes of uint8, 128 larger, where the runtime makes these of codes of int8 first and
        `prepared` is None.
    with_zero : callable or None
        ``with_zero(n)`` gives the prepared op for data whose zero point is n, where the op reads that behind the data.
    by_image : bool
        Whether what an index of the first axis of the results has depends on this index of the data alone, and not on
        how many there are: the op then gives the same bits for a batch and for its parts.
    is_threaded : bool
        Whether `direct` takes None and a number of threads behind the codes.
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
    axis: int = field(default=-1, repr=False)
    states: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    gap: str = ""
    direct: Callable[..., Any] | None = field(default=None, repr=False)
    is_view: bool = field(default=False, repr=False)
    by_image: bool = field(default=False, repr=False)
    is_threaded: bool = field(default=False, repr=False)
    on_uint8: Any = field(default=None, repr=False)
    with_zero: Callable[[int], Any] | None = field(default=None, repr=False)

    def __reduce__(self) -> Any:
        return super().__reduce__() if self.remade is None else (self.remade, (self.runtime,))


def in_real_numbers(op: Op, tensors: Mapping[str, Tensor], *values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Run an op in real numbers; one without a formula takes the nearest codes of its inputs.

    Parameters
    ----------
    op : Op
        One op of a graph.
    tensors : dict of str to Tensor
        All that it reads and writes, by name.
    *values : ndarray
        The values of ``op.reads``, and the codes of ``op.states``.

    Returns
    -------
    tuple of ndarray
        The values of ``op.outputs``, and the codes of ``op.states``.
    """
    if op.real is not None:
        return op.real(*values)
    codes = [tensors[name].codes(value) for name, value in zip(op.reads, values, strict=False)]
    made = op.call(*codes, *values[len(codes) :])
    results = zip(op.outputs, made, strict=False)
    return (*(tensors[name].values(y) for name, y in results), *made[len(op.outputs) :])


def takes_threads(prepared: Any) -> bool:
    """Whether a call of a prepared op takes a number of threads, as those of products do."""
    return prepared is not None and "num_threads" in signature(type(prepared).__call__).parameters


def gap(
    name: str, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], reads: tuple[str, ...], why: str
) -> Op:
    """Give an op that stands for an operator which qops does not have.

    Parameters
    ----------
    name, kind : str
        As those of an `Op`.
    inputs, outputs, reads : tuple of str
        As those of an `Op`.
    why : str
        What qops does not have, in words.

    Returns
    -------
    Op
        Its call raises `Missing`.
    """

    def call(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        raise Missing(why)

    again = partial(_again, name, kind, inputs, outputs, reads, why)
    return Op(name, kind, inputs, outputs, reads, call, remade=again, gap=why)


def _again(*arguments: Any) -> Op:
    """Give a gap for another runtime, the last argument: it is the same for all."""
    return gap(*arguments[:-1])


def unread(missing: list[str]) -> str:
    """Give the message for a file in which these operators cannot be read: how many, where the first twenty are."""
    shown = missing[:20] + ([f"and {len(missing) - 20} more"] if len(missing) > 20 else [])
    said = f"{len(missing)} operator{'s' * (len(missing) > 1)} cannot be read:"
    return "\n  ".join([said, *shown, "load(..., gaps=True) reads the file with these as gaps"])
