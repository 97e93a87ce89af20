import numpy as np
from numpy.typing import NDArray

KINDS: tuple[str, ...]

def one_multiplier(scale: float, kind: str) -> tuple[int, int]: ...
def multipliers(scales: NDArray[np.float64], kind: str) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]: ...
