"""Quantization attributes, which oneDNN calls primitive attributes: scales, zero points, post-ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._readable import shows_fields
from qops.checks import shown
from qops.onednn import _checks as check
from qops.onednn.cast import F32

__all__ = [
    "NO_ATTR",
    "Attr",
    "Eltwise",
    "PostOp",
    "Scales",
    "Sum",
    "factors_product",
    "has_sum",
    "only",
    "only_factor",
    "ops_of",
]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Scales:
    """Float32 scales: one for the tensor, or one for each index along the dimensions that a mask names.

    Parameters
    ----------
    values : array_like of float
        Finite and above zero.
    mask : int, optional
        Bit i stands for logical dimension i. A mask of 0 means one value for all.

    Raises
    ------
    TypeError, ValueError
        A scale that is not a finite number above zero; no scale at all; several scales with mask 0.

    Examples
    --------
    >>> qops.onednn.Scales([0.5, 0.25], mask=1 << 1).along((3, 2), "wei_scale", masks=(0, 2)).shape
    (1, 2)
    """

    values: F32
    mask: int

    def __init__(self, values: ArrayLike, mask: int = 0) -> None:
        mask, scales = check.int32(mask, "mask", 0), _positive(values, "values")
        if mask == 0 and scales.size != 1:
            raise bad_value("values", f"expected one with mask 0, got {scales.size}")
        self._set(scales, mask)

    def __repr__(self) -> str:
        numbers = [float(str(value)) for value in self.values[:16]]  # the shortest that are these float32 values
        shown = f"<{self.values.size} values>" if self.values.size > 16 else numbers if self.mask else numbers[0]
        return f"Scales({shown}, mask={self.mask})" if self.mask else f"Scales({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scales, (self.values, self.mask)

    def _set(self, values: F32, mask: int) -> Self:
        values.flags.writeable = False
        vars(self).update(values=values, mask=mask)
        return self

    def along(self, dims: tuple[int, ...], name: str, masks: Sequence[int]) -> F32:
        """Give the scales in a shape that broadcasts over a tensor. ValueError if mask or number does not fit.

        Parameters
        ----------
        dims : tuple of int
            Shape of the tensor.
        name : str
            What errors call the scales.
        masks : sequence of int
            The masks that are allowed.

        Returns
        -------
        ndarray of float32
            As many dimensions as the tensor: its length along the dimensions of the mask, 1 along the others.
        """
        if self.mask not in masks:
            raise bad_value(name, f"expected a mask of {sorted(masks)}, got {self.mask}")
        shape = tuple(d if self.mask >> i & 1 else 1 for i, d in enumerate(dims))
        count = int(np.prod(shape, dtype=int))
        if self.values.size != count:
            raise bad_value(name, f"expected {count} values with mask {self.mask}, got {self.values.size}")
        return self.values.reshape(shape)


@shows_fields
@dataclass(frozen=True)
class Sum:
    """Post-op: add `scale` times the destination as it was before the call.

    Product and sum are one fma, rounded once. oneDNN's reference kernels, `reorder`, and `binary` with a `dst_dt` that
    is not the type of its first source round both.

    Parameters
    ----------
    scale : float, optional
        Finite; it may be negative or 0.

    Raises
    ------
    TypeError, ValueError
        A scale that is not a finite number.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check.real(self.scale, "sum scale"))


@shows_fields
@dataclass(frozen=True)
class Eltwise:
    """Post-op: ``scale * relu(x)``, where ``relu(x) = x > 0 ? x : alpha*x``.

    Parameters
    ----------
    alg : {"relu"}, optional
        oneDNN's other curves are not modelled.
    alpha, scale : float, optional
        Finite.

    Raises
    ------
    TypeError, ValueError
        Another `alg`, a number that is not finite.
    """

    alg: str = "relu"
    alpha: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check.choice(self.alg, "eltwise alg", ["relu"])
        object.__setattr__(self, "alpha", check.real(self.alpha, "eltwise alpha"))
        object.__setattr__(self, "scale", check.real(self.scale, "eltwise scale"))


