"""nnlib's Supernode3322: a convolution of two channels with two filters of 3 x 3, in a given range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.ranges import level
from qops.checks import U8, operand, real, unshared
from qops.nnlib.fused_node import Floats, FusedNode, NodeRules
from qops.nnlib.node_arguments import Bias
from qops.nnlib.node_range import Given, given_ends
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike

__all__ = ["Supernode3322", "supernode3322"]

SHAPE = (3, 3, 2, 2)


class Supernode3322(FusedNode):
    """Prepared form of `supernode3322`; see *Supernodes* in `qops.nnlib`.

    Parameters
    ----------
    w, bias, padding, min, max
        As `supernode3322` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        An argument that `supernode3322` refuses.

    Examples
    --------
    >>> w, bias = (np.ones((3, 3, 2, 2), np.uint8), 0.0, 255.0), (np.array([0, 9], np.uint8), 0.0, 255.0)
    >>> op = qops.nnlib.Supernode3322(w, bias, "VALID", 0.0, 255.0)
    >>> op((np.full((1, 3, 3, 2), 2, np.uint8), 0.0, 255.0)).data.ravel().tolist()
    [36, 45]
    """

    __slots__ = ()
    _axes = "(3, 3, 2, 2)"
    _rules = NodeRules(rounds_zeros=False, counts_steps=True)

    def __init__(self, w: TensorLike, bias: TensorLike, padding: str, min: float, max: float) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _ends(self) -> Given:
        return given_ends(real(self.min, "min"), real(self.max, "max"), ("min", "max"))

    def _words(self) -> dict[str, Any]:
        return {"min": self._given[0], "max": self._given[1]}

    def _check(self, shape: tuple[int, ...]) -> int:
        if shape != SHAPE:
            raise bad_value("w", f"expected shape {SHAPE}, got {shape}")
        return shape[3]

    def _take(self, w: NDArray[np.uint8], lo: float, hi: float, bias: Bias, scales: Floats | None) -> None:
        self._ready(w, quantize_uint8(0.0, lo, hi), level(lo, hi)[1], bias)
        self._first.move(*self._given)  # the given range, which is not adjusted


def supernode3322(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    padding: str,
    min: float,
    max: float,
    *,
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """Supernode3322_8x8p8to8 and _8x8p32to8: what nnlib makes of a supernode of two channels and two filters of 3 x 3.

    The zeros are `quantize_uint8` of 0, the sums are exact, and the range is the given one, which is not adjusted::

        T = half_even((max - min) / product)       multiplier = trunc(255 * 2**31 / T)
        word = half_even(bias_steps * (step_bias / product) + -min / product)
        code = sat_u8((wrap_s32((sum + word) << shift) * multiplier + 2**30) >> 31)

    While the multiplier is 2**31 or more, shift grows by one, and ``multiplier = trunc(255 * 2**31 / ((T + 1) <<
    shift))``.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, 2).
    w : uint8 tensor
        Filters (3, 3, 2, 2).
    bias : uint8 or int32 tensor
        One code for each output channel, (2,).
    padding : {"VALID", "SAME", "SAME_CAFFE"}
        As `quantized_conv2d_8x8to32` takes it; windows move by one pixel.
    min, max : float
        The output range, ``min <= 0 <= max``.
    out : uint8 array, optional
        Where the codes are written, of the shape of the result.
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, 2).

    Raises
    ------
    TypeError, ValueError
        What `supernode` refuses; other filters; a range of no step, or of 2**31 steps or more.

    See Also
    --------
    Supernode3322 : the same with filters that are packed once.

    Notes
    -----
    Source: ``gvconv3322bbb_h.S`` and the node that prepare puts it in.

    **Hazards.** The range has a whole number T of steps of the sums. If these are few, codes are far off:

    >>> x, w = (np.ones((1, 3, 3, 2), np.uint8), 0.0, 255.0), (np.zeros((3, 3, 2, 2), np.uint8), 0.0, 255.0)
    >>> w[0][1, 1, 0] = 1  # each sum is 1.0, code 182 of the range (0, 1.4)
    >>> qops.nnlib.supernode3322(
    ...     x, w, (np.array([0, 0], np.uint8), 0.0, 255.0), "VALID", 0.0, 1.4
    ... ).data.ravel().tolist()
    [128, 128]

    Examples
    --------
    >>> x, w = (np.full((1, 3, 3, 2), 2, np.uint8), 0.0, 255.0), (np.ones((3, 3, 2, 2), np.uint8), 0.0, 255.0)
    >>> qops.nnlib.supernode3322(
    ...     x, w, (np.array([0, 9], np.uint8), 0.0, 255.0), "VALID", 0.0, 255.0
    ... ).data.ravel().tolist()
    [36, 45]
    """
    image = operand(x, "x", U8)
    op = Supernode3322._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
