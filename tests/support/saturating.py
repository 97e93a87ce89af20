"""Codes that saturate pairs of products, and the pairs that do, counted in Python integers."""

import itertools

import numpy as np
import onednn_twins as twins

__all__ = ["codes", "counted"]


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    uniform = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.3, rng.choice(np.array([info.min, info.max], dtype), shape), uniform)


def counted(rows, weights, starts):
    """Count in Python integers, over rows (M, K) of u8 codes and weights (O, K)."""
    blocks = itertools.pairwise([*starts, weights.shape[1]])
    pairs = [range(i, min(i + 2, hi)) for lo, hi in blocks for i in range(lo, hi, 2)]
    out = np.zeros((len(weights), len(pairs)), int)
    for o, w in enumerate(weights.tolist()):
        for p, members in enumerate(pairs):
            sums = [sum(row[k] * w[k] for k in members) for row in rows.tolist()]
            out[o, p] = sum(twins.sat16(x) != x for x in sums)
    return out
