"""`QTensor`, the triple that every op takes and gives, and the checks that every op makes.

The checks are compiled (`qops._kernels.core.checks`), because they run on every call.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.checks import (
    F32,
    S32,
    U8,
    array,
    as_array,
    check_out,
    int32s,
    integer,
    number,
    operand,
    output,
    real,
    span,
)

__all__ = [
    "F32",
    "S32",
    "U8",
    "QTensor",
    "TensorLike",
    "array",
    "as_array",
    "check_out",
    "int32s",
    "integer",
    "number",
    "operand",
    "output",
    "real",
    "span",
]


class QTensor(NamedTuple):
    """Quantized data and the real values of its range: still a plain ``(data, min, max)`` triple.

    Code ``q`` of uint8 data stands for ``min + q * (max - min) / 255``. Code ``q`` of int32 data stands for
    ``q * (max - min) / 2**32``: its range is symmetric, ``min == -max``, and code 0 is 0.

    Attributes
    ----------
    data : ndarray of uint8 or int32
        The codes.
    min, max : float
        Real values at the ends of the code range, float32 values held as Python floats.

    Examples
    --------
    >>> import numpy as np
    >>> t = QTensor(np.array([0, 128, 255], np.uint8), -1.0, 0.9921875)
    >>> t.scale, t.zero_point
    (0.0078125, 128)
    >>> data, lo, hi = t
    >>> hi
    0.9921875
    """

    data: NDArray[Any]
    min: float
    max: float

    @property
    def scale(self) -> float:
        """Real size of one code step: (max - min) / 255 for uint8, (max - min) / 2**32 for int32."""
        if self.data.dtype == np.uint8:
            return (self.max - self.min) / 255
        if self.data.dtype == np.int32:
            return (self.max - self.min) / 2**32
        raise TypeError(f"data: the step of {self.data.dtype} codes depends on the system that made them")

    @property
    def zero_point(self) -> int:
        """Code nearest to real 0, cut to the code range; exact when 0 is on a code, as `quantize` makes it."""
        if self.scale == 0 or self.data.dtype == np.int32:
            return 0
        return int(min(255, max(0, round(-self.min / self.scale))))


TensorLike: TypeAlias = QTensor | tuple[Any, float, float] | list[Any]
