"""Binary ops from 8 bits to 8 bits: guess the output range, keep the extremes, write at most once more."""

cimport numpy as cnp
from libc.math cimport isfinite

from qops._kernels.arrays.checks cimport Ends, data_of, output, real, span_of, take
from qops._kernels.arrays.codes cimport code_type_of, tensor
from qops._kernels.arrays.numbers cimport flag, shown
from qops._kernels.stage.range cimport above, below

cnp.import_array()

cdef double TIGHT = 15 / 16.  # a second pass is made if the range found is narrower than this share of the first
cdef double NARROWEST = 2.0**-32  # share of the full range; in a narrower range, extremes are not known precisely


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


cdef Ends first_range(Wish* w, Ends full) except *:
    """The range of the first pass: the caller's ends, and `full` for the others. A too narrow guess is dropped."""
    cdef Ends ends = Ends(w.ends.min if w.has_min else full.min, w.ends.max if w.has_max else full.max)
    if ends.max - ends.min > (max(ends.max, full.max) - min(ends.min, full.min)) * NARROWEST:
        return ends
    if not w.kept:
        w.has_min = w.has_max = False
        return full
    if ends.min < ends.max:
        raise ValueError(f"range: ({ends.min}, {ends.max}) is too narrow for results of ({full.min}, {full.max})")
    return ends


cdef Ends second_range(Ends found, Wish w, Ends full) noexcept nogil:
    """The range of the second pass: guessed ends that hold, else those found. It is never below NARROWEST."""
    cdef double lo = w.ends.min if w.has_min and w.ends.min <= found.min else found.min
    cdef double hi = w.ends.max if w.has_max and w.ends.max >= found.max else found.max
    cdef double least = 2 * NARROWEST * (full.max - full.min)
    return Ends(lo, hi) if hi - lo >= least else Ends(below(lo), above(lo + least))


cdef object in_passes(type cls, FullRange full_range, OnePass one_pass, a, b, guess, kept, out, return_info):
    """Run an op in the range `kept`, or with a guess and at most one more pass; give a tensor of the class `cls`.

    With `return_info`, give (tensor, (passes, min found, max found)).
    """
    cdef bint with_info = flag(return_info, "return_info")
    cdef Wish wish = wished(guess, kept)
    cdef Ends p, s, ends, better, full, seen
    cdef Span found
    cdef cnp.ndarray x, y, codes
    cdef int passes = 1
    x, y = data_of(a, "a", &p), data_of(b, "b", &s)
    take(x, "a", cnp.NPY_UINT8)
    take(y, "b", cnp.NPY_UINT8)
    seen = full = full_range(p, s)
    ends = first_range(&wish, full)
    codes = output(out, cnp.NPY_UINT8, x, y)
    if ends.min == ends.max or cnp.PyArray_SIZE(codes) == 0:  # one value, for which code 0 stands, or no elements
        (<object>codes).fill(0)
    else:
        found = one_pass(x, p, y, s, ends, codes)
        seen = Ends(max(found.min, full.min), min(found.max, full.max))
        better = second_range(seen, wish, full)
        if not wish.kept and (not found.fits or better.max - better.min <= TIGHT * (ends.max - ends.min)):
            ends, passes = better, 2
            one_pass(x, p, y, s, ends, codes)
    result = tensor(cls, codes, ends.min, ends.max)
    return (result, (passes, seen.min, seen.max)) if with_info else result
