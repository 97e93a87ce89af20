from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

def add_spec_integers(
    a_min: float, a_max: float, b_min: float, b_max: float, c_min: float, c_max: float
) -> dict[str, int | float]: ...
def add_flat_integers(
    a_min: float, a_max: float, b_min: float, b_max: float, c_min: float, c_max: float, given: bool
) -> dict[str, Any]: ...

class Node:
    def __init__(self, lo: float | None, hi: float | None, straddle: bool) -> None: ...
    @property
    def ends(self) -> tuple[float, float]: ...
    def spec(
        self,
        x: Array,
        a_min: float,
        a_max: float,
        y: Array,
        b_min: float,
        b_max: float,
        padding: tuple[int, int] | None,
        out: Array,
    ) -> int: ...
    def flat(
        self, x: Array, a_min: float, a_max: float, y: Array, b_min: float, b_max: float, looks: bool, out: Array
    ) -> int: ...
