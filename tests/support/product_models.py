"""Models of the integer products in numpy, which share nothing with the kernels; and what they are given."""

import itertools
from functools import wraps
from hashlib import sha256

import numpy as np


def once(model):
    """The model, computed once for the same arguments: the tests of each tier draw the same."""
    made = {}

    @wraps(model)
    def kept(*arguments):
        key = sha256()
        for x in arguments:
            key.update(f"{x.dtype}{x.shape}".encode() + x.tobytes() if isinstance(x, np.ndarray) else repr(x).encode())
        if key.digest() not in made:
            made[key.digest()] = model(*arguments)
            made[key.digest()].flags.writeable = False
        return made[key.digest()]

    return kept


def wrap32(x):
    return np.asarray(x, np.int64).astype(np.int32)


def exact_model(a, b):
    """In float64, where sums of integers are exact below 2**53, and take a tenth of the time of int64."""
    return wrap32(a.astype(np.float64) @ b.astype(np.float64))


def saturating_model(a, b, block_starts=()):
    """sat16 of each pair of products, pairs counted from every block start; a signed a is shifted by 128."""
    shift = 128 if a.dtype == np.int8 else 0
    a, b = a.astype(np.int32) + shift, b.astype(np.int32)
    acc = np.zeros((a.shape[0], b.shape[1]), np.int64)
    some = 2 * max(1, 2**15 // max(acc.size, 1))  # terms at once, so that the pairs of all of C stay in the cache
    for first, end in itertools.pairwise([0, *block_starts, a.shape[1]]):
        for at in range(first, end, some):
            x, y = a[:, at : min(at + some, end)], b[at : min(at + some, end)]
            pairs = x[:, ::2, None] * y[::2]
            pairs[:, : len(y) // 2] += x[:, 1::2, None] * y[1::2]
            acc += np.clip(pairs, -32768, 32767, out=pairs).sum(1, np.int32)  # of 2**15 pairs at most
    return wrap32(acc - shift * b.sum(0, np.int64))


def product_model(a, b, pairs):
    """`pairs`: where pairs that saturate begin anew; None: nothing saturates."""
    return exact_model(a, b) if pairs is None else saturating_model(a, b, pairs)


model = once(product_model)


def extreme(rng, shape, dtype):
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1], dtype)[rng.integers(0, 4, shape, np.uint8)]


def uniform(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


@once
def convolution_model(x, w, stride, dilation, padding, pad_value, groups, saturating):
    """A row of k for each pixel of NHWC: its window, tap by tap, channels filled up to even."""
    ic, oc = w.shape[1], w.shape[0] // groups
    x = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=pad_value)
    kh, kw = w.shape[2:]
    oh = (x.shape[1] - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    ow = (x.shape[2] - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    product = saturating_model if saturating else exact_model
    y = np.zeros((x.shape[0], oh, ow, w.shape[0]), np.int32)
    for g in range(groups):
        weights = w[g * oc : (g + 1) * oc].transpose(2, 3, 1, 0)
        weights = np.pad(weights, ((0, 0), (0, 0), (0, ic % 2), (0, 0))).reshape(-1, oc)
        part = np.pad(x[..., g * ic : (g + 1) * ic], ((0, 0),) * 3 + ((0, ic % 2),))
        rows = []
        for i, j in itertools.product(range(oh), range(ow)):
            top, left = i * stride[0], j * stride[1]
            down = slice(top, top + (kh - 1) * dilation[0] + 1, dilation[0])
            across = slice(left, left + (kw - 1) * dilation[1] + 1, dilation[1])
            rows.append(part[:, down, across].reshape(x.shape[0], -1))
        found = product(np.concatenate(rows), weights)
        y[..., g * oc : (g + 1) * oc] = found.reshape(oh, ow, x.shape[0], oc).transpose(2, 0, 1, 3)
    return y
