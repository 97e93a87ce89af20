"""The way from a public op to its kernel: check, prepare, `out` or a new array, run.

Compiled, because for a small array it is all that a call does. `kind` is the class of the (codes, min, max) to give.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, isfinite, ldexp, nextafter

from qops._kernels.frontdoor cimport add
from qops._kernels.core.checks cimport Ends, named, operand_of, output, real, span_of
from qops._kernels.core.range cimport above, below

cnp.import_array()

cdef enum:
    WIDEST_8P8TO32 = 110  # exponent of the range ends whose output range, 2**18 times as wide, float32 cannot hold

cdef double TIGHT = 15 / 16.  # a range found is worth a second pass when it is narrower than this share of the first
cdef double NARROWEST = 2.0**-32  # of all that the sums may span: what is narrower than this cannot be measured


def quantized_add_8p8to32(a, b, out, type kind):
    """int32 codes of the sum by nnlib's float formula."""
    cdef Ends p, s
    cdef cnp.ndarray x = operand_of(a, "a", cnp.NPY_UINT8, -1, &p), y = operand_of(b, "b", cnp.NPY_UINT8, -1, &s), codes
    cdef double top
    if max(max(-p.min, p.max), max(-s.min, s.max)) >= ldexp(1, WIDEST_8P8TO32):
        raise ValueError(f"a, b: the ranges ({p.min}, {p.max}), ({s.min}, {s.max}) make an output beyond float32")
    codes = output(out, cnp.NPY_INT32, x, y)
    top = add.add_8p8to32(x, p.min, p.max, y, s.min, s.max, codes)
    return named(kind, codes, -top, top)


cdef Ends full_range(Ends a, Ends b):
    """All that the sum of two ranges can span, rounded outward to float32; zero wide only where that is exact."""
    cdef double lo = a.min + b.min, hi = a.max + b.max
    if lo == hi and not (lo - a.min == b.min and lo - b.min == a.min and hi - a.max == b.max and hi - b.max == a.max):
        lo, hi = nextafter(lo, -INFINITY), nextafter(hi, INFINITY)  # float64 has lost the smaller one
    if not isfinite(<double>above(hi) - below(lo)):
        raise ValueError(f"a, b: the sum of the ranges, ({lo}, {hi}), is beyond float32")
    return Ends(below(lo), above(hi))


cdef Ends guessed_ends(guess, bint* has_min, bint* has_max):
    """Both ends of `guess`, checked, and whether each is guessed."""
    cdef Ends ends = Ends(0, 0)
    has_min[0] = has_max[0] = False
    if guess is None:
        return ends
    try:
        lo, hi = guess
    except (TypeError, ValueError):
        raise TypeError(f"guess: expected (min, max), got {guess!r}") from None
    has_min[0], has_max[0] = lo is not None, hi is not None
    if has_min[0] and has_max[0]:
        span_of(lo, hi, "guess", &ends)
    elif has_min[0]:
        ends.min = real(lo, "guess min")
    elif has_max[0]:
        ends.max = real(hi, "guess max")
    return ends


cdef Ends better_range(Ends found, Ends guess, bint has_min, bint has_max, Ends full):
    """The range to write with again: a guessed end stays where it holds; never too narrow to be measured."""
    cdef double lo = guess.min if has_min and guess.min <= found.min else found.min
    cdef double hi = guess.max if has_max and guess.max >= found.max else found.max
    cdef double least = 2 * NARROWEST * (full.max - full.min)
    return Ends(lo, hi) if hi - lo >= least else Ends(below(lo), above(lo + least))


def quantized_add_8p8to8(a, b, guess, out, type kind, type info_kind):
    """Codes of the sum, in the guessed range where that serves; and (passes, lowest, highest) if it has a class."""
    cdef Ends p, s, ends, better, full, guessed, seen
    cdef bint has_min, has_max
    cdef cnp.ndarray x = operand_of(a, "a", cnp.NPY_UINT8, -1, &p), y = operand_of(b, "b", cnp.NPY_UINT8, -1, &s), codes
    cdef add.Span found
    cdef int passes = 1
    full = full_range(p, s)
    guessed = guessed_ends(guess, &has_min, &has_max)
    codes = output(out, cnp.NPY_UINT8, x, y)
    ends = Ends(guessed.min if has_min else full.min, guessed.max if has_max else full.max)
    if ends.max - ends.min <= (max(ends.max, full.max) - min(ends.min, full.min)) * NARROWEST:
        ends, has_min, has_max = full, False, False
    seen = ends
    if ends.min == ends.max or cnp.PyArray_SIZE(codes) == 0:  # two constants, whose sum is a float32; or nothing
        (<object>codes).fill(0)
    else:
        found = add.add_8p8to8(x, p.min, p.max, y, s.min, s.max, ends.min, ends.max, codes)
        seen = Ends(max(found.min, full.min), min(found.max, full.max))
        better = better_range(seen, guessed, has_min, has_max, full)
        if not found.fits or better.max - better.min <= TIGHT * (ends.max - ends.min):
            ends, passes = better, 2
            add.add_8p8to8(x, p.min, p.max, y, s.min, s.max, ends.min, ends.max, codes)
    tensor = named(kind, codes, ends.min, ends.max)
    return tensor if info_kind is None else (tensor, named(info_kind, passes, seen.min, seen.max))
