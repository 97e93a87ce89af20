from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_COMBINED: int
MIN_FIRST: int
SCALED: int
SCALED_HALF_EVEN: int
ONEDNN_MIN_FIRST: int
ONEDNN_MIN_FIRST_0D: int
ONEDNN_SCALED: int

class Quantizer:
    def __init__(self, lo: float, hi: float, row: Any, way: int, narrow: bool, ensure_minimum_range: float) -> None: ...
    @property
    def numbers(self) -> dict[str, Any]: ...
    @property
    def ends(self) -> tuple[float, float]: ...
    @property
    def usable(self) -> bool: ...
    def quantize(self, x: NDArray[np.float32], out: NDArray[Any]) -> None: ...

def dequantize(
    q: NDArray[Any], lo: float, hi: float, way: int, narrow: bool, is_slice: bool, out: NDArray[np.float32]
) -> None: ...
