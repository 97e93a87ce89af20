"""The error of any op against any exact function, over many ranges."""

from __future__ import annotations

import concurrent.futures as futures  # reads multiprocessing only when processes are asked for
import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from os import PathLike
from time import monotonic
from typing import Any, Literal, NamedTuple, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value, renamed
from qops._keywords import refusing_unknown, unknown_keyword
from qops._pages.html import in_notebook, table
from qops._readable import fitted, shows_fields
from qops.checks import integer, shown
from qops.codes import of_dtype
from qops.frontdoor.error import report_on
from qops.frontdoor.signed_error import values
from qops.qtensor import QTensor
from qops.tools.progress import Progress
from qops.tools.sweep.workers import Open, check_sent, run

__all__ = ["Sweep", "SweepRow", "sweep"]

Range = tuple[float, float]
Op = Callable[..., Any]


@shows_fields
class SweepRow(NamedTuple):
    """The error of an op on one choice of ranges; NaN where the op refused them.

    Attributes
    ----------
    ranges : tuple of (float, float)
        The ranges of the operands.
    refused : str
        What the op said when it refused them; empty if it did not.
    min, max : float
        The range of the result.
    max_lsb, mean_lsb, rms_lsb, bias_lsb : float
        Largest, mean and root mean square of the absolute error, and mean of the signed error, in LSB of the result.
    sqnr_db : float
        Signal to quantization noise ratio in dB.
    codes : tuple of int
        The codes of the operands with the largest error.
    value, exact : float
        What the op made of these, and what is right.
    op : str
        The name of the op; empty if it has none.
    info : object
        What the op gave beside its tensor; None if it gave nothing.
    """

    ranges: tuple[Range, ...]
    refused: str = ""
    min: float = np.nan
    max: float = np.nan
    max_lsb: float = np.nan
    mean_lsb: float = np.nan
    rms_lsb: float = np.nan
    bias_lsb: float = np.nan
    sqnr_db: float = np.nan
    codes: tuple[int, ...] = ()
    value: float = np.nan
    exact: float = np.nan
    op: str = ""
    info: Any = None


_HEADS = ("op", "ranges", "max LSB", "mean LSB", "rms LSB", "bias LSB", "SQNR dB")
_SHOWN_ROWS = 12


def _words(ranges: tuple[Range, ...]) -> str:
    return " ".join(f"({lo:g}, {hi:g})" for lo, hi in ranges)


def _cells(row: SweepRow) -> tuple[str, ...]:
    """Give a row of the table that `Sweep` shows."""
    if row.refused:
        return (row.op, _words(row.ranges), f"refused: {row.refused[:30]}", *[""] * 4)
    errors = (row.max_lsb, row.mean_lsb, row.rms_lsb, row.bias_lsb)
    return (row.op, _words(row.ranges), *(f"{error:.4f}" for error in errors), f"{row.sqnr_db:.1f}")


class Sweep(list[SweepRow]):
    """The rows of a sweep: all rows of the first op, in the order of the ranges, then all rows of the next op."""

    @property
    def worst(self) -> SweepRow:
        """The row with the largest error; ValueError if the op refused all ranges."""
        rows = [row for row in self if not row.refused]
        if not rows:
            raise ValueError("the op refused all ranges, so no row is the worst")
        return max(rows, key=lambda row: row.max_lsb)

    def __repr__(self) -> str:
        """Show how many rows there are, the worst one, and the rows with the largest errors."""
        if not self:
            return "<Sweep: 0 rows>"
        rows = [_HEADS, *self._worst_first()]
        wide = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
        lines = ("  ".join(cell.ljust(n) for cell, n in zip(row, wide, strict=True)).rstrip() for row in rows)
        return fitted("\n".join([f"<Sweep: {self._answer()}>", *lines, *self._rest()]))

    def _repr_html_(self) -> str:
        """Show the rows with the largest errors in a notebook."""
        heads = [f"#{head}" if i > 1 else head for i, head in enumerate(_HEADS)]
        said = (f"<p>{escape(words)}</p>" for words in (self._answer(), *self._rest()))
        return in_notebook(*said, table(heads, self._worst_first()))

    def _answer(self) -> str:
        refused = sum(bool(row.refused) for row in self)
        said = f"{len(self)} row{'s' * (len(self) != 1)}" + (f", {refused} refused" if refused else "")
        if refused == len(self):
            return said
        worst = self.worst
        of = f" of {worst.op}" if worst.op else ""
        return f"{said}; at most {worst.max_lsb:.4g} LSB{of}, on {_words(worst.ranges)}"

    def _rest(self) -> list[str]:
        return [f"and {len(self) - _SHOWN_ROWS} rows with smaller errors"] if len(self) > _SHOWN_ROWS else []

    def _worst_first(self) -> list[tuple[str, ...]]:
        """Give the cells of the rows that are shown, those with the largest errors first."""
        ordered = sorted(self, key=lambda row: -np.inf if row.refused else row.max_lsb, reverse=True)
        return [_cells(row) for row in ordered[:_SHOWN_ROWS]]

    def to_columns(self) -> dict[str, list[Any]]:
        """Give a table with a column for each number: what `pandas.DataFrame` takes.

        Returns
        -------
        dict of str to list
            The ranges are columns named ``min_0``, ``max_0``, ``min_1`` and so on, the codes ``code_0`` and so on.
        """
        count = max((len(row.ranges) for row in self), default=0)
        columns: dict[str, list[Any]] = {"op": [row.op for row in self]}
        for i in range(count):
            columns[f"min_{i}"] = [row.ranges[i][0] for row in self]
            columns[f"max_{i}"] = [row.ranges[i][1] for row in self]
            columns[f"code_{i}"] = [row.codes[i] if row.codes else None for row in self]
        names = (name for name in SweepRow._fields if name not in ("op", "ranges", "codes"))
        return columns | {name: [getattr(row, name) for row in self] for name in names}

    def to_csv(self, file: str | PathLike[str]) -> None:
        """Write the table of `to_columns` as a file of comma-separated values.

        Parameters
        ----------
        file : path
            Where it is written.
        """
        columns = self.to_columns()
        with open(file, "w", newline="", encoding="utf-8") as lines:
            csv.writer(lines).writerows([columns, *zip(*columns.values(), strict=True)])


