"""An integer product in cache blocks, which packs A and B. Nothing here knows numpy arrays: see gemm.pyx.

B is cut along k into K blocks, and along n into strips of some panels. A strip is packed before it is multiplied,
unless B came packed. A kernel with `pack_tile` packs a panel while it multiplies the first tile. A is packed one block
of rows at a time, unless its rows have the form of quads already. Each tile of C is computed once for each K block. The
sizes of blocks depend on the caches of the CPU (block_sizes.pyx); results do not.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from qops._kernels.gemm.block_sizes cimport Blocks, choose_blocks
from qops._kernels.gemm.tile cimport (
    GEMM_ROWS, ONE_TAP, SHIFTED, Run, aligned, gemm_raw, gemm_tile, most_quads, pack_columns, pack_quads,
    padded_columns, panel_bytes, panel_rows, quad_bytes, quads_of, sum_columns,
)
from qops._kernels.machine.caches cimport caches

ctypedef struct RowsOfA:  # rows of A in the form of quads
    const uint8_t *a
    Py_ssize_t count, lda
    Py_ssize_t depth, block_stride  # quads of a row that are multiplied at a time; bytes to the next ones of row 0


cdef inline Run run_of(const Product *p, Py_ssize_t i) noexcept nogil:
    """Give run number i of k."""
    return Run(0, p.k, p.quads) if p.runs == NULL else p.runs[i]


cdef void take_caches(Product *p) noexcept nogil:
    """Take the sizes of the caches, once for a product: `caches.use` may change them while it runs."""
    p.caches = caches
    p.exceeds_l2 = p.panels != NULL and panel_bytes(p.kernel, p.n, p.quads) > p.caches.second


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
    cdef uint8_t *panels = blocks.b + panel_bytes(p.kernel, column, p.quads)
    pack_block(p, panels)
    if shifted(p):
        sum_columns(p.kernel, panels, p.quads, p.n, blocks.sums + column)
    p.panels, p.sums = panels, blocks.sums + column


cdef void pack_rows(const Product *p, Py_ssize_t first, Py_ssize_t rows, uint8_t *packed) noexcept nogil:
    """Pack rows of A as quads, each row run after run; rows that touch and end with whole quads are one long row."""
    cdef Py_ssize_t i, j
    cdef Run run
    if p.n_runs == 1 and p.lda == p.k == (2 if p.kernel.widens else 4) * p.quads:
        pack_quads(p.kernel, p.a + first * p.lda, rows * p.k, p.a_signed and p.set_up == NULL, packed)
        return
    for i in range(first, first + rows):
        for j in range(p.n_runs):
            run = run_of(p, j)
            pack_quads(p.kernel, p.a + i * p.lda + run.first, run.length, p.a_signed and p.set_up == NULL, packed)
            packed += 4 * run.quads


cdef void copy_by_depth(const Product *p, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t depth,
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
        copy_by_depth(p, first, count, depth, blocks.a)
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
            t.b = p.panels + panel_bytes(p.kernel, j, p.quads)
            if q:
                t.b += q * quad_bytes(p.kernel, min(width, used))
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
        raw.b, raw.panel, raw.sums = p.b + j, blocks.b + panel_bytes(p.kernel, j, p.quads), blocks.sums + j
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
        part.panels += panel_bytes(p.kernel, first, p.quads)
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
    cdef uint8_t stack[STACK_BYTES]
    cdef void *memory = stack
    choose_blocks(p, &blocks)
    padded = padded_columns(p.kernel, blocks.n)
    if blocks.copies:
        of_a = <int64_t>4 * blocks.m * ((blocks.quads + blocks.depth - 1) // blocks.depth * blocks.depth)
    elif not in_place(p):
        of_a = <int64_t>4 * blocks.m * blocks.quads
    if p.panels == NULL:
        of_b = <int64_t>4 * padded * blocks.quads
    bytes = 64 + of_b + of_a + <int64_t>4 * padded
    if bytes > STACK_BYTES:
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
    if memory != <void *>stack:
        PyMem_RawFree(memory)
    return 0
