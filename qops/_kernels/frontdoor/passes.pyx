"""Binary ops on 8-bit codes. Into 8 bits: guess the output range, keep the extremes, write at most once more.

The seed's ops take uint8 codes and draw the range in to the results. The others take int8 codes as well, and widen a
range that the caller did not give to have 0 on a code.
"""

cimport numpy as cnp
from libc.math cimport isfinite

from qops._kernels.arrays.checks cimport Ends, data_of, output, real, span_of, take
from qops._kernels.arrays.codes cimport CodeType, code_type_of, tensor
from qops._kernels.arrays.numbers cimport code_typenum, flag, shown
from qops._kernels.arrays.walk cimport walk
from qops._kernels.stage.affine cimport holding_zero
from qops._kernels.stage.range cimport above, below

cnp.import_array()

cdef double TIGHT = 15 / 16.  # a second pass is made if the range found is narrower than this share of the first
cdef double NARROWEST = 2.0**-32  # share of the full range; in a narrower range, extremes are not known precisely
cdef enum:
    SIGN = 0x80  # an int8 code ^ SIGN is the uint8 code of the same value


cdef int flips_of(cnp.ndarray x, cnp.ndarray y, int typenum, bint also_int8, code_flips* flips) except -1:
    """Set the flips of two operands and of a result of this dtype; TypeError if the operands have another type."""
    cdef int other = cnp.NPY_INT8 if also_int8 else -1
    take(x, "a", cnp.NPY_UINT8, other)
    take(y, "b", cnp.NPY_UINT8, other)
    flips.a = SIGN if cnp.PyArray_TYPE(x) == cnp.NPY_INT8 else 0
    flips.b = SIGN if cnp.PyArray_TYPE(y) == cnp.NPY_INT8 else 0
    flips.c = SIGN if typenum == cnp.NPY_INT8 else 0
    return 0


cdef Ends outward(double lo, double hi) except *:
    """The range of results from lo to hi, rounded outward to float32."""
    if not isfinite(<double>above(hi) - below(lo)):
        raise ValueError(f"a, b: the range of the results, ({lo}, {hi}), is beyond float32")
    return Ends(below(lo), above(hi))


cdef Span span_found(double lowest, double highest, int parts, int slack, Ends c) noexcept nogil:
    """The Span of one pass. The extremes of the loop count parts of a step above c.min, `parts` to a step.

    They include half a step for the rounding, and are off by at most `slack` parts.
    """
    cdef double part = step(c) / parts
    cdef bint fits = lowest >= 0 and highest < (code_type_of(False, 1).steps + 1) * <double>parts
    lowest, highest = lowest - parts // 2 - slack, highest - parts // 2 + slack
    return Span(fits, below(c.min + lowest * part), above(c.min + highest * part))


cdef struct Wish:  # the caller's `range` (kept) or `guess`
    Ends ends
    bint has_min, has_max, kept


cdef Wish wished(guess, kept) except *:
    """Check `guess`, or the range `kept`. Ends of a guess may be None, ends of a range may not."""
    cdef Wish w = Wish(Ends(0, 0), False, False, kept is not None)
    cdef str name = "range" if w.kept else "guess"
    given = kept if w.kept else guess
    if given is None:
        return w
    if w.kept and guess is not None:
        raise ValueError(f"range: give range or guess, not both; got {shown(kept)} and guess {shown(guess)}")
    try:
        lo, hi = given
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected (min, max), got {shown(given)}") from None
    w.has_min, w.has_max = w.kept or lo is not None, w.kept or hi is not None
    if w.has_min and w.has_max:
        span_of(lo, hi, name, &w.ends)
    elif w.has_min:
        w.ends.min = real(lo, "guess min")
    elif w.has_max:
        w.ends.max = real(hi, "guess max")
    return w


cdef Ends zero_on_a_code(Ends r) except *:
    """The smallest range that holds `r` and, on a code, 0. Only a guess can take it beyond float32."""
    cdef Ends wide
    holding_zero(r.min, r.max, code_type_of(False, 1), &wide)
    if not (isfinite(wide.min) and isfinite(wide.max)):
        raise ValueError(f"guess: ({r.min}, {r.max}), with 0 on a code, is beyond float32")
    return wide


