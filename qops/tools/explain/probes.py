"""Inputs that tell rules apart: accumulators at the edges of codes, pairs of codes, values on ties."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.codes import TABLE
from qops.rules.table import BLOCKS
from qops.tools.explain import candidates
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.op_dump import Dump

__all__ = ["Probe", "boundaries", "distinct", "edges", "probe_for", "separating", "windows_of"]

_S32 = TABLE["s32"]
_MOST = 256  # how many inputs a probe has at most
_MANY = 1 << 12  # up to this many codes, _AROUND accumulators are tried around each boundary
_ALL = 1 << 17  # up to this many codes, every boundary is tried
_AROUND = 4  # accumulators on each side of a boundary between codes; 1 if there are many codes
_OF_A_PAIR = 32  # how many inputs are examined for two rules
_CHANNELS = 256  # how many channels are tried
_SCALES = 16  # how many scales of a quantizer are tried
_CODES_OF_WINDOWS = 1 << 20  # about how many codes all windows have together
_ALONE = {"stride": 1, "padding": 0, "count_padding": None}  # images of one window


@dataclass(frozen=True)
class Probe:
    """Inputs to run on the device.

    Attributes
    ----------
    inputs : dict of str to ndarray
        At most 256 inputs, by the names of a dump: ``acc``, ``a`` and ``b``, or ``x``, which for a pool holds images.
        If each channel has a scale, ``channel`` is the channel of each input.
    separates : list of str
        The rules that were compared.
    alike : list of list of str
        Groups of rules that no tried input separates.
    numbers : dict
        The numbers of the dump. If each channel has a scale, there is one scale for each input.
    """

    inputs: dict[str, NDArray[Any]]
    separates: list[str]
    alike: list[list[str]]
    numbers: dict[str, Any]

    def __str__(self) -> str:
        if len(self.separates) < 2:
            return "no inputs, as there are no two rules to tell apart"
        size = len(next(iter(self.inputs.values())))
        inputs = f"{size} input{'s' * (size != 1)} ({', '.join(self.inputs)})"
        told = [f"{inputs} to tell {len(self.separates)} rules apart"] if size else []
        told += [f"no input that was tried tells apart {' = '.join(group)}" for group in self.alike]
        return "; ".join(told)


def boundaries(scale: float, lo: int, hi: int, zero_point: int) -> NDArray[np.int32]:
    """Give accumulators on both sides of where the code changes, far beyond both ends, and around 0."""
    codes = _codes(lo - zero_point - 2, hi - zero_point + 2, _ALL).astype(np.float64)
    with np.errstate(all="ignore"):
        changes = np.concatenate([codes, codes + 0.5]) / scale if scale > 0 else np.zeros(1)
    around = _AROUND if codes.size <= _MANY else 1
    near = (np.rint(np.clip(changes, -(2.0**33), 2.0**33))[:, None] + np.arange(-around, around + 1)).reshape(-1)
    powers = 2.0 ** np.arange(32)
    far = np.concatenate([powers, powers - 1, -powers, 1 - powers])
    every = distinct([near, far])
    return every[(every >= _S32.lowest) & (every <= _S32.highest)].astype(np.int64).astype(np.int32)


def distinct(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Give all numbers of some arrays in order, each once; `numpy.unique` of numpy 2.4 takes fifty times as long."""
    every = np.sort(np.concatenate(parts))
    return np.concatenate([every[:1], every[1:][every[1:] != every[:-1]]])


