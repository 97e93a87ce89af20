"""nnlib's SuperFC: a fully connected layer, a bias and a requantization in one node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import U8, operand, unshared
from qops.nnlib.fused_node import FusedNode, NodeRules
from qops.qtensor import QTensor, TensorLike

__all__ = ["SuperFC", "super_fc"]

UNIT, LEAST = 16, 32  # rows are of whole units, and at least so long


class SuperFC(FusedNode):
    """Prepared form of `super_fc`; see *Supernodes* in `qops.nnlib`.

    Parameters
    ----------
    w, bias, guess_min, guess_max
        As `super_fc` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        An argument that `super_fc` refuses.

    Examples
    --------
    >>> w, bias = (np.ones((1, 1, 32, 2), np.uint8), 0.0, 255.0), (np.array([0, 2**30], np.int32), -10.0, 10.0)
    >>> op = qops.nnlib.SuperFC(w, bias, 0.0, 255.0)
    >>> op((np.full((3, 1, 1, 32), 2, np.uint8), 0.0, 255.0)).data.tolist()
    [[[[64, 69], [64, 69], [64, 69]]]]
    """

    __slots__ = ()
    _axes = "(1, 1, K, O)"
    _bias_types = ()
    _rules = NodeRules(most=5, widens=False, keeps_given=True, saturates=True, rounds_zeros=False, is_rows=True)

    def __init__(
        self, w: TensorLike, bias: TensorLike, guess_min: float | None = None, guess_max: float | None = None
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _check(self, shape: tuple[int, ...]) -> int:
        if shape[:2] != (1, 1):
            raise bad_value("w", f"expected (1, 1, K, O), got shape {shape}")
        if shape[2] < LEAST or shape[2] % UNIT:
            raise bad_value("w", f"expected a multiple of {UNIT} from {LEAST} on as K, got shape {shape}")
        return shape[3]


def super_fc(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """SuperFC_8x8p32to8: a fully connected layer, a bias and a requantization in one node.

    ``value[r, o] = sum(x[r, k] * w[k, o]) + bias[o]`` of rows of K codes, as which `x` is read. The integers are those
    of exact sums in `supernode`, but::

        word = sat_s32(half_even(bias_steps * (step_bias / product) + -out_min / product))

    Free ends begin with (0, 0.5), which a first pass does not widen. After a pass a given end is not put back, nor 0 on
    a code if an end is given. After the fifth, codes stay as they are but get the range of a sixth.

    Parameters
    ----------
    x : uint8 tensor
        Any shape, of as many codes as a multiple of K.
    w : uint8 tensor
        Weights (1, 1, K, O); K is a multiple of 16 from 32 on.
    bias : int32 tensor
        One code for each output, (O,).
    guess_min, guess_max : float, optional
        Given ends of the output range, ``guess_min <= 0 <= guess_max``. What is beyond a given end saturates.
    out : uint8 array, optional
        Where the codes are written, of the shape of the result.
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        uint8 codes of shape (1, 1, rows, O).

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); shapes other than above; a range without 0.

    See Also
    --------
    SuperFC : the same with weights that are packed once.
    Session : a node that remembers its range.

    Notes
    -----
    Source: ``op_superfc.c``. QuantizedFC_8x8p8to8, which the original declares, has no code.

    **Hazards.** A large bias is beyond int32 in steps of the sums as long as the range is narrow. Words saturate then,
    each pass finds a wrong range, and the last one labels its codes with yet another:

    >>> x, w = (np.full((1, 32), 255, np.uint8), 0.0, 1.0), (np.full((1, 1, 32, 1), 255, np.uint8), -1.0, 1.0)
    >>> bias = np.array([2**30], np.int32), -(2.0**20), 2.0**20  # 524288
    >>> t = qops.nnlib.super_fc(x, w, bias)
    >>> t.data.item(), (t.min, t.max)
    (0, (-741455.1875, 2919.125))

    Examples
    --------
    >>> x, w = (np.full((2, 32), 2, np.uint8), 0.0, 255.0), (np.ones((1, 1, 32, 2), np.uint8), 0.0, 255.0)
    >>> qops.nnlib.super_fc(x, w, (np.array([0, 2**30], np.int32), -10.0, 10.0), 0.0, 255.0).data.tolist()
    [[[[64, 69], [64, 69]]]]
    """
    image = operand(x, "x", U8)
    op = SuperFC._once(locals())
    return op(image, unshared(out, w, bias), num_threads)
