"""quantize and dequantize: float32 <-> codes."""

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport isfinite
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

from qops._kernels.arrays.numbers cimport flag, open_ends, shown
from qops._kernels.stage.affine cimport (
    Affine, Line, all_holding_zero, all_mirrored, dequantize_32, holding_zero, line_of, lines, mirrored
)
from qops._kernels.arrays.channels cimport reading, spans, stretched
from qops._kernels.arrays.checks cimport Ends, as_array, float32s, has_axes, integer, output, real
from qops._kernels.arrays.codes cimport CodeType, code, code_type_of, tensor
from qops._kernels.stage.dequantize cimport DequantizeParams, dequantize_codes
from qops._kernels.stage.range cimport completed, range_float
from qops._kernels.stage.rounding cimport clamp_f32
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk

import numpy as np

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.arrays.nearest import did_you_mean

cnp.import_array()

cdef extern from "frontdoor/quantize.h":
    ctypedef struct quantize_8:
        float inv_scale
        int zero_point, lowest
    Py_ssize_t quantize_f32_8__simd(int, const float*, void*, Py_ssize_t, quantize_8, int*) nogil

cdef object UINT8 = np.uint8
cdef str ITS_NAME = "uint8"
cdef str RAISE = "raise"
cdef float WHOLE = 12582912  # 1.5 * 2**23: a float this large has no fraction bits, so adding it rounds half to even

cdef struct ToCodes:
    float inv_scale
    int zero_point, lowest, highest, typenum
    int saw_nan


cdef void quantize_f32(const float* x, code* c, Py_ssize_t n, ToCodes* p) noexcept nogil:
    """c = saturate(round_half_even(x * inv_scale) + zero_point). A NaN gets the lowest code and sets `saw_nan`."""
    cdef float scaled, bottom = <float>(p.lowest - p.zero_point), top = <float>(p.highest - p.zero_point)
    cdef int saw_nan = 0, zero_point = p.zero_point
    cdef Py_ssize_t i = 0
    if code is uint8_t or code is int8_t:
        i = quantize_f32_8__simd(tier(), x, c, n, quantize_8(p.inv_scale, zero_point, p.lowest), &saw_nan)
    for i in range(i, n):
        scaled = x[i] * p.inv_scale
        saw_nan |= scaled != scaled
        c[i] = <code>(<int>((clamp_f32(scaled, bottom, top) + WHOLE) - WHOLE) + zero_point)
    p.saw_nan |= saw_nan


