from typing import Any

from numpy.typing import NDArray

NORMAL: float
WIDEST: float

def fit(steps: float, typenums: tuple[int, ...], *tensors: Any) -> list[tuple[NDArray[Any], float, float]] | None: ...
def in_order(**tensors: tuple[NDArray[Any], float, float]) -> None: ...
