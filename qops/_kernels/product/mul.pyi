from typing import Any

import numpy as np
from numpy.typing import NDArray

def multiply(
    a: NDArray[np.uint8],
    a_offset: int,
    b: NDArray[np.uint8],
    b_offset: int,
    left_shift: int,
    out: NDArray[Any],
) -> None: ...
def product_max(a_min: float, a_max: float, b_min: float, b_max: float, names: str) -> float: ...
