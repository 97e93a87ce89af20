from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Checked: TypeAlias = tuple[NDArray[np.uint8], float, float]

def offset(lo: float, hi: float) -> int: ...
def range_of_products(a: _Checked, b: _Checked, names: str) -> float: ...
def multiply(a: _Checked, b: _Checked, out: NDArray[Any]) -> None: ...