@refusing_unknown
def sweep(
    op: Op | Mapping[str, Op],
    exact: Callable[..., Any],
    ranges: Iterable[Range | Sequence[Range]],
    *,
    codes: Literal["all"] | int = "all",
    dtype: DTypeLike = "uint8",
    executor: futures.Executor | Open | None = None,
    **unknown: Never,
) -> Sweep:
    """Measure the error of ops against an exact function, on all codes or some, for many ranges.

    Parameters
    ----------
    op : callable, or dict of str to callable
        Takes a tensor for each operand and gives a tensor; or a tensor and something else, which is kept as
        `SweepRow.info`. Several ops that are compared have names. With an executor of processes, functions that pickle.
    exact : callable
        Takes the real values of the codes, a float64 array for each operand, and gives the true results.
    ranges : iterable of (float, float), or of sequences of them
        The range of the operand, or the ranges of several operands, for each row.
    codes : "all" or int
        "all": every code of one operand, every pair of codes of two. A number: so many codes of each operand, drawn at
        random, the same at every call.
    dtype : data type
        Type of the codes of all operands: uint8 or int8; with a number of `codes`, any type that has codes.
    executor : concurrent.futures.Executor, or a function that opens one, optional
        Where the rows are measured, such as a pool of processes or what ``get_executor`` of a dask client gives; here
        if not given. The rows of all ops for one choice of ranges are one piece of work. If it is a function, such as
        the class ``ProcessPoolExecutor``, the pieces that were lost with a worker that died are done again by a new
        executor.

    Returns
    -------
    Sweep
        A list with a row for each element of `ranges`, of each op.

    Raises
    ------
    TypeError, ValueError
        Arguments of other types, ranges that are none, `codes` that are neither "all" nor a number above 0, "all" with
        more than two operands or with codes of more than 8 bits, an `op` that gives no tensor, an `exact` that gives no
        finite numbers or another shape. A ValueError of the op is kept in the row, as `SweepRow.refused`; any other
        error of `op` or `exact` is raised.
    RuntimeError
        The executor broke; if a function opens it, three in a row did.

    See Also
    --------
    qops.error : what is measured.
    qops.plot : pictures of the error on one choice of ranges.

    Examples
    --------
    >>> found = qops.sweep(qops.quantized_add_8p8to8, np.add, [((-1, 1), (0, 3)), ((2, 5), (-4, -3))])
    >>> found.worst.max_lsb < 0.6
    True
    >>> both = {"qops": qops.quantized_add_8p8to8, "nnlib": qops.nnlib.quantized_add_8p8to8}
    >>> print(*(f"{row.op} {row.max_lsb:.2f}" for row in qops.sweep(both, np.add, [((-1, 1), (0, 3))])))
    qops 0.40 nnlib 0.67
    >>> def halve(t):
    ...     return t.data // 2, 0.0, 255.0
    >>> [row.max_lsb for row in qops.sweep(halve, lambda x: x / 2, [(0, 255)])]
    [0.5]
    """
    if unknown:
        raise unknown_keyword(sweep, unknown)
    row, chosen = of_dtype(dtype), [_operands(given) for given in _listed(ranges)]
    ops = op if isinstance(op, Mapping) else {"": op}
    for function, name in (*((each, "op") for each in ops.values()), (exact, "exact")):
        if not callable(function):
            raise bad_type(name, f"expected a function, got {shown(function)}")
        if isinstance(executor, futures.ProcessPoolExecutor):
            check_sent(function, name)
    if not (executor is None or isinstance(executor, futures.Executor) or callable(executor)):
        raise bad_type("executor", f"expected a concurrent.futures.Executor, or what opens one, got {shown(executor)}")
    if isinstance(codes, str):
        if codes != "all":
            raise bad_value("codes", f"expected 'all' or a number, got {shown(codes)}")
    else:
        codes = integer(codes, "codes", 1, 2**31 - 1)
    for given in chosen:
        if codes == "all" and (len(given) > 2 or row.dtype.itemsize > 1):
            raise bad_value(
                "codes", f"'all' is for one or two operands of 8 bits, got {len(given)} of {row.dtype}; give a number"
            )
        for lo, hi in given:
            try:
                QTensor(np.empty(0, row.dtype), lo, hi)
            except ValueError as refused:
                raise renamed(refused, "ranges") from None
    start = monotonic()
    with Progress() as show:

        def tell(done: int) -> None:
            left = (monotonic() - start) * (len(chosen) - done) / done
            show(f"{done * len(ops)} of {len(chosen) * len(ops)} rows, {left:.0f} s left")

        found = run(partial(_measured, dict(ops), exact, codes, row.dtype.name), chosen, executor, tell)
    return Sweep(each for rows in zip(*found, strict=True) for each in rows)


