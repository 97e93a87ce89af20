from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

BLOCK: int

def buffered(arrays: tuple[NDArray[Any], ...], writes: bool = True) -> Iterator[tuple[NDArray[Any], ...]]: ...
