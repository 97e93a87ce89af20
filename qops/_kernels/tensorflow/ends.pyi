from typing import Any

from numpy.typing import NDArray

NORMAL: float
WIDEST: float

def fit(t: Any, steps: float, typenums: tuple[int, ...]) -> tuple[NDArray[Any], float, float] | None: ...
