from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDINGS: tuple[str, ...]

def multiply_shift(
    x: NDArray[Any], multiplier: int, right_shift: int, rounding: str, out: NDArray[np.int32]
) -> None: ...
