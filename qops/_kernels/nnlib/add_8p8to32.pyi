from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

def add_8p8to32_integers(a_min: float, a_max: float, b_min: float, b_max: float) -> dict[str, Any]: ...
def add_8p8to32(x: Array, a_min: float, a_max: float, y: Array, b_min: float, b_max: float, out: Array) -> float: ...
