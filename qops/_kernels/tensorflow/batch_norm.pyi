from typing import Any

import numpy as np
from numpy.typing import NDArray

Checked = tuple[NDArray[Any], float, float]

def factors(
    mean: Checked, variance: Checked, beta: Checked, gamma: Checked, epsilon: float, scaled: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None: ...
def normalize(t: Checked, scales: NDArray[np.int32], offsets: NDArray[np.int32], out: NDArray[np.int32]) -> None: ...
