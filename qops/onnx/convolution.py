"""ConvInteger: convolutions of 8 bit data over any number of spatial axes, to int32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.conv.axes import Axis, planes, weights, window_of
from qops._kernels.conv.convolution import Planes
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import PackedWeights
from qops.onnx import _checks as check
from qops.onnx.window import Moves, typed
from qops.prepared import Prepared
from qops.qtensor import as_array, int32

__all__ = ["ConvInteger", "conv_integer"]


class Sums(NamedTuple):
    """What is prepared for data of one type."""

    x_zero: int
    finish: Finish
    """What the sums become."""
    dtype: np.dtype[Any]
    """The type of the result."""
    planes: Planes | None
    """All of it, over two axes whose padding does not depend on the size of the data."""


class Convolution(Prepared):
    """The base of both convolutions: filters that are packed, the window, and the call."""

    __slots__ = ("_group", "_moves", "_of_type", "_packed", "_shape")

    _group: int
    _moves: Moves
    _of_type: dict[np.dtype[Any], Sums | Exception]
    _packed: PackedWeights
    _shape: tuple[int, ...]

    def _prepare(self, w: ArrayLike, group: int, *attributes: Any) -> NDArray[Any]:
        """Check filters and attributes, and pack the filters."""
        filters, group = check.array(w, "w", check.CODES_8), int32(group, "group", 1)
        if filters.ndim < 3 or filters.shape[0] % group:
            raise ValueError(f"w: expected (M, C / group, kernel), M divisible by group {group}, got {filters.shape}")
        self._group, self._shape = group, filters.shape
        self._moves = Moves.of(filters, *attributes)
        self._packed = weights(filters, group)
        return filters

    def _sums(self, x_zero: int, finish: Finish, dtype: np.dtype[Any]) -> Sums:
        axes = self._moves.fixed()
        made = Planes(self._packed, window_of(axes), finish, x_zero) if len(axes) == 2 else None
        return Sums(x_zero, finish, dtype, made)

    def _axes(self, shape: tuple[int, ...]) -> list[Axis]:
        if len(shape) < 3:
            raise ValueError(f"x: expected (N, C, one or more spatial axes), got shape {shape}")
        if len(shape) != len(self._shape) or shape[1] != self._shape[1] * self._group:
            raise ValueError(f"x, w: shapes {shape} and {self._shape} do not fit with group {self._group}")
        return self._moves.axes(shape[2:])

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result.

        Parameters
        ----------
        shape : tuple of int
            That of `x`, (N, C, D1, ..., Dn).

        Returns
        -------
        tuple of int
            (N, M, ...).

        Raises
        ------
        ValueError
            A shape that does not fit the filters.
        """
        return (shape[0], self._shape[0], *(axis.positions for axis in self._axes(shape)))

    @property
    def nbytes(self) -> int:
        """Bytes of the packed filters."""
        return int(self._packed.nbytes)

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Convolve `x` on so many threads, into `out` if it is given."""
        threads, data = int32(num_threads, "num_threads", 1), as_array(x, "x")
        of = check.of_type(self._of_type, data, "x")
        if of.planes is not None and data.ndim == 4 and data.shape[1] == self._shape[1] * self._group:
            result: NDArray[Any] = of.planes(data, out, threads)
            return result
        axes = self._axes(data.shape)
        seen, window = planes(data, axes, of.x_zero)
        run = Planes(self._packed, window, of.finish, of.x_zero)
        if len(axes) == 2:
            result = run(seen, out, threads)
            return result
        shape = (len(data), self._shape[0], *(axis.positions for axis in axes))
        check.out(out, of.dtype, shape, (data,))
        made = run(seen, None, threads)
        made = made.reshape(len(data), *shape[2:-2], self._shape[0], *made.shape[2:])  # channels behind the first axes
        return check.put(np.moveaxis(made, max(1, len(axes) - 1), 1).reshape(shape), out)


def zero_of_data(value: ArrayLike, dtype: np.dtype[Any]) -> int:
    """Give the zero point of data of a type."""
    return int(check.one_value(check.zero_point(value, "x_zero_point", dtype), "x_zero_point"))


def zero_of_filters(value: ArrayLike, w: NDArray[Any]) -> int | NDArray[np.int64]:
    """Give the zero points of filters, as one number if there is one."""
    zero = check.zero_point(value, "w_zero_point", w.dtype)
    each = check.channels(zero, "w_zero_point", len(w)).astype(np.int64)
    return each if each.size > 1 else int(each[0])


class ConvInteger(Convolution):
    """The prepared form of `conv_integer`: the filters are packed once, for images of any size.

    Called ``op(x, out=None, num_threads=1)``, with the arguments of `conv_integer`.

    Parameters
    ----------
    w, x_zero_point, w_zero_point, auto_pad, dilations, group, kernel_shape, pads, strides
        Those of `conv_integer`, which are checked here. A plain `x_zero_point` has the type of the data of each call.

    Attributes
    ----------
    x_zero_point, w_zero_point
        The arguments.
    nbytes : int
        Bytes of the packed filters.

    Examples
    --------
    >>> import numpy as np
    >>> op = ConvInteger(np.int8([[[1, -1]]]), 128, pads=[1, 0])
    >>> op
    ConvInteger(np.int8([[[1, -1]]]), x_zero_point=128, pads=(1, 0))
    >>> op(np.uint8([[[130, 131]]])), op.shape_of((1, 1, 9))
    (array([[[-2, -1]]], dtype=int32), (1, 1, 9))
    """

    __slots__ = ()

    def __init__(
        self,
        w: ArrayLike,
        x_zero_point: ArrayLike | None = 0,
        w_zero_point: ArrayLike | None = 0,
        *,
        auto_pad: str = "NOTSET",
        dilations: Sequence[int] | None = None,
        group: int = 1,
        kernel_shape: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        w = check.own(w, "w")
        x_zero, w_zero = check.optional(
            check.own(x_zero_point, "x_zero_point"), check.own(w_zero_point, "w_zero_point")
        )
        filters = self._prepare(w, group, auto_pad, dilations, kernel_shape, pads, strides)
        finish = Finish(zero_of_filters(w_zero, filters))
        self._of_type = check.of_types(lambda x: self._sums(zero_of_data(x_zero, x), finish, np.dtype(np.int32)))
        windows = typed(dilations), self._group, typed(kernel_shape), typed(pads), typed(strides)
        self._keep(w, x_zero, w_zero, auto_pad, *windows)

    x_zero_point, w_zero_point = check.given(1), check.given(2)


def conv_integer(
    x: ArrayLike,
    w: ArrayLike,
    x_zero_point: ArrayLike | None = 0,
    w_zero_point: ArrayLike | None = 0,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    num_threads: int = 1,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Convolve 8 bit data: ``y = conv(x - x_zero_point, w - w_zero_point)`` in int32, which wraps.

    Padding is real 0, the code `x_zero_point`. Along each axis, the result has
    ``(size + pads - (kernel - 1) * dilation - 1) // stride + 1`` positions, or ``ceil(size / stride)`` with SAME.

    Parameters
    ----------
    x : ndarray of uint8 or int8, (N, C, D1, ..., Dn)
        There is one spatial axis or more.
    w : ndarray of uint8 or int8, (M, C / group, k1, ..., kn)
        The filters.
    x_zero_point : int or ndarray of the type of `x`, optional
        One value. None is 0.
    w_zero_point : int or ndarray of the type of `w`, optional
        One value, or M. None is 0.
    auto_pad : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}
        NOTSET takes `pads`. SAME_UPPER puts the odd one of a padding at the end, SAME_LOWER at the beginning.
    dilations : sequence of int, optional
        Distance of the taps along each axis; 1 by default.
    group : int
        How many groups the channels are divided into.
    kernel_shape : sequence of int, optional
        The kernel of `w`; nothing else is accepted.
    pads : sequence of int, optional
        Padding at the beginning of each axis, then at the end of each; 0 by default.
    strides : sequence of int, optional
        Distance of the positions along each axis; 1 by default.
    num_threads : int
        How many threads share the work; the bits are the same.
    out : ndarray of int32, (N, M, ...), optional
        Where the result is written, apart from the inputs.

    Returns
    -------
    ndarray of int32, (N, M, ...)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, `pads` beside an `auto_pad`, a kernel that is larger than the padded data,
        an `out` that does not fit.

    Notes
    -----
    Source: onnx, ``reference/ops/op_conv_integer.py``, ``op_conv.py``; onnxruntime, ``conv_integer.cc``.

    The reference takes a `w_zero_point` for each channel over two spatial axes only; this function over any number.

    **Hazards.** A code of 0 is not real 0. A port that pads the codes with 0 is wrong at every border:

    >>> import numpy as np
    >>> x, w = np.uint8([[[130, 131]]]), np.int8([[[1, 1]]])
    >>> conv_integer(x, w, 128, pads=[1, 1]).ravel(), conv_integer(np.pad(x, ((0, 0), (0, 0), (1, 1))), w, 128).ravel()
    (array([2, 5, 3], dtype=int32), array([-126,    5, -125], dtype=int32))

    Examples
    --------
    >>> x = np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3)
    >>> conv_integer(x, np.ones((1, 1, 2, 2), np.uint8), 1)
    array([[[[12, 16],
             [24, 28]]]], dtype=int32)
    """
    op = ConvInteger(
        w,
        x_zero_point,
        w_zero_point,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return op(x, out, num_threads)
