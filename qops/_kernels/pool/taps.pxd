from libc.stdint cimport int32_t

cdef extern from "pool/taps.h" nogil:
    ctypedef enum PoolKind "pool_kind":
        MAX_U8 "POOL_MAX_U8"
        MAX_S8 "POOL_MAX_S8"
        SUM_U8_S16 "POOL_SUM_U8_S16"
        SUM_S8_S16 "POOL_SUM_S8_S16"
        SUM_S16 "POOL_SUM_S16"
        SUM_U16_S32 "POOL_SUM_U16_S32"
        SUM_S16_S32 "POOL_SUM_S16_S32"
        SUM_S32 "POOL_SUM_S32"
    ctypedef struct Taps "pool_taps":
        Py_ssize_t pixels, stride, pitch, channels, taps, tap_stride
        int32_t start

cdef void combine(PoolKind kind, const void *x, Taps p, void *y) noexcept nogil
