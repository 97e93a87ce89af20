"""Softmax of rows of 8-bit codes.

    c = floor(255 * e[top - q] / sum of all e[top - q] + 0.5) + lowest        e[d] = exp(-d * step)

`top` is the highest code of the row, so every e is at most 1, and the sum is at least 1.
"""

cimport numpy as cnp
from libc.math cimport exp
from libc.stdint cimport int8_t, uint8_t

from qops._kernels.arrays.codes cimport CodeType, code_type_of

cnp.import_array()

ctypedef fused code:
    uint8_t
    int8_t


cdef void softmax_row(const code* x, Py_ssize_t n, const double* e, const CodeType* into, uint8_t* y) noexcept nogil:
    """Make the codes of one row, as bytes."""
    cdef code top = x[0]
    cdef double sum = 0, factor
    cdef int lowest = <int>into.lowest
    cdef Py_ssize_t i
    for i in range(n):
        top = max(top, x[i])
    for i in range(n):
        sum += e[top - x[i]]
    factor = into.steps / sum
    for i in range(n):
        y[i] = <uint8_t>(lowest + <int>(e[top - x[i]] * factor + 0.5))  # not below 0, so the cast is the floor


def softmax(const code[:, ::1] x not None, double step, bint is_signed, uint8_t[:, ::1] y not None):
    """Write the softmax of each row of codes, whose step is `step`, as bytes of uint8 or int8 codes to `y`."""
    cdef double[256] e
    cdef const CodeType* into = code_type_of(is_signed, 1)
    cdef Py_ssize_t i, n = x.shape[1]
    cdef int d
    if n == 0:
        return
    with nogil:
        for d in range(256):
            e[d] = exp(-d * step)
        for i in range(x.shape[0]):
            softmax_row(&x[i, 0], n, e, into, &y[i, 0])
