"""`QTensor`, the triple that ops on ranges take and return.

The checks are compiled (`qops._kernels.arrays.checks`), because they run on every call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.channels import read as _read
from qops._kernels.arrays.checks import (
    F32,
    S32,
    U8,
    array,
    as_array,
    check_out,
    int32s,
    into,
    operand,
    operands,
    output,
    parts,
    put,
    span,
    unshared,
)
from qops._kernels.arrays.codes import tensor as _tensor
from qops._kernels.arrays.numbers import choice, flag, int32, integer, integers, number, real
from qops._kernels.frontdoor.quantize import dequantize as _dequantize

__all__ = [
    "F32",
    "S32",
    "U8",
    "QTensor",
    "TensorLike",
    "array",
    "as_array",
    "broadcast_shape",
    "check_out",
    "choice",
    "flag",
    "int32",
    "int32s",
    "integer",
    "integers",
    "into",
    "number",
    "operand",
    "operands",
    "output",
    "parts",
    "put",
    "real",
    "span",
    "tensor",
    "unshared",
]

_IS_NO_ARRAY = "a QTensor is no array: take .data for its codes or .dequantize() for its real values"


def _refusing(text: str) -> Callable[..., NoReturn]:
    def refuse(*_: object) -> NoReturn:
        """Refuse."""
        raise TypeError(text)

    return refuse


class _Triple(NamedTuple):
    data: NDArray[Any]
    min: Any
    max: Any


class QTensor(_Triple):
    """Quantized data and the real values of its range: still a plain ``(data, min, max)`` triple.

    The dtype says what a code stands for (`qops.codes`): ``min + q * (max - min) / 255`` for uint8 data, and
    ``q * (max - min) / 2**32`` for int32 data, whose range is symmetric.

    It is unpacked and indexed as a tuple of three. ``==`` tells whether two have the same codes and range. It refuses
    the arithmetic of arrays, ``+``, ``*``, ``<`` and numpy's functions, and names the op to use instead.

    Attributes
    ----------
    data : ndarray of uint8, int8, uint16, int16 or int32
        The codes.
    min, max : float
        Real values at the ends of the code range, float32 values held as Python floats; or, with ranges per channel,
        float32 arrays that broadcast against the data.

    Raises
    ------
    TypeError, ValueError
        Data of another type; a range that is not finite or with min > max, or for int32 data with min != -max; arrays
        of ranges that do not broadcast to the data's shape.

    Notes
    -----
    **Hazards.** Iteration gives the three members, as ``data, lo, hi = t`` does. So ``max(t)``, ``min(t)``, ``any(t)``
    and ``sorted(t)`` fail with an error of numpy, and ``sum(t)`` adds both ends to the codes:

    >>> sum(QTensor(np.uint8([1, 2]), 0.0, 255.0))
    array([256., 257.])

    Examples
    --------
    >>> import numpy as np
    >>> t = QTensor(np.array([0, 128, 255], np.uint8), -1.0, 0.9921875)
    >>> t.scale, t.zero_point
    (0.0078125, 128)
    >>> data, lo, hi = t
    >>> hi
    0.9921875
    >>> t + t
    Traceback (most recent call last):
    TypeError: +: use qops.quantized_add_8p8to8(a, b) or qops.quantized_add_8p8to32(a, b)
    """

    __slots__ = ()

    own_code_type: ClassVar[_codes.CodeType | None] = None
    """The code type, in classes whose codes are not read by their dtype; see `read_as`."""

    def __new__(cls, data: ArrayLike, min: float | ArrayLike, max: float | ArrayLike) -> Self:
        """Check the three members."""
        return _tensor(cls, *_read(_tensor(cls, data, min, max), "QTensor"))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        return cls(*iterable)

    def _replace(self, **changes: Any) -> Self:
        return type(self)(**{**self._asdict(), **changes})

    @property
    def code_type(self) -> _codes.CodeType:
        """The code type (`qops.codes`), which says what the codes stand for."""
        return self.own_code_type or _codes.of(self.data)

    @property
    def scale(self) -> Any:
        """Real size of one code step, ``(max - min) / steps``: a float, or an array with ranges per channel."""
        return self.code_type.line(self.min, self.max)[0]

    @property
    def zero_point(self) -> Any:
        """Code nearest to real 0, clamped to the type; exact if 0 is on a code, as after `quantize`."""
        zero = self.code_type.line(self.min, self.max)[1]
        return zero if isinstance(zero, int) else zero.astype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the data."""
        return self.data.shape

    def dequantize(self) -> NDArray[np.float32]:
        """Real values of the codes, as `qops.dequantize` gives them.

        Returns
        -------
        ndarray of float32
        """
        values: NDArray[np.float32] = _dequantize(self, None)
        return values

    def __eq__(self, other: object) -> bool:  # this also removes the hash, as codes can change
        """Whether `other` is a triple with the same codes, type, shape and range. The answer is one bool."""
        if not isinstance(other, tuple) or len(other) != 3 or self.data.dtype != getattr(other[0], "dtype", None):
            return False
        same = self.code_type == (other.code_type if isinstance(other, QTensor) else _codes.of(self.data))
        return same and all(np.array_equal(a, b) for a, b in zip(self, other, strict=True))

    def __ne__(self, other: object) -> bool:
        """The opposite of ``==``."""
        return not self == other

    __add__ = __radd__ = _refusing("+: use qops.quantized_add_8p8to8(a, b) or qops.quantized_add_8p8to32(a, b)")
    __sub__ = __rsub__ = _refusing("-: use qops.quantized_sub_8p8to8(a, b) or qops.quantized_sub_8p8to32(a, b)")
    __mul__ = __rmul__ = _refusing(
        "*: use qops.quantized_mul_8x8to8(a, b), qops.quantized_mul_8x8to32(a, b) or t.dequantize()"
    )
    __matmul__ = __rmatmul__ = _refusing("@: use qops.matmul(a, b)")
    __pow__ = __rpow__ = _refusing("**: use qops.quantized_mul_8x8to8(t, t) or t.dequantize()")
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refusing(f"/: {_IS_NO_ARRAY}")
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refusing(f"%: {_IS_NO_ARRAY}")
    __neg__ = __pos__ = __abs__ = _refusing(f"-, +, abs: {_IS_NO_ARRAY}")
    __contains__ = _refusing(f"in: {_IS_NO_ARRAY}")
    count = index = _refusing(f"count, index: {_IS_NO_ARRAY}")
    __lt__ = __le__ = __gt__ = __ge__ = _refusing("<, >: compare the codes, t.data, or the real values, t.dequantize()")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse the conversion to an array."""
        raise TypeError(_IS_NO_ARRAY)

    def __array_ufunc__(self, function: Any, *_: object, **__: object) -> NoReturn:
        """Refuse numpy's functions."""
        raise TypeError(f"np.{function.__name__}: {_IS_NO_ARRAY}")

    __array_function__ = __array_ufunc__


