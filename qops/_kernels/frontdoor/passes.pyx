"""How a binary op on 8-bit codes finds the range of its 8-bit results: try one, watch the results, write once more.

`in_two_passes` is the method, and the functions below it are its steps. The ops differ in their loop alone (add.pyx,
mul.pyx).
"""

cimport cython
cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport INT64_MAX, INT64_MIN

from qops._kernels.arrays.checks cimport Ends, data_of, output, real, span_of, take
from qops._kernels.arrays.codes cimport tensor
from qops._kernels.arrays.numbers cimport code_typenum, flag, shown
from qops._kernels.arrays.walk cimport walk
from qops._kernels.stage.affine cimport holding_zero
from qops._kernels.stage.range cimport above, below
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef double NARROWER = 15 / 16.  # a range that is narrower than the one tried by this factor is worth a second pass
cdef double NARROWEST = 2.0**-32  # share of the possible results; in a narrower range, extremes are not known precisely
cdef enum:
    SIGN = 0x80  # an int8 code ^ SIGN is the uint8 code of the same value


cdef Written in_two_passes(BinaryOperands o, Into8 op, Target target) except *:
    """Write the codes of the results and find their range, in at most two passes over the data.

    The ranges of a and b tell which results are possible, not which there are. So the first pass writes in a range that
    is tried, the caller's guess or all that is possible, and watches the results before they saturate. The results do
    not depend on the range tried: the range seen is right whether or not the guess was, and a second pass in it holds.
    """
    cdef Ends possible = possible_range(o, op)
    target = without_narrow_guess(target, possible)
    cdef Ends tried = range_to_try(target, possible)
    if width(tried) == 0 or cnp.PyArray_SIZE(o.codes) == 0:
        write_lowest_codes(o)
        return written(tried, possible, 1)
    cdef Extremes extremes = one_pass(o, op, tried)
    cdef Ends seen = range_seen(extremes, tried, possible)
    if target.kept:
        return written(tried, seen, 1)
    cdef Ends better = range_to_hold(seen, target, possible)
    if holds(extremes) and width(better) > NARROWER * width(tried):
        return written(tried, seen, 1)
    one_pass(o, op, better)
    return written(better, seen, 2)


cdef Written written(Ends range, Ends seen, int passes) noexcept nogil:
    cdef Written w
    w.range, w.seen, w.passes = range, seen, passes
    return w


cdef Ends possible_range(BinaryOperands o, Into8 op) except *:
    """The range of all results that the ranges of a and b allow, rounded outward to float32."""
    cdef Ends r = op.possible(o.a, o.b)
    if not isfinite(<double>above(r.max) - below(r.min)):
        raise bad_value("a, b", f"the range of the results, ({r.min}, {r.max}), is beyond float32")
    return Ends(below(r.min), above(r.max))


cdef Ends wanted_range(Target target, Ends possible) noexcept nogil:
    """The caller's ends, and the possible ones in place of others."""
    cdef double lo = target.ends.min if target.has_min else possible.min
    return Ends(lo, target.ends.max if target.has_max else possible.max)


cdef Target without_narrow_guess(Target target, Ends possible) except *:
    """The target, but no guess in which extremes are not known precisely; ValueError if a range to keep is so."""
    cdef Ends ends = wanted_range(target, possible)
    cdef bint is_narrow = width(ends) <= (max(ends.max, possible.max) - min(ends.min, possible.min)) * NARROWEST
    if is_narrow and target.kept and width(ends) > 0:
        raise bad_value("range", f"({ends.min}, {ends.max}) is too narrow for results of "
                                 f"({possible.min}, {possible.max})")
    if is_narrow and not target.kept:
        target.has_min = target.has_max = False
    return target


cdef Ends range_to_try(Target target, Ends possible) except *:
    """The range that the caller wants, with 0 on a code if the target says so and does not give both ends."""
    cdef Ends tried = wanted_range(target, possible)
    return tried if target.has_min and target.has_max else with_zero_point(tried, target)


cdef int write_lowest_codes(BinaryOperands o) except -1:
    """All results have one value, for which the lowest code stands, or there are none."""
    (<object>o.codes).fill(-SIGN if o.flips.c else 0)
    return 0


cdef Extremes one_pass(BinaryOperands o, Into8 op, Ends c) except *:
    """Write the codes of all results in the range c, saturated, and give the extremes of the results."""
    cdef Extremes* extremes = <Extremes*>op.numbers
    cdef Loop loop = op.prepare(o.a, o.b, c, o.flips, op.numbers)
    extremes.lowest, extremes.highest = INT64_MAX, INT64_MIN
    walk(loop, op.numbers, o.x, o.y, o.codes)
    return extremes[0]


cdef Ends range_seen(Extremes e, Ends c, Ends possible) noexcept nogil:
    """The range of the results of a pass in the range c, rounded outward."""
    cdef double part = step(c) / e.parts, half = e.parts // 2
    cdef double lo = below(c.min + (<double>e.lowest - half - e.slack) * part)
    cdef double hi = above(c.min + (<double>e.highest - half + e.slack) * part)
    return Ends(max(lo, possible.min), min(hi, possible.max))


