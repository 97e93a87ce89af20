"""Where the result of a primitive goes: its shape and type, what was there before, and the float32 steps on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.onednn import destination as kernels
from qops._kernels.stage.prepared import PreparedStage
from qops.onednn import _checks as check
from qops.onednn.cast import DTYPES, F32, ROWS, store, to_f32
from qops.qtensor import check_out, put

__all__ = ["Destination", "Step", "codes_of", "destination", "fma", "made"]

Step: TypeAlias = tuple[str, F32 | np.float32 | float]
"""A step of `qops._kernels.onednn.steps` and its operand."""

BLOCK = 1 << 14
"""Values that are stored at once where codes take their place: they stay in the cache."""

TERMS = (("plus", "add", 1.0), ("scale", "multiply", 1.0), ("minus", "add", -1.0))
"""The terms of a store, the last one first: what it is called, which step it stands for, the sign of its operand."""


class Destination(NamedTuple):
    """The tensor that a primitive writes."""

    shape: tuple[int, ...]
    dt: str
    """oneDNN's name of its data type."""
    out: NDArray[Any] | None
    """Where the caller wants the result; None for a new array."""
    old: NDArray[Any] | None
    """The destination before the call, which a Sum adds."""

    @property
    def typenum(self) -> int:
        """Numpy's number of its type."""
        return np.dtype(DTYPES[self.dt]).num

    def channels_last(self, axis: int) -> Destination:
        """Give the same destination with the channels moved from `axis` to the end."""
        if axis == len(self.shape) - 1:
            return self
        shape, dt, out, old = self
        order = (*range(axis), *range(axis + 1, len(shape)), axis)
        last = (*shape[:axis], *shape[axis + 1 :], shape[axis])
        out, old = out if out is None else out.transpose(order), old if old is None else old.transpose(order)
        return Destination(last, dt, out, old)

    def put(self, result: NDArray[Any]) -> NDArray[Any]:
        """Give codes that are ready, in `out` if there is one."""
        return put(result, self.out)

    def store(self, x: NDArray[Any], steps: Sequence[Step] = (), *, is_scratch: bool = True) -> NDArray[Any]:
        """Make the steps on `x`, saturate, and round half to even.

        The last sums and products are left to the store, which makes them while it reads `x`.

        Parameters
        ----------
        x : ndarray of int32 or float32
        steps : sequence of Step, optional
            An array among the operands runs along the last axes of `x`.
        is_scratch : bool, optional
            The memory of `x` may be used for the steps, and for an s32 result.

        Returns
        -------
        ndarray of `dt`

        Raises
        ------
        ValueError
            A NaN that has to become an integer.
        """
        left, terms = terms_of(steps, self.dt)
        if left and x.dtype == np.int32 and self.dt != "f32" and x.flags.carray:
            codes = self.codes(x, left, terms, is_scratch)
            if codes is not None:
                return codes
        if left or self.dt == "f32":
            x = made(x if is_scratch else to_f32(x), left, self.old)
        if self.dt != "s32" or self.out is not None or not (is_scratch and x.flags.carray):
            return store(x, self.dt, self.out, **terms)
        values, codes = x.reshape(-1), x.view(np.int32).reshape(-1)
        for start in range(0, x.size, BLOCK):  # s32 codes take the place of the values, as new memory costs more
            part = slice(start, start + BLOCK)
            codes[part] = store(values[part], self.dt, None, **terms)
        return codes.reshape(x.shape)

    def codes(
        self, x: NDArray[np.int32], steps: Sequence[Step], terms: dict[str, float], is_scratch: bool = True
    ) -> NDArray[Any] | None:
        """Give the codes of sums in C order, in one pass; None if that cannot be done, and then nothing was."""
        out = self.out
        if out is None:
            out = x if is_scratch and self.dt == "s32" else np.empty(x.shape, DTYPES[self.dt])
        if not out.flags.carray:
            return None
        row = {**ROWS[self.dt], **terms}
        return out if kernels.finish_codes(x, steps, as_floats(self.old), row, out) else None


def terms_of(steps: Sequence[Step], dt: str) -> tuple[list[Step], dict[str, float]]:
    """Give the steps to be made before a store, and the terms that it makes in place of the others.

    Codes do not tell -0 from 0, so on the way to them 0 is not added.
    """
    left = [(name, v.item() if isinstance(v, np.ndarray) and v.size == 1 else v) for name, v in steps]
    terms: dict[str, float] = {}
    if dt == "f32":
        return left, terms
    left = [(name, v) for name, v in left if name != "add" or isinstance(v, np.ndarray) or v != 0]
    for term, name, sign in TERMS:
        if left and left[-1][0] == name and not isinstance(left[-1][1], np.ndarray):
            value = float(left[-1][1])
            if isfinite(value) and (value or name == "add"):
                terms[term] = sign * value
                left.pop()
    return left, terms


def codes_of(steps: Sequence[Step], dt: str) -> PreparedStage | None:
    """Give what makes codes of sums in one pass; None for f32, or if a float might not be finite."""
    left, terms = terms_of(steps, dt)
    return None if dt == "f32" else kernels.kept_codes(left, {**ROWS[dt], **terms})


def destination(
    shape: tuple[int, ...],
    dt: str,
    out: NDArray[Any] | None,
    inputs: Iterable[object],
    dst_in: ArrayLike | None = None,
    *,
    has_sum: bool = False,
) -> Destination:
    """Check where a result of this shape and type goes.

    `out` must fit, and must not overlap an input unless it is that input. `dst_in` must fit, and is needed by a Sum.
    """
    if dst_in is not None:
        old = check.shape(check.array(dst_in, "dst_in", [DTYPES[dt]]), "dst_in", shape)
    elif has_sum:
        raise ValueError("dst_in: expected the destination before the call, for the Sum in post_ops, got None")
    if out is not None:
        apart = [x for x in (*inputs, dst_in) if isinstance(x, np.ndarray) and x is not out]
        check_out(out, np.dtype(DTYPES[dt]).num, shape, apart)
    return Destination(shape, dt, out, None if dst_in is None else old)


def made(x: NDArray[Any], steps: Sequence[Step], old: NDArray[Any] | None = None) -> F32:
    """Make the steps on `x`, in its memory if it is in C order."""
    return kernels.finish(np.asarray(x, order="C"), steps, as_floats(old))


def as_floats(x: NDArray[Any] | None) -> F32 | None:
    """Give `x` as float32 in C order, if there is one."""
    return None if x is None else np.asarray(x, np.float32, order="C")


def fma(x: F32, factor: float, addend: float) -> F32:
    """``x*factor + addend`` in float32, rounded once.

    Examples
    --------
    >>> x = np.float32([1 + 2**-12])
    >>> fma(x, x[0], -1), x * x[0] - np.float32(1)
    (array([0.00048834], dtype=float32), array([0.00048828], dtype=float32))
    """
    return made(np.full(x.shape, addend, np.float32), [("fma", factor)], x)
