"""nnlib's DepthwiseSupernode: a depthwise convolution, a bias and a requantization in one node."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.depthwise_supernode import watched_beside
from qops._kernels.nnlib.node_sums import Watched, watched
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, operand, unshared
from qops.nnlib.fused_node import Floats, FusedNode, NodeRules, Place
from qops.nnlib.node_arguments import Bias
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike

__all__ = ["DepthwiseSupernode", "depthwise_supernode"]

WIDTHS = (3, 5, 7)
VECTOR = 32  # channels
ONE_BLOCK = ((7, 1), (5, 2))  # widths and strides of kernels that read the scales of 32 channels only


class DepthwiseSupernode(FusedNode):
    """Prepared form of `depthwise_supernode`; see *Supernodes* in `qops.nnlib`.

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
    >>> w, bias = (np.ones((3, 3, 1, 1), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> op = qops.nnlib.DepthwiseSupernode(w, bias, (2, 2), "SAME", 0.0, 255.0)
    >>> op((np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0)).data.ravel().tolist()
    [8, 12, 20, 24]
    >>> op.shape_of((1, 224, 224, 1))
    (1, 112, 112, 1)
    """

    __slots__ = ("_each", "_watches_more")
    _axes = "(KH, KW, C, 1)"
    _rules = NodeRules(
        start=(-0.125, 0.125),
        most=5,
        fails=True,
        beyond_int32="overlooks: it goes on with words that memory happens to hold",
    )

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

    def _check(self, shape: tuple[int, ...]) -> int:
        height, width, channels, each = shape
        if each != 1:
            raise bad_value("w", f"expected one filter for each channel, (KH, KW, C, 1), got shape {shape}")
        if height < 2:
            raise bad_value("w", f"expected filters at least 2 high, got shape {shape}")
        if width not in WIDTHS:
            raise bad_value(
                "w", f"expected filters 3, 5 or 7 wide, got shape {shape}: the original refuses them, or crashes"
            )
        across = self._moves[0][1]
        if across > 2:
            raise bad_value(
                "stride", f"expected 1 or 2 across, got {across}, for which every column of the original is wrong"
            )
        return channels

    def _take(self, w: NDArray[np.uint8], lo: float, hi: float, bias: Bias, scales: Floats | None) -> None:
        zero, step, period = quantize_uint8(0.0, lo, hi), level(lo, hi)[1], 0
        if (w.shape[1], self._moves[0][1]) in ONE_BLOCK:
            period = VECTOR
        groups, self._each = w.shape[2], None
        if w.shape[:2] == (3, 3) and scales is None and None in self._given:
            self._each = np.ascontiguousarray(w[..., 0].astype(np.int16) - zero)
        self._watches_more = self._each is not None or (w.shape[1], self._moves[0][1]) == (5, 2)
        self._ready(w.transpose(0, 1, 3, 2), zero, step, bias, groups=groups, scales=scales, period=period)

    def _watched(self, place: Place, sums: NDArray[np.int32]) -> list[Watched]:
        if self._each is not None:
            return watched_beside(place, sums, self._moves, self._each)
        seen = [watched(sums)]
        if self._taps[1] == 5 and self._moves[0][1] == 2 and sums.shape[2] % 4 == 1:
            seen.append(Watched(sums[:, :, -1:], is_shifted_twice=True))
        return seen


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

    Notes
    -----
    Source: ``op_dwise_snode_8bit.c``, ``supernode_utils.h``, ``dwconv2dbbb_s1_3x3_h.S`` and its neighbours.
    To find a free range, 3 x 3 filters without scales watch all columns of the memory that the results are in, also
    those left and right of the result, whose windows reach over the ends of rows into the next 32 channels. A call is
    refused if the range depends on the channels that fill up the last 32, which the original does not set.

    **Hazards.** The original refuses filters 1 high and 9 wide. It crashes on those 1, 2 or 4 wide. With a stride of 3
    or 4 across it says nothing, and every column is wrong. None of these run here:

    >>> x = np.zeros((1, 9, 9, 1), np.uint8), 0.0, 1.0
    >>> w, bias = (np.zeros((3, 3, 1, 1), np.uint8), 0.0, 1.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> qops.nnlib.depthwise_supernode(x, w, bias, (3, 3), "VALID")
    Traceback (most recent call last):
    ...
    ValueError: stride: expected 1 or 2 across, got 3, for which every column of the original is wrong

    Kernels 7 wide with stride 1, and 5 wide with stride 2, use the scale of channel c % 32 for channel c:

    >>> x = np.full((1, 2, 7, 33), 1, np.uint8), 0.0, 255.0
    >>> w, bias = (np.full((2, 7, 33, 1), 10, np.uint8), 0.0, 255.0), (np.zeros(33, np.int32), -1.0, 1.0)
    >>> scales = np.array([1.0] * 32 + [0.5], np.float32)
    >>> t = qops.nnlib.depthwise_supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0, channel_scale=scales)
    >>> t.data.ravel()[[0, 32]].tolist()  # the latter should be 70
    [140, 140]

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w, bias = (np.ones((3, 3, 1, 1), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> qops.nnlib.depthwise_supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0).data.item()
    36
    """
    image = operand(x, "x", U8)
    op = DepthwiseSupernode._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
