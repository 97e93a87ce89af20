"""gemm_u8s8s32 and gemm_s8s8s32: all checks, and the product itself if nothing else is asked for.

It is compiled because a product of 64 x 64 x 64 takes little more than a microsecond. The checks took twenty in Python.
"""
cimport cython
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX

from qops._kernels.arrays.checks cimport array, real
from qops._kernels.arrays.codes cimport CodeType, code_type_of
from qops._kernels.arrays.numbers cimport choice, int32
from qops._kernels.gemm.gemm cimport multiply, result
from qops._kernels.gemm.packed cimport PackedB

import numpy as np

from qops._kernels.arrays.checks import put

cnp.import_array()

cdef object ONE = 1.0, ZERO = 0.0, ONE_INT = 1, ZERO_INT = 0  # what is given by default
cdef str NOT_TURNED = "N", NUMBER = "F"


cdef class Packed:
    """B packed for the products of one machine; the public class is `qops.onednn.PackedWeights`."""
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
        """B packed for pairs that begin at each of `k_starts`: at 0 alone, or where the k blocks of GEMM start."""
        return panels_of(self, k_starts)


cdef inline PackedB panels_of(Packed b, k_starts):
    return b.in_blocks if k_starts is not None and len(k_starts) > 1 else b.whole


cdef class Update:
    """What a GEMM does beside the product: C = alpha * (A - ao) * (B - bo) + beta * old + co."""
    cdef readonly int ao, bo
    cdef readonly double alpha, beta
    cdef readonly object old, co  # int32 that broadcasts against C, or None

    def __init__(self, int ao=0, int bo=0, double alpha=1.0, double beta=0.0, old=None, co=None):
        self.ao, self.bo, self.alpha, self.beta, self.old, self.co = ao, bo, alpha, beta, old, co

    cdef bint is_product(self):
        """Whether nothing is done but a product, which may be added to C."""
        return (self.alpha == 1 and (self.beta == 0 or self.beta == 1) and self.ao == 0 and self.bo == 0
                and self.co is None)


cdef inline bint is_turned(value, str name) except -1:
    """Whether a matrix is given as its transpose, "T"."""
    return choice(value, name, ("N", "T")) == "T"


cdef cnp.ndarray matrix_of(x, str name, int typenum):
    cdef cnp.ndarray a = array(x, name, typenum)
    if cnp.PyArray_NDIM(a) != 2:
        raise ValueError(f"{name}: expected 2 dimensions, got shape {(<object>a).shape}")
    return a


cdef inline cnp.ndarray matrix(x, str name, int typenum):
    """Give x as a matrix of this dtype, at once if it is one."""
    cdef cnp.ndarray a
    if cnp.PyArray_CheckExact(x):
        a = <cnp.ndarray>x
        if cnp.PyArray_TYPE(a) == typenum and cnp.PyArray_NDIM(a) == 2:
            return a
    return matrix_of(x, name, typenum)


def packed_for(b, str name, machine):
    """Give `b`, if it is packed for this machine; ValueError if not."""
    if b.machine is not machine and b.machine != machine:
        packed, wanted = (f"isa {m.isa!r} of version {m.version!r}" for m in (b.machine, machine))
        raise ValueError(f"{name}: packed for {packed}, expected {wanted}")
    return b


cdef inline weights(b, bint is_turned, machine):
    """Give op(B): codes, or what is packed for this machine."""
    if not cnp.PyArray_CheckExact(b) and isinstance(b, Packed):
        if is_turned:
            raise ValueError("transb: expected 'N', as b is packed, got 'T'")
        return b if (<Packed>b).machine is machine else packed_for(b, "b", machine)
    return matrix(b, "b", cnp.NPY_INT8).T if is_turned else matrix(b, "b", cnp.NPY_INT8)


cdef inline cnp.ndarray codes_of(b):
    return <cnp.ndarray>b if cnp.PyArray_Check(b) else (<Packed>b).codes


