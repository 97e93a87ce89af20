"""The result of `explain` as one HTML page that needs no other file: tables, and pictures in SVG."""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._pages.html import table, whole_page
from qops._pages.svg import bars
from qops.rules.averages import AVERAGE_POOL
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.binary import ADD, MUL
from qops.rules.quantize_rules import QUANTIZE
from qops.tools.explain import candidates
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.explanation import Explanation, all_integers
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.verdicts import systems_of

__all__ = ["page_of"]

_PICTURED = 4  # how many functions are drawn
_FAR = 6  # differences of 6 and more share one bar
_STEP_BINS, _PLACE_BINS = 32, 64
_TABLES: dict[str, Any] = {
    "requantize": REAL_BIAS,
    "add": ADD,
    "mul": MUL,
    "quantize": QUANTIZE,
    "average_pool": AVERAGE_POOL,
}


def page_of(dump: Dump, found: Explanation, name: str) -> str:
    """Write the page of one dump.

    Parameters
    ----------
    dump : Dump
        What was explained.
    found : Explanation
        The result of `explained`.
    name : str
        Title of the page: the name of the file.

    Returns
    -------
    str
        HTML.
    """
    parts = [
        *_head(dump, found, name),
        *_fitting(dump, found),
        *_mistaken(found),
        *_fitted(found),
        *_others(found),
        *_pictures(dump, found),
        *_alike(found),
        *_probe(found),
    ]
    return whole_page(name, parts)


def _head(dump: Dump, found: Explanation, name: str) -> Iterator[str]:
    every = all_integers(found.size)
    yield f'<p class="soft"><code>{escape(name)}</code></p>'
    if found.exact:
        rules = "1 rule gives" if len(found.exact) == 1 else f"{len(found.exact)} rules give"
        yield f'<h1 class="good">{rules} {every}: {escape(", ".join(found.exact))}</h1>'
    elif found.mistakes:
        mistakes = dict.fromkeys(v.before for v in found.mistakes)
        yield f'<h1 class="bad">A rule gives {every} once a mistake is undone: '
        yield f"{escape('; or '.join(mistakes))}</h1>"
    else:
        yield f'<h1 class="bad">No rule gives {every}</h1>'
    said = [f"{word} = {_short(value)}" for word, value in dump.numbers.items() if value is not None]
    yield f'<p class="soft">{dump.kind}, {dump.y.dtype} codes of shape {dump.y.shape}; {escape(", ".join(said))}</p>'


def _short(value: Any) -> str:
    if np.ndim(value) and np.size(value) > 4:
        return f"{np.size(value)} values, {np.min(value):.6g} to {np.max(value):.6g}"
    return str(value)


def _fitting(dump: Dump, found: Explanation) -> Iterator[str]:
    if found.exact:
        yield "<h2>Rules that give every integer</h2>"
        if len(found.exact) > 1:
            yield "<p>On these data they are the same function, so the data do not decide between them.</p>"
        yield table(("rule", "systems"), [(rule, _systems(dump.kind, rule)) for rule in found.exact])


def _systems(kind: str, rule: str) -> str:
    formula = getattr(_TABLES.get(kind, {}).get(rule.split(", ")[-1]), "formula", "")  # a range rule may stand before
    return f"{systems_of(kind, rule)}: {formula}" if formula else systems_of(kind, rule)


def _mistaken(found: Explanation) -> Iterator[str]:
    if found.mistakes:
        yield "<h2>Mistakes that explain every integer</h2>"
        by_words: dict[str, list[str]] = {}
        for v in found.mistakes:
            by_words.setdefault(v.before, []).append(v.rule)
        yield table(("mistake", "rules that then fit"), [(w, ", ".join(rules)) for w, rules in by_words.items()])


def _fitted(found: Explanation) -> Iterator[str]:
    if found.fit is not None:
        yield f"<h2>Fitted</h2><p>{escape(found.fit.words[:1].upper() + found.fit.words[1:])}.</p>"
        if found.fit.found:
            yield table(("rule", "integers"), [(str(f.rule), str(f.integers or "")) for f in found.fit.found])


def _others(found: Explanation) -> Iterator[str]:
    if not found.excluded:
        return
    yield f"<h2>{'Excluded rules, each with a witness' if found.exact else 'The nearest rules'}</h2>"
    heads = ("rule", "#differ", "#share", "#by at most", "which", "first at", "#input", "#device", "#rule")
    rows = []
    for v in found.excluded:
        w = v.first
        where = ("", "", "", "") if w is None else (_index(w.index), _source(w.acc), str(w.got), str(w.wanted))
        rows.append((v.rule, f"{v.differs:,}", f"{v.share:.3%}", f"{v.largest:,}", v.kind, *where))
    yield table(heads, rows)


