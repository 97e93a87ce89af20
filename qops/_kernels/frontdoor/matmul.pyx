"""The last step of `matmul` and `conv2d`: sums of products of codes become int32 codes of the real sums."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from qops._kernels.machine.tiers cimport tier

import numpy as np

cnp.import_array()

cdef extern from "frontdoor/matmul.h" nogil:
    Py_ssize_t codes_of_row__simd(int, const int32_t*, int32_t*, Py_ssize_t, double, double, const double*)

cdef double WHOLE = 6755399441055744  # 1.5 * 2**52: doubles this large have no fraction, so adding it rounds to even


cdef void codes_of_row(const int32_t* sums, int32_t* codes, Py_ssize_t n, double factor, double of_row,
                       const double* of_columns) noexcept nogil:
    """code = round_half_even(sum * factor + of_row + of_column)."""
    cdef Py_ssize_t j = codes_of_row__simd(tier(), sums, codes, n, factor, of_row, of_columns)
    for j in range(j, n):
        codes[j] = <int32_t>((sums[j] * factor + of_row + of_columns[j] + WHOLE) - WHOLE)


def codes_of_sums(const int32_t[:, ::1] sums, terms, factors, double per_value, int32_t[:, ::1] codes):
    """Turn sums of products of codes into codes of the real sums; a value is base + code * step.

        value = sum * factors[0] + row * factors[1] + column * factors[2] + count * factors[3]
        code = value * per_value

    terms: (rows, columns, counts, which). `rows` has the sum of the codes of each row of `a`. At the border of an image
    the padding cuts off a part of the filters `b`; for each such cut, `columns` has the sum of the codes of each column
    of `b`, and `counts` the number of products of a sum. `which` has the cut of each row; it repeats with its length.
    """
    cdef const int32_t[::1] rows
    cdef const int32_t[:, ::1] columns
    cdef const int64_t[::1] counts, which
    cdef double of_sum, of_row, of_column, of_one
    cdef Py_ssize_t i, j, cut, n = sums.shape[1]
    rows, columns, counts, which = terms
    of_sum, of_row, of_column, of_one = factors
    if n == 0:
        return
    cdef double[:, ::1] added = np.empty((columns.shape[0], n))
    with nogil:
        for i in range(columns.shape[0]):
            for j in range(n):
                added[i, j] = columns[i, j] * of_column * per_value
        for i in range(sums.shape[0]):
            cut = which[i % which.shape[0]]
            codes_of_row(&sums[i, 0], &codes[i, 0], n, of_sum * per_value,
                         (rows[i] * of_row + counts[cut] * of_one) * per_value, &added[cut, 0])
