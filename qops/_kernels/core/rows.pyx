"""The stages for rules that are made in Python: one scale for all, or one for each channel or element.

`inner` elements that follow each other have one scale, then come those of the next; after the last, the first again.
Where there is more than one scale, the arrays are contiguous.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.core.checks import dtype_names

from qops._kernels.core.double_stage cimport DoubleRow, double_stage
from qops._kernels.core.float_stage cimport FUSED, OVER, TIMES, FloatRow, float_channels, float_row, float_stage
from qops._kernels.core.integer_stage cimport SHIFTS, IntegerRow, OwnRows, integer_channels, integer_own
from qops._kernels.core.integer_stage cimport integer_row, integer_stage, shift_by
from qops._kernels.core.maker cimport turns
from qops._kernels.core.rounding cimport FLOOR, HALF_AWAY, HALF_EVEN, HALF_UP, TRUNCATE, Rounding

cnp.import_array()

cdef dict NAMES = {
    "": FLOOR,  # of a second step that is not there
    "floor": FLOOR, "truncate": TRUNCATE, "half_up": HALF_UP, "half_away": HALF_AWAY, "half_even": HALF_EVEN,
}
cdef dict FORMS = {"times": TIMES, "fused": FUSED, "over": OVER}
SPLITS = ("once", "at 31", "past 31", "last bit")
cdef enum Split:  # where a shift that is rounded twice is split
    ONCE
    AT_31
    PAST_31  # shifts up to 31 are rounded once
    LAST_BIT


cdef struct Rule:
    OwnRows rows
    Rounding first, second
    int split, zero_point, lowest, highest
    bint product_wraps, high_wraps, code_wraps


cdef IntegerRow row_of(int64_t multiplier, int n, const Rule* r) noexcept nogil:
    """The row of multiplier / 2**n by a rule."""
    cdef IntegerRow p
    if r.split == ONCE or r.split == PAST_31 and n <= 31:
        p = integer_row(multiplier, shift_by(n, r.first), r.lowest, r.highest)
    elif r.split == LAST_BIT:
        p = integer_row(multiplier, shift_by(max(n, 1) - 1, r.first), r.lowest, r.highest)
        p.second = shift_by(1, r.second)
    else:
        p = integer_row(multiplier, shift_by(31, r.first), r.lowest, r.highest)
        p.left_shift = max(0, 31 - n)
        p.second = shift_by(max(0, n - 31), r.second)
    p.zero_point = r.zero_point
    p.product_wraps, p.high_wraps, p.code_wraps = r.product_wraps, r.high_wraps, r.code_wraps
    return p


cdef void pick(void* row, const void* rule, Py_ssize_t c) noexcept nogil:
    cdef const Rule* r = <const Rule*>rule
    (<IntegerRow*>row)[0] = r.rows.of_shift[r.rows.right_shifts[c]]
    (<IntegerRow*>row).multiplier = r.rows.multipliers[c]


cdef int take(cnp.ndarray x, int typenum, int or_typenum) except -1:
    """TypeError where the loops would read other types than there are."""
    if cnp.PyArray_TYPE(x) != typenum and cnp.PyArray_TYPE(x) != or_typenum:
        raise TypeError(f"x: expected {dtype_names(typenum, or_typenum)}, got {(<object>x).dtype}")
    return 0


cdef int take_numbers(cnp.ndarray numbers, int typenum, Py_ssize_t inner, cnp.ndarray x, cnp.ndarray out) except -1:
    """TypeError or ValueError where the loops would read other types, or further, than there is."""
    if inner < 1:
        raise ValueError(f"inner: expected 1 or more, got {inner}")
    cdef Py_ssize_t count = cnp.PyArray_SIZE(numbers)
    if cnp.PyArray_TYPE(numbers) != typenum or not cnp.PyArray_IS_C_CONTIGUOUS(numbers) or count == 0:
        raise TypeError(f"numbers: expected contiguous {dtype_names(typenum)}, got {(<object>numbers).dtype}")
    if count > 1 and not (cnp.PyArray_IS_C_CONTIGUOUS(x) and cnp.PyArray_IS_C_CONTIGUOUS(out)
                          and cnp.PyArray_SIZE(x) == cnp.PyArray_SIZE(out)):
        raise ValueError("x, out: expected contiguous arrays of one size")
    return 0


def integer_codes(cnp.ndarray x, cnp.ndarray multipliers, cnp.ndarray right_shifts, Py_ssize_t inner, cnp.ndarray out,
                  *, str first, str second, str split, int zero_point, int lowest, int highest,
                  bint product_wraps=False, bint high_wraps=False, bint code_wraps=False):
    """out = the codes of int32 or int64 accumulators, times multiplier / 2**right_shift, of int64 arrays."""
    cdef Rule r
    r.rows.multipliers = <int64_t*>cnp.PyArray_DATA(multipliers)
    r.rows.right_shifts = <int64_t*>cnp.PyArray_DATA(right_shifts)
    r.first, r.second, r.split = NAMES[first], NAMES[second], SPLITS.index(split)
    r.zero_point, r.lowest, r.highest = zero_point, lowest, highest
    r.product_wraps, r.high_wraps, r.code_wraps = product_wraps, high_wraps, code_wraps
    cdef IntegerRow row
    cdef Py_ssize_t count = cnp.PyArray_SIZE(multipliers)
    cdef int n
    take(x, cnp.NPY_INT32, cnp.NPY_INT64)
    take_numbers(multipliers, cnp.NPY_INT64, inner, x, out)
    take_numbers(right_shifts, cnp.NPY_INT64, inner, x, out)
    if cnp.PyArray_SIZE(right_shifts) != count:
        raise ValueError("right_shifts: expected as many as multipliers")
    if count == 1:
        row = row_of(r.rows.multipliers[0], <int>r.rows.right_shifts[0], &r)
        integer_stage(&row, x, out)
    else:
        for n in range(SHIFTS):
            r.rows.of_shift[n] = row_of(0, n, &r)
        if inner == 1 and count == cnp.PyArray_SIZE(x):
            integer_own(&r.rows, x, out)
        else:
            integer_channels(pick, &r, turns(count, inner), x, out)


def floats(float scale, str rounding, double lowest, double highest, *, float plus=0.0, double shift=0.0,
           str form="times"):
    """The row clamp(round(x * scale + plus) + shift) in float32, as a dict; fused: rounded once, over: x / scale."""
    cdef FloatRow p = float_row(scale, NAMES[rounding], lowest, highest)
    p.plus, p.shift, p.form = plus, shift, FORMS[form]
    p.wide = <float>lowest != lowest or <float>highest != highest  # or sums with the shift that float32 does not hold
    p.wide = p.wide or shift != 0 and max(-lowest, highest, abs(shift)) > 1 << 24
    return p


def float_codes(cnp.ndarray x, FloatRow row, cnp.ndarray out, *, cnp.ndarray scales=None, Py_ssize_t inner=1):
    """out = the codes of int32 accumulators or float32 values; `scales`, float32, in the place of the row's."""
    take(x, cnp.NPY_INT32, cnp.NPY_FLOAT32)
    if scales is None:
        float_stage(&row, x, out)
        return
    take_numbers(scales, cnp.NPY_FLOAT32, inner, x, out)
    row.scale = (<float*>cnp.PyArray_DATA(scales))[0]
    if cnp.PyArray_SIZE(scales) == 1:
        float_stage(&row, x, out)
    else:
        float_channels(&row, <float*>cnp.PyArray_DATA(scales), turns(cnp.PyArray_SIZE(scales), inner), x, out)


def double_codes(cnp.ndarray x, cnp.ndarray scales, Py_ssize_t inner, cnp.ndarray out, *, str rounding, double lowest,
                 double highest, double plus=0.0, double shift=0.0):
    """out = clamp(round(x * scale + plus) + shift) in double, of int32 accumulators."""
    cdef DoubleRow row = DoubleRow(0, plus, shift, lowest, highest, NAMES[rounding])
    take(x, cnp.NPY_INT32, cnp.NPY_INT32)
    take_numbers(scales, cnp.NPY_FLOAT64, inner, x, out)
    double_stage(&row, <double*>cnp.PyArray_DATA(scales), turns(cnp.PyArray_SIZE(scales), inner), x, out)
