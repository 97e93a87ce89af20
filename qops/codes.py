"""Code types: the real values that codes stand for. All of qops reads these facts from this table.

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
s32_affine      -2**31..2**31 - 1        2**32 - 1   ``min + (q + 2**31) * step``: TensorFlow's qint32, not SCALED
==============  =======================  ==========  =================================================================

``step = (max - min) / steps``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.nearest import did_you_mean, expected_one_of
from qops._kernels.arrays.refusal import bad_type
from qops._kernels.stage.affine import line as _line
from qops._keywords import name_keywords as _name_keywords
from qops._keywords import no_attribute
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops._readable import shows_fields
from qops.checks import shown

__all__ = ["TABLE", "CodeType", "named", "of", "of_dtype"]
__dir__ = __all__.copy


@shows_fields
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
        The width of a range in code steps.
    symmetric : bool
        Whether code 0 stands for 0 and ``min == -max``; else the lowest code stands for min.
    """

    name: str
    dtype: np.dtype[Any]
    lowest: int
    highest: int
    steps: int
    symmetric: bool

    def line(self, min: Any, max: Any) -> tuple[Any, Any, Any]:
        """(step, zero, base): code ``q`` stands for ``(q - zero) * step + base``.

        Parameters
        ----------
        min, max : float or ndarray
            Ends of the range, or of the range of each channel.

        Returns
        -------
        tuple
            The size of one code step in float64; the code nearest to 0, clamped to the type; the value of that code,
            which is exactly 0 if it is 0 within the precision of float32 ends. For arrays of ends, these are arrays.

        Examples
        --------
        >>> qops.codes.TABLE["s8"].line(-128.0, 127.0)
        (1.0, 0, 0.0)
        """
        return _line(min, max, self)


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
"""The code types by name."""
_DTYPES = ", ".join(str(row.dtype) for row in _PLAIN)
_BY_DTYPE = {row.dtype.str[1:]: row for row in _PLAIN}  # in either order of bytes
BY_TYPE: dict[Any, CodeType] = {key: row for row in _PLAIN for key in (row.dtype, row.dtype.type, row.dtype.name)}
"""The default code type of each dtype, scalar type and name, as `of_dtype` gives it."""


@_refusing_unknown
def of(data: NDArray[Any], name: str = "data", **unknown: Never) -> CodeType:
    """Give the default code type of the dtype of `data`.

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
        A dtype without a code type.

    Examples
    --------
    >>> qops.codes.of(np.array([1], np.int8)).lowest
    -128
    """
    if unknown:
        raise _unknown_keyword(of, unknown)
    row = _BY_DTYPE.get(data.dtype.str[1:])
    if row is None:
        raise bad_type(name, f"expected {_DTYPES} codes, got {data.dtype}")
    return row


@_refusing_unknown
def of_dtype(dtype: DTypeLike, **unknown: Never) -> CodeType:
    """Give the default code type of a dtype.

    Parameters
    ----------
    dtype : dtype
        A type or its name.

    Returns
    -------
    CodeType

    Raises
    ------
    TypeError
        No dtype, or a dtype without a code type.

    Examples
    --------
    >>> qops.codes.of_dtype("int16").highest
    32767
    """
    if unknown:
        raise _unknown_keyword(of_dtype, unknown)
    try:
        return BY_TYPE.get(dtype) or of(np.empty(0, dtype), "dtype")
    except (TypeError, ValueError):
        near = did_you_mean(dtype, [str(row.dtype) for row in TABLE.values()])
        raise bad_type("dtype", f"expected {_DTYPES}, got {shown(dtype)}{near}") from None


@_refusing_unknown
def named(code_type: str | CodeType, data: NDArray[Any], **unknown: Never) -> CodeType:
    """Give the row of `TABLE` that is `code_type` or has this name.

    Parameters
    ----------
    code_type : str or CodeType
        A row, or its name.
    data : ndarray
        Codes, which must have its dtype.

    Returns
    -------
    CodeType

    Raises
    ------
    TypeError, ValueError
        No row of the table, or a row of another dtype.

    Examples
    --------
    >>> qops.codes.named("s8_narrow", np.array([1], np.int8)).lowest
    -127
    """
    if unknown:
        raise _unknown_keyword(named, unknown)
    row = TABLE.get(code_type) if isinstance(code_type, str) else code_type
    if row is None or row not in TABLE.values():
        raise expected_one_of("code_type", TABLE, code_type, shown(code_type))
    if row.dtype != of(data).dtype:
        raise bad_type("code_type", f"{row.name} is of {row.dtype} codes, got {data.dtype} data")
    return row


_name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
