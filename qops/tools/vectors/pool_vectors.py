"""Test vectors for a port of an average pool: a few windows of codes on which every other rule and mistake fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Never, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.numbers import float32
from qops._kernels.arrays.refusal import bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import fitted
from qops.checks import choice, integer
from qops.codes import of_dtype
from qops.rules.averages import AVERAGE_POOL
from qops.rules.c_pools import WHY_NO_POOL_C
from qops.rules.c_source import emit
from qops.rules.pooling import AveragePool
from qops.tools.explain.probes import windows_of
from qops.tools.vectors.choosing import MOST, always, telling
from qops.tools.vectors.formats import shown_vectors

__all__ = ["PoolVectors", "pool_vectors"]

OfWindows: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]
_WINDOWS = 1 << 16  # how many windows are tried
_CODES = 1 << 22  # about how many codes all windows that are tried have together
_UNEVEN = 8  # how many windows of any codes are given: whoever reads other taps fails on them
_BITS = 16  # of a sum that wraps, and of the reciprocal of a mistake


@dataclass(frozen=True)
class PoolVectors:
    """Windows of codes, and the codes that an average pool gives for them.

    Attributes
    ----------
    rule : str
        Name of the rule.
    kernel : (int, int)
        Height and width of a window.
    zero_point, qmin, qmax : int
        Code of real 0 of the windows, and the ends that the results are clamped to.
    x_scale : float
        Real size of a code step of the windows.
    y_scale, y_zero_point : float, int, or None
        Scale and zero point of the results; None where the rule keeps those of the windows.
    x : ndarray, (1, N * height, width, 1)
        At most 256 windows, one below the other in one image, over which they move by the kernel.
    y : ndarray, (1, N, 1, 1)
        Their codes.
    killed : list of str
        Other rules and mistakes that give another code for at least one window.
    alike : list of str
        Other rules and mistakes that gave the same code for every window that was tried.
    """

    rule: str
    kernel: tuple[int, int]
    zero_point: int
    qmin: int
    qmax: int
    x_scale: float
    y_scale: float | None
    y_zero_point: int | None
    x: NDArray[Any]
    y: NDArray[Any]
    killed: list[str]
    alike: list[str]

    def __str__(self) -> str:
        return (
            f"{self.rule}, kernel {self.kernel}, zero point {self.zero_point}: {self.y.size} windows tell it from "
            f"{len(self.killed)} other rules and mistakes; the same function here: {', '.join(self.alike) or 'none'}"
        )

    def __repr__(self) -> str:
        return fitted(f"<PoolVectors: {self}>")

    def _repr_html_(self) -> str:
        """Show the sentence and the first windows, their codes in one line each, in a notebook."""
        codes = self.x.reshape(self.y.size, -1).tolist()
        rows = np.array([" ".join(map(str, row)) for row in codes])
        return shown_vectors(str(self), {"x": rows, "y": self.y.reshape(-1)})

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are written to files, by name: the result last, an element for each vector."""
        return {"x": self.x, "y": self.y}

    @property
    def constants(self) -> dict[str, int]:
        """The integers that a port uses, by name."""
        zero = self.zero_point if self.y_zero_point is None else self.y_zero_point
        found = {"taps": self.kernel[0] * self.kernel[1], "x_zero_point": self.zero_point, "y_zero_point": zero}
        return found | {"qmin": self.qmin, "qmax": self.qmax}

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the rule and all numbers, by the names of a dump."""
        found: dict[str, Any] = {"kind": "average_pool", "rule": self.rule, "dtype": self.y.dtype.name}
        found |= {"kernel": self.kernel, "stride": self.kernel, "zero_point": self.zero_point, "x_scale": self.x_scale}
        if self.y_scale is not None:
            found |= {"y_scale": self.y_scale, "y_zero_point": self.y_zero_point}
        return found | {"qmin": self.qmin, "qmax": self.qmax}

    def program(self) -> tuple[str, dict[str, str]]:
        """Write the rule in C.

        Returns
        -------
        (str, dict of str to str)
            The text of its functions; and for y, the expression in C that computes its element i.
        """
        text, codes = emit(self.rule, op="average_pool"), f"const {self.x.dtype.name}_t *x"
        head = text.rpartition("static int32_t average_pool_")[2].partition("{")[0]
        each = {"sum": "sum - QOPS_TAPS * QOPS_X_ZERO_POINT" if "zero_point" in head else "sum", "x": "taps"}
        each |= {"count": "QOPS_TAPS", "x_scale": "(float)QOPS_X_SCALE", "x_zero_point": "QOPS_X_ZERO_POINT"}
        each |= {"y_scale": "(float)QOPS_Y_SCALE", "zero_point": "QOPS_Y_ZERO_POINT"}
        each |= {"scale": f"{self._scale().hex()}f", "lo": "QOPS_QMIN", "hi": "QOPS_QMAX"}
        names = [word.strip("()*\n ").split()[-1].strip("*") for word in head.partition("(")[2].split(",")]
        call = f"{head.partition('(')[0]}({', '.join(each[name] for name in names)})"
        whole = f"{text}\n{_OF_WINDOW.format(codes=codes, call=f'average_pool_{call}')}"
        return whole, {"y": "of_window(qops_x + i * QOPS_TAPS)"}

    def _scale(self) -> float:
        """The scale by which rules multiply a sum, which holds the count, in float32."""
        divisor = float32(float32(self.y_scale or self.x_scale) * (self.kernel[0] * self.kernel[1]))
        return float32(float32(self.x_scale) / divisor)


_OF_WINDOW = """static int32_t of_window({codes})
{{
    int32_t taps[QOPS_TAPS], sum = 0;
    for (int i = 0; i < QOPS_TAPS; i++) {{
        taps[i] = x[i];
        sum += x[i];
    }}
    (void)taps, (void)sum;
    return {call};
}}
"""


@refusing_unknown
def pool_vectors(
    rule: str,
    *,
    kernel: tuple[int, int],
    zero_point: int = 0,
    x_scale: float = 1.0,
    y_scale: float | None = None,
    y_zero_point: int | None = None,
    dtype: DTypeLike = "int8",
    qmin: int | None = None,
    qmax: int | None = None,
    **unknown: Never,
) -> PoolVectors:
    """Choose at most 256 windows on which every other rule of average pools, and every small mistake, fails.

    A window of each sum and some thousand other ones are tried, by this rule, every other rule in
    `qops.rules.AVERAGE_POOL` that takes its numbers and computes each window by itself, and every mistake: a zero point
    that is left out or of the wrong sign, a tap too many or too few in the count, a count that is the next power of
    two, a reciprocal of 16 bits, a sum that wraps in 16 bits, codes read with the other sign, rows that are rounded
    before their mean is taken, and clamps left out. For a result with a scale of its own also one that keeps the scale
    of the windows.

    Parameters
    ----------
    rule : str
        A name in `qops.rules.AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window.
    zero_point : int
        Code of real 0 of the windows.
    x_scale : float
        Real size of a code step of the windows, above 0.
    y_scale, y_zero_point : float, int, optional
        Scale and zero point of the result, for the rules that rescale; if not given, it has those of the windows.
    dtype : data type
        Type of the codes: int8 or uint8; by some rules int16.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given.

    Returns
    -------
    PoolVectors
        Its list `killed` was measured on the windows that are given.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, or of blocks of channels, which two other rules compute; what
        `qops.rules.average_pool` refuses.

    See Also
    --------
    vectors : accumulators for a rule of requantize.
    quantize_vectors : float32 values for a quantizer.

    Examples
    --------
    >>> found = qops.pool_vectors("away-stored", kernel=(2, 2), zero_point=3)
    >>> found.y.size < 64, "torch-nchw" in found.killed, "zero point left out" in found.alike
    (True, True, True)
    """
    if unknown:
        raise unknown_keyword(pool_vectors, unknown)
    row, codes = AVERAGE_POOL[choice(rule, "rule", AVERAGE_POOL)], of_dtype(dtype)
    rule = str(rule)
    if rule in WHY_NO_POOL_C:
        raise bad_value("rule", f"{rule} {WHY_NO_POOL_C[rule]}; make vectors of these two")
    lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
    hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
    given: dict[str, Any] = {"kernel": kernel, "zero_point": zero_point, "x_scale": x_scale, "y_scale": y_scale}
    given |= {"y_zero_point": y_zero_point, "dtype": codes.dtype, "qmin": lo, "qmax": hi}
    op: Any = AveragePool(rule, **given)
    (height, width), x_scale = op.kernel, op.x_scale
    given |= {name: getattr(op, name) for name in ("kernel", "zero_point", "x_scale", "y_scale", "y_zero_point")}
    given["stride"] = op.kernel
    taps = height * width
    x = windows_of(taps, codes.dtype, min(_WINDOWS, max(MOST, _CODES // taps)))
    tried = [(name, run(x)) for name, run in [*_made(rule, rule, given), *_others(rule, given)]]
    y, others = tried[0][1], tried[1:]
    chosen = _chosen(x, y, [made for _, made in others], op, (lo, hi))
    killed = [name for name, made in others if (made[chosen] != y[chosen]).any()]
    alike = [name for name, made in others if np.array_equal(made, y)]
    image, results = x[chosen].reshape(1, -1, width, 1), y[chosen].reshape(1, -1, 1, 1)
    of_y: tuple[Any, Any] = (None, None)
    if row.rescales:  # by the numbers of the windows where none were given
        of_y = op.y_scale or x_scale, op.zero_point if op.y_zero_point is None else op.y_zero_point
    return PoolVectors(rule, op.kernel, op.zero_point, lo, hi, x_scale, *of_y, image, results, killed, alike)


def _chosen(
    x: NDArray[Any], y: NDArray[Any], others: list[NDArray[Any]], op: Any, ends: tuple[int, int]
) -> NDArray[np.intp]:
    """Give which windows are kept: those that tell, ties, ends and 0 of one window for each sum, and a few others."""
    sums = x.sum(axis=1, dtype=np.int64)
    rising = int(np.argmax(np.diff(sums, append=sums[-1] - 1) <= 0)) + 1  # windows of rising sums come first
    first = sums[:rising] - x.shape[1] * op.zero_point
    scale = op.x_scale / ((op.y_scale or op.x_scale) * x.shape[1])
    some = range(rising, len(x))[:_UNEVEN]
    picked = [*telling(y, others), *always(first, y[:rising], scale, ends), *some]
    return np.unique(picked[:MOST]).astype(np.intp)


def _others(rule: str, given: dict[str, Any]) -> Iterator[tuple[str, OfWindows]]:
    """Every other rule and every mistake, as functions from windows to codes."""
    (height, width), zero, info = given["kernel"], given["zero_point"], np.iinfo(given["dtype"])
    own = given["y_scale"] is None and given["y_zero_point"] is None
    for name, row in AVERAGE_POOL.items():
        if name != rule and name not in WHY_NO_POOL_C and (own or row.rescales):
            yield from _made(name, name, given)
    kept = {**given, "y_scale": None, "y_zero_point": None}
    if not own:
        yield from _made("scale and zero point of the windows kept", rule, kept)
    zeros = [("zero point left out", 0), ("zero point of the wrong sign", -zero)] if zero else []
    for words, other in zeros:
        yield from _made(words, rule, {**given, "zero_point": other})
    if (given["qmin"], given["qmax"]) != (info.min, info.max):
        yield from _made("not clamped", rule, {**given, "qmin": None, "qmax": None})
    yield from _of_another_sign(rule, given)
    yield from _rows_first(rule, given)
    if own:
        yield from _of_another_count(height * width, zero, info)


def _made(words: str, rule: str, given: dict[str, Any]) -> Iterator[tuple[str, OfWindows]]:
    try:
        op = AveragePool(rule, **given)
    except (ValueError, TypeError):  # numbers, or a type, that this rule does not take
        return
    width = op.kernel[1]

    def run(x: NDArray[Any]) -> NDArray[Any]:
        return op(x.reshape(1, -1, width, 1)).reshape(-1)

    yield words, run


def _of_another_sign(rule: str, given: dict[str, Any]) -> Iterator[tuple[str, OfWindows]]:
    """The bytes of the codes read as those of the other sign."""
    own = np.dtype(given["dtype"])
    other = np.dtype(f"{'i' if own.kind == 'u' else 'u'}{own.itemsize}")
    numbers = {**given, "dtype": other, "qmin": None, "qmax": None}
    for words, run in _made(f"bytes of {own} read as {other}", rule, numbers):
        yield words, partial(_of_bytes, run, other)


def _of_bytes(run: OfWindows, other: np.dtype[Any], x: NDArray[Any]) -> NDArray[Any]:
    return run(x.view(other)).view(x.dtype)


def _rows_first(rule: str, given: dict[str, Any]) -> Iterator[tuple[str, OfWindows]]:
    """The mean of the rounded means of rows."""
    height, width = given["kernel"]
    if height == 1 or width == 1:
        return
    of_row = {**given, "kernel": (1, width), "stride": (1, width), "y_scale": None, "y_zero_point": None}
    rows = dict(_made("rows", rule, {**of_row, "qmin": None, "qmax": None}))
    columns = dict(_made("columns", rule, {**given, "kernel": (height, 1), "stride": (height, 1)}))
    if rows and columns:
        yield "means of rows rounded first", lambda x: columns["columns"](rows["rows"](x))


def _of_another_count(taps: int, zero: int, info: np.iinfo[Any]) -> Iterator[tuple[str, OfWindows]]:
    """Means that are rounded to nearest, of another sum or by another divisor."""

    def rounded(words: str, of: Callable[[NDArray[np.int64]], NDArray[Any]]) -> tuple[str, OfWindows]:
        def run(x: NDArray[Any]) -> NDArray[Any]:
            sums = x.sum(axis=1, dtype=np.int64) - taps * zero
            return np.clip(np.floor(of(sums) + 0.5) + zero, info.min, info.max).astype(info.dtype)

        return words, run

    yield rounded("one tap too many in the count", lambda s: s / (taps + 1))
    if taps > 1:
        yield rounded("one tap too few in the count", lambda s: s / (taps - 1))
    power = 1 << (taps - 1).bit_length()
    if power != taps:
        yield rounded("divided by the next power of two", lambda s: s / power)
    yield rounded("reciprocal of 16 bits", lambda s: s * (2**_BITS // taps) / 2**_BITS)
    yield rounded("sum wraps in 16 bits", lambda s: s.astype(np.int16) / taps)