PostOp: TypeAlias = Sum | Eltwise


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Attr:
    """Quantization attributes of one primitive.

    Version 2.6 has one scale, `oscale`: it multiplies after the bias is added. Versions 3.x have three: `src_scale` and
    `wei_scale` multiply before the bias is added, `dst_scale` divides at the end. None means that nothing was given,
    which may differ from a zero point of 0.

    Parameters
    ----------
    oscale, src_scale, wei_scale, dst_scale : Scales or float, optional
    src_zp, wei_zp, dst_zp : int, optional
        Codes of real zero, of any s32 value.
    post_ops : sequence of Sum and Eltwise, optional
        They are applied in this order. A Sum before a relu gives other results than a relu before a Sum.

    Raises
    ------
    TypeError, ValueError
        What `Scales` refuses; a zero point outside s32; a post-op that is neither Sum nor Eltwise.

    Examples
    --------
    >>> qops.onednn.Attr(src_scale=0.5, src_zp=3).given
    ['src_scale', 'src_zp']
    >>> qops.onednn.Attr(src_zp=2**31)
    Traceback (most recent call last):
    ValueError: src_zp: expected an integer in [-2147483648, 2147483647], got 2147483648
    """

    oscale: Scales | None
    src_scale: Scales | None
    wei_scale: Scales | None
    dst_scale: Scales | None
    src_zp: int | None
    wei_zp: int | None
    dst_zp: int | None
    post_ops: tuple[PostOp, ...]
    given: list[str]
    """The names of the attributes that were given."""
    has_sum: bool
    """True if a post-op is a Sum, which reads the destination."""
    changes_sums: bool
    """True if anything was given but zero points of the source or the weights, which belong to the product."""

    def __init__(
        self,
        *,
        oscale: Scales | float | None = None,
        src_scale: Scales | float | None = None,
        wei_scale: Scales | float | None = None,
        dst_scale: Scales | float | None = None,
        src_zp: int | None = None,
        wei_zp: int | None = None,
        dst_zp: int | None = None,
        post_ops: Sequence[PostOp] = (),
    ) -> None:
        scales = {"oscale": oscale, "src_scale": src_scale, "wei_scale": wei_scale, "dst_scale": dst_scale}
        zeros = {"src_zp": src_zp, "wei_zp": wei_zp, "dst_zp": dst_zp}
        values: dict[str, Any] = {name: None if x is None else as_scales(x, name) for name, x in scales.items()}
        values |= {name: None if x is None else check.int32(x, name) for name, x in zeros.items()}
        values["post_ops"] = ops = ops_of(post_ops)
        given = [name for name, value in values.items() if value not in (None, ())]
        changes_sums = any(name not in ("src_zp", "wei_zp") for name in given)
        vars(self).update(values, given=given, has_sum=has_sum(ops), changes_sums=changes_sums)

    def __repr__(self) -> str:
        words = [f"{name}={getattr(self, name)!r}" for name in self.given]
        return f"Attr({', '.join(words)})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (
            "NO_ATTR" if self is NO_ATTR else (partial(Attr, **{name: getattr(self, name) for name in self.given}), ())
        )

    @property
    def has_late_sum(self) -> bool:
        """True if a Sum follows another post-op. oneDNN's GEMM cannot do that; its reference kernel takes over."""
        return has_sum(self.post_ops[1:])


def only(attr: Attr, *names: str) -> Attr:
    """Give `attr`, if nothing is given in it but what a primitive takes."""
    check.instance(attr, "attr", Attr)
    for name in attr.given:
        if name not in names:
            raise bad_value(name, f"not supported here, got {shown(getattr(attr, name))}")
    return attr


def as_scales(scale: Scales | float, name: str) -> Scales:
    """Give `scale`, the argument `name`, as Scales."""
    if isinstance(scale, Scales):
        return scale
    values = _positive(scale, name)
    if values.size != 1:
        raise bad_value(name, f"expected one number or Scales, got {shown(scale)}")
    return Scales.__new__(Scales)._set(values, 0)


def only_factor(q: Scales, name: str) -> float:
    """Give the single value of `q`, whose mask must be 0."""
    check.instance(q, name, Scales)
    if q.mask != 0:
        raise bad_value(name, f"expected mask 0, got {q.mask}")
    return float(q.values[0])


def factors_product(q_a: Scales, q_w: Scales) -> NDArray[np.float64]:
    """Give Q_a*Q_w in float64: one value, or one for each channel."""
    check.instance(q_w, "q_w", Scales)
    return only_factor(q_a, "q_a") * q_w.values.astype(np.float64)


def ops_of(post_ops: Sequence[PostOp]) -> tuple[PostOp, ...]:
    """Give the members of `post_ops`, if each is one of those modelled."""
    ops = check.sequence(post_ops, "post_ops")
    for op in ops:
        if not isinstance(op, (Sum, Eltwise)):
            raise bad_type("post_ops", f"expected Sum or Eltwise, got {shown(op)}")
    return tuple(ops)


def has_sum(ops: Sequence[PostOp]) -> bool:
    """Tell whether one of them is a Sum, which reads the destination."""
    return any(isinstance(op, Sum) for op in ops)


def _positive(values: ArrayLike, name: str) -> F32:
    given = check.as_array(values, name)
    if given.dtype.kind not in "iuf":
        raise bad_type(name, f"expected numbers, got {shown(values)}")
    with np.errstate(over="ignore"):
        scales = given.astype(np.float32).reshape(-1)
    if scales.size == 0 or not (np.isfinite(scales) & (scales > 0)).all():
        raise bad_value(name, f"expected finite values above zero, got {shown(values)}")
    return scales


NO_ATTR = Attr()
"""No scale, no zero point, no post-op."""
