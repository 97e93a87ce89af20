"""`OperatorKind`: what a kind of operator of a model file is, said once, in the file of its family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["OperatorKind"]


@dataclass(frozen=True, kw_only=True)
class OperatorKind:
    """One row of a family of operators; a format adds what only its files have.

    Attributes
    ----------
    make : callable or None
        ``make(site)`` makes the prepared op of an operator in its place. None where nothing is quantized.
    real : callable or None
        ``real(operator, values)`` gives the result in real numbers, of the values of all inputs, None for one that is
        left out. None where qops has no such formula.
    moves : callable or None
        ``moves(operator, arrays)`` gives all results of an operator that only moves elements: of codes and of values.
    cut : callable or None
        ``cut(operator, arrays, index)`` gives the smallest operator that makes one element; None if there is none.
    code : callable or None
        ``code(layer, op, graph, target)`` gives a `PortedLayer` with the constants and the C of a port; None if this
        form of the operator has no C.
    sums_for : tuple of str
        The ports whose kernels take the sums of its weights as constants.
    adds : bool
        Whether a result is a sum or mean of its data, of which large ones may cancel.
    recodes : bool
        Whether it does nothing but take values to codes, or codes to values.
    clamps : bool
        Whether it does nothing but clamp: onnxruntime, and its quantizer of models, leave it out before codes whose
        range ends where it clamps.
    """

    make: Callable[..., Any] | None = None
    real: Callable[..., Any] | None = None
    moves: Callable[..., Any] | None = None
    cut: Callable[..., Any] | None = None
    code: Callable[..., Any] | None = None
    sums_for: tuple[str, ...] = ()
    adds: bool = False
    recodes: bool = False
    clamps: bool = False
