from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class _Sums(TypedDict):
    worst: int
    largest: float
    absolute: float
    signed: float
    squares: float
    noise: float
    signal: float

def stretches(arrays: tuple[NDArray[Any], ...], length: int) -> Iterator[tuple[int, tuple[NDArray[Any], ...]]]: ...
def sums(code: NDArray[Any], true: NDArray[Any], line: list[NDArray[Any]], off: NDArray[Any]) -> _Sums: ...
def count(off: NDArray[Any], width: float, half: int) -> NDArray[np.int64]: ...
