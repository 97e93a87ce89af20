"""The loops of the layer stage: sums of products to codes of int32 or of 8 bits."""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.batch cimport Batch
from qops._kernels.stage.rounding cimport clamp_f64

cdef extern from "stage/layer_stage.h" nogil:
    LayerRow row_of(const LayerParams*, Py_ssize_t i)
    Py_ssize_t layer_32__simd(int, const LayerParams*, int32_t*)
    Py_ssize_t layer_8__simd(int, const LayerParams*, uint8_t*, uint8_t flip)
    Py_ssize_t layer_ends__simd(int, const LayerParams*, double*)

cdef enum:
    MOST_COLUMNS = 256  # whose tables stay in L1 from row to row

cdef double WHOLE = 6755399441055744  # 1.5 * 2**52: doubles this large have no fraction, so adding it rounds to even


cdef inline double position(const LayerRow* r, Py_ssize_t j) noexcept nogil:
    """Give the clamped position of column j, see layer_stage.pxd. Without `each`, the row has one number of `rows`."""
    cdef double x = r.sums[j] * r.of_sum[j]
    if r.rows != NULL:
        x += (r.rows[j if r.each else 0] * r.of_row[j] + r.of_count[j]) * r.per_value[j]
    return clamp_f64(x + r.added[j], r.lowest[j], r.highest[j])


cdef inline double position_f32(const LayerRow* r, Py_ssize_t ld, Py_ssize_t j) noexcept nogil:
    """Give the clamped position of column j for codes of 8 bits, in float32."""
    cdef float x = <float>r.sums[j] * r.f32[j] + r.f32[ld + j]
    return clamp_f64(x, r.f32[2 * ld + j], r.f32[3 * ld + j])


cdef void codes_32(const LayerParams* p, int32_t* codes) noexcept nogil:
    """Make the int32 codes of all rows: code = round_half_even(position)."""
    cdef Py_ssize_t i, j, done = layer_32__simd(tier(), p, codes)
    cdef LayerRow r
    for i in range(p.m if done < p.n else 0):
        r = row_of(p, i)
        for j in range(done, p.n):
            codes[i * p.stride + j] = <int32_t>((position(&r, j) + WHOLE) - WHOLE)


cdef void codes_8(const LayerParams* p, uint8_t* codes, uint8_t flip) noexcept nogil:
    """Make the 8-bit codes of all rows: code = round_half_even(position) ^ flip."""
    cdef Py_ssize_t i, j, done = layer_8__simd(tier(), p, codes, flip)
    cdef LayerRow r
    cdef double x
    cdef bint in_f32
    for i in range(p.m if done < p.n else 0):
        r = row_of(p, i)
        for j in range(done, p.n):
            in_f32 = r.f32 != NULL and r.in_f32[j] != 0
            x = position_f32(&r, p.ld, j) if in_f32 else position(&r, j)
            codes[i * p.stride + j] = <uint8_t>((x + WHOLE) - WHOLE) ^ flip


cdef void ends(const LayerParams* p, double* found) noexcept nogil:
    """Widen found[0]..found[1] to hold every position."""
    cdef Py_ssize_t i, j, done = layer_ends__simd(tier(), p, found)
    cdef double x
    cdef LayerRow r
    for i in range(p.m if done < p.n else 0):
        r = row_of(p, i)
        for j in range(done, p.n):
            x = position(&r, j)
            found[0] = min(found[0], x)
            found[1] = max(found[1], x)


cdef LayerParams some_columns(const LayerParams* p, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Give the parameters of at most n columns from `first` on."""
    cdef LayerParams some = p[0]
    cdef LayerRow* r = &some.row
    some.n = min(n, p.n - first)
    r.sums += first
    if r.rows != NULL and r.each:
        r.rows += first
    r.of_sum, r.of_row, r.of_count = r.of_sum + first, r.of_row + first, r.of_count + first
    r.per_value, r.added = r.per_value + first, r.added + first
    r.lowest, r.highest = r.lowest + first, r.highest + first
    if r.f32 != NULL:
        r.f32, r.in_f32 = r.f32 + first, r.in_f32 + first
    return some


cdef Py_ssize_t layer_codes(const LayerParams* p, const Batch* b) noexcept nogil:
    """Make the codes of int32 sums, which fill whole rows; or copy the sums, and widen the ends of the first row to
    hold the positions of all.
    """
    cdef Py_ssize_t column
    cdef LayerParams some, rows = p[0]
    if b.n == 0:
        return 0
    rows.row.sums, rows.start, rows.m = <const int32_t*>b.x, b.first // p.n, b.n // p.n
    for column from 0 <= column < p.n by MOST_COLUMNS:
        some = some_columns(&rows, column, MOST_COLUMNS)
        if p.ends != NULL:
            ends(&some, p.ends + 2 * rows.start)
        elif b.size == 4:
            codes_32(&some, <int32_t*>b.c + column)
        else:
            codes_8(&some, <uint8_t*>b.c + column, 128 if b.is_signed else 0)
    if p.ends != NULL:
        memcpy(b.c, b.x, 4 * b.n)
    return b.n
