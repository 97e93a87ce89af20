"""The calls of `matmul`: what each checks and makes of its first operand, around one product."""

cimport cython
cimport numpy as cnp

from qops._kernels.arrays.checks cimport MAX_DIMS, Ends, apart, operand_of, writable
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.frontdoor.epilogue cimport Epilogue, OperandRange, zero_in
from qops._kernels.frontdoor.layer cimport Layer
from qops._kernels.frontdoor.layer_tables cimport LayerStage
from qops._kernels.gemm.matmul cimport MatMul as Product
from qops._kernels.gemm.packed cimport PackedB

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import sums_of_rows

cnp.import_array()


@cython.final
cdef class MatMul(Layer):
    """A packed matrix (K, N) and the epilogue of its products."""
    cdef PackedB b
    cdef Product product
    cdef tuple terms

    def __init__(self, PackedB b, Epilogue epilogue):
        self.b, self.product, self.epilogue, self.multiply = b, Product(b), epilogue, multiply
        self.terms = (<object>b.colsum).reshape(1, -1), np.array([b.k], np.int64), np.zeros(1, np.int64)

    def shape_of(self, tuple shape):
        """Give the shape of the result for a first operand of this shape."""
        if not shape or shape[-1] != self.b.k:
            raise bad_value("a", f"expected shape (..., {self.b.k}) for a b of shape {self.b.shape}, got {shape}")
        return (*shape[:-1], self.b.n)

    def __call__(self, type cls, a, out, num_threads):
        """Multiply `a`; the result is a tensor of the class `cls`."""
        cdef Ends ends
        cdef cnp.ndarray codes = operand_of(a, "a", cnp.NPY_UINT8, cnp.NPY_INT8, &ends), rows = None
        cdef Epilogue e = self.epilogue
        cdef Py_ssize_t threads = int32(num_threads, "num_threads", 1), m = 1
        cdef cnp.npy_intp[MAX_DIMS] shape
        cdef int i, ndim = cnp.PyArray_NDIM(codes), zero
        cdef OperandRange x
        if ndim == 0 or cnp.PyArray_DIM(codes, ndim - 1) != self.b.k:
            self.shape_of((<object>codes).shape)
        for i in range(ndim - 1):
            shape[i] = cnp.PyArray_DIM(codes, i)
            m *= shape[i]
        shape[ndim - 1] = self.b.n
        x = e.left(ends.min, ends.max)
        tops = e.tops(x) if e.typenum == cnp.NPY_INT32 else None
        if out is not None:
            writable(out, e.typenum, ndim, shape)
            apart(out, codes, None)
        zero = zero_in(codes, &x)
        if ndim != 2:
            codes = (<object>codes).reshape(m, self.b.k)
        if not e.is_centred:
            rows = sums_of_rows(codes, zero)
        return self.made(cls, codes, zero, x, rows, None if x.base == 0 else self.terms, out, ndim, shape, tops,
                         threads)


cdef int multiply(Layer layer, operand, int zero, LayerStage stage, cnp.ndarray place,
                  Py_ssize_t num_threads) except -1:
    """Multiply a matrix; see `Multiply`."""
    cdef MatMul op = <MatMul>layer
    cdef cnp.ndarray a = operand
    cdef cnp.npy_intp[2] shape = [cnp.PyArray_DIM(a, 0), op.b.n]
    if cnp.PyArray_NDIM(place) != 2:
        place = (<object>place).reshape(shape[0], shape[1])
    op.product.make_codes(a, zero, place, stage, num_threads)
    return 0
