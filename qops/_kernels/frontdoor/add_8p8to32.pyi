from collections.abc import Callable
from typing import Any, TypedDict

class _Add32(TypedDict):
    ka: int
    kb: int
    k: int

def add_8p8to32_integers(a: tuple[float, float], b: tuple[float, float]) -> _Add32: ...
def add_8p8to32(a: tuple[Any, float, float], b: tuple[Any, float, float], out: Any) -> None: ...

quantized_add_8p8to32: Callable[..., Any]
quantized_sub_8p8to32: Callable[..., Any]
