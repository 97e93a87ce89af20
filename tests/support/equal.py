"""Equality of arrays as numpy.testing has it, which is asked only where they differ: it takes ten times as long."""

import numpy as np


def equal(got, want, why="", strict=False):
    """Raise if an element differs, or the shape, or if it is `strict` the type."""
    same_type = not strict or got.dtype == want.dtype
    if not (same_type and np.array_equal(got, want)):
        np.testing.assert_array_equal(got, want, err_msg=why, strict=strict)
