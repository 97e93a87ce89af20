from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.core.maker import KeptMaker

def finish(
    x: NDArray[np.int32] | NDArray[np.float32],
    steps: Sequence[tuple[str, ArrayLike]],
    old: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]: ...
def finish_codes(
    x: NDArray[np.int32],
    steps: Sequence[tuple[str, ArrayLike]],
    old: NDArray[np.float32] | None,
    row: Mapping[str, Any],
    out: NDArray[Any],
) -> bool: ...
def kept_codes(steps: Sequence[tuple[str, ArrayLike]], row: Mapping[str, Any]) -> KeptMaker | None: ...
