from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.maker import KeptMaker

Row = dict[str, Any]
SPLITS: tuple[str, ...]

class Codes:
    def kept(self) -> KeptMaker: ...
    def __call__(self, x: NDArray[Any], out: NDArray[Any]) -> None: ...

class IntegerCodes(Codes):
    def __init__(
        self,
        multipliers: NDArray[np.int64],
        right_shifts: NDArray[np.int64],
        inner: int = 1,
        *,
        rounds: tuple[str, str, str],
        ends: tuple[int, int, int],
        wraps: str = "",
        small: bool = False,
        shifted: int = 0,
    ) -> None: ...

class InTwo(Codes):
    def __init__(self, first: Codes, second: Codes) -> None: ...

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

class FloatCodes(Codes):
    def __init__(self, row: Row, scales: NDArray[np.float32] | None = None, inner: int = 1) -> None: ...
    def of_values(
        self, x: NDArray[np.float32], source: NDArray[Any], out: object, code_typenum: int
    ) -> NDArray[Any] | None: ...

class DoubleCodes(Codes):
    def __init__(
        self,
        scales: NDArray[np.float64],
        inner: int = 1,
        *,
        rounding: str,
        lowest: float,
        highest: float,
        plus: float = 0.0,
        shift: float = 0.0,
    ) -> None: ...
