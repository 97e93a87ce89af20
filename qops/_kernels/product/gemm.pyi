from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

class PackedB:
    @property
    def k(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def saturating(self) -> bool: ...
    @property
    def tier(self) -> str: ...
    @property
    def colsum(self) -> NDArray[np.int32]: ...
    @property
    def nbytes(self) -> int: ...

def pack_b(b: NDArray[np.int8], *, saturating: bool = False, block_starts: Sequence[int] = ()) -> PackedB: ...
def check_out(out: NDArray[np.int32], a: NDArray[Any], b: NDArray[np.int8]) -> None: ...
def product(
    a: ArrayLike,
    b: ArrayLike | PackedB,
    out: NDArray[np.int32] | None = None,
    *,
    accumulate: bool = False,
    saturating: bool = False,
    block_starts: Sequence[int] = (),
    num_threads: int = 1,
) -> NDArray[np.int32]: ...
