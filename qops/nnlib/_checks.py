"""The checks that ops of this room share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.checks import U8, operands, output, parts, span
from qops.qtensor import TensorLike

Checked: TypeAlias = tuple[NDArray[Any], float, float]


def two(
    a: TensorLike,
    b: TensorLike,
    out: NDArray[Any] | None,
    out_type: int,
    names: tuple[str, str] = ("a", "b"),
    typenum: int = U8,
) -> tuple[Checked, Checked, NDArray[Any]]:
    """Check both operands; give them, and an array of the type `out_type` and the broadcast shape for the result."""
    x, y = operands(a, b, *names, typenum)
    return x, y, output(out, out_type, x[0], y[0], ", ".join(names))


def ranged(t: TensorLike, name: str) -> tuple[Any, float, float]:
    """Give a triple with its range checked, so that a later check of its data reads no number of the caller's.

    Reading a number may run user code, which may change an array that was checked before.
    """
    data, lo, hi = parts(t, name)
    return data, *span(lo, hi, name)


def count_of(values: Any) -> int:
    """Give the length of a tuple, list or 1-D array, for `integers`, which refuses all else; 0 of these."""
    sequence = isinstance(values, (tuple, list)) or (isinstance(values, np.ndarray) and values.ndim == 1)
    return len(values) if sequence else 0
