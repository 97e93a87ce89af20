from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "frontdoor/sums.h" nogil:
    ctypedef struct Row "sums_row":
        const int32_t *sums  # of products, one of each column
        const int32_t *rows  # the sums of the first operand's codes; NULL: they are not needed
        int each  # whether there is one of each column, not one of the row
        double *of_sum
        double *of_row
        double *of_count
        double *per_value
        double *added
        double *lowest
        double *highest
    ctypedef struct Sums "sums_rows":
        Row first  # its tables are those of the first cut
        Py_ssize_t m, n  # rows and columns
        Py_ssize_t stride  # from one row to the next, of sums and of codes
        Py_ssize_t ld  # from the tables of one cut to those of the next
        Py_ssize_t places
        const int64_t *which  # the cut of each place, which rows repeat

cdef void make_codes(const Sums* s, void* codes, bint is_32, uint8_t flip) noexcept
cdef void find_ends(const Sums* s, double* ends) noexcept
