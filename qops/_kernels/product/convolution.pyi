from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.product.finish import Finish
from qops._kernels.product.weights import PackedWeights
from qops._kernels.product.window import Window

class Images:
    def __init__(self, x: NDArray[Any], window: Window = ..., pad_value: int = 0, zero_point: int = 0) -> None: ...

def convolve(
    images: Images,
    w: NDArray[Any] | PackedWeights,
    out: NDArray[Any] | None = None,
    finish: Finish | None = None,
    *,
    num_threads: int = 1,
) -> NDArray[Any]: ...
def window_sums(images: Images, kernel: tuple[int, int], groups: int = 1) -> NDArray[np.int32]: ...
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
        asked: tuple[Any, ...] | None,
        first: Images,
        packed: PackedWeights,
        finish: Finish,
        *,
        num_threads: int = 1,
        planes: bool = False,
    ) -> None: ...
    def __call__(
        self,
        src: object,
        asked: tuple[Any, ...],
        out: NDArray[Any] | None,
        weights: NDArray[Any] | None = None,
    ) -> NDArray[Any] | None: ...
