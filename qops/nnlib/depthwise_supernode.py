"""nnlib's DepthwiseSupernode: a depthwise convolution, a bias and a requantization in one node."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, operand, unshared
from qops.nnlib.fused_node import FusedNode, Place
from qops.nnlib.node_arguments import bias_of, filters_of, moves_of, scales_of
from qops.nnlib.node_range import Gain, given_ends
from qops.nnlib.node_sums import Watched, watched
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike

__all__ = ["DepthwiseSupernode", "depthwise_supernode"]

WIDTHS = (3, 5, 7)
VECTOR = 32  # channels
COLUMNS = 4  # of a vector of an image, and before the first pixel of a row of one
ONE_BLOCK = ((7, 1), (5, 2))  # widths and strides of kernels that read the scales of 32 channels only


class DepthwiseSupernode(FusedNode):
    """Prepared form of `depthwise_supernode`: the weights are packed once, for images of any size and range.

    Called as ``op(x, out=None, num_threads=1)``, it gives what `depthwise_supernode` gives: each call is that of a node
    that has not run before. `Session` is a node that remembers its range.

    Parameters
    ----------
    w, bias, stride, padding, guess_min, guess_max, channel_scale
        As `depthwise_supernode` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        An argument that `depthwise_supernode` refuses.

    Examples
    --------
    >>> w, bias = (np.ones((3, 3, 1, 1), np.uint8), 0.0, 255.0), (np.int32([0]), -1.0, 1.0)
    >>> op = qops.nnlib.DepthwiseSupernode(w, bias, (2, 2), "SAME", 0.0, 255.0)
    >>> op((np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0)).data.ravel().tolist()
    [8, 12, 20, 24]
    >>> op.shape_of((1, 224, 224, 1))
    (1, 112, 112, 1)
    """

    __slots__ = ("_each", "_is_3x3")
    _start = (-0.125, 0.125)
    _most = 5
    _fails = True
    _beyond_int32 = "overlooks: it goes on with words that memory happens to hold"

    def __init__(
        self,
        w: TensorLike,
        bias: TensorLike,
        stride: tuple[int, int],
        padding: str,
        guess_min: float | None = None,
        guess_max: float | None = None,
        *,
        channel_scale: ArrayLike | None = None,
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        w, bias, stride, padding = self.w, self.bias, self.stride, self.padding
        guess_min, guess_max, channel_scale = self.guess_min, self.guess_max, self.channel_scale
        self._given, self._moves = given_ends(guess_min, guess_max), moves_of(stride, padding)
        kept, codes, lo, hi = filters_of(w, "(KH, KW, C, 1)")
        height, width, channels, each = codes.shape
        if each != 1:
            raise bad_value("w", f"expected one filter for each channel, (KH, KW, C, 1), got shape {codes.shape}")
        if height < 2:
            raise bad_value("w", f"expected filters at least 2 high, got shape {codes.shape}")
        if width not in WIDTHS:
            raise bad_value(
                "w", f"expected filters 3, 5 or 7 wide, got shape {codes.shape}: the original refuses them, or crashes"
            )
        across = self._moves[0][1]
        if across > 2:
            raise bad_value(
                "stride", f"expected 1 or 2 across, got {across}, for which every column of the original is wrong"
            )
        kept_bias, added = bias_of(bias, channels, U8)
        scales = scales_of(channel_scale, channels)
        operand((codes, lo, hi), "w", U8)  # again: reading the numbers may have changed the type
        self._ready(codes.transpose(0, 1, 3, 2), quantize_uint8(0.0, lo, hi), level(lo, hi)[1], added, channels)
        self._rescale(scales)
        self._is_3x3 = height == width == 3 and scales is None
        self._each = codes[..., 0].astype(np.int64) - quantize_uint8(0.0, lo, hi)
        if not once:
            (stride, padding), (guess_min, guess_max) = self._moves, self._given
            w, bias, channel_scale = kept, kept_bias, scales
            self._keep(locals())

    def _multipliers(self, gain: Gain) -> Gain:
        """Give the numbers of the kernel; two of them take those of channel c % 32."""
        if self._scales is None or (self._taps[1], self._moves[0][1]) not in ONE_BLOCK:
            return gain
        return gain._replace(multipliers=gain.multipliers[np.arange(len(gain.multipliers)) % VECTOR])

    def _watched(self, place: Place, sums: NDArray[np.int32]) -> list[Watched]:
        seen = [watched(sums)]
        width, (taps, stride) = place.size[1], (self._taps[1], self._moves[0][1])
        if taps == 5 and stride == 2 and width % 4 == 1:
            seen.append(watched(sums[:, :, -1], is_shifted_twice=True))
        if self._is_3x3:
            seen += self._around(place)
        return seen

    def _around(self, place: Place) -> list[Watched]:
        """Give the sums of the columns left and right of the result that fill up the vectors of its rows.

        They read the memory of the image as it lies: rows of slices of 32 channels, each slice with four columns of the
        zero code before the image and up to three after it. What is after a slice is the next one, or the next row.
        """
        memory, unset = self._memory(place)
        (stride_down, across), (width, left) = self._moves[0], (place.size[1], place.before[1])
        before = COLUMNS // across if self._moves[1] == "VALID" else (COLUMNS - left) // across
        skip = COLUMNS - (before * across + left)
        columns = [*range(before), *range(before + width, before + width + -(width + before) % COLUMNS)]
        slices = -(-len(self._zeros) // VECTOR)
        line = memory.shape[2] // slices  # columns of a slice
        rows = np.arange(place.size[0])[:, None, None] * stride_down + np.arange(3)[None, :, None]
        found = []
        for i in range(slices):
            of = slice(i * VECTOR, min((i + 1) * VECTOR, len(self._zeros)))
            for column in columns:
                found.append(self._one_column(memory, unset, rows, i * line + column * across + skip, of, place.zero))
        return found

    def _one_column(
        self,
        memory: NDArray[np.int16],
        unset: NDArray[np.bool_],
        rows: NDArray[np.int64],
        start: int,
        of: slice,
        zero: int,
    ) -> Watched:
        """Give the sums of one column of the windows `rows`, (OH, KH, 1), which begins at `start` in each row."""
        count, length, line = len(memory), memory.shape[1] * memory.shape[2], memory.shape[2]
        at = np.minimum(rows * line + start + np.arange(3), length)  # (OH, KH, KW)
        lanes = of.stop - of.start
        flat = memory.reshape(count, length, VECTOR)[:, np.minimum(at, length - 1), :lanes]
        loose = unset.reshape(length, VECTOR)[np.minimum(at, length - 1), :lanes] | (at == length)[..., None]
        w = self._each[:, :, of]
        steps = np.where(loose, 0, flat - zero).astype(np.int64)
        sums = np.einsum("nyklc,klc->nyc", steps, w).astype(np.int32)
        if not loose.any():
            return watched(sums, of, words=of)
        dark, bright = w * (0 - zero), w * (255 - zero)
        most = loose.sum(0)  # no channel has more pixels unset than all rows together
        low = (np.minimum(dark, bright) * (most > 0)).sum((0, 1))
        high = (np.maximum(dark, bright) * (most > 0)).sum((0, 1))
        return watched(sums, of, words=of, spread=(low, high))

    def _memory(self, place: Place) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Give the image as it lies in memory, (N, rows, slices * columns, 32), and which bytes are not set."""
        count, height, width, channels = place.image.shape
        slices, line = -(-channels // VECTOR), COLUMNS + width + -width % COLUMNS
        top, below = place.before[0], max(0, (place.size[0] - 1) * self._moves[0][0] + 3 - place.before[0] - height)
        memory = np.full((count, top + height + below + 1, slices, line, VECTOR), place.zero, np.int16)
        unset = np.zeros(memory.shape[1:], bool)
        full = np.zeros((count, height, width, slices * VECTOR), np.int16)
        full[..., :channels] = place.image
        inside = slice(top, top + height), slice(None), slice(COLUMNS, COLUMNS + width)
        memory[:, *inside] = full.reshape(count, height, width, slices, VECTOR).transpose(0, 1, 3, 2, 4)
        unset[*inside] = (np.arange(slices * VECTOR) >= channels).reshape(1, slices, 1, VECTOR)
        shape = top + height + below + 1, slices * line, VECTOR
        return memory.reshape(count, *shape), unset.reshape(shape)


def depthwise_supernode(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    stride: tuple[int, int],
    padding: str,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    channel_scale: ArrayLike | None = None,
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """DepthwiseSupernode_8x8p8to8 and _8x8p32to8: a depthwise convolution, a bias and a requantization in one node.

    ``value[n, i, j, c] = (sum(x[n, i * sh + k - top, j * sw + l - left, c] * w[k, l, c]) + bias[c]) * scale[c]``. The
    integers are those of the exact sums of `supernode` on a V65, ``w1 = w - zw``, but zw is `quantize_uint8` of 0. Free
    ends begin with (-0.125, 0.125), and a sixth pass is an error.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    w : uint8 tensor
        Filters (KH, KW, C, 1), at least 2 high, and 3, 5 or 7 wide.
    bias : uint8 or int32 tensor
        One code for each channel, (C,).
    stride : (int, int)
        How many pixels a window moves, down and across: 1 or 2 across.
    padding, guess_min, guess_max, channel_scale
        As `supernode` takes them.
    out : uint8 array, optional
        Where the codes are written, of the shape of the result.
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, C).

    Raises
    ------
    TypeError, ValueError
        What `supernode` refuses; filters and strides other than above; results that five passes do not hold.

    See Also
    --------
    DepthwiseSupernode : the same with filters that are packed once.
    Session : a node that remembers its range.

    Notes ----- Source: ``op_dwise_snode_8bit.c``, ``supernode_utils.h``, ``dwconv2dbbb_s1_3x3_h.S`` and its neighbours.
    To find a free range, 3 x 3 filters without scales watch all columns of the memory that the results are in, also
    those left and right of the result, whose windows reach over the ends of rows into the next 32 channels. A call is
    refused if the range depends on the channels that fill up the last 32, which the original does not set.

    **Hazards.** The original refuses filters 1 high and 9 wide. It crashes on those 1, 2 or 4 wide. With a stride of 3
    or 4 across it says nothing, and every column is wrong. None of these run here:

    >>> x = np.zeros((1, 9, 9, 1), np.uint8), 0.0, 1.0
    >>> w, bias = (np.zeros((3, 3, 1, 1), np.uint8), 0.0, 1.0), (np.int32([0]), -1.0, 1.0)
    >>> qops.nnlib.depthwise_supernode(x, w, bias, (3, 3), "VALID")
    Traceback (most recent call last):
    ...
    ValueError: stride: expected 1 or 2 across, got 3, for which every column of the original is wrong

    Kernels 7 wide with stride 1, and 5 wide with stride 2, use the scale of channel c % 32 for channel c:

    >>> x = np.full((1, 2, 7, 33), 1, np.uint8), 0.0, 255.0
    >>> w, bias = (np.full((2, 7, 33, 1), 10, np.uint8), 0.0, 255.0), (np.zeros(33, np.int32), -1.0, 1.0)
    >>> scales = np.float32([1.0] * 32 + [0.5])
    >>> t = qops.nnlib.depthwise_supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0, channel_scale=scales)
    >>> t.data.ravel()[[0, 32]].tolist()  # the latter should be 70
    [140, 140]

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w, bias = (np.ones((3, 3, 1, 1), np.uint8), 0.0, 255.0), (np.int32([0]), -1.0, 1.0)
    >>> qops.nnlib.depthwise_supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0).data.item()
    36
    """
    image = operand(x, "x", U8)
    op = DepthwiseSupernode._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