cdef void quantize_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef ToCodes* p = <ToCodes*>using
    cdef const float* x = <float*>data[0]
    if p.typenum == cnp.NPY_UINT8:
        quantize_f32(x, <uint8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        quantize_f32(x, <int8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_UINT16:
        quantize_f32(x, <uint16_t*>data[1], n, p)
    else:
        quantize_f32(x, <int16_t*>data[1], n, p)


cdef int typenum_of(dtype) except -1:
    """numpy's type number of the dtype of the codes."""
    try:
        wanted = np.dtype(dtype)
    except (TypeError, ValueError):
        wanted = None
    if wanted not in (np.uint8, np.int8, np.uint16, np.int16):
        near = did_you_mean(dtype, ("uint8", "int8", "uint16", "int16"))
        raise bad_type("dtype", f"expected uint8, int8, uint16 or int16, got {shown(dtype)}{near}")
    return wanted.num


cdef str first(bad, word):
    """Say where the first of the bad values is."""
    return f"has {word} at index {tuple([int(i) for i in np.unravel_index(np.argmax(bad), bad.shape)])}"


cdef int refuse_nan(values) except -1:
    raise bad_value("x", f"{first(np.isnan(values), 'NaN')}; nan='lowest' gives it the lowest code")


cdef int refuse_infinite(values) except -1:
    """Of values that have to give an end of the range."""
    if np.isnan(values).any():
        raise bad_value("x", f"{first(np.isnan(values), 'NaN')}, so it cannot give the range; "
                        "with min, max and nan='lowest' it gets the lowest code")
    raise bad_value("x", f"{first(np.isinf(values), 'a value that is infinite or beyond float32')}, "
                    "so it cannot give the range; with min and max it saturates")


cdef int prepare(
    lo, hi, cnp.ndarray values, bint symmetric, const CodeType* into, Ends* ends, ToCodes* p
) except -1:
    """Set `ends` to the smallest range that holds lo, hi and 0, and `p` to its numbers. None: the end of the values."""
    cdef double lowest = 0, highest = 0
    cdef Ends given, wide
    cdef Affine a
    if lo is None or hi is None:
        lowest, highest, finite = range_float(values)
        if not finite:
            refuse_infinite(values)
        if cnp.PyArray_SIZE(values) == 0:
            lowest = highest = 0.0
    completed(lo, hi, lowest, highest, &given)
    wide = mirrored(given, into.steps) if symmetric else given
    a = holding_zero(wide.min, wide.max, into, ends)
    if not isfinite(ends.max - ends.min):
        raise bad_value("min, max", f"({given.min:.6g}, {given.max:.6g}), with 0 on a code, is beyond float32")
    p.inv_scale, p.zero_point = <float>(1 / a.scale) if a.scale else <float>0, a.zero_point
    p.lowest, p.highest = into.lowest, into.highest
    return 0


def quantize(type cls, x, lo, hi, range, axis, dtype, symmetric, nan, out):
    """Quantize in the smallest range that holds lo and hi, or `range`, and 0. None stands for the end of the data."""
    cdef cnp.ndarray source, values, codes
    cdef bint may_be_nan
    cdef int typenum = cnp.NPY_UINT8 if dtype is ITS_NAME or dtype is UINT8 else typenum_of(dtype)
    cdef const CodeType* into = code_type_of(typenum & 1, 1 if typenum <= cnp.NPY_UINT8 else 2)  # signed: odd numbers
    cdef Ends ends
    cdef ToCodes p = ToCodes(0, 0, 0, 0, typenum, 0)
    if range is not None or isinstance(lo, tuple):
        lo, hi = open_ends(lo, hi, range)
    if nan is not RAISE and (not isinstance(nan, str) or nan not in (RAISE, "lowest")):
        raise bad_value("nan", f"{shown(nan)} is neither 'raise' nor 'lowest'")
    if axis is not None or type(lo) is not float and has_axes(lo) or type(hi) is not float and has_axes(hi):
        return quantize_channels(cls, x, lo, hi, axis, into[0], typenum, flag(symmetric, "symmetric"), nan, out)
    if lo is not None and type(lo) is not float:
        lo = real(lo, "min")
    if hi is not None and type(hi) is not float:
        hi = real(hi, "max")
    source = as_array(x, "x")
    values = float32s(source, "x")
    may_be_nan = lo is not None and hi is not None and (nan is RAISE or nan == RAISE)
    prepare(lo, hi, values, symmetric is not False and flag(symmetric, "symmetric"), into, &ends, &p)
    codes = output(out, typenum, source)
    walk(quantize_loop, &p, values, codes)
    if may_be_nan and p.saw_nan and np.isnan(values).any():  # the loop also reports very low values and 0 * inf
        refuse_nan(values)
    return tensor(cls, codes, ends.min, ends.max)


cdef set axes_of(axis, int ndim):
    """The axes, of an array of `ndim`, along which each choice of an index has a range of its own."""
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    kept = {integer(each, "axis", -ndim, ndim - 1) % ndim for each in given}
    if not kept:
        raise bad_value("axis", "expected at least one axis, got none")
    if len(kept) < len(given):
        raise bad_value("axis", f"names an axis twice, got {shown(axis)}")
    return kept


cdef tuple ends_of_channels(values, lo, hi, axis):
    """The ends of the ranges, as float32 arrays that broadcast against `values`. None: the end of the data."""
    if axis is None:
        if lo is None or hi is None:
            raise bad_value("axis", "expected one where min or max is given per channel, and the other not")
        if values.ndim == 0:
            raise bad_value("x", "is one number, and min or max has an axis; the order is x, min, max")
        return spans(values, lo, hi, "min, max")
    kept = axes_of(axis, values.ndim)
    shape = tuple([n if i in kept else 1 for i, n in enumerate(values.shape)])
    if lo is None or hi is None:
        others = tuple([i for i in range(values.ndim) if i not in kept])
        low, high = values.min(others, keepdims=True, initial=0), values.max(others, keepdims=True, initial=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            refuse_infinite(values)
        lo, hi = low if lo is None else lo, high if hi is None else hi
    lo, hi = spans(values, lo, hi, "min, max")
    whole = (lo + np.zeros(shape)).shape
    return np.broadcast_to(lo, whole), np.broadcast_to(hi, whole)


cdef object quantize_channels(type cls, x, lo, hi, axis, CodeType into, int typenum, bint symmetric, nan, out):
    """`quantize` with ranges per channel, in numpy."""
    source = as_array(x, "x")
    values = float32s(source, "x")
    lo, hi = ends_of_channels(values, lo, hi, axis)
    if symmetric:
        lo, hi = all_mirrored(lo, hi, into.steps)
    mins, maxs, scales, zeros = all_holding_zero(lo, hi, into)
    if not (np.isfinite(mins).all() and np.isfinite(maxs).all()):
        raise bad_value("min, max", "one of the ranges, with 0 on a code, is beyond float32")
    codes = output(out, typenum, source)
    if nan == RAISE and np.isnan(values).any():
        refuse_nan(values)
    inverse = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.fmin(np.fmax(values * inverse, into.lowest - zeros), into.highest - zeros)
    np.add(np.rint(near, out=near), zeros, out=codes, casting="unsafe")
    return tensor(cls, codes, mins, maxs)


def dequantize(t, out):
    """Give the real values of codes."""
    cdef cnp.ndarray codes, values
    cdef CodeType found_type
    cdef Ends ends
    cdef Line line
    cdef DequantizeParams p
    cdef double share  # the loop makes values * share: 0.5 if a product may overflow float32, else 1
    found = reading(t, "t", &found_type, &ends)
    if type(found) is tuple:
        return dequantize_channels(<tuple>found, found_type, out)
    codes = found
    line = line_of(ends.min, ends.max, &found_type)
    share = 0.5 if max(-ends.min, ends.max) + line.step / 2 > FLT_MAX else 1
    values = output(out, cnp.NPY_FLOAT32, codes)
    if cnp.PyArray_ITEMSIZE(codes) == 4:
        dequantize_32(codes, line, values)
    else:
        p = DequantizeParams(-<float>line.zero, <float>(line.step * share), <float>(line.base * share), False, False)
        dequantize_codes(codes, p, values)
        if share < 1:
            enlarge(values, share)
    return values


cdef int enlarge(values, share) except -1:
    """Divide the values by their `share`. Values up to half a step beyond the range are cut to float32's ends."""
    end = np.float32(FLT_MAX) * share
    np.clip(values, -end, end, out=values)
    values /= share
    return 0


cdef object dequantize_channels(tuple t, CodeType found_type, out):
    """`dequantize` with ranges per channel, in numpy."""
    cdef object values
    codes, lo, hi = t
    steps, zeros, bases = lines(lo, hi, found_type)
    lo, hi = stretched(lo, codes), stretched(hi, codes)
    steps, zeros, bases = stretched(steps, codes), stretched(zeros, codes), stretched(bases, codes)
    unit = 1.0
    if codes.itemsize == 4:
        zeros, bases, unit = 0.0 * zeros, bases - zeros * steps, 2.0**-31
    share = np.where((codes.itemsize < 4) & (np.maximum(-lo, hi) + steps / 2 > FLT_MAX), np.float32(0.5), np.float32(1))
    values = output(out, cnp.NPY_FLOAT32, codes)
    np.subtract(codes, zeros.astype(np.float32), out=values, dtype=np.float32, casting="unsafe")
    values *= np.float32(unit)
    values *= (steps / unit * share).astype(np.float32)
    values += (bases * share).astype(np.float32)
    if (share < 1).any():
        enlarge(values, share)
    return values


def dequantize_integers(double lo, double hi):
    """The numbers of the dequantize loop for uint8 codes of this range, as a dict: zero_point, scale, base."""
    cdef Line line = line_of(lo, hi, code_type_of(False, 1))
    return {"zero_point": line.zero, "scale": <float>line.step, "base": <float>line.base}
