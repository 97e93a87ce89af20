"""The epilogue of `matmul` and `conv2d`: sums of products of codes become codes of the real sums, rounded once."""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport Tensor, code_type_of, tensor, typenum_of
from qops._kernels.gemm.tile cimport aligned
from qops._kernels.machine.threads cimport run_parts
from qops._kernels.stage.affine cimport Line, holding_zero, line_of
from qops._kernels.stage.layer_stage cimport LayerRow
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.range cimport above
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.stage.stage cimport LAYER, WATCHED, Stage, stage_run

import numpy as np

cnp.import_array()

cdef extern from "stage/layer_stage.h":
    enum:
        COLUMNS

cdef double HIGHEST = 2147483648.0  # quantization steps from 0 to the end of a range of int32 codes
cdef double MARGIN = 1 + 2.0**-20  # keeps the highest code of int32 below 2**31
cdef double NARROWEST = 2.0**-25  # the least range of 8-bit codes, as a share of the largest sum, for BOUND_LAYER_8
cdef double STEPS = 255  # quantization steps of a range of 8-bit codes
cdef double NEAR = 192  # the most LSB that float32 may add, for BOUND_LAYER_8
cdef double STEEP = 2.0**16  # the most LSB that a step of a sum may be in the loop of float32
cdef enum:
    MIDDLE = 128  # how far the middle code lies above the lowest
    FEW = 1 << 16  # int32 holds the sum of up to so many products of 8-bit codes, whatever the zero point


cdef Values values_of(double lo, double hi) noexcept nogil:
    """Give the values of the codes of a range.

    If 0 lies on a code, but for the rounding of the ends to float32, that code is `zero` and `base` is 0.
    """
    cdef Line line = line_of(lo, hi, code_type_of(False, 1))
    return Values(line.step, line.zero, line.base, max(fabs(lo), fabs(hi)), 0)


cdef double value_of(const Values* v, double code) noexcept nogil:
    return v.base + (code - v.zero) * v.step


cdef int zero_in(cnp.ndarray codes, const Values* x) noexcept:
    """Give the `zero` of an operand as one of its codes."""
    return <int>x.zero - (MIDDLE if cnp.PyArray_TYPE(codes) == cnp.NPY_INT8 else 0)


cdef int64_t ONE_CUT = 0  # the `which` of a stage without terms


@cython.final
cdef class LayerStage(PreparedStage):
    """The stage that takes the sums of one call to codes, or watches their range. Products run it over whole rows."""

    cdef int set(self, Py_ssize_t n, cnp.ndarray rows, terms, Py_ssize_t watched=0) except -1:
        """Set all but the numbers in the tables; see `Epilogue.stage`. `watched`: how many rows are watched.

        Tables begin at cache lines: loads that cross lines would take twice as long.
        """
        cdef LayerParams* p = &self.params
        cdef Py_ssize_t cuts = 1 if terms is None else len(terms[1]), ld = (n + 7) // 8 * 8, i
        cdef cnp.npy_intp size = (8 + 2 * cuts) * ld + 8 + 2 * watched
        cdef double* table
        self.memory, self.rows, self.terms = cnp.PyArray_EMPTY(1, &size, cnp.NPY_DOUBLE, 0), rows, terms
        self.stage.kind, self.stage.count, self.stage.inner = WATCHED if watched else LAYER, 1, 1
        self.stage.layer, self.stage.before = p, NULL
        p.n = p.stride = n
        p.ld, p.places, p.which, p.m = ld, 1, &ONE_CUT, watched
        if terms is not None:
            p.places, p.which = len(terms[2]), <const int64_t*>cnp.PyArray_DATA(terms[2])
        p.first.rows, p.first.each = NULL, False
        if rows is not None:
            p.first.rows, p.first.each = <const int32_t*>cnp.PyArray_DATA(rows), cnp.PyArray_NDIM(rows) == 2
        table = <double*>aligned(cnp.PyArray_DATA(self.memory))
        p.first.of_sum, p.first.of_row, p.first.per_value = table, table + ld, table + 2 * ld
        p.first.lowest, p.first.highest = table + 3 * ld, table + 4 * ld
        p.first.of_count, p.first.added = table + 5 * ld, table + (5 + cuts) * ld
        p.first.near = <float*>(table + (5 + 2 * cuts) * ld)
        p.ends = table + (8 + 2 * cuts) * ld
        for i in range(watched):
            p.ends[2 * i], p.ends[2 * i + 1] = INFINITY, -INFINITY
        return 0


