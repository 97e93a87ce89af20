"""GEMM's arguments, checked once, and the product itself where nothing else is asked for.

It is compiled because a product of 64 x 64 x 64 takes little more than a microsecond. In Python the checks take five.
"""
cimport numpy as cnp

from qops._kernels.arrays.checks cimport array
from qops._kernels.arrays.codes cimport CodeType, code_type_of
from qops._kernels.arrays.numbers cimport choice, int32, real
from qops._kernels.gemm.gemm cimport multiply, result
from qops._kernels.gemm.packed cimport PackedB
from qops._kernels.machine.tiers cimport tier

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.checks import put
from qops._kernels.gemm.packed import pack_b

cnp.import_array()


cdef cnp.ndarray matrix(x, str name, int typenum):
    """Give x as a matrix of this dtype."""
    cdef cnp.ndarray a = array(x, name, typenum)
    if cnp.PyArray_NDIM(a) != 2:
        raise bad_value(name, f"expected 2 dimensions, got shape {(<object>a).shape}")
    return a


cdef class Gemm:
    """C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co: everything but A and C.

    A subclass has the method ``updated(a, old, num_threads)``, which makes C where that is more than a product.
    """
    cdef readonly cnp.ndarray codes  # op(B)
    cdef readonly object machine
    cdef readonly PackedB whole, in_blocks  # B packed with pairs along all of k, and inside k blocks; or None
    cdef readonly int ao, bo
    cdef readonly double alpha, beta
    cdef readonly cnp.ndarray co  # in a shape that broadcasts against C; None if it is a single 0
    cdef str offsetc
    cdef int a_type
    cdef bint transa, transb, has_gemv, is_product
    cdef tuple pairs, pairs_in_blocks  # where pairs begin anew; None if nothing saturates

    def __init__(self, bint a_signed, b, machine, transb, transa, alpha, ao, bo, beta, offsetc, co):
        cdef const CodeType *of_a = code_type_of(a_signed, 1)
        cdef const CodeType *of_b = code_type_of(True, 1)
        # Numbers are checked before arrays: their conversion may run code of the caller, which may change an array.
        self.a_type, self.machine = cnp.NPY_INT8 if a_signed else cnp.NPY_UINT8, machine
        self.ao, self.bo = int32(ao, "ao", of_a.lowest, of_a.highest), int32(bo, "bo", of_b.lowest, of_b.highest)
        self.alpha, self.beta = real(alpha, "alpha"), real(beta, "beta")
        self.transa = choice(transa, "transa", ("N", "T")) == "T"
        self.transb = choice(transb, "transb", ("N", "T")) == "T"
        self.codes = matrix(b, "b", cnp.NPY_INT8)
        if self.transb:
            self.codes = (<object>self.codes).T
        self.set_addend(co, choice(offsetc, "offsetc", ("F", "R", "C")))
        self.is_product = (self.alpha == 1 and (self.beta == 0 or self.beta == 1) and self.ao == 0 and self.bo == 0
                           and self.co is None)
        if machine.saturates:
            self.has_gemv = machine.gemv
            self.pairs, self.pairs_in_blocks = (), machine.pair_starts(cnp.PyArray_DIM(self.codes, 0))

    cdef int set_addend(self, co, str offsetc) except -1:
        self.offsetc = offsetc
        if type(co) is int and co == 0 and offsetc == "F":
            return 0
        if isinstance(co, int):
            int32(co, "co")
        values = np.asarray(co if isinstance(co, int) else array(co, "co", cnp.NPY_INT32), np.int32)
        if offsetc != "C":
            self.fit(values, cnp.PyArray_DIM(self.codes, 1) if offsetc == "R" else 1)
        if offsetc != "F" or values.any():
            self.co = values.reshape((-1, 1) if offsetc == "C" else (1, -1))
        return 0

    cdef int fit(self, cnp.ndarray co, Py_ssize_t size) except -1:
        if cnp.PyArray_SIZE(co) != size:
            raise bad_value("co", f"expected {size} values, as offsetc is {self.offsetc!r}, got {co.size}")
        return 0

    cdef old_c(self, c, Py_ssize_t rows, Py_ssize_t columns):
        """Give the C that beta multiplies; None if beta is 0."""
        if self.beta == 0:
            return None
        if c is None:
            raise bad_value("c", f"expected the matrix that beta = {self.beta} multiplies, got None")
        old = np.asarray(array(c, "c", cnp.NPY_INT32), np.int32)
        if old.shape != (rows, columns):
            raise bad_value("c", f"expected shape {(rows, columns)}, got {old.shape}")
        return old

    def pack(self):
        """Pack B once for many A. An empty matrix stays as it is."""
        if cnp.PyArray_SIZE(self.codes):
            self.whole = self.in_blocks = pack_b(self.codes, pairs=self.pairs)
            if self.pairs_in_blocks:
                self.in_blocks = pack_b(self.codes, pairs=self.pairs_in_blocks)

    def shape_of(self, shape):
        """The shape of C for an A of this shape."""
        return shape[1 if self.transa else 0], cnp.PyArray_DIM(self.codes, 1)

    def __call__(self, a, out=None, num_threads=1, c=None):
        cdef int threads = int32(num_threads, "num_threads", 1)
        cdef cnp.ndarray left = matrix(a, "a", self.a_type), made = None
        if self.transa:
            left = (<object>left).T
        if cnp.PyArray_DIM(left, 1) != cnp.PyArray_DIM(self.codes, 0):
            shapes = f"{(<object>left).shape} and {(<object>self.codes).shape}"
            raise bad_value("a, b", f"expected op(a) and op(b) to agree in k, got shapes {shapes}")
        cdef Py_ssize_t rows = cnp.PyArray_DIM(left, 0), columns = cnp.PyArray_DIM(self.codes, 1)
        old = self.old_c(c, rows, columns)
        if self.co is not None and self.offsetc == "C":
            self.fit(self.co, rows)
        if out is not None or self.is_product:
            made = result(out, rows, columns, left, self.codes)
        if not self.is_product:
            return put(self.updated(left, old, threads), made)
        if old is not None and made is not old:
            np.copyto(made, old)
        self.take_product(made, left, old is not None, threads)
        return made

    cdef int take_product(self, cnp.ndarray c, cnp.ndarray a, bint accumulate, int threads) except -1:
        """C = A x B, or C += A x B.

        oneDNN takes a single row or column for a vector only if the other matrix is stored in the way that suits.
        """
        cdef bint is_row = self.has_gemv and cnp.PyArray_DIM(a, 0) == 1 and self.transb
        cdef bint is_column = (self.has_gemv and not is_row and cnp.PyArray_DIM(self.codes, 1) == 1
                               and not self.transa)
        cdef cnp.ndarray row
        cdef int on = tier()
        if is_column and self.a_type == cnp.NPY_INT8:  # of these, oneDNN shifts the vector to u8
            row = result(None, 1, cnp.PyArray_DIM(a, 0), a, self.codes)
            multiply(row, (<object>self.codes).T, (<object>a).T, (), False, 1, on)
            np.add(c, (<object>row).T, out=c) if accumulate else np.copyto(c, (<object>row).T)
        elif is_row or is_column:  # vectors have no k blocks
            multiply(c, a, self.codes if self.whole is None else self.whole, self.pairs, accumulate, threads, on)
        else:
            multiply(c, a, self.codes if self.in_blocks is None else self.in_blocks, self.pairs_in_blocks, accumulate,
                     threads, on)
        return 0
