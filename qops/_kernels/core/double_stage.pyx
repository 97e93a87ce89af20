"""The loops of the double stage: int32 to codes."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.core.maker cimport Maker, run, run_channels, run_each
from qops._kernels.core.rounding cimport clamp_f64, rounded_f64
from qops._kernels.core.tiers cimport tier

cnp.import_array()

cdef extern from "core/double_stage.h":
    Py_ssize_t double_codes__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleRow, const double*) nogil


cdef inline void codes_of(const int32_t* x, int32_t* c, Py_ssize_t n, DoubleRow p, const double* each) noexcept nogil:
    """`each`: a scale for each element, NULL if the row's is that of all."""
    cdef Py_ssize_t i = double_codes__simd(tier(), x, c, n, p, each)
    cdef double steps
    for i in range(i, n):
        steps = rounded_f64(x[i] * (each[i] if each is not NULL else p.scale) + p.plus, p.rounding)
        c[i] = <int32_t>clamp_f64(steps + p.shift, p.lowest, p.highest)


cdef void codes_s32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    codes_of(<int32_t*>x, c, n, (<DoubleRow*>row)[0], NULL)


cdef struct Channels:
    DoubleRow row
    const double* scales


cdef void pick(void* row, const void* numbers, Py_ssize_t c) noexcept nogil:
    (<DoubleRow*>row).scale = (<Channels*>numbers).scales[c]


cdef void each_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    codes_of(<int32_t*>x, c, n, (<Channels*>rows).row, (<Channels*>rows).scales + first)


cdef object double_stage(const DoubleRow* p, const double* scales, Py_ssize_t count, Py_ssize_t inner, cnp.ndarray x,
                         cnp.ndarray out):
    """out = the codes of int32 accumulators; in contiguous arrays with another scale for every `inner` elements."""
    cdef Channels channels
    channels.row, channels.scales = p[0], scales
    if count > 1 and inner == 1:
        run_each(each_s32, &channels, count, x, out)
    elif count > 1:
        run_channels(Maker(codes_s32, NULL, &channels.row, 4), pick, &channels, count, inner, x, out)
    else:
        channels.row.scale = scales[0]
        run(Maker(codes_s32, NULL, &channels.row, 4), x, out)
