"""nnlib's adds into 8 bits as nodes of a graph, which remember their output range from call to call."""

from __future__ import annotations

from math import isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import add as kernels
from qops._kernels.nnlib.ranges import f32
from qops._readable import in_lines
from qops.checks import U8, choice, integers, real
from qops.codes import TABLE
from qops.nnlib._checks import Checked, two
from qops.nnlib.add_range import Ends, Guess, chosen, retried, widened
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["Form", "QuantizedAdd8p8to8", "QuantizedSub8p8to8D32", "known_form"]

Form: TypeAlias = Literal["op", "flat", "spec", "d32"]

CODES = TABLE["u8"]
MOST_PASSES = 64  # more than this, and the retry rules of ``spec`` never settle


class Node:
    """Base of the add and the subtraction: the remembered range, and the passes over the data."""

    def __init__(self, guess_min: float | None, guess_max: float | None, form: Form, subtract: bool) -> None:
        lo = None if guess_min is None else real(guess_min, "guess_min")
        hi = None if guess_max is None else real(guess_max, "guess_max")
        if lo is not None and hi is not None and lo > hi:
            raise bad_value("guess_min, guess_max", f"{lo} > {hi}")
        self._form, self._given, self._subtract = known_form(form), (lo, hi), subtract
        if form == "d32":
            lo, hi = None if lo is None else min(lo, 0.0), None if hi is None else max(hi, 0.0)
        self._guess = Guess(lo, hi)
        self._looks = self._guess.fixed < 3 if form == "d32" else hi is None
        self._ends, self._ran = self._guess.start(), False
        self.passes = 0

    def _run(
        self, a: TensorLike, b: TensorLike, padding: tuple[int, int] | None, out: NDArray[np.uint8] | None
    ) -> QTensor:
        """Make the passes of one call; one that raises leaves the remembered range and `out` as they were."""
        padding = None if padding is None else integers(padding, "padding", 2, 0, CODES.highest)
        x, y, result = two(a, b, out, U8)
        alike, form = x[0].shape == y[0].shape, self._form
        if form == "op":
            form = "flat" if alike else "spec"
        if form != "spec" and not alike:
            raise bad_value("a, b", f"shapes {x[0].shape} and {y[0].shape} differ, which {form} does not take")
        codes = result if out is None else np.empty(result.shape, np.uint8)
        if form == "spec":
            if self._form == "op":
                _check_expansion(x[0].shape, y[0].shape, codes.shape)
            _check_spec(x[1:], y[1:], codes.size)
        ends, passes = self._spec(x, y, padding, codes) if form == "spec" else self._flat(x, y, codes)
        if ends is None or not (isfinite(ends[0]) and isfinite(ends[1])):
            why = "never settles" if form == "spec" else "is too narrow for the inputs"
            raise bad_value(
                "a, b",
                f"for {x[1:]} and {y[1:]}, with guess_min {self._given[0]} and guess_max {self._given[1]}, the "
                f"output range {why}, or is beyond float32",
            )
        if codes is not result:
            result[...] = codes
        self._ends, self._ran, self.passes = ends, self._ran or form != "spec", passes
        return tensor(result, *ends)  # min > max in some of its wraps

    def __repr__(self) -> str:
        """Show the call of the constructor."""
        given = [
            f"{name}={end!r}"
            for name, end in zip(("guess_min", "guess_max"), self._given, strict=True)
            if end is not None
        ]
        form = [f"form={self._form!r}"] if type(self).__name__.startswith("QuantizedAdd") else []
        return in_lines(f"{type(self).__name__}(", [*given, *form])

    def _flat(self, a: Checked, b: Checked, out: NDArray[np.uint8]) -> tuple[Ends | None, int]:
        """Run ``flat``; give the range of the last pass, None if the original refuses it, and the number of passes."""
        guess, ends = self._guess, self._ends
        if guess.fixed < 3:
            whole = (a[1] - b[2], a[2] - b[1]) if self._subtract else (a[1] + b[1], a[2] + b[2])
            ends = chosen(ends if self._ran else None, guess, f32(whole[0]), f32(whole[1]))
        found = kernels.flat_pass(a, b, ends, guess.fixed == 3, self._subtract, out)
        if found is None:
            return None, 1
        wider = widened(ends, found, guess) if self._looks else None
        if wider is None:
            return ends, 1
        return (wider if kernels.flat_pass(a, b, wider, False, self._subtract, out) else None), 2

    def _spec(
        self, a: Checked, b: Checked, padding: tuple[int, int] | None, out: NDArray[np.uint8]
    ) -> tuple[Ends | None, int]:
        """Run ``spec``; give its last range, None if it never settles, and how many passes the original makes.

        No pass changes the sums, so one with the first range and one with the last are enough here.
        """
        padding = padding if out.size % 128 else None
        coarse, fine = f32(a[2] - a[1]), f32(b[2] - b[1])
        if not f32(coarse / CODES.steps) >= f32(fine / CODES.steps):
            a, b, coarse, padding = b, a, fine, padding and padding[::-1]
        ends, passes = self._ends, 1
        found = kernels.spec_pass(a, b, ends, padding, out)
        while (moved := retried(ends, found, coarse, self._guess)) is not None:
            ends, passes = moved, passes + 1
            if passes > MOST_PASSES:
                return None, passes
        if passes > 1:
            kernels.spec_pass(a, b, ends, padding, out)
        return ends, passes


