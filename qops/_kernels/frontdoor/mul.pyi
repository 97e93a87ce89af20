from typing import Any, Literal, TypedDict, overload

_Range = tuple[float, float]

class _Mul(TypedDict):
    k: int
    ka: int
    kb: int
    kab: int

def mul_8x8to32_integers(a: _Range, b: _Range) -> _Mul: ...
def mul_8x8to32(a: tuple[Any, float, float], b: tuple[Any, float, float], out: Any) -> None: ...
def quantized_mul_8x8to32(a: object, b: object, out: object) -> Any: ...
def mul_8x8to8(a: tuple[Any, float, float], b: tuple[Any, float, float], c: _Range, out: Any) -> dict[str, Any]: ...
@overload
def quantized_mul_8x8to8(
    a: object, b: object, guess: object, kept: object, out: object, info: Literal[False]
) -> Any: ...
@overload
def quantized_mul_8x8to8(
    a: object, b: object, guess: object, kept: object, out: object, info: Literal[True]
) -> tuple[Any, int, float, float]: ...
