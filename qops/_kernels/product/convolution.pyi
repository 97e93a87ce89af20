from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.maker import KeptMaker
from qops._kernels.product.weights import PackedWeights
from qops._kernels.product.window import Window

class Images:
    def __init__(self, x: NDArray[Any], window: Window = ..., pad_value: int = 0, zero_point: int = 0) -> None: ...

def convolve(
    images: Images,
    w: NDArray[Any] | PackedWeights,
    out: NDArray[np.int32] | None = None,
    *,
    w_zero_point: int | NDArray[Any] = 0,
    bias: NDArray[np.int32] | None = None,
    num_threads: int = 1,
) -> NDArray[np.int32]: ...
def convolve_in_zeros(
    x: NDArray[Any],
    w: NDArray[Any] | PackedWeights,
    zero: int,
    w_zero: int,
    window: Window,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]: ...

class Prepared:
    def __init__(
        self,
        asked: tuple[Any, ...],
        first: Images,
        packed: PackedWeights,
        weights: NDArray[Any],
        codes: KeptMaker | None,
        typenum: int,
        num_threads: int,
    ) -> None: ...
    def __call__(self, src: NDArray[Any], asked: tuple[Any, ...], out: NDArray[Any] | None) -> NDArray[Any] | None: ...
