from typing import Any

from numpy.typing import NDArray

Checked = tuple[NDArray[Any], float, float]

def mul_8x8to32(a: Checked, b: Checked, out: NDArray[Any]) -> float: ...
def mul_8x8to8_integers(
    a: tuple[float, float], b: tuple[float, float], lowest: int, highest: int
) -> dict[str, Any]: ...
def mul_8x8to8(a: Checked, b: Checked, out: NDArray[Any]) -> tuple[float, float] | None: ...
