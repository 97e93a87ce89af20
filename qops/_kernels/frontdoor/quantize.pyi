from collections.abc import Callable
from typing import Any, TypedDict

class _Dequantize(TypedDict):
    zero_point: int
    scale: float
    base: float

quantize: Callable[..., Any]
dequantize: Callable[..., Any]

def dequantize_integers(lo: float, hi: float) -> _Dequantize: ...
