"""The epilogue of `matmul` and `conv2d`: sums of products of codes become codes of the real sums, rounded once."""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.gemm.tile cimport aligned
from qops._kernels.frontdoor.sums cimport Row, Sums, find_ends, make_codes
from qops._kernels.stage.affine cimport holding_zero
from qops._kernels.stage.range cimport above
from qops._kernels.stage.rounding cimport clamp_f64

import numpy as np

cnp.import_array()

cdef double HIGHEST = 2147483648.0  # int32 codes from 0 to the end of the range
cdef double MARGIN = 1 + 2.0**-20  # keeps the highest code of int32 below 2**31
cdef double NARROWEST = 2.0**-25  # share of what sums can be; in a narrower range, float64 would break the bound
cdef double STEPS = 255  # of a range of 8-bit codes
cdef enum:
    MIDDLE = 128  # how far the middle code, which is centred to 0, lies above the lowest


cdef struct Values:  # of centred codes, middle + code * step; and the bias of weights
    double step, middle, farthest, bias


cdef Values values_of(double lo, double hi, double bias=0) noexcept nogil:
    cdef double step = (hi - lo) / STEPS
    return Values(step, lo + MIDDLE * step, max(fabs(lo), fabs(hi)), bias)


cdef struct Positions:  # of codes, from `lowest` to `highest`: value * per_value - first
    double per_value, first, lowest, highest


cdef int64_t ONE_CUT = 0


cdef cnp.ndarray set_sums(Sums* s, cnp.ndarray sums, cnp.ndarray rows, terms):
    """Set all but the tables themselves, whose memory it gives; see `Epilogue.run`.

    Tables begin at cache lines: loads that cross lines would take twice as long.
    """
    cdef Py_ssize_t cuts = 1 if terms is None else len(terms[1])
    cdef cnp.npy_intp size
    cdef cnp.ndarray memory
    cdef double* table
    s.m, s.n, s.ld = cnp.PyArray_DIM(sums, 0), cnp.PyArray_DIM(sums, 1), (cnp.PyArray_DIM(sums, 1) + 7) // 8 * 8
    s.stride, s.places, s.which = s.n, 1, &ONE_CUT
    if terms is not None:
        s.places, s.which = len(terms[2]), <const int64_t*>cnp.PyArray_DATA(terms[2])
    s.first.sums, s.first.rows, s.first.each = <const int32_t*>cnp.PyArray_DATA(sums), NULL, False
    if rows is not None:
        s.first.rows, s.first.each = <const int32_t*>cnp.PyArray_DATA(rows), cnp.PyArray_NDIM(rows) == 2
    size = (5 + 2 * cuts) * s.ld + 8
    memory = cnp.PyArray_EMPTY(1, &size, cnp.NPY_DOUBLE, 0)
    table = <double*>aligned(cnp.PyArray_DATA(memory))
    s.first.of_sum, s.first.of_row, s.first.per_value = table, table + s.ld, table + 2 * s.ld
    s.first.lowest, s.first.highest = table + 3 * s.ld, table + 4 * s.ld
    s.first.of_count, s.first.added = table + 5 * s.ld, table + (5 + cuts) * s.ld
    return memory


