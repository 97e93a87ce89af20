"""Means of windows, of their sums or of their codes."""
from libc.stdint cimport int32_t, int64_t, uint8_t

from qops._kernels.stage.stage cimport Stage

cdef extern from "pool/means.h" nogil:
    ctypedef enum Rule "pool_rule":
        RECIPROCAL "POOL_RECIPROCAL"
        QUOTIENT "POOL_QUOTIENT"
        TRUNCATE "POOL_TRUNCATE"
        Q15 "POOL_Q15"
        STAGE "POOL_STAGE"
        VALUES "POOL_VALUES"
    ctypedef struct Values "pool_values":
        bint is_signed
        int32_t zero
        float scale
        Py_ssize_t kh, kw, row, column

cdef struct Means:
    Rule rule
    bint is_signed  # whether the codes are
    bint is_wide  # whether sums have 32 bits, not 16
    bint padding  # whether it counts
    Stage stage  # of STAGE and VALUES: it makes the codes
    int typenum  # numpy's number of their dtype
    Values values  # of VALUES

cdef void means_of_sums(const Means *means, const void *sums, Py_ssize_t n, int64_t count, uint8_t *y) noexcept nogil
cdef void means_of_values(const Means *means, const uint8_t *x, Py_ssize_t n, uint8_t *y) noexcept nogil
