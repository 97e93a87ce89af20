"""Requantize: codes of 8 or 32 bits to 8-bit codes of another range, rounded once."""

cimport numpy as cnp
from libc.math cimport ceil, floor, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends, check_ends, data_of, output, real
from qops._kernels.arrays.codes cimport CodeType, code_type, code_type_of, tensor
from qops._kernels.arrays.numbers cimport code_typenum
from qops._kernels.stage.integer_stage cimport IntegerParams, Shift, integer_params
from qops._kernels.stage.lookup cimport look_up
from qops._kernels.stage.range cimport above, below, completed, range_32_into
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.stage.stage cimport Stage, integer_stage, stage_over

cnp.import_array()

cdef enum:
    STEEPEST = 512  # output steps per input step; if there are more, all codes but one saturate


cdef cnp.ndarray codes_of(t, bint only_32, Ends* ends, const CodeType** row):
    """Check the triple `t` and give its data; set `ends` to its range and `row` to its code type."""
    cdef cnp.ndarray codes = data_of(t, "t", ends)
    cdef const CodeType* kind = code_type(codes)
    row[0] = kind
    if cnp.PyArray_ITEMSIZE(codes) != 4 and (only_32 or cnp.PyArray_ITEMSIZE(codes) != 1) or kind.steps == 0:
        expected = "int32" if only_32 else "uint8, int8 or int32"
        raise TypeError(f"t: expected {expected} data, got {(<object>codes).dtype}")
    check_ends(kind, ends[0], codes, "t")
    return codes


cdef Ends spanned(cnp.ndarray codes, Ends ends, const CodeType* kind):
    """The range from the value of the lowest code to that of the highest; (0, 0) if there are no codes."""
    cdef int32_t lowest, highest
    cdef double step = (ends.max - ends.min) / kind.steps
    if cnp.PyArray_SIZE(codes) == 0:
        return Ends(0, 0)
    if kind.symmetric:
        range_32_into(codes, &lowest, &highest)
        return Ends(below(lowest * step), above(highest * step))
    lowest, highest = (<object>codes).min(), (<object>codes).max()
    return Ends(below(ends.min + (lowest - kind.lowest) * step), above(ends.max - (kind.highest - highest) * step))


cdef IntegerParams row_32(double step, double lo, double hi, const CodeType* into) noexcept nogil:
    """The parameters that take int32 codes of this step to the range (lo, hi), where lo < hi."""
    cdef double out_step = (hi - lo) / into.steps, ratio = min(step / out_step, <double>STEEPEST)
    cdef double lowest = INT32_MIN, highest = INT32_MAX, centre, multiplier = ratio * 2.0**51
    cdef double centre_code
    cdef int64_t offset  # code of the centre plus 1/2 for the rounding, in 2**-19 output steps
    cdef int left_shift = 0
    cdef IntegerParams p
    if step > 0:
        lowest = clamp_f64(floor((lo - out_step) / step), INT32_MIN, INT32_MAX)
        highest = clamp_f64(ceil((hi + out_step) / step), INT32_MIN, INT32_MAX)
    centre = floor((lowest + highest + 1) / 2)
    while multiplier > INT32_MAX:
        multiplier /= 2
        left_shift += 1
    centre_code = clamp_f64((centre * step - lo) / out_step, -into.steps - 1, 2 * into.steps + 1)  # saturates beyond
    offset = <int64_t>rint(centre_code * (1 << 19)) + (1 << 18)
    p = integer_params(<int64_t>min(rint(multiplier), <double>INT32_MAX), Shift(offset * (<int64_t>1 << 32), 0, 0, 51),
                       into.lowest, into.highest)
    p.zero_point = into.lowest
    if left_shift <= 19 and -(1 << 30) <= centre <= 1 << 30:  # every sum stays below 2**62, every code below 2**31
        p.first.right_shift -= left_shift
        p.first.add = offset * (<int64_t>1 << (32 - left_shift)) - <int64_t>centre * p.multiplier
    else:
        p.lowest, p.highest, p.centre, p.left_shift = <int>lowest, <int>highest, <int>centre, left_shift
    return p


def requantize_integers(double step, double lo, double hi, bint is_signed=False):
    """The numbers of the loop for int32 codes of this step and the output range (lo, hi), as a dict."""
    return row_32(step, lo, hi, code_type_of(is_signed, 1))


cdef double sum_of(double a, double b, double c) noexcept nogil:
    """a + b + c, compensated: the rounding errors of both sums are added at the end."""
    cdef double ab = a + b, abc = ab + c
    cdef double b_in = ab - a, c_in = abc - ab
    return abc + (((a - (ab - b_in)) + (b - b_in)) + ((ab - (abc - c_in)) + (c - c_in)))


cdef void table_8(Ends ends, const CodeType* kind, Ends wanted, const CodeType* into, uint8_t* table) noexcept nogil:
    """table[byte of q] = the code of q, rounded half up. Positions are exact to about 2**-43 output steps."""
    cdef int64_t k, steps = into.steps
    cdef double position
    for k in range(kind.steps + 1):
        position = sum_of((steps - k) * ends.min, k * ends.max, -steps * wanted.min) / (wanted.max - wanted.min)
        position = floor(clamp_f64(position + 0.5, 0, steps))
        table[<uint8_t>(k + kind.lowest)] = <uint8_t>(into.lowest + <int64_t>position)


def requantization_range(t):
    """Give (min, max), the values of the lowest and the highest code."""
    cdef Ends ends
    cdef const CodeType* kind
    codes = codes_of(t, False, &ends, &kind)
    ends = spanned(codes, ends, kind)
    return ends.min, ends.max


def requantize(type cls, t, lo, hi, dtype, bint only_32, out):
    """Give 8-bit codes in the range (lo, hi). None stands for the end of the codes' own range."""
    cdef int typenum = code_typenum(dtype, False)
    cdef Ends ends, wanted, found = Ends(0, 0)
    cdef const CodeType* kind
    cdef const CodeType* into = code_type_of(typenum == cnp.NPY_INT8, 1)
    cdef cnp.ndarray codes, result
    cdef uint8_t table[256]
    cdef IntegerParams p
    cdef Stage s
    if lo is not None and type(lo) is not float:
        lo = real(lo, "min")
    if hi is not None and type(hi) is not float:
        hi = real(hi, "max")
    codes = codes_of(t, only_32, &ends, &kind)
    if lo is None or hi is None:
        found = spanned(codes, ends, kind)
    completed(lo, hi, found.min, found.max, &wanted)
    result = output(out, typenum, codes)
    if wanted.min == wanted.max:
        (<object>result).fill(into.lowest)
    elif kind.symmetric:
        p = row_32((ends.max - ends.min) / kind.steps, wanted.min, wanted.max, into)
        s = integer_stage(&p)
        stage_over(&s, codes, result)
    else:
        table_8(ends, kind, wanted, into, table)
        look_up(codes, table, result)
    return tensor(cls, result, wanted.min, wanted.max)
