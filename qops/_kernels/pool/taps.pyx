"""The taps of windows combined, channel by channel, into their largest codes or their sums."""
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t

from qops._kernels.machine.tiers cimport tier

cdef extern from "pool/taps.h" nogil:
    Py_ssize_t pool_combine__simd(int, const void *, Taps, void *, PoolKind)

ctypedef fused code:
    uint8_t
    int8_t

ctypedef fused value:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t

ctypedef fused total:
    int16_t
    int32_t


cdef inline void largest(const code *x, Taps p, code *y) noexcept nogil:
    """Make the largest code of each channel of each window."""
    cdef Py_ssize_t _i, t, c
    for _i in range(p.pixels):
        for c in range(p.channels):
            y[c] = x[c]
        for t in range(1, p.taps):
            for c in range(p.channels):
                y[c] = max(y[c], x[t * p.tap_stride + c])
        x += p.stride
        y += p.pitch


cdef inline void summed(const value *x, Taps p, total *y) noexcept nogil:
    """Make the sum of each channel of each window in the type of y. The sums wrap."""
    cdef Py_ssize_t _i, t, c
    for _i in range(p.pixels):
        for c in range(p.channels):
            y[c] = <total>p.start
        for t in range(p.taps):
            for c in range(p.channels):
                y[c] = <total>(<uint32_t>y[c] + <uint32_t>x[t * p.tap_stride + c])
        x += p.stride
        y += p.pitch


cdef void combine(PoolKind kind, const void *x, Taps p, void *y) noexcept nogil:
    """Combine windows of at least one tap, with vectors if the tier has a loop for that. taps.h explains `p`."""
    if pool_combine__simd(tier(), x, p, y, kind):
        return
    if kind == MAX_U8:
        largest(<const uint8_t *>x, p, <uint8_t *>y)
    elif kind == MAX_S8:
        largest(<const int8_t *>x, p, <int8_t *>y)
    elif kind == SUM_U8_S16:
        summed(<const uint8_t *>x, p, <int16_t *>y)
    elif kind == SUM_S8_S16:
        summed(<const int8_t *>x, p, <int16_t *>y)
    elif kind == SUM_S16:
        summed(<const int16_t *>x, p, <int16_t *>y)
    elif kind == SUM_U16_S32:
        summed(<const uint16_t *>x, p, <int32_t *>y)
    elif kind == SUM_S16_S32:
        summed(<const int16_t *>x, p, <int32_t *>y)
    else:
        summed(<const int32_t *>x, p, <int32_t *>y)
