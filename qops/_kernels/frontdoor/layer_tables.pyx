"""The stage of a layer: its kind, and the memory of its tables, which have a number for each column."""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from qops._kernels.gemm.tile cimport aligned
from qops._kernels.stage.layer_stage cimport LayerParams, LayerRow
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport LAYER, WATCHED

cnp.import_array()

cdef extern from "stage/layer_stage.h":
    enum:
        COLUMNS

cdef double NEAR = 192  # the most LSB that float32 may add, for BOUND_LAYER_8
cdef double STEEP = 2.0**16  # the most LSB that a step of a sum may be in the loop of float32
cdef int64_t ONE_CUT = 0  # the `which` of a stage without terms

ctypedef fused word:
    double
    int32_t


cdef void repeat_first(word* tables, Py_ssize_t count, Py_ssize_t ld, Py_ssize_t n) noexcept nogil:
    """Set n columns of each table to its first."""
    cdef word first
    cdef Py_ssize_t i, j
    for i in range(count):
        first = tables[i * ld]
        for j in range(1, n):
            tables[i * ld + j] = first


@cython.final
cdef class LayerStage(PreparedStage):
    """The stage that takes the sums of one call to codes, or watches their range. Products run it over whole rows."""

    cdef int set(self, Py_ssize_t n, cnp.ndarray rows, terms, Py_ssize_t watched=0) except -1:
        """Set all but the numbers in the tables; see `Epilogue.stage`. `watched`: how many rows are watched.

        Tables begin at cache lines: loads that cross lines would take twice as long.
        """
        cdef LayerParams* p = &self.params
        cdef Py_ssize_t ld = (n + 7) // 8 * 8, i
        cdef cnp.npy_intp size
        cdef double* table
        self.cuts = 1 if terms is None else len(terms[1])
        size = (8 + 2 * self.cuts) * ld + 8 + 2 * watched
        self.memory, self.rows, self.terms = cnp.PyArray_EMPTY(1, &size, cnp.NPY_DOUBLE, 0), rows, terms
        self.stage.kind, self.stage.count, self.stage.inner = WATCHED if watched else LAYER, 1, 1
        self.stage.layer, self.stage.before = p, NULL
        p.n = p.stride = p.sums_stride = n
        p.ld, p.places, p.which, p.m = ld, 1, &ONE_CUT, watched
        if terms is not None:
            p.places, p.which = len(terms[2]), <const int64_t*>cnp.PyArray_DATA(terms[2])
        p.first.rows, p.first.each = NULL, False
        if rows is not None:
            p.first.rows, p.first.each = <const int32_t*>cnp.PyArray_DATA(rows), cnp.PyArray_NDIM(rows) == 2
        table = <double*>aligned(cnp.PyArray_DATA(self.memory))
        p.first.of_sum, p.first.of_row, p.first.per_value = table, table + ld, table + 2 * ld
        p.first.lowest, p.first.highest = table + 3 * ld, table + 4 * ld
        p.first.of_count, p.first.added = table + 5 * ld, table + (5 + self.cuts) * ld
        self.near, p.first.near = <float*>(table + (5 + 2 * self.cuts) * ld), NULL
        p.ends = table + (8 + 2 * self.cuts) * ld
        for i in range(watched):
            p.ends[2 * i], p.ends[2 * i + 1] = INFINITY, -INFINITY
        return 0

    cdef void finish(self, Py_ssize_t kinds, bint may_be_near) noexcept:
        """Finish the tables, in double, of so many columns that differ or of 1.

        may_be_near: whether float32 may do for codes of 8 bits. Where it does for one column that stands for all,
        nothing reads the other tables.
        """
        if may_be_near:
            self.set_near(kinds)
        if kinds == 1 and self.params.first.near == NULL:
            repeat_first(self.params.first.of_sum, 5 + 2 * self.cuts, self.params.ld, self.params.n)

    cdef void set_near(self, Py_ssize_t kinds) noexcept:
        """Set the tables for float32, of so many columns that differ or of 1, and where to use them."""
        cdef LayerRow* r = &self.params.first
        cdef float* near = self.near
        cdef Py_ssize_t i, j, ld = self.params.ld, n = self.params.n
        cdef int32_t* is_near = <int32_t*>(near + 4 * ld)
        cdef int32_t some = 0, every
        for j in range(kinds):
            is_near[j] = -(r.of_row[j] == 0 and r.of_sum[j] <= STEEP and fabs(r.added[j]) <= NEAR)
            near[j], near[ld + j] = <float>r.of_sum[j], <float>r.added[j]
            near[2 * ld + j], near[3 * ld + j] = <float>r.lowest[j], <float>r.highest[j]
            some |= is_near[j]
        if kinds == 1:
            is_near[ld] = some
            repeat_first(<int32_t*>near, 6, ld, n)
        for i from 0 <= i < (n if kinds > 1 else 0) by COLUMNS:
            every = -1
            for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
                every &= is_near[j]
            for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
                is_near[ld + j] = every
        r.near = near if some else NULL
