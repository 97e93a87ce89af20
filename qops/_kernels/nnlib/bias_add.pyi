from typing import Any

from numpy.typing import NDArray

Operand = tuple[NDArray[Any], float, float]

def bias_add_8p8to32_integers(x: tuple[float, float], b: tuple[float, float]) -> dict[str, Any]: ...
def bias_add_8p8to32(x: Operand, b: Operand, out: NDArray[Any]) -> float: ...
