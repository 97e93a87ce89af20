"""Arrays within the arguments of a call: also those in tensors, and in sequences of them."""

import numpy as np


def paths(value, path=()):
    """Where the arrays with axes are: keys of dicts, indices of lists and tuples."""
    if isinstance(value, np.ndarray):
        return [path] if value.ndim else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return [found for key, part in items for found in paths(part, (*path, key))]


def at(value, path):
    """What is there."""
    for key in path:
        value = value[key]
    return value


def replaced(value, path, x):
    """A copy of `value` with `x` at `path`."""
    if not path:
        return x
    if isinstance(value, dict):
        return {**value, path[0]: replaced(value[path[0]], path[1:], x)}
    return type(value)(replaced(part, path[1:], x) if i == path[0] else part for i, part in enumerate(value))
