"""The int8 workflow of DNNL 1.2: from sampled float32 tensors to codes, to an s32 result, and back.

With R = max|T| of a tensor T, Q_a = 255/R_a and Q_w = 127/R_w are the factors of activations and weights. Codes are
a_u8 = [Q_a*a], W_s8 = [Q_w*W], b_s32 = [Q_a*Q_w*b]. Then X_s32 = W_s8*a_u8 + b_s32 is about Q_a*Q_w*X_f32.

Source: the page "Int8 Inference" of the documentation of DNNL 1.2.

**Hazards.** The text says that [ ] rounds half to even, but its worked example truncates. So each function here takes
the `rounding`: "half_even" or "truncate".

>>> q_w = qops.onednn.workflow.weights_factor(np.array([-5.1, 6.8, -1.2, 9.8], np.float32))
>>> [
...     qops.onednn.workflow.quantize_weights(np.array([-5.1, 6.8, -1.2, 9.8], np.float32), q_w, rounding=r).tolist()
...     for r in qops.onednn.workflow.ROUNDINGS
... ]
[[-66, 88, -16, 127], [-66, 88, -15, 127]]
"""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import integer
from qops.onednn import _checks as check
from qops.onednn.attr import Scales, factors_product, only_factor
from qops.onednn.cast import F32
from qops.onednn.dot import S8, S32, U8

__all__ = [
    "ACTIVATION_TOP",
    "ROUNDINGS",
    "WEIGHT_TOP",
    "activations_factor",
    "dequantize",
    "output_scale",
    "quantize_activations",
    "quantize_bias",
    "quantize_weights",
    "weights_factor",
]

ROUNDINGS = {"half_even": np.rint, "truncate": np.trunc}
ACTIVATION_TOP, WEIGHT_TOP = codes.TABLE["u8"].highest, codes.TABLE["s8"].highest
"""The codes of R. Activations are not negative and use all of u8; weights are symmetric."""


