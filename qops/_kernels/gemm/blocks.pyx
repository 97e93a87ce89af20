"""An integer product in cache blocks, which packs A and B. Nothing here knows numpy arrays: see gemm.pyx.

B is cut along k into K blocks, and along n into strips of some panels. A strip is packed before it is multiplied,
unless B came packed. A kernel with `pack_tile` packs a panel while it multiplies the first tile. A is packed one block
of rows at a time, unless its rows have the form of quads already. Each tile of C is computed once for each K block. The
sizes of blocks depend on the caches of the CPU; results do not.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from qops._kernels.gemm.tile cimport (
    AMX_BLOCK_ROWS, GEMM_ROWS, ONE_TAP, SHIFTED, Run, aligned, block_bytes, gemm_raw, gemm_tile, most_quads,
    pack_columns, pack_quads, padded_columns, panel_rows, quad_bytes, quads_of, sum_columns,
)
from qops._kernels.machine.caches cimport caches

cdef enum:
    BLOCK_ROWS = 126  # the most rows of A in a block for vectors
    MIN_DEPTH = 1024  # the fewest rows of B in a K block, if B has so many

ctypedef struct Blocks:  # the sizes of blocks, and the memory for packed ones
    Py_ssize_t m, n, k  # rows of A, columns of a strip, rows of B in a K block
    Py_ssize_t quads  # the quads of k
    Py_ssize_t depth  # how many quads are multiplied before C is read or written again
    bint copies  # whether rows of A are copied although they have the form of quads already
    uint8_t *a  # packed or copied rows of A
    uint8_t *b  # a packed strip of B
    int32_t *sums  # its column sums

ctypedef struct RowsOfA:  # rows of A in the form of quads
    const uint8_t *a
    Py_ssize_t count, lda
    Py_ssize_t depth, block_stride  # quads of a row that are multiplied at a time; bytes to the next ones of row 0

cdef inline Py_ssize_t amx_strip_bytes(const Product *p) noexcept nogil:
    """Give the most bytes of a strip of B, or of a packed block of A, for the matrix unit: half of L2."""
    return p.caches.second // 2


cdef inline Py_ssize_t amx_quads(const Product *p) noexcept nogil:
    """Give how many quads of AMX_BLOCK_ROWS rows of A fill two thirds of L1."""
    return max(<Py_ssize_t>16, p.caches.first // (6 * AMX_BLOCK_ROWS))


cdef inline bint in_place(const Product *p) noexcept nogil:
    """Whether rows of A have the form of quads in memory, so that they need no packing."""
    return not p.kernel.widens and p.runs == NULL and p.k % 4 == 0


cdef inline Run run_of(const Product *p, Py_ssize_t i) noexcept nogil:
    """Give run number i of k."""
    return Run(0, p.k, p.quads) if p.runs == NULL else p.runs[i]


cdef void take_caches(Product *p) noexcept nogil:
    """Take the sizes of the caches, once for a product: `caches.use` may change them while it runs."""
    p.caches = caches
    p.exceeds_l2 = p.panels != NULL and 4 * p.quads * p.n > p.caches.second


cdef void pack_block(const Product *p, uint8_t *panels) noexcept nogil:
    """Pack all of p's B, run after run."""
    cdef Py_ssize_t i, quads = 0
    cdef Run run
    for i in range(p.n_runs):
        run = run_of(p, i)
        pack_columns(p.kernel, p.b + run.first * p.ldb, p.ldb, run.length, p.n, panels, quads, p.quads)
        quads += run.quads


cdef void pack_strip(Product *p, const Blocks *blocks, Py_ssize_t column) noexcept nogil:
    """Pack all of p's B, sum its columns if the sums are needed, and set p to the packed B.

    column: where that B begins in the strip; 0, or the first column behind the whole panels.
    """
    cdef uint8_t *panels = blocks.b + 4 * p.quads * column
    pack_block(p, panels)
    if shifted(p):
        sum_columns(p.kernel, panels, p.quads, p.n, blocks.sums + column)
    p.panels, p.sums = panels, blocks.sums + column


