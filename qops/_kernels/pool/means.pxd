"""Means of windows, from their sums or from their codes."""
from libc.stdint cimport int32_t, int64_t, uint8_t

from qops._kernels.stage.stage cimport Stage

cdef extern from "pool/means.h" nogil:
    ctypedef enum Rule "pool_rule":
        RECIPROCAL "POOL_RECIPROCAL"
        QUOTIENT "POOL_QUOTIENT"
        TRUNCATE "POOL_TRUNCATE"
        HALF_AWAY "POOL_HALF_AWAY"
        Q15 "POOL_Q15"
        STAGE "POOL_STAGE"
        VALUES "POOL_VALUES"
    ctypedef struct RealMean "pool_real_mean":
        bint is_signed
        int32_t zero
        float scale
        Py_ssize_t kh, kw, row, column

cdef struct Means:  # how means are made
    Rule rule
    bint is_signed  # whether codes are signed
    bint is_wide  # whether sums have 32 bits, not 16
    bint padding  # whether taps on the padding count
    Stage stage  # for the rules STAGE and VALUES: it makes the codes
    int typenum  # for these: numpy's number of the dtype of the codes
    RealMean values  # for the rule VALUES

cdef void means_of_sums(const Means *means, const void *sums, Py_ssize_t n, int64_t count, uint8_t *y) noexcept nogil
cdef void means_of_values(const Means *means, const uint8_t *x, Py_ssize_t n, uint8_t *y) noexcept nogil