cdef void set_near(LayerRow* r, float* near, Py_ssize_t ld, Py_ssize_t n) noexcept nogil:
    """Set the tables for float32 of each column, and where to use them: if they are of use in some column."""
    cdef int32_t* is_near = <int32_t*>(near + 4 * ld)
    cdef Py_ssize_t i, j
    cdef bint some = False, all_near
    for j in range(n):
        is_near[j] = -(r.of_row[j] == 0 and r.of_sum[j] <= STEEP and fabs(r.added[j]) <= NEAR)
        some = some or is_near[j]
        near[j], near[ld + j] = <float>r.of_sum[j], <float>r.added[j]
        near[2 * ld + j], near[3 * ld + j] = <float>rint(r.lowest[j]), <float>rint(r.highest[j])
    for i from 0 <= i < n by COLUMNS:
        all_near = True
        for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
            all_near = all_near and is_near[j]
        for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
            is_near[ld + j] = all_near
    r.near = near if some else NULL


@cython.final
cdef class Epilogue:
    """What takes the sums of k products, in n columns, to codes of one type.

    lo, hi: the range of the weights, or float32 arrays with an end for each column. bias: float64, one for each column,
    or None. They are real values; with `in_steps` they count steps, each the product of both operands' steps. clip: the
    range to which results are clamped, (-inf, inf) if they are not. kept: the range of 8-bit codes that the caller
    gave, or None. Then each call finds the range of its results, and that also holds the ends in `guess`, of which
    each may be None. In its methods `lo` and `hi` are the range of the first operand.
    """

    def __init__(self, Py_ssize_t k, Py_ssize_t n, lo, hi, double[::1] bias or None, bint in_steps, int typenum,
                 tuple clip, tuple kept or None, tuple guess, str names):
        cdef Py_ssize_t j
        cdef Values* w
        cdef const float[:] lows, highs
        self.k, self.n, self.typenum, self.names = k, n, typenum, names
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

    cdef Values left(self, double lo, double hi) noexcept:
        """Give the values of the first operand's codes. The product subtracts `zero` from these codes.

        That is the middle code for sums of more than FEW products, so that int32 holds them.
        """
        cdef Values x = values_of(lo, hi)
        if self.k > FEW:
            x.zero, x.base = MIDDLE, value_of(&x, MIDDLE)
        return x

    cdef inline double bias_of(self, const Values* w, double step) noexcept nogil:
        """Give the bias of a column as a real value; `step` is that of the first operand."""
        return w.bias * (step * w.step) if self.in_steps else w.bias

    cdef double farthest(self, Py_ssize_t j, const Values* x) noexcept:
        """Give how far from 0 a result in column j can be."""
        cdef const Values* w = &self.columns[j]
        return max(self.k * x.farthest * w.farthest + fabs(self.bias_of(w, x.step)), self.clip.min, -self.clip.max)

    cpdef object tops(self, double lo, double hi):
        """Give the upper ends of int32 ranges that hold all results: one number, or an array with one for each column.

        ValueError if float32 does not hold an end.
        """
        cdef Values x = self.left(lo, hi)
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
            raise ValueError(f"{self.names}: sums of {self.k} products of the ranges are beyond float32")
        return found if self.has_ranges else top

    cdef int set_columns(self, LayerStage stage, const Values* x, const double* tops, double least,
                         double most) except -1:
        """Set the tables of each column, for positions from `least` to `most` in units of `first` and `per_value`.

        With `tops`, column j is for int32 codes up to tops[j], which are not counted from `least`; else codes of
        8 bits, of the range least..most, count from the lowest. If that is infinite, a position is the value itself.
        `step` is the step of a column's weights, `middle` the value of their middle code. For `row`, `column` and
        `count` see `stage`.

            value = sum * x.step * step + row * x.step * middle
                    + column * x.base * step + count * x.base * middle + bias
            position = value * per_value - first
        """
        cdef const int32_t* columns = NULL
        cdef const int64_t* counts = NULL
        cdef LayerRow* r = &stage.params.first
        cdef Py_ssize_t i, j, at, ld = stage.params.ld, cuts = 1 if stage.terms is None else len(stage.terms[1])
        cdef float* near = r.near
        cdef double each = 1, first = 0, lowest = -INFINITY, highest = INFINITY, middle
        cdef Values w
        if stage.terms is not None:
            columns = <const int32_t*>cnp.PyArray_DATA(stage.terms[0])
            counts = <const int64_t*>cnp.PyArray_DATA(stage.terms[1])
        if tops != NULL:
            lowest, highest = INT32_MIN, INT32_MAX
        elif isfinite(least):
            each, lowest, highest = STEPS / (most - least), 0, STEPS
            first = least * each
        for j in range(self.n):
            w, middle = self.columns[j], value_of(&self.columns[j], MIDDLE)
            if tops != NULL:
                at = j if self.has_ranges else 0
                each = HIGHEST / tops[at] if tops[at] > 0 else 0
            r.of_sum[j], r.of_row[j], r.per_value[j] = x.step * w.step * each, x.step * middle, each
            r.lowest[j], r.highest[j] = lowest, highest
            if isfinite(self.clip.min):
                r.lowest[j] = clamp_f64(self.clip.min * each - first, lowest, highest)
            if isfinite(self.clip.max):
                r.highest[j] = clamp_f64(self.clip.max * each - first, lowest, highest)
            for i in range(cuts):
                at = i * ld + j
                r.of_count[at] = 0 if columns == NULL else counts[i] * (x.base * middle)
                r.added[at] = 0 if columns == NULL else columns[i * self.n + j] * (x.base * w.step) * each
                r.added[at] += self.bias_of(&w, x.step) * each - first
        r.near = NULL
        if stage.terms is None and tops == NULL and isfinite(least):
            set_near(r, near, ld, self.n)
        return 0

    cdef double most(self, const Values* x) noexcept:
        """Give how far from 0 a result in any column can be."""
        cdef double farthest = 0
        cdef Py_ssize_t j
        for j in range(self.kinds):
            farthest = max(farthest, self.farthest(j, x))
        return farthest

    cpdef object kept_for(self, double lo, double hi):
        """Give `kept`; ValueError if that range is too narrow for a first operand of this range."""
        cdef Values x = self.left(lo, hi)
        cdef double farthest
        if self.kept is None:
            return None
        least, most = self.kept
        farthest = self.most(&x)
        if least < most and not most - least > NARROWEST * farthest:
            raise ValueError(f"range: {self.kept} is too narrow for sums of up to {farthest:.6g}")
        return self.kept

    cpdef LayerStage watch(self, double lo, double hi, cnp.ndarray rows, object terms, Py_ssize_t m):
        """Give a stage that copies m rows of sums and watches the ends of their results; rows, terms: see `stage`."""
        cdef Values x = self.left(lo, hi)
        cdef LayerStage made = LayerStage()
        made.set(self.n, rows, terms, max(m, <Py_ssize_t>1))
        self.set_columns(made, &x, NULL, -INFINITY, INFINITY)
        return made

    cpdef tuple found(self, LayerStage watched, double lo, double hi):
        """Give the range of 8-bit codes that holds all results watched, the guess and, on a code, 0."""
        cdef Values x = self.left(lo, hi)
        cdef Ends ends
        cdef double low = 0, high = 0, least = 2 * NARROWEST * self.most(&x)
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
            raise ValueError(f"{self.names}: the range of the results, ({low}, {high}), is beyond float32")
        return ends.min, ends.max

    cpdef LayerStage stage(self, double lo, double hi, cnp.ndarray rows, object terms, object ends):
        """Give the stage from sums of products to codes.

        rows: the sums of the first operand's codes less the `zero` of `left`, one for each row of sums, or one for each
        sum; None if the weights' middle code has the value 0 in every column. terms: None if the `base` of `left` is 0,
        else (columns, counts, which). At the border of an image the padding cuts off a part of the filters; for each
        such cut, `columns` has the sum of the filters' codes in each column, and `counts` the number of products of a
        sum. Row i of the sums has the cut which[i % len(which)]. ends: for 8-bit codes their range (min, max),
        min < max; for int32 codes what `tops` gives. All arrays are contiguous.
        """
        cdef LayerStage made = LayerStage()
        cdef Values x = self.left(lo, hi)
        cdef double top
        made.set(self.n, rows, terms)
        if self.typenum != cnp.NPY_INT32:
            self.set_columns(made, &x, NULL, ends[0], ends[1])
        elif self.has_ranges:
            self.set_columns(made, &x, <const double*>cnp.PyArray_DATA(ends), 0, 0)
        else:
            top = ends
            self.set_columns(made, &x, &top, 0, 0)
        return made


