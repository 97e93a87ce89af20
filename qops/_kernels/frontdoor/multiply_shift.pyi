import numpy as np
from numpy.typing import NDArray

def multiply_shift(x: object, factor: object, bits: object, rounding: str, out: object) -> NDArray[np.int32]: ...
