from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

class _Add8(TypedDict):
    ka: int
    kb: int
    offset: int

class _Add32(TypedDict):
    za: int
    zb: int
    ma: float
    mb: float
    max: float

class Span:
    @property
    def fits(self) -> bool: ...
    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...

def add_8p8to8_integers(
    a_min: float, a_max: float, b_min: float, b_max: float, c_min: float, c_max: float
) -> _Add8: ...
def add_8p8to8(
    x: NDArray[Any],
    a_min: float,
    a_max: float,
    y: NDArray[Any],
    b_min: float,
    b_max: float,
    c_min: float,
    c_max: float,
    out: NDArray[np.uint8],
) -> Span: ...
def add_8p8to32_integers(a_min: float, a_max: float, b_min: float, b_max: float) -> _Add32: ...
def add_8p8to32(
    x: NDArray[Any],
    a_min: float,
    a_max: float,
    y: NDArray[Any],
    b_min: float,
    b_max: float,
    out: NDArray[np.int32],
) -> float: ...
