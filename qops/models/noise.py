"""Seeded codes for the inputs of a graph."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.graph import Graph

__all__ = ["noise"]

_MOST = 2**26  # elements of noise, more than a picture of 4K has


def noise(graph: Graph, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Give seeded codes of every input, each code as likely as the next; values from -1 to 1 where it has no codes.

    Integers of 32 and 64 bits without a scale, which are places and sizes, are 0 or 1.

    Parameters
    ----------
    graph : Graph
        The model.
    seed : int
        Where the sequence starts.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    ValueError
        Inputs of more elements than a model is meant to have: a damaged file may announce any size.
    """
    draw = np.random.default_rng(seed)
    found: dict[str, NDArray[Any]] = {}
    sizes = {name: tuple(n or 1 for n in graph.tensors[name].shape) for name in graph.inputs}
    if sum(prod(shape) for shape in sizes.values()) > _MOST:
        shapes = ", ".join(f"{name!r} of shape {shape!s:.80}" for name, shape in sizes.items())
        raise bad_value("data", f"{graph.name} announces inputs too large for noise, {shapes:.400}: give data")
    for name in graph.inputs:
        tensor = graph.tensors[name]
        shape, dtype = tuple(1 if n is None else n for n in tensor.shape), np.dtype(tensor.dtype)
        if dtype.kind in "iu" and dtype.itemsize > 2 and tensor.scale is None:
            found[name] = draw.integers(0, 2, shape, dtype)
        elif dtype.kind in "iu":
            info = np.iinfo(dtype)
            found[name] = draw.integers(info.min, info.max, shape, dtype, endpoint=True)
        else:
            found[name] = draw.uniform(-1, 1, shape).astype(dtype)
    return found