cdef inline int agree(cnp.ndarray a, cnp.ndarray b) except -1:
    """ValueError unless the columns of op(A) are as many as the rows of op(B)."""
    if cnp.PyArray_DIM(a, 1) != cnp.PyArray_DIM(b, 0):
        shapes = f"{(<object>a).shape} and {(<object>b).shape}"
        raise ValueError(f"a, b: expected op(a) and op(b) to agree in k, got shapes {shapes}")
    return 0


cdef cnp.ndarray native(x, str name):
    """Give an array of int32, in the byte order of this CPU."""
    return np.asarray(array(x, name, cnp.NPY_INT32), np.int32)


cdef added(co, offsetc, Py_ssize_t rows, Py_ssize_t columns):
    """Give co in a shape that broadcasts against C; None if it is 0."""
    if type(co) is int and co == 0 and type(offsetc) is str and offsetc == "F":
        return None
    choice(offsetc, "offsetc", ("F", "R", "C"))
    if isinstance(co, int):
        int32(co, "co")
    values = np.asarray(co, np.int32) if isinstance(co, int) else native(co, "co")
    size = 1 if offsetc == "F" else columns if offsetc == "R" else rows
    if values.size != size:
        raise ValueError(f"co: expected {size} values, as offsetc is {offsetc!r}, got {values.size}")
    if offsetc == "F" and not values.any():
        return None
    return values.reshape((-1, 1) if offsetc == "C" else (1, -1))


cdef cnp.ndarray old_c(c, double beta, Py_ssize_t rows, Py_ssize_t columns):
    """Give the C that beta multiplies; None if beta is 0."""
    cdef object old
    if beta == 0:
        return None
    if c is None:
        raise ValueError(f"c: expected the matrix that beta = {beta} multiplies, got None")
    old = native(c, "c")
    if old.shape != (rows, columns):
        raise ValueError(f"c: expected shape {(rows, columns)}, got {old.shape}")
    return old


cdef int multiply_vector(cnp.ndarray c, cnp.ndarray a, cnp.ndarray b, bint accumulate) except -1:
    """A x B of s8, where B is a vector and C a column. If pairs saturate, oneDNN shifts the vector to u8, not A."""
    cdef cnp.ndarray row = result(None, 1, cnp.PyArray_DIM(a, 0), a, b)
    multiply(row, (<object>b).T, (<object>a).T, (), False, 1)
    if accumulate:
        np.add(c, (<object>row).T, out=c)
    else:
        np.copyto(c, (<object>row).T)
    return 0


@cython.final
cdef class Manner:
    """How a machine multiplies, read from its facts once."""
    cdef object machine
    cdef tuple pairs  # of a short k
    cdef bint gemv
    cdef Py_ssize_t k_single  # the longest k whose pairs are those

    def __init__(self, machine):
        self.machine = machine
        self.pairs = () if machine.saturates else None
        self.gemv = machine.saturates and machine.gemv
        self.k_single = machine.k_single if machine.saturates else PY_SSIZE_T_MAX


cdef int product(cnp.ndarray c, cnp.ndarray a, b, Manner how, str vector, bint accumulate, int num_threads) except -1:
    """C = A x B, or C += A x B, of checked matrices. `vector` names the matrix that is a single row or column, if
    oneDNN may have a kernel of its own for that."""
    cdef Py_ssize_t k = cnp.PyArray_DIM(a, 1)
    cdef tuple pairs = how.pairs
    if how.gemv and vector is not None:
        if vector == "b" and cnp.PyArray_TYPE(a) == cnp.NPY_INT8:
            return multiply_vector(c, a, codes_of(b), accumulate)
    elif k > how.k_single:
        pairs = how.machine.k_starts(k)
    if not cnp.PyArray_Check(b):
        b = panels_of(b, pairs)
    return multiply(c, a, b, pairs, accumulate, num_threads)


cdef inline str vector_of(cnp.ndarray a, cnp.ndarray b, bint a_turned, bint b_turned):
    """The matrix that oneDNN takes for a vector; how the other one is stored decides too."""
    if cnp.PyArray_DIM(a, 0) == 1 and b_turned:
        return "a"
    return "b" if cnp.PyArray_DIM(b, 1) == 1 and not a_turned else None


