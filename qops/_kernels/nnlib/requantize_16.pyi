from typing import Any

from numpy.typing import NDArray

def requantize_32to16(x: NDArray[Any], gain: float, shrinks: bool, out: NDArray[Any]) -> None: ...
