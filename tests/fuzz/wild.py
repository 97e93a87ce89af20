"""Values that no op wants, or few: numbers, words and objects of all kinds, and arrays that lie or look odd."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from bad import NOT_ARRAYS, NOT_FLAGS, NOT_NUMBERS, NOT_WORDS
from cases import HUGE, TINY

NUMBERS = [
    *(0, -1, 1, 2, 3, 127, 255, 256, 2**15, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63, 10**400, 10**5000),
    *(0.0, -0.0, 0.5, 1e-9, TINY, -3 * TINY, 2.0**-126, 1e38, HUGE, -HUGE, 1e39, 1e308, np.nan, np.inf, -np.inf),
    *(Fraction(1, 3), Fraction(10**400), Decimal("0.1"), np.float32(1e-40), np.int64(2**40), np.uint64(2**64 - 1)),
]
OBJECTS = [[], (), {}, [[1]], (1, 2, 3), [None], range(3), [2**40] * 2, [-1, 5], ["a"], [0.5, np.nan], slice(3), ...]
EMPTY = [(0,), (0, 2**40), (2**40, 0, 3), (0, 2**30, 2**28), (2**20, 2**20, 0, 2**18), (0,) * 33]
"""Shapes without elements, some with axes too long for anything else."""


def arrays(x, rng):
    """Arrays in place of `x`: of other types and shapes, without elements, with one element many times."""
    first = x.ravel()[:1] if x.size else np.zeros(1, x.dtype)
    kinds = ["uint8", "int8", "int16", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]
    with np.errstate(all="ignore"):
        yield x.astype(rng.choice(kinds))
    yield np.empty(EMPTY[rng.integers(len(EMPTY))], x.dtype)
    yield x[..., None] if rng.random() < 0.5 else x[None]
    yield x.ravel()
    yield np.atleast_1d(x)[:1]
    yield first[0]
    yield first.reshape((1,) * 40)
    yield np.broadcast_to(first, (3, 2**16))
    yield np.broadcast_to(first, rng.integers(1, 6, rng.integers(1, 6)))
    if x.dtype.kind == "f" and x.size:
        spoilt = x.copy()
        spoilt.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf, HUGE, TINY])
        yield spoilt


def value(good, rng):
    """A value in place of a good one: of its kind, but odd, or of another kind."""
    if isinstance(good, np.ndarray) and rng.random() < 0.7:
        odd = [*arrays(good, rng), *(change(good) for change in NOT_ARRAYS.values() if good.size)]
    elif isinstance(good, tuple) and len(good) == 3 and isinstance(good[0], np.ndarray) and rng.random() < 0.8:
        at = rng.integers(3)
        return tuple(value(part, rng) if i == at else part for i, part in enumerate(good))
    elif isinstance(good, (list, tuple)) and good and rng.random() < 0.6:
        at = rng.integers(len(good))
        odd = [[value(part, rng) if i == at else part for i, part in enumerate(good)], [*good, good[0]], good[:-1]]
    elif isinstance(good, (int, float)) and not isinstance(good, bool) and rng.random() < 0.7:
        odd = NUMBERS
    else:
        odd = [*NUMBERS, *OBJECTS, *NOT_NUMBERS.values(), *NOT_WORDS, *NOT_FLAGS, np.zeros((2, 0)), np.float32([1, 2])]
    return odd[rng.integers(len(odd))]
