"""An integer product on this thread or on several, without the GIL unless it is brief."""
cimport cython

from qops._kernels.gemm.blocks cimport Product, some_columns
from qops._kernels.gemm.stream cimport product
from qops._kernels.gemm.tile cimport GEMM_ROWS

from qops._kernels.machine.threads import run_parts

cdef enum:
    BRIEF = 1 << 18  # up to so many multiplications, about a microsecond with vectors, the GIL is kept


cdef class Part:
    """The part of an op that one thread does."""

    cdef int work(self) noexcept nogil:
        """Do it without the GIL; the result is not 0 if memory is lacking."""
        return 0

    def __call__(self):
        cdef int failed
        with nogil:
            failed = self.work()
        if failed:
            raise MemoryError


@cython.final
cdef class _Product(Part):
    cdef Product product

    cdef int work(self) noexcept nogil:
        return product(&self.product)


cdef list parts_of(const Product *p, Py_ssize_t num_threads, arrays):
    """Split rows, or columns if there are more of them. Columns are split between panels, so none is packed twice."""
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    cdef bint by_rows = p.m >= p.n
    cdef Py_ssize_t unit = GEMM_ROWS if by_rows else width
    cdef Py_ssize_t size = p.m if by_rows else p.n
    cdef Py_ssize_t units = (size + unit - 1) // unit
    cdef Py_ssize_t i, first, end
    cdef _Product part
    parts = []
    num_threads = max(1, min(num_threads, units))
    for i in range(num_threads):
        first = min(size, units * i // num_threads * unit)
        end = min(size, units * (i + 1) // num_threads * unit)
        part = _Product()
        part.arrays = arrays
        if by_rows:
            part.product = p[0]
            part.product.a += first * p.lda
            part.product.c += first * p.ldc
            part.product.m = end - first
        else:
            part.product = some_columns(p, first, end - first)
        parts.append(part)
    return parts


cdef int run_product(const Product *p, Py_ssize_t num_threads, arrays) except -1:
    cdef int failed
    if num_threads > 1:
        run_parts(parts_of(p, num_threads, arrays))
        return 0
    if p.m * p.n * p.k <= BRIEF:
        failed = product(p)
    else:
        with nogil:
            failed = product(p)
    if failed:
        raise MemoryError
    return 0
