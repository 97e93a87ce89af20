"""Ranges <-> step and zero point of a code type, and the values of int32 codes."""

cimport numpy as cnp
from libc.math cimport fabs, floor, ldexp, rint
from libc.stdint cimport int32_t, int64_t

from qops._kernels.arrays.codes cimport from_row
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.arrays.walk cimport walk

import numpy as np

cnp.import_array()

cdef double FINEST = 2.0**-125  # a smaller scale has no finite 1 / scale in float32
cdef double EXACT = 2.0**-23  # 0 counts as on a code if it is this near to one, as a share of steps + 1


cdef Affine hold_zero(double lo, double hi, double steps) noexcept nogil:
    """Give the smallest scale, and the zero point from 0 on, whose codes reach from lo <= 0 to hi >= 0."""
    cdef double exact = min(-lo * steps / (hi - lo), steps)  # its roundings may lead beyond the last code
    cdef double below = max(floor(exact), 1.0 if lo < 0 else 0.0)
    cdef double above = below + 1, scale_below, scale_above
    if exact <= below:  # 0 is on a code already, or needs the second code because lo is below 0
        above = below
    if hi > 0 and above > steps - 1:
        above = below = steps - 1
    scale_below = max(-lo / below if below > 0 else 0.0, hi / (steps - below) if below < steps else 0.0)
    scale_above = max(-lo / above if above > 0 else 0.0, hi / (steps - above) if above < steps else 0.0)
    if scale_above < scale_below:
        return Affine(scale_above, <int64_t>above)
    return Affine(scale_below, <int64_t>below)


cdef Affine holding_zero(double lo, double hi, const CodeType* t, Ends* ends) noexcept nogil:
    """Give scale and zero point of the range that holds lo, hi and exactly 0, and set `ends` to it. No width: 0, 0."""
    cdef Affine p
    cdef double narrowest = t.steps * FINEST
    lo, hi = min(0.0, lo), max(0.0, hi)
    if lo == hi:
        ends.min = ends.max = 0
        return Affine(0, 0)
    if hi - lo < narrowest:
        lo, hi = (lo, lo + narrowest) if hi > -lo else (hi - narrowest, hi)
    p = hold_zero(lo, hi, t.steps)
    ends.min, ends.max = <float>(-p.zero_point * p.scale), <float>((t.steps - p.zero_point) * p.scale)
    p.zero_point += t.lowest
    return p


cdef Ends mirrored(Ends given, double steps) noexcept nogil:
    """Give the range with 0 on the middle code that holds `given`, as narrow as it can be."""
    cdef double limit = max(-given.min, given.max)
    if limit > 0:
        limit = max(limit, steps * FINEST)  # `holding_zero` widens a narrower range on one side
    return Ends(-limit * (steps + 1) / (steps - 1), limit)


cdef tuple all_mirrored(lo, hi, double steps):
    """Give `mirrored` of each range, as two float64 arrays."""
    cdef Ends ends
    found = []
    for low, high in zip(lo.ravel().tolist(), hi.ravel().tolist()):
        ends = mirrored(Ends(low, high), steps)
        found.append((ends.min, ends.max))
    lows, highs = np.array(found, np.float64).reshape(-1, 2).T
    return lows.reshape(lo.shape), highs.reshape(lo.shape)


def range_holding_zero(double lo, double hi, row):
    """Give the range that holds lo, hi and exactly 0 in the codes of `row`, its scale and its zero point."""
    cdef Ends ends
    cdef CodeType t = from_row(row)
    cdef Affine p = holding_zero(lo, hi, &t, &ends)
    return ends.min, ends.max, p.scale, p.zero_point


cdef tuple all_holding_zero(lo, hi, CodeType t):
    """Give `holding_zero` of each range: float32 mins and maxs, float64 scales, float32 zero points."""
    cdef Ends ends
    cdef Affine p
    found = []
    for low, high in zip(lo.ravel().tolist(), hi.ravel().tolist()):
        p = holding_zero(low, high, &t, &ends)
        found.append((ends.min, ends.max, p.scale, p.zero_point))
    columns = np.array(found, np.float64).reshape(-1, 4).T
    return tuple([column.reshape(lo.shape).astype(d) for column, d in zip(columns, ("f4", "f4", "f8", "f4"))])


cdef Line line_of(double lo, double hi, const CodeType* t) noexcept nogil:
    """Give the step, the code nearest to 0 and the value of that code, `base`; it is exactly 0 if 0 is on the code."""
    cdef double step = (hi - lo) / t.steps, level, base
    if t.symmetric or step == 0:
        return Line(step, 0, 0.0 if t.symmetric else lo)
    level = clamp_f64(rint(-lo / step), 0, t.highest - t.lowest)
    base = lo + level * step
    return Line(step, t.lowest + <int64_t>level, 0.0 if fabs(base) <= step * (t.steps + 1) * EXACT else base)


cdef tuple lines(lo, hi, CodeType t):
    """Give `line_of` each range: float64 arrays of steps, zeros and bases."""
    cdef Line line
    found = []
    for low, high in zip(lo.ravel().tolist(), hi.ravel().tolist()):
        line = line_of(low, high, &t)
        found.append((line.step, line.zero, line.base))
    return tuple([column.reshape(lo.shape) for column in np.array(found, np.float64).reshape(-1, 3).T])


def line(lo, hi, row):
    """Give (step, zero, base) of a range, or arrays by channel; code q has the value (q - zero) * step + base."""
    cdef CodeType t = from_row(row)
    cdef Line found
    if isinstance(lo, np.ndarray):
        return lines(lo, hi, t)
    found = line_of(lo, hi, &t)
    return found.step, found.zero, found.base


cdef struct Values32:
    float top, base


cdef void dequantize_s32_f32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """x = c / 2**31 * top + base, in float32: top / 2**31 may be too small for it."""
    cdef const int32_t* c = <int32_t*>data[0]
    cdef float* x = <float*>data[1]
    cdef Values32 p = (<Values32*>using)[0]
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = <float>c[i] * <float>4.656612873077393e-10 * p.top + p.base


cdef object dequantize_32(cnp.ndarray codes, Line line, cnp.ndarray out):
    """out = the values of int32 codes."""
    cdef Values32 p = Values32(<float>ldexp(line.step, 31), <float>(line.base - line.zero * line.step))
    walk(dequantize_s32_f32, &p, codes, out)
