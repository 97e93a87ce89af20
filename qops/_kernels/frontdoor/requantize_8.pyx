"""Codes of 8 bits to 8-bit codes of another range, by two numbers for each range."""

cimport numpy as cnp
from libc.math cimport rint
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.lookup cimport look_up_1
from qops._kernels.stage.rounding cimport clamp_f64

import numpy as np

cnp.import_array()

cdef extern from "frontdoor/requantize_8.h" nogil:
    enum:
        VECTOR  # the most codes of a vector
    Py_ssize_t recode_8__simd(int, const uint8_t*, uint8_t, const double* of_code, const double* added, bint each,
                              uint8_t*, uint8_t, Py_ssize_t)

cdef double STEPS = 255  # of 8-bit codes
cdef double HALF_UP = 2.0**-30
cdef double WHOLE = 6755399441055744  # 1.5 * 2**52: doubles this large have no fraction, so adding it rounds to even
cdef enum:
    LONG = 3072  # neighbours of a channel from which on a table takes less time than two numbers
    MANY = 4096  # a table is repeated until it fills whole vectors or has so many numbers


cdef uint8_t flip_of(cnp.ndarray codes) noexcept:
    """Give the byte with which 8-bit codes are xored to count from the lowest code, and back."""
    return 128 if cnp.PyArray_TYPE(codes) == cnp.NPY_INT8 else 0


cdef double sum_of(double a, double b, double c) noexcept nogil:
    """a + b + c, compensated: the rounding errors of both sums are added at the end."""
    cdef double ab = a + b, abc = ab + c
    cdef double b_in = ab - a, c_in = abc - ab
    return abc + (((a - (ab - b_in)) + (b - b_in)) + ((ab - (abc - c_in)) + (c - c_in)))


cdef RecodeParams recode_params(Ends ends, Ends wanted) noexcept nogil:
    """The numbers that take 8-bit codes of the range `ends` to the range `wanted`; to the lowest code if it is 0 wide.

    `centre` is the code nearest to the wanted range. Its position is exact to about 2**-43 output steps. HALF_UP is far
    more than the rounding errors of other positions, so ties are rounded up.
    """
    cdef double width = wanted.max - wanted.min, step = (ends.max - ends.min) / STEPS, centre = 0, position
    cdef RecodeParams r = RecodeParams(0, 0)
    if width <= 0:
        return r
    if step > 0:
        r.of_code = min((ends.max - ends.min) / width, <double>STEEPEST)
        centre = clamp_f64(rint(((wanted.min + wanted.max) / 2 - ends.min) / step), 0, STEPS)
    position = sum_of((STEPS - centre) * ends.min, centre * ends.max, -STEPS * wanted.min) / width
    r.added = clamp_f64(position, -STEPS - 1, 2 * STEPS + 1) - centre * r.of_code + HALF_UP
    return r


cdef void codes_8(const uint8_t* q, uint8_t flip, const double* of_code, const double* added, bint each, uint8_t* c,
                  uint8_t c_flip, Py_ssize_t n) noexcept nogil:
    """c = clamp(round_half_even((q ^ flip) * of_code + added)) ^ c_flip, for n codes q.

    If `each`, code i has the numbers of_code[i] and added[i]; otherwise all have of_code[0] and added[0]. A flip of
    128 makes codes of int8 count from the lowest code.
    """
    cdef Py_ssize_t i, at
    cdef double x
    for i in range(recode_8__simd(tier(), q, flip, of_code, added, each, c, c_flip, n), n):
        at = i if each else 0
        x = clamp_f64((q[i] ^ flip) * of_code[at] + added[at], 0, STEPS)
        c[i] = <uint8_t><int32_t>((x + WHOLE) - WHOLE) ^ c_flip


cdef void table_of(RecodeParams r, uint8_t flip, uint8_t c_flip, uint8_t* table) noexcept nogil:
    """table[byte of q] = the code of q, for all 256 codes."""
    cdef uint8_t every[256]
    cdef int i
    for i in range(256):
        every[i] = i
    codes_8(every, flip, &r.of_code, &r.added, False, table, c_flip, 256)


cdef void table_8(Ends ends, uint8_t flip, Ends wanted, uint8_t c_flip, uint8_t* table) noexcept nogil:
    """table[byte of q] = the code of q."""
    table_of(recode_params(ends, wanted), flip, c_flip, table)


cdef void channel_by_channel(const uint8_t* q, uint8_t flip, const RecodeParams* params, Py_ssize_t count,
                             Py_ssize_t inner, uint8_t* c, uint8_t c_flip, Py_ssize_t n) noexcept nogil:
    """Write the codes c of n codes. `inner` neighbours belong to each of `count` channels."""
    cdef uint8_t table[256]
    cdef char* data[2]
    cdef Py_ssize_t i, j = 0
    for i from 0 <= i < n by inner:
        if inner < LONG:
            codes_8(q + i, flip, &params[j].of_code, &params[j].added, False, c + i, c_flip, inner)
        else:
            table_of(params[j], flip, c_flip, table)
            data[0], data[1] = <char*>q + i, <char*>c + i
            look_up_1(data, inner, table)
        j = j + 1 if j + 1 < count else 0


cdef Py_ssize_t table_length(Py_ssize_t shortest, Py_ssize_t n) noexcept nogil:
    """Give the length of the table for n codes: a multiple of `shortest` that fills vectors, or reaches n or MANY."""
    cdef Py_ssize_t times = 1
    while times * shortest < min(n, <Py_ssize_t>MANY) and times * shortest % VECTOR:
        times += 1
    return times * shortest


cdef int recode_channels(cnp.ndarray codes, const RecodeParams* params, Py_ssize_t count, Py_ssize_t inner,
                         cnp.ndarray made) except -1:
    """Requantize contiguous codes. `inner` neighbours belong to each of `count` channels, which have `params`."""
    cdef const uint8_t* q = <const uint8_t*>cnp.PyArray_DATA(codes)
    cdef uint8_t* c = <uint8_t*>cnp.PyArray_DATA(made)
    cdef uint8_t flip = flip_of(codes), c_flip = flip_of(made)
    cdef Py_ssize_t i, n = cnp.PyArray_SIZE(codes), period
    cdef cnp.ndarray numbers
    cdef double* table
    if inner >= VECTOR:
        with nogil:
            channel_by_channel(q, flip, params, count, inner, c, c_flip, n)
        return 0
    period = table_length(count * inner, n)
    numbers = np.empty((2, period))
    table = <double*>cnp.PyArray_DATA(numbers)
    with nogil:
        for i in range(period):
            table[i], table[period + i] = params[i // inner % count].of_code, params[i // inner % count].added
        for i from 0 <= i < n by period:
            codes_8(q + i, flip, table, table + period, True, c + i, c_flip, min(n - i, period))
    return 0
