"""The one place that tells types of codes apart: loops make int32 codes, here they are cut to the output's type."""

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memcpy

from qops._kernels.arrays.codes cimport code_type
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk

cnp.import_array()

cdef extern from "stage/narrow.h":
    Py_ssize_t narrow_8__simd(int, const int32_t*, uint8_t*, Py_ssize_t) nogil
    Py_ssize_t narrow_16__simd(int, const int32_t*, uint16_t*, Py_ssize_t) nogil


cdef enum:
    FEW = 4096  # elements of a period


cdef class KeptMaker:
    """A maker that is kept for many calls, with the numbers that its row points to."""


cdef int code_size(cnp.ndarray out) except -1:
    """Bytes of a code of `out`; TypeError if its dtype is no code type."""
    if code_type(out).steps == 0:
        raise TypeError(f"out: expected uint8, int8, uint16, int16 or int32, got {(<object>out).dtype}")
    return <int>cnp.PyArray_ITEMSIZE(out)


cdef void narrow(const int32_t* codes, void* c, int size, Py_ssize_t n) noexcept nogil:
    """Codes that fit the low bytes of an int32, in those bytes alone."""
    cdef uint8_t* bytes = <uint8_t*>c
    cdef uint16_t* pairs = <uint16_t*>c
    cdef Py_ssize_t i
    if size == 1:
        for i in range(narrow_8__simd(tier(), codes, bytes, n), n):
            bytes[i] = <uint8_t>codes[i]
    else:
        for i in range(narrow_16__simd(tier(), codes, pairs, n), n):
            pairs[i] = <uint16_t>codes[i]


cdef void make(const Maker* m, const void* x, void* c, int size, bint is_signed, Py_ssize_t n) noexcept nogil:
    """c = the n codes of x, each of `size` bytes."""
    cdef int32_t block[BLOCK]
    cdef Py_ssize_t i = 0, count
    if size == 4:
        m.codes(x, <int32_t*>c, n, m.row)
        return
    if size == 1 and m.bytes is not NULL:
        i = m.bytes(x, c, is_signed, n, m.row)
    elif size == 2 and m.pairs is not NULL:
        i = m.pairs(x, c, is_signed, n, m.row)
    while i < n:
        count = min(n - i, <Py_ssize_t>BLOCK)
        m.codes(<char*>x + i * m.itemsize, block, count, m.row)
        narrow(block, <char*>c + i * size, size, count)
        i += count


cdef struct Stretch:
    const Maker* maker
    int size
    bint is_signed


cdef void make_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Stretch* s = <Stretch*>using
    make(s.maker, data[0], data[1], s.size, s.is_signed, n)


cdef object run(const Maker* m, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of x; TypeError if the dtype of `out` is no code type."""
    cdef Stretch s = Stretch(m, code_size(out), cnp.PyArray_ISSIGNED(out))
    walk(make_loop, &s, x, out)


cdef Turns turns(Py_ssize_t count, Py_ssize_t inner) noexcept nogil:
    """`count` channels of `inner` elements, in turn."""
    cdef Turns t
    cdef Py_ssize_t period = count * inner
    period *= (SPARE + period - 1) // period
    t.count, t.inner, t.period = count, inner, period + (period if period % 2 else 0)
    return t


cdef bint are_long(Turns t) noexcept nogil:
    """Whether a channel has so many elements in turn that they fill vectors."""
    return t.inner >= 64


cdef bint are_few(Turns t) noexcept nogil:
    """Whether the numbers of a period are put down once, for all calls."""
    return t.period <= FEW and not are_long(t)


cdef object run_channels(const Maker* m, Pick pick, const void* numbers, Turns t, cnp.ndarray x, cnp.ndarray out):
    """The same of contiguous arrays: another row for each channel."""
    cdef Stretch s = Stretch(m, code_size(out), cnp.PyArray_ISSIGNED(out))
    cdef Py_ssize_t n = cnp.PyArray_SIZE(x), start
    cdef const char* values = cnp.PyArray_BYTES(x)
    cdef char* c = cnp.PyArray_BYTES(out)
    with nogil:
        for start from 0 <= start < n by t.inner:
            pick(<void*>m.row, numbers, channel(t, start))
            make(m, values + start * m.itemsize, c + start * s.size, s.size, s.is_signed, min(t.inner, n - start))


cdef void make_each(Each each, const void* rows, Turns t, const void* x, int itemsize, void* c, int size,
                    Py_ssize_t start, Py_ssize_t n) noexcept nogil:
    """The codes of elements start to n of those that begin at x with a period, where lanes have rows of their own."""
    cdef const char* values = <const char*>x
    cdef char* codes = <char*>c
    cdef int32_t block[BLOCK]
    cdef Py_ssize_t count
    while start < n:
        count = min(n - start, <Py_ssize_t>BLOCK)
        if size == 4:
            each(values + start * itemsize, <int32_t*>codes + start, count, rows, start % t.period)
        else:
            each(values + start * itemsize, block, count, rows, start % t.period)
            narrow(block, codes + start * size, size, count)
        start += count


cdef object run_each(Each each, const void* rows, Turns t, cnp.ndarray x, cnp.ndarray out):
    """The same, where lanes have rows of their own."""
    cdef int size = code_size(out), itemsize = <int>cnp.PyArray_ITEMSIZE(x)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(x)
    cdef const char* values = cnp.PyArray_BYTES(x)
    cdef char* c = cnp.PyArray_BYTES(out)
    with nogil:
        make_each(each, rows, t, values, itemsize, c, size, 0, n)


cdef object run_scales(const Maker* m, Pick pick, const Maker* in_turns, Scales* s, int itemsize, cnp.ndarray x,
                       cnp.ndarray out):
    """The same of contiguous arrays: another scale, a number of `itemsize` bytes, for each channel.

    `m` makes codes of one channel. `in_turns` makes them of `s`, from the beginning of a period on.
    """
    cdef int size = code_size(out)
    cdef bint is_signed = cnp.PyArray_ISSIGNED(out)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(x)
    cdef const char* values = cnp.PyArray_BYTES(x)
    cdef char* c = cnp.PyArray_BYTES(out)
    cdef bytearray _memory
    if are_long(s.turns):
        run_channels(m, pick, s, s.turns, x, out)
        return
    if s.of_elements is NULL and s.turns.inner == 1 and n == s.turns.count:
        s.of_elements = s.of_channels
    elif s.of_elements is NULL:
        _memory = spread(s, itemsize)
    with nogil:
        make(in_turns, values, c, size, is_signed, n)


cdef bytearray spread(Scales* s, int itemsize):
    """Puts down the scales of the elements of a period, in memory that is returned."""
    cdef bytearray memory = bytearray((s.turns.period + SPARE) * itemsize)
    cdef char* to = memory
    cdef Py_ssize_t i
    for i in range(s.turns.period + SPARE):
        memcpy(to + i * itemsize, <char*>s.of_channels + channel(s.turns, i) * itemsize, itemsize)
    s.of_elements = to
    return memory


cdef bytearray scales_of(Scales* s, cnp.ndarray scales, Turns t):
    """Sets `s` to the scales of channels, whose array has to stay; those of few elements are put down at once."""
    s.row, s.of_channels, s.of_elements, s.turns = NULL, cnp.PyArray_DATA(scales), NULL, t
    return spread(s, <int>cnp.PyArray_ITEMSIZE(scales)) if t.count > 1 and are_few(t) else None
