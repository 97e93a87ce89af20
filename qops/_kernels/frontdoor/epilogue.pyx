"""The epilogue of `matmul` and `conv2d`: sums of products of codes become codes of the real sums, rounded once."""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, isfinite, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.frontdoor.layer_tables cimport LayerStage
from qops._kernels.stage.affine cimport Line, holding_zero, line_of
from qops._kernels.stage.layer_stage cimport LayerRow
from qops._kernels.stage.range cimport above
from qops._kernels.stage.rounding cimport clamp_f64

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef double HIGHEST = 2147483648.0  # quantization steps from 0 to the end of a range of int32 codes
cdef double MARGIN = 1 + 2.0**-20  # keeps the highest code of int32 below 2**31
cdef double NARROWEST = 2.0**-25  # the least range of 8-bit codes, as a share of the largest sum, for BOUND_LAYER_8
cdef double STEPS = 255  # quantization steps of a range of 8-bit codes
cdef enum:
    FEW = 1 << 16  # int32 holds the sum of up to so many products of 8-bit codes, whatever the zero point


cdef OperandRange operand_range(double lo, double hi) noexcept nogil:
    """Give the values of the codes of a range.

    If 0 lies on a code, but for the rounding of the ends to float32, that code is `zero` and `base` is 0.
    """
    cdef Line line = line_of(lo, hi, code_type_of(False, 1))
    return OperandRange(line.step, line.zero, line.base, max(fabs(lo), fabs(hi)), 0)


cdef double value_of(const OperandRange* v, double code) noexcept nogil:
    """Give the real value of a code, which counts from the lowest."""
    return v.base + (code - v.zero) * v.step


cdef int zero_in(cnp.ndarray codes, const OperandRange* x) noexcept:
    """Give the `zero` of an operand, which counts from the lowest code, as a code of its type."""
    return <int>x.zero - (MIDDLE if cnp.PyArray_TYPE(codes) == cnp.NPY_INT8 else 0)


