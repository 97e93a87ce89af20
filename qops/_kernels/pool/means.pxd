"""Means of windows, a row of them at a time."""
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.stage.stage cimport Stage
from qops._kernels.pool.places cimport Pool, Taps

cdef extern from "pool/pooling.h" nogil:
    ctypedef enum Rule "pool_rule":
        RECIPROCAL "POOL_RECIPROCAL"
        QUOTIENT "POOL_QUOTIENT"
        TRUNCATE "POOL_TRUNCATE"
        Q15 "POOL_Q15"
        CODED "POOL_CODED"
        VALUES "POOL_VALUES"

cdef struct Means:
    Rule rule
    bint is_signed, padding  # padding: it is counted
    Py_ssize_t size  # bytes of a sum
    Stage stage  # of the last two rules
    int typenum  # numpy's number of the codes
    int32_t zero  # CODED: what the sum of a window is lessened by; VALUES: the code of real 0
    float scale  # of VALUES

cdef void means_row(const Pool *p, const Means *means, Taps rows, const char *sums, uint8_t *y) noexcept nogil
cdef void value_row(const Pool *p, const Means *means, const char *x, uint8_t *y) noexcept nogil
