"""conv2d: the convolution of 8-bit images with 8-bit filters, whatever their ranges, a bias, and one rounding."""

from __future__ import annotations

from math import prod
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.weights import pack_weights
from qops._kernels.frontdoor.conv2d import Conv2D as Convolution
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import int32, unshared
from qops.frontdoor.layer import BOUND_LAYER, BOUND_LAYER_8, LayerOp, check_length, epilogue, options, weights
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike
from qops.window import Padding, TwoInts, padding_of, pair

__all__ = ["BOUND_CONV2D", "BOUND_CONV2D_8", "Conv2D", "conv2d"]

BOUND_CONV2D = BOUND_LAYER
"""Largest error of `conv2d` with int32 codes against the exact result, in output LSB."""
BOUND_CONV2D_8 = BOUND_LAYER_8
"""Largest error of `conv2d` with 8-bit codes, for results within the range, in output LSB."""


@refusing_unknown
def conv2d(
    x: TensorLike,
    w: TensorLike,
    bias: ArrayLike | None = None,
    *,
    stride: int | TwoInts = 1,
    dilation: int | TwoInts = 1,
    padding: Padding = 0,
    groups: int = 1,
    dtype: DTypeLike = "int32",
    guess: OpenRange | None = None,
    range: Range | None = None,
    clip: OpenRange | None = None,
    out: NDArray[Any] | None = None,
    num_threads: int = 1,
    **unknown: Never,
) -> QTensor:
    """Convolve images of uint8 or int8 codes with filters, add a bias, clip, and round the result once.

    ``value[n, i, j, o] = sum(x[n, i * sh + k * dh - top, j * sw + l * dw - left, c] * w[k, l, c, o]) + bias[o]`` over
    k, l and c, of real values. Codes are made of values as by `matmul`, for K = KH * KW * C products. Padding is real
    0, even if that is not on a code. **Error: at most** ``0.5 + 2**-16`` output LSB (`BOUND_CONV2D`) in int32 and
    ``0.5 + 2**-13`` (`BOUND_CONV2D_8`) in 8 bits, for all ranges, also those that exclude 0 or have it between two
    codes.

    Parameters
    ----------
    x : (data, min, max)
        uint8 or int8 images (N, H, W, C * groups).
    w : (data, min, max)
        uint8 or int8 filters (KH, KW, C, O), KH * KW * C at most 131071, with one range or one for each filter: ends
        of shape (1, 1, 1, O), as ``quantize(w, axis=3)`` gives them.
    bias : array_like of float, or of int32, (O,), optional
        Real values; or int32 codes, which count ``x_step * w_step``, as accumulators do.
    stride, dilation : int or (int, int), optional
        Down and across, from 1 on.
    padding : int, {"same", "valid"} or (int or (int, int), int or (int, int)), optional
        Pixels around the image; those above and below, then those left and right, where a pair says what is before the
        image and what after it. "same": ``ceil(size / stride)`` outputs; an odd pixel of padding goes after the image.
        "valid": none. Words in capitals mean the same.
    groups : int, optional
        Channels in so many groups of C, each with O / groups filters of its own. C = 1 is a depthwise convolution.
    dtype, guess, range, clip : optional
        Type and range of the codes, and what values are cut to before they are rounded; see `matmul`.
    out : ndarray of `dtype`, optional
        Where the codes are written; of shape (N, OH, OW, O).
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        Codes of shape (N, OH, OW, O), in a range as by `matmul`; int32 codes have arrays of shape (1, 1, 1, O) as ends
        if `w` has a range for each filter.

    Raises
    ------
    TypeError, ValueError
        What `matmul` refuses; an axis of length 0, a stride, dilation or padding other than above, groups that do not
        divide O, images of another number of channels, filters that do not fit in the padded image.

    See Also
    --------
    Conv2D : the same with filters that are packed once, for many images.
    qops.nnlib.quantized_conv2d_8x8to32, qops.tensorflow.quantized_conv2d : what those systems compute.

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w = np.array([[1, 1], [1, -1]], np.int8).reshape(2, 2, 1, 1), -128.0, 127.0
    >>> t = qops.conv2d(x, w, stride=2, padding="same")
    >>> t.data.ravel().tolist(), t.scale  # 0 + 1 + 3 - 4, 2 + 5, 6 + 7, 8
    ([0, 7, 13, 8], 1.0)
    >>> qops.conv2d(x, w, [-5.0], stride=2, padding="same", dtype="uint8", range=(0.0, 255.0), clip=(0, 6)).data.ravel()
    array([0, 2, 6, 3], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(conv2d, unknown)
    return Conv2D._once(locals())(x, unshared(out, w, bias), num_threads)


class Conv2D(LayerOp):
    """Prepared form of `conv2d`: the filters are packed once, for many images.

    Called as ``op(x, out=None, num_threads=1)``, it gives what `conv2d` gives with the same arguments. Each `x` may
    have its own type, range, number of images, and height and width.

    Parameters
    ----------
    w, bias, stride, dilation, padding, groups, dtype, guess, range, clip
        As `conv2d` takes them. Arrays are copied.

    Attributes
    ----------
    w : QTensor
        The filters. Their codes are read-only.
    bias, stride, dilation, padding, groups, dtype, guess, range, clip
        As they were given.

    Raises
    ------
    TypeError, ValueError
        An argument that `conv2d` refuses.

    Examples
    --------
    >>> op = qops.Conv2D(
    ...     (np.array([[1, 1], [1, -1]], np.int8).reshape(2, 2, 1, 1), -128.0, 127.0), stride=2, padding="same"
    ... )
    >>> op((np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0)).data.ravel().tolist()
    [0, 7, 13, 8]
    >>> op.shape_of((1, 224, 224, 1))
    (1, 112, 112, 1)
    """

    __slots__ = ()

    @refusing_unknown
    def __init__(
        self,
        w: TensorLike,
        bias: ArrayLike | None = None,
        *,
        stride: int | TwoInts = 1,
        dilation: int | TwoInts = 1,
        padding: Padding = 0,
        groups: int = 1,
        dtype: DTypeLike = "int32",
        guess: OpenRange | None = None,
        range: Range | None = None,
        clip: OpenRange | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise unknown_keyword(Conv2D, unknown)
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        w = weights(self.w, "w")
        way = pair(self.stride, "stride", 1), pair(self.dilation, "dilation", 1), padding_of(self.padding)
        if w.codes.ndim != 4 or 0 in w.codes.shape:
            raise bad_value("w", f"expected (KH, KW, C, O), each at least 1, got shape {w.codes.shape}")
        channels, groups = w.codes.shape[3], int32(self.groups, "groups", 1)
        if channels % groups:
            raise bad_value("groups", f"expected a divisor of the {channels} filters of w, got {groups}")
        k = check_length(prod(w.codes.shape[:3]), "w")
        given = options(channels, self._arguments)
        packed = pack_weights(w.codes.transpose(3, 2, 0, 1), groups=groups, neighbours=way[1][1] == 1)
        self._run = Convolution(packed, *way, w.codes.sum(2, np.int32), epilogue(w, k, given, "x, w"))
        if not once:
            words = {name: getattr(self, name) for name in ("stride", "dilation", "padding")}
            own = {name: value if isinstance(value, (int, str)) else _tuples(value) for name, value in words.items()}
            self._keep({"w": w.kept(), **own, "groups": groups, **given._asdict()})

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C * groups).

        Returns
        -------
        tuple of int
            (N, OH, OW, O).
        """
        return super().shape_of(shape)

    def __call__(self, x: TensorLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> QTensor:
        """Convolve the images `x` with the filters, as `conv2d` does."""
        made: QTensor = self._run(QTensor, x, out, num_threads)
        return made


def _tuples(value: Any) -> Any:
    """Give the lists of a list, and it, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, (tuple, list)) else value
