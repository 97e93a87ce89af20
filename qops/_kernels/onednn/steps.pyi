from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

def finish(
    x: NDArray[np.int32] | NDArray[np.float32],
    steps: Sequence[tuple[str, ArrayLike]],
    old: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]: ...