cdef Ends first_range(Wish* w, Ends full, bint seed) except *:
    """The range of the first pass: the caller's ends, and `full` for the others. A too narrow guess is dropped."""
    cdef Ends ends = Ends(w.ends.min if w.has_min else full.min, w.ends.max if w.has_max else full.max)
    if ends.max - ends.min > (max(ends.max, full.max) - min(ends.min, full.min)) * NARROWEST:
        return ends if seed or w.has_min and w.has_max else zero_on_a_code(ends)
    if not w.kept:
        w.has_min = w.has_max = False
        return full if seed else zero_on_a_code(full)
    if ends.min < ends.max:
        raise ValueError(f"range: ({ends.min}, {ends.max}) is too narrow for results of ({full.min}, {full.max})")
    return ends


cdef Ends second_range(Ends found, Wish w, Ends full, bint seed) except *:
    """The range of the second pass: guessed ends that hold, else those found. It is never below NARROWEST."""
    cdef double lo = w.ends.min if w.has_min and w.ends.min <= found.min else found.min
    cdef double hi = w.ends.max if w.has_max and w.ends.max >= found.max else found.max
    cdef double least = 2 * NARROWEST * (full.max - full.min)
    cdef Ends ends = Ends(lo, hi) if hi - lo >= least else Ends(below(lo), above(lo + least))
    return ends if seed else zero_on_a_code(ends)


cdef int result_typenum(dtype, guess, kept, return_info) except -1:
    """numpy's number of `dtype`; ValueError if it is int32 and a range is given or asked for: it has the op's own."""
    cdef int typenum = code_typenum(dtype, True)
    if typenum != cnp.NPY_INT32:
        return typenum
    for value, name in ((guess, "guess"), (kept, "range"), (flag(return_info, "return_info") or None, "return_info")):
        if value is not None:
            raise ValueError(f"{name}: int32 codes have the op's own range, got {shown(value)}")
    return typenum


cdef object into_32(type cls, a, b, bint also_int8, out, Prepare32 prepare, Loop loop, void* numbers):
    """Run an op on uint8 or, if `also_int8`, int8 codes into int32 codes; give a tensor of the class `cls`.

    `numbers` is memory for the numbers of the loop.
    """
    cdef Ends p, s
    cdef code_flips flips
    cdef cnp.ndarray x, y, codes
    cdef double top
    x, y = data_of(a, "a", &p), data_of(b, "b", &s)
    flips_of(x, y, cnp.NPY_INT32, also_int8, &flips)
    top = prepare(p, s, flips, numbers)
    if not isfinite(top):
        raise ValueError(f"a, b: the ranges ({p.min}, {p.max}), ({s.min}, {s.max}) make an output beyond float32")
    codes = output(out, cnp.NPY_INT32, x, y)
    walk(loop, numbers, x, y, codes)
    return tensor(cls, codes, 0 - top, top)


cdef object in_passes(type cls, type info, FullRange full_range, OnePass one_pass, a, b, int typenum, guess, kept,
                      out, return_info, bint seed):
    """Run an op in the range `kept`, or with a guess and at most one more pass; give a tensor of the class `cls`.

    With `return_info`, give (tensor, info(passes, min found, max found)).
    """
    cdef bint with_info = flag(return_info, "return_info")
    cdef int passes = 1
    cdef const CodeType* into = code_type_of(typenum == cnp.NPY_INT8, 1)
    cdef Wish wish = wished(guess, kept)
    cdef Ends p, s, ends, better, full, seen
    cdef Span found
    cdef code_flips flips
    cdef cnp.ndarray x, y, codes
    x, y = data_of(a, "a", &p), data_of(b, "b", &s)
    flips_of(x, y, typenum, not seed, &flips)
    seen = full = full_range(p, s)
    ends = first_range(&wish, full, seed)
    codes = output(out, typenum, x, y)
    if ends.min == ends.max or cnp.PyArray_SIZE(codes) == 0:  # one value, for which the lowest code stands, or none
        (<object>codes).fill(into.lowest)
    else:
        found = one_pass(x, p, y, s, ends, codes, flips)
        seen = Ends(max(found.min, full.min), min(found.max, full.max))
        if not wish.kept:
            better = second_range(seen, wish, full, seed)
            if not found.fits or better.max - better.min <= TIGHT * (ends.max - ends.min):
                ends, passes = better, 2
                one_pass(x, p, y, s, ends, codes, flips)
    result = tensor(cls, codes, ends.min, ends.max)
    return (result, info(passes, seen.min, seen.max)) if with_info else result
