"""From a sum of products of codes to the code of a layer's result, in double; each row and column has its own terms.

    position = sum * of_sum + (row * of_row + of_count) * per_value + added
    code = round_half_even(min(max(position, lowest), highest))

Codes of 8 bits whose rows have no terms are made in float32 where that is exact enough: position = sum * of_sum + added
"""

from libc.stdint cimport int32_t, int64_t

from qops._kernels.stage.batch cimport Batch

cdef extern from "stage/layer_stage.h" nogil:
    ctypedef struct LayerRow "layer_row":  # a row of sums, and tables with a number for each column
        const int32_t *sums
        const int32_t *rows  # the sums of the first operand's codes; NULL: they are not needed
        int each  # whether `rows` has a number for each column; else it has one for the row
        double *of_sum
        double *of_row
        double *of_count
        double *per_value
        double *added
        double *lowest
        double *highest
        float *f32  # tables of of_sum, added, lowest and highest in float32; NULL: all is made in double
        int32_t *in_f32  # -1 for each column that is made in float32, else 0; then the same for all COLUMNS around it
    ctypedef struct LayerParams "layer_params":
        LayerRow row  # the sums of row `start`, and the tables of the first cut
        Py_ssize_t start, m  # the number of the first row, and how many there are
        Py_ssize_t n, stride, sums_stride  # columns, and the distance of rows of codes and of sums
        Py_ssize_t ld  # the distance from a table of one cut to that of the next cut, and of the tables of `f32`
        Py_ssize_t places  # the length of `which`; row i is at place i % places
        const int64_t *which  # for each place the number of its cut; a cut is what padding cuts off a window
        double *ends  # NULL, or the stage makes no codes: it copies the sums, and notes the extremes of their results;
        # ends[2 i] and [2 i + 1] are those of a run that began at row i
    enum:
        COLUMNS

cdef LayerParams some_columns(const LayerParams* p, Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t layer_codes(const LayerParams* p, const Batch* b) noexcept nogil