@refusing_unknown
def activations_factor(activations: ArrayLike, bits: int = 8, **unknown: Never) -> Scales:
    """Give Q_a = 255/R, the factor of activations, where R is the largest of them.

    With 7 `bits` it is 127/R, and no pair saturates while no activation is above R. Larger ones are not clamped to R.

    Parameters
    ----------
    activations : ndarray of float32, any shape
    bits : int, optional
        Bits of the code of R, in [2, 8].

    Returns
    -------
    Scales of one factor, mask 0

    Raises
    ------
    TypeError, ValueError
        Another dtype; values that are not finite, negative, or all zero; `bits` outside [2, 8].

    Examples
    --------
    >>> qops.onednn.workflow.activations_factor(np.array([15, 14, 15, 8, 11], np.float32)).values
    array([17.], dtype=float32)
    >>> q_a = qops.onednn.workflow.activations_factor(np.array([15], np.float32), bits=7)
    >>> qops.onednn.workflow.quantize_activations(np.array([15, 18], np.float32), q_a)
    array([127, 152], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(activations_factor, unknown)
    top, data = ACTIVATION_TOP >> (8 - check.int32(bits, "bits", 2, 8)), check.finite(activations, "activations")
    if (data < 0).any():
        raise bad_value("activations", f"expected no negative values, got {data.min()}")
    return Scales(top / _peak(data, "activations", 0))


@refusing_unknown
def weights_factor(weights: ArrayLike, mask: int = 0, bits: int = 8, **unknown: Never) -> Scales:
    """Give Q_w = 127/R_w, the factor of weights: one for all of them, or one for each channel.

    With 7 `bits` it is 63/R_w, and no pair saturates with any source.

    Parameters
    ----------
    weights : ndarray of float32, any shape
    mask : int, optional
        Bit i stands for dimension i of the weights. There is one factor for each index along these; 0: one for all.
    bits : int, optional
        Bits of the code of R_w, in [2, 8].

    Returns
    -------
    Scales with the same mask

    Raises
    ------
    TypeError, ValueError
        Another dtype; weights that are not finite, or all zero in a channel; a mask of more dimensions than there are;
        `bits` outside [2, 8].

    Examples
    --------
    >>> qops.onednn.workflow.weights_factor(np.array([[1, 2], [-4, 0]], np.float32), mask=1 << 0).values
    array([63.5 , 31.75], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(weights_factor, unknown)
    top, mask = WEIGHT_TOP >> (8 - check.int32(bits, "bits", 2, 8)), check.int32(mask, "mask", 0)
    return Scales((top / _peak(check.finite(weights, "weights"), "weights", mask)).ravel(), mask)


@refusing_unknown
def quantize_activations(activations: ArrayLike, q_a: Scales, rounding: str = "half_even", **unknown: Never) -> U8:
    """Give a_u8 = [Q_a*a], saturated to [0, 255].

    Parameters
    ----------
    activations : ndarray of float32, any shape
        Negative values become 0.
    q_a : Scales
        What `activations_factor` gives.
    rounding : {"half_even", "truncate"}, optional
        What [ ] does; "truncate" rounds toward zero.

    Returns
    -------
    ndarray of uint8, the shape of `activations`

    Raises
    ------
    TypeError, ValueError
        Another dtype, values that are not finite, factors that do not fit the shape, an unknown `rounding`.

    Examples
    --------
    >>> [
    ...     qops.onednn.workflow.quantize_activations(
    ...         np.array([0.5, 14.9, 99], np.float32), qops.onednn.Scales(17.0), r
    ...     ).tolist()
    ...     for r in qops.onednn.workflow.ROUNDINGS
    ... ]
    [[8, 253, 255], [8, 253, 255]]
    """
    if unknown:
        raise unknown_keyword(quantize_activations, unknown)
    return _codes_of(activations, ("activations", "q_a"), q_a, rounding, 0, ACTIVATION_TOP).astype(np.uint8)


@refusing_unknown
def quantize_weights(weights: ArrayLike, q_w: Scales, rounding: str = "half_even", **unknown: Never) -> S8:
    """Give W_s8 = [Q_w*W], saturated to [-127, 127].

    Parameters
    ----------
    weights : ndarray of float32, any shape
    q_w : Scales
        What `weights_factor` gives.
    rounding : optional
        See `quantize_activations`.

    Returns
    -------
    ndarray of int8, the shape of `weights`

    Raises
    ------
    TypeError, ValueError
        Another dtype, values that are not finite, factors that do not fit the shape, an unknown `rounding`.

    Examples
    --------
    >>> qops.onednn.workflow.quantize_weights(
    ...     np.array([[1, 2], [-4, 9]], np.float32), qops.onednn.Scales([63.5, 31.75], mask=1)
    ... )
    array([[  64,  127],
           [-127,  127]], dtype=int8)
    """
    if unknown:
        raise unknown_keyword(quantize_weights, unknown)
    return _codes_of(weights, ("weights", "q_w"), q_w, rounding, -WEIGHT_TOP, WEIGHT_TOP).astype(np.int8)


@refusing_unknown
def quantize_bias(bias: ArrayLike, q_a: Scales, q_w: Scales, rounding: str = "half_even", **unknown: Never) -> S32:
    """Give b_s32 = [Q_a*Q_w*b], saturated to s32.

    Parameters
    ----------
    bias : ndarray of float32, (C,)
        One value for each channel.
    q_a, q_w : Scales
        What `activations_factor` and `weights_factor` give; `q_w` is one factor, or C.
    rounding : optional
        See `quantize_activations`.

    Returns
    -------
    ndarray of int32, (C,)

    Raises
    ------
    TypeError, ValueError
        Another dtype or shape, values that are not finite, another number of factors, a `q_a` whose mask is not 0, an
        unknown `rounding`.

    Examples
    --------
    >>> qops.onednn.workflow.quantize_bias(
    ...     np.array([2.4, -5.2, -8], np.float32), qops.onednn.Scales(17.0), qops.onednn.Scales(127 / 9.8), "truncate"
    ... )
    array([  528, -1145, -1762], dtype=int32)
    """
    if unknown:
        raise unknown_keyword(quantize_bias, unknown)
    factor = factors_product(q_a, q_w)
    values = check.finite(bias, "bias", 1)
    if factor.size not in (1, values.size):
        raise bad_value("bias", f"expected {factor.size} values, one for each channel, got {values.size}")
    check.choice(rounding, "rounding", ROUNDINGS)
    steps = ROUNDINGS[rounding](values.astype(np.float64) * factor)
    return np.clip(steps, codes.TABLE["s32"].lowest, codes.TABLE["s32"].highest).astype(np.int32)


@refusing_unknown
def dequantize(x: ArrayLike, q_a: Scales, q_w: Scales, axis: int = -1, **unknown: Never) -> F32:
    """Give X_f32 = X_s32 / (Q_a*Q_w), computed in float64 and rounded to float32.

    Parameters
    ----------
    x : ndarray of int32
        Sums of products.
    q_a, q_w : Scales
        What `activations_factor` and `weights_factor` give; `q_w` is one factor, or one for each channel.
    axis : int, optional
        The axis of the channels.

    Returns
    -------
    ndarray of float32, the shape of `x`

    Raises
    ------
    TypeError, ValueError
        Another dtype, another number of channels than factors, a `q_a` whose mask is not 0, results beyond float32.

    Examples
    --------
    >>> qops.onednn.workflow.dequantize(
    ...     np.array([[220, 220]], np.int32), qops.onednn.Scales(10.0), qops.onednn.Scales([2.0, 4.0], mask=1)
    ... )
    array([[11. ,  5.5]], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(dequantize, unknown)
    axis = check.int32(axis, "axis")
    acc, factor = check.array(x, "x", ["int32"]), factors_product(q_a, q_w)
    if factor.size > 1:
        if acc.ndim == 0:
            raise bad_value("x", f"expected an axis of {factor.size} channels, got a single element")
        check.int32(axis, "axis", -acc.ndim, acc.ndim - 1)
        if acc.shape[axis] != factor.size:
            raise bad_value("x", f"expected {factor.size} channels along axis {axis}, got shape {acc.shape}")
        factor = factor.reshape([-1 if i == axis % acc.ndim else 1 for i in range(acc.ndim)])
    with np.errstate(over="ignore"):
        values = (acc / factor).astype(np.float32)
    if not np.isfinite(values).all():
        raise bad_value("q_a, q_w", f"expected factors that keep x in float32, got {q_a.values} and {q_w.values}")
    return values


@refusing_unknown
def output_scale(q_a: Scales, q_w: Scales, q_dst: Scales | None = None, mask: int = 1 << 1, **unknown: Never) -> Scales:
    """Give Q_dst / (Q_a*Q_w), the oscale that leads from X_s32 to codes of a destination, or to float32.

    Parameters
    ----------
    q_a, q_w : Scales
        What `activations_factor` and `weights_factor` give; `q_w` is one factor, or one for each channel.
    q_dst : Scales, optional
        The factor of the destination, mask 0. Without it the destination is float32, and Q_dst is 1.
    mask : int, optional
        The mask of the result if `q_w` has several factors: 2 if the channels are dimension 1 of the destination.

    Returns
    -------
    Scales, with mask 0 if `q_w` is one factor

    Raises
    ------
    TypeError, ValueError
        A `q_a` or `q_dst` whose mask is not 0, a `mask` of 0 for several factors, a scale beyond float32.

    Examples
    --------
    >>> qops.onednn.workflow.output_scale(qops.onednn.Scales(10.0), qops.onednn.Scales([2.0, 4.0], mask=1))
    Scales([0.05, 0.025], mask=2)
    """
    if unknown:
        raise unknown_keyword(output_scale, unknown)
    top = 1.0 if q_dst is None else only_factor(q_dst, "q_dst")
    scale = top / factors_product(q_a, q_w)
    mask = check.int32(mask, "mask", 1 if scale.size > 1 else 0)
    return Scales(scale, mask if scale.size > 1 else 0)


def _peak(x: F32, name: str, mask: int) -> NDArray[np.float64]:
    """Give R = max|T| of the whole tensor, or of each slice along the dimensions in `mask`."""
    integer(mask, "mask", 0, (1 << x.ndim) - 1)
    rest = tuple(i for i in range(x.ndim) if not mask >> i & 1)
    found = np.asarray(np.abs(x).max(axis=rest, initial=0), np.float64)
    if not (found > 0).all():
        raise bad_value(name, "expected a nonzero value in every channel, got a peak of 0")
    return found


def _codes_of(x: ArrayLike, names: tuple[str, str], q: Scales, rounding: str, low: int, top: int) -> NDArray[Any]:
    """Give [q*x], clamped to [low, top]."""
    name, factor_name = names
    check.instance(q, factor_name, Scales)
    check.choice(rounding, "rounding", ROUNDINGS)
    data = check.finite(x, name)
    factor = q.along(data.shape, factor_name, range(1 << data.ndim)).astype(np.float64)
    return np.asarray(np.clip(ROUNDINGS[rounding](data * factor), low, top))
