from typing import Any

from numpy.typing import NDArray

Moves = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

def resize(images: NDArray[Any], down_moves: Moves, across_moves: Moves, out: NDArray[Any]) -> None: ...