class QuantizedAdd8p8to8(Node):
    """A QuantizedAdd_8p8to8 of a graph: it remembers its output range from call to call.

    The original has two kernels. Each passes over the data and records the range of the sums. Then it may move its
    output range and pass over the data again.

    ``flat`` (equal shapes, since 2019)
        The first call starts with an eighth of the range of all possible sums. A pass computes::

            x = (a * ka + b * kb) >> first_shift    c = sat_u8((sat_s16(x + offset) + half) >> right_shift)
            ka = plus_half(step_a / step_c * 2**(first_shift + right_shift)), kb likewise
            half = 2**right_shift / 2, but 0 for a right_shift of 0
            offset = plus_half(-c_min / step_c * 2**right_shift) - ((za * ka + zb * kb) >> first_shift)

        The steps and the zeros za and zb are those of `level_zero`; first_shift is 8, and right_shift is the largest of
        0..7 that keeps ka + kb below 2**14. If none does and both ends are given, right_shift is 1 and first_shift the
        largest of 1..7 that does. In all other cases the offset saturates to 16 bits.

        If the upper end is free and the sums leave the range, each free end that they are beyond moves out to them,
        with 15 % to spare, and a second pass writes everything again. Later calls start with the range of the last one;
        it grows to at least 1/32 of the range of all possible sums, and never narrows. To put 0 on a code, a given end
        moves too, by up to half a step.
    ``spec`` (unequal shapes; before 2019, all shapes)
        The first call starts with (0, 0.5). The operand with the wider range is a; ``Ra = a_max - a_min``, ``Rb = b_max
        - b_min``, ``alpha = Ra / Rb``. A pass computes, in integers of 16 bits that wrap::

            x = ((a - 128) * ialpha + 64 >> 7) + b + ikappa        c = sat_u8((x * recip + 0x4000 >> 15) - offset)
            ialpha = trunc(128 * alpha)                            recip = trunc(min(32767, 32768 * 255 / step))
            ikappa = trunc(128 * alpha + 255 * (a_min + b_min) / Rb)     step = 255 * (c_max - c_min) / Rb
            offset = trunc(255 * c_min / (c_max - c_min) - 0.5)

        After a pass, the first of these rules that applies moves an end, and another pass is made; if none applies, the
        op is done.

        1. The upper end is free and sums exceed it: it becomes 1.2 times their maximum.
        2. The lower end is free and sums are below it: it becomes 1.2 times their minimum.
        3. The upper end is free and the range narrower than Ra: it becomes Ra + lower end.

        From ``alpha = 256`` on, the codes of a are the result, and rules 1 and 2 use its range.
    ``d32``
        ``flat`` as the original has it for its blocked layout: a given end that would exclude 0 is moved to 0, and the
        second pass is made for any free end that sums are beyond.
    ``op``
        What the op chooses: ``flat`` for equal shapes, else ``spec``.

    Parameters
    ----------
    guess_min, guess_max : float, optional
        Given ends of the output range. A given end is never checked: sums beyond it saturate.
    form : {"op", "flat", "spec", "d32"}
        One of the above.

    Attributes
    ----------
    passes : int
        How many times the original passed over the data in the last call.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), such as guess_min > guess_max.

    Notes
    -----
    Source: ``op_add.c``, ``op_add_d32.c``, ``quant_add_spec_h.S``. A node is not for two threads at once.

    Examples
    --------
    >>> node = qops.nnlib.QuantizedAdd8p8to8()
    >>> small, large = (np.array([120, 136], np.uint8), -1.28, 1.27), (np.array([0, 255], np.uint8), -1.28, 1.27)
    >>> [(round(node(t, t).max, 3), node.passes) for t in (small, large, small)]
    [(0.317, 1), (3.305, 2), (3.305, 1)]
    """

    def __init__(self, guess_min: float | None = None, guess_max: float | None = None, *, form: Form = "op") -> None:
        super().__init__(guess_min, guess_max, form, False)

    def __call__(
        self,
        a: TensorLike,
        b: TensorLike,
        *,
        padding: tuple[int, int] | None = None,
        out: NDArray[np.uint8] | None = None,
    ) -> QTensor:
        """Add two tensors; see `quantized_add_8p8to8`. A call that raises leaves the remembered range as it was."""
        return self._run(a, b, padding, out)


