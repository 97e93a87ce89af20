"""Which rule made these integers: every rule that gives them exactly, and a witness against every other."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.tools import candidates
from qops.tools.candidates import Dump
from qops.tools.dump import dump_of
from qops.tools.explanation import Explanation, Verdict, Witness
from qops.tools.probes import probe_for

__all__ = ["explain", "explained"]

_WIDTHS = (8, 16, 32, 64)  # elements of a vector, of which a tail may be computed otherwise
_TIE = 2.0**-16


def _common(dump: Dump, where: NDArray[Any], wanted: NDArray[Any]) -> str:
    """What all differences have in common."""
    x, n = dump.x.reshape(-1), dump.numbers
    scale = n.get("scale")
    if dump.kind == "requantize" and isinstance(scale, float):
        rest = np.abs(x[where] * scale) % 1
        if (np.abs(rest - 0.5) < _TIE).all():
            return "ties only"
    ends = (dump.y.reshape(-1)[where], wanted.reshape(-1)[where])
    info = np.iinfo(dump.y.dtype)
    lo, hi = (info.min if n.get("qmin") is None else n["qmin"]), (info.max if n.get("qmax") is None else n["qmax"])
    if all(((e == lo) | (e == hi)).any() and np.isin(e, (lo, hi)).all() for e in ends):
        return "saturation only"
    if dump.kind in ("requantize", "quantize"):
        signs = np.sign(x[where])
        if x.size > where.size and (signs == signs[0]).all() and (np.sign(x) != signs[0]).any():
            return "positive only" if signs[0] > 0 else "negative only"
    for width in _WIDTHS:
        if x.size % width > 0 and x.size > width and where.min() >= x.size // width * width:
            return "tail only"
    return ""


def _verdict(dump: Dump, rule: str, before: str, codes: NDArray[Any]) -> Verdict:
    y, wanted, x = (v.reshape(-1) for v in (dump.y, codes, dump.x))
    where = np.flatnonzero(y != wanted)
    if where.size == 0:
        return Verdict(rule, before, 0, 0.0, 0, None, "")
    i, inside = int(where[0]), x.size == y.size
    acc = x[i].item() if inside else None
    if dump.b is not None:
        acc = [acc, dump.b.reshape(-1)[i].item()]
    index = tuple(int(k) for k in np.unravel_index(i, dump.y.shape))
    off = np.abs(y[where].astype(np.int64) - wanted[where])
    kind = _common(dump, where, wanted) if inside else ""
    first = Witness(index, acc, int(y[i]), int(wanted[i]))
    return Verdict(rule, before, where.size, where.size / y.size, int(off.max()), first, kind)


def _tried(dump: Dump, mistakes: bool) -> tuple[list[Verdict], dict[bytes, list[str]]]:
    """A verdict on each rule, the best of its candidates; and the rules by what they give."""
    best: dict[tuple[str, str], Verdict] = {}
    alike: dict[bytes, list[str]] = {}
    for c in candidates.of(dump, mistakes):
        try:
            wanted = c.codes()
        except ValueError:  # a scale that this rule does not take, a mistake that cannot have been made
            continue
        key = (c.rule, c.before)
        verdict = _verdict(c.seen, c.rule, c.before, wanted)
        if key not in best or verdict.differs < best[key].differs:
            best[key] = verdict
        group = alike.setdefault(wanted.tobytes(), [])
        if c.rule not in group:
            group.append(c.rule)
    return list(best.values()), alike


def explained(dump: Dump, probe: bool = False) -> Explanation:
    """Explain a dump; see `explain`.

    Parameters
    ----------
    dump : Dump
        What the device gave.
    probe : bool
        Whether to look for accumulators that tell the rules apart.

    Returns
    -------
    Explanation

    Raises
    ------
    TypeError, ValueError
        Numbers that no rule takes, a probe for another kind than requantize.
    """
    candidates.lenient(dump)
    found, alike = _tried(dump, mistakes=False)
    exact = [v.rule for v in found if v.differs == 0]
    excluded = sorted((v for v in found if v.differs), key=lambda v: v.differs)
    mistakes: list[Verdict] = []
    if not exact:
        least = excluded[0].differs if excluded else dump.y.size
        mistakes = [v for v in _tried(dump, mistakes=True)[0] if v.differs < least]
    groups = sorted({tuple(group) for group in alike.values() if len(group) > 1})
    accumulators = probe_for(dump, exact) if probe else None
    return Explanation(dump.y.size, exact, excluded, mistakes, [list(g) for g in groups], accumulators)


def explain(
    x: ArrayLike,
    y: ArrayLike,
    *,
    kind: str = "requantize",
    scale: ArrayLike | None = None,
    b: ArrayLike | None = None,
    probe: bool = False,
    **numbers: Any,
) -> Explanation:
    """Tell which rules made the integers `y`: all that give every one of them, and a witness against each other rule.

    If none does, the nearest are given, with how many elements differ, by how much and where; and what people get wrong
    before the rounding is tried: how the scale was rounded, the sign of the zero point, a sign offset of 128, layout.

    Parameters
    ----------
    x : array_like
        requantize: int32 accumulators. add, mul: codes. quantize: float32 values. avgpool: codes, NHWC.
    y : ndarray
        What the device gave; its dtype is the type of the codes.
    kind : {"requantize", "add", "mul", "quantize", "avgpool"}
        What was computed.
    scale : float or 1-D array_like, optional
        requantize: real output steps an input step, one or one a channel along ``axis``. quantize: size of a code step.
    b : ndarray, optional
        The second operand of add and mul.
    probe : bool
        For requantize: also look for at most 256 accumulators that separate every two rules still possible.
    **numbers
        requantize: instead of ``scale`` also ``in_scale``, ``w_scale`` (one or one a channel) and ``out_scale``;
        ``axis``, ``zero_point``, ``in_zero_point``, ``qmin``, ``qmax``. quantize: ``zero_point``. add, mul:
        ``a_scale``, ``a_zp``, ``b_scale``, ``b_zp``, ``y_scale``, ``y_zp``. avgpool: ``kernel``, ``zero_point``; with a
        scale of its own also ``x_scale``, ``y_scale``, ``y_zp``.

    Returns
    -------
    Explanation
        A set of rules: those that are the same function on these data are all named.

    Raises
    ------
    TypeError, ValueError
        An unknown kind, a number that is missing or that this kind does not have, data of the wrong type or shape.

    See Also
    --------
    qops.rules.TABLE : the rules of requantize.

    Notes
    -----
    Source: none; the rules' own are in `qops.rules`.

    **Hazards.** On ordinary data many rules are one: only ties, or a scale near a code boundary, tell single roundings
    apart. A set with more than one name says that the data do not decide.

    Examples
    --------
    >>> acc = np.arange(-300, 300, 7, dtype=np.int32)
    >>> y = np.clip((acc * 3 + 4) >> 3, -128, 127).astype(np.int8)
    >>> found = explain(acc, y, scale=0.375)
    >>> found.exact
    ['tflite-single', 'rndnu', 'tosa-single', 'textbook7-half-up', 'shift-half-up']
    >>> even = next(v for v in found.excluded if v.rule == "fp32-even")
    >>> even.differs, even.kind, even.first  # -91.5
    (5, 'ties only', Witness(index=(8,), acc=-244, got=-91, wanted=-92))
    """
    return explained(dump_of(kind, x, y, b, {"scale": scale, **numbers}), probe)
