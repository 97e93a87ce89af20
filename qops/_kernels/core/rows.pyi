from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
SPLITS: tuple[str, ...]

def integer_codes(
    x: NDArray[Any],
    multipliers: NDArray[np.int64],
    right_shifts: NDArray[np.int64],
    inner: int,
    out: NDArray[Any],
    *,
    first: str,
    second: str,
    split: str,
    zero_point: int,
    lowest: int,
    highest: int,
    product_wraps: bool = False,
    high_wraps: bool = False,
    code_wraps: bool = False,
) -> None: ...
def floats(
    scale: float,
    rounding: str,
    lowest: float,
    highest: float,
    *,
    plus: float = 0.0,
    shift: float = 0.0,
    form: str = "times",
) -> Row: ...
def float_codes(
    x: NDArray[Any], row: Row, out: NDArray[Any], *, scales: NDArray[np.float32] | None = None, inner: int = 1
) -> None: ...
def double_codes(
    x: NDArray[Any],
    scales: NDArray[np.float64],
    inner: int,
    out: NDArray[Any],
    *,
    rounding: str,
    lowest: float,
    highest: float,
    plus: float = 0.0,
    shift: float = 0.0,
) -> None: ...
