from typing import Any

from numpy.typing import NDArray

Row = dict[str, Any]

def integers(
    multiplier: int,
    right_shift: int,
    first: str,
    lowest: int,
    highest: int,
    *,
    left_shift: int = 0,
    second_shift: int = 0,
    second: str = "floor",
    zero_point: int = 0,
) -> Row: ...
def integer_codes(x: NDArray[Any], row: Row, out: NDArray[Any]) -> None: ...
def floats(
    scale: float, rounding: str, lowest: float, highest: float, *, plus: float = 0.0, shift: float = 0.0
) -> Row: ...
def float_codes(x: NDArray[Any], row: Row, out: NDArray[Any]) -> None: ...
def wide_integer_codes(
    x: NDArray[Any],
    row: Row,
    out: NDArray[Any],
    *,
    product_wraps: bool = False,
    high_wraps: bool = False,
    code_wraps: bool = False,
) -> None: ...
def double_codes(
    x: NDArray[Any],
    scale: float,
    rounding: str,
    lowest: float,
    highest: float,
    out: NDArray[Any],
    *,
    plus: float = 0.0,
    shift: float = 0.0,
) -> None: ...
