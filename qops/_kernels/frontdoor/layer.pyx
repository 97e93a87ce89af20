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

cdef double HIGHEST = 2147483648.0  # quantization steps from 0 to the end of a range of int32 codes
cdef double MARGIN = 1 + 2.0**-20  # keeps the highest code of int32 below 2**31
cdef double NARROWEST = 2.0**-25  # the least range of 8-bit codes, as a share of the largest sum, for BOUND_LAYER_8
cdef double STEPS = 255  # quantization steps of a range of 8-bit codes
cdef enum:
    MIDDLE = 128  # how far the middle code lies above the lowest
    FEW = 1 << 16  # int32 holds the sum of up to so many products of 8-bit codes, whatever the zero point


cdef struct Values:  # the value of a code is (code - zero) * step + base; codes count from the lowest
    double step, zero, base, farthest, bias  # farthest: the largest absolute value; bias: of a column of weights


cdef Values values_of(double lo, double hi) noexcept nogil:
    """Give the values of the codes of a range.

    If 0 lies on a code, but for the rounding of the ends to float32, that code is `zero` and `base` is 0.
    """
    cdef Line line = line_of(lo, hi, code_type_of(False, 1))
    return Values(line.step, line.zero, line.base, max(fabs(lo), fabs(hi)), 0)


cdef double value_of(const Values* v, double code) noexcept nogil:
    return v.base + (code - v.zero) * v.step


cdef struct Positions:  # a result has the position value * per_value - first, clamped to lowest..highest
    double per_value, first, lowest, highest


cdef int64_t ONE_CUT = 0  # the `which` of a stage without terms


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

    lo, hi: the range of the weights, or float32 arrays with an end for each column. bias: float64, one for each column,
    or None. They are real values; with `in_steps` they count steps, each the product of both operands' steps. clip: the
    range to which results are clamped, (-inf, inf) if they are not. kept: the range of 8-bit codes that the caller
    gave, or None. Then each call finds the range of its results, and that also holds the ends in `guess`, of which
    each may be None.
    """
    cdef Py_ssize_t k, n
    cdef Py_ssize_t kinds  # how many columns may differ: 1 with one range and no bias, because all are like the first
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
            lows, highs = (np.require(end, requirements="A") for end in (lo, hi))  # a caller's ends may be unaligned
        for j in range(self.kinds):
            w = &self.columns[j]
            w[0] = values_of(lows[j], highs[j]) if self.has_ranges else values_of(lo, hi)
            w.bias = bias[j] if bias is not None and n else 0
            self.is_centred = self.is_centred and value_of(w, MIDDLE) == 0
        for j in range(self.kinds, n):
            self.columns[j] = self.columns[0]

    @property
    def needs_rows(self):
        """Whether `stage` needs `rows`. It does unless the weights' middle code has the value 0 in every column."""
        return not self.is_centred

    cdef Values left(self, double lo, double hi) noexcept:
        """Give the values of the first operand's codes. The product subtracts `zero` from these codes.

        That is the middle code for sums of more than FEW products, so that int32 holds them.
        """
        cdef Values x = values_of(lo, hi)
        if self.k > FEW:
            x.zero, x.base = MIDDLE, value_of(&x, MIDDLE)
        return x

    def zero_of(self, double lo, double hi):
        """Give the code that the product subtracts from the first operand's, counted from the lowest, and its value."""
        cdef Values x = self.left(lo, hi)
        return <int>x.zero, x.base

    cdef inline double bias_of(self, const Values* w, double step) noexcept:
        """Give the bias of a column as a real value; `step` is that of the first operand."""
        return w.bias * (step * w.step) if self.in_steps else w.bias

    cdef double farthest(self, Py_ssize_t j, Values x) noexcept:
        """Give how far from 0 a result in column j can be."""
        cdef const Values* w = &self.columns[j]
        return max(self.k * x.farthest * w.farthest + fabs(self.bias_of(w, x.step)), self.clip.min, -self.clip.max)

    def tops(self, double lo, double hi, str names):
        """Give the upper ends of int32 ranges that hold all results: one number, or an array with one for each column.

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
        """Set the tables of each column for positions p. With `tops`, column j is for int32 codes up to tops[j].

        x is the first operand. `step` is the step of a column's weights, `middle` the value of their middle code. For
        `row`, `column` and `count` see `stage`.

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
        """Give how far from 0 a result in any column can be."""
        cdef double farthest = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = max(farthest, self.farthest(j, x))
        return farthest

    def kept_for(self, double lo, double hi):
        """Give `kept`; ValueError if that range is too narrow for a first operand of range (lo, hi)."""
        cdef double farthest = self.most(self.left(lo, hi))
        if self.kept is None:
            return None
        least, most = self.kept
        if least < most and not most - least > NARROWEST * farthest:
            raise ValueError(f"range: {self.kept} is too narrow for sums of up to {farthest:.6g}")
        return self.kept

    def watched(self, cnp.ndarray sums, double lo, double hi, cnp.ndarray rows or None, terms, str names):
        """Find the range of 8-bit codes: it holds all results, the guess and, on a code, 0. Arguments: see `stage`."""
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
        """Give the range for `watched`. found: the ends of the results. farthest: how far from 0 these can be."""
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
        `columns` has the sum of the filters' codes in each column, and `counts` the number of products of a sum. Row i
        of the sums has the cut which[i % len(which)]. ends: for 8-bit codes their range (min, max), min < max; for
        int32 codes what `tops` gives. All arrays are contiguous.
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
    """Make the codes of all sums. Both arrays are contiguous."""
    cdef const void* x = cnp.PyArray_DATA(sums)
    cdef void* made = cnp.PyArray_DATA(codes)
    cdef int typenum = typenum_of(codes)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(sums)
    with nogil:
        stage_run(&stage.stage, x, cnp.NPY_INT32, made, typenum, 0, n)
