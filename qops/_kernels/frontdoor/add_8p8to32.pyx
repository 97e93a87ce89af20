"""QuantizedAdd and QuantizedSub into int32: the exact result, rounded once. For a - b, kb is negative."""

cimport numpy as cnp
from libc.math cimport fabs, rint
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.arrays.checks cimport Ends, data_of, output
from qops._kernels.arrays.codes cimport code_type_of, tensor
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.frontdoor.passes cimport code_flips, flips_of, step

cnp.import_array()

cdef extern from "frontdoor/add_8p8to32.h":
    ctypedef struct add_s32:
        int ka, kb, k  # step of a, step of b, and a.min + b.min + 1/2 for the rounding; in 2**-15 output steps
    Py_ssize_t add_u8u8_s32__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, add_s32, code_flips) nogil

cdef enum:
    FRACTION = 15  # bits

cdef double HEAD_ROOM = 2.0**17  # output max / largest absolute end of the ranges
cdef double WIDEST = 2.0**110  # from such an end on, float32 does not hold the width of the output range


cdef double farthest(Ends a, Ends b) noexcept nogil:
    """The largest absolute value in two ranges."""
    return max(fabs(a.min), fabs(a.max), fabs(b.min), fabs(b.max))


cdef add_s32 prepare(Ends a, Ends b) noexcept nogil:
    cdef double unit = 2 * farthest(a, b) * HEAD_ROOM / code_type_of(True, 4).steps / (1 << FRACTION)
    cdef add_s32 p = add_s32(0, 0, 1 << (FRACTION - 1))
    if unit > 0:
        p.ka = <int>rint(step(a) / unit)
        p.kb = <int>rint(step(b) / unit)
        p.k += <int>rint((a.min + b.min) / unit)
    return p


def add_8p8to32_integers(tuple a, tuple b):
    """The integers ka, kb and k of the loop for the ranges a and b, as a dict."""
    return prepare(Ends(a[0], a[1]), Ends(b[0], b[1]))


cdef struct Sums:
    add_s32 p
    code_flips flips


cdef void add_u8u8_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = (k + a * ka + b * kb) >> 15. int32 holds every sum, as the largest is about 2**30."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef add_s32 p = (<Sums*>using).p
    cdef code_flips f = (<Sums*>using).flips
    cdef Py_ssize_t i = add_u8u8_s32__simd(tier(), a, b, c, n, p, f)
    for i in range(i, n):
        c[i] = (p.k + (a[i] ^ f.a) * p.ka + (b[i] ^ f.b) * p.kb) >> FRACTION


def add_8p8to32(tuple a, tuple b, cnp.ndarray out):
    """Write the codes of a + b to `out`, unchecked; a and b are (codes, min, max)."""
    cdef Sums sums
    flips_of(a[0], b[0], cnp.NPY_INT32, True, &sums.flips)
    sums.p = prepare(Ends(a[1], a[2]), Ends(b[1], b[2]))
    walk(add_u8u8_s32, &sums, a[0], b[0], out)


def add_or_subtract(type cls, a, b, bint subtract, bint also_int8, out):
    """Add or subtract two tensors of uint8 or, if `also_int8`, int8 codes.

    The result has int32 codes in the range (-max, max).
    """
    cdef Ends p, s
    cdef double top
    cdef Sums sums
    cdef cnp.ndarray x, y, codes
    x, y = data_of(a, "a", &p), data_of(b, "b", &s)
    flips_of(x, y, cnp.NPY_INT32, also_int8, &sums.flips)
    top = farthest(p, s)
    if top >= WIDEST:
        raise ValueError(f"a, b: the ranges ({p.min}, {p.max}), ({s.min}, {s.max}) make an output beyond float32")
    codes = output(out, cnp.NPY_INT32, x, y)
    sums.p = prepare(p, Ends(-s.min, -s.max) if subtract else s)
    walk(add_u8u8_s32, &sums, x, y, codes)
    top *= HEAD_ROOM
    return tensor(cls, codes, 0 - top, top)
