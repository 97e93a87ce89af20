"""Requantize: codes of 8 or 32 bits to 8-bit codes of another range, rounded once; ranges may be per channel."""

cimport numpy as cnp
from libc.math cimport INFINITY, ceil, floor, frexp, isfinite, ldexp, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t

import numpy as np

from qops._kernels.arrays.channels cimport by_channel, reading, spans
from qops._kernels.arrays.checks cimport Ends, as_array, output, real
from qops._kernels.arrays.codes cimport CodeType, code_type_of, tensor
from qops._kernels.arrays.numbers cimport code_typenum, has_axes, open_ends
from qops._kernels.frontdoor.requantize_8 cimport (
    STEEPEST, RecodeParams, flip_of, recode_channels, recode_params, table_8,
)
from qops._kernels.stage.affine cimport holding_zero
from qops._kernels.stage.integer_stage cimport IntegerParams, Shift, integer_params
from qops._kernels.stage.lookup cimport look_up
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.range cimport above, below, completed, range_32_into
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.stage.stage cimport Stage, integer_stage, stage_over
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef tuple CODES = (cnp.NPY_UINT8, cnp.NPY_INT8, cnp.NPY_INT32), CODES_32 = (cnp.NPY_INT32,)


cdef tuple read(t, bint only_32, CodeType* kind):
    """Check the triple `t` and give (codes, min, max); arrays of ends if there are several. Set `kind` to its type."""
    cdef Ends ends
    found = reading(t, "t", kind, &ends, CODES_32 if only_32 else CODES)
    return found if type(found) is tuple else (found, ends.min, ends.max)


cdef Ends between(int32_t lowest, int32_t highest, Ends ends, const CodeType* kind) noexcept nogil:
    """The range from the value of one code to that of another."""
    cdef double step = (ends.max - ends.min) / kind.steps
    if kind.symmetric:
        return Ends(below(lowest * step), above(highest * step))
    return Ends(below(ends.min + (lowest - kind.lowest) * step), above(ends.max - (kind.highest - highest) * step))


cdef Ends spanned(cnp.ndarray codes, lo, hi, const CodeType* kind):
    """The range from the lowest value of the codes to the highest; (0, 0) if there are no codes."""
    cdef int32_t lowest, highest
    cdef Ends found = Ends(INFINITY, -INFINITY), own
    if cnp.PyArray_SIZE(codes) == 0:
        return Ends(0, 0)
    if type(lo) is not float:
        axes = tuple([i for i in range(-codes.ndim, 0) if -i > lo.ndim or lo.shape[i] == 1])
        lows, highs = (<object>codes).min(axes).ravel(), (<object>codes).max(axes).ravel()
        for lowest, highest, low, high in zip(lows.tolist(), highs.tolist(), lo.ravel().tolist(), hi.ravel().tolist()):
            own = between(lowest, highest, Ends(low, high), kind)
            found = Ends(min(found.min, own.min), max(found.max, own.max))
        return found
    if kind.symmetric:
        range_32_into(codes, &lowest, &highest)
    else:
        lowest, highest = (<object>codes).min(), (<object>codes).max()
    return between(lowest, highest, Ends(lo, hi), kind)


cdef IntegerParams params_32(double step, double lo, double hi, const CodeType* into) noexcept nogil:
    """The parameters that take int32 codes of this step to the range (lo, hi); to the lowest code if it is 0 wide."""
    cdef double out_step = (hi - lo) / into.steps, ratio = 0, centre_code = 0
    cdef double lowest = INT32_MIN, highest = INT32_MAX, centre, multiplier
    cdef int64_t offset  # code of the centre plus 1/2 for the rounding, in 2**-19 output steps
    cdef int left_shift = 0
    cdef IntegerParams p
    if out_step > 0:
        ratio = min(step / out_step, <double>STEEPEST)
    multiplier = ratio * 2.0**51
    if ratio > 0:
        lowest = clamp_f64(floor((lo - out_step) / step), INT32_MIN, INT32_MAX)
        highest = clamp_f64(ceil((hi + out_step) / step), INT32_MIN, INT32_MAX)
    centre = floor((lowest + highest + 1) / 2)
    if multiplier > INT32_MAX:
        frexp(multiplier, &left_shift)
        left_shift -= 31
        left_shift += multiplier * ldexp(1, -left_shift) > INT32_MAX
        multiplier *= ldexp(1, -left_shift)
    if out_step > 0:
        centre_code = clamp_f64((centre * step - lo) / out_step, -into.steps - 1, 2 * into.steps + 1)  # saturates
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
    return params_32(step, lo, hi, code_type_of(is_signed, 1))


def requantization_range(t):
    """Give (min, max), the lowest and the highest value of the codes."""
    cdef CodeType kind
    cdef Ends ends
    codes, lo, hi = read(t, False, &kind)
    ends = spanned(codes, lo, hi, &kind)
    return ends.min, ends.max


