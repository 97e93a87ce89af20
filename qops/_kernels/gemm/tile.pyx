"""Tiles and packed panels, the parts of integer products (gemm) and convolutions.

A *quad* is 4 bytes that are neighbours along k. B is packed in *panels* of up to 64 columns, ``[quad][column][4
bytes]``. A *tile* of C is a few rows of A times one panel. The tile in plain.pyx is the definition; gemm/tile.h does
the same with vectors. Packing, tails and the loop over rows are here, once for products and convolutions.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from qops._kernels.gemm.plain cimport plain_kernel

cdef extern from "gemm/gemm.h" nogil:
    const gemm_kernel *gemm_find(int tier, int saturating)
    const gemm_kernel *gemm_find_unsigned(int tier)
    void gemm_amx_release()

cdef enum:
    MAX_COLUMNS = 64  # the most columns that a panel of any kernel has
    ONES = 256  # columns are summed as products with so many quads of ones at a time


cdef const gemm_kernel *find_kernel(bint saturating, int on) noexcept nogil:
    """Give the kernel of the tier `on` for a B of s8; the plain kernel if the tier has none."""
    cdef const gemm_kernel *found = gemm_find(on, saturating)
    return found if found != NULL else plain_kernel(saturating)


cdef const gemm_kernel *find_unsigned_kernel(int on) noexcept nogil:
    """Give the kernel of the tier `on` that multiplies by a B of u8 without a shift; NULL if there is none."""
    return gemm_find_unsigned(on)


cdef const gemm_kernel *find_depthwise_kernel(int on) noexcept nogil:
    """Give the kernel of the tier `on` for depthwise convolutions, which are exact and take an A of u8."""
    cdef const gemm_kernel *found = gemm_find(on, False)
    return found if found != NULL and found.dots != NULL else plain_kernel(False)


cdef bint amx_is_faster(const gemm_kernel *kernel, Py_ssize_t rows, Py_ssize_t taps, Py_ssize_t quads,
                        bint is_packed) noexcept nogil:
    """Whether the matrix unit is faster than vectors for so many rows of A and `taps` times so many quads of k.

    A kernel for a B of u8 always uses the unit. Setting the unit up takes 0.1 us, and one row or quad takes as long as
    16. The unit needs B packed beforehand, while vectors may pack it as they multiply. The limits were measured on
    Sapphire Rapids; the number of columns made no difference.
    """
    if kernel.amx[0] == NULL:
        return False
    if kernel.is_unsigned or quads < 8:
        return kernel.is_unsigned
    if is_packed:
        return rows >= 8 and rows * taps * quads >= 1024
    return rows >= AMX_BLOCK_ROWS and rows * taps * quads >= 2048


cdef Py_ssize_t no_offset = 0
ONE_TAP = &no_offset


cdef inline void pack_whole(const gemm_kernel *kernel, const int8_t *b, Py_ssize_t ldb, Py_ssize_t quads,
                            Py_ssize_t columns, uint8_t *panel, Py_ssize_t vector_stride) noexcept nogil:
    """Pack whole quads of columns, in whole vectors, in the form of this kernel."""
    if kernel.pack_by_vector != NULL:
        kernel.pack_by_vector(b, ldb, quads, columns, panel, vector_stride)
    else:
        kernel.pack(b, ldb, quads, columns, panel)


cdef void pack_chunk(const gemm_kernel *kernel, const int8_t *b, Py_ssize_t ldb, Py_ssize_t rows,
                     Py_ssize_t columns, uint8_t *panel, Py_ssize_t vector_stride) noexcept nogil:
    """Pack some rows of B in one panel. The last quad and the last vector are padded with zeros."""
    cdef int8_t edge[4 * MAX_COLUMNS]
    cdef Py_ssize_t depth = 2 if kernel.widens else 4
    cdef Py_ssize_t padded = padded_columns(kernel, columns)
    cdef Py_ssize_t whole = rows // depth if columns == padded else 0
    cdef Py_ssize_t q, i
    pack_whole(kernel, b, ldb, whole, padded, panel, vector_stride)
    for q in range(whole, quads_of(kernel, rows)):
        memset(edge, 0, sizeof(edge))
        for i in range(min(depth, rows - depth * q)):
            memcpy(edge + padded * i, b + (depth * q + i) * ldb, columns)
        pack_whole(kernel, edge, padded, 1, padded, panel + q * quad_bytes(kernel, columns), vector_stride)


cdef void pack_columns(const gemm_kernel *kernel, const int8_t *b, Py_ssize_t ldb, Py_ssize_t k, Py_ssize_t n,
                       uint8_t *panels, Py_ssize_t first, Py_ssize_t quads) noexcept nogil:
    """Pack k rows of n columns of B as the quads from `first` on of panels that have `quads` quads.

    If there are several panels, B is read in chunks of a few rows, in the order of memory. The stride of rows is often
    a multiple of 4096 bytes, and L1 holds only 8 cache lines of such rows: hence chunks of 8 rows. For the matrix unit
    64 are faster.
    """
    cdef Py_ssize_t width = kernel.lanes * kernel.vectors
    cdef Py_ssize_t some = 64 if kernel.pack_by_vector != NULL else 8 if ldb >= 2048 else 16
    cdef Py_ssize_t chunk = max(k, 1) if n <= width else some
    cdef Py_ssize_t i, j, used
    cdef uint8_t *panel
    for i from 0 <= i < k by chunk:
        for j from 0 <= j < n by width:
            used = min(width, n - j)
            panel = panels + panel_bytes(kernel, j, quads) + (first + quads_of(kernel, i)) * quad_bytes(kernel, used)
            pack_chunk(kernel, b + i * ldb + j, ldb, min(chunk, k - i), used, panel, 4 * kernel.lanes * quads)


cdef void pack_quads(const gemm_kernel *kernel, const uint8_t *source, Py_ssize_t length, bint is_signed,
                     uint8_t *quads) noexcept nogil:
    """Pack elements of A along k as quads, of int16 if the kernel widens, else of bytes.

    The last quad is padded with zeros. 128 is added to signed bytes, unless the kernel takes them as they are.
    """
    cdef uint8_t shift = 0x80 if is_signed and not kernel.takes_signed else 0
    cdef int16_t *wide = <int16_t *>quads
    cdef Py_ssize_t i, end = quads_of(kernel, length)
    if not kernel.widens:
        for i in range(length):
            quads[i] = source[i] ^ shift
        for i in range(length, 4 * end):
            quads[i] = 0
        return
    if is_signed:
        for i in range(length):
            wide[i] = (<const int8_t *>source)[i]
    else:
        for i in range(length):
            wide[i] = source[i]
    for i in range(length, 2 * end):
        wide[i] = 0


cdef void sum_columns(const gemm_kernel *kernel, const uint8_t *panels, Py_ssize_t quads, Py_ssize_t n,
                      int32_t *sums) noexcept nogil:
    """Set sums[j] to the sum of column j of packed B, for padded_columns(n) columns.

    The kernel multiplies a row of ones by B. In that product no pair can saturate.
    """
    cdef uint8_t ones[4 * ONES]
    cdef Py_ssize_t width = kernel.lanes * kernel.vectors
    cdef Py_ssize_t i, j, q, columns
    cdef int set_up = 0
    cdef gemm_tile t
    memset(ones, 1, 4 * min(quads, ONES))
    if kernel.widens:
        for i from 1 <= i < 4 * ONES by 2:
            ones[i] = 0
    t.a = ones
    t.lda = 0
    t.tap = ONE_TAP
    t.taps = 1
    t.times = 0
    t.ldc = 0
    t.tiles = 1
    t.vector_stride = 4 * kernel.lanes * quads
    t.prefetch = t.is_signed = False
    t.is_unsigned = kernel.is_unsigned
    t.set_up = &set_up if kernel.is_unsigned and kernel.amx[0] != NULL else NULL
    for j from 0 <= j < n by width:
        columns = padded_columns(kernel, min(width, n - j))
        t.c = sums + j
        for q from 0 <= q < max(quads, 1) by ONES:
            t.b = panels + panel_bytes(kernel, j, quads) + q * quad_bytes(kernel, columns)
            t.quads = min(ONES, quads - q)
            t.accumulate = q > 0
            kernel.tile(&t, 1, columns // kernel.lanes)
    release(set_up)


cdef void add_edge(const int32_t *part, Py_ssize_t width, const gemm_tile *t, Py_ssize_t rows,
                   Py_ssize_t columns) noexcept nogil:
    """Store a tile in C, or add it to C, without the columns behind the last one of C."""
    cdef uint32_t *c
    cdef Py_ssize_t i, j
    for i in range(rows):
        c = <uint32_t *>t.c + i * t.ldc
        for j in range(columns):
            c[j] = (c[j] if t.accumulate else 0) + <uint32_t>part[i * width + j]


cdef void release(int set_up) noexcept nogil:
    """Give the matrix unit back to the system, if it was set up."""
    if set_up:
        gemm_amx_release()


cdef inline void multiply_tile(const gemm_kernel *kernel, const gemm_tile *t, Py_ssize_t rows,
                               Py_ssize_t vectors) noexcept nogil:
    """Compute tiles of C on the matrix unit or with vectors."""
    if t.set_up != NULL:
        kernel.amx[t.is_signed](t, rows, vectors)
    else:
        kernel.tile(t, rows, vectors)


cdef void edge_tiles(const gemm_kernel *kernel, const gemm_tile *t, Py_ssize_t rows, Py_ssize_t columns,
                     Py_ssize_t vectors) noexcept nogil:
    """Compute tiles whose last vector has more lanes than C has columns, in scratch memory, and copy their columns."""
    cdef int32_t part[AMX_BLOCK_ROWS * MAX_COLUMNS]
    cdef gemm_tile whole = t[0]
    cdef gemm_tile here = t[0]
    cdef Py_ssize_t _i
    whole.c, whole.ldc, whole.tiles, whole.accumulate = part, vectors * kernel.lanes, 1, False
    for _i in range(t.tiles):
        multiply_tile(kernel, &whole, rows, vectors)
        add_edge(part, whole.ldc, &here, rows, columns)
        whole.a += rows * t.lda
        here.c += rows * t.ldc


cdef inline void some_tiles(const gemm_kernel *kernel, gemm_tile *t, Py_ssize_t tiles, Py_ssize_t rows,
                            Py_ssize_t columns, Py_ssize_t vectors) noexcept nogil:
    """Compute so many tiles of so many rows, then move `t` to the row after them."""
    if tiles * rows == 0:
        return
    t.tiles = tiles
    if vectors * kernel.lanes == columns or t.spare and not t.accumulate and t.set_up == NULL:
        multiply_tile(kernel, t, rows, vectors)
    else:
        edge_tiles(kernel, t, rows, columns, vectors)
    t.a += tiles * rows * t.lda
    t.c += tiles * rows * t.ldc


cdef void panel_rows(const gemm_kernel *kernel, gemm_tile *t, Py_ssize_t rows, Py_ssize_t columns) noexcept nogil:
    """Multiply rows of A by a panel, in tiles of about equal height. On entry, `t` describes the first row.

    The matrix unit takes several whole panels at once. The one division by a variable is of bytes: a wider one
    would take as long as a small tile.
    """
    cdef Py_ssize_t vectors = 1, tiles, each, higher
    while vectors * kernel.lanes < columns:
        vectors += 1
    if t.set_up != NULL:
        if vectors * kernel.lanes == columns:
            some_tiles(kernel, t, 1, rows, columns, vectors)
        else:
            some_tiles(kernel, t, rows // AMX_BLOCK_ROWS, AMX_BLOCK_ROWS, columns, vectors)
            some_tiles(kernel, t, 1, rows % AMX_BLOCK_ROWS, columns, vectors)
        return
    if rows <= GEMM_ROWS:
        some_tiles(kernel, t, 1, rows, columns, vectors)
        return
    tiles = (rows + GEMM_ROWS - 1) // GEMM_ROWS
    each = GEMM_ROWS - 1
    if each * tiles > rows:  # few rows
        each = <uint8_t>rows // <uint8_t>tiles
    higher = rows - each * tiles  # so many tiles have a row more
    some_tiles(kernel, t, higher, each + 1, columns, vectors)
    some_tiles(kernel, t, tiles - higher, each, columns, vectors)
