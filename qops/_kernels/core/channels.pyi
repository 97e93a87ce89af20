from typing import Any, TypeVar

from numpy.typing import NDArray

_T = TypeVar("_T")

def read(t: object, name: str) -> tuple[NDArray[Any], Any, Any]: ...
def new_tensor(kind: type[_T], data: object, lo: object, hi: object) -> _T: ...
