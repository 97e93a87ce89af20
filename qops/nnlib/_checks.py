"""The check that ops of two operands share."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

from qops.checks import U8, operands, output
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
