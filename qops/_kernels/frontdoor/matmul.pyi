from typing import Any

import numpy as np
from numpy.typing import NDArray

def codes_of_sums(
    sums: NDArray[np.int32],
    terms: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]],
    factors: tuple[float, float, float, float],
    per_value: float,
    codes: NDArray[Any],
) -> None: ...
