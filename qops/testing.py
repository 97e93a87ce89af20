"""For test suites: assertions about codes and errors whose message says what differs, where, and by which rule.

They need no pytest, and raise AssertionError as numpy.testing does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import no_attribute, refusing_unknown, unknown_keyword
from qops.checks import as_array as _as_array
from qops.checks import integer as _integer
from qops.checks import number as _number
from qops.frontdoor.error import error as _error
from qops.frontdoor.signed_error import signed_error as _signed_error
from qops.qtensor import QTensor, TensorLike
from qops.tools.explain.explain import explain as _explain
from qops.tools.where import where as _where

__all__ = ["assert_codes", "assert_within"]
__dir__ = __all__.copy

_SHOWN = 10  # places that a message lists
_RULES = 4  # rules that it names


@refusing_unknown
def assert_codes(
    got: ArrayLike, wanted: ArrayLike, *, off_by: int = 0, rule: Mapping[str, Any] | None = None, **unknown: Never
) -> None:
    """Fail where codes differ: integers that two implementations should make alike.

    Parameters
    ----------
    got : array_like of integers
        The codes of the implementation under test.
    wanted : array_like of integers
        The codes of the reference, of the same shape.
    off_by : int, optional
        How far codes may be apart. Where the rule of a system is known, 0 is right: integers are equal or they are
        wrong.
    rule : mapping, optional
        What `qops.explain` needs beside the codes, by its names, such as ``{"x": acc, "scale": scale}``. The message
        then names the rule that made the codes `got`, and says whether only ties differ.

    Returns
    -------
    None

    Raises
    ------
    AssertionError
        Another shape; codes that are farther apart: their count and share, the worst one, the first ten, where they
        are.
    TypeError, ValueError
        Arrays that hold no integers; `off_by` below 0; what `qops.explain` refuses.

    Examples
    --------
    >>> from qops.testing import assert_codes
    >>> acc = np.arange(-20, 20)
    >>> wanted = qops.rules.requantize(acc, "fp32-even", scale=0.25)
    >>> assert_codes(qops.rules.requantize(acc, "torch-qnnpack", scale=0.25), wanted)
    >>> try:
    ...     assert_codes(wanted + (acc > 17), wanted)
    ... except AssertionError as failed:
    ...     print(failed)
    2 of 40 codes differ, 5 %; 1 is the most
    worst at (38,): got 5, wanted 4
    first: (38,) 5 for 4, (39,) 6 for 5
    where: each is 1 more
    """
    if unknown:
        raise unknown_keyword(assert_codes, unknown)
    __tracebackhide__ = True  # pytest then shows the line that called
    limit = _integer(off_by, "off_by", 0, 2**32)
    mine, reference = _codes(got, "got"), _codes(wanted, "wanted")
    _same_shape(mine, reference)
    off = np.abs(_wide(mine) - _wide(reference))
    far = off > limit
    count = int(np.count_nonzero(far))
    if not count:
        return
    worst = np.unravel_index(int(off.argmax()), off.shape)
    lines = [
        f"{count} of {off.size} codes differ{f' by more than {limit}' if limit else ''}, {_percent(count, off.size)};"
        f" {off[worst]} is the most",
        f"worst at {_index(worst)}: got {mine[worst]}, wanted {reference[worst]}",
        *_first(far, mine, reference),
        *(f"where: {said}" for said in _where(np.where(far, mine, reference), reference)),
    ]
    if rule is not None:
        lines += _rule_of(mine, reference, rule)
    raise AssertionError("\n".join(lines))


@refusing_unknown
def assert_within(
    got: TensorLike, exact: ArrayLike, *, op: str | None = None, lsb: float | None = None, **unknown: Never
) -> None:
    """Fail where a tensor is farther from exact values than an op, or a number of LSB, allows.

    Parameters
    ----------
    got : (data, min, max)
        The tensor under test.
    exact : array_like of float
        The exact results for the codes that the op read, of a shape that broadcasts to the data's.
    op : str, optional
        An op of the front door: the error may be its `qops.bound`.
    lsb : float, optional
        How many LSB the error may be. Either `op` or `lsb` is needed.

    Returns
    -------
    None

    Raises
    ------
    AssertionError
        A larger error: how many elements, the report of `qops.error`, the first ten, where they are.
    TypeError, ValueError
        Both or none of `op` and `lsb`; what `qops.error` refuses.

    Examples
    --------
    >>> from qops.testing import assert_within
    >>> t = qops.quantize([0.0, 0.3, 1.0])
    >>> assert_within(t, [0.0, 0.3, 1.0], op="quantize")
    >>> try:
    ...     assert_within(t, [0.0, 0.3, 0.99], lsb=1)
    ... except AssertionError as failed:
    ...     print(failed)
    1 of 3 elements are more than 1 LSB off, 33.3 %; 2.55 LSB is the most
    worst at (2,): got 1 (code 255), exact 0.99, 2.55 LSB too high
    first: (2,) +2.55
    where: only element 2, the last one, and all of it
    """
    if unknown:
        raise unknown_keyword(assert_within, unknown)
    __tracebackhide__ = True  # pytest then shows the line that called
    if (op is None) == (lsb is None):
        raise bad_value("op, lsb", "give one of them")
    report = _error(got, exact, op)
    allowed = report.bound if lsb is None else _number(lsb, "lsb")
    if allowed is None or report.max <= allowed:
        return
    off = _signed_error(got, exact)
    far = np.abs(off) > allowed
    count, worst = int(np.count_nonzero(far)), np.unravel_index(int(np.abs(off).argmax()), off.shape)
    data = got.data if isinstance(got, QTensor) else np.asarray(got[0])
    lines = [
        f"{count} of {off.size} elements are more than {allowed:g} LSB off{f', the bound of {op}' if op else ''},"
        f" {_percent(count, off.size)}; {report.max:.4g} LSB is the most",
        f"worst at {_index(worst)}: got {report.worst.value:.6g} (code {data[worst]}), exact"
        f" {report.worst.reference:.6g}, {abs(off[worst]):.4g} LSB too {'high' if off[worst] > 0 else 'low'}",
        "first: " + ", ".join(f"{_index(i)} {off[i]:+.4g}" for i in _places(far)),
        *(f"where: {said}" for said in _where(far, np.zeros_like(far)) if not said.startswith("each")),
    ]
    raise AssertionError("\n".join(lines))


def _codes(x: ArrayLike, name: str) -> NDArray[Any]:
    """Give an array of integers."""
    data = np.asarray(_as_array(x, name))
    if data.dtype.kind not in "iu":
        raise bad_type(name, f"expected integers, got {data.dtype}; qops.testing.assert_within compares tensors")
    return data


def _same_shape(got: NDArray[Any], wanted: NDArray[Any]) -> None:
    __tracebackhide__ = True
    if got.shape != wanted.shape:
        raise AssertionError(f"got has shape {got.shape}, wanted {wanted.shape}")


def _wide(x: NDArray[Any]) -> NDArray[Any]:
    """Give integers as a type in which differences of all of them fit."""
    return x.astype(np.int64 if x.dtype.itemsize < 8 else object)


def _percent(count: int, size: int) -> str:
    return f"{100 * count / size:.3g} %"


def _index(index: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in index)


def _places(far: NDArray[Any]) -> list[tuple[int, ...]]:
    return [_index(np.unravel_index(i, far.shape)) for i in np.flatnonzero(far)[:_SHOWN]]


def _first(far: NDArray[Any], got: NDArray[Any], wanted: NDArray[Any]) -> list[str]:
    """List the first places that differ."""
    return ["first: " + ", ".join(f"{i} {got[i]} for {wanted[i]}" for i in _places(far))]


def _rule_of(got: NDArray[Any], wanted: NDArray[Any], numbers: Mapping[str, Any]) -> list[str]:
    """Say which rules made the codes, and which the wanted ones, as `qops.explain` finds them."""
    found, right = (_explain(**{**numbers, "y": codes}) for codes in (got, wanted))
    lines = [f"rule of what it got: {_names(found.exact)}", f"rule of what is wanted: {_names(right.exact)}"]
    kinds = {verdict.kind for verdict in found.excluded if verdict.rule in right.exact and verdict.kind}
    return lines + [f"the two rules differ here in {kind}" for kind in sorted(kinds)]


def _names(rules: list[str]) -> str:
    """List some rules."""
    more = len(rules) - _RULES
    return ", ".join(rules[:_RULES]) + (f" and {more} more" if more > 0 else "") if rules else "no known one"


if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)
