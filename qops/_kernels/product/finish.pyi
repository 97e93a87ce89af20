from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.maker import KeptMaker

class Finish:
    def __init__(
        self,
        w_zero_point: int | NDArray[Any] = 0,
        bias: NDArray[np.int32] | None = None,
        codes: KeptMaker | None = None,
        typenum: int = ...,
    ) -> None: ...
