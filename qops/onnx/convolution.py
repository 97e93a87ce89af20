"""ConvInteger: convolutions of 8 bit data over any number of spatial axes, to int32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.axes import planes, weights, window_of
from qops._kernels.conv.convolution import Conv2D
from qops._kernels.conv.finish import Finish
from qops.checks import as_array, int32, native, put, shown
from qops.onnx import _checks as check
from qops.onnx.paired_convolution import ConvolutionSums, PairedConv
from qops.onnx.runtimes import COLUMNS, Pairs
from qops.onnx.window import ConvolutionWindow
from qops.prepared import Prepared, argument

__all__ = ["ConvInteger", "conv_integer"]


class ConvolutionKernel(NamedTuple):
    """The kernel for data of one type. `planes`: the whole convolution, if it has two axes and its padding is known.

    `paired` replaces all others where products share words of 16 bits.
    """

    x_zero: int
    finish: Finish
    dtype: np.dtype[Any]
    planes: Conv2D | None = None
    paired: PairedConv | None = None


class Convolution(Prepared):
    """The base of `ConvInteger` and `QLinearConv`: filters that are packed, the window, and the call."""

    __slots__ = ("_kernels", "_moves", "_packed", "_w")

    def _pack(self, once: bool) -> None:
        """Check and pack the filters, check the attributes, and make a kernel for each type of data.

        once: no kernel, as the only call makes the one that it needs.
        """
        self._w = native(self.w, "w", check.CODES_8)
        self._moves = ConvolutionWindow.of(self._w, self._arguments)
        self._packed = weights(self._w, self._moves.group, self._moves.unplaced[-1].dilation == 1)
        self._kernels: dict[np.dtype[Any], ConvolutionKernel] = {} if once else check.of_types(self._kernel)

    def _kernel(self, x: np.dtype[Any]) -> ConvolutionKernel:
        """Make the kernel for data of type `x`; a zero point that is a plain number has that type too."""
        zero = int(check.one_value(check.zero_point(self.x_zero_point, "x_zero_point", x), "x_zero_point"))
        layer = self._layer(x)
        finish = Finish(layer.w_zero, layer.bias, layer.codes, layer.dtype.num)
        pairs = self.pairs_of(x)
        if pairs:
            paired = PairedConv(self._w, zero, self._moves.group, pairs, self._filters_first, layer)
            return ConvolutionKernel(zero, finish, layer.dtype, paired=paired)
        axes = [] if self._moves.is_same else self._moves.unplaced
        whole = None
        if len(axes) == 2:
            whole = Conv2D(self._packed, window_of(axes), finish, zero, x.num, planes=True)
        return ConvolutionKernel(zero, finish, layer.dtype, whole)

    _filters_first: ClassVar[bool]
    """Whether onnxruntime multiplies filters by the image; else it multiplies the image by filters."""

    def pairs_of(self, dtype: DTypeLike = "uint8") -> Pairs:
        """Give what two products that share a word of 16 bits do in this op, with data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the codes that the op multiplies.

        Returns
        -------
        {"", "saturate", "lowest"}
            See `qops.onnx`: "" where all sums are exact, "saturate" on x86 without VNNI, "lowest" on ARM without dot
            products.
        """
        return self._pairs(np.dtype(dtype)) if COLUMNS[self.runtime].pairs else ""

    def _pairs(self, x: np.dtype[Any]) -> Pairs:
        """Give that where the runtime does anything with pairs."""
        types = (self._w.dtype, x) if self._filters_first else (x, self._w.dtype)
        return COLUMNS[self.runtime].pairs_of(*types)

    def _layer(self, x: np.dtype[Any]) -> ConvolutionSums:
        """Make what sums become, for data of type `x`."""
        raise NotImplementedError

    def _check_ort_moves(self) -> None:
        """ValueError for a window that onnxruntime refuses."""
        how, dilations = self._moves.auto_pad, [axis.dilation for axis in self._moves.unplaced]
        if self._moves.is_same and max(dilations) > 1:
            raise bad_value("dilations", f"onnxruntime takes none with auto_pad {how!r}, got {shown(dilations)}")

    def _w_zero(self) -> int | NDArray[np.int64]:
        """Check the zero point of the filters, one or one for each output channel, and give it."""
        zeros = check.zero_point(self.w_zero_point, "w_zero_point", self._w.dtype)
        return check.offset(check.channels(zeros, "w_zero_point", len(self._w)))

    def _axes(self, shape: tuple[int, ...]) -> list[Axis]:
        """Give the window along each axis of data of this shape; ValueError if the shape does not fit the filters."""
        if len(shape) < 3:
            raise bad_value("x", f"expected (N, C, one or more spatial axes), got shape {shape}")
        w, group = self._w.shape, self._moves.group
        if len(shape) != len(w) or shape[1] != w[1] * group:
            raise bad_value("x, w", f"shapes {shape} and {w} do not fit with group {group}")
        return self._moves.axes(shape[2:])

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], len(self._w), *(axis.positions for axis in self._axes(shape)))

    @property
    def nbytes(self) -> int:
        """Bytes of the packed filters."""
        return int(self._packed.nbytes)

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Convolve `x` on so many threads, into `out` if it is given."""
        threads, data = int32(num_threads, "num_threads", 1), as_array(x, "x")
        kernel = self._kernels.get(data.dtype) or self._kernel(check.among(data.dtype, "x", check.CODES_8))
        if kernel.planes is not None and data.ndim == 4 and data.shape[1] == self._w.shape[1] * self._moves.group:
            made: NDArray[Any] = kernel.planes(data, out, threads)
            return made
        axes = self._axes(data.shape)
        if kernel.paired is not None:
            check.out(out, kernel.dtype, self._shape(data.shape), data, self)
            return put(kernel.paired(data, axes, threads), out)
        images, window = planes(data, axes, kernel.x_zero)
        run = Conv2D(self._packed, window, kernel.finish, kernel.x_zero, images.dtype.num, planes=True)
        if len(axes) == 2:
            made = run(images, out, threads)
            return made
        shape = (len(data), len(self._w), *(axis.positions for axis in axes))
        check.out(out, kernel.dtype, shape, data, self)
        made = run(images, None, threads)
        # `planes` put the axes but the last two into the first: (N, these axes, M, the last two) becomes (N, M, ...)
        made = made.reshape(len(data), *shape[2:-2], len(self._w), *made.shape[2:])
        return put(np.moveaxis(made, max(1, len(axes) - 1), 1).reshape(shape), out)


