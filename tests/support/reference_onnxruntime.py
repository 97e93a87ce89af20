"""Twins of onnxruntime's own operators in `qops.onnx`, in rounded numbers, most of them one element at a time.

Arrays are given; scales and zero points are numbers.
"""

from fractions import Fraction
from itertools import product
from math import ceil, exp, floor, log, prod

import numpy as np
from exact import fma
from reference_onnx import cut, matmul, pads_of, wrapped

F32 = np.float32


def codes_of(values, dtype):
    """Half to even, and the lowest code for what int32 does not hold."""
    near, info = np.asarray(np.rint(values.astype(float))), np.iinfo(dtype)
    near[(near < -(2**31)) | (near >= 2**31)] = info.min
    return np.clip(near, info.min, info.max).astype(dtype)


def add(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
    ra, rb = F32(a_scale) / F32(scale), F32(b_scale) / F32(scale)
    constant = F32(zero) - fma(ra, F32(a_zero), rb * F32(b_zero))
    return codes_of(fma(a.astype(F32), ra, fma(b.astype(F32), rb, constant)), a.dtype)


def mul(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
    factor = F32(a_scale) * F32(b_scale) / F32(scale)
    return codes_of(F32((a.astype(int) - a_zero) * (b.astype(int) - b_zero)) * factor + F32(zero), a.dtype)


def table(function, x, x_scale, x_zero, scale, zero):
    """The codes of a function of one float32."""
    values = (function(F32(x_scale) * F32(q - x_zero)) for q in x.ravel().tolist())
    codes = [cut(round(float(v / F32(scale))) + zero, x.dtype) for v in values]
    return np.array(codes, x.dtype).reshape(x.shape)


def softmax(x, x_scale, scale, zero):
    """The codes of one row: exponentials as large as float32 allows, their sum in float32, one after the other."""
    step, largest = float(F32(x_scale)), int(x.max())
    shift = max(0.0, float(F32(log(np.finfo(F32).max / F32(len(x))))) - 5) / step
    each = [F32(exp((q - largest + shift) * step)) for q in x.tolist()]
    total = F32(0)
    for value in each:
        total = total + value
    parts = floor(F32(1) / F32(scale))
    codes = [cut(round(float(value) * parts / float(total)) + zero, x.dtype) for value in each]
    return np.array(codes, x.dtype)


def leaky(alpha):
    return lambda v: v if v >= 0 else v * F32(alpha)


def windows(shape, kernel_shape, strides=None, dilations=None, pads=None, auto_pad="NOTSET", ceil_mode=0):
    """The places of the taps of each window that are in an image of this shape."""
    steps, gaps = strides or [1] * len(shape), dilations or [1] * len(shape)
    padding = pads_of(auto_pad, pads, shape, kernel_shape, steps, gaps)
    if auto_pad[:4] == "SAME":
        padding = []
        for n, k, s, d in zip(shape, kernel_shape, steps, gaps, strict=True):
            total = (ceil(n / s) - 1) * s + (k - 1) * d + 1 - n
            less = abs(total) // 2 * (1 if total > 0 else -1)  # and the odd one behind, or in front
            more = abs(total + 1) // 2 * (1 if total > 0 else -1)
            padding.append((less, total - less) if auto_pad == "SAME_UPPER" else (more, total - more))
    counts = []
    for n, k, s, d, (before, after) in zip(shape, kernel_shape, steps, gaps, padding, strict=True):
        last = (ceil if ceil_mode else floor)(Fraction(n + before + after - (k - 1) * d - 1, s))
        counts.append(last if last * s >= n + before else last + 1)
    for at in np.ndindex(*counts):
        taps = []
        for tap in product(*map(range, kernel_shape)):
            place = [i * s + t * d - p[0] for i, s, t, d, p in zip(at, steps, tap, gaps, padding, strict=True)]
            if all(0 <= p < n for p, n in zip(place, shape, strict=True)):
                taps.append(tuple(place))
        yield at, taps


def pooled(x, one, **window):
    """`one` of the codes of each window, of images with the channels first."""
    found = list(windows(x.shape[2:], **window))
    y = np.empty((*x.shape[:2], *(n + 1 for n in found[-1][0])), x.dtype)
    for (n, c), (at, taps) in product(np.ndindex(x.shape[:2]), found):
        y[(n, c, *at)] = one([int(x[(n, c, *place)]) for place in taps])
    return y


def mean_of(x_scale, x_zero, scale, zero, dtype, count=None):
    """The code of the mean of codes; `count`: of how many, if padding counts too."""

    def one(codes):
        total = F32(0)
        for q in codes:
            total = total + F32(x_scale) * F32(q - x_zero)
        return codes_of(total / F32(count or len(codes)) / F32(scale) + F32(zero), dtype)

    return one


def mean_of_all(x_scale, x_zero, scale, zero, dtype):
    def one(codes):
        factor = F32(x_scale) / (F32(scale) * F32(len(codes)))
        return cut(round(float(F32(sum(codes) - len(codes) * x_zero) * factor)) + zero, dtype)

    return one


def average_pool(x, x_scale, x_zero, scale, zero, *, count_include_pad=0, **window):
    given = window | {"pads": window.get("pads") or [0] * 2 * len(window["kernel_shape"])}
    is_whole = list(x.shape[2:]) == list(window["kernel_shape"]) and not any(given["pads"])
    if is_whole and window.get("auto_pad", "NOTSET")[:4] != "SAME":
        return pooled(x, mean_of_all(x_scale, x_zero, scale, zero, x.dtype), **window)
    count = prod(window["kernel_shape"]) if count_include_pad else None
    return pooled(x, mean_of(x_scale, x_zero, scale, zero, x.dtype, count), **window)


def gemm(a, b, zeros, factors, bias, zero=None):
    """`factors` one for each column; float32 without a zero point of the result."""
    acc = matmul(a, b, *zeros)
    y = np.empty(acc.shape, F32 if zero is None else a.dtype)
    for i, j in np.ndindex(acc.shape):
        total = F32(wrapped(int(acc[i, j]) + int(bias[i, j])))
        y[i, j] = total * factors[j] if zero is None else cut(round(float(total * factors[j])) + zero, a.dtype)
    return y
