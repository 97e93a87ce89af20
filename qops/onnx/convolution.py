"""ConvInteger and QLinearConv: convolutions of 8 bit data over any number of spatial axes, to int32 or to codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.conv.axes import Axis, Operands
from qops._kernels.conv.convolution import Prepared
from qops._kernels.conv.finish import Finish
from qops._kernels.stage.calls import KnownCalls
from qops.onnx import _checks as check
from qops.onnx.requantize import combined_scale, stage
from qops.onnx.window import Attributes, window
from qops.qtensor import int32

__all__ = ["conv_integer", "qlinear_conv"]

KNOWN_SUMS, KNOWN_CODES = KnownCalls(), KnownCalls()
"""What calls of `conv_integer`, and of `qlinear_conv`, were prepared with; weights are packed in it."""


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
    given = auto_pad, dilations, group, kernel_shape, pads, strides
    asked = w, x_zero_point, w_zero_point, num_threads, *given
    known = KNOWN_SUMS(w, asked)
    made: NDArray[np.int32] | None = known(x, asked, out) if known else None
    if made is not None:
        return made
    x_zero_point, w_zero_point = check.optional(x_zero_point, w_zero_point)
    op = _operands(x, w, x_zero_point, w_zero_point, Attributes(*given), num_threads)
    check.out(out, np.dtype(np.int32), op.shape, (op.x, op.w, x_zero_point, w_zero_point))
    return op.finished(Finish(op.w_zero), KNOWN_SUMS, asked, out)


def qlinear_conv(
    x: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike,
    w: ArrayLike,
    w_scale: ArrayLike,
    w_zero_point: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike,
    B: ArrayLike | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    runtime: str = "onnx",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Convolve codes, add a bias and quantize the result.

    Here ``acc = conv(x - x_zero_point, w - w_zero_point) + B`` is int32, which wraps, and
    ``s = x_scale * w_scale / y_scale`` is float32, rounded after each operation::

        onnx:  y = saturate(half_even(f64(acc) * s + y_zero_point))
        ort:   y = saturate(half_even(f32(f32(acc) * s)) + y_zero_point)

    Parameters
    ----------
    x : ndarray of uint8 or int8, (N, C, D1, ..., Dn)
    x_scale : float, or ndarray of float32
        One value.
    x_zero_point : int or ndarray of the type of `x`
        One value.
    w : ndarray of uint8 or int8, (M, C / group, k1, ..., kn)
    w_scale : float, or ndarray of float32
        One value, or M.
    w_zero_point : int or ndarray of the type of `w`
        One value, or M.
    y_scale : float, or ndarray of float32
        One value.
    y_zero_point : int, or ndarray of uint8 or int8
        One value. The result has its type; a plain int has the type of `x`.
    B : ndarray of int32, (M,), optional
        The bias; its scale is ``x_scale * w_scale``.
    auto_pad, dilations, group, kernel_shape, pads, strides : optional
        See `conv_integer`.
    runtime : {"onnx", "ort"}
        Whose bits.
    num_threads, out : optional
        See `conv_integer`; `out` has the type of `y_zero_point`.

    Returns
    -------
    ndarray of the type of `y_zero_point`, (N, M, ...)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and attributes that do not fit, scales that are not finite, a `y_scale` of 0, a factor s
        beyond float32. With ``runtime="ort"`` also what onnxruntime has no kernel for: int8 by uint8, a result of
        another type than `x`, dilations with SAME.

    Notes
    -----
    Source: onnx, ``reference/ops/op_qlinear_conv.py``, ``op_conv.py``; onnxruntime, ``qlinearconv.cc``,
    ``core/mlas/lib/quantize.cpp``.

    The reference takes a `w_scale` for each channel over two spatial axes only; this function over any number.

    **Hazards.** As in `qlinear_matmul`, with an odd zero point the runtimes differ on every tie:

    >>> import numpy as np
    >>> x, w = np.uint8([[[1, 3, 5]]]), np.uint8([[[1]]])
    >>> [qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, 1, runtime=r).ravel().tolist() for r in ("onnx", "ort")]
    [[2, 2, 4], [1, 3, 3]]

    The bias has the scale of the accumulator, not that of the result. Its real value is ``B * x_scale * w_scale``:

    >>> qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, 0, np.int32([10]))
    array([[[6, 6, 8]]], dtype=uint8)

    Examples
    --------
    >>> x = np.uint8([[[[128, 138], [148, 158]]]])
    >>> w = np.int8([[[[100]]], [[[-50]]]])
    >>> qlinear_conv(x, 0.1, 128, w, np.float32([0.01, 0.02]), 0, 0.1, 128, pads=[0, 1, 0, 0])
    array([[[[128, 128, 138],
             [128, 148, 158]],
    <BLANKLINE>
            [[128, 128, 118],
             [128, 108,  98]]]], dtype=uint8)
    """
    given = auto_pad, dilations, group, kernel_shape, pads, strides
    scales = x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point
    asked = w, B, runtime, num_threads, *scales, *given
    known = KNOWN_CODES(w, asked)
    made: NDArray[Any] | None = known(x, asked, out) if known else None
    if made is not None:
        return made
    op = _operands(x, w, x_zero_point, w_zero_point, Attributes(*given), num_threads)
    filters = len(op.w)
    y_zero = check.one_value(check.result_zero_point(y_zero_point, op.x.dtype), "y_zero_point")
    first = check.one_value(check.scale(x_scale, "x_scale", ("float32",)), "x_scale")
    by_channel = check.channels(check.scale(w_scale, "w_scale", ("float32",)), "w_scale", filters)
    last = check.one_value(check.scale(y_scale, "y_scale", ("float32",), divides=True), "y_scale")
    if check.runtime(runtime) == "ort":
        check.ort_has_kernel(op.x, op.w, y_zero, "x, w, y_zero_point")
        if auto_pad.startswith("SAME") and any(axis.dilation > 1 for axis in op.axes):
            raise ValueError(f"dilations: onnxruntime takes none with auto_pad {auto_pad!r}, got {dilations}")
    factor = combined_scale(first, by_channel, last, "x_scale, w_scale, y_scale")
    bias = None if B is None else check.array(B, "B", ("int32",))
    if bias is not None and bias.shape != (filters,):
        raise ValueError(f"B: expected {filters} values, one an output channel, got shape {bias.shape}")
    check.out(out, y_zero.dtype, op.shape, (op.x, op.w, bias, *scales))
    codes = stage(factor if filters else factor.dtype.type([1]), y_zero, runtime)
    return op.finished(Finish(op.w_zero, bias, codes, y_zero.dtype.num), KNOWN_CODES, asked, out)


