"""`QTensor`, what ops on ranges take and return."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.channels import checked as _checked
from qops._kernels.arrays.channels import read as _read
from qops._kernels.arrays.codes import Tensor as _Tensor
from qops._kernels.arrays.codes import check_order
from qops._kernels.arrays.codes import tensor as _tensor
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.frontdoor.quantize import dequantize as _dequantize
from qops._readable import in_lines, shown
from qops.affine import ranges
from qops.checks import as_array

__all__ = ["QTensor", "TensorLike", "tensor"]

_IS_NO_ARRAY = "a QTensor is no array: take .data for its codes or .dequantize() for its real values"


class QTensor(_Tensor):
    """Quantized data and what it stands for: codes, the real values of its range, and the code type.

    The code type (`qops.codes`) says what a code stands for. The dtype tells it: ``min + q * (max - min) / 255`` for
    uint8 data, and ``q * (max - min) / 2**32`` for int32 data, whose range is symmetric. Where codes stand for other
    values, as those of ``narrow_range``, the tensor shows its code type.

    None of these can be set. Ops take a tuple or list ``(data, min, max)`` wherever they take a QTensor. To add two
    tensors, call ``qops.quantized_add_8p8to8(a, b)``: ``a + b`` is refused.

    Parameters
    ----------
    data : ndarray of uint8, int8, uint16, int16 or int32
        The codes.
    min, max : float or array_like
        Real values at the ends of the code range; or, with ranges per channel, arrays that broadcast against the data.
    code_type : str or CodeType, optional
        A row of `qops.codes.TABLE`, or its name. By default the dtype of the data tells it.

    Attributes
    ----------
    data : ndarray of uint8, int8, uint16, int16 or int32
        The codes.
    min, max : float or ndarray of float32
        Ends of the range: float32 values held as Python floats; or, with ranges per channel, arrays.

    Raises
    ------
    TypeError, ValueError
        Data of another type; a code type that is not of this data; a range that is not finite or with min > max, or
        with min != -max if the code type is symmetric; arrays of ranges that do not broadcast to the data's shape.

    Notes
    -----
    ``data, lo, hi = t`` unpacks a tensor whose codes these three tell. The others refuse, as the three would be read
    as other values:

    >>> data, lo, hi = qops.QTensor(np.array([-127, 0, 127], np.int8), -1.0, 1.0, "s8_narrow")
    Traceback (most recent call last):
    TypeError: data, min and max do not tell that its codes are s8_narrow: take .data, .min, .max, or .dequantize()

    **Hazards.** Being unpacked, a tensor is iterated as well. So ``max(t)``, ``any(t)`` and ``sorted(t)`` fail with an
    error of numpy, and ``sum(t)`` adds both ends to the codes:

    >>> sum(qops.QTensor(np.array([1, 2], np.uint8), 0.0, 255.0))
    array([256., 257.])

    Examples
    --------
    >>> t = qops.QTensor(np.array([0, 128, 255], np.uint8), -1.0, 0.9921875)
    >>> t
    QTensor(np.uint8([0, 128, 255]), -1.0, 0.9921875)
    >>> t.scale, t.zero_point
    (0.0078125, 128)
    >>> data, lo, hi = t
    >>> hi
    0.9921875
    """

    __slots__ = ()

    data: NDArray[Any]
    min: float | NDArray[np.float32]
    max: float | NDArray[np.float32]
    _own: _codes.CodeType | None

    def __new__(
        cls,
        data: ArrayLike,
        min: float | ArrayLike,
        max: float | ArrayLike,
        code_type: str | _codes.CodeType | None = None,
    ) -> Self:
        """Check the members."""
        if code_type is None:
            made: Self = _checked(cls, data, min, max)
            return made
        check_order(data, max, "data")
        codes = as_array(data, "data")
        row = _codes.named(code_type, codes)
        own = None if row is _codes.of(codes) else row
        return _tensor(cls, *_read(_tensor(cls, codes, min, max, own), "min, max"), own)

    @classmethod
    def from_scale(
        cls, data: ArrayLike, scale: float | ArrayLike, zero_point: int | ArrayLike = 0, axis: int | None = None
    ) -> Self:
        """Make a tensor whose codes stand for ``scale * (q - zero_point)``.

        Parameters
        ----------
        data : ndarray of uint8, int8, uint16, int16 or int32
            The codes.
        scale : float, or with an axis 1-D array_like
            Real size of one code step, 2**-126 at least; or 0, if all codes stand for 0.
        zero_point : int, or with an axis 1-D array_like
            Code of real 0, one of the type; for int32 it is 0.
        axis : int, optional
            The axis whose indices have a scale and a zero point each.

        Returns
        -------
        QTensor
            Its ends are rounded to float32, so its `scale` may differ by a few parts in 2**24. Its `zero_point` does
            not differ, unless the scale is 0.

        Raises
        ------
        TypeError, ValueError
            An argument that is none of these, or a scale for which the range is beyond float32.

        Examples
        --------
        >>> qops.QTensor.from_scale(np.array([-128, 0, 127], np.int8), 0.5, -3)
        QTensor(np.int8([-128, 0, 127]), -62.5, 65.0)
        >>> qops.QTensor.from_scale(np.array([[1, 2], [3, 4]], np.uint8), [1.0, 0.5], axis=1).dequantize()
        array([[1., 1.],
               [3., 2.]], dtype=float32)
        """
        codes = as_array(data, "data")
        lo, hi = ranges(scale, zero_point, _codes.of(codes), codes.shape, axis)
        return cls(codes, lo, hi)

    @property
    def code_type(self) -> _codes.CodeType:
        """The code type (`qops.codes`), which says what the codes stand for."""
        return self._own or _codes.of(self.data)

    @property
    def scale(self) -> float | NDArray[np.float64]:
        """Real size of one code step, ``(max - min) / steps``: a float, or an array with ranges per channel."""
        step: float | NDArray[np.float64] = self.code_type.line(self.min, self.max)[0]
        return step

    @property
    def zero_point(self) -> int | NDArray[np.int64]:
        """Code nearest to real 0, clamped to the type; exact if 0 is on a code, as after `quantize`."""
        zero: int | NDArray[np.float64] = self.code_type.line(self.min, self.max)[1]
        return zero if isinstance(zero, int) else zero.astype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the data."""
        return self.data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the data."""
        return self.data.dtype

    def dequantize(self) -> NDArray[np.float32]:
        """Real values of the codes, as `qops.dequantize` gives them.

        Returns
        -------
        ndarray of float32
        """
        values: NDArray[np.float32] = _dequantize(self, None)
        return values

    def reshape(self, *shape: int | tuple[int, ...]) -> QTensor:
        """Give the codes in another shape, with the same range; no code is copied where numpy need not copy.

        Parameters
        ----------
        *shape : int or tuple of int
            As ``numpy.ndarray.reshape`` takes it: one length may be -1.

        Returns
        -------
        QTensor

        Raises
        ------
        ValueError
            A shape of another number of elements; a range for each channel along an axis that does not stay.

        Examples
        --------
        >>> qops.quantize([[0.0, 1.0]]).reshape(-1)
        QTensor(np.uint8([0, 255]), 0.0, 1.0)
        >>> qops.quantize([[-1.0, 0.0], [0.0, 1.0]], axis=0).reshape(2, 1, 2).min.shape
        (2, 1, 1)
        """
        sizes: Any = shape[0] if len(shape) == 1 else shape
        codes = self.data.reshape(sizes)
        if isinstance(self.min, float):
            return _tensor(type(self), codes, self.min, self.max, self._own)
        lo, hi = (_reshaped(np.asarray(end), self.data.shape, codes.shape) for end in (self.min, self.max))
        return _tensor(type(self), codes, lo, hi, self._own)

    def __iter__(self) -> Iterator[Any]:
        """Give data, min and max, if these tell what the codes stand for."""
        if self._own:
            raise TypeError(
                f"data, min and max do not tell that its codes are {self._own.name}: take .data, .min, .max, or "
                ".dequantize()"
            )
        return iter((self.data, self.min, self.max))

    __contains__ = None

    def __eq__(self, other: object) -> bool:  # this also removes the hash, as codes can change
        """Whether `other` is a tensor with the same codes, code type, shape and range. The answer is one bool."""
        if not isinstance(other, QTensor) or self.code_type != other.code_type:
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("data", "min", "max"))

    def __repr__(self) -> str:
        """Show the call of the constructor, as `shown` shows its arguments."""
        own = [repr(self._own.name)] if self._own else []
        return in_lines(f"{type(self).__name__}(", [*map(shown, (self.data, self.min, self.max)), *own])

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.data, self.min, self.max, self._own and self._own.name)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse the conversion to an array."""
        raise TypeError(_IS_NO_ARRAY)

    def __array_ufunc__(self, function: Any, *_: object, **__: object) -> NoReturn:
        """Refuse numpy's functions."""
        raise TypeError(f"np.{function.__name__}: {_IS_NO_ARRAY}")

    __array_function__ = __array_ufunc__


def _reshaped(end: NDArray[Any], old: tuple[int, ...], new: tuple[int, ...]) -> NDArray[Any]:
    """Give the ends of a range per channel in the shape that broadcasts against codes of a new shape."""
    whole = np.broadcast_to(end, old).reshape(new)
    least = whole
    for axis, n in enumerate(new):
        first = least[(slice(None),) * axis + (slice(0, 1),)]
        if n and (first == least).all():
            least = first
    wide = end.size > 1 and least.size > end.size
    if wide:
        raise bad_value("shape", f"{new} mixes the channels of {old}, which have a range each")
    return np.ascontiguousarray(least)


def _remade(cls: type[QTensor], data: NDArray[Any], min: Any, max: Any, row: str | None) -> QTensor:
    return _tensor(cls, data, min, max, row and _codes.TABLE[row])


tensor: Callable[..., QTensor] = partial(_tensor, QTensor)
"""Makes a `QTensor` of data, min and max that an op has checked, and of the row of `codes.TABLE` if not by dtype."""

TensorLike: TypeAlias = QTensor | tuple[Any, Any, Any] | list[Any]
