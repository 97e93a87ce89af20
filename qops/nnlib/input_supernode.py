"""nnlib's InputSupernode: the first layer of a network, of images with up to four channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.node_sums import Watched, watched
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, operand, unshared
from qops.nnlib.fused_node import Floats, FusedNode, NodeRules, Place
from qops.nnlib.node_arguments import Bias
from qops.qtensor import QTensor, TensorLike

__all__ = ["InputSupernode", "input_supernode"]

DEPTH = 4  # of an image in memory, and columns of a vector


class InputSupernode(FusedNode):
    """Prepared form of `input_supernode`; see *Supernodes* in `qops.nnlib`.

    Parameters
    ----------
    w, bias, stride, padding, guess_min, guess_max
        As `input_supernode` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        An argument that `input_supernode` refuses.

    Examples
    --------
    >>> w, bias = (np.ones((2, 2, 1, 1), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> op = qops.nnlib.InputSupernode(w, bias, (2, 2), "SAME", 0.0, 255.0)
    >>> op((np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0)).data.ravel().tolist()
    [8, 7, 13, 8]
    """

    __slots__ = ()
    _watches_more = True
    _rules = NodeRules(start=(-1 / 128, 1 / 128), fails=True)

    def __init__(
        self,
        w: TensorLike,
        bias: TensorLike,
        stride: tuple[int, int],
        padding: str,
        guess_min: float | None = None,
        guess_max: float | None = None,
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _check(self, shape: tuple[int, ...]) -> int:
        stride = self._moves[0]
        if shape[2] > DEPTH:
            raise bad_value("w", f"expected filters of up to {DEPTH} channels, got shape {shape}; see supernode")
        if stride[1] > DEPTH:
            raise bad_value("stride", f"expected at most {DEPTH} across, got {stride[1]}; see supernode")
        if stride[1] == 3:
            raise bad_value("stride", "3 across runs on older code, whose windows lie elsewhere in a way not known")
        if shape == (3, 3, 2, 2) and stride == (1, 1) and None not in self._given:
            raise bad_value("w", "filters (3, 3, 2, 2) with stride 1 and both ends given run as a supernode3322")
        return shape[3]

    def _take(self, w: NDArray[np.uint8], lo: float, hi: float, bias: Bias, scales: Floats | None) -> None:
        zero, step = level(lo, hi)
        self._ready(w, zero, step, bias, depth=DEPTH)

    def _watched(self, place: Place, sums: NDArray[np.int32]) -> list[Watched]:
        """Give the sums of whole vectors of four columns; without a left shift, a kernel forgets each third maximum."""
        width, (down, across), taps = place.size[1], self._moves[0], self._taps[1]
        parts = [sums, self._columns(place, width, -width % DEPTH)] if width % DEPTH else [sums]
        if across == 1 or (down, across, taps) == (2, 2, 3):
            return list(map(watched, parts))
        found, first = [], 0  # the place of the first column in its vector
        for part in parts:
            for column in range(min(DEPTH, part.shape[2])):
                found.append(Watched(part[:, :, column::DEPTH], needs_shift=(first + column) % DEPTH == 2))
            first = width % DEPTH
        return found


def input_supernode(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    stride: tuple[int, int],
    padding: str,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """InputSupernode_8x8p8to8 and _8x8p32to8: what nnlib makes of a supernode of images with up to four channels.

    The integers are those of `supernode` on a V60, exact sums of unsigned weights, whose channels fill up vectors of 4.
    Free ends begin with (-1/128, 1/128), and a fourth pass is an error.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C), up to 4 channels.
    w : uint8 tensor
        Filters (KH, KW, C, O).
    bias : uint8 or int32 tensor
        One code for each output channel, (O,).
    stride : (int, int)
        How many pixels a window moves, down and across: 1, 2 or 4 across.
    padding, guess_min, guess_max
        As `supernode` takes them.
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
        What `supernode` refuses; images and strides other than above; filters (3, 3, 2, 2) with stride 1 and both ends
        given, which run as `supernode3322`; results that three passes do not hold.

    See Also
    --------
    InputSupernode : the same with filters that are packed once.
    Session : a node that remembers its range.

    Notes
    -----
    A stride of 3 across runs on code that the others replaced, ``op_supernode.c``, which multiplies by 16 bits. A model
    of it gave 31 of 40 recorded cases; in the others, nearly all with SAME padding, windows lie elsewhere. So it is
    refused.

    Source: ``op_supernode_new.c``, ``inconv2dbbb_d32_v60_h.S``, ``inconv2dbbb_s1_d32_v60_h.S``,
    ``inconv2dbbb332_d32_v60_h.S``. To find a free range, whole vectors of four columns are watched, whose last ones
    may lie beyond the result, on the zero code.

    **Hazards.** The kernel of strides above 1, except for 3 wide filters with stride (2, 2), forgets the maximum of
    column 2 of each four if the left shift is 0. Such a column saturates, and the range stays too narrow:

    >>> x = np.zeros((1, 1, 7, 1), np.uint8)
    >>> w, bias = (np.full((1, 1, 1, 1), 255, np.uint8), 0.0, 0.25), (np.array([0], np.int32), -1.0, 1.0)
    >>> for column in (2, 4):
    ...     x[...] = 0
    ...     x[:, :, column] = 255
    ...     t = qops.nnlib.input_supernode((x, 0.0, 1.0), w, bias, (1, 2), "VALID", 0.0)
    ...     print(t.data.ravel().tolist(), round(t.max, 3))
    [0, 180, 0, 0] 0.354
    [0, 0, 255, 0] 0.008

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w, bias = (np.ones((2, 2, 1, 1), np.uint8), 0.0, 255.0), (np.array([0], np.int32), -1.0, 1.0)
    >>> qops.nnlib.input_supernode(x, w, bias, (1, 1), "VALID", 0.0, 255.0).data.ravel().tolist()
    [8, 12, 20, 24]
    """
    image = operand(x, "x", U8)
    op = InputSupernode._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
