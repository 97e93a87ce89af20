from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.rows import Codes
from qops._kernels.product.window import Window

RULES: dict[str, int]

def largest(
    image: NDArray[Any], kernel: tuple[int, int], window: Window, out: NDArray[Any] | None = None
) -> NDArray[Any]: ...
def sums(
    image: NDArray[Any], kernel: tuple[int, int], window: Window, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]: ...
def totals(image: NDArray[np.int32], kernel: tuple[int, int], window: Window) -> NDArray[np.int32]: ...
def means(
    image: NDArray[Any],
    kernel: tuple[int, int],
    window: Window,
    rule: str,
    *,
    padding: bool = False,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def coded(
    image: NDArray[Any],
    kernel: tuple[int, int],
    stage: Codes,
    zero: int,
    scale: float = 0.0,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def counts(
    size: tuple[int, int], kernel: tuple[int, int], window: Window, *, padding: bool = False
) -> NDArray[np.int32]: ...
