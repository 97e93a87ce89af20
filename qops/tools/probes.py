"""Accumulators that tell rules apart at a given scale."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.tools.candidates import Dump, of

__all__ = ["probe_for"]

_MOST = 256
_ALL_CODES = 1 << 14  # of wider types those near both ends and near 0
_AROUND = 4  # integers on each side of every code boundary


def boundaries(scale: float, lo: int, hi: int, zero_point: int) -> NDArray[np.int32]:
    """Accumulators on both sides of where the code changes, far beyond both ends, and around 0."""
    first, last = float(lo - zero_point - 2), float(hi - zero_point + 3)
    if last - first <= _ALL_CODES:
        codes = np.arange(first, last)
    else:
        some = _ALL_CODES // 4
        codes = np.concatenate([first + np.arange(some), np.arange(-some, some), last - np.arange(some)])
    with np.errstate(all="ignore"):
        changes = np.concatenate([codes, codes + 0.5]) / scale if scale > 0 else np.zeros(1)
    near = (np.rint(np.clip(changes, -(2.0**33), 2.0**33))[:, None] + np.arange(-_AROUND, _AROUND + 1)).reshape(-1)
    powers = 2.0 ** np.arange(32)
    far = np.concatenate([powers, powers - 1, -powers, 1 - powers])
    every = np.unique(np.concatenate([near, far]))
    return every[(every >= -(2**31)) & (every < 2**31)].astype(np.int64).astype(np.int32)


def separating(results: Sequence[NDArray[Any]], most: int = _MOST) -> NDArray[np.intp]:
    """Indices, few of them, at which every two results differ that differ anywhere."""
    pairs = [(i, j) for i, j in combinations(range(len(results)), 2) if not np.array_equal(results[i], results[j])]
    chosen: list[int] = []
    apart = np.array([results[i] != results[j] for i, j in pairs])
    while len(apart) and len(chosen) < most:
        best = int(apart.sum(axis=0).argmax())
        chosen.append(best)
        apart = apart[~apart[:, best]]
    return np.array(sorted(chosen), np.intp)


def probe_for(dump: Dump, rules: Sequence[str]) -> NDArray[np.int32]:
    """At most 256 accumulators that separate every two of the rules that differ at the scale of the dump."""
    if dump.kind != "requantize":
        raise ValueError(f"probe: accumulators tell rules of requantize apart, not of {dump.kind}")
    n, info = dump.numbers, np.iinfo(dump.y.dtype)
    lo, hi = (info.min if n.get("qmin") is None else n["qmin"]), (info.max if n.get("qmax") is None else n["qmax"])
    scale = n["scale"] if n.get("scale") is not None else n["in_scale"] * np.asarray(n["w_scale"]) / n["out_scale"]
    one = float(np.reshape(scale, -1)[0])
    numbers = {**n, "scale": one, "axis": None}
    x = boundaries(one, lo, hi, n.get("zero_point") or 0)
    asked = Dump("requantize", x, np.zeros(x.shape, dump.y.dtype), None, numbers)
    results = []
    for c in of(asked):
        if c.rule in rules:
            results.append(c.codes())
    return x[separating(results)]
