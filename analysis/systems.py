"""The forms of an 8-bit add that are compared: the front door's, nnlib's and TensorFlow's, fused and as a chain.

Fused: 8p8to8, codes straight to codes, the output range guessed or found on the way. Chain: add 8p8to32, look at the
range that the sums span, requantize 32to8.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import (
    ErrorReport,
    QTensor,
    error,
    nnlib,
    quantized_add_8p8to8,
    quantized_add_8p8to32,
    requantize_32to8,
    tensorflow,
)
from qops.frontdoor.error import values

Range = tuple[float, float]
Answer = tuple[QTensor, int]  # with the passes over the data


class System(NamedTuple):
    """One form of the add; `add` takes two tensors and a guess, or None."""

    name: str
    colour: str
    dashes: str
    add: Callable[[QTensor, QTensor, Range | None], Answer]


class Sum(NamedTuple):
    """What a system made of two tensors, and how far that is from their sum."""

    system: System
    tensor: QTensor
    passes: int
    report: ErrorReport
    off: NDArray[np.float64]  # signed error of every element, in LSB


def _qops_fused(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
    total, info = quantized_add_8p8to8(a, b, guess, return_info=True)
    return total, info.passes


def _qops_chain(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
    acc = quantized_add_8p8to32(a, b)
    return requantize_32to8(acc, *(guess or ())), 2 if guess else 3


def _nnlib_fused(form: Literal["flat", "spec"]) -> Callable[[QTensor, QTensor, Range | None], Answer]:
    def fused(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
        node = nnlib.QuantizedAdd8p8to8(*(guess or ()), form=form)
        return node(a, b), node.passes

    return fused


def _nnlib_chain(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
    acc = nnlib.quantized_add_8p8to32(a, b)
    if guess:
        return nnlib.requantize_32to8(acc, *guess), 2
    return nnlib.quantize_down_and_shrink_range_32to8(acc), 3


def _tensorflow_chain(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
    acc = tensorflow.quantized_add(a, b)
    return tensorflow.requantize(acc, *(guess or tensorflow.requantization_range(acc))), 2 if guess else 3


FUSED = (
    System("qops 8p8to8", "#0072b2", "-", _qops_fused),
    System("nnlib 8p8to8 flat", "#e69f00", "-", _nnlib_fused("flat")),
    System("nnlib 8p8to8 spec", "#cc3311", "-", _nnlib_fused("spec")),
)
CHAIN = (
    System("qops chain", "#0072b2", "--", _qops_chain),
    System("nnlib chain", "#e69f00", "--", _nnlib_chain),
    System("TensorFlow chain", "#009e73", "--", _tensorflow_chain),
)


HEADS = ("max LSB", "mean LSB", "bias LSB", "SQNR dB")


def add(system: System, a: QTensor, b: QTensor, guess: Range | None = None) -> Sum:
    """Add, and measure the error against the exact sum of what the codes stand for."""
    exact = values(a)[0] + values(b)[0]
    total, passes = system.add(a, b, guess)
    got, lsb = values(total)
    return Sum(system, total, passes, error(total, exact), (got - exact) / lsb)


def cells(e: ErrorReport) -> list[str]:
    """Largest, mean and signed mean error in LSB and SQNR in dB, for a table; the heads are `HEADS`."""
    return [f"{e.max:.3f}", f"{e.mean:.3f}", f"{round(e.bias, 3) + 0:+.3f}", decibels(e)]


def decibels(e: ErrorReport) -> str:
    """SQNR, with 0.0 never negative."""
    return f"{round(e.sqnr, 1) + 0:.1f}"


def all_pairs(a: Range, b: Range) -> tuple[QTensor, QTensor]:
    """All 256 x 256 pairs of codes: `a` runs down, `b` runs across."""
    down, across = np.indices((256, 256), np.uint8)
    return QTensor(down, *a), QTensor(across, *b)
