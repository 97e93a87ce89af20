"""QLinearConv: convolutions of codes over any number of spatial axes, to codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.conv.finish import Finish
from qops.onnx import _checks as check
from qops.onnx.convolution import Convolution, Sums, zero_of_data, zero_of_filters
from qops.onnx.requantize import combined_scale, stage
from qops.onnx.window import typed

__all__ = ["QLinearConv", "qlinear_conv"]


class QLinearConv(Convolution):
    """The prepared form of `qlinear_conv`: the filters are packed once, for images of any size.

    Called ``op(x, out=None, num_threads=1)``, with the arguments of `qlinear_conv`.

    Parameters
    ----------
    x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B
        Those of `qlinear_conv`. Plain `x_zero_point` and `y_zero_point` have the type of the data of each call.
    auto_pad, dilations, group, kernel_shape, pads, strides, runtime
        Those of `qlinear_conv`.

    Attributes
    ----------
    x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, runtime
        The arguments.
    nbytes : int
        Bytes of the packed filters.

    Examples
    --------
    >>> import numpy as np
    >>> op = QLinearConv(0.5, 0, np.uint8([[[1]]]), 1.0, 0, 1.0, 1, runtime="ort")
    >>> op
    QLinearConv(0.5, 0, np.uint8([[[1]]]), 1.0, 0, 1.0, 1, runtime='ort')
    >>> op(np.uint8([[[1, 3, 5]]]))
    array([[[1, 3, 3]]], dtype=uint8)
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
        named: dict[str, ArrayLike | None] = {"x_scale": x_scale, "x_zero_point": x_zero_point, "w": w}
        named |= {"w_scale": w_scale, "w_zero_point": w_zero_point, "y_scale": y_scale, "y_zero_point": y_zero_point}
        named["B"] = B
        kept = [check.own(value, name) for name, value in named.items()]
        x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B = kept
        runtime = check.runtime(runtime)
        filters = self._prepare(w, group, auto_pad, dilations, kernel_shape, pads, strides)
        first = check.one_value(check.scale(x_scale, "x_scale", ("float32",)), "x_scale")
        each = check.channels(check.scale(w_scale, "w_scale", ("float32",)), "w_scale", len(filters))
        last = check.one_value(check.scale(y_scale, "y_scale", ("float32",), divides=True), "y_scale")
        if runtime == "ort" and self._moves.auto_pad.startswith("SAME") and max(self._moves.dilations) > 1:
            raise ValueError(f"dilations: onnxruntime takes none with auto_pad {auto_pad!r}, got {dilations}")
        factor = combined_scale(first, each, last, "x_scale, w_scale, y_scale")
        factor = factor if len(filters) else np.ones(1, factor.dtype)
        bias = None if B is None else check.array(B, "B", ("int32",))
        if bias is not None and bias.shape != (len(filters),):
            raise ValueError(f"B: expected {len(filters)} values, one an output channel, got shape {bias.shape}")
        w_zero = zero_of_filters(w_zero_point, filters)

        def sums(x: np.dtype[Any]) -> Sums:
            x_zero = zero_of_data(x_zero_point, x)
            y_zero = check.one_value(check.result_zero_point(y_zero_point, x), "y_zero_point")
            if runtime == "ort":
                check.ort_has_kernel(x, filters.dtype, y_zero.dtype, "x, w, y_zero_point")
            codes = stage(factor, y_zero, runtime)
            return self._sums(x_zero, Finish(w_zero, bias, codes, y_zero.dtype.num), y_zero.dtype)

        self._of_type = check.of_types(sums)
        windows = typed(dilations), self._group, typed(kernel_shape), typed(pads), typed(strides)
        self._keep(*kept, auto_pad, *windows, runtime)

    x_scale, x_zero_point, w_scale, w_zero_point = (check.given(i) for i in (0, 1, 3, 4))
    y_scale, y_zero_point, runtime = (check.given(i) for i in (5, 6, -1))


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
    op = QLinearConv(
        x_scale,
        x_zero_point,
        w,
        w_scale,
        w_zero_point,
        y_scale,
        y_zero_point,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
        runtime=runtime,
    )
    return op(x, out, num_threads)
