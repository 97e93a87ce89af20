"""Where the result of a primitive goes, and its epilogue: the float32 operations on the way there, prepared once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.onednn import destination as kernels
from qops.checks import check_out, put
from qops.onednn import _checks as check
from qops.onednn.cast import DTYPES, F32, stage_of, store, to_f32

__all__ = ["PLAIN", "Destination", "Epilogue", "FloatOp", "destination", "fma", "made"]

FloatOp: TypeAlias = tuple[str, F32 | np.float32 | float]
"""An operation of `qops._kernels.stage.post_ops` and its operand."""


class Destination(NamedTuple):
    """The tensor that a primitive writes."""

    shape: tuple[int, ...]
    out: NDArray[Any] | None
    """Where the caller wants the result; None for a new array."""
    old: NDArray[Any] | None
    """The destination before the call, which a Sum adds."""

    def channels_last(self, axis: int) -> Destination:
        """Give the same destination with the channels moved from `axis` to the end."""
        shape, out, old = self
        order = (*range(axis), *range(axis + 1, len(shape)), axis)
        last = (*shape[:axis], *shape[axis + 1 :], shape[axis])
        return Destination(
            last, None if out is None else out.transpose(order), old if old is None else old.transpose(order)
        )


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
        old = check.shape(check.array(dst_in, "dst_in", [np.dtype(DTYPES[dt]).name]), "dst_in", shape)
    elif has_sum:
        raise bad_value("dst_in", "expected the destination before the call, for the Sum in post_ops, got None")
    if out is not None:
        apart = [x for x in (*inputs, dst_in) if isinstance(x, np.ndarray) and x is not out]
        check_out(out, np.dtype(DTYPES[dt]).num, shape, apart)
    return Destination(shape, out, None if dst_in is None else old)


class Epilogue:
    """What one kernel does to values on their way to a destination of type `dt`: float32 operations, then the store.

    The store saturates and rounds half to even. An operand that is an array runs along the last axes of the values.
    `is_plain`: s32 sums are stored as they are.
    """

    __slots__ = ("dt", "is_plain", "stage")

    def __init__(self, dt: str, float_ops: Sequence[FloatOp] = (), is_plain: bool = False) -> None:
        self.dt, self.is_plain = dt, is_plain
        self.stage = kernels.PostOpStage(float_ops, None if dt == "f32" else stage_of(dt))

    def finish(self, x: NDArray[Any], dst: Destination, via_f32: bool = False, is_scratch: bool = True) -> NDArray[Any]:
        """Give the destination of int32 sums or float32 values, whose channels are last, as those of `dst` are.

        `via_f32`: even a plain s32 result passes through float32. `is_scratch`: the memory of `x` may be used for the
        operations, and for an s32 result. ValueError for a NaN that has to become an integer.
        """
        if self.is_plain and not via_f32:
            return put(x, dst.out)
        out, old = dst.out, as_floats(dst.old)
        if x.dtype == np.int32 and self.stage.is_finite and x.flags.carray:
            if out is None:
                out = x if is_scratch and self.dt == "s32" else np.empty(x.shape, DTYPES[self.dt])
            if out.flags.carray:
                self.stage.codes(x, old, out)
                return out
        values = self.stage.floats(np.asarray(x if is_scratch else to_f32(x), order="C"), old)
        return store(values, self.dt, out, names="attr")


PLAIN = Epilogue("s32", is_plain=True)


def made(x: NDArray[Any], float_ops: Sequence[FloatOp], old: NDArray[Any] | None = None) -> F32:
    """Make the operations on `x`, in its memory if it is in C order."""
    return kernels.finish(np.asarray(x, order="C"), float_ops, as_floats(old))


def as_floats(x: NDArray[Any] | None) -> F32 | None:
    """Give `x` as float32 in C order, aligned, if there is one."""
    return None if x is None else np.require(x, np.float32, ["C", "A"])


def fma(x: F32, factor: float, addend: float) -> F32:
    """``x*factor + addend`` in float32, rounded once.

    Examples
    --------
    >>> from qops.onednn.destination import fma
    >>> x = np.array([1 + 2**-12], np.float32)
    >>> fma(x, x[0], -1), x * x[0] - np.float32(1)
    (array([0.00048834], dtype=float32), array([0.00048828], dtype=float32))
    """
    return made(np.full(x.shape, addend, np.float32), [("fma", factor)], x)
