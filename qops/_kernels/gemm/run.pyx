"""An integer product on one thread or on several. It runs without the GIL unless it is brief."""
from libc.stdint cimport int64_t

from qops._kernels.gemm.blocks cimport Product, some_columns, take_caches
from qops._kernels.gemm.stream cimport product
from qops._kernels.gemm.tile cimport GEMM_ROWS
from qops._kernels.machine.threads cimport run_parts

ctypedef struct Divided:  # a product in parts
    Product whole
    bint by_rows  # whether parts are rows; else they are columns, cut between panels so that none is packed twice
    Py_ssize_t unit, units, parts  # rows or columns that stay together; how many such units there are; parts


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
