"""The kernel without vectors: the definition of an exact and of a saturating product, for any CPU."""
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.gemm.tile cimport gemm_depthwise, gemm_kernel, gemm_tile
from qops._kernels.stage.rounding cimport saturate_s16

cdef enum:
    PLAIN_COLUMNS = 16


cdef inline uint32_t dot_exact(const uint8_t *a, const int8_t *b) noexcept nogil:
    # a0*b0 + a1*b1 + a2*b2 + a3*b3                              VPDPBUSD
    return <uint32_t>(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3])


cdef inline uint32_t dot_saturating(const uint8_t *a, const int8_t *b) noexcept nogil:
    # sat16(a0*b0 + a1*b1) + sat16(a2*b2 + a3*b3)                VPMADDUBSW, VPMADDWD by 1
    return <uint32_t>(saturate_s16(a[0] * b[0] + a[1] * b[1]) + saturate_s16(a[2] * b[2] + a[3] * b[3]))


cdef inline void plain_row(const gemm_tile *t, Py_ssize_t row, Py_ssize_t columns, bint saturating) noexcept nogil:
    # c[j] (+)= times * sums[j] + sum over quads q of dot(a[q], b[q][j])        mod 2^32
    cdef uint32_t acc[PLAIN_COLUMNS]
    cdef uint8_t shift = 0x80 if t.is_signed else 0
    cdef uint8_t[4] a
    cdef const uint8_t *x
    cdef const int8_t *b = <const int8_t *>t.b
    cdef uint32_t *c = <uint32_t *>t.c + row * t.ldc
    cdef Py_ssize_t i, _q, j
    for j in range(columns):
        acc[j] = <uint32_t>t.times * <uint32_t>t.sums[j] if t.times else 0
    for i in range(t.taps):
        x = t.a + row * t.lda + t.tap[i]
        for _q in range(t.quads):
            for j in range(4):
                a[j] = x[j] ^ shift
            for j in range(columns):
                acc[j] += dot_saturating(a, b + 4 * j) if saturating else dot_exact(a, b + 4 * j)
            x += 4
            b += 4 * columns
    for j in range(columns):
        c[j] = c[j] + acc[j] if t.accumulate else acc[j]


cdef void plain_exact(const gemm_tile *t, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil:
    """Compute tiles exactly. A vector of the plain kernel is one column."""
    cdef Py_ssize_t row
    for row in range(t.tiles * rows):
        plain_row(t, row, vectors, False)


cdef void plain_saturating(const gemm_tile *t, Py_ssize_t rows, Py_ssize_t vectors) noexcept nogil:
    """Compute tiles whose pairs saturate."""
    cdef Py_ssize_t row
    for row in range(t.tiles * rows):
        plain_row(t, row, vectors, True)


cdef void plain_pack(const int8_t *b, Py_ssize_t ldb, Py_ssize_t quads, Py_ssize_t columns,
                     uint8_t *panel) noexcept nogil:
    # panel[q][j][i] = b[4 q + i][j]
    cdef Py_ssize_t q, j, i
    for q in range(quads):
        for j in range(columns):
            for i in range(4):
                panel[4 * (q * columns + j) + i] = <uint8_t>b[(4 * q + i) * ldb + j]


cdef void plain_weave(const uint8_t **rows, Py_ssize_t n, uint32_t flip, uint32_t *quads) noexcept nogil:
    # quads[i][j] = rows[j][i], of 4 rows
    cdef uint8_t *byte = <uint8_t *>quads
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(4):
            byte[4 * i + j] = rows[j][i] ^ <uint8_t>flip


cdef void plain_dots(const gemm_depthwise *d, const uint32_t *quads, int32_t *y) noexcept nogil:
    # y[i] = starts[c] + sum over taps t of dot(quads[i + tap[t]], w[t][c])  c = i % period, mod 2^32, of each run
    cdef uint32_t acc
    cdef Py_ssize_t _run, i, t, c
    for _run in range(d.runs):
        c = 0
        for i in range(d.n):
            acc = <uint32_t>d.starts[c]
            for t in range(d.taps):
                acc += dot_exact(<const uint8_t *>(quads + i + d.tap[t]), <const int8_t *>(d.w + t * d.w_stride + c))
            y[i] = <int32_t>acc
            c = c + 1 if c + 1 < d.period else 0
        quads += d.run_stride
        y += d.n


cdef gemm_kernel plain[2]  # their other fields are 0 and NULL, as C sets them
cdef int saturating
for saturating in range(2):
    plain[saturating].lanes, plain[saturating].vectors = 1, PLAIN_COLUMNS
    plain[saturating].tile, plain[saturating].pack = plain_saturating if saturating else plain_exact, plain_pack
    plain[saturating].weave, plain[saturating].dots = plain_weave, plain_dots


cdef const gemm_kernel *plain_kernel(bint saturating) noexcept nogil:
    """Give the kernel of no tier: its quads are 4 bytes, and signed codes are shifted."""
    return &plain[saturating]