cdef bint holds(Extremes e) noexcept nogil:
    """Whether no code of the pass saturated."""
    return e.lowest >= 0 and e.highest < 256 * <int64_t>e.parts


cdef Ends range_to_hold(Ends seen, Target target, Ends possible) except *:
    """The guessed ends that no result passed, else the ends seen. It is never below NARROWEST."""
    cdef double lo = target.ends.min if target.has_min and target.ends.min <= seen.min else seen.min
    cdef double hi = target.ends.max if target.has_max and target.ends.max >= seen.max else seen.max
    cdef double least = 2 * NARROWEST * width(possible)
    return with_zero_point(Ends(lo, hi) if hi - lo >= least else Ends(below(lo), above(lo + least)), target)


cdef Ends with_zero_point(Ends r, Target target) except *:
    """The smallest range that holds r and, if the target says so, 0 on a code."""
    cdef Ends wide
    if target.zero == ZERO_ANYWHERE:
        return r
    holding_zero(r.min, r.max, code_type_of(False, 1), &wide)
    if not (isfinite(wide.min) and isfinite(wide.max)):  # only a guess takes it there
        raise bad_value("guess", f"({r.min}, {r.max}), with 0 on a code, is beyond float32")
    return wide


cdef Target target_of(guess, kept, ZeroPoint zero) except *:
    """Check `guess`, or the range `kept`. Ends of a guess may be None, ends of a range may not."""
    cdef Target t = Target(Ends(0, 0), False, False, kept is not None, zero)
    cdef str name = "range" if t.kept else "guess"
    given = kept if t.kept else guess
    if given is None:
        return t
    if t.kept and guess is not None:
        raise bad_value("range", f"give range or guess, not both; got {shown(kept)} and guess {shown(guess)}")
    try:
        lo, hi = given
    except (TypeError, ValueError):
        raise bad_type(name, f"expected (min, max), got {shown(given)}") from None
    t.has_min, t.has_max = t.kept or lo is not None, t.kept or hi is not None
    if t.has_min and t.has_max:
        span_of(lo, hi, name, &t.ends)
    elif t.has_min:
        t.ends.min = real(lo, "guess min")
    elif t.has_max:
        t.ends.max = real(hi, "guess max")
    return t


@cython.final
@cython.no_gc
@cython.freelist(4)
@cython.auto_pickle(False)
cdef class BinaryOperands:
    """What a binary op reads and writes, checked: two tensors, and the codes of the result."""


cdef BinaryOperands operands(a, b, out, int typenum, int or_typenum=-1):
    """Check two tensors of codes of uint8, or of `or_typenum`, and `out`; or make the codes of the result."""
    cdef BinaryOperands o = BinaryOperands.__new__(BinaryOperands)
    cdef cnp.ndarray x = data_of(a, "a", &o.a), y = data_of(b, "b", &o.b)
    take(x, "a", cnp.NPY_UINT8, or_typenum)
    take(y, "b", cnp.NPY_UINT8, or_typenum)
    o.flips.a = SIGN if cnp.PyArray_TYPE(x) == cnp.NPY_INT8 else 0
    o.flips.b = SIGN if cnp.PyArray_TYPE(y) == cnp.NPY_INT8 else 0
    o.flips.c = SIGN if typenum == cnp.NPY_INT8 else 0
    o.x, o.y, o.codes = x, y, output(out, typenum, x, y)
    return o


cdef int result_typenum(dtype, guess, kept, return_info) except -1:
    """numpy's number of `dtype`; ValueError if it is int32 and a range is given or asked for: it has the op's own."""
    cdef int typenum = code_typenum(dtype, True)
    if typenum != cnp.NPY_INT32:
        return typenum
    for value, name in ((guess, "guess"), (kept, "range"), (flag(return_info, "return_info") or None, "return_info")):
        if value is not None:
            raise bad_value(name, f"int32 codes have the op's own range, got {shown(value)}")
    return typenum


cdef object into_8(type cls, type info, BinaryOperands o, Into8 op, Target target, return_info):
    """Run an op into 8 bits; give a tensor of the class `cls`, and `info(passes, min seen, max seen)` if wanted."""
    cdef bint with_info = flag(return_info, "return_info")
    cdef Written w = in_two_passes(o, op, target)
    result = tensor(cls, o.codes, w.range.min, w.range.max)
    return (result, info(w.passes, w.seen.min, w.seen.max)) if with_info else result


cdef object into_32(type cls, BinaryOperands o, Prepare32 prepare, Loop loop, void* numbers):
    """Run an op into int32 codes; give a tensor of the class `cls`. `numbers` is memory for the numbers of the loop."""
    cdef double top = prepare(o.a, o.b, o.flips, numbers)
    if not isfinite(top):
        raise bad_value("a, b", f"the ranges ({o.a.min}, {o.a.max}), ({o.b.min}, {o.b.max}) make an output "
                                "beyond float32")
    walk(loop, numbers, o.x, o.y, o.codes)
    return tensor(cls, o.codes, 0 - top, top)
