"""Slow twins of `qops.onnx`: one element at a time, in Python's integers and numbers of one rounding an operation.

Arrays are given; zero points and scales as `at` takes them.
"""

from itertools import product
from math import ceil

import numpy as np

F32 = np.float32


def rows_and_columns(value, rows, columns):
    """A zero point or scale of a matrix as a function of the row or the column."""
    flat = np.ravel(value)
    return lambda i, j: flat[0] if flat.size == 1 else flat[i if rows else j if columns else 0]


def at(value, index, axis, block):
    """The scale or zero point of the element at `index`."""
    if np.size(value) == 1:
        return np.ravel(value)[0]
    if not block:
        return value[index[axis]]
    where = list(index)
    where[axis] //= block
    return value[tuple(where)]


def cut(code, dtype):
    info = np.iinfo(dtype)
    return max(info.min, min(info.max, code))


def wrapped(x):
    return (x + 2**31) % 2**32 - 2**31


def quantize_linear(x, scale, zero, axis, block, runtime):
    kind = F32 if runtime == "ort" else np.result_type(x, scale).type
    y = np.empty(x.shape, zero.dtype)
    for index in np.ndindex(x.shape):
        quotient = kind(x[index]) / kind(at(scale, index, axis, block))
        y[index] = cut(round(float(quotient)) + int(at(zero, index, axis, block)), y.dtype)
    return y


def dequantize_linear(x, scale, zero, axis, block):
    y = np.empty(x.shape, scale.dtype)
    for index in np.ndindex(x.shape):
        steps = F32(int(x[index]) - int(at(zero, index, axis, block)))
        with np.errstate(over="ignore"):  # of float16
            y[index] = scale.dtype.type(steps * F32(at(scale, index, axis, block)))
    return y


def dynamic_quantize_linear(x, runtime):
    low, high = min(F32(0), *x.ravel()), max(F32(0), *x.ravel())
    scale = (high - low) / F32(255)
    if low == high:
        scale = F32(1) if runtime == "ort" else F32(1) / F32(255)
    zero = round(float(max(F32(0), min(F32(255), -low / scale))))
    codes = [cut(round(float(v / scale)) + zero, np.uint8) for v in x.ravel()]
    return np.uint8(codes).reshape(x.shape), scale, np.uint8(zero)


def requantized(acc, first, second, last, zero, dtype, runtime):
    """One accumulator as a code."""
    factor = F32(first) * F32(second) / F32(last)
    if runtime == "ort":
        return cut(round(float(F32(acc) * factor)) + zero, dtype)
    return cut(round(float(acc) * float(factor) + zero), dtype)


def matmul(a, b, a_zero, b_zero):
    """int32 sums of a matrix product; zero points are one, or one for each row of a, one for each column of b."""
    za, zb = rows_and_columns(a_zero, True, False), rows_and_columns(b_zero, False, True)
    y = np.empty((len(a), b.shape[1]), np.int32)
    for i, j in np.ndindex(y.shape):
        terms = ((int(u) - int(za(i, j))) * (int(v) - int(zb(i, j))) for u, v in zip(a[i], b[:, j], strict=True))
        y[i, j] = wrapped(sum(terms))
    return y


def pads_of(auto_pad, pads, sizes, kernel, strides, dilations):
    """(before, after) of each axis."""
    if auto_pad == "VALID" or (not auto_pad.startswith("SAME") and pads is None):
        return [(0, 0)] * len(sizes)
    if auto_pad == "NOTSET":
        return list(zip(pads[: len(sizes)], pads[len(sizes) :], strict=True))
    found = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        total = max(0, (ceil(size / s) - 1) * s + (k - 1) * d + 1 - size)
        less, more = total // 2, total - total // 2
        found.append((less, more) if auto_pad == "SAME_UPPER" else (more, less))
    return found


def conv(x, w, x_zero, w_zero, auto_pad="NOTSET", dilations=None, group=1, pads=None, strides=None):
    """int32 sums of a convolution over any number of axes; w_zero is one, or one a filter."""
    sizes, kernel = x.shape[2:], w.shape[2:]
    strides, dilations = strides or [1] * len(sizes), dilations or [1] * len(sizes)
    pad = pads_of(auto_pad, pads, sizes, kernel, strides, dilations)
    out = [
        (n + sum(p) - (k - 1) * d - 1) // s + 1
        for n, p, k, d, s in zip(sizes, pad, kernel, dilations, strides, strict=True)
    ]
    y = np.empty((len(x), len(w), *out), np.int32)
    for n, m, *position in np.ndindex(y.shape):
        first = m // (len(w) // group) * w.shape[1]
        zero, total = int(np.ravel(w_zero)[m if np.size(w_zero) > 1 else 0]), 0
        for c, *tap in product(*map(range, w.shape[1:])):
            place = [p * s + t * d - q[0] for p, s, t, d, q in zip(position, strides, tap, dilations, pad, strict=True)]
            if all(0 <= p < size for p, size in zip(place, sizes, strict=True)):
                total += (int(x[(n, first + c, *place)]) - int(x_zero)) * (int(w[(m, c, *tap)]) - zero)
        y[(n, m, *position)] = wrapped(total)
    return y
