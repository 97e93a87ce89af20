"""How a product is cut into blocks: one block if it is small, else K blocks, blocks of rows, and strips of columns."""
from qops._kernels.gemm.blocks cimport Product, in_place
from qops._kernels.gemm.tile cimport AMX_BLOCK_ROWS, GEMM_ROWS, block_bytes, most_quads, panel_bytes, quads_of

cdef enum:
    BLOCK_ROWS = 126  # the most rows of A in a block for vectors
    MIN_DEPTH = 1024  # the fewest rows of B in a K block, if B has so many


cdef inline Py_ssize_t amx_strip_bytes(const Product *p) noexcept nogil:
    """Give the most bytes of a strip of B, or of a packed block of A, for the matrix unit: half of L2."""
    return p.caches.second // 2


cdef inline Py_ssize_t amx_quads(const Product *p) noexcept nogil:
    """Give how many quads of AMX_BLOCK_ROWS rows of A fill two thirds of L1."""
    return max(<Py_ssize_t>16, p.caches.first // (6 * AMX_BLOCK_ROWS))


cdef inline bint is_one_block(const Product *p) noexcept nogil:
    """Whether nothing is cut: the product is small, or one tile of vectors reads each packed panel once."""
    return (max(p.m, p.n) <= BLOCK_ROWS and p.quads <= MIN_DEPTH // 4
            or p.panels != NULL and p.m <= GEMM_ROWS and p.set_up == NULL)


cdef inline bint copies_rows(const Product *p, Py_ssize_t quads) noexcept nogil:
    """Whether rows of A, of so many quads, are copied for the matrix unit.

    The stride of long rows is often a multiple of 1024 bytes, and L1 does not hold such rows together: with copies,
    products of 1024 and 2048 take 0.77 of the time.
    """
    return p.set_up != NULL and p.runs == NULL and p.m > AMX_BLOCK_ROWS and 2 * quads > amx_quads(p)


cdef inline Py_ssize_t columns_within(const Product *p, Py_ssize_t quads, Py_ssize_t bytes) noexcept nogil:
    """Give the columns of as many panels of so many quads as these bytes hold, but of at least one."""
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    return min(p.n, width * max(1, bytes // panel_bytes(p.kernel, width, max(quads, 1))))


cdef void cut_k(const Product *p, Blocks *blocks) noexcept nogil:
    """Cut k into K blocks as deep as A has rows, within limits.

    Deeper ones read and write C less often; shallower ones read B in longer stretches.
    """
    blocks.k = min(p.k, 4 * most_quads(&p.caches), max(MIN_DEPTH, p.m // 16 * 16))
    blocks.quads = quads_of(p.kernel, blocks.k)


cdef void cut_copies(const Product *p, Blocks *blocks) noexcept nogil:
    """Cut A into blocks of equal height, and their copies into parts of k, of whole tiles, whose rows L1 holds."""
    cdef Py_ssize_t tiles = (p.m + AMX_BLOCK_ROWS - 1) // AMX_BLOCK_ROWS
    cdef Py_ssize_t parts = (blocks.quads + amx_quads(p) - 1) // amx_quads(p)
    blocks.copies = True
    blocks.m = (p.m + tiles - 1) // tiles
    blocks.depth = (blocks.quads + 16 * parts - 1) // (16 * parts) * 16


cdef void cut_rows(const Product *p, Blocks *blocks, Py_ssize_t unit, Py_ssize_t most) noexcept nogil:
    """Cut A into blocks of about equal height, of at most `most` times `unit` rows, and a B to pack into strips.

    A strip is so wide that it stays in the cache until it is used, and wider if several blocks of rows use it.
    """
    cdef Py_ssize_t units = (p.m + unit - 1) // unit, count
    most = max(most, 1)
    count = (units + most - 1) // most
    blocks.m = unit * ((units + count - 1) // count)
    if p.panels == NULL:
        blocks.n = columns_within(p, blocks.quads, block_bytes(&p.caches) * min(count, 16))


cdef void choose_blocks(const Product *p, Blocks *blocks) noexcept nogil:
    """Choose the sizes of blocks. For the matrix unit a strip stays in the cache for all rows."""
    cdef Py_ssize_t row
    blocks.m, blocks.n, blocks.k, blocks.quads = p.m, p.n, p.k, p.quads
    blocks.depth, blocks.copies = most_quads(&p.caches), False
    if is_one_block(p):
        return
    if p.panels == NULL and p.runs == NULL:
        cut_k(p, blocks)
    row = 4 * max(blocks.quads, 1)
    if copies_rows(p, blocks.quads):
        cut_copies(p, blocks)
    if p.set_up == NULL:
        cut_rows(p, blocks, GEMM_ROWS, min(block_bytes(&p.caches) // row // GEMM_ROWS, BLOCK_ROWS // GEMM_ROWS))
    elif blocks.copies or in_place(p):
        blocks.n = columns_within(p, blocks.quads, amx_strip_bytes(p))
    else:
        cut_rows(p, blocks, AMX_BLOCK_ROWS, amx_strip_bytes(p) // row // AMX_BLOCK_ROWS)