class ConvInteger(Convolution):
    """The prepared form of `conv_integer`: the filters are packed once, for images of any size.

    Called ``op(x, out=None, num_threads=1)``. The constructor takes all other arguments of `conv_integer`. A plain
    `x_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.ConvInteger(np.array([[[1, -1]]], np.int8), 128, pads=[1, 0])
    >>> op, op(np.array([[[130, 131]]], np.uint8))
    (ConvInteger(np.int8([[[1, -1]]]), x_zero_point=128, pads=(1, 0)), array([[[-2, -1]]], dtype=int32))
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
        runtime: str = "onnx",
    ) -> None:
        x_zero_point, w_zero_point = check.optional(x_zero_point, w_zero_point)
        runtime = check.runtime(runtime)
        self._make(locals())

    weights = argument("w")
    _filters_first = True

    def _prepare(self, once: bool) -> None:
        self._pack(once)
        if COLUMNS[self.runtime].is_ort:
            self._check_ort_moves()
            check.one_value(as_array(self.w_zero_point, "w_zero_point"), "w_zero_point")

    def _layer(self, x: np.dtype[Any]) -> ConvolutionSums:
        return ConvolutionSums(self._w_zero())


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
    runtime: str = "onnx",
    num_threads: int = 1,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Convolve 8 bit data: ``y = conv(x - x_zero_point, w - w_zero_point)`` in int32, which wraps.

    Padding is real 0, the code `x_zero_point`. Along each axis, the result has
    ``(size + pads - (kernel - 1) * dilation - 1) // stride + 1`` positions, or ``ceil(size / stride)`` with SAME.

    Parameters
    ----------
    x, w : ndarray of uint8 or int8, (N, C, D1, ..., Dn) and (M, C / group, k1, ..., kn)
        Data and filters, over one spatial axis or more.
    x_zero_point, w_zero_point : int or ndarray of the type of `x` and of `w`, optional
        One value, and for `w` one or M. None is 0.
    auto_pad : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}
        NOTSET takes `pads`. SAME_UPPER puts the odd one of a padding at the end, SAME_LOWER at the beginning.
    dilations : sequence of int, optional
        Distance of the taps along each axis; 1 by default.
    group : int
        How many groups the channels are divided into.
    kernel_shape : sequence of int, optional
        The kernel of `w`; nothing else is accepted.
    pads, strides : sequence of int, optional
        Padding at the beginning of each axis, then at the end of each; 0 by default. Distance of the positions; 1.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The standard, or onnxruntime on a kind of CPU, see `qops.onnx`. "onnxruntime" is another name for "ort".
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
        Other types, shapes and an `out` that do not fit, `pads` beside an `auto_pad`, a kernel larger than padded data.
        With onnxruntime also a `w_zero_point` of several values, and dilations beside SAME.

    Notes
    -----
    Source: onnx, ``reference/ops/op_conv_integer.py``, ``op_conv.py``; onnxruntime, ``conv_integer.cc``. The reference
    takes a `w_zero_point` for each channel over two spatial axes only; this function over any number.

    **Hazards.** A code of 0 is not real 0. A port that pads the codes with 0 is wrong at every border:

    >>> x, w = np.array([[[130, 131]]], np.uint8), np.array([[[1, 1]]], np.int8)
    >>> (
    ...     qops.onnx.conv_integer(x, w, 128, pads=[1, 1]).ravel(),
    ...     qops.onnx.conv_integer(np.pad(x, ((0, 0), (0, 0), (1, 1))), w, 128).ravel(),
    ... )
    (array([2, 5, 3], dtype=int32), array([-126,    5, -125], dtype=int32))

    Examples
    --------
    >>> x = np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3)
    >>> qops.onnx.conv_integer(x, np.ones((1, 1, 2, 2), np.uint8), 1).tolist()
    [[[[12, 16], [24, 28]]]]
    """
    x_zero_point, w_zero_point = check.optional(x_zero_point, w_zero_point)
    runtime = check.runtime(runtime)
    return ConvInteger._once(locals())(x, out, num_threads)
