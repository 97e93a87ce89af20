"""From sums of products to codes: the loops of `matmul` and `conv2d`."""

from libc.stdint cimport int32_t, uint8_t

from qops._kernels.arrays.walk cimport WORTH_RELEASING
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport clamp_f64

cdef extern from "frontdoor/sums.h" nogil:
    Row row_of(const Sums*, Py_ssize_t i)
    Py_ssize_t codes_32__simd(int, const Sums*, int32_t*)
    Py_ssize_t codes_8__simd(int, const Sums*, uint8_t*, uint8_t flip)
    Py_ssize_t ends__simd(int, const Sums*, double*)

cdef enum:
    BLOCK = 256  # columns

cdef double WHOLE = 6755399441055744  # 1.5 * 2**52: doubles this large have no fraction, so adding it rounds to even


cdef inline double position(const Row* r, Py_ssize_t j) noexcept nogil:
    """The position of column j among the codes.

        (sum * of_sum + (row * of_row + of_count) * per_value) + added, clamped

    Every name is a table with a number for each column, but `row`, of which there may be one for all.
    """
    cdef double x = r.sums[j] * r.of_sum[j]
    if r.rows != NULL:
        x += (r.rows[j if r.each else 0] * r.of_row[j] + r.of_count[j]) * r.per_value[j]
    return clamp_f64(x + r.added[j], r.lowest[j], r.highest[j])


cdef void codes_32(const Sums* s, int32_t* codes) noexcept nogil:
    """code = round_half_even(position). The codes may replace the sums."""
    cdef Py_ssize_t i, j, first = codes_32__simd(tier(), s, codes)
    cdef Row r
    for i in range(s.m if first < s.n else 0):
        r = row_of(s, i)
        for j in range(first, s.n):
            codes[i * s.stride + j] = <int32_t>((position(&r, j) + WHOLE) - WHOLE)


cdef void codes_8(const Sums* s, uint8_t* codes, uint8_t flip) noexcept nogil:
    """code = round_half_even(position) ^ flip."""
    cdef Py_ssize_t i, j, first = codes_8__simd(tier(), s, codes, flip)
    cdef Row r
    for i in range(s.m if first < s.n else 0):
        r = row_of(s, i)
        for j in range(first, s.n):
            codes[i * s.stride + j] = <uint8_t>((position(&r, j) + WHOLE) - WHOLE) ^ flip


cdef void ends(const Sums* s, double* found) noexcept nogil:
    """Widens found[0]..found[1] to hold every position."""
    cdef Py_ssize_t i, j, first = ends__simd(tier(), s, found)
    cdef double x
    cdef Row r
    for i in range(s.m if first < s.n else 0):
        r = row_of(s, i)
        for j in range(first, s.n):
            x = position(&r, j)
            found[0] = min(found[0], x)
            found[1] = max(found[1], x)


cdef Sums some_columns(const Sums* s, Py_ssize_t first) noexcept nogil:
    """Columns from `first` on, so few that their tables, of which every row reads all, stay in the nearest cache."""
    cdef Sums some = s[0]
    cdef Row* r = &some.first
    some.n = min(<Py_ssize_t>BLOCK, s.n - first)
    r.sums += first
    if r.rows != NULL and r.each:
        r.rows += first
    r.of_sum, r.of_row, r.of_count = r.of_sum + first, r.of_row + first, r.of_count + first
    r.per_value, r.added = r.per_value + first, r.added + first
    r.lowest, r.highest = r.lowest + first, r.highest + first
    return some


cdef void make(const Sums* s, void* codes, bint is_32, uint8_t flip) noexcept nogil:
    cdef Py_ssize_t first
    cdef Sums some
    for first from 0 <= first < s.n by BLOCK:
        some = some_columns(s, first)
        if is_32:
            codes_32(&some, <int32_t*>codes + first)
        else:
            codes_8(&some, <uint8_t*>codes + first, flip)


cdef void find(const Sums* s, double* found) noexcept nogil:
    cdef Py_ssize_t first
    cdef Sums some
    for first from 0 <= first < s.n by BLOCK:
        some = some_columns(s, first)
        ends(&some, found)


cdef void make_codes(const Sums* s, void* codes, bint is_32, uint8_t flip) noexcept:
    """Make the codes of all rows, of int32 or of 8 bits, which are xored with `flip`."""
    if s.m * s.n < WORTH_RELEASING:
        make(s, codes, is_32, flip)
    else:
        with nogil:
            make(s, codes, is_32, flip)


cdef void find_ends(const Sums* s, double* found) noexcept:
    """Widens found[0]..found[1] to hold all positions."""
    if s.m * s.n < WORTH_RELEASING:
        find(s, found)
    else:
        with nogil:
            find(s, found)