class QuantizedSub8p8to8D32(Node):
    """A QuantizedSub_8p8to8_d32 of a graph: it remembers its output range from call to call.

    It is the ``d32`` form of `QuantizedAdd8p8to8`, but b is subtracted: kb is negative, the range of all possible
    results is ``a_min - b_max`` to ``a_max - b_min``, and right_shift is the largest of 0..7 that keeps ka and -kb
    below 2**14.

    Parameters
    ----------
    guess_min, guess_max : float, optional
        Given ends of the output range. One that would exclude 0 is moved to 0. A given end is never checked: results
        beyond it saturate.

    Attributes
    ----------
    passes : int
        How many times the original passed over the data in the last call: 1 or 2.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), such as guess_min > guess_max.

    Notes
    -----
    Source: ``op_add_d32.c``, ``op_add.c``. A node is not for two threads at once.

    Examples
    --------
    >>> node = qops.nnlib.QuantizedSub8p8to8D32()
    >>> zeros, small, large = ((np.array([code], np.uint8), -1.28, 1.27) for code in (128, 136, 255))
    >>> [(round(node(t, zeros).max, 3), node.passes) for t in (small, large, small)]
    [(0.321, 1), (1.46, 2), (1.46, 1)]
    """

    def __init__(self, guess_min: float | None = None, guess_max: float | None = None) -> None:
        super().__init__(guess_min, guess_max, "d32", True)

    def __call__(self, a: TensorLike, b: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
        """Subtract b from a; see `quantized_sub_8p8to8_d32`. One that raises leaves the range as it was."""
        return self._run(a, b, None, out)


def known_form(form: Form) -> Form:
    """Give `form`, if it is one; ValueError if not."""
    choice(form, "form", get_args(Form))
    return form


def _check_expansion(a: tuple[int, ...], b: tuple[int, ...], whole: tuple[int, ...]) -> None:
    """Refuse shapes that broadcast along another axis than the last of four, where the op reads beyond the end."""
    if len(whole) > 4:
        raise bad_value("a, b", f"shapes {a} and {b}, the op takes at most 4 axes")
    for name, shape in (("a", a), ("b", b)):
        if ((1,) * (4 - len(shape)) + shape)[:3] != ((1,) * (4 - len(whole)) + whole)[:3]:
            raise bad_value(name, f"shape {shape} to {whole}: the original reads beyond the end of the operand")


def _check_spec(a: Ends, b: Ends, size: int) -> None:
    if a[0] == a[1] and b[0] == b[1]:
        raise bad_value("a, b", f"both ranges, {a} and {b}, are 0 wide, for which spec computes NaN")
    if size == 0:
        raise bad_value("a, b", "no elements, for which spec never ends")
