"""One row of the table: an op at a size, checked, then timed."""

import sys
from typing import Any

import numpy as np

from benchmarks.case import Candidate, Case, WrongResult, check, from_line
from benchmarks.peers import Forms
from benchmarks.timing import Time, microseconds

SEED = 20


def measure(case: Case, n: int, peers: dict[str, Forms], rounds: int) -> dict[str, Any]:
    """Make a row; WrongResult, before anything is timed, if qops is not within its bound.

    A peer that is not within its own is named on stderr and in ``left_out``, and not timed.
    """
    inputs = {name: placed(x) for name, x in case.inputs(np.random.default_rng(SEED), n).items()}
    reference = case.reference(**inputs)
    judged, ceiling = case.qops(**inputs), case.rate.ceiling(case.work(n))
    check(f"qops {case.name}, n = {n}", judged, reference)
    check("ceiling", ceiling, np.zeros(np.shape(ceiling.result())))
    right, left_out = checked_peers(case, n, peers, inputs, reference)
    runs = {"qops": judged.run, "ceiling": ceiling.run, **{name: one.run for name, one in right.items()}}
    return row(case, n, microseconds(runs, rounds), ceiling.times, left_out)


def placed(x: Any) -> Any:
    """Begin an input with a cache line, as results do; its axes keep their order in memory."""
    if not isinstance(x, np.ndarray):
        return x
    order = np.argsort(x.strides, kind="stable")[::-1]
    y = from_line(x.size, x.dtype).reshape(x.transpose(order).shape).transpose(np.argsort(order))
    y[...] = x
    return y


def checked_peers(
    case: Case, n: int, peers: dict[str, Forms], inputs: dict[str, Any], reference: Any
) -> tuple[dict[str, Candidate], dict[str, str]]:
    """Give every form of every peer that gives the right result, and tell why the others do not."""
    right, left_out = {}, {}
    for peer, forms in peers.items():
        for form, make in forms.get(case.beside or case.name, {}).items():
            name = f"{peer} {form}"
            try:
                candidate = make(**inputs)
                check(name, candidate, reference)
            except (WrongResult, RuntimeError) as why:
                left_out[name] = str(why)
                print(f"left out of {case.name}, n = {n}: {why}", file=sys.stderr)
            else:
                right[name] = candidate
    return right, left_out


def row(case: Case, n: int, times: dict[str, Time], repeated: int, left_out: dict[str, str]) -> dict[str, Any]:
    """Collect the columns of the table, and all that was timed; the ceiling did the work `repeated` times."""
    (qops_us, low, high), ceiling_us = times.pop("qops"), times.pop("ceiling").median / repeated
    best = min(times, key=times.__getitem__, default=None)
    return {
        "op": case.name,
        "n": n,
        "qops_us": qops_us,
        "qops_quartiles_us": [low, high],
        "best_peer": best,
        "best_peer_us": times[best].median if best else None,
        case.rate.column: case.work(n) / (qops_us * 1e-6) / case.rate.scale,
        case.rate.share: ceiling_us / qops_us,
        "ceiling_us": ceiling_us,
        "peers_us": {name: time.median for name, time in times.items()},
        "left_out": left_out,
    }
