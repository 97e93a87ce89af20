"""Pixels made of several pixels a step apart: the largest codes, or their sums. No numpy arrays here: see pooling."""
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memcpy

from qops._kernels.machine.tiers cimport tier

cdef extern from "pool/pixels.h" nogil:
    Py_ssize_t pixels_largest__simd(int, const void *, Pixels, void *, bint)
    Py_ssize_t pixels_widened__simd(int, const void *, Pixels, int16_t *, bint)
    Py_ssize_t pixels_added__simd(int, const int16_t *, Pixels, int16_t *)

ctypedef fused code:
    uint8_t
    int8_t

ctypedef fused value:
    uint8_t
    int8_t
    int16_t
    int32_t

ctypedef fused total:
    int16_t
    int32_t

cdef inline void largest_of(const code *x, Pixels p, code *y) noexcept nogil:
    cdef Py_ssize_t i, c, t
    for i in range(pixels_largest__simd(tier(), x, p, y, code is int8_t), p.count):
        for c in range(p.channels):
            y[i * p.pitch + c] = x[i * p.stride + c]
            for t in range(1, p.taps):
                y[i * p.pitch + c] = max(y[i * p.pitch + c], x[i * p.stride + t * p.step + c])


cdef inline void summed(const value *x, Pixels p, total *y) noexcept nogil:
    cdef Py_ssize_t i = 0, c, t
    cdef uint32_t acc
    if total is int16_t and value is int16_t:
        i = pixels_added__simd(tier(), x, p, y)
    elif total is int16_t and value is not int32_t:
        i = pixels_widened__simd(tier(), x, p, y, value is int8_t)
    for i in range(i, p.count):
        for c in range(p.channels):
            acc = 0
            for t in range(p.taps):
                acc += <uint32_t>x[i * p.stride + t * p.step + c]
            y[i * p.pitch + c] = <total>acc


cdef inline void move_pixel(const char *x, Py_ssize_t size, char *y) noexcept nogil:
    """Copy some bytes, as many at a time as an instruction moves. The last move ends where the bytes end."""
    cdef Py_ssize_t i
    if size >= 16:
        for i in range(0, size - 16, 16):
            memcpy(y + i, x + i, 16)
        memcpy(y + size - 16, x + size - 16, 16)
    elif size >= 4:
        for i in range(0, size - 4, 4):
            memcpy(y + i, x + i, 4)
        memcpy(y + size - 4, x + size - 4, 4)
    else:
        for i in range(size):
            y[i] = x[i]


cdef void pick_pixels(const char *x, Py_ssize_t count, Py_ssize_t size, Py_ssize_t stride, char *y) noexcept nogil:
    """Copy every `stride`-th of contiguous pixels of `size` bytes."""
    cdef Py_ssize_t i
    for i in range(count):
        move_pixel(x + i * stride * size, size, y + i * size)


cdef void largest_u8(const char *x, Pixels p, char *y) noexcept nogil:
    largest_of(<const uint8_t *>x, p, <uint8_t *>y)


cdef void largest_s8(const char *x, Pixels p, char *y) noexcept nogil:
    largest_of(<const int8_t *>x, p, <int8_t *>y)


cdef void widened_u8_s16(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const uint8_t *>x, p, <int16_t *>y)


cdef void widened_s8_s16(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const int8_t *>x, p, <int16_t *>y)


cdef void widened_u8_s32(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const uint8_t *>x, p, <int32_t *>y)


cdef void widened_s8_s32(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const int8_t *>x, p, <int32_t *>y)


cdef void added_s16(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const int16_t *>x, p, <int16_t *>y)


cdef void added_s32(const char *x, Pixels p, char *y) noexcept nogil:
    summed(<const int32_t *>x, p, <int32_t *>y)


cdef Combination combination(Combine down, Combine across, Py_ssize_t size, uint8_t nothing=0,
                             Py_ssize_t given=1) noexcept nogil:
    cdef Combination made
    made.down, made.across, made.given, made.size, made.nothing = down, across, given, size, nothing
    return made


cdef Combination largest_codes(bint is_signed) noexcept nogil:
    if is_signed:
        return combination(largest_s8, largest_s8, 1, 0x80)
    return combination(largest_u8, largest_u8, 1)


cdef Combination sums_of(bint is_signed, Py_ssize_t size) noexcept nogil:
    """How windows are summed up in `size` bytes, 2 or 4; the sums wrap."""
    if size == 2 and is_signed:
        return combination(widened_s8_s16, added_s16, size)
    if size == 2:
        return combination(widened_u8_s16, added_s16, size)
    if is_signed:
        return combination(widened_s8_s32, added_s32, size)
    return combination(widened_u8_s32, added_s32, size)


cdef Combination totals_of() noexcept nogil:
    """How windows of int32 are summed up; the sums wrap."""
    return combination(added_s32, added_s32, 4, 0, 4)
