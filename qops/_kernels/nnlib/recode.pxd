from libc.stdint cimport uint8_t

from qops._kernels.nnlib.ranges cimport FloatEnds

cdef extern from "nnlib/recode.h":
    ctypedef struct recode_params:
        int offset
        bint wraps  # whether q + offset wraps in 16 bits; otherwise in 32 bits
        int multiplier, right_shift, zero

cdef struct Recoder:
    recode_params p
    bint in_lanes
    uint8_t[256] table  # filled if 16-bit lanes do not hold the numbers

cdef recode_params prepare_to_hull(FloatEnds a, FloatEnds c, bint vector) noexcept nogil
cdef void set_recoder(Recoder* r, recode_params p) noexcept nogil
cdef void recode_codes(char** data, Py_ssize_t n, void* using) noexcept nogil