def broadcast_shape(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """Give the shape that two broadcast to. numpy's own function takes no more than 32 axes.

    Parameters
    ----------
    x, y : tuple of int

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        Two lengths of an axis that differ, neither of them 1.

    Examples
    --------
    >>> broadcast_shape((3, 1), (4, 1, 5))
    (4, 3, 5)
    """
    rank = max(len(x), len(y))
    pairs = list(zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y, strict=True))
    if any(i != j and 1 not in (i, j) for i, j in pairs):
        raise ValueError(f"x, y: shapes {x} and {y} do not broadcast")
    return tuple(j if i == 1 else i for i, j in pairs)


def _class_of(row: str) -> type[QTensor]:
    own = {"__slots__": (), "own_code_type": _codes.TABLE[row], "__reduce__": lambda t: (_remade, (row, *t))}
    return type("QTensor", (QTensor,), {**own, "__doc__": QTensor.__doc__})


_CLASSES = {row: _class_of(row) for row in _codes.TABLE}


def read_as(row: str) -> type[QTensor]:
    """Give a class of tensors whose codes have another code type than their dtype has by default.

    Parameters
    ----------
    row : str
        The name of the code type in `qops.codes.TABLE`.

    Returns
    -------
    type
        A subclass of `QTensor`.

    Examples
    --------
    >>> import numpy as np
    >>> read_as("s8_narrow")(np.int8([-127, 0, 127]), -1.0, 1.0).dequantize()
    array([-1.,  0.,  1.], dtype=float32)
    """
    return _CLASSES[row]


def _remade(row: str, *parts: Any) -> QTensor:
    return _CLASSES[row](*parts)


tensor: Callable[[NDArray[Any], Any, Any], QTensor] = partial(_tensor, QTensor)
"""Makes a `QTensor` of parts that an op has checked."""

TensorLike: TypeAlias = QTensor | tuple[Any, Any, Any] | list[Any]
