from typing import TypeVar, overload

_T = TypeVar("_T")
_Info = TypeVar("_Info")

def quantized_add_8p8to32(a: object, b: object, out: object, kind: type[_T]) -> _T: ...
@overload
def quantized_add_8p8to8(a: object, b: object, guess: object, out: object, kind: type[_T], info_kind: None) -> _T: ...
@overload
def quantized_add_8p8to8(
    a: object, b: object, guess: object, out: object, kind: type[_T], info_kind: type[_Info]
) -> tuple[_T, _Info]: ...
