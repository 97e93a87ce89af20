"""ADD, SUB and MUL of integers without a scale, which count: indices and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Missing
from qops.models.tflite.site import OperatorRunner, PlacedOperator

__all__ = ["counts", "make_counted"]

Array = NDArray[Any]
_MOST = 2.0**52
"""Results up to here are exact in double, so beyond it one of int64 is refused."""
_ENDS = {"NONE": (), "RELU": (0,), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


def counts(site: PlacedOperator) -> bool:
    """Whether an operator of two tensors is of int32 or int64 without a scale."""
    tensors = site.tensor(0), site.tensor(1), site.outputs[0]
    return all(t.dtype in ("int32", "int64") and t.scale is None for t in tensors)


def make_counted(site: PlacedOperator, function: Callable[[Array, Array], Array]) -> OperatorRunner:
    """Make such an operator. What its type does not hold is refused, as C leaves open what it gives."""
    a, b, y = site.tensor(0), site.tensor(1), site.outputs[0]
    if not a.dtype == b.dtype == y.dtype:
        raise Missing(f"its types are {a.dtype}, {b.dtype}, {y.dtype}")
    dtype, ends = np.dtype(y.dtype), _ENDS[site.activation["activation"]]
    most = min(_MOST, float(np.iinfo(dtype).max))

    def run(a: Array, b: Array) -> Array:
        if np.abs(function(a.astype(np.float64), b.astype(np.float64))).max(initial=0) > most:
            raise ValueError(f"its result is beyond {dtype}, or beyond 2**52")
        found = function(a, b)
        return np.asarray(np.clip(found, ends[0], ends[-1] if len(ends) > 1 else None) if ends else found)

    return OperatorRunner((0, 1), run)
