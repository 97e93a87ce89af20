"""An integer product on one thread or on several, and the choice between its three ways. It knows no numpy arrays.

A product of few rows streams: it reads B once and does not pack it (gemm/stream.h). All others are computed in blocks
(blocks.pyx), with vectors or on the matrix unit. A product runs without the GIL unless it is brief.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from qops._kernels.gemm.blocks cimport (
    STACK_BYTES, Product, blocked_product, shifted, some_columns, some_terms, take_caches,
)
from qops._kernels.gemm.tile cimport (
    GEMM_ROWS, GEMM_STREAM_ROWS, SHIFT, aligned, amx_is_faster, pack_quads, release,
)
from qops._kernels.machine.threads cimport run_parts

ctypedef struct Divided:  # a product in parts
    Product whole
    bint by_rows  # whether parts are rows; else they are columns, cut between panels so that none is packed twice
    Py_ssize_t unit, units, parts  # rows or columns that stay together; how many such units there are; parts


cdef bint streams(const Product *p) noexcept nogil:
    """Whether to stream B: the kernel can, B is not packed, and A has few rows."""
    return (p.kernel.stream != NULL and p.panels == NULL and p.runs == NULL and p.n >= 64 and p.k >= 32
            and p.m + shifted(p) <= GEMM_STREAM_ROWS)


cdef void put_columns(const int32_t *acc, const int32_t *sums, const Product *p, Py_ssize_t row,
                      Py_ssize_t groups) noexcept nogil:
    """Write acc to a row of C, less 128 times the column sums if A is shifted.

    The columns of acc are in the order that stream.h explains; in C they are in order.
    """
    cdef uint32_t *c = <uint32_t *>p.c + row * p.ldc
    cdef uint32_t x
    cdef Py_ssize_t g, vector, lane, i, j
    for g in range(0, 64 * groups, 64):
        for vector in range(4):
            for lane in range(4):
                for i in range(4):
                    j = g + 16 * vector + 4 * lane + i
                    x = <uint32_t>acc[j]
                    if sums != NULL:
                        x -= SHIFT * <uint32_t>sums[j]
                    j = g + 16 * lane + 4 * vector + i
                    c[j] = c[j] + x if p.accumulate else x


cdef void stream_whole(const Product *p, Py_ssize_t quads, uint8_t *a, int32_t *acc) noexcept nogil:
    """Multiply by the whole blocks of B. If A is shifted, one more row, of ones, gives the column sums."""
    cdef Py_ssize_t i, groups = p.n // 64, rows = p.m + shifted(p)
    cdef const int32_t *sums = acc + 64 * groups * p.m if shifted(p) else NULL
    memset(acc, 0, 4 * 64 * groups * rows)
    for i in range(p.m):
        pack_quads(p.kernel, p.a + i * p.lda, p.k, p.a_signed, a + p.k * i)
    if shifted(p):
        memset(a + p.k * p.m, 1, p.k)
    p.kernel.stream(a, p.k, rows, p.b, p.ldb, p.k // (4 * quads), quads, groups, acc)
    for i in range(p.m):
        put_columns(acc + 64 * groups * i, sums, p, i, groups)


cdef int streamed_product(const Product *p) noexcept nogil:
    """Stream the whole blocks of B, and compute the tails of k and n in blocks; -1 if there is not enough memory."""
    cdef Py_ssize_t rows = p.m + shifted(p)
    cdef Py_ssize_t quads = 2 if p.ldb >= 2048 else 4 if rows <= 2 else 8  # measured
    cdef Py_ssize_t k = p.k // (4 * quads) * (4 * quads), n = p.n // 64 * 64
    cdef Product whole = some_terms(p, 0, k), rest
    cdef Py_ssize_t bytes = rows * (k + 4 * n) + 64
    cdef int failed = 0
    cdef uint8_t stack[STACK_BYTES]
    cdef void *memory = stack if bytes <= STACK_BYTES else PyMem_RawMalloc(bytes)
    cdef int32_t *acc = <int32_t *>aligned(memory)
    if memory == NULL:
        return -1
    whole.n = n
    stream_whole(&whole, quads, <uint8_t *>(acc + n * rows), acc)
    if memory != <void *>stack:
        PyMem_RawFree(memory)
    if k < p.k:
        rest = some_terms(p, k, p.k - k)
        rest.n = n
        failed = blocked_product(&rest)
    if n < p.n:
        rest = some_columns(p, n, p.n - n)
        failed |= blocked_product(&rest)
    return failed


cdef int product_by_amx(const Product *p) noexcept nogil:
    """Compute the product in blocks with AMX, then release its tiles."""
    cdef Product with_amx = p[0]
    cdef int set_up = 0, failed
    with_amx.set_up = &set_up
    failed = blocked_product(&with_amx)
    release(set_up)
    return failed


cdef int product(const Product *p) noexcept nogil:
    """Compute a product on this thread; -1 if there is not enough memory."""
    if p.m == 0 or p.n == 0:
        return 0
    if amx_is_faster(p.kernel, p.m, 1, p.quads, p.panels != NULL):
        return product_by_amx(p)
    return streamed_product(p) if streams(p) else blocked_product(p)


cdef Divided divided(const Product *p, Py_ssize_t parts) noexcept nogil:
    """Split a product into at most so many parts, by rows, or by columns if there are more of them."""
    cdef Divided d
    d.whole = p[0]
    d.by_rows = p.m >= p.n
    d.unit = GEMM_ROWS if d.by_rows else p.kernel.lanes * p.kernel.vectors
    d.units = ((p.m if d.by_rows else p.n) + d.unit - 1) // d.unit
    d.parts = max(<Py_ssize_t>1, min(parts, d.units))
    return d


cdef int multiply_part(const void *op, Py_ssize_t i) noexcept nogil:
    """Compute part i of a divided product, for `run_parts`."""
    cdef const Divided *d = <const Divided *>op
    cdef const Product *p = &d.whole
    cdef int64_t units = d.units  # in 64 bits, because Py_ssize_t may have 32
    cdef Py_ssize_t first = <Py_ssize_t>(units * i // d.parts) * d.unit
    cdef Py_ssize_t end = min(<Py_ssize_t>(units * (i + 1) // d.parts) * d.unit, p.m if d.by_rows else p.n)
    cdef Product part
    if d.by_rows:
        part = p[0]
        part.a += first * p.lda
        part.c += first * p.ldc
        part.m = end - first
    else:
        part = some_columns(p, first, end - first)
    return product(&part)


cdef int run_product(const Product *p, Py_ssize_t num_threads) except -1:
    """Compute a product on up to `num_threads` threads; MemoryError if there is not enough memory."""
    cdef Product whole = p[0]
    cdef Divided d
    take_caches(&whole)
    if num_threads == 1 and <int64_t>p.m * p.n * p.k <= BRIEF:
        if product(&whole):
            raise MemoryError
        return 0
    d = divided(&whole, num_threads)
    return run_parts(multiply_part, &d, d.parts)
