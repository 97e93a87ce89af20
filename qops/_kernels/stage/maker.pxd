"""What makes codes of values or accumulators: a loop that knows only int32 codes, and the row that it needs."""

cimport numpy as cnp
from libc.stdint cimport int32_t

ctypedef void (*Codes)(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil
ctypedef Py_ssize_t (*Bytes)(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil
# sets a row to the numbers of channel c
ctypedef void (*Pick)(void* row, const void* numbers, Py_ssize_t c) noexcept nogil
# the codes of n elements that have numbers of their own, in turns, of which they are numbers first, first + 1, ...
ctypedef void (*Each)(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil

cdef struct Maker:
    Codes codes
    Bytes bytes  # makes the first codes of 8 bits at once and returns how many; NULL if there is no such loop
    Bytes pairs  # the same of 16 bits
    const void* row
    int itemsize  # of an element of x

cdef class KeptMaker:
    cdef Maker maker
    cdef object memory  # what its row points into

cdef enum:
    BLOCK = 1024  # numbers between two loops: 4 KB
    SPARE = 16  # numbers behind a period, which are the first again: lanes may begin with its last

cdef struct Turns:
    Py_ssize_t count, inner  # `inner` elements in turn have the numbers of each of `count` channels
    Py_ssize_t period  # elements, even and no fewer than lanes, after which all is as at the first

cdef struct Scales:  # rows that differ in their scale alone
    const void* row
    const void* of_channels
    const void* of_elements  # of a period, and of its first again if it is repeated; NULL: they are not put down yet
    Turns turns

cdef int code_size(cnp.ndarray out) except -1
cdef Turns turns(Py_ssize_t count, Py_ssize_t inner) noexcept nogil
cdef bint are_long(Turns t) noexcept nogil
cdef bint are_few(Turns t) noexcept nogil
cdef bytearray scales_of(Scales* s, cnp.ndarray scales, Turns t)
cdef bytearray spread(Scales* s, int itemsize)
cdef inline Py_ssize_t channel(Turns t, Py_ssize_t element) noexcept nogil:
    """Whose numbers an element has."""
    return (element if t.inner == 1 else element // t.inner) % t.count

cdef void make(const Maker* m, const void* x, void* c, int size, bint is_signed, Py_ssize_t n) noexcept nogil
cdef object run(const Maker* m, cnp.ndarray x, cnp.ndarray out)
cdef object run_channels(const Maker* m, Pick pick, const void* numbers, Turns t, cnp.ndarray x, cnp.ndarray out)
cdef void make_each(Each each, const void* rows, Turns t, const void* x, int itemsize, void* c, int size,
                    Py_ssize_t start, Py_ssize_t n) noexcept nogil
cdef object run_each(Each each, const void* rows, Turns t, cnp.ndarray x, cnp.ndarray out)
cdef object run_scales(const Maker* m, Pick pick, const Maker* in_turns, Scales* s, int itemsize, cnp.ndarray x,
                       cnp.ndarray out)
