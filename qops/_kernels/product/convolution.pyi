from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.product.weights import PackedWeights
from qops._kernels.product.window import Window

def convolve(
    x: NDArray[Any],
    w: NDArray[Any] | PackedWeights,
    out: NDArray[np.int32] | None = None,
    *,
    window: Window | None = None,
    pad_value: int = 0,
    zero_point: int = 0,
    w_zero_point: int | NDArray[Any] = 0,
    bias: NDArray[np.int32] | None = None,
    layout: str = "nhwc",
    groups: int = 1,
    saturating: bool = False,
    num_threads: int = 1,
) -> NDArray[np.int32]: ...
