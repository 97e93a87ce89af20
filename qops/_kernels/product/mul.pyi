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
def product_max(a: tuple[float, float], b: tuple[float, float], names: str) -> float: ...
