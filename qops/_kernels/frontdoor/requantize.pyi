from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class _Requantize32(TypedDict):
    lowest: int
    highest: int
    centre: int
    left_shift: int
    multiplier: int
    offset: int

def requantize_integers(step: float, lo: float, hi: float) -> _Requantize32: ...
def requantize_32to8(x: NDArray[Any], step: float, lo: float, hi: float, out: NDArray[np.uint8]) -> None: ...
