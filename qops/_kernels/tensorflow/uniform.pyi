from typing import Any

import numpy as np
from numpy.typing import NDArray

class Scaling:
    def __init__(
        self,
        multiplier: int,
        right_shift: int,
        in_zero: int,
        zero_point: int,
        lowest: int,
        highest: int,
        is_wide: bool = False,
    ) -> None: ...

def requantize(q: NDArray[Any], scaling: Scaling, out: NDArray[Any]) -> None: ...
def requantize_sums(acc: NDArray[np.int32], scaling: Scaling, out: NDArray[np.int32]) -> None: ...
def add(
    x: NDArray[np.int32],
    of_x: Scaling,
    y: NDArray[np.int32],
    of_y: Scaling,
    zero_point: int,
    lowest: int,
    highest: int,
    out: NDArray[np.int32],
) -> None: ...
def dot(a: NDArray[np.int8], a_zero: int, b: NDArray[np.int8], b_zero: int, out: NDArray[np.int32]) -> None: ...
def quantize(
    x: NDArray[np.float32], inverse: float, zero_point: int, lowest: int, highest: int, out: NDArray[Any]
) -> None: ...
def dequantize(q: NDArray[Any], scale: float, zero_point: int, out: NDArray[np.float32]) -> None: ...
