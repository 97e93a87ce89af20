"""Models of the integer products in numpy int64, which share nothing with the kernels; and what they are given."""

import itertools

import numpy as np


def wrap32(x):
    return np.asarray(x, np.int64).astype(np.int32)


def exact_model(a, b):
    return wrap32(a.astype(np.int64) @ b.astype(np.int64))


def saturating_model(a, b, block_starts=()):
    """sat16 of each pair of products, pairs counted from every block start; a signed a is shifted by 128."""
    shift = 128 if a.dtype == np.int8 else 0
    a, b = a.astype(np.int32) + shift, b.astype(np.int32)
    acc = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for first, end in itertools.pairwise([0, *block_starts, a.shape[1]]):
        odd = (end - first) % 2
        left, right = np.pad(a[:, first:end], ((0, 0), (0, odd))), np.pad(b[first:end], ((0, odd), (0, 0)))
        pairs = left[:, ::2, None] * right[::2] + left[:, 1::2, None] * right[1::2]
        acc += np.clip(pairs, -32768, 32767, out=pairs).sum(1, np.int64)
    return wrap32(acc - shift * b.sum(0, np.int64))


def model(a, b, pairs):
    """`pairs`: where pairs that saturate begin anew; None: nothing saturates."""
    return exact_model(a, b) if pairs is None else saturating_model(a, b, pairs)


def extreme(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.max, 0, 1], dtype), shape)


def uniform(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def convolution_model(x, w, stride, dilation, padding, pad_value, groups, saturating):
    """Make one pixel of NHWC at a time: the window, tap by tap, as a row of k, channels filled up to even."""
    ic, oc = w.shape[1], w.shape[0] // groups
    x = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=pad_value)
    kh, kw = w.shape[2:]
    oh = (x.shape[1] - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    ow = (x.shape[2] - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    y = np.zeros((x.shape[0], oh, ow, w.shape[0]), np.int32)
    for g in range(groups):
        weights = w[g * oc : (g + 1) * oc].transpose(2, 3, 1, 0)
        weights = np.pad(weights, ((0, 0), (0, 0), (0, ic % 2), (0, 0))).reshape(-1, oc)
        for i, j in itertools.product(range(oh), range(ow)):
            top, left = i * stride[0], j * stride[1]
            window = x[
                :,
                top : top + (kh - 1) * dilation[0] + 1 : dilation[0],
                left : left + (kw - 1) * dilation[1] + 1 : dilation[1],
                g * ic : (g + 1) * ic,
            ]
            rows = np.pad(window, ((0, 0),) * 3 + ((0, ic % 2),)).reshape(x.shape[0], -1)
            y[:, i, j, g * oc : (g + 1) * oc] = model(rows, weights, () if saturating else None)
    return y
