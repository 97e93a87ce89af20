"""The forms of 8-bit adds and products that are compared: the front door's, nnlib's and TensorFlow's.

Fused: 8p8to8, codes straight to codes, the output range guessed or found on the way. Chain: add 8p8to32, look at the
range that the sums span, requantize 32to8. Products likewise; wide: into int32 codes, the front door alone.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import (
    ErrorReport,
    QTensor,
    bound,
    error,
    nnlib,
    quantized_add_8p8to8,
    quantized_add_8p8to32,
    quantized_mul_8x8to8,
    quantized_mul_8x8to32,
    quantized_sub_8p8to8,
    quantized_sub_8p8to32,
    requantize_32to8,
    signed_error,
    tensorflow,
    values,
)

Range = tuple[float, float]
Answer = tuple[QTensor, int]  # with the passes over the data
Run = Callable[[QTensor, QTensor, Range | None], Answer]


class System(NamedTuple):
    """One form of an op; `run` takes two tensors and a guess, or None."""

    name: str
    colour: str
    dashes: str
    run: Run
    op: str = "add into 8 bits"
    exact: np.ufunc = np.add  # of real numbers
    bound: float | None = None  # of the error in LSB, for every pair of ranges
    guessed: bool = False  # whether sweeps give it guesses

    def over(self, ranges: Iterable[Range], form: str = "g") -> str:
        """Write the op of ranges, each end in this form."""
        sign = {np.add: "+", np.subtract: "-", np.multiply: "*"}[self.exact]
        return f" {sign} ".join(f"[{lo:{form}}, {hi:{form}}]" for lo, hi in ranges)


class Sum(NamedTuple):
    """What a system made of two tensors, and how far that is from what they stand for."""

    system: System
    operands: tuple[QTensor, QTensor]
    tensor: QTensor
    passes: int
    report: ErrorReport

    @property
    def ranges(self) -> list[Range]:
        """The ranges of the operands."""
        return [(t.min, t.max) for t in self.operands]

    @property
    def off(self) -> NDArray[np.float64]:
        """Signed error of every element, in LSB; made when it is asked for, as most sums are only reported."""
        return signed_error(self.tensor, self.system.exact(*map(values, self.operands)))


def _fused(op: Callable[..., Any]) -> Run:
    def fused(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
        result, info = op(a, b, guess, return_info=True)
        return result, info.passes

    return fused


def _nnlib_fused(form: Literal["flat", "spec"]) -> Run:
    def fused(a: QTensor, b: QTensor, guess: Range | None) -> Answer:
        node = nnlib.QuantizedAdd8p8to8(*(guess or ()), form=form)
        return node(a, b), node.passes

    return fused


def _chain(op: Callable[[QTensor, QTensor], QTensor], requantize: Callable[[QTensor, Range | None], QTensor]) -> Run:
    return lambda a, b, guess: (requantize(op(a, b), guess), 2 if guess else 3)


def _qops(acc: QTensor, guess: Range | None) -> QTensor:
    return requantize_32to8(acc, *(guess or ()))


def _nnlib(acc: QTensor, guess: Range | None) -> QTensor:
    return nnlib.requantize_32to8(acc, *guess) if guess else nnlib.quantize_down_and_shrink_range_32to8(acc)


def _tensorflow(acc: QTensor, guess: Range | None) -> QTensor:
    return tensorflow.requantize(acc, *(guess or tensorflow.requantization_range(acc)))


def _once(op: Callable[[QTensor, QTensor], QTensor]) -> Run:
    return lambda a, b, _: (op(a, b), 1)


FUSED = (
    System("qops 8p8to8", "#0072b2", "-", _fused(quantized_add_8p8to8), bound=bound("add"), guessed=True),
    System("nnlib 8p8to8 flat", "#e69f00", "-", _nnlib_fused("flat")),
    System("nnlib 8p8to8 spec", "#cc3311", "-", _nnlib_fused("spec")),
)
CHAIN = (
    System("qops chain", "#0072b2", "--", _chain(quantized_add_8p8to32, _qops)),
    System("nnlib chain", "#e69f00", "--", _chain(nnlib.quantized_add_8p8to32, _nnlib)),
    System("TensorFlow chain", "#009e73", "--", _chain(tensorflow.quantized_add, _tensorflow)),
)
_PRODUCT = ("multiply into 8 bits", np.multiply)
PRODUCTS = (
    System("qops 8x8to8", "#0072b2", "-", _fused(quantized_mul_8x8to8), *_PRODUCT, bound("mul"), guessed=True),
    System("nnlib 8x8to8", "#e69f00", "-", _once(nnlib.quantized_mul_8x8to8), *_PRODUCT),
    System("TensorFlow chain", "#009e73", "--", _chain(tensorflow.quantized_mul, _tensorflow), *_PRODUCT),
)
ALONE = tuple(  # the front door's ops that no other system is drawn beside
    System(name, "#0072b2", "-", run, op, exact, most, guessed=op.endswith(" 8 bits"))
    for name, run, op, exact, most in (
        ("qops 8p8to8", _fused(quantized_sub_8p8to8), "subtract into 8 bits", np.subtract, bound("sub")),
        ("qops 8p8to32", _once(quantized_add_8p8to32), "add into 32 bits", np.add, bound("add", "int32")),
        ("qops 8p8to32", _once(quantized_sub_8p8to32), "subtract into 32 bits", np.subtract, bound("sub", "int32")),
        ("qops 8x8to32", _once(quantized_mul_8x8to32), "multiply into 32 bits", np.multiply, bound("mul", "int32")),
    )
)
ALL = (*FUSED, *CHAIN, *PRODUCTS, *ALONE)


class Form(NamedTuple):
    """A system with one guess: an op of two tensors, which pickles; it gives the passes beside its result.

    It stands here, as a process that sweeps imports this module, and drawing would take it four times as long.
    """

    number: int  # of the system
    guess: str

    @property
    def name(self) -> str:
        """The name of the rows."""
        return f"{ALL[self.number].op}, {ALL[self.number].name}, guess {self.guess}"

    def __call__(self, a: QTensor, b: QTensor) -> Answer:
        """Run the system; the guess is the range of the results, or a quarter of it."""
        system = ALL[self.number]
        guess: Range | None = None
        if self.guess != "none":
            ends = [float(system.exact(x, y)) for x in (a.min, a.max) for y in (b.min, b.max)]
            lo, hi = min(ends), max(ends)
            guess = (lo, hi) if self.guess == "exact" else (lo / 4, max(lo / 4, hi / 4))
        return system.run(a, b, guess)


FORMS = {
    form.name: form
    for i, system in enumerate(ALL)
    for form in (Form(i, guess) for guess in (("none", "exact", "quarter") if system.guessed else ("none",)))
}


HEADS = ("max LSB", "mean LSB", "bias LSB", "SQNR dB")


def apply(systems: Iterable[System], a: QTensor, b: QTensor, guesses: Iterable[Range | None] = (None,)) -> list[Sum]:
    """Run each system of an op with each guess. Errors are those against the exact result of what the codes mean."""
    systems, guesses = list(systems), list(guesses)
    exact = systems[0].exact(values(a), values(b))
    runs = ((system, *system.run(a, b, guess)) for system in systems for guess in guesses)
    return [Sum(system, (a, b), result, passes, error(result, exact)) for system, result, passes in runs]


def cells(e: ErrorReport) -> list[str]:
    """Give the cells of a table: largest, mean and signed mean error in LSB, SQNR in dB; the heads are `HEADS`."""
    return [f"{e.max:.3f}", f"{e.mean:.3f}", f"{round(e.bias, 3) + 0:+.3f}", decibels(e)]


def decibels(e: ErrorReport) -> str:
    """SQNR, with 0.0 never negative."""
    return f"{round(e.sqnr, 1) + 0:.1f}"


def all_pairs(a: Range, b: Range) -> tuple[QTensor, QTensor]:
    """All 256 x 256 pairs of codes: `a` runs down, `b` runs across."""
    down, across = np.indices((256, 256), np.uint8)
    return QTensor(down, *a), QTensor(across, *b)
