"""nnlib's Supernode: a convolution, a bias and a requantization in one node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.nnlib.node_sums import Watched, watched
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, choice, operand, unshared
from qops.nnlib.fused_node import Floats, FusedNode, Place
from qops.nnlib.node_arguments import Arch, Bias
from qops.nnlib.signed_weights import ONE, signed_weights
from qops.qtensor import QTensor, TensorLike

__all__ = ["Supernode", "supernode"]

VECTOR = 32  # channels
VTCM = 1 << 18  # bytes of a V65's memory for weights
HIGHEST = 255
COLUMNS = 4  # of a vector of an image
SIXES = frozenset((9, 10, 11, 12, 33, 34, 35, 36))  # widths that are convolved six columns at a time


class Supernode(FusedNode):
    """Prepared form of `supernode`; see *Supernodes* in `qops.nnlib`.

    Parameters
    ----------
    w, bias, stride, padding, guess_min, guess_max, channel_scale, arch
        As `supernode` takes them. Arrays are copied.

    Attributes
    ----------
    rescaled : ndarray of bool, (O,)
        Whether the weights of a channel were multiplied to become signed bytes, which costs each up to a bit.

    Raises
    ------
    TypeError, ValueError
        An argument that `supernode` refuses.

    See Also
    --------
    qops.explain : with `op`, which chip gave a dump of the node, and which channels a V65 rescales.

    Examples
    --------
    >>> w, bias = (
    ...     np.array([0, 255, 128, 100], np.uint8).reshape(1, 1, 1, 4).repeat(8, 2), 0.0, 1.0
    ... ), (np.array([0] * 4, np.int32), -1, 1)
    >>> qops.nnlib.Supernode(w, bias, (1, 1), "VALID").rescaled
    array([False,  True, False, False])
    >>> qops.nnlib.Supernode(w, bias, (1, 1), "VALID", arch="v60").rescaled.any()
    np.False_
    """

    __slots__ = ("_rescaled", "_watches_more")

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
        arch: Arch = "v65",
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _words(self) -> dict[str, Any]:
        return {**super()._words(), "arch": str(self.arch)}

    @property
    def rescaled(self) -> NDArray[np.bool_]:
        """Whether the weights of each channel were multiplied to become signed bytes."""
        return self._rescaled

    def _take(self, w: NDArray[np.uint8], lo: float, hi: float, bias: Bias, scales: Floats | None) -> None:
        """Pack the weights: signed bytes, which a V65 has if those of 32 channels fit its memory, or codes."""
        choice(self.arch, "arch", ("v65", "v60"))
        if w.shape[2] <= COLUMNS and self._moves[0][1] <= COLUMNS and scales is None:
            raise bad_value("w", f"filters of {w.shape[2]} channels run as an input_supernode")
        zero, step = level(lo, hi)
        depth, own = -(-w.shape[2] // VECTOR) * VECTOR, None
        self._watches_more = is_signed = self.arch == "v65" and w.shape[0] * w.shape[1] * depth * VECTOR <= VTCM
        self._rescaled = np.zeros(w.shape[3], bool)
        if is_signed:
            signed = signed_weights(w, zero)
            self._rescaled = signed.scales < ONE
            own = signed.scales.astype(np.float32) / np.float32(ONE) if self._rescaled.any() else None
            self._ready(signed.codes, 0, step, bias, scales=scales, own=own)
        else:
            self._ready(w, zero, step, bias, depth=depth, scales=scales)
        self._rescaled.flags.writeable = False

    def _watched(self, place: Place, sums: NDArray[np.int32]) -> list[Watched]:
        width = place.size[1]
        if (is_six := width in SIXES) or (1 <= width % 8 <= 2 and sums.shape[3] > VECTOR):
            return [watched(sums), *self._beside(place, sums, is_six)]
        return [watched(sums)]

    def _beside(self, place: Place, sums: NDArray[np.int32], is_six: bool) -> list[Watched]:
        """Give what is watched of columns beyond the last one, and of the first sums of the last six."""
        width, channels = sums.shape[2:]
        seen: list[Watched] = []
        chunks = [np.arange(i, min(i + VECTOR, channels)) for i in range(0, channels, VECTOR)]
        alone = len(chunks) % 2
        if is_six:
            first = (width - 1) // 6 * 6
            seen += [self._beyond(place, column) for column in range(width, first + 5)]
            if width - first < 6:
                for chunk in chunks[alone + 1 :: 2]:
                    seen.append(Watched(sums[:, :, first : first + 1, chunk - VECTOR], chunk, chunk - VECTOR))
        else:
            seen.append(self._beyond(place, width // 8 * 8 + 2, np.arange(VECTOR * alone, channels)))
        return seen

    def _beyond(self, place: Place, column: int, of: NDArray[np.int64] | None = None) -> Watched:
        """Give the sums of a column beyond the last one, those of some channels, if they are given.

        The image's memory has whole vectors of four columns. Where it needs padding on the left, the vector is set to
        the zero code as far as padding is needed on the right. Else all of it is. What is not set is taken to hold one
        byte, any of 0 to 255.
        """
        (left, (_, stride)), width, taps = (place.before[1], self._moves[0]), place.image.shape[2], self._taps[1]
        needed = max(0, (place.size[1] - 1) * stride + taps - left - width)
        room = -width % COLUMNS
        start = column * stride - left - width  # of the window, from the end of the image
        unset = [tap for tap in range(taps) if needed <= start + tap < room]
        channels = slice(None) if of is None else of
        sums = self._columns(place, column, 1)[..., channels]
        if not unset or (left == 0 and needed <= room):
            return Watched(sums, of, of)
        of_taps = self._sums_of(unset)[channels]
        dark, bright = of_taps * (0 - place.zero), of_taps * (HIGHEST - place.zero)
        return Watched(sums, of, of, (np.minimum(dark, bright), np.maximum(dark, bright)))

    def _sums_of(self, taps: list[int]) -> NDArray[np.int64]:
        """Give the sums of the weights of some taps across, for each output channel: what a window of ones gives."""
        window = np.zeros((1, *self._taps, self._packed.shape[1]), np.uint8)
        window[:, :, taps] = 1
        sums: NDArray[np.int32] = convolve(Images(window), self._packed, None, Finish(self._w_zero))
        return sums[0, 0, 0].astype(np.int64)


def supernode(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    stride: tuple[int, int],
    padding: str,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    channel_scale: ArrayLike | None = None,
    arch: Arch = "v65",
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """Supernode_8x8p8to8 and Supernode_8x8p32to8: a convolution, a bias and a requantization in one node.

    ``value[n, i, j, o] = (sum(x[n, i * sh + k - top, j * sw + l - left, c] * w[k, l, c, o]) + bias[o]) * scale[o]``. It
    is the bias that says which of the two nodes runs. The zero code z and the step of `x` and `w` are those of
    `level_zero`, and ``product = step_x * step_w``. A pass computes::

        word = half_even(((bias_steps * (step_bias / product) + -out_min / product) / scale) - float32(wsum * zx))
        code = sat_u8((wrap_s32((sum(x * w1) + word) << shift) * multiplier + 2**30) >> 31)
        gain = product / step_out       shift = exponent(gain) if gain > 1 else 0
        multiplier = trunc(gain * scale * 2**(31 - shift) + 0.5)

    with ``w1 = w - zw`` and wsum the sum of w1 over a channel. ``v60`` subtracts the zero of unsigned weights from
    exact sums, and adds ``zx * zw`` times the length of the sums to word as an integer; wsum is then of w itself, as
    if channels filled up vectors of 32 with the code zw. ``v65`` makes the weights signed bytes. If zw is 127, 128 or
    129, it cuts w1 to int8. Else, in a channel whose lowest weight is d >= 2 below ``zw - 128``, or its highest d >= 1
    above ``zw + 128``, weights become ``((K * w + 32896 - K * zw) >> 8) - 128``, with K = trunc(32895 / (d + 128)) or
    trunc(32639 / (d + 128)), and scale is divided by K / 256.

    **The output range.** Given ends are kept, but move by up to half a step, to put 0 on a code. Free ends begin with
    (0, 0.5). In a first pass in which an output step is less than a product step / 1.75, the range is widened until it
    is that. After a pass, a free end that results are beyond becomes 2**(n/4), 1.19 to 1.41 times the farthest result,
    and another pass is made; after the third, codes stay as they are but get the range of a fourth.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    w : uint8 tensor
        Filters (KH, KW, C, O).
    bias : uint8 or int32 tensor
        One code for each output channel, (O,).
    stride, padding
        As `quantized_conv2d_8x8to32` takes them; padding is the zero code of `x`.
    guess_min, guess_max : float, optional
        Given ends of the output range, ``guess_min <= 0 <= guess_max``. What is beyond a given end saturates.
    channel_scale : array_like of float, (O,), optional
        Factors of the output channels, from 1/2048 to 1.
    arch : {"v65", "v60"}
        Which chip: a V65 with 256 KB of memory for weights, or a chip without, which computes as a V60. If filters of
        32 channels are larger than that, a V65 does so too.
    out : uint8 array, optional
        Where the codes are written, of the shape of the result.
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, O).

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), filters that do not fit, and scales other than above. What runs as
        `input_supernode`: filters of up to 4 channels, without scales, with a stride of up to 4 across. A range without
        0. Words beyond int32. A free range that depends on bytes beside the image, which the original does not set.

    See Also
    --------
    Supernode : the same with filters that are packed once.
    Session : a node that remembers its range, as those of a graph do.
    fuse : which node nnlib makes of a graph's nodes.

    Notes
    -----
    Source: ``op_supernode_new.c``, ``supernode_utils.h``, ``gvconv2dbbb_circ_d64_v65_h.S``,
    ``gvconv2dbbb_circ6_d64_v65_h.S``. On a V65, a free range watches more than the results: with more than 32 output
    channels, and widths of which 1 or 2 columns are left over by blocks of 8, the second column of what would be the
    next block, and in widths from 9 to 12 and from 33 to 36, which are made in blocks of 6, the rest of the last block
    up to its fifth column, whose first sums also count as those of 32 channels later. Bytes that are not set are taken
    to be equal to each other. The limit of three passes was read in the source; no recorded case reaches it.

    **Hazards.** Weights of which some are 129 or more codes from their zero lose up to a bit each on a V65, but not on
    a V60. Here these are 31 LSB. Weights with their zero on code 128 give the same codes on both:

    >>> x = np.full((1, 1, 1, 64), 255, np.uint8), 0.0, 1.0
    >>> codes = np.array([255] + 63 * [1], np.uint8).reshape(1, 1, 64, 1)
    >>> bias = np.array([0], np.int32), -1.0, 1.0
    >>> for lo, hi in ((0.0, 1.0), (-128 / 127, 1.0)):
    ...     v65, v60 = (
    ...         qops.nnlib.supernode(x, (codes, lo, hi), bias, (1, 1), "VALID", -70.0 if lo else 0.0, 2.0, arch=arch)
    ...         for arch in ("v65", "v60")
    ...     )
    ...     print(v65.data.item(), v60.data.item())
    128 159
    28 28

    A given end is not what comes back, and a free end is up to 1.41 times too far, but for the first guess, which may
    be wider still:

    >>> t = qops.nnlib.supernode(x, (codes, 0.0, 1.0), bias, (1, 1), "VALID", -1.0, 1.0)
    >>> (t.min, t.max)
    (-1.003921627998352, 0.9960784316062927)
    >>> t = qops.nnlib.supernode(x, (codes, 0.0, 1.0), bias, (1, 1), "VALID", 0.0, arch="v60")  # of 1.25
    >>> t.max
    1.6817928552627563

    Examples
    --------
    >>> x = np.arange(20, dtype=np.uint8).reshape(1, 2, 2, 5), 0.0, 255.0
    >>> w, bias = (np.ones((1, 1, 5, 2), np.uint8), 0.0, 255.0), (np.array([0, 100], np.uint8), 0.0, 255.0)
    >>> qops.nnlib.supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0).data.reshape(-1, 2).tolist()
    [[10, 110], [35, 135], [60, 160], [85, 185]]
    """
    image = operand(x, "x", U8)
    op = Supernode._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
