import numpy as np
from numpy.typing import NDArray

_Rules = tuple[str, ...]

def known(rounding: object, rules: _Rules) -> str: ...
def multiply_shift(
    x: object, factor: object, bits: object, rounding: object, rules: _Rules, out: object
) -> NDArray[np.int32]: ...
def multiply_shift_by(
    x: object, multiplier: object, right_shift: object, rounding: object, rules: _Rules, out: object
) -> NDArray[np.int32]: ...
