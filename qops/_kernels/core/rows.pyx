"""The stages for rules that are made in Python: rows as dicts, and what no system's compiled op needs.

Those are results that wrap where others saturate, accumulators of 64 bits, and arithmetic in double.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport floor, rint, round, trunc
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

from qops._kernels.core.float_stage cimport FloatRow, float_row, float_stage
from qops._kernels.core.integer_stage cimport IntegerRow, integer_row, integer_stage, shift_by, with_term
from qops._kernels.core.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, TRUNCATE, clamp_f64, clamp_s64, wrap_s32
from qops._kernels.core.walk cimport walk

cnp.import_array()

cdef dict NAMES = {
    "floor": FLOOR, "truncate": TRUNCATE, "half_up": HALF_UP, "half_away": HALF_AWAY, "half_even": HALF_EVEN,
}
cdef tuple S32 = (np.dtype(np.int32),)
cdef tuple S64 = (np.dtype(np.int64),)
cdef tuple S32_F32 = (np.dtype(np.int32), np.dtype(np.float32))
cdef tuple BYTES_S32 = (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.int32))
cdef tuple CODES = (*BYTES_S32, np.dtype(np.uint16), np.dtype(np.int16))

ctypedef fused code:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t


cdef int take(cnp.ndarray x, tuple taken, cnp.ndarray out, tuple given) except -1:
    """TypeError where the loops would read or write another type than there is."""
    for name, found, dtypes in (("x", x.dtype, taken), ("out", out.dtype, given)):
        if found not in dtypes:
            raise TypeError(f"{name}: expected {', '.join(map(str, dtypes))}, got {found}")
    return 0


def integers(int64_t multiplier, int right_shift, str first, int lowest, int highest, *, int left_shift=0,
             int second_shift=0, str second="floor", int zero_point=0):
    """The row of a multiply-shift with up to two roundings, as a dict."""
    cdef IntegerRow p = integer_row(multiplier, shift_by(right_shift, NAMES[first]), lowest, highest)
    p.left_shift, p.zero_point = left_shift, zero_point
    p.second = shift_by(second_shift, NAMES[second])
    return p


def integer_codes(cnp.ndarray x, IntegerRow row, cnp.ndarray out):
    """out (uint8, int8 or int32) = the codes of int32 accumulators."""
    take(x, S32, out, BYTES_S32)
    integer_stage(&row, x, out)


def floats(float scale, str rounding, float lowest, float highest, *, float plus=0.0, float shift=0.0):
    """The row clamp(round(x * scale + plus) + shift) in float32, as a dict."""
    cdef FloatRow p = float_row(scale, NAMES[rounding], lowest, highest)
    p.plus, p.shift = plus, shift
    return p


def float_codes(cnp.ndarray x, FloatRow row, cnp.ndarray out):
    """out (any codes) = those of int32 accumulators or float32 values."""
    take(x, S32_F32, out, CODES)
    float_stage(&row, x, out)


# ---------------------------------------------------------------- 64 bits, and what wraps


cdef struct Wide:
    IntegerRow row
    bint product_wraps, high_wraps, code_wraps  # to 32 bits
    int typenum


cdef inline int64_t wide_code(int64_t x, const Wide* w) noexcept nogil:
    """The steps of the integer stage, each of which may wrap."""
    cdef int64_t near = x, high, q
    if w.row.left_shift:
        near = wrap_s32(<int64_t>(<uint64_t>near << w.row.left_shift))
    high = <int64_t>(<uint64_t>near * <uint64_t>w.row.multiplier)
    if w.product_wraps:
        high = wrap_s32(high)
    high = with_term(high, w.row.first)
    if w.product_wraps:
        high = wrap_s32(high)
    high = high >> w.row.first.right_shift
    if w.high_wraps:
        high = wrap_s32(high)
    q = (with_term(high, w.row.second) >> w.row.second.right_shift) + w.row.zero_point
    return clamp_s64(wrap_s32(q) if w.code_wraps else q, w.row.lowest_code, w.row.highest_code)


cdef void wide_codes(const int64_t* x, code* c, Py_ssize_t n, const Wide* w) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = <code>wide_code(x[i], w)


cdef void wide_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Wide* w = <Wide*>using
    cdef const int64_t* x = <int64_t*>data[0]
    if w.typenum == cnp.NPY_UINT8:
        wide_codes(x, <uint8_t*>data[1], n, w)
    elif w.typenum == cnp.NPY_INT8:
        wide_codes(x, <int8_t*>data[1], n, w)
    elif w.typenum == cnp.NPY_UINT16:
        wide_codes(x, <uint16_t*>data[1], n, w)
    elif w.typenum == cnp.NPY_INT16:
        wide_codes(x, <int16_t*>data[1], n, w)
    else:
        wide_codes(x, <int32_t*>data[1], n, w)


def wide_integer_codes(cnp.ndarray x, IntegerRow row, cnp.ndarray out, *, bint product_wraps=False,
                       bint high_wraps=False, bint code_wraps=False):
    """out (any codes) = those of int64 accumulators, where 32 bits may wrap: the product, its shift, the code."""
    take(x, S64, out, CODES)
    cdef Wide w = Wide(row, product_wraps, high_wraps, code_wraps, cnp.PyArray_TYPE(out))
    walk(wide_loop, &w, x, out)


# ---------------------------------------------------------------- double


cdef struct DoubleRow:
    double scale, plus, shift, lowest, highest
    int rounding, typenum


cdef inline double rounded_f64(double v, int rounding) noexcept nogil:
    if rounding == FLOOR:
        return floor(v)
    if rounding == TRUNCATE:
        return trunc(v)
    if rounding == HALF_UP:
        return floor(v + 0.5)
    return round(v) if rounding == HALF_AWAY else rint(v)


cdef void double_codes_of(const int32_t* x, code* c, Py_ssize_t n, const DoubleRow* p) noexcept nogil:
    """c = clamp(round(x * scale + plus) + shift)."""
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = <code><int64_t>clamp_f64(rounded_f64(x[i] * p.scale + p.plus, p.rounding) + p.shift, p.lowest, p.highest)


cdef void double_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef DoubleRow* p = <DoubleRow*>using
    cdef const int32_t* x = <int32_t*>data[0]
    if p.typenum == cnp.NPY_UINT8:
        double_codes_of(x, <uint8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        double_codes_of(x, <int8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_UINT16:
        double_codes_of(x, <uint16_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT16:
        double_codes_of(x, <int16_t*>data[1], n, p)
    else:
        double_codes_of(x, <int32_t*>data[1], n, p)


def double_codes(cnp.ndarray x, double scale, str rounding, double lowest, double highest, cnp.ndarray out, *,
                 double plus=0.0, double shift=0.0):
    """out (any codes) = clamp(round(x * scale + plus) + shift) of int32 accumulators, in double."""
    take(x, S32, out, CODES)
    cdef DoubleRow p = DoubleRow(scale, plus, shift, lowest, highest, NAMES[rounding], cnp.PyArray_TYPE(out))
    walk(double_loop, &p, x, out)
