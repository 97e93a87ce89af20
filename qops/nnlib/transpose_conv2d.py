"""nnlib's transposed convolution, which prepare expands to a supernode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, check_out, integers, operand, put, unshared
from qops.nnlib.chosen_node import convolution_node
from qops.nnlib.fused_node import Node, Run
from qops.nnlib.node_arguments import Arch, bias_of, filters_of, kept
from qops.nnlib.node_range import given_ends
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["QuantizedTransposeConv2d8x8p32to8", "quantized_transpose_conv2d_8x8p32to8"]

VECTOR = 32
PADS_DEPTH = (2, 3, 4, 8)  # strides across for which the filters are padded to whole vectors


class QuantizedTransposeConv2d8x8p32to8(Node):
    """Prepared form of `quantized_transpose_conv2d_8x8p32to8`; see *Supernodes* in `qops.nnlib`.

    Parameters
    ----------
    w, bias, stride, pads, out_size, guess_min, guess_max, arch
        As `quantized_transpose_conv2d_8x8p32to8` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        An argument that the function refuses.

    Examples
    --------
    >>> w, bias = (np.ones((1, 2, 2, 5), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> op = qops.nnlib.QuantizedTransposeConv2d8x8p32to8(w, bias, (2, 2), (0, 0, 0, 0), (4, 4), 0.0, 255.0)
    >>> op((np.arange(20, dtype=np.uint8).reshape(1, 2, 2, 5), 0.0, 255.0)).data[0, :, :, 0].tolist()
    [[10, 10, 35, 35], [10, 10, 35, 35], [60, 60, 85, 85], [60, 60, 85, 85]]
    """

    __slots__ = ("_node", "_pads", "_places", "_size")

    def __init__(
        self,
        w: TensorLike,
        bias: TensorLike,
        stride: tuple[int, int],
        pads: tuple[int, int, int, int],
        out_size: tuple[int, int],
        guess_min: float | None = None,
        guess_max: float | None = None,
        *,
        arch: Arch = "v65",
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        w, bias, stride, pads, out_size = self.w, self.bias, self.stride, self.pads, self.out_size
        guess_min, guess_max, arch = self.guess_min, self.guess_max, self.arch
        down, across = integers(stride, "stride", 2, 1)
        top, bottom, left, right = integers(pads, "pads", 4, 0)
        self._size = integers(out_size, "out_size", 2, 1)
        ends = given_ends(guess_min, guess_max)
        codes, lo, hi = filters_of(w, "(O, KH, KW, C)")
        kept_bias, _ = bias_of(bias, len(codes))
        operand((codes, lo, hi), "w", U8)  # again: reading the numbers may have changed the type
        filters = _phases(codes, (down, across), quantize_uint8(0.0, lo, hi))
        (rows, columns), depth = filters.shape[:2], filters.shape[3] // (down * across)
        self._places = down, across, depth, len(codes), top, left
        beyond = rows - 1, columns - 1
        self._pads = (beyond[0], beyond[0]), (beyond[1], beyond[1])
        if (down, across) == (1, 1):
            self._pads = (beyond[0] - top, beyond[0] - bottom), (beyond[1] - left, beyond[1] - right)
            if min(map(min, self._pads)) < 0:
                raise bad_value("pads", f"expected at most {beyond} for stride 1, got {(top, bottom, left, right)}")
        words = np.zeros(depth, np.int32)
        words[: len(codes)] = kept_bias.data
        repeated = np.tile(words, down * across), kept_bias.min, kept_bias.max
        self._node = convolution_node((filters, lo, hi), repeated, (1, 1), "VALID", ends, None, arch)
        if not once:
            stride, pads, out_size = (down, across), (top, bottom, left, right), self._size
            w, bias, (guess_min, guess_max), arch = kept(codes, lo, hi), kept_bias, ends, str(arch)
            self._keep(locals())

    def _fresh(self) -> Any:
        return self._node._fresh()

    def _run(self, ends: Any, x: Any, out: NDArray[Any] | None, num_threads: int) -> Run:
        image, lo, hi = operand(x, "x", U8)
        shape = self._shape(image.shape)
        if out is not None:
            check_out(out, U8, shape, [image])
        padded = np.pad(image, ((0, 0), *self._pads, (0, 0)), constant_values=level(lo, hi)[0])
        found, ends, passes = self._node._run(ends, (padded, lo, hi), None, num_threads)
        down, across, depth, channels, top, left = self._places
        count, rows, columns = found.data.shape[:3]
        codes = found.data.reshape(count, rows, columns, down, across, depth).transpose(0, 1, 3, 2, 4, 5)
        codes = codes.reshape(count, rows * down, columns * across, depth)[..., :channels]
        if (down, across) != (1, 1):
            codes = codes[:, top : top + shape[1], left : left + shape[2]]
        return Run(tensor(put(codes, out), found.min, found.max), ends, passes)

    def __call__(self, x: TensorLike, out: NDArray[np.uint8] | None = None, num_threads: int = 1) -> QTensor:
        """Run a node that has not run before on images `x`."""
        return self._run(self._fresh(), x, out, num_threads).result

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 4 or 0 in shape:
            raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {shape}")
        down, across, _, channels, top, left = self._places
        padded = shape[0], *(n + sum(pads) for n, pads in zip(shape[1:3], self._pads, strict=True)), shape[3]
        made = self._node._shape(padded)
        size = made[1] * down, made[2] * across
        if (down, across) == (1, 1):
            if size != self._size:
                raise bad_value("out_size", f"expected {size} for images of {shape[1:3]}, got {self._size}")
        elif top + self._size[0] > size[0] or left + self._size[1] > size[1]:
            raise bad_value("out_size", f"{self._size} after pads of {(top, left)} is beyond {size}")
        return shape[0], *self._size, channels


def _phases(w: NDArray[np.uint8], stride: tuple[int, int], zero: int) -> NDArray[np.uint8]:
    """Give filters (O, KH, KW, C) as (rows, columns, C, phases * O), turned by half a turn, filled up with `zero`."""
    (count, height, width, depth), (down, across) = w.shape, stride
    rows, columns = -(-height // down), -(-width // across)
    room = -(-count // VECTOR) * VECTOR if across in PADS_DEPTH else count
    full = np.full((room, rows * down, columns * across, depth), zero, np.uint8)
    full[:count, :height, :width] = w
    parts = full.reshape(room, rows, down, columns, across, depth)[:, ::-1, :, ::-1]
    return np.ascontiguousarray(parts.transpose(1, 3, 5, 2, 4, 0)).reshape(rows, columns, depth, -1)


def quantized_transpose_conv2d_8x8p32to8(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    stride: tuple[int, int],
    pads: tuple[int, int, int, int],
    out_size: tuple[int, int],
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    arch: Arch = "v65",
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """QuantizedTransposeConv2d_8x8p32to8: a transposed convolution, a bias and a requantization.

    Pixel (i, j) of `x` adds ``x[n, i, j, c] * w[o, k, l, c]`` to value ``(i * sh + k - top, j * sw + l - left)``.
    Prepare expands it: the filters are filled up with code `quantize_uint8` of 0, below and to the right, to multiples
    of the strides, and, for strides of 2, 3, 4 and 8 across, to a multiple of 32 output channels; each of ``sh * sw``
    phases of them is turned by half a turn, to make the filters of one `supernode` of stride 1, over images with the
    zero code around them; then the phases are interleaved, and the pads and what is beyond `out_size` are cut off.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    w : uint8 tensor
        Filters (O, KH, KW, C).
    bias : int32 tensor
        One code for each output channel, (O,).
    stride : (int, int)
        How many pixels of the result lie between two of `x`, down and across.
    pads : (int, int, int, int)
        Pixels that are cut off: top, bottom, left, right.
    out_size : (int, int)
        Height and width of the result.
    guess_min, guess_max, arch
        As `supernode` takes them.
    out : uint8 array, optional
        Where the codes are written, of the shape of the result.
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        uint8 codes of shape ``(N, *out_size, O)``.

    Raises
    ------
    TypeError, ValueError
        What `supernode` refuses; with stride 1 pads that are not below the size of the filters; an `out_size` that does
        not fit.

    See Also
    --------
    QuantizedTransposeConv2d8x8p32to8 : the same with filters that are packed once.

    Notes
    -----
    Source: ``prepare.c``. Not modelled: groups.

    **Hazards.** Columns that are cut off, and the zeros that fill up the filters, are watched too when a free range is
    found. Here the largest value that is left is 10, in a range for 85:

    >>> x = np.arange(20, dtype=np.uint8).reshape(1, 2, 2, 5), 0.0, 255.0
    >>> w, bias = (np.ones((1, 2, 2, 5), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> t = qops.nnlib.quantized_transpose_conv2d_8x8p32to8(x, w, bias, (2, 2), (0, 2, 0, 2), (2, 2), 0.0)
    >>> t.max
    145.71429443359375

    Examples
    --------
    >>> t = qops.nnlib.quantized_transpose_conv2d_8x8p32to8(x, w, bias, (2, 2), (0, 0, 1, 0), (4, 3), 0.0, 255.0)
    >>> t.data[0, :, :, 0].tolist()
    [[10, 35, 35], [10, 35, 35], [60, 85, 85], [60, 85, 85]]
    """
    image = operand(x, "x", U8)
    op = QuantizedTransposeConv2d8x8p32to8._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