cdef void pack_rows(const Product *p, Py_ssize_t first, Py_ssize_t rows, uint8_t *packed) noexcept nogil:
    """Pack rows of A as quads, each row run after run."""
    cdef Py_ssize_t i, j
    cdef Run run
    for i in range(first, first + rows):
        for j in range(p.n_runs):
            run = run_of(p, j)
            pack_quads(p.kernel, p.a + i * p.lda + run.first, run.length, p.a_signed and p.set_up == NULL, packed)
            packed += 4 * run.quads


cdef void copy_rows(const Product *p, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t depth,
                    uint8_t *packed) noexcept nogil:
    """Copy rows of A, `depth` quads of all rows and then the next `depth`; the last quads are padded with zeros."""
    cdef Py_ssize_t i, q, length
    for i in range(rows):
        for q from 0 <= q < p.quads by depth:
            length = min(4 * depth, p.k - 4 * q)
            memcpy(packed + 4 * (q * rows + i * depth), p.a + (first + i) * p.lda + 4 * q, length)
            memset(packed + 4 * (q * rows + i * depth) + length, 0, 4 * depth - length)


cdef RowsOfA rows_of(const Product *p, const Blocks *blocks, Py_ssize_t first) noexcept nogil:
    """Give the block of rows of A from `first` on, packed or copied to blocks.a if that is needed."""
    cdef Py_ssize_t count = min(blocks.m, p.m - first), depth = blocks.depth
    if blocks.copies:
        copy_rows(p, first, count, depth, blocks.a)
        return RowsOfA(blocks.a, count, 4 * depth, depth, 4 * depth * count)
    if in_place(p):
        return RowsOfA(p.a + first * p.lda, count, p.lda, depth, 4 * depth)
    pack_rows(p, first, count, blocks.a)
    return RowsOfA(blocks.a, count, 4 * p.quads, depth, 4 * depth)


cdef void prepare_tiles(const Product *p, Py_ssize_t lda, gemm_tile *t) noexcept nogil:
    """Set the fields of `t` that all tiles of a block share."""
    t.lda = lda
    t.tap = ONE_TAP
    t.taps = 1
    t.vector_stride = 4 * p.kernel.lanes * p.quads
    t.ldc = p.ldc
    t.is_signed = p.a_signed and (p.set_up != NULL or p.kernel.takes_signed or in_place(p))
    t.is_unsigned = p.kernel.is_unsigned
    t.set_up = p.set_up
    t.prefetch, t.spare = p.exceeds_l2, p.spare


