"""The epilogue of `matmul` and `conv2d`: sums of products of codes become codes of the real sums, rounded once."""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of, typenum_of
from qops._kernels.gemm.tile cimport aligned
from qops._kernels.stage.affine cimport Line, holding_zero, line_of
from qops._kernels.stage.layer_stage cimport LayerParams, LayerRow, layer_ends
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.range cimport above
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.stage.stage cimport LAYER, stage_run

import numpy as np

cnp.import_array()

cdef double HIGHEST = 2147483648.0  # int32 codes from 0 to the end of the range
cdef double MARGIN = 1 + 2.0**-20  # keeps the highest code of int32 below 2**31
cdef double NARROWEST = 2.0**-25  # share of what sums can be; in a narrower range, float64 would break the bound
cdef double STEPS = 255  # of a range of 8-bit codes
cdef enum:
    MIDDLE = 128  # how far the middle code lies above the lowest
    FEW = 1 << 16  # int32 holds sums of up to so many products of 8-bit codes with any zero point


cdef struct Values:  # of codes, (code - zero) * step + base, counted from the lowest code; and the bias of weights
    double step, zero, base, farthest, bias


cdef Values values_of(double lo, double hi) noexcept nogil:
    """The values of codes. Where 0 is on a code, as far as float32 ends can say it, that is `zero` and `base` is 0."""
    cdef Line line = line_of(lo, hi, code_type_of(False, 1))
    return Values(line.step, line.zero, line.base, max(fabs(lo), fabs(hi)), 0)


cdef double value_of(const Values* v, double code) noexcept nogil:
    return v.base + (code - v.zero) * v.step


cdef struct Positions:  # of codes, from `lowest` to `highest`: value * per_value - first
    double per_value, first, lowest, highest


cdef int64_t ONE_CUT = 0


