"""QLinearConv: convolutions of codes over any number of spatial axes, to codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32s
from qops.onnx import _checks as check
from qops.onnx.convolution import Convolution
from qops.onnx.paired_convolution import ConvolutionSums
from qops.onnx.requantize import combined_scale, requantizer, stage
from qops.onnx.runtimes import COLUMNS, Pairs
from qops.rules.requantize import Requantize

__all__ = ["QLinearConv", "qlinear_conv"]


class QLinearConv(Convolution):
    """The prepared form of `qlinear_conv`: the filters are packed once, for images of any size.

    Called ``op(x, out=None, num_threads=1)``. The constructor takes all other arguments of `qlinear_conv`. A plain
    `x_zero_point` or `y_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearConv(0.5, 0, np.array([[[1]]], np.uint8), 1.0, 0, 1.0, 1, runtime="ort")
    >>> op, op(np.array([[[1, 3, 5]]], np.uint8))
    (QLinearConv(0.5, 0, np.uint8([[[1]]]), 1.0, 0, 1.0, 1, runtime='ort'), array([[[1, 3, 3]]], dtype=uint8))
    """

    __slots__ = ()

    def __init__(
        self,
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
    ) -> None:
        runtime = check.runtime(runtime)
        self._make(locals())

    def windows(self, shape: tuple[int, ...]) -> dict[str, int]:
        """Give how windows move over data of this shape.

        Parameters
        ----------
        shape : tuple of int
            (N, C, H, W).

        Returns
        -------
        dict of str to int
            Size, stride, dilation and padding, by name: ``filter_h``, ``stride_h``, ``dilation_h``, ``pad_top`` ...
        """
        found: dict[str, int] = {}
        for end, before, axis in zip("hw", ("top", "left"), self._moves.axes(shape[2:]), strict=True):
            named = {"filter": axis.kernel, "stride": axis.stride, "dilation": axis.dilation}
            found |= {f"{name}_{end}": int(n) for name, n in named.items()} | {f"pad_{before}": int(axis.before)}
        return found

    def requantize(self, dtype: DTypeLike = "uint8") -> Requantize:
        """Give what takes sums with the bias to codes, for data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the data, which a plain `y_zero_point` has too.

        Returns
        -------
        qops.rules.Requantize
            Its rule, scale and ends can be read. Axis 1 has the channels.
        """
        zero = check.result_zero_point(self.y_zero_point, np.dtype(dtype))
        return requantizer(self.factor, zero, self.runtime, axis=1)

    def _prepare(self, once: bool) -> None:
        self._pack(once)

    _filters_first = False

    def _pairs(self, x: np.dtype[Any]) -> Pairs:
        is_depthwise = self._w.shape[1] == 1 and len(self._w) == self._moves.group
        return COLUMNS[self.runtime].pairs_of_layer(x, self._w.dtype, is_depthwise, not np.any(self._w_zero()))

    def _layer(self, x: np.dtype[Any]) -> ConvolutionSums:
        y_zero = check.result_zero_point(self.y_zero_point, x)
        if COLUMNS[self.runtime].is_ort:
            check.ort_has_kernel(x, self._w.dtype, y_zero.dtype, "x, w, y_zero_point")
            self._check_ort_moves()
        bias = None if self.B is None else int32s(self.B, "B")
        if bias is not None and bias.shape != self._w.shape[:1]:
            raise bad_value("B", f"expected {len(self._w)} values, one an output channel, got shape {bias.shape}")
        return ConvolutionSums(self._w_zero(), bias, stage(self.factor, y_zero, self.runtime), y_zero.dtype)

    @property
    def factor(self) -> NDArray[Any]:
        """``x_scale * w_scale / y_scale``, which accumulators are multiplied by; one, or one an output channel."""
        x_scale = check.one_value(check.scale(self.x_scale, "x_scale", ("float32",)), "x_scale")
        w_scale = check.channels(check.scale(self.w_scale, "w_scale", ("float32",)), "w_scale", len(self._w))
        y_scale = check.one_value(check.scale(self.y_scale, "y_scale", ("float32",), divides=True), "y_scale")
        factor = combined_scale(x_scale, w_scale, y_scale, "x_scale, w_scale, y_scale")
        return factor if factor.size else np.ones(1, factor.dtype)


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
    x_scale, x_zero_point : float or ndarray of float32, int or ndarray of the type of `x`
        One value each.
    w : ndarray of uint8 or int8, (M, C / group, k1, ..., kn)
    w_scale, w_zero_point : float or array_like of float32, int or ndarray of the type of `w`
        One value each, or M.
    y_scale, y_zero_point : float or ndarray of float32, int or ndarray of uint8 or int8
        One value each. The result has the type of `y_zero_point`; a plain int has the type of `x`.
    B : array_like of integers in int32, (M,), optional
        The bias; its scale is ``x_scale * w_scale``.
    auto_pad, dilations, group, kernel_shape, pads, strides : optional
        See `conv_integer`.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The standard, or onnxruntime on a kind of CPU, see `qops.onnx`.
    num_threads, out : optional
        See `conv_integer`; `out` has the type of `y_zero_point`.

    Returns
    -------
    ndarray of the type of `y_zero_point`, (N, M, ...)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and attributes that do not fit, scales that are not finite, a `y_scale` of 0, a factor s
        beyond float32. With onnxruntime also what onnxruntime has no kernel for: int8 by uint8, a result of
        another type than `x`, dilations with SAME.

    Notes
    -----
    Source: onnx, ``reference/ops/op_qlinear_conv.py``, ``op_conv.py``; onnxruntime, ``qlinearconv.cc``,
    ``core/mlas/lib/quantize.cpp``. The reference takes a `w_scale` for each channel over two spatial axes only.

    **Hazards.** As in `qlinear_matmul`, with an odd zero point the runtimes differ on every tie:

    >>> x, w = np.array([[[1, 3, 5]]], np.uint8), np.array([[[1]]], np.uint8)
    >>> [qops.onnx.qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, 1, runtime=r).ravel().tolist() for r in ("onnx", "ort")]
    [[2, 2, 4], [1, 3, 3]]

    The bias has the scale of the accumulator, not that of the result. Its real value is ``B * x_scale * w_scale``:

    >>> qops.onnx.qlinear_conv(x, 0.5, 0, w, 1.0, 0, 1.0, 0, np.array([10], np.int32))
    array([[[6, 6, 8]]], dtype=uint8)

    On x86 without VNNI, two neighbouring products of uint8 by int8 saturate to 16 bits. The channels of a tap are
    neighbours, and with an odd number of channels a pair reaches from one tap into the next. Padding takes part:

    >>> x, w = np.array([[[255]]], np.uint8), np.array([[[127, 127]], [[1, 1]]], np.int8)
    >>> how = {"x_scale": 1.0, "x_zero_point": 255, "w_scale": 1.0, "w_zero_point": 0, "y_scale": 500.0}
    >>> [
    ...     qops.onnx.qlinear_conv(x, w=w, y_zero_point=128, pads=[1, 0], runtime=r, **how).ravel().tolist()
    ...     for r in ("ort", "ort_avx2")
    ... ]
    [[128, 128], [64, 128]]

    Examples
    --------
    >>> x = np.array([[[[128, 138], [148, 158]]]], np.uint8)
    >>> w = np.array([[[[100]]], [[[-50]]]], np.int8)
    >>> qops.onnx.qlinear_conv(
    ...     x, 0.1, 128, w, np.array([0.01, 0.02], np.float32), 0, 0.1, 128, pads=[0, 1, 0, 0]
    ... ).tolist()
    [[[[128, 128, 138], [128, 148, 158]], [[128, 128, 118], [128, 108, 98]]]]
    """
    runtime = check.runtime(runtime)
    return QLinearConv._once(locals())(x, out, num_threads)
