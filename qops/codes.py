"""Code types: what the integers of quantized data stand for. All else reads this table; no fact of it stands elsewhere.

==============  =======================  ==========  =================================================================
row             codes                    steps       code ``q`` stands for
==============  =======================  ==========  =================================================================
u8              0..255                   255         ``min + q * step``
s8              -128..127                255         ``min + (q + 128) * step``
u16, s16        0..65535, -32768..32767  65535       ``min + (q - lowest) * step``
s32             -2**31..2**31 - 1        2**32       ``q * step``, of a range with ``min == -max``
narrow          lowest + 1..highest      one fewer   ``min + (q - lowest - 1) * step``: TensorFlow's ``narrow_range``
s8_balanced     -128..127                255         ``q * step``, ``min == -max``: TensorFlow's SCALED with oneDNN
s16_balanced    -32768..32767            65536       ``q * step``, ``min == -max``: nnlib's 16 bits
s32_affine      -2**31..2**31 - 1        2**32 - 1   ``min + (q + 2**31) * step``: TensorFlow's qint32, but SCALED
==============  =======================  ==========  =================================================================

``step = (max - min) / steps``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.codes import learn_codes as _learn_codes

__all__ = ["TABLE", "CodeType", "of"]


class CodeType(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    name : str
        Its name in `TABLE`.
    dtype : dtype
        Type of the data.
    lowest, highest : int
        The codes at the ends.
    steps : int
        How many code steps a range is wide.
    symmetric : bool
        Whether code 0 stands for 0 and ``min == -max``; else the lowest code stands for min.
    """

    name: str
    dtype: np.dtype[Any]
    lowest: int
    highest: int
    steps: int
    symmetric: bool

    def step(self, min: Any, max: Any) -> Any:
        """Real size of one code step: ``(max - min) / steps`` in float64.

        Parameters
        ----------
        min, max : float or ndarray
            Ends of the range, or of each range.

        Returns
        -------
        float or ndarray of float64
        """
        if isinstance(min, np.ndarray):
            return np.subtract(max, min, dtype=np.float64) / self.steps
        return (max - min) / self.steps

    def zero_point(self, min: Any, max: Any) -> Any:
        """Code nearest to real 0, cut to the codes there are; 0 of a range that is 0 wide.

        Parameters
        ----------
        min, max : float or ndarray
            Ends of the range, or of each range.

        Returns
        -------
        int or ndarray of int64
        """
        step = np.asarray(self.step(min, max))
        above = np.asarray(min, np.float64) / -np.where(step > 0, step, 1.0)
        near = self.lowest + np.rint(np.clip(above, 0, self.highest - self.lowest)).astype(np.int64)
        codes = np.where((step > 0) & (not self.symmetric), near, 0)
        return codes if codes.ndim else int(codes)


_PLAIN = (
    CodeType("u8", np.dtype(np.uint8), 0, 255, 255, False),
    CodeType("s8", np.dtype(np.int8), -128, 127, 255, False),
    CodeType("u16", np.dtype(np.uint16), 0, 65535, 65535, False),
    CodeType("s16", np.dtype(np.int16), -32768, 32767, 65535, False),
    CodeType("s32", np.dtype(np.int32), -(2**31), 2**31 - 1, 2**32, True),
)
_OTHERWISE = (
    CodeType("u8_narrow", np.dtype(np.uint8), 1, 255, 254, False),
    CodeType("s8_narrow", np.dtype(np.int8), -127, 127, 254, False),
    CodeType("u16_narrow", np.dtype(np.uint16), 1, 65535, 65534, False),
    CodeType("s16_narrow", np.dtype(np.int16), -32767, 32767, 65534, False),
    CodeType("s8_balanced", np.dtype(np.int8), -128, 127, 255, True),
    CodeType("s16_balanced", np.dtype(np.int16), -32768, 32767, 65536, True),
    CodeType("s32_affine", np.dtype(np.int32), -(2**31), 2**31 - 1, 2**32 - 1, False),
)
TABLE: dict[str, CodeType] = {row.name: row for row in (*_PLAIN, *_OTHERWISE)}
"""Every row by its name."""
_BY_DTYPE = {row.dtype.str[1:]: row for row in _PLAIN}  # in either order of bytes
_learn_codes(_PLAIN)


def of(data: NDArray[Any], name: str = "data") -> CodeType:
    """The row that the dtype of `data` means, unless a tensor says otherwise.

    Parameters
    ----------
    data : ndarray
        Codes.
    name : str
        What an error calls them.

    Returns
    -------
    CodeType

    Raises
    ------
    TypeError
        A dtype without a row.

    Examples
    --------
    >>> of(np.int8([1])).lowest
    -128
    """
    row = _BY_DTYPE.get(data.dtype.str[1:])
    if row is None:
        raise TypeError(f"{name}: expected {', '.join(str(r.dtype) for r in _PLAIN)} codes, got {data.dtype}")
    return row
