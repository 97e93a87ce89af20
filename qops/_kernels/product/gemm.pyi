from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.core.rows import Codes
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
def code_sums(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def take_off_offsets(
    c: NDArray[np.int32],
    a: NDArray[Any],
    b: NDArray[Any] | PackedB,
    a_offset: int | NDArray[Any],
    b_offset: int | NDArray[Any],
) -> None: ...

class PreparedProduct:
    def __init__(
        self,
        a: NDArray[Any],
        packed: PackedB,
        offsets: tuple[int, int | NDArray[Any]],
        codes: Codes | None = None,
        typenum: int = ...,
        num_threads: int = 1,
    ) -> None: ...
    def __call__(self, a: object, asked: tuple[Any, ...], out: NDArray[Any] | None) -> NDArray[Any] | None: ...
