from typing import Any

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]

class PackedWeights:
    @property
    def shape(self) -> tuple[int, int, int, int]: ...
    @property
    def groups(self) -> int: ...
    @property
    def saturating(self) -> bool: ...
    @property
    def tier(self) -> str: ...
    @property
    def sums(self) -> NDArray[np.int32]: ...
    @property
    def nbytes(self) -> int: ...

def pack_weights(w: NDArray[np.int8], *, groups: int = 1, saturating: bool = False) -> PackedWeights: ...
def convolve(
    x: NDArray[Any],
    w: NDArray[np.int8] | PackedWeights,
    out: NDArray[np.int32] | None = None,
    *,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: tuple[Pair, Pair] = ((0, 0), (0, 0)),
    pad_value: int = 0,
    zero_point: int = 0,
    layout: str = "nhwc",
    groups: int = 1,
    saturating: bool = False,
    num_threads: int = 1,
) -> NDArray[np.int32]: ...
