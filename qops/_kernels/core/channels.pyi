from typing import TypeVar

_T = TypeVar("_T")

def new_tensor(kind: type[_T], data: object, lo: object, hi: object) -> _T: ...
