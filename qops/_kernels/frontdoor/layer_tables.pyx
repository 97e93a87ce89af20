"""The stage of a layer: its kind, and the memory of its tables, which have a number for each column."""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from qops._kernels.gemm.tile cimport aligned
from qops._kernels.stage.layer_stage cimport COLUMNS, LayerParams, LayerRow
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport LAYER

cnp.import_array()

cdef double MOST_ADDED = 192  # the most LSB that may be added in float32, for BOUND_LAYER_8
cdef double STEEP = 2.0**16  # the most LSB that a step of a sum may be in the loop of float32
cdef int64_t ONE_CUT = 0  # the `which` of a stage without terms

ctypedef fused number:
    double
    float
    int32_t


cdef void repeat_first(number* tables, Py_ssize_t count, Py_ssize_t ld, Py_ssize_t n) noexcept nogil:
    """Set n columns of each table to its first."""
    cdef number first
    cdef Py_ssize_t i, j
    for i in range(count):
        first = tables[i * ld]
        for j in range(1, n):
            tables[i * ld + j] = first


@cython.final
cdef class LayerStage(PreparedStage):
    """Takes the sums of one call to codes, or watches their range. Products run it over whole rows."""

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
        self.stage.kind, self.stage.count, self.stage.inner, self.stage.layer = LAYER, 1, 1, p
        p.n = p.stride = p.sums_stride = n
        p.ld, p.places, p.which, p.m = ld, 1, &ONE_CUT, watched
        if terms is not None:
            p.places, p.which = len(terms[2]), <const int64_t*>cnp.PyArray_DATA(terms[2])
        p.row.rows, p.row.each = NULL, False
        if rows is not None:
            p.row.rows, p.row.each = <const int32_t*>cnp.PyArray_DATA(rows), cnp.PyArray_NDIM(rows) == 2
        table = <double*>aligned(cnp.PyArray_DATA(self.memory))
        p.row.of_sum, p.row.of_row, p.row.per_value = table, table + ld, table + 2 * ld
        p.row.lowest, p.row.highest = table + 3 * ld, table + 4 * ld
        p.row.of_count, p.row.added = table + 5 * ld, table + (5 + self.cuts) * ld
        self.f32, p.row.f32 = <float*>(table + (5 + 2 * self.cuts) * ld), NULL
        p.row.in_f32 = <int32_t*>(self.f32 + 4 * ld)
        p.ends = table + (8 + 2 * self.cuts) * ld if watched else NULL
        for i in range(watched):
            p.ends[2 * i], p.ends[2 * i + 1] = INFINITY, -INFINITY
        return 0

    cdef void finish(self, Py_ssize_t kinds, bint may_use_f32) noexcept:
        """Finish the tables: in double, and in float32 if `may_use_f32` and some column allows it.

        kinds: how many columns are set; 1 if all columns are like the first. Then the first is repeated, but not in
        double where float32 does, as nothing reads these tables.
        """
        if may_use_f32:
            self.set_f32(kinds)
        if kinds == 1 and self.params.row.f32 == NULL:
            repeat_first(self.params.row.of_sum, 5 + 2 * self.cuts, self.params.ld, self.params.n)

    cdef void set_f32(self, Py_ssize_t kinds) noexcept:
        """Set the tables in float32 of `kinds` columns, see `finish`, and which columns may use them."""
        cdef LayerRow* r = &self.params.row
        cdef float* table = self.f32
        cdef Py_ssize_t i, j, ld = self.params.ld, n = self.params.n
        cdef int32_t* in_f32 = r.in_f32
        cdef int32_t some = 0, every
        for j in range(kinds):
            in_f32[j] = -(r.of_row[j] == 0 and r.of_sum[j] <= STEEP and fabs(r.added[j]) <= MOST_ADDED)
            table[j], table[ld + j] = <float>r.of_sum[j], <float>r.added[j]
            table[2 * ld + j], table[3 * ld + j] = <float>r.lowest[j], <float>r.highest[j]
            some |= in_f32[j]
        if kinds == 1:
            in_f32[ld] = some
            repeat_first(table, 4, ld, n)
            repeat_first(in_f32, 2, ld, n)
        for i from 0 <= i < (n if kinds > 1 else 0) by COLUMNS:
            every = -1
            for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
                every &= in_f32[j]
            for j in range(i, min(n, i + <Py_ssize_t>COLUMNS)):
                in_f32[ld + j] = every
        r.f32 = table if some else NULL
