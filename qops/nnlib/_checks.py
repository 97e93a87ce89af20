"""Checks that several ops share: two operands, the two ends of a range."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

from qops._kernels.arrays.numbers import shown
from qops.qtensor import U8, TensorLike, operands, output, span

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


def both_ends(value: Any, name: str) -> tuple[float, float]:
    """Give the ends of a range."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(f"{name}: expected (min, max), got {shown(value)}")
    return span(value[0], value[1], name)
