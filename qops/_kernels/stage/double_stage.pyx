"""The loops of the double stage: int32 to codes."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.stage.maker cimport Maker, Scales, channel, make_each, run, run_scales
from qops._kernels.stage.rounding cimport clamp_f64, rounded_f64
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport STREAM

cnp.import_array()

cdef extern from "stage/double_stage.h":
    Py_ssize_t double_codes__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleRow) nogil
    Py_ssize_t double_codes_8__simd(int, const int32_t*, void*, bint, Py_ssize_t, DoubleRow, bint) nogil
    Py_ssize_t double_each__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleRow, const double*, Py_ssize_t,
                                 Py_ssize_t) nogil


cdef inline int32_t coded(int32_t x, double scale, DoubleRow p) noexcept nogil:
    """The steps of the stage."""
    return <int32_t>clamp_f64(rounded_f64(x * scale + p.plus, p.rounding) + p.shift, p.lowest, p.highest)


cdef void codes_s32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    cdef DoubleRow p = (<DoubleRow*>row)[0]
    cdef const int32_t* near = <int32_t*>x
    cdef Py_ssize_t i = double_codes__simd(tier(), near, c, n, p)
    for i in range(i, n):
        c[i] = coded(near[i], p.scale, p)


cdef Py_ssize_t bytes_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return double_codes_8__simd(tier(), <int32_t*>x, c, is_signed, n, (<DoubleRow*>row)[0], n >= STREAM)


cdef void pick(void* row, const void* numbers, Py_ssize_t c) noexcept nogil:
    (<DoubleRow*>row).scale = (<double*>(<Scales*>numbers).of_channels)[c]


cdef void each_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    cdef const Scales* s = <Scales*>rows
    cdef DoubleRow p = (<DoubleRow*>s.row)[0]
    cdef const double* scales = <double*>s.of_channels
    cdef const int32_t* near = <int32_t*>x
    cdef Py_ssize_t i = double_each__simd(tier(), near, c, n, p, <double*>s.of_elements, s.turns.period, first)
    for i in range(i, n):
        c[i] = coded(near[i], scales[channel(s.turns, first + i)], p)


cdef void turns_s32(const void* x, int32_t* c, Py_ssize_t n, const void* scales) noexcept nogil:
    each_s32(x, c, n, scales, 0)


cdef Py_ssize_t turn_bytes(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    make_each(each_s32, scales, (<Scales*>scales).turns, x, 4, c, 1, 0, n)
    return n


cdef Py_ssize_t turn_pairs(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    make_each(each_s32, scales, (<Scales*>scales).turns, x, 4, c, 2, 0, n)
    return n


cdef Maker double_maker(const DoubleRow* p) noexcept nogil:
    return Maker(codes_s32, bytes_s32, NULL, p, 4)


cdef Maker double_turns(const Scales* scales) noexcept nogil:
    """Of elements from the beginning of a period on; their scales are put down, and there is a row."""
    return Maker(turns_s32, turn_bytes, turn_pairs, scales, 4)


cdef object double_stage(const DoubleRow* p, const Scales* scales, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of int32 accumulators; in contiguous arrays with another scale for each channel."""
    cdef DoubleRow row = p[0]
    cdef Scales s = scales[0]
    cdef Maker m = double_maker(&row), in_turns = double_turns(&s)
    s.row = &row
    if s.turns.count == 1:
        run(&m, x, out)
    else:
        run_scales(&m, pick, &in_turns, &s, sizeof(double), x, out)
