from typing import Any

from numpy.typing import NDArray

Range = tuple[float, float]
Checked = tuple[NDArray[Any], float, float]

def add_8p8to32_integers(a: Range, b: Range, subtract: bool = False) -> dict[str, Any]: ...
def add_8p8to32(a: Checked, b: Checked, out: NDArray[Any], subtract: bool = False) -> float: ...
