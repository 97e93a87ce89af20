"""How QuantizedAdd and QuantizedMul broadcast, which differs from numpy."""

from __future__ import annotations

from math import prod

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops.tensorflow._checks import Checked, shape_text

__all__ = ["collapsed", "repeated"]


def collapsed(x: tuple[int, ...], y: tuple[int, ...], nothing: str) -> list[str]:
    """Tell which operand repeats along each axis: "x", "y", or "" for neither.

    Axes of length 1 are dropped, and neighbouring axes along which the same operand repeats are taken together.
    ValueError for shapes that TensorFlow refuses, with the words `nothing` if there are no elements to repeat, and for
    shapes whose results TensorFlow leaves uninitialised.
    """
    if x == y:
        return [""]
    rank, texts = max(len(x), len(y)), (shape_text(x), shape_text(y))
    axes: list[str] = []
    for i, j in zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True):
        if i != j and 1 not in (i, j):
            raise bad_value("x, y", f"Incompatible shapes: {texts[0]} vs. {texts[1]}")
        repeats = "" if i == j else "x" if i == 1 else "y"
        if (i, j) != (1, 1) and axes[-1:] != [repeats]:
            axes.append(repeats)
    if len(axes) > 2 or {"x", "y"} <= set(axes):
        raise bad_value("x, y", f"Broadcast between {texts[0]} and {texts[1]} is not supported")
    if len(axes) == 2 and 0 in (prod(x), prod(y)):
        raise bad_value("x, y", f"{nothing}, got shapes {texts[0]} and {texts[1]}")
    return axes


def repeated(x: Checked, y: Checked, shape: tuple[int, ...]) -> tuple[Checked, Checked]:
    """Fill `shape` with the codes of the smaller operand, in row-major order, over and over again."""
    return (_cycled(x, shape), y) if x[0].size < y[0].size else (x, _cycled(y, shape))


def _cycled(small: Checked, shape: tuple[int, ...]) -> Checked:
    codes = small[0].reshape(-1)
    return np.broadcast_to(codes, (prod(shape) // codes.size, codes.size)).reshape(shape), *small[1:]
