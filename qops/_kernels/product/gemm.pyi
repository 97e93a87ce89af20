from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.product.packed import PackedB

def product(
    a: ArrayLike,
    b: ArrayLike | PackedB,
    out: NDArray[np.int32] | None = None,
    *,
    offsets: tuple[int | NDArray[Any], int | NDArray[Any]] = (0, 0),
    bias: NDArray[np.int32] | None = None,
    pairs: Sequence[int] | None = None,
    accumulate: bool = False,
    num_threads: int = 1,
) -> NDArray[np.int32]: ...
def take_off_offsets(
    c: NDArray[np.int32],
    a: NDArray[Any],
    b: NDArray[Any] | PackedB,
    a_offset: int | NDArray[Any],
    b_offset: int | NDArray[Any],
) -> None: ...
