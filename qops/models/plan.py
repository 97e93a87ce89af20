"""What a run of a graph does, prepared once: which ops are called, on which tensors, and which tensors then die."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.steps import Step, Steps
from qops._kernels.machine import caches
from qops.models.op import FAILED, Op
from qops.models.tensor import Tensor

__all__ = ["RunPlan"]


PART_CACHES = 4
"""How many times the L2 cache the tensors of an op take for a part of a batch: then all layers stay near it."""


class RunPlan:
    """The steps of a graph without gaps and states, whose results are its outputs.

    A run keeps its tensors in a list of its own, so threads may share a plan. An array is dropped after its last
    reader, and its memory is then free for the results of the ops that follow.

    Parameters
    ----------
    name : str
        The name of the graph, for errors.
    ops : sequence of Op
        All ops, in the order in which they run.
    inputs, outputs : sequence of str
        Names of tensors.
    tensors : dict of str to Tensor
        All tensors.
    num_threads : int
        How many threads each product uses.
    """

    def __init__(
        self,
        name: str,
        ops: Sequence[Op],
        inputs: Sequence[str],
        outputs: Sequence[str],
        tensors: Mapping[str, Tensor],
        num_threads: int = 1,
    ) -> None:
        self._name, self._inputs = name, inputs
        made = {key: None for op in ops for key in op.outputs}
        self._places = {key: i for i, key in enumerate((*inputs, *made))}
        last = {key: op.name for op in ops for key in (*op.outputs, *op.reads)}
        last.update(dict.fromkeys((*inputs, *outputs), ""))  # the caller has these
        self._steps = Steps([self._step(op, last, num_threads) for op in ops], FAILED)
        self._constants = {key: tensors[key].data for key in outputs if tensors[key].data is not None}
        views = _views(ops, inputs)
        self._results = [(key, self._places.get(key, -1), key in views or key not in self._places) for key in outputs]
        self._ops, self._outputs, self._tensors = ops, outputs, tensors
        self._types = [(_dtype(tensors[key]), tensors[key].shape[1:]) for key in inputs]
        self._image_bytes = _image_bytes(ops, inputs, outputs, tensors)

    def _step(self, op: Op, last: Mapping[str, str], num_threads: int) -> Step:
        reads, results = (tuple(self._places[key] for key in names) for names in (op.reads, op.outputs))
        ends = tuple({self._places[key] for key in (*op.reads, *op.outputs) if last[key] == op.name})
        who = f"{self._name}: {op.name} ({op.kind})"
        if op.direct is None:
            return Step(op.call, reads, results[0], len(results), ends, who)
        call = op.direct
        if num_threads > 1 and op.is_threaded:
            call = _on_threads(call, num_threads)
        return Step(call, reads, results[0], 0, ends, who)

    def takes(self, x: Any) -> TypeGuard[NDArray[Any]]:
        """Whether `x` needs no further check: it is the only input, an array of its type and its shape."""
        if type(x) is not np.ndarray or len(self._types) != 1:
            return False
        dtype, shape = self._types[0]
        return x.dtype is dtype and x.ndim == len(shape) + 1 and x.shape[1:] == shape

    def run(self, inputs: Sequence[NDArray[Any]], num_threads: int = 1) -> dict[str, NDArray[Any]]:
        """Run all steps, of a batch part by part where no result depends on how many images there are.

        The tensors that an op reads and writes for a part take at most four times the L2 cache, so that much of what an
        op reads is still in it. Threads share the parts.

        Parameters
        ----------
        inputs : sequence of ndarray
            In the order of the inputs of the graph.
        num_threads : int
            How many threads share the work.

        Returns
        -------
        dict of str to ndarray
            The outputs, none of which is a view of another one or of an input.

        Raises
        ------
        ValueError
            An op that refuses what it reads.
        """
        if self._image_bytes:
            count = len(inputs[0])
            most = max(2, PART_CACHES * caches.sizes()[1] // self._image_bytes)
            if count > most or (count > 3 and num_threads > 1):
                return self._by_parts(inputs, count, min(most, max(2, -(-count // num_threads))), num_threads)
        if num_threads > 1:
            graph = self._name, self._ops, self._inputs, self._outputs, self._tensors
            return RunPlan(*graph, num_threads)._run(inputs)
        return self._run(inputs)

    def _by_parts(
        self, inputs: Sequence[NDArray[Any]], count: int, size: int, num_threads: int
    ) -> dict[str, NDArray[Any]]:
        """Run parts of so many images, but none of a single one."""
        starts = [*range(0, count - 1, size), count]
        parts = [[x[start:end] for x in inputs] for start, end in pairwise(starts)]
        if num_threads > 1:
            with ThreadPoolExecutor(num_threads) as pool:
                made = [*pool.map(self._run, parts)]
        else:
            made = [self._run(part) for part in parts]
        return {key: np.concatenate([one[key] for one in made]) for key in self._outputs}

    def _run(self, inputs: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        values: list[Any] = [None] * len(self._places)
        values[: len(inputs)] = inputs
        self._steps.run(values)
        try:
            return {
                key: np.array(self._constants[key] if place < 0 else values[place]) if copied else values[place]
                for key, place, copied in self._results
            }
        except MemoryError as why:
            raise ValueError(f"{self._name}: its results do not fit into memory: {why}") from why


def _on_threads(call: Callable[..., Any], count: int) -> Callable[..., Any]:
    return lambda *arrays: call(*arrays, None, count)


def _views(ops: Sequence[Op], inputs: Sequence[str]) -> set[str]:
    """Give the inputs and all results that may be views of other tensors: those of ops that are not `direct`."""
    return {*inputs, *(key for op in ops if op.direct is None or op.is_view for key in op.outputs)}


def _image_bytes(
    ops: Sequence[Op], inputs: Sequence[str], outputs: Sequence[str], tensors: Mapping[str, Tensor]
) -> int:
    """Give the bytes of an image in the op with the largest tensors; 0 if a batch must not be parted.

    All tensors then have the batch of the file as their first axis.
    """
    names = {*inputs, *outputs, *(key for op in ops for key in (*op.reads, *op.outputs))}
    batches = {tensors[key].shape[:1] for key in names}
    if len(batches) != 1 or batches == {()} or any(tensors[key].data is not None for key in names):
        return 0
    if not all(op.by_image for op in ops):
        return 0
    sizes = {key: prod(n or 1 for n in tensors[key].shape[1:]) * _dtype(tensors[key]).itemsize for key in names}
    return max([1, *(sum(sizes[key] for key in (*op.reads, *op.outputs)) for op in ops)])


def _dtype(tensor: Tensor) -> np.dtype[Any]:
    return np.dtype("int8" if tensor.dtype == "int4" else tensor.dtype)
