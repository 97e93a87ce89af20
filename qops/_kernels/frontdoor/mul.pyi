from collections.abc import Callable
from typing import Any, TypedDict

_Range = tuple[float, float]

class _Mul(TypedDict):
    k: int
    ka: int
    kb: int
    kab: int

def mul_8x8to32_integers(a: _Range, b: _Range) -> _Mul: ...
def mul_8x8to32(a: tuple[Any, float, float], b: tuple[Any, float, float], out: Any) -> None: ...

quantized_mul_8x8to32: Callable[..., Any]

def mul_8x8to8(a: tuple[Any, float, float], b: tuple[Any, float, float], c: _Range, out: Any) -> dict[str, Any]: ...

quantized_mul_8x8to8: Callable[..., Any]
