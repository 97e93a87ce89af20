from typing import Any

import numpy as np
from numpy.typing import NDArray

def requantize_integers(in_min: float, in_max: float, out_min: float, out_max: float) -> dict[str, int]: ...
def requantize(
    q: NDArray[np.int32], in_min: float, in_max: float, out_min: float, out_max: float, out: NDArray[Any]
) -> None: ...
def real_range(lowest: int, highest: int, in_min: float, in_max: float) -> tuple[float, float]: ...
