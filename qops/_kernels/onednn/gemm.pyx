"""gemm_u8s8s32 and gemm_s8s8s32: all checks, and the product itself where nothing else is asked for.

Compiled because a product of 64 x 64 x 64 takes little more than a microsecond, and in Python the checks took twenty.
"""
cimport numpy as cnp
from libc.stdint cimport INT32_MAX

from qops._kernels.core.checks cimport array, integer, real
from qops._kernels.product.gemm cimport multiply, result
from qops._kernels.product.packed cimport PackedB

import numpy as np

cnp.import_array()


cdef class Packed:
    """B packed for the products of one machine; what it is in public says `qops.onednn.PackedWeights`."""
    cdef readonly cnp.ndarray codes
    cdef readonly object machine
    cdef readonly PackedB whole, in_blocks

    def __init__(self, cnp.ndarray codes, machine, PackedB whole, PackedB in_blocks):
        self.codes, self.machine, self.whole, self.in_blocks = codes, machine, whole, in_blocks

    @property
    def shape(self):
        """(K, N)."""
        return self.whole.shape

    def panels(self, k_starts):
        """What is paired anew at each of `k_starts`: at 0 alone, or where the k blocks of GEMM start."""
        return panels_of(self, k_starts)


cdef inline PackedB panels_of(Packed b, k_starts):
    return b.in_blocks if len(k_starts) > 1 else b.whole


cdef class Update:
    """What else a GEMM does: C = alpha * (A - ao) * (B - bo) + beta * old + co."""
    cdef readonly int ao, bo
    cdef readonly double alpha, beta
    cdef readonly object old, co  # int32 that broadcasts against C, or None

    def __init__(self, int ao=0, int bo=0, double alpha=1.0, double beta=0.0, old=None, co=None):
        self.ao, self.bo, self.alpha, self.beta, self.old, self.co = ao, bo, alpha, beta, old, co


cdef inline int whole(value, str name, int low, int high) except? -1:
    """`integer`, at once for an int."""
    cdef long long number
    if type(value) is int and -32768 <= value <= 32767:
        number = value
        if low <= number <= high:
            return <int>number
    return integer(value, name, low, high)


cdef inline bint is_turned(value, str name) except -1:
    """Whether a matrix is given as its transpose, "T"."""
    if not isinstance(value, str) or value not in ("N", "T"):
        raise ValueError(f"{name}: expected one of 'N', 'T', got {value!r:.80}")
    return value == "T"


cdef cnp.ndarray matrix(x, str name, int typenum):
    cdef cnp.ndarray a = array(x, name, typenum)
    if cnp.PyArray_NDIM(a) != 2:
        raise ValueError(f"{name}: expected 2 dimensions, got shape {(<object>a).shape}")
    return a


def packed_for(b, str name, machine):
    """`b`, if it is packed for this machine."""
    if b.machine is not machine and b.machine != machine:
        packed, wanted = (f"isa {m.isa!r} of version {m.version!r}" for m in (b.machine, machine))
        raise ValueError(f"{name}: packed for {packed}, expected {wanted}")
    return b


cdef weights(b, bint turned, machine):
    """B as (K, N): codes, or Packed for this machine."""
    if not isinstance(b, Packed):
        codes = matrix(b, "b", cnp.NPY_INT8)
        return codes.T if turned else codes
    if turned:
        raise ValueError("transb: expected 'N', as b is packed, got 'T'")
    return packed_for(b, "b", machine)


cdef cnp.ndarray native(x, str name):
    """An array of int32, in the byte order of this machine."""
    return np.asarray(array(x, name, cnp.NPY_INT32), np.int32)


cdef added(co, offsetc, Py_ssize_t rows, Py_ssize_t columns):
    """co, as it broadcasts against C; None if it is 0."""
    if not isinstance(offsetc, str) or offsetc not in ("F", "R", "C"):
        raise ValueError(f"offsetc: expected one of 'F', 'R', 'C', got {offsetc!r:.80}")
    if isinstance(co, int):
        integer(co, "co", -INT32_MAX - 1, INT32_MAX)
    values = np.asarray(co, np.int32) if isinstance(co, int) else native(co, "co")
    size = 1 if offsetc == "F" else columns if offsetc == "R" else rows
    if values.size != size:
        raise ValueError(f"co: expected {size} values, as offsetc is {offsetc!r}, got {values.size}")
    if offsetc == "F" and not values.any():
        return None
    return values.reshape((-1, 1) if offsetc == "C" else (1, -1))


