"""`QLinearBinary`, the base of QLinearAdd and QLinearMul: two tensors that broadcast, by a rule of `qops.rules`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import rules
from qops._kernels.arrays.refusal import bad_type, bad_value, renamed
from qops.checks import broadcast_shape, put
from qops.onnx import _checks as check
from qops.onnx.by_type import ByType, codes, scale_above_0, zero_of

__all__ = ["QLinearBinary"]

Rule = rules.Add | rules.Mul
_NUMBERS = (("A_scale", "A_zero_point"), ("B_scale", "B_zero_point"), ("C_scale", "C_zero_point"))


class QLinearBinary(ByType):
    """Two tensors of codes into a third. The first of the two rules takes A and B, the second B and A."""

    __slots__ = ()

    _rule: ClassVar[type[Rule]]

    def __init__(
        self,
        A_scale: ArrayLike,
        A_zero_point: ArrayLike | None,
        B_scale: ArrayLike,
        B_zero_point: ArrayLike | None,
        C_scale: ArrayLike,
        C_zero_point: ArrayLike | None = 0,
        *,
        runtime: str = "ort",
    ) -> None:
        runtime = check.own_runtime(runtime)
        self._make(locals())

    @property
    def rule(self) -> str:
        """The rule of `qops.rules` that this runtime has for these scales."""
        raise NotImplementedError

    def _check(self) -> None:
        for scale, _ in _NUMBERS:
            self._scale(scale)

    def _of(self, dtype: np.dtype[Any]) -> tuple[Rule, Rule]:
        return self._ruled(dtype, False), self._ruled(dtype, True)

    def _scale(self, name: str) -> float:
        return float(scale_above_0(self._arguments[name], name))

    def _zero(self, name: str, dtype: np.dtype[Any]) -> int:
        return zero_of(self._arguments[name], name, dtype)

    def _ruled(self, dtype: np.dtype[Any], is_exchanged: bool) -> Rule:
        """Give the rule that takes A and B, or B and A."""
        numbers: dict[str, Any] = {"dtype": dtype}
        for letter, (scale, zero) in zip("bay" if is_exchanged else "aby", _NUMBERS, strict=True):
            numbers[f"{letter}_scale"] = self._scale(scale)
            numbers[f"{letter}_zero_point"] = self._zero(zero, dtype)
        try:
            return self._rule(self.rule, **numbers)
        except ValueError as why:
            raise renamed(why, "A_scale, B_scale, C_scale") from None

    def __call__(self, A: ArrayLike, B: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `A` and `B`, in `out` if it is given."""
        a, b = codes(A, "A"), codes(B, "B")
        if a.dtype != b.dtype:
            raise bad_type("B", f"expected {a.dtype} data as A, got {b.dtype}")
        is_exchanged = _exchanged(a.shape, b.shape)
        made = self._made_for.get(a.dtype)
        rule = made[is_exchanged] if made else self._ruled(a.dtype, is_exchanged)
        if a.shape == b.shape:
            check.out(out, a.dtype, a.shape, a, b)
            return rule(b, a, out) if is_exchanged else rule(a, b, out)
        try:
            shape = broadcast_shape(a.shape, b.shape)
        except ValueError:
            raise bad_value("A, B", f"shapes {a.shape} and {b.shape} do not broadcast") from None
        check.out(out, a.dtype, shape, a, b)
        a, b = (b, a) if is_exchanged else (a, b)
        return put(rule(*(np.ascontiguousarray(np.broadcast_to(x, shape)) for x in (a, b))), out)


def _exchanged(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether onnxruntime's inner loop sees A as one number, and exchanges the two.

    It runs along the last axis of both that is longer than 1; if none is, along the first that both have.
    """
    if not a or not b:
        return not a or a[-1] <= 1
    both = list(zip(a[::-1], b[::-1], strict=False))
    return next((m <= 1 for m, n in both if max(m, n) > 1), True)