@cython.final
cdef class Epilogue:
    """Takes sums of k products, in n columns, to codes of one type.

    lo, hi: the range of the weights, or float32 arrays with an end for each column. bias: float64, one for each column,
    or None. They are real values; with `in_steps` they count steps, each the product of both operands' steps. clip: the
    range to which results are clamped, (-inf, inf) if they are not. kept: the range of 8-bit codes that the caller
    gave; if it is None, each call finds the range of its results, which then also holds the ends in `guess` that are
    not None. In its methods `x` is the `left` of the range of the first operand.
    """

    def __init__(self, Py_ssize_t k, Py_ssize_t n, lo, hi, double[::1] bias or None, bint in_steps, int typenum,
                 tuple clip, tuple kept or None, tuple guess, str names):
        cdef Py_ssize_t j
        cdef OperandRange* w
        cdef const float[:] lows, highs
        self.k, self.n, self.typenum, self.names = k, n, typenum, names
        self.clip, self.kept, self.guess, self.in_steps = Ends(clip[0], clip[1]), kept, guess, in_steps
        self.has_ranges, self.is_centred = isinstance(lo, cnp.ndarray), True
        self.kinds = n if self.has_ranges or bias is not None and n else 1
        self.memory = np.empty((max(n, 1), sizeof(OperandRange) // sizeof(double)))
        self.columns = <OperandRange*>cnp.PyArray_DATA(self.memory)
        if self.has_ranges:
            lows, highs = (np.require(end, np.float32, "A") for end in (lo, hi))  # they may be unaligned or swapped
        for j in range(self.kinds):
            w = &self.columns[j]
            w[0] = operand_range(lows[j], highs[j]) if self.has_ranges else operand_range(lo, hi)
            w.bias = bias[j] if bias is not None and n else 0
            self.is_centred = self.is_centred and value_of(w, MIDDLE) == 0
        for j in range(self.kinds, n):
            self.columns[j] = self.columns[0]

    cpdef OperandRange left(self, double lo, double hi) noexcept:
        """Give the values of the codes of the first operand, whose range is (lo, hi). The product subtracts `zero`.

        `zero` is the middle code for sums of more than FEW products, so that int32 holds them.
        """
        cdef OperandRange x = operand_range(lo, hi)
        if self.k > FEW:
            x.zero, x.base = MIDDLE, value_of(&x, MIDDLE)
        return x

    cdef inline double bias_of(self, const OperandRange* w, double step) noexcept nogil:
        """Give the bias of a column as a real value; `step` is that of the first operand."""
        return w.bias * (step * w.step) if self.in_steps else w.bias

    cdef double farthest(self, Py_ssize_t j, const OperandRange* x) noexcept:
        """Give how far from 0 a result in column j can be."""
        cdef const OperandRange* w = &self.columns[j]
        return max(self.k * x.farthest * w.farthest + fabs(self.bias_of(w, x.step)), self.clip.min, -self.clip.max)

    cpdef object tops(self, OperandRange x):
        """Give the upper ends of int32 ranges that hold all results: one number, or an array with one for each column.

        ValueError if float32 does not hold an end.
        """
        cdef cnp.npy_intp kinds = self.kinds
        cdef cnp.ndarray found = cnp.PyArray_EMPTY(1, &kinds, cnp.NPY_DOUBLE, 0)
        cdef double* tops = <double*>cnp.PyArray_DATA(found)
        cdef double farthest, top = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = self.farthest(j, &x) * MARGIN
            tops[j] = above(max(HIGHEST * x.step * self.columns[j].step, farthest))
            if self.k == 0 and not isfinite(tops[j]):
                tops[j] = above(farthest)
            top = max(top, tops[j])
        if not isfinite(top):
            raise bad_value(self.names, f"sums of {self.k} products of the ranges are beyond float32")
        return found if self.has_ranges else top

    cdef Positions positions(self, double each, double first, double lowest, double highest) noexcept nogil:
        """Give how values become positions of codes from `lowest` to `highest`, or of fewer if there is a clip."""
        cdef Positions p = Positions(each, first, lowest, highest)
        if isfinite(self.clip.min):
            p.lowest = rint(clamp_f64(self.clip.min * each - first, lowest, highest))
        if isfinite(self.clip.max):
            p.highest = rint(clamp_f64(self.clip.max * each - first, lowest, highest))
        return p

    cdef int set_columns(self, LayerStage stage, const OperandRange* x, const double* tops, Positions p) except -1:
        """Set the tables of each column for these positions; with `tops`, column j is for int32 codes up to tops[j].

        `step` is the step of a column's weights, `middle` the value of their middle code. For `row`, `column` and
        `count` see `stage`.

            value = sum * x.step * step + row * x.step * middle
                    + column * x.base * step + count * x.base * middle + bias
            position = value * per_value - first
        """
        cdef const int32_t* columns = NULL
        cdef const int64_t* counts = NULL
        cdef LayerRow* r = &stage.params.row
        cdef Py_ssize_t i, j, at, ld = stage.params.ld, kinds = min(self.kinds, self.n)
        cdef const OperandRange* w
        cdef double middle
        if stage.terms is not None:
            columns = <const int32_t*>cnp.PyArray_DATA(stage.terms[0])
            counts = <const int64_t*>cnp.PyArray_DATA(stage.terms[1])
            kinds = self.n
        for j in range(kinds):
            w = &self.columns[j]
            middle = value_of(w, MIDDLE)
            if tops != NULL and (j == 0 or self.has_ranges):
                p = self.positions(HIGHEST / tops[j] if tops[j] > 0 else 0, 0, INT32_MIN, INT32_MAX)
            r.of_sum[j], r.of_row[j], r.per_value[j] = x.step * w.step * p.each, x.step * middle, p.each
            r.lowest[j], r.highest[j] = p.lowest, p.highest
            for i in range(stage.cuts):
                at = i * ld + j
                r.of_count[at] = 0 if columns == NULL else counts[i] * (x.base * middle)
                r.added[at] = 0 if columns == NULL else columns[i * self.n + j] * (x.base * w.step) * p.each
                r.added[at] += self.bias_of(w, x.step) * p.each - p.first
        stage.finish(kinds, tops == NULL and stage.params.ends == NULL and columns == NULL)
        return 0

    cdef double farthest_of_all(self, const OperandRange* x) noexcept:
        """Give how far from 0 a result in any column can be."""
        cdef double farthest = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = max(farthest, self.farthest(j, x))
        return farthest

    cpdef object kept_for(self, OperandRange x):
        """Give `kept`; ValueError if that range is too narrow for this first operand."""
        cdef double farthest
        if self.kept is None:
            return None
        least, most = self.kept
        farthest = self.farthest_of_all(&x)
        if least < most and not most - least > NARROWEST * farthest:
            raise bad_value("range", f"{self.kept} is too narrow for sums of up to {farthest:.6g}")
        return self.kept

    cpdef LayerStage watch(self, OperandRange x, cnp.ndarray rows, object terms, Py_ssize_t m):
        """Give a stage that copies m rows of sums and watches the ends of their results; rows, terms: see `stage`."""
        cdef LayerStage made = LayerStage.__new__(LayerStage)
        made.set(self.n, rows, terms, max(m, <Py_ssize_t>1))
        self.set_columns(made, &x, NULL, Positions(1, 0, self.clip.min, self.clip.max))
        return made

    cpdef tuple watched_range(self, LayerStage watched, OperandRange x):
        """Give the range of 8-bit codes that holds all results watched, the guess and, on a code, 0.

        A range narrower than `kept_for` takes is widened.
        """
        cdef Ends ends
        cdef double low = 0, high = 0, least = 2 * NARROWEST * self.farthest_of_all(&x)
        cdef Py_ssize_t i
        for i in range(watched.params.m):
            low, high = min(low, watched.params.ends[2 * i]), max(high, watched.params.ends[2 * i + 1])
        if self.guess[0] is not None:
            low = min(low, <double>self.guess[0])
        if self.guess[1] is not None:
            high = max(high, <double>self.guess[1])
        if high - low < least:
            low, high = (low, low + least) if high > -low else (high - least, high)
        holding_zero(low, high, code_type_of(self.typenum == cnp.NPY_INT8, 1), &ends)
        if not isfinite(ends.max - ends.min):
            raise bad_value(self.names, f"the range of the results, ({low}, {high}), is beyond float32")
        return ends.min, ends.max

    cpdef LayerStage stage(self, OperandRange x, cnp.ndarray rows, object terms, object ends):
        """Give the stage from sums of products to codes.

        rows: the sums of the first operand's codes less the `zero` of `left`, one for each row of sums, or one for each
        sum; None if the weights' middle code has the value 0 in every column. terms: None if the `base` of `left` is 0,
        else (columns, counts, which). At the border of an image the padding cuts off a part of the filters; for each
        such cut, `columns` has the sum of the filters' codes in each column, and `counts` the number of products of a
        sum. Row i of the sums has the cut which[i % len(which)]. ends: for 8-bit codes their range (min, max),
        min < max; for int32 codes what `tops` gives. All arrays are contiguous.
        """
        cdef LayerStage made = LayerStage.__new__(LayerStage)
        cdef Positions p = Positions(0, 0, 0, 0)
        cdef double least, most
        made.set(self.n, rows, terms)
        if self.has_ranges and self.typenum == cnp.NPY_INT32:
            self.set_columns(made, &x, <const double*>cnp.PyArray_DATA(ends), p)
        elif self.typenum == cnp.NPY_INT32:
            most = ends
            self.set_columns(made, &x, &most, p)
        else:
            least, most = ends
            p = self.positions(STEPS / (most - least), least * (STEPS / (most - least)), 0, STEPS)
            self.set_columns(made, &x, NULL, p)
        return made