def bare(cnp.ndarray a, b, machine, str vector or None=None, int num_threads=1):
    """A x B of checked matrices; see `product`."""
    codes = codes_of(b)
    c = result(None, cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(codes, 1), a, codes)
    product(c, a, b, Manner(machine), vector, False, num_threads)
    return c


cdef Manner manner_of(dict manners, machine, version, isa):
    """How the machine of (version, isa) multiplies: its facts, read at the first call, or refused by `machine`."""
    cdef object known = manners.get(version) if type(version) is str and type(isa) is str else None
    cdef object found = None if known is None else (<dict>known).get(isa)
    if found is None:
        found = Manner(machine(version, isa))
        (<dict>manners.setdefault(version, {}))[isa] = found
    return <Manner>found


cdef object apply(Update update, cnp.ndarray a, b, out, Manner how, str vector, int threads, updated):
    """C as `gemm_of` says, of checked matrices and an update whose `old` and `co` are checked."""
    cdef cnp.ndarray made = None, codes = codes_of(b)
    if out is not None or update.is_product():
        made = result(out, cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(codes, 1), a, codes)
    if not update.is_product():
        return put(updated(a, b, update, how.machine, threads), made)
    if update.old is not None and made is not update.old:
        np.copyto(made, update.old)
    product(made, a, b, how, vector, update.old is not None, threads)
    return made


def gemm_of(int a_type, machine, str usual_isa, str usual_version, updated):
    """The body of a gemm with A of the dtype number `a_type`: C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co.

    machine: gives the facts of (version, isa), or refuses them. updated: computes C from (A, B, `Update`, facts,
    threads) if that is more than a product, or C plus a product.
    """
    cdef CodeType of_a = code_type_of(a_type == cnp.NPY_INT8, 1)[0], of_b = code_type_of(True, 1)[0]
    cdef Manner usual = Manner(machine(usual_version, usual_isa))
    cdef dict manners = {}

    # What calls of a microsecond give stands first: the names of arguments are searched in this order.
    def gemm(a, b, *, out=None, isa=usual_isa, version=usual_version, num_threads=ONE_INT, transa=NOT_TURNED,
             transb=NOT_TURNED, alpha=ONE, ao=ZERO_INT, bo=ZERO_INT, beta=ZERO, c=None, offsetc=NUMBER, co=ZERO_INT):
        cdef Manner how = usual
        cdef Update update = None
        cdef cnp.ndarray left, codes, made
        cdef bint a_turned = False, b_turned = False
        cdef str vector = None
        cdef int threads = 1
        if isa is not usual_isa or version is not usual_version:
            how = manner_of(manners, machine, version, isa)
        # Numbers are converted before arrays are checked, because that may run code of the caller which changes an
        # array. Most calls give no numbers, and converting them takes as long as a product of few rows.
        if not (alpha is ONE and beta is ZERO and ao is ZERO_INT and bo is ZERO_INT and co is ZERO_INT
                and offsetc is NUMBER and num_threads is ONE_INT):
            update = Update(int32(ao, "ao", of_a.lowest, of_a.highest), int32(bo, "bo", of_b.lowest, of_b.highest),
                            real(alpha, "alpha"), real(beta, "beta"))
            threads = int32(num_threads, "num_threads", 1)
        if transa is not NOT_TURNED or transb is not NOT_TURNED:
            a_turned, b_turned = is_turned(transa, "transa"), is_turned(transb, "transb")
        left, right = matrix(a, "a", a_type), weights(b, b_turned, how.machine)
        if a_turned:
            left = (<object>left).T
        codes = codes_of(right)
        agree(left, codes)
        if how.gemv:
            vector = vector_of(left, codes, a_turned, b_turned)
        if update is not None:
            update.old = old_c(c, update.beta, cnp.PyArray_DIM(left, 0), cnp.PyArray_DIM(codes, 1))
            update.co = added(co, offsetc, cnp.PyArray_DIM(left, 0), cnp.PyArray_DIM(codes, 1))
            return apply(update, left, right, out, how, vector, threads, updated)
        made = result(out, cnp.PyArray_DIM(left, 0), cnp.PyArray_DIM(codes, 1), left, codes)
        product(made, left, right, how, vector, False, 1)
        return made

    return gemm
