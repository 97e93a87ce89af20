"""From a sum of products of codes to the code of a layer's result, in double; each row and column has its own terms.

    position = sum * of_sum + (row * of_row + of_count) * per_value + added
    code = round_half_even(min(max(position, lowest), highest))

Codes of 8 bits whose rows have no terms are made in float32 where that is exact enough: position = sum * of_sum + added
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

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
        float *f32  # of_sum, added, lowest and highest of each column side by side, for float32; NULL: in double
    ctypedef struct LayerParams "layer_params":
        LayerRow row  # the sums of row `start`, and the tables of the first cut
        Py_ssize_t start, m  # the number of the first row, and how many there are
        Py_ssize_t n, stride, sums_stride  # columns, and the distance of rows of codes and of sums
        Py_ssize_t ld  # the distance from a table of one cut to that of the next cut, and of the tables of `f32`
        Py_ssize_t places  # the length of `which`; row i is at place i % places
        const int64_t *which  # for each place the number of its cut; a cut is what padding cuts off a window
        double *ends  # of a WATCHED stage: ends[2 i] and [2 i + 1] are the extremes of a run that began at row i

cdef LayerParams some_columns(const LayerParams* p, Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef void layer_codes(const LayerParams* p, const int32_t* sums, void* codes, bint is_32, uint8_t flip,
                      Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef void layer_ends(const LayerParams* p, const int32_t* sums, Py_ssize_t first, Py_ssize_t n) noexcept nogil