cdef class Layer:
    """A product with packed weights, and the epilogue of its sums."""

    cdef int multiply(self, operand, int zero, LayerStage stage, cnp.ndarray place,
                      Py_ssize_t num_threads) except -1:
        """Write what `stage` makes of the sums of products with `operand`, less `zero`, to `place`."""
        raise NotImplementedError

    cdef Tensor made(self, type cls, operand, int zero, Ends ends, cnp.ndarray rows, terms, out, int ndim,
                     cnp.npy_intp* shape, tops, Py_ssize_t num_threads):
        """Give the codes of the layer, of this shape, in `out` if it is given.

        ends: the range of the first operand. tops: what `Epilogue.tops` gives, None for 8 bits. For `rows` and `terms`
        see `Epilogue.stage`. Codes of a known range are made by the product itself, while its sums are in the cache.
        If the range is not known, that watches its sums.
        """
        cdef Epilogue e = self.epilogue
        cdef cnp.ndarray place, sums = None
        cdef LayerStage watched
        cdef Py_ssize_t size
        cdef object found = e.kept_for(ends.min, ends.max) if tops is None else tops
        if out is not None and cnp.PyArray_ISCARRAY(out):
            place = out
        else:
            place = cnp.PyArray_EMPTY(ndim, shape, e.typenum, 0)
        if found is None:
            size = cnp.PyArray_SIZE(place)
            sums = cnp.PyArray_EMPTY(ndim, shape, cnp.NPY_INT32, 0)
            watched = e.watch(ends.min, ends.max, rows, terms, size // e.n if size else 0)
            self.multiply(operand, zero, watched, sums, num_threads)
            found = e.found(watched, ends.min, ends.max)
        if tops is None and found[0] == found[1]:  # one value, for which the lowest code stands
            (<object>place).fill(-MIDDLE if e.typenum == cnp.NPY_INT8 else 0)
        elif sums is None:
            self.multiply(operand, zero, e.stage(ends.min, ends.max, rows, terms, found), place, num_threads)
        else:
            run_stage(e.stage(ends.min, ends.max, rows, terms, found), sums, place, num_threads)
        if out is not None and place is not out:
            out[...] = place
            place = out
        if tops is None:
            return tensor(cls, place, found[0], found[1])
        if e.has_ranges:
            tops = np.float32(tops).reshape((1,) * (ndim - 1) + (e.n,))
        return tensor(cls, place, -tops, tops)


ctypedef struct Coded:  # sums that become codes, in parts of whole rows
    const Stage* stage
    const char* sums
    char* codes
    int typenum, size
    Py_ssize_t m, n, parts


cdef int make_part(const void* op, Py_ssize_t i) noexcept nogil:
    """Make the codes of part i, for `run_parts`."""
    cdef const Coded* p = <const Coded*>op
    cdef Py_ssize_t first = <Py_ssize_t>(<int64_t>p.m * i // p.parts) * p.n
    cdef Py_ssize_t end = <Py_ssize_t>(<int64_t>p.m * (i + 1) // p.parts) * p.n
    stage_run(p.stage, p.sums + 4 * first, cnp.NPY_INT32, p.codes + p.size * first, p.typenum, first, end - first)
    return 0


def run_stage(LayerStage stage, cnp.ndarray sums, cnp.ndarray codes, Py_ssize_t num_threads=1):
    """Make the codes of all sums on so many threads. Both arrays are contiguous."""
    cdef Py_ssize_t m = cnp.PyArray_SIZE(sums) // max(stage.params.n, <Py_ssize_t>1)
    cdef Coded p = Coded(&stage.stage, cnp.PyArray_BYTES(sums), cnp.PyArray_BYTES(codes), typenum_of(codes),
                         <int>cnp.PyArray_ITEMSIZE(codes), m, stage.params.n, max(<Py_ssize_t>1, min(num_threads, m)))
    run_parts(make_part, &p, p.parts)