cdef class Epilogue:
    """What takes the sums of k products, in n columns, to codes of one type.

    lo, hi: the range of the weights, or float32 arrays with one of each column. bias: float64, one of each column, or
    None; real values, or, `in_steps`, numbers of the product of both operands' steps. clip: the range that values are
    cut to, (-inf, inf) if they are not. kept: the range of 8-bit codes, or None; then `guess` has two ends that their
    range holds beside the results, each None if there is no guess.
    """
    cdef Py_ssize_t k, n
    cdef Py_ssize_t kinds  # how many columns differ: with one range and no bias, the first is like all others
    cdef bint has_ranges, is_centred, in_steps
    cdef int typenum
    cdef Ends clip
    cdef tuple kept, guess
    cdef cnp.ndarray memory
    cdef Values* columns

    def __init__(self, Py_ssize_t k, Py_ssize_t n, lo, hi, double[::1] bias or None, bint in_steps, int typenum,
                 tuple clip, tuple kept or None, tuple guess):
        cdef Py_ssize_t j
        cdef const float[:] lows, highs
        self.k, self.n, self.typenum = k, n, typenum
        self.clip, self.kept, self.guess, self.in_steps = Ends(clip[0], clip[1]), kept, guess, in_steps
        self.has_ranges, self.is_centred = isinstance(lo, cnp.ndarray), True
        self.kinds = n if self.has_ranges or bias is not None and n else 1
        self.memory = np.empty((max(n, 1), sizeof(Values) // sizeof(double)))
        self.columns = <Values*>cnp.PyArray_DATA(self.memory)
        if self.has_ranges:
            lows, highs = lo, hi
        for j in range(self.kinds):
            self.columns[j] = values_of(lows[j], highs[j]) if self.has_ranges else values_of(lo, hi)
            self.columns[j].bias = bias[j] if bias is not None and n else 0
            self.is_centred = self.is_centred and self.columns[j].middle == 0
        for j in range(self.kinds, n):
            self.columns[j] = self.columns[0]

    @property
    def needs_rows(self):
        """Whether `run` needs the sums of the first operand's codes, as the weights' middle codes are not all 0."""
        return not self.is_centred

    cdef inline double bias_of(self, const Values* w, double step) noexcept:
        """The bias of a column, a real value; `step` is that of the first operand."""
        return w.bias * (step * w.step) if self.in_steps else w.bias

    cdef double farthest(self, Py_ssize_t j, Values x) noexcept:
        """How far from 0 the results of column j can be."""
        cdef const Values* w = &self.columns[j]
        return max(self.k * x.farthest * w.farthest + fabs(self.bias_of(w, x.step)), self.clip.min, -self.clip.max)

    def tops(self, double lo, double hi, str names):
        """The ends of int32 ranges, which hold all results: one, or an array of one a column.

        lo, hi: the range of the first operand. ValueError if float32 does not hold an end.
        """
        cdef Values x = values_of(lo, hi)
        cdef cnp.ndarray found = np.empty(self.kinds)
        cdef double* tops = <double*>cnp.PyArray_DATA(found)
        cdef double farthest, top = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = self.farthest(j, x) * MARGIN
            tops[j] = above(max(HIGHEST * x.step * self.columns[j].step, farthest))
            if self.k == 0 and not isfinite(tops[j]):
                tops[j] = above(farthest)
            top = max(top, tops[j])
        if not isfinite(top):
            raise ValueError(f"{names}: sums of {self.k} products of the ranges are beyond float32")
        return found if self.has_ranges else top

    cdef void set_columns(self, Sums* s, Values x, terms, Positions p, const double* tops):
        """Set the tables of each column; with `tops`, one for each column, the positions are those of int32 codes.

            value = sum * x.step * step + row * x.step * middle
                    + column * x.middle * step + count * x.middle * middle + bias
            position = value * per_value - first

        terms: (columns, counts, which). At the border of an image the padding cuts off a part of the filters; for each
        such cut, `columns` has the sum of the filters' codes in each column, and `counts` the number of products of a
        sum. `which` has the cut of each row of sums; it repeats with its length. None if x.middle is 0.
        """
        cdef const int32_t* columns = NULL
        cdef const int64_t* counts = NULL
        cdef Row* r = &s.first
        cdef Py_ssize_t i, j, at, cuts = 1 if terms is None else len(terms[1])
        cdef double each = p.per_value
        cdef Values w
        if terms is not None:
            columns, counts = <const int32_t*>cnp.PyArray_DATA(terms[0]), <const int64_t*>cnp.PyArray_DATA(terms[1])
        for j in range(self.n):
            w = self.columns[j]
            if tops != NULL:
                each = HIGHEST / tops[j] if tops[j] > 0 else 0
            r.of_sum[j], r.of_row[j], r.per_value[j] = x.step * w.step * each, x.step * w.middle, each
            r.lowest[j], r.highest[j] = p.lowest, p.highest
            if isfinite(self.clip.min):
                r.lowest[j] = clamp_f64(self.clip.min * each - p.first, p.lowest, p.highest)
            if isfinite(self.clip.max):
                r.highest[j] = clamp_f64(self.clip.max * each - p.first, p.lowest, p.highest)
            for i in range(cuts):
                at = i * s.ld + j
                r.of_count[at] = 0 if columns == NULL else counts[i] * (x.middle * w.middle)
                r.added[at] = 0 if columns == NULL else columns[i * self.n + j] * (x.middle * w.step) * each
                r.added[at] += self.bias_of(&w, x.step) * each - p.first

    cdef Ends range_of(self, const double* found, double farthest, str names) except *:
        """The range of 8-bit codes for results from found[0] to found[1], with 0 on a code."""
        cdef Ends ends
        cdef double lo = min(found[0], 0.0), hi = max(found[1], 0.0), least = 2 * NARROWEST * farthest
        if self.guess[0] is not None:
            lo = min(lo, <double>self.guess[0])
        if self.guess[1] is not None:
            hi = max(hi, <double>self.guess[1])
        if hi - lo < least:
            lo, hi = (lo, lo + least) if hi > -lo else (hi - least, hi)
        holding_zero(lo, hi, code_type_of(self.typenum == cnp.NPY_INT8, 1), &ends)
        if not isfinite(ends.max - ends.min):
            raise ValueError(f"{names}: the range of the results, ({lo}, {hi}), is beyond float32")
        return ends

    cdef Ends ends_8(self, Sums* s, Values x, terms, str names) except *:
        """The range of 8-bit codes: the one that is kept, or that of all results, which are computed to find it."""
        cdef double[2] found = [INFINITY, -INFINITY]
        cdef double farthest = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = max(farthest, self.farthest(j, x))
        if self.kept is not None:
            lo, hi = self.kept
            if lo < hi and not hi - lo > NARROWEST * farthest:
                raise ValueError(f"range: {self.kept} is too narrow for sums of up to {farthest:.6g}")
            return Ends(lo, hi)
        self.set_columns(s, x, terms, Positions(1, 0, -INFINITY, INFINITY), NULL)
        find_ends(s, found)
        return self.range_of(found, farthest, names)

    def run(self, cnp.ndarray sums, double lo, double hi, cnp.ndarray rows or None, terms,
            cnp.ndarray codes, tops, str names):
        """Make the codes of sums, and give the range of 8-bit codes; that of int32 codes is -tops, tops.

        sums: int32, m x n. lo, hi: the range of the first operand. rows: the sums of its centred codes, one for each
        row of sums, or m x n; None unless `needs_rows`. terms: see `set_columns`. codes: m x n; those of int32 may be
        the sums. tops: what `tops` gives, for int32. All arrays are contiguous.
        """
        cdef Values x = values_of(lo, hi)
        cdef Ends ends = Ends(0, 0)
        cdef Positions p
        cdef Sums s
        cdef bint is_32 = self.typenum == cnp.NPY_INT32
        cdef int flip = MIDDLE if self.typenum == cnp.NPY_INT8 else 0
        _kept = set_sums(&s, sums, rows, terms)  # memory of the tables
        if is_32:
            p = Positions(0 if self.has_ranges or tops == 0 else HIGHEST / tops, 0, INT32_MIN, INT32_MAX)
        else:
            ends = self.ends_8(&s, x, terms, names)
            if ends.min == ends.max:  # one value, for which the lowest code stands
                (<object>codes).fill(-flip)
                return ends.min, ends.max
            p = Positions(STEPS / (ends.max - ends.min), ends.min * (STEPS / (ends.max - ends.min)), 0, STEPS)
        self.set_columns(&s, x, terms, p, <const double*>cnp.PyArray_DATA(tops) if self.has_ranges and is_32 else NULL)
        make_codes(&s, cnp.PyArray_DATA(codes), is_32, flip)
        return ends.min, ends.max