class Convolution(NamedTuple):
    """The checked operands of a convolution."""

    x: NDArray[Any]
    w: NDArray[Any]
    x_zero: int
    w_zero: int | NDArray[Any]
    axes: list[Axis]
    group: int
    num_threads: int

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, M, ...), the shape of the result."""
        return (len(self.x), len(self.w), *(axis.positions for axis in self.axes))

    def finished(
        self, finish: Finish, known: KnownCalls, asked: tuple[Any, ...], out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """Give the result, (N, M, ...). Over two axes, what was prepared is `known` to calls that ask the same."""
        operands = Operands(self.x, self.w, self.axes, self.x_zero, self.group)
        if len(self.axes) != 2:
            return check.put(np.moveaxis(operands.convolved(finish, self.num_threads), -1, 1), out)
        prepared = Prepared(None, *operands.over_two_axes(), finish, num_threads=self.num_threads, planes=True)
        known.keep(prepared, asked[0], asked)
        made: Any = prepared(np.asarray(self.x), (), out if out is not None and out.flags.aligned else None)
        return check.put(made, out)


def _operands(
    x: ArrayLike, w: ArrayLike, x_zero_point: ArrayLike, w_zero_point: ArrayLike, given: Attributes, num_threads: int
) -> Convolution:
    threads = int32(num_threads, "num_threads", 1)
    given = given._replace(group=int32(given.group, "group", 1))
    data, filters = check.array(x, "x", check.CODES_8), check.array(w, "w", check.CODES_8)
    axes = window(data, filters, given)
    x_zero = check.one_value(check.zero_point(x_zero_point, "x_zero_point", data.dtype), "x_zero_point")
    w_zero = check.zero_point(w_zero_point, "w_zero_point", filters.dtype)
    each = check.channels(w_zero, "w_zero_point", len(filters)).astype(np.int64)
    return Convolution(data, filters, int(x_zero), each if each.size > 1 else int(each[0]), axes, given.group, threads)
