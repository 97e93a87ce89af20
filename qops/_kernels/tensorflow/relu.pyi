from typing import Any

from numpy.typing import NDArray

def cut(q: NDArray[Any], lo: float, hi: float, top: float | None, out: NDArray[Any]) -> None: ...
