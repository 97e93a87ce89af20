from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class _Dequantize(TypedDict):
    zero_point: int
    scale: float
    base: float

def quantize(x: object, lo: object, hi: object, axis: object, dtype: object, nan: object, out: object) -> Any: ...
def dequantize(t: object, out: object) -> NDArray[np.float32]: ...
def dequantize_integers(lo: float, hi: float) -> _Dequantize: ...