@cython.final
cdef class LayerStage(PreparedStage):
    """The stage that takes the sums of one call to codes. Products run it over whole rows."""
    cdef LayerParams params
    cdef cnp.ndarray memory, rows
    cdef object terms

    cdef int set(self, Py_ssize_t n, cnp.ndarray rows, terms) except -1:
        """Set all but the numbers in the tables; see `Epilogue.stage`.

        Tables begin at cache lines: loads that cross lines would take twice as long.
        """
        cdef LayerParams* p = &self.params
        cdef Py_ssize_t cuts = 1 if terms is None else len(terms[1]), ld = (n + 7) // 8 * 8
        cdef cnp.npy_intp size = (5 + 2 * cuts) * ld + 8
        cdef double* table
        self.memory, self.rows, self.terms = cnp.PyArray_EMPTY(1, &size, cnp.NPY_DOUBLE, 0), rows, terms
        self.stage.kind, self.stage.count, self.stage.inner = LAYER, 1, 1
        self.stage.layer, self.stage.before = p, NULL
        p.n = p.stride = n
        p.ld, p.places, p.which = ld, 1, &ONE_CUT
        if terms is not None:
            p.places, p.which = len(terms[2]), <const int64_t*>cnp.PyArray_DATA(terms[2])
        p.first.rows, p.first.each = NULL, False
        if rows is not None:
            p.first.rows, p.first.each = <const int32_t*>cnp.PyArray_DATA(rows), cnp.PyArray_NDIM(rows) == 2
        table = <double*>aligned(cnp.PyArray_DATA(self.memory))
        p.first.of_sum, p.first.of_row, p.first.per_value = table, table + ld, table + 2 * ld
        p.first.lowest, p.first.highest = table + 3 * ld, table + 4 * ld
        p.first.of_count, p.first.added = table + 5 * ld, table + (5 + cuts) * ld
        return 0


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
        cdef Values* w
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
            w = &self.columns[j]
            w[0] = values_of(lows[j], highs[j]) if self.has_ranges else values_of(lo, hi)
            w.bias = bias[j] if bias is not None and n else 0
            self.is_centred = self.is_centred and value_of(w, MIDDLE) == 0
        for j in range(self.kinds, n):
            self.columns[j] = self.columns[0]

    @property
    def needs_rows(self):
        """Whether `stage` needs the sums of the first operand's codes, as the weights' middle codes are not all 0."""
        return not self.is_centred

    cdef Values left(self, double lo, double hi) noexcept:
        """The values of the first operand's codes, of which the product subtracts `zero`."""
        cdef Values x = values_of(lo, hi)
        if self.k > FEW:
            x.zero, x.base = MIDDLE, value_of(&x, MIDDLE)
        return x

    def zero_of(self, double lo, double hi):
        """What to subtract from the first operand's codes, counted from the lowest; and the value of that code."""
        cdef Values x = self.left(lo, hi)
        return <int>x.zero, x.base

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
        cdef Values x = self.left(lo, hi)
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

    cdef void set_columns(self, LayerStage stage, Values x, Positions p, const double* tops):
        """Set the tables of each column; with `tops`, one for each column, the positions are those of int32 codes.

            value = sum * x.step * step + row * x.step * middle
                    + column * x.base * step + count * x.base * middle + bias
            position = value * per_value - first
        """
        cdef const int32_t* columns = NULL
        cdef const int64_t* counts = NULL
        cdef LayerRow* r = &stage.params.first
        cdef Py_ssize_t i, j, at, cuts = 1 if stage.terms is None else len(stage.terms[1])
        cdef double each = p.per_value, middle
        cdef Values w
        if stage.terms is not None:
            columns = <const int32_t*>cnp.PyArray_DATA(stage.terms[0])
            counts = <const int64_t*>cnp.PyArray_DATA(stage.terms[1])
        for j in range(self.n):
            w, middle = self.columns[j], value_of(&self.columns[j], MIDDLE)
            if tops != NULL:
                each = HIGHEST / tops[j] if tops[j] > 0 else 0
            r.of_sum[j], r.of_row[j], r.per_value[j] = x.step * w.step * each, x.step * middle, each
            r.lowest[j], r.highest[j] = p.lowest, p.highest
            if isfinite(self.clip.min):
                r.lowest[j] = clamp_f64(self.clip.min * each - p.first, p.lowest, p.highest)
            if isfinite(self.clip.max):
                r.highest[j] = clamp_f64(self.clip.max * each - p.first, p.lowest, p.highest)
            for i in range(cuts):
                at = i * stage.params.ld + j
                r.of_count[at] = 0 if columns == NULL else counts[i] * (x.base * middle)
                r.added[at] = 0 if columns == NULL else columns[i * self.n + j] * (x.base * w.step) * each
                r.added[at] += self.bias_of(&w, x.step) * each - p.first

    cdef double most(self, Values x) noexcept:
        """How far from 0 the results of all columns can be."""
        cdef double farthest = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = max(farthest, self.farthest(j, x))
        return farthest

    def kept_for(self, double lo, double hi):
        """The range that is kept, or None; ValueError if it is too narrow for an operand of range (lo, hi)."""
        cdef double farthest = self.most(self.left(lo, hi))
        if self.kept is None:
            return None
        least, most = self.kept
        if least < most and not most - least > NARROWEST * farthest:
            raise ValueError(f"range: {self.kept} is too narrow for sums of up to {farthest:.6g}")
        return self.kept

    def watched(self, cnp.ndarray sums, double lo, double hi, cnp.ndarray rows or None, terms, str names):
        """The range of 8-bit codes for results: it holds all of them, the guess and, on a code, 0. See `stage`."""
        cdef Values x = self.left(lo, hi)
        cdef LayerStage stage = LayerStage()
        cdef double[2] found = [INFINITY, -INFINITY]
        cdef const int32_t* data = <const int32_t*>cnp.PyArray_DATA(sums)
        cdef Py_ssize_t m = cnp.PyArray_DIM(sums, 0)
        cdef Ends ends
        stage.set(self.n, rows, terms)
        self.set_columns(stage, x, Positions(1, 0, -INFINITY, INFINITY), NULL)
        with nogil:
            layer_ends(&stage.params, data, m, found)
        ends = self.range_of(found, self.most(x), names)
        return ends.min, ends.max

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

    def stage(self, double lo, double hi, cnp.ndarray rows or None, terms, ends):
        """Give the stage from sums of products to codes.

        lo, hi: the range of the first operand. rows: the sums of its codes less `zero_of`, one for each row of sums, or
        one for each sum; None unless `needs_rows`. terms: None if the value that `zero_of` gives is 0, else (columns,
        counts, which). At the border of an image the padding cuts off a part of the filters; for each such cut,
        `columns` has the sum of the filters' codes in each column, and `counts` the number of products of a sum.
        `which` has the cut of each row of sums; it repeats with its length. ends: the range (min, max) of 8-bit codes,
        min < max; of int32 codes what `tops` gives. All arrays are contiguous.
        """
        cdef LayerStage made = LayerStage()
        cdef Values x = self.left(lo, hi)
        cdef const double* tops = NULL
        cdef Positions p
        made.set(self.n, rows, terms)
        if self.typenum != cnp.NPY_INT32:
            least, most = ends
            p = Positions(STEPS / (most - least), least * (STEPS / (most - least)), 0, STEPS)
        elif self.has_ranges:
            p, tops = Positions(0, 0, INT32_MIN, INT32_MAX), <const double*>cnp.PyArray_DATA(ends)
        else:
            p = Positions(0 if ends == 0 else HIGHEST / ends, 0, INT32_MIN, INT32_MAX)
        self.set_columns(made, x, p, tops)
        return made


def run_stage(LayerStage stage, cnp.ndarray sums, cnp.ndarray codes):
    """Set contiguous codes to those of all sums."""
    cdef const void* x = cnp.PyArray_DATA(sums)
    cdef void* made = cnp.PyArray_DATA(codes)
    cdef int typenum = typenum_of(codes)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(sums)
    with nogil:
        stage_run(&stage.stage, x, cnp.NPY_INT32, made, typenum, 0, n)
