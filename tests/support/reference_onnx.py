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
    y, rows, columns = np.empty((len(a), b.shape[1]), np.int32), a.tolist(), b.T.tolist()
    for i, j in np.ndindex(y.shape):
        u_zero, v_zero = int(za(i, j)), int(zb(i, j))
        y[i, j] = wrapped(sum((u - u_zero) * (v - v_zero) for u, v in zip(rows[i], columns[j], strict=True)))
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
    y, zeros = np.empty((len(x), len(w), *out), np.int32), np.broadcast_to(np.ravel(w_zero), len(w)).tolist()
    pixels = {place: int(code) - int(x_zero) for place, code in np.ndenumerate(x)}
    weights = {place: int(code) - zeros[place[0]] for place, code in np.ndenumerate(w)}
    for n, m, *position in np.ndindex(y.shape):
        first, total = m // (len(w) // group) * w.shape[1], 0
        starts = [p * s - before for p, s, (before, _) in zip(position, strides, pad, strict=True)]
        for c, *tap in product(*map(range, w.shape[1:])):
            place = [start + t * d for start, t, d in zip(starts, tap, dilations, strict=True)]
            total += pixels.get((n, first + c, *place), 0) * weights[(m, c, *tap)]  # padding adds nothing
        y[(n, m, *position)] = wrapped(total)
    return y