cdef object given(end, str name):
    """An end of the output range as it is given: None, a float, or an array with one for each channel."""
    if end is None or type(end) is float:
        return end
    return as_array(end, name) if has_axes(end) else real(end, name)


cdef double beyond_zero(double given, double least, double steps) noexcept nogil:
    """How far the other end, at least `least` beyond 0, lies for 0 to be on a code of a range that begins at `given`.

    It is `least` if `given` is nearer to 0 than a step.
    """
    cdef double place = floor(given * steps / (given + least)) if given > 0 else 0
    return max(least, <float>((steps - place) * given / place)) if place > 0 else least


cdef Ends wanted_of(lo, hi, cnp.ndarray codes, tuple own, const CodeType* kind, const CodeType* into):
    """The output range (lo, hi). Ends that are None come from the codes, and are moved outward to put 0 on a code.

    They are not moved if they would be beyond float32.
    """
    cdef Ends found = Ends(0, 0), wanted, moved
    if lo is None or hi is None:
        found = spanned(codes, own[0], own[1], kind)
    completed(lo, hi, found.min, found.max, &wanted)
    moved = wanted
    if lo is None and hi is None:
        holding_zero(found.min, found.max, into, &moved)
        moved = Ends(min(moved.min, found.min), max(moved.max, found.max))  # its ends were rounded to float32
    elif lo is None:
        moved.min = -beyond_zero(wanted.max, -wanted.min, into.steps)
    elif hi is None:
        moved.max = beyond_zero(-wanted.min, wanted.max, into.steps)
    return moved if isfinite(moved.min) and isfinite(moved.max) else wanted


def requantize(type cls, t, lo, hi, range, dtype, bint only_32, out):
    """Give 8-bit codes in the range (lo, hi), or `range`. None stands for an end that comes from the codes."""
    cdef int typenum = code_typenum(dtype, False)
    cdef Ends wanted
    cdef CodeType kind
    cdef const CodeType* into = code_type_of(typenum == cnp.NPY_INT8, 1)
    cdef cnp.ndarray codes, result
    cdef uint8_t table[256]
    cdef IntegerParams p
    cdef Stage s
    if range is not None or isinstance(lo, tuple):
        lo, hi = open_ends(lo, hi, range)
    lo, hi = given(lo, "min"), given(hi, "max")
    codes, low, high = read(t, only_32, &kind)
    if has_axes(lo) or has_axes(hi):
        if lo is None or hi is None:
            raise bad_value("min, max", "expected both ends, as one is given per channel")
        lo, hi = [end.copy() for end in spans(codes, lo, hi, "min, max")]
    else:
        wanted = wanted_of(lo, hi, codes, (low, high), &kind, into)
        lo, hi = wanted.min, wanted.max
    result = output(out, typenum, codes)
    if type(lo) is not float or type(low) is not float:
        requantize_channels(codes, (low, high, lo, hi), &kind, into, result)
    elif kind.symmetric:
        p = params_32((high - low) / kind.steps, lo, hi, into)
        s = integer_stage(&p)
        stage_over(&s, codes, result)
    else:
        table_8(Ends(low, high), flip_of(codes), wanted, flip_of(result), table)
        look_up(codes, table, result)
    return tensor(cls, result, lo, hi)


cdef int requantize_channels(cnp.ndarray codes, tuple ends, const CodeType* kind, const CodeType* into,
                             cnp.ndarray result) except -1:
    """Requantize codes with ranges per channel; `ends` are (min, max, out min, out max), numbers or arrays."""
    cdef Py_ssize_t i, inner, count
    cdef cnp.ndarray each
    cdef bytearray params
    cdef PreparedStage stage
    cdef IntegerParams* room
    cdef const double *lows
    cdef const double *highs
    cdef const double *los
    cdef const double *his
    if cnp.PyArray_SIZE(codes) == 0:
        return 0
    each = by_channel(codes, ends, &inner)
    count = cnp.PyArray_DIM(each, 1)
    lows = <const double *>cnp.PyArray_DATA(each)
    highs, los, his = lows + count, lows + 2 * count, lows + 3 * count
    if kind.symmetric:
        stage = PreparedStage.__new__(PreparedStage)
        room = stage.integers(count)
        for i in range(count):
            room[i] = params_32((highs[i] - lows[i]) / kind.steps, los[i], his[i], into)
        stage.ready()
        stage.run(codes, result, inner)
        return 0
    params = bytearray(count * sizeof(RecodeParams))
    for i in range(count):
        (<RecodeParams*><char*>params)[i] = recode_params(Ends(lows[i], highs[i]), Ends(los[i], his[i]))
    made = result if cnp.PyArray_IS_C_CONTIGUOUS(result) else np.empty((<object>result).shape, result.dtype)
    recode_channels(np.ascontiguousarray(codes), <const RecodeParams*><char*>params, count, inner, made)
    if made is not result:
        cnp.PyArray_CopyInto(result, made)
    return 0