cdef cnp.ndarray shifted_vector(cnp.ndarray a, codes):
    """The product of an s8 matrix by a vector: where pairs saturate it is the vector that is shifted to u8."""
    return multiply(codes.T, a.T, None, False, True, (), 1).T


cdef cnp.ndarray product(cnp.ndarray a, b, machine, str vector, int num_threads, cnp.ndarray old, out):
    """A x B, plus `old` if there is one; `vector` names the matrix that oneDNN's kernel for vectors would take."""
    cdef bint saturates = machine.saturates
    cdef bint is_vector = saturates and vector and machine.gemv
    starts = machine.k_starts(cnp.PyArray_DIM(a, 1)) if saturates and not is_vector else ()
    if old is not None:
        out = old.copy() if out is None else out
        if out is not old:
            np.copyto(out, old)
    if is_vector and vector == "b" and cnp.PyArray_TYPE(a) == cnp.NPY_INT8:
        c = shifted_vector(a, b.codes if isinstance(b, Packed) else b)
        if out is None:
            return np.ascontiguousarray(c)
        np.copyto(out, c if old is None else out + c)
        return out
    panels = panels_of(b, starts) if isinstance(b, Packed) else b
    return multiply(a, panels, out, old is not None, saturates, starts, num_threads)


def bare(cnp.ndarray a, b, machine, str vector="", int num_threads=1):
    """A x B of checked matrices, as the machine multiplies them; see `product`."""
    return product(a, b, machine, vector, num_threads, None, None)


def gemm(int a_type, a, b, transa, transb, alpha, ao, bo, beta, c, offsetc, co, machine, num_threads, out, updated):
    """C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co, by `updated` if that is more than a product, or C plus it.

    Numbers are converted before any array is looked at: that may run code of the caller, which may change arrays.
    """
    cdef bint is_u8 = a_type == cnp.NPY_UINT8
    cdef double factor = real(alpha, "alpha"), old_factor = real(beta, "beta")
    cdef int a_offset = whole(ao, "ao", 0 if is_u8 else -128, 255 if is_u8 else 127)
    cdef int b_offset = whole(bo, "bo", -128, 127), threads = whole(num_threads, "num_threads", 1, INT32_MAX)
    cdef bint a_turned = is_turned(transa, "transa"), b_turned = is_turned(transb, "transb")
    cdef cnp.ndarray left = matrix(a, "a", a_type), old = None, term = None, codes
    cdef Py_ssize_t rows, columns
    if a_turned:
        left = left.T
    right = weights(b, b_turned, machine)
    codes = right.codes if isinstance(right, Packed) else right
    rows, columns = cnp.PyArray_DIM(left, 0), cnp.PyArray_DIM(codes, 1)
    if cnp.PyArray_DIM(left, 1) != cnp.PyArray_DIM(codes, 0):
        shapes = f"{(<object>left).shape} and {(<object>codes).shape}"
        raise ValueError(f"a, b: expected op(a) and op(b) to agree in k, got shapes {shapes}")
    if old_factor != 0:
        if c is None:
            raise ValueError(f"c: expected the matrix that beta = {old_factor} multiplies, got None")
        old = native(c, "c")
        if (<object>old).shape != (rows, columns):
            raise ValueError(f"c: expected shape {(rows, columns)}, got {(<object>old).shape}")
    if not (type(co) is int and co == 0 and type(offsetc) is str and offsetc == "F"):
        term = added(co, offsetc, rows, columns)
    if out is not None:
        result(out, rows, columns, left, codes)
    if factor != 1 or old_factor not in (0, 1) or a_offset or b_offset or term is not None:
        made = updated(left, right, Update(a_offset, b_offset, factor, old_factor, old, term), machine, threads)
        if out is None:
            return made
        np.copyto(out, made)
        return out
    vector = "a" if rows == 1 and b_turned else "b" if columns == 1 and not a_turned else ""
    return product(left, right, machine, vector, threads, old, out)
