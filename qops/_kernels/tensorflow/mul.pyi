from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Checked: TypeAlias = tuple[NDArray[np.uint8], float, float]

def offset(lo: float, hi: float) -> int: ...
def range_of_products(a: Checked, b: Checked, names: str) -> float: ...
def multiply(a: Checked, b: Checked, out: NDArray[Any]) -> None: ...