def _codes(lo: int, hi: int, most: int = _MANY) -> NDArray[np.int64]:
    """All codes; if there are many, those near both ends and near 0, and some in between."""
    if hi - lo < most:
        return np.arange(lo, hi + 1)
    some, between = np.arange(_MANY // 4), np.linspace(lo, hi, most).astype(np.int64)
    return distinct([lo + some, hi - some, some.clip(lo, hi), -some.clip(-hi, -lo), between])


def edges(codes_of: Callable[[NDArray[np.int32]], NDArray[Any]], lo: int, hi: int) -> NDArray[np.int32]:
    """Give the first accumulator of every code, and the one before it.

    Two rules that never fall as the accumulator rises are the same function if they agree there.
    """
    codes = _codes(lo + 1, hi)
    low = np.full(codes.shape, _S32.lowest)
    for half in (1 << bit for bit in reversed(range(32))):  # of a range that begins at `low`
        low += half * (codes_of((low + (half - 1)).astype(np.int32)) < codes)
    return np.concatenate([low, np.maximum(low - 1, _S32.lowest)]).astype(np.int32)


def separating(results: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    """Give a few indices, so that every two results that differ anywhere differ at one of them."""
    each = list(combinations(results, 2))
    some = [np.flatnonzero(a != b)[:_OF_A_PAIR] for a, b in each]
    columns = distinct([np.zeros(0, np.intp), *some])
    apart = np.array([a[columns] != b[columns] for a, b in each]).reshape(len(each), columns.size)
    apart = apart[apart.any(axis=1)]
    chosen: list[int] = []
    while len(apart) and len(chosen) < _MOST:
        best = int(apart.sum(axis=0).argmax())
        chosen.append(best)
        apart = apart[~apart[:, best]]
    return columns[sorted(chosen)]


def probe_for(dump: Dump, rules: Sequence[str]) -> Probe:
    """Give at most 256 inputs that separate every two rules which differ at the scales of the dump.

    Rules of `BLOCKS` are left out: they differ from others in the last elements only, wherever these are.
    """
    every = chain(candidates.of(dump), candidates.by_hand(dump))
    kept = [c for c in every if c.rule in rules and c.rule not in BLOCKS]
    if dump.kind == "requantize":
        return _of_accumulators(dump, kept)
    if dump.kind == "average_pool":
        return _of_windows(dump, kept)
    asked = _pairs_of_codes(dump) if dump.b is not None else _values(dump)
    results = _results(kept, asked)
    at = separating(list(results.values()))
    inputs = {"a": asked.x[at], "b": asked.b[at]} if asked.b is not None else {"x": asked.x[at]}
    return Probe(inputs, list(results), _alike(results), asked.of_values(at).numbers)


def _results(kept: list[Candidate], asked: Dump) -> dict[str, NDArray[Any]]:
    """The codes of each rule, and once more for each other scale that its systems form."""
    found: dict[str, NDArray[Any]] = {}
    for c in kept:
        try:
            found[f"{c.rule} (another scale)" if c.rule in found else c.rule] = c.codes(asked)
        except (ValueError, TypeError):
            continue
    return found


def _of_windows(dump: Dump, kept: list[Candidate]) -> Probe:
    """Images of one window each, with as many channels as the dump: some rules round the last channels differently.

    A rule may compute a window as large as the image by another one. So if the images of the dump are larger, these
    have one more column, which is their first one again.

    Every sum of codes that differ by 1 at most, and any codes: a rule that adds float32 values rounds each sum, so it
    may differ from a rule that adds integers for few windows of the same sum.
    """
    (height, width), channels = dump.numbers["kernel"], dump.x.shape[3]
    every = windows_of(height * width, dump.x.dtype, max(_MOST, _CODES_OF_WINDOWS // (height * width * channels)))
    windows, count = every.reshape(-1, height, width, 1), len(every)
    is_whole = dump.x.shape[1:3] == (height, width)
    dump = dump.but(**{name: value for name, value in _ALONE.items() if name in dump.numbers})
    x = np.repeat(windows if is_whole else np.concatenate([windows, windows[:, :, :1]], axis=2), channels, axis=3)
    asked = replace(dump, x=x, y=np.zeros((count, 1, 2 - is_whole, channels), dump.y.dtype))
    results = _results(kept, asked)
    images = [codes.reshape(count, -1) for codes in results.values()]
    # For each rule and each image, this is the index of the first rule that gives the same codes.
    first = [np.argmax([(other == image).all(axis=1) for other in images], axis=0) for image in images]
    return Probe({"x": asked.x[separating(first)]}, list(results), _alike(results), dump.numbers)


def windows_of(taps: int, dtype: Any, most: int) -> NDArray[Any]:
    """Give windows: first one for each sum, of codes that differ by 1 at most, in rising order; then any codes.

    Parameters
    ----------
    taps : int
        Codes of a window.
    dtype : data type
        Their type.
    most : int
        How many windows; of more sums, some with each remainder are spread over all.

    Returns
    -------
    ndarray of the type, (n, taps)
    """
    info = np.iinfo(dtype)
    least, largest = int(info.min) * taps, int(info.max) * taps
    sums = np.arange(least, largest + 1) if largest - least < most else np.linspace(least, largest, most * 3 // 4)
    if sums.size < largest - least:  # of each remainder some
        sums = np.unique(np.minimum(sums.astype(np.int64) + np.arange(sums.size) % taps, largest))
    whole, rest = np.divmod(sums[:, None], taps)
    even = whole + (np.arange(taps) < rest)
    uneven = np.random.default_rng(0).integers(info.min, info.max + 1, (max(0, most - sums.size), taps))
    return np.concatenate([even, uneven]).astype(dtype)


def _alike(results: dict[str, NDArray[Any]]) -> list[list[str]]:
    groups: dict[bytes, list[str]] = {}
    for rule, codes in results.items():
        groups.setdefault(codes.tobytes(), []).append(rule)
    return [group for group in groups.values() if len(group) > 1]


def _of_accumulators(dump: Dump, kept: list[Candidate]) -> Probe:
    """Accumulators at the edges of the codes, for one channel after the other until all rules are told apart."""
    scales, (lo, hi) = np.reshape(np.asarray(dump.scale(), np.float64), -1), dump.ends
    some = np.unique(np.linspace(0, scales.size - 1, min(scales.size, _CHANNELS)).astype(np.intp))
    acc: NDArray[Any] = np.zeros(0, np.int32)
    channel: NDArray[Any] = np.zeros(0, np.intp)
    groups = [list(kept)]
    for one in some:
        asked = _of_channel(dump, int(one))
        tried = [boundaries(float(scales[one]), lo, hi, dump.numbers.get("zero_point") or 0)]
        left = [c for group in groups for c in group]
        tried += [_edges_of(c, asked) for c in left]
        asked = replace(asked, x=distinct(tried))
        asked = replace(asked, y=np.zeros(asked.x.shape, dump.y.dtype))
        groups, found = _split(groups, asked, _MOST - acc.size)
        acc = np.concatenate([acc, asked.x[found]])
        channel = np.concatenate([channel, np.full(found.size, one)])
        if not groups or acc.size == _MOST:
            break
    names = [[c.rule for c in group] for group in groups]
    alike = [list(dict.fromkeys(group)) for group in names]
    numbers = dump.numbers
    inputs = {"acc": acc}
    if scales.size > 1:
        numbers = dump.of_some(channel).but(axis=-1).numbers
        inputs["channel"] = channel
    return Probe(inputs, list(dict.fromkeys(c.rule for c in kept)), [g for g in alike if len(g) > 1], numbers)


def _split(groups: list[list[Candidate]], asked: Dump, most: int) -> tuple[list[list[Candidate]], NDArray[np.intp]]:
    """Split groups of candidates that agreed so far: the groups that still agree, and the inputs that split them."""
    still: list[list[Candidate]] = []
    chosen = np.zeros(0, np.intp)
    for group in groups:
        results = {i: codes for i, c in enumerate(group) if (codes := _codes_of(c, asked)) is not None}
        chosen = np.union1d(chosen, separating(list(results.values())))[:most].astype(np.intp)
        parts: dict[bytes, list[Candidate]] = {}
        for i, codes in results.items():
            parts.setdefault(codes[chosen].tobytes(), []).append(group[i])
        still += [part for part in parts.values() if len(part) > 1]
    return still, chosen


def _codes_of(c: Candidate, asked: Dump) -> NDArray[Any] | None:
    try:
        return c.codes(asked)
    except (ValueError, TypeError):  # a scale that this rule does not take
        return None


def _edges_of(c: Candidate, asked: Dump) -> NDArray[np.int32]:
    def codes_of(x: NDArray[np.int32]) -> NDArray[Any]:
        found = _codes_of(c, replace(asked, x=x))
        return np.zeros(x.shape, asked.y.dtype) if found is None else found

    return edges(codes_of, *asked.ends)


def _of_channel(dump: Dump, channel: int) -> Dump:
    """A dump without data, with the numbers of one channel."""
    return replace(dump.of_some(channel).but(axis=None), x=np.zeros(0, np.int32), y=np.zeros(0, dump.y.dtype))


def _pairs_of_codes(dump: Dump) -> Dump:
    """All pairs of 8-bit codes; of wider codes many pairs, the same each time."""
    info = np.iinfo(dump.x.dtype)
    if dump.x.dtype.itemsize == 1:
        every = np.arange(info.min, info.max + 1).astype(dump.x.dtype)
        a, b = np.repeat(every, every.size), np.tile(every, every.size)
    else:
        a, b = np.random.default_rng(0).integers(info.min, info.max + 1, (2, 1 << 18)).astype(dump.x.dtype)
    return replace(dump, x=a, b=b, y=np.zeros(a.shape, dump.y.dtype))


def _values(dump: Dump) -> Dump:
    """A dump of float32 values on both sides of where the code changes."""
    n, (lo, hi) = dump.numbers, dump.ends
    if dump.is_by_element:
        return _values_of_scales(dump)
    chosen = {(n["scale"], n["zero_point"])} if "scale" in n else candidates.choices(dump)
    every = [np.arange(max(lo - z, -4096) - 1, min(hi - z, 4096) + 1.0, 0.5) * scale for scale, z in chosen]
    with np.errstate(over="ignore"):
        x = np.concatenate(every).astype(np.float32)
    x = x[np.isfinite(x)]
    x = np.unique(np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])).astype(np.float32)
    x = np.pad(x, (0, -x.size % 64), "edge")  # whole vectors, so no rule computes a tail
    return replace(dump, x=x, y=np.zeros(x.shape, dump.y.dtype))


def _values_of_scales(dump: Dump) -> Dump:
    """A dump of values on both sides of where the code changes, for some of the scales of channels, rows or blocks."""
    every = np.broadcast_arrays(dump.numbers["scale"], dump.numbers["zero_point"], dump.x)
    both = np.unique(np.stack([every[0], every[1]], 1), axis=0)
    few = both[np.linspace(0, len(both) - 1, min(len(both), _SCALES)).astype(np.intp)].tolist()
    parts = [_values(dump.but(scale=scale, zero_point=int(zero))) for scale, zero in few]
    sizes = [part.x.size for part in parts]
    numbers = {"scale": np.repeat([s for s, _ in few], sizes), "zero_point": np.repeat([int(z) for _, z in few], sizes)}
    x = np.concatenate([part.x for part in parts])
    return replace(dump.but(**numbers, axis=-1), x=x, y=np.zeros(x.shape, dump.y.dtype))