def _listed(ranges: Any) -> list[Any]:
    try:
        return list(ranges)
    except TypeError:
        raise bad_type("ranges", f"expected one (min, max) or several for each row, got {shown(ranges)}") from None


def _operands(given: Any) -> tuple[Range, ...]:
    """The ranges of the operands; a single (min, max) is that of one."""
    try:
        several = [tuple(ends) for ends in given] if np.ndim(given[0]) else [tuple(given)]
        found = tuple((float(lo), float(hi)) for lo, hi in several)
    except (TypeError, ValueError, IndexError):
        raise bad_type("ranges", f"expected (min, max), or one for each operand, got {shown(given)}") from None
    return found


def _measured(
    ops: Mapping[str, Op],
    exact: Callable[..., Any],
    codes: Literal["all"] | int,
    dtype: str,
    ranges: tuple[Range, ...],
) -> list[SweepRow]:
    """Run every op once on the same codes, and sum up their errors."""
    data = _codes(codes, np.dtype(dtype), len(ranges))
    true: Any = None
    rows = []
    for name, op in ops.items():
        try:
            made = op(*(QTensor(x.copy(), lo, hi) for x, (lo, hi) in zip(data, ranges, strict=True)))
        except ValueError as refusal:
            rows.append(SweepRow(ranges, str(refusal), op=name))
            continue
        if true is None:  # once for all ops, and not if all refuse
            true = exact(*(values((x, *ends)) for x, ends in zip(data, ranges, strict=True)))
        t, info = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
        rows.append(_row(t, true, data, ranges)._replace(op=name, info=info))
    return rows


def _row(t: Any, true: Any, data: list[NDArray[Any]], ranges: tuple[Range, ...]) -> SweepRow:
    """Compare the result of an op with the true values, and give the row of it."""
    if not (isinstance(t, QTensor) or (isinstance(t, tuple | list) and len(t) == 3)):
        raise bad_type("op", f"expected it to give (data, min, max), got {shown(t)}")
    try:
        report = report_on(t, true, counts=False)
    except (TypeError, ValueError) as wrong:
        is_exact = getattr(wrong, "argument", "") == "reference"
        raise renamed(wrong, "exact" if is_exact else "op") from None
    lo: Any
    hi: Any
    lo, hi = (t.min, t.max) if isinstance(t, QTensor) else t[1:]
    errors = (report.max, report.mean, report.rms, report.bias, report.sqnr)
    worst = tuple(int(x[report.worst.index]) for x in data)
    return SweepRow(ranges, "", lo, hi, *errors, worst, report.worst.value, report.worst.reference)


def _codes(codes: Literal["all"] | int, dtype: np.dtype[Any], operands: int) -> list[NDArray[Any]]:
    """The codes of each operand: all of one, all pairs of two, or as many random ones."""
    info = np.iinfo(dtype)
    if codes == "all":
        each = np.arange(info.min, info.max + 1, dtype=dtype)
        return [each] if operands == 1 else [np.ascontiguousarray(x) for x in np.meshgrid(each, each, indexing="ij")]
    rng = np.random.default_rng(0)
    return [rng.integers(info.min, info.max, codes, dtype, endpoint=True) for _ in range(operands)]
