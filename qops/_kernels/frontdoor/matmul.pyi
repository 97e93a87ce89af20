from typing import Any

import numpy as np
from numpy.typing import NDArray

def codes_of_sums(
    sums: NDArray[np.int32],
    factor: float,
    of_rows: NDArray[Any],
    of_columns: NDArray[Any],
    which: NDArray[np.int64],
    codes: NDArray[np.int32],
) -> None: ...
