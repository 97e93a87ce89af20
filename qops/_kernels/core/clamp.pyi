from typing import Any

from numpy.typing import NDArray

def clamp(x: NDArray[Any], lo: int, hi: int, out: NDArray[Any]) -> None: ...