cdef void multiply_rows(const Product *p, const RowsOfA *rows, int32_t *c) noexcept nogil:
    """Multiply a block of rows by packed B.

    All rows are multiplied by a panel while it is in the cache. The matrix unit gets all whole panels in one call. The
    last panel is multiplied first, because it may write beyond its columns, where the next row begins.
    """
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    cdef Py_ssize_t at_once = width if p.set_up == NULL else max(width, p.n // width * width)
    cdef Py_ssize_t q, j, used
    cdef const uint8_t *a = rows.a
    cdef gemm_tile t
    prepare_tiles(p, rows.lda, &t)
    for q from 0 <= q < max(p.quads, 1) by rows.depth:
        t.quads = min(rows.depth, p.quads - q)
        t.accumulate = p.accumulate or q > 0
        for j from (0 if p.n <= at_once else (p.n - 1) // at_once * at_once) >= j >= 0 by at_once:
            used = min(at_once, p.n - j)
            t.b = p.panels + 4 * p.quads * j + q * quad_bytes(p.kernel, min(width, used))
            t.times = 0 if q else <int32_t>((SHIFTED if shifted(p) else 0) - p.a_offset)
            t.sums = p.sums + j if t.times else NULL
            t.a, t.c = a, c + j
            panel_rows(p.kernel, &t, rows.count, used)
        a += rows.block_stride


cdef void multiply_packed(const Product *p, const Blocks *blocks, Py_ssize_t first) noexcept nogil:
    """Multiply the rows from `first` on by packed B."""
    cdef Py_ssize_t i
    cdef RowsOfA rows
    for i from first <= i < p.m by blocks.m:
        rows = rows_of(p, blocks, i)
        multiply_rows(p, &rows, p.c + i * p.ldc)


cdef bint packs_in_first_tile(const Product *p) noexcept nogil:
    """Whether the kernel packs each panel of B while it multiplies the first tile of the panel."""
    return (p.kernel.pack_tile != NULL and in_place(p) and p.set_up == NULL
            and p.n >= p.kernel.lanes * p.kernel.vectors)


cdef void pack_and_multiply(Product *p, const Blocks *blocks, Py_ssize_t rows) noexcept nogil:
    """Multiply the first block of rows by row-major B; meanwhile pack B and, if A is shifted, sum its columns.

    Then p has the packed B, for the rows that follow.
    """
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    cdef Py_ssize_t first = min(rows, GEMM_ROWS - shifted(p))  # how many rows the first tile has
    cdef Py_ssize_t j, whole = p.n // width * width
    cdef Product rest
    cdef RowsOfA in_rest = RowsOfA(p.a, rows, p.lda, most_quads(&p.caches), 4 * most_quads(&p.caches))
    cdef gemm_raw raw
    cdef gemm_tile t
    prepare_tiles(p, p.lda, &t)
    t.quads, t.accumulate, t.times = p.quads, p.accumulate, SHIFTED if shifted(p) else 0
    raw.ldb = p.ldb
    for j from 0 <= j < whole by width:
        t.a, t.c = p.a, p.c + j
        raw.b, raw.panel, raw.sums = p.b + j, blocks.b + 4 * p.quads * j, blocks.sums + j
        p.kernel.pack_tile(&t, &raw, first)
        t.a, t.c = p.a + first * p.lda, p.c + first * p.ldc + j
        t.b, t.sums = raw.panel, raw.sums
        panel_rows(p.kernel, &t, rows - first, width)
    if whole < p.n:
        rest = some_columns(p, whole, p.n - whole)
        pack_strip(&rest, blocks, whole)
        multiply_rows(&rest, &in_rest, rest.c)
    p.panels, p.sums = blocks.b, blocks.sums


cdef Product some_columns(const Product *p, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Give the part of the product with n columns of B from `first` on. If B is packed, a panel begins there."""
    cdef Product part = p[0]
    part.n = n
    part.c += first
    if p.panels == NULL:
        part.b += first
    else:
        part.panels += 4 * p.quads * first
        part.sums += first
    return part


cdef Product some_terms(const Product *p, Py_ssize_t first, Py_ssize_t k) noexcept nogil:
    """Give the part of the product that sums k terms from `first` on, for a row-major B of one run."""
    cdef Product part = p[0]
    part.k = k
    part.quads = quads_of(p.kernel, k)
    part.a += first
    part.b += first * p.ldb
    part.accumulate = p.accumulate or first > 0
    return part


cdef void choose_blocks(const Product *p, Blocks *blocks) noexcept nogil:
    """Choose the sizes of blocks.

    A K block of B is as deep as A has rows, within limits. Deeper K blocks read and write C less often; shallower ones
    read B in longer stretches. A strip is so wide that it stays in the cache until it is used, and wider if several
    blocks of rows use it. For the matrix unit a strip stays in the cache for all rows, and long rows of A are copied:
    the stride of rows is often a multiple of 1024 bytes, and L1 does not hold such rows together.
    """
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    cdef Py_ssize_t unit = GEMM_ROWS if p.set_up == NULL else AMX_BLOCK_ROWS
    cdef Py_ssize_t tiles = (p.m + unit - 1) // unit, most, row_blocks, parts
    cdef Py_ssize_t near = block_bytes(&p.caches)
    blocks.m, blocks.n, blocks.k, blocks.quads = p.m, p.n, p.k, p.quads
    blocks.depth, blocks.copies = most_quads(&p.caches), False
    if max(p.m, p.n) <= BLOCK_ROWS and p.quads <= MIN_DEPTH // 4:  # the whole product is one block
        return
    if p.panels != NULL and p.m <= GEMM_ROWS and p.set_up == NULL:  # one tile reads each panel once
        return
    if p.panels == NULL and p.runs == NULL:
        blocks.k = min(p.k, 4 * most_quads(&p.caches), max(MIN_DEPTH, p.m // 16 * 16))
        blocks.quads = quads_of(p.kernel, blocks.k)
    blocks.copies = p.set_up != NULL and p.runs == NULL and p.m > AMX_BLOCK_ROWS and 2 * blocks.quads > amx_quads(p)
    if blocks.copies:
        blocks.m = (p.m + tiles - 1) // tiles
        parts = (blocks.quads + amx_quads(p) - 1) // amx_quads(p)
        blocks.depth = (blocks.quads + 16 * parts - 1) // (16 * parts) * 16
    if blocks.copies or p.set_up != NULL and in_place(p):
        blocks.n = min(p.n, width * max(1, amx_strip_bytes(p) // (4 * width * max(blocks.quads, 1))))
        return
    most = (near if p.set_up == NULL else amx_strip_bytes(p)) // (4 * max(blocks.quads, 1)) // unit
    if p.set_up == NULL:
        most = min(most, BLOCK_ROWS // GEMM_ROWS)
    most = max(most, 1)
    row_blocks = (tiles + most - 1) // most
    blocks.m = unit * ((tiles + row_blocks - 1) // row_blocks)
    if p.panels == NULL:
        blocks.n = min(p.n, width * max(1, near * min(row_blocks, 16) // (4 * width * max(blocks.quads, 1))))


cdef void multiply_unpacked(const Product *p, const Blocks *blocks) noexcept nogil:
    """Multiply by a strip of row-major B, which is packed one K block at a time."""
    cdef Product part
    cdef Py_ssize_t first, done
    for first from 0 <= first < max(p.k, 1) by max(blocks.k, 1):
        part = p[0] if blocks.k == p.k else some_terms(p, first, min(blocks.k, p.k - first))
        if packs_in_first_tile(&part):
            done = min(blocks.m, part.m)
            pack_and_multiply(&part, blocks, done)
        else:
            done = 0
            pack_strip(&part, blocks, 0)
        multiply_packed(&part, blocks, done)


cdef int blocked_product(const Product *p) noexcept nogil:
    """Compute the product strip by strip; the result is -1 if there is not enough memory."""
    cdef Blocks blocks
    cdef Product part
    cdef const Product *strip = p
    cdef Py_ssize_t j, padded
    cdef int64_t of_a = 0, of_b = 0, bytes  # in 64 bits, because Py_ssize_t may have 32
    cdef uint8_t near[NEAR_BYTES]
    cdef void *memory = near
    choose_blocks(p, &blocks)
    padded = padded_columns(p.kernel, blocks.n)
    if blocks.copies:
        of_a = <int64_t>4 * blocks.m * ((blocks.quads + blocks.depth - 1) // blocks.depth * blocks.depth)
    elif not in_place(p):
        of_a = <int64_t>4 * blocks.m * blocks.quads
    if p.panels == NULL:
        of_b = <int64_t>4 * padded * blocks.quads
    bytes = 64 + of_b + of_a + <int64_t>4 * padded
    if bytes > NEAR_BYTES:
        memory = PyMem_RawMalloc(<size_t>bytes) if bytes <= PY_SSIZE_T_MAX else NULL
    if memory == NULL:
        return -1
    blocks.b = <uint8_t *>aligned(memory)
    blocks.a = blocks.b + of_b
    blocks.sums = <int32_t *>(blocks.a + of_a)
    for j from 0 <= j < p.n by blocks.n:
        if blocks.n < p.n:
            part = some_columns(p, j, min(blocks.n, p.n - j))
            part.spare = False
            strip = &part
        if p.panels == NULL:
            multiply_unpacked(strip, &blocks)
        else:
            multiply_packed(strip, &blocks, 0)
    if memory != <void *>near:
        PyMem_RawFree(memory)
    return 0
