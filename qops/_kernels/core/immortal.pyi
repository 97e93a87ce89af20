from typing import TypeVar

_T = TypeVar("_T")

def immortal(f: _T) -> _T: ...
