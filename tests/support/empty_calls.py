"""Calls of ops with arrays that have no element but enormous sizes, in a child process: see test_empty_arrays.py.

Takes the numbers of the first call and of the end; prints what `children.answers` reads.
"""

import json
import resource
import sys
import time
import warnings

import numpy as np
from ops import OPS, arrays, call, changed

MEMORY = 8 << 30
"""Bytes that the child may ask for. What needs more is refused by Python."""


def shapes(rank):
    """Shapes of so many axes, one of them 0; int64 numbers of them would fit in 63 bits, and no less."""
    if rank < 2:
        return []
    longest = 56 // (rank - 1)
    each = [tuple(0 if axis == zero else 1 << longest for axis in range(rank)) for zero in (0, rank - 1)]
    return [*each, (0, 1 << 56, *[1] * (rank - 2)), (1 << 56, *[1] * (rank - 2), 0)]


def calls():
    """The name of the op, the name of the argument, and the shape of its array, or of each array of a list."""
    for name in OPS:
        for key in arrays(name):
            first = []
            changed(name, key, lambda x, first=first: first.append(x) or x)
            shape = first[0].shape
            kept = [{0: 0, axis: 1 << 50} for axis in range(1, len(shape))]
            kept += [{axis: 0, 0: 1 << 50} for axis in range(1, len(shape))]
            sizes = [tuple(new.get(i, size) for i, size in enumerate(shape)) for new in kept]
            deep = [(1 << 20, 1 << 20, *shape[:-1], 0), (1 << 20, 1 << 20, 0, *shape[1:])]  # a batch of batches
            yield from ((name, key, other) for other in dict.fromkeys([*shapes(len(shape)), *sizes, *deep]))


def outcome(name, key, shape):
    """How the call ends: taken, no memory, or refused with an error text."""
    try:
        call(name, **{key: changed(name, key, lambda x: np.empty(shape, x.dtype))})
    except MemoryError:
        return "no memory"
    except (TypeError, ValueError) as refused:
        return f"refused: {refused}"
    return "taken"


def main(first, end):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    for number, (name, key, shape) in enumerate(calls()):
        if first <= number < end:
            print(json.dumps({"number": number}), flush=True)
            start = time.perf_counter()
            found = outcome(name, key, shape)
            seconds = time.perf_counter() - start
            print(json.dumps({"call": [name, key, shape], "outcome": found, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
