"""Errors of codes and their sums, in one pass over contiguous float64 arrays of equal length."""

cimport numpy as cnp
from libc.math cimport fabs
from libc.stdint cimport int64_t

import numpy as np

cnp.import_array()


cdef struct ErrorSums:
    Py_ssize_t worst  # index of the first of the largest |off|
    double largest, absolute, signed, squares, noise, signal


cdef struct Lines:  # value = (code - zero) * step + base; stride 1: one line for each element, 0: one for all
    const double* step
    const double* zero
    const double* base
    Py_ssize_t stride


cdef ErrorSums add_up(const double* code, const double* true, Lines of, double* off, Py_ssize_t n) noexcept nogil:
    cdef ErrorSums s = ErrorSums(0, -1, 0, 0, 0, 0, 0)
    cdef double step, noise, size
    cdef Py_ssize_t i, at
    for i in range(n):
        at = i * of.stride
        step = of.step[at]
        noise = (code[i] - of.zero[at]) * step + of.base[at] - true[i]
        off[i] = noise / (step if step else 1.0)
        size = fabs(off[i])
        if size > s.largest:
            s.largest, s.worst = size, i
        s.absolute += size
        s.signed += off[i]
        s.squares += size * size
        s.noise += noise * noise
        s.signal += true[i] * true[i]
    return s


def stretches(tuple arrays, Py_ssize_t length):
    """Broadcast `arrays` and yield (start, arrays) in blocks of at most `length` elements, as contiguous float64."""
    start, count = 0, len(arrays)  # np.nditer, because `walk` takes at most three arrays and does not convert them
    arrays = tuple(map(np.atleast_1d, arrays))  # a bug of numpy 2.0: nditer leaves the buffer of a 0-d array unfilled
    with np.nditer(arrays, ["external_loop", "buffered"], [["readonly", "contig", "aligned"]] * count,
                   [np.float64] * count, order="C", casting="unsafe", buffersize=length) as blocks:
        for parts in blocks:
            yield start, parts
            start += parts[0].size


def sums(cnp.ndarray code, cnp.ndarray true, list line, cnp.ndarray off):
    """Write the errors, in steps, to `off`; give the index and size of the largest, and sums, as a dict.

    `line` is (step, zero, base): arrays with one element for each code, or 0-d arrays. A step of 0 counts as 1. The
    sums are of |off|, off and off**2, and of the squared errors and squared true values in real units.
    """
    cdef cnp.ndarray step = line[0], zero = line[1], base = line[2]
    cdef Lines of = Lines(<double*>cnp.PyArray_DATA(step), <double*>cnp.PyArray_DATA(zero),
                          <double*>cnp.PyArray_DATA(base), step.ndim)
    return add_up(<double*>cnp.PyArray_DATA(code), <double*>cnp.PyArray_DATA(true), of,
                  <double*>cnp.PyArray_DATA(off), cnp.PyArray_SIZE(off))


def count(cnp.ndarray off, double width, Py_ssize_t half):
    """Count the errors in each bin; there are `half` bins of this `width` on each side of 0.

    A bin includes its lower edge, and the last one its upper edge too.
    """
    cdef cnp.npy_intp bins = 2 * half
    cdef cnp.ndarray counts = cnp.PyArray_ZEROS(1, &bins, cnp.NPY_INT64, 0)
    cdef int64_t* found = <int64_t*>cnp.PyArray_DATA(counts)
    cdef const double* x = <double*>cnp.PyArray_DATA(off)
    cdef double at, per_unit = 1 / width  # exact, as the width is a power of two
    cdef Py_ssize_t i, whole
    for i in range(cnp.PyArray_SIZE(off)):
        at = x[i] * per_unit
        whole = <Py_ssize_t>at
        found[min(whole - (at < whole) + half, <Py_ssize_t>bins - 1)] += 1
    return counts
