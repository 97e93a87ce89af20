"""The rest of a network at the front door: tables, joins, padding, pools, softmax."""

from functools import partial
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qops
from benchmarks import nnlib
from benchmarks.case import Candidate, shared
from benchmarks.frontdoor import of_bytes
from benchmarks.nnlib import HULL, A, B
from benchmarks.pools import AVG_POOLS, DENSE, MAX_POOLS, case
from benchmarks.products import any_codes
from qops.frontdoor.concat import BOUND_CONCAT
from qops.frontdoor.lookup import BOUND_LOOKUP
from qops.frontdoor.pool import BOUND_AVG_POOL
from qops.frontdoor.softmax import BOUND_SOFTMAX

Array = NDArray[Any]
TANH_STEP = 2 / 255  # of the range (-1, 1)
ROW = 1000  # scores that are compared, as in many networks that tell classes


def rows(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw n codes, in rows of up to 1000."""
    return {"a": any_codes(rng, (n,), np.uint8).reshape(-1, gcd(n, ROW))}


def tanh(a: Array) -> Array:
    """Give the real-valued codes of tanh."""
    return (np.tanh(A.scale * nnlib.centred(a, A)) + 1) / TANH_STEP


def qops_lookup(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.uint8).reshape(a.shape)
    return Candidate(lambda: qops.lookup(t, np.tanh, (-1.0, 1.0), out=out), lambda: out, BOUND_LOOKUP)


def qops_concat(a: Array, b: Array) -> Candidate:
    """Call qops."""
    parts, out = [(a, *A.range), (b, *B.range)], shared(2 * a.size, np.uint8).reshape(len(a), -1)
    return Candidate(lambda: qops.concat(parts, range=HULL, out=out), lambda: out, BOUND_CONCAT)


def padded(a: Array) -> Array:
    """Give the codes with one more on each side of each row, and a row before and after."""
    return np.pad(a, 1, constant_values=np.uint8(A.zero_point))


def qops_pad(a: Array) -> Candidate:
    """Call qops."""
    t, shape = (a, *A.range), (a.shape[0] + 2, a.shape[1] + 2)
    out = shared(shape[0] * shape[1], np.uint8).reshape(shape)
    return Candidate(lambda: qops.pad(t, 1, out=out), lambda: out, 0)


def shares(a: Array) -> Array:
    """Give the real-valued codes of softmax."""
    powers = np.exp(A.scale * nnlib.centred(a, A))
    return 255 * powers / powers.sum(-1, keepdims=True)


def qops_softmax(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.uint8).reshape(a.shape)
    return Candidate(lambda: qops.softmax(t, out=out), lambda: out, BOUND_SOFTMAX)


def qops_pool(op: Any, within: float, x: Array) -> Candidate:
    """Call qops."""
    t, shape = (x, *A.range), DENSE.shape(x)
    out, taps, step = shared(int(np.prod(shape)), np.uint8).reshape(shape), DENSE.taps, DENSE.step
    return Candidate(lambda: op(t, taps, stride=step, padding="same", out=out), lambda: out, within)


NETWORK = [
    of_bytes("lookup", rows, tanh, qops_lookup, 2),
    of_bytes("concat", nnlib.pair, nnlib.joined, qops_concat, 4),
    of_bytes("pad", rows, padded, qops_pad, 2),
    of_bytes("softmax", rows, shares, qops_softmax, 2),
    case("max_pool", DENSE, DENSE.highest, partial(qops_pool, qops.max_pool, 0)),
    case("avg_pool", DENSE, DENSE.mean, partial(qops_pool, qops.avg_pool, BOUND_AVG_POOL)),
]
MAX_POOLS["max_pool"] = AVG_POOLS["avg_pool"] = DENSE