def _source(acc: Any) -> str:
    return "" if acc is None else str(acc)


def _index(index: tuple[int, ...]) -> str:
    return str(list(index)) if len(index) > 1 else str(index[0])


def _pictures(dump: Dump, found: Explanation) -> Iterator[str]:
    if not found.excluded or found.mistakes or dump.x.size != dump.y.size:
        return
    yield "<h2>Where they differ</h2>"
    yield (
        "<p>First, by how many codes the device differs from the rule. Second, at which fraction of a code step the "
        "exact result lies; a tie is at 0.5. Third, where in the array the element is. The second and the third "
        "picture show the share of the elements there that differ.</p>"
    )
    for rules, codes in _functions(dump, [v.rule for v in found.excluded]):
        count = np.count_nonzero(codes != dump.y.reshape(-1))
        yield f'<h3><code>{escape(" = ".join(rules))}</code> <span class="soft">{count:,} differ</span></h3>'
        yield f'<div class="pictures">{"".join(_drawn(dump, codes))}</div>'


def _functions(dump: Dump, rules: list[str]) -> list[tuple[list[str], NDArray[Any]]]:
    """The nearest rules and their codes; rules that are the same function on these data stand together."""
    found: list[tuple[list[str], NDArray[Any]]] = []
    for rule in rules:
        tried = (c for c in (*candidates.of(dump), *candidates.by_hand(dump)) if c.rule == rule)
        codes = min((_codes(dump, c) for c in tried), key=lambda v: _off(dump, v))
        for names, others in found:
            if np.array_equal(codes, others):
                names.append(rule)
                break
        else:
            if len(found) == _PICTURED:
                break
            found.append(([rule], codes))
    return found


def _codes(dump: Dump, c: Candidate) -> NDArray[Any]:
    """The codes of a candidate; an empty array if it does not take the scale."""
    try:
        return c.codes(dump).reshape(-1)
    except (ValueError, TypeError):
        return np.zeros(0, dump.y.dtype)


def _off(dump: Dump, codes: NDArray[Any]) -> int:
    return int(np.count_nonzero(codes != dump.y.reshape(-1))) if codes.size else dump.y.size + 1


def _drawn(dump: Dump, codes: NDArray[Any]) -> Iterator[str]:
    y = dump.y.reshape(-1)
    differs = y != codes
    off = np.clip(y[differs].astype(np.int64) - codes[differs], -_FAR, _FAR)
    counts = np.bincount((off + _FAR).astype(np.intp), minlength=2 * _FAR + 1)
    names = [f"{k:+d}" for k in range(-_FAR, _FAR + 1)]
    names[0], names[-1] = f"\u2264-{_FAR}", f"\u2265+{_FAR}"
    kept = [k for k in range(2 * _FAR + 1) if k != _FAR]
    yield bars("device less rule", [(names[k], float(counts[k])) for k in kept], "{:,.0f}")
    real = dump.real(np.arange(y.size))
    if real is not None:
        at = (np.nan_to_num(real) % 1 * _STEP_BINS).astype(np.intp) % _STEP_BINS
        labels = [f"{k / _STEP_BINS:.3g}" for k in range(_STEP_BINS)]
        yield bars("fraction of a step", _rates(labels, at, differs), "{:.2%}", every=_STEP_BINS // 4)
    bins = min(_PLACE_BINS, y.size)
    at = np.arange(y.size) * bins // y.size
    yield bars(
        "place",
        _rates([f"{k * y.size // bins:,}" for k in range(bins)], at, differs),
        "{:.2%}",
        every=max(1, bins // 4),
    )


def _rates(labels: list[str], at: NDArray[np.intp], differs: NDArray[np.bool_]) -> list[tuple[str, float]]:
    every = np.bincount(at, minlength=len(labels))
    counts = np.bincount(at[differs], minlength=len(labels))
    return list(zip(labels, (counts / np.maximum(every, 1)).tolist(), strict=True))


def _alike(found: Explanation) -> Iterator[str]:
    others = [group for group in found.indistinguishable if set(group) != set(found.exact)]
    if others:
        yield "<h2>Rules that are the same function on these data</h2>"
        yield "".join(f"<p>{escape(' = '.join(group))}</p>" for group in others)


def _probe(found: Explanation) -> Iterator[str]:
    if found.separated is not None:
        yield "<h2>Inputs to run on the device</h2>"
        yield f"<p>{escape(str(found.separated))}</p>"
