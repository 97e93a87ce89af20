from collections.abc import Callable
from typing import Any, TypedDict

_Range = tuple[float, float]

class _Add8(TypedDict):
    ka: int
    kb: int
    offset: int

def add_8p8to8_integers(a: _Range, b: _Range, c: _Range) -> _Add8: ...
def add_8p8to8(
    a: tuple[Any, float, float], b: tuple[Any, float, float], c: _Range, out: Any, subtract: bool = False
) -> dict[str, Any]: ...

quantized_add_8p8to8: Callable[..., Any]
quantized_sub_8p8to8: Callable[..., Any]
