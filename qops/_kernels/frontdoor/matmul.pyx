"""The codes of sums of products, from sums of the codes and what the zero points add: for `matmul` and `conv2d`."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from qops._kernels.core.tiers cimport tier

cnp.import_array()

cdef extern from "frontdoor/matmul.h" nogil:
    Py_ssize_t codes_of_row__simd(int, const int32_t*, int32_t*, Py_ssize_t, double, double, const double*)

cdef double WHOLE = 6755399441055744  # 1.5 * 2**52: a sum with it has no fraction bits, so it is rounded half to even


cdef void codes_of_row(const int32_t* sums, int32_t* codes, Py_ssize_t n, double factor, double of_row,
                       const double* of_columns) noexcept nogil:
    """code = round_half_even(sum * factor + of_row + of_column)."""
    cdef Py_ssize_t j = codes_of_row__simd(tier(), sums, codes, n, factor, of_row, of_columns)
    for j in range(j, n):
        codes[j] = <int32_t>((sums[j] * factor + of_row + of_columns[j] + WHOLE) - WHOLE)


def codes_of_sums(const int32_t[:, ::1] sums, double factor, const double[::1] of_rows, const double[:, ::1] of_columns,
                  const int64_t[::1] which, int32_t[:, ::1] codes):
    """The codes of a matrix of sums; row i takes the row which[i % len(which)] of what is added to columns."""
    cdef Py_ssize_t i, n = sums.shape[1]
    if n == 0:
        return
    with nogil:
        for i in range(sums.shape[0]):
            codes_of_row(&sums[i, 0], &codes[i, 0], n, factor, of_rows[i], &of_columns[which[i % which.shape[0]], 0])
