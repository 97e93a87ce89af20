"""`QTensor`, the triple that every op takes and gives, and the checks that every op makes.

The checks are compiled (`qops._kernels.core.checks`), because they run on every call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self, TypeAlias

from numpy.typing import ArrayLike, NDArray

from qops._kernels.core import codes
from qops._kernels.core.channels import new_tensor
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
    operands,
    output,
    parts,
    real,
    span,
)
from qops.codes import CodeType
from qops.codes import of as code_type

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
    "operands",
    "output",
    "parts",
    "real",
    "span",
    "tensor",
]


class _Triple(NamedTuple):
    data: NDArray[Any]
    min: Any
    max: Any


class QTensor(_Triple):
    """Quantized data and the real values of its range: still a plain ``(data, min, max)`` triple.

    What a code stands for, its dtype says (`qops.codes`): of uint8 data ``min + q * (max - min) / 255``, of int32 data,
    whose range is symmetric, ``q * (max - min) / 2**32``.

    Attributes
    ----------
    data : ndarray of uint8, int8, uint16, int16 or int32
        The codes.
    min, max : float
        Real values at the ends of the code range, float32 values held as Python floats; or, with ranges per channel,
        float32 arrays that broadcast against the data.

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

    __slots__ = ()

    def __new__(cls, data: ArrayLike, min: float | NDArray[Any], max: float | NDArray[Any]) -> Self:
        """Check and take the three; a range with min > max is refused."""
        return new_tensor(cls, data, min, max)

    @property
    def code_type(self) -> CodeType:
        """The row of `qops.codes` that says what the codes stand for."""
        return code_type(self.data)

    @property
    def scale(self) -> Any:
        """Real size of one code step, ``(max - min) / steps``: a float, or an array with ranges per channel."""
        return self.code_type.step(self.min, self.max)

    @property
    def zero_point(self) -> Any:
        """Code nearest to real 0, cut to the codes there are; exact when 0 is on a code, as `quantize` makes it."""
        return self.code_type.zero_point(self.min, self.max)


codes.learn_tensor(QTensor)
tensor: Callable[[NDArray[Any], Any, Any], QTensor] = codes.tensor
"""A `QTensor` of parts that are known to be right: what ops return, unchecked and quickly."""
TensorLike: TypeAlias = QTensor | tuple[Any, float, float] | list[Any]
