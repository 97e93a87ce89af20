"""Integer matrix product: C s32 (+)= A (u8 or s8) x B (s8 or u8), exact or with the saturation of VPMADDUBSW.

    exact        c[i][j] = sum over l of a[i][l] * b[l][j]
    saturating   c[i][j] = sum over pairs l of sat16(a[i][l] * b[l][j] + a[i][l+1] * b[l+1][j])

Both wrap mod 2^32. The vector instructions of x86 multiply u8 by s8; its matrix unit and the vectors of ARM multiply
any signs. So for the vectors of x86 a signed A is shifted to a + 128, and 128 times the column sums of B is subtracted.
An exact kernel that multiplies 16-bit words does not need this. A B of u8, for which there is no saturating product, is
shifted to b - 128, and 128 times the row sums of A is added. Pairs are the terms of k (0, 1), (2, 3), ..., counted anew
from each start in ``pairs``; a last term without a partner is paired with 0.
"""
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t
from libc.string cimport memset

from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.checks cimport apart, array, writable
from qops._kernels.arrays.walk cimport WORTH_A_LINE, at_a_line
from qops._kernels.gemm.blocks cimport Product
from qops._kernels.gemm.offsets cimport numbers, row_sums, subtract_offsets, words
from qops._kernels.gemm.packed cimport PackedB, by_rows, matrix, runs_of, signed_codes
from qops._kernels.gemm.run cimport run_product
from qops._kernels.gemm.tile cimport (
    SHIFT, Run, find_kernel, find_unsigned_kernel, gemm_kernel, quads_of, amx_is_faster,
)

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()


cdef cnp.ndarray result(out, cnp.npy_intp m, cnp.npy_intp n, cnp.ndarray a, cnp.ndarray b):
    """Give `out`, checked, or a new m x n matrix of int32. b may be None."""
    cdef cnp.npy_intp[2] shape = [m, n]
    cdef cnp.ndarray c
    if 4.0 * m * n >= <double>PY_SSIZE_T_MAX:
        raise MemoryError
    if out is None and m * n >= WORTH_A_LINE:
        return at_a_line(2, shape, cnp.NPY_INT32)
    if out is None:
        return cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT32, 0)
    writable(out, cnp.NPY_INT32, 2, shape)
    c = out
    if not cnp.PyArray_ISALIGNED(c) or cnp.PyArray_STRIDE(c, 1) != 4 and n > 1 and m:
        raise bad_value("out", f"expected aligned rows, contiguous each, got strides {out.strides}")
    apart(c, a, b)
    return c


cdef void set_left(Product *p, cnp.ndarray a, uint32_t a_offset) noexcept:
    """Set the fields of p for an A with contiguous rows, from which `a_offset` is subtracted if B is packed."""
    p.m, p.k = cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(a, 1)
    p.a, p.lda = <const uint8_t *>cnp.PyArray_DATA(a), cnp.PyArray_STRIDE(a, 0)
    p.a_signed = cnp.PyArray_TYPE(a) == cnp.NPY_INT8
    p.n_runs, p.runs, p.set_up, p.a_offset, p.spare = 1, NULL, NULL, a_offset, False


cdef int set_packed(Product *p, PackedB packed) except -1:
    """Set the fields of p for a packed B."""
    p.kernel = packed.kernel
    p.n = packed.n
    p.b = NULL
    p.ldb = 0
    p.panels = packed.panels
    p.sums = <const int32_t *>cnp.PyArray_DATA(packed.sums)
    p.quads = packed.quads
    return set_runs(p, packed.runs)


cdef const gemm_kernel *kernel_for(cnp.ndarray b, bint saturating, Py_ssize_t rows, int on) noexcept:
    """Give the kernel of the tier `on` for a row-major B and so many rows of A."""
    cdef const gemm_kernel *kernel
    if cnp.PyArray_TYPE(b) == cnp.NPY_UINT8:
        return find_unsigned_kernel(on)
    kernel = find_kernel(saturating, on)
    # if vectors multiply, panels of their own form take less time to pack than those of the matrix unit
    if kernel.by_vectors != NULL and not amx_is_faster(kernel, rows, 1, quads_of(kernel, cnp.PyArray_DIM(b, 0)), False):
        return kernel.by_vectors
    return kernel


cdef void set_row_major(Product *p, cnp.ndarray b, bint saturating, int on) noexcept:
    """Set the fields of p for a row-major B."""
    p.kernel = kernel_for(b, saturating, p.m, on)
    p.n = cnp.PyArray_DIM(b, 1)
    p.b = <const int8_t *>cnp.PyArray_DATA(b)
    p.ldb = cnp.PyArray_STRIDE(b, 0)
    p.panels = NULL
    p.sums = NULL
    p.quads = quads_of(p.kernel, p.k)


cdef int set_runs(Product *p, cnp.ndarray runs) except -1:
    """Set the runs of k, if there are several."""
    if cnp.PyArray_DIM(runs, 0) > 1:
        p.n_runs = cnp.PyArray_DIM(runs, 0)
        p.runs = <const Run *>cnp.PyArray_DATA(runs)
        p.quads = runs[:, 2].sum()
    return 0


cdef int multiply(cnp.ndarray c, cnp.ndarray a, b, tuple pairs, bint accumulate, Py_ssize_t num_threads, int on,
                  uint32_t a_offset=0) except -1:
    """Compute C = A x B, or C += A x B if `accumulate`, for matrices that agree in k.

    B may be a PackedB, which knows its pairs; then, unless `accumulate`, `a_offset` is subtracted from A. `on` is the
    tier for a row-major B.
    """
    cdef cnp.ndarray left = by_rows(a), right = None, runs = None
    cdef Product p
    set_left(&p, left, a_offset)
    if type(b) is PackedB:
        set_packed(&p, b)
    else:
        right = by_rows(b)
        set_row_major(&p, right, pairs is not None, on)
        if pairs:
            runs = runs_of(p.kernel, p.k, pairs)
            set_runs(&p, runs)
    p.c = <int32_t *>cnp.PyArray_DATA(c)
    p.ldc = cnp.PyArray_STRIDE(c, 0) // 4
    p.accumulate = accumulate
    return run_product(&p, num_threads)


cdef bint taken_as_it_is(cnp.ndarray a, cnp.ndarray b, int on) noexcept:
    """Whether B needs no shift to int8. A kernel for uint8 is used only where it is the faster way."""
    cdef const gemm_kernel *kernel = find_kernel(False, on)
    cdef const gemm_kernel *by_unsigned = find_unsigned_kernel(on)
    if cnp.PyArray_TYPE(b) == cnp.NPY_INT8:
        return True
    return by_unsigned != NULL and (
        by_unsigned.amx[0] == NULL
        or amx_is_faster(kernel, cnp.PyArray_DIM(a, 0), 1, quads_of(kernel, cnp.PyArray_DIM(b, 0)), False))


cpdef cnp.ndarray product(a, b, out=None, tuple offsets=(0, 0), bias=None, pairs=None, bint accumulate=False,
                          Py_ssize_t num_threads=1):
    """Compute C = (A - a_offset) x (B - b_offset) + bias, or add that to C if ``accumulate``; int32, modulo 2**32.

    a: uint8 or int8, m x k. b: int8 or uint8, k x n, or what ``pack_b`` made of one, which knows its pairs. pairs: the
    starts in k from which saturating pairs are counted anew, () if only from 0, or None if nothing saturates. offsets:
    those of a and of b, see `take_off_offsets`. bias: n values of int32. Offsets and bias are applied after the
    product, so they do not change which pairs saturate. out: int32, m x n. The result has the same bits for any
    ``num_threads``.
    """
    cdef cnp.ndarray left = matrix(a, "a"), added = None, c
    cdef bint is_shifted
    cdef Py_ssize_t k, n
    cdef int on = tier()
    if num_threads < 1:
        raise bad_value("num_threads", f"expected at least 1, got {num_threads}")
    if accumulate and out is None:
        raise bad_value("out", "expected the matrix to add to, got None")
    a_offset, b_offset = offsets
    if type(b) is PackedB:
        if pairs is not None:
            raise bad_value("pairs", "expected with pack_b, got with what it made")
        k, n, is_shifted = (<PackedB>b).k, (<PackedB>b).n, (<PackedB>b).is_shifted
    else:
        b = matrix(b, "b")
        if pairs is not None and cnp.PyArray_TYPE(b) == cnp.NPY_UINT8:
            raise bad_value("pairs", "expected None for a b of uint8")
        is_shifted = not taken_as_it_is(left, b, on)
        b = signed_codes(b) if is_shifted else b
        k, n = b.shape
    if cnp.PyArray_DIM(left, 1) != k:
        shapes = f"{(<object>left).shape} and {(k, n)}"
        raise bad_value("a, b", f"expected op(a) and op(b) to agree in k, got shapes {shapes}")
    if bias is not None:
        added = array(bias, "bias", cnp.NPY_INT32)
        if (<object>added).shape != (n,):
            raise bad_value("bias", f"expected shape {(n,)}, got {(<object>added).shape}")
    c = result(out, cnp.PyArray_DIM(left, 0), n, left, None if type(b) is PackedB else b)
    if is_shifted:
        b_offset = (b_offset if type(b_offset) is int else np.asarray(b_offset, np.int64)) - SHIFT
    # the matrix unit starts accumulators with C or with a number for each column, not with both
    if type(b) is PackedB and type(a_offset) is int and is_zero(b_offset) and not accumulate:
        multiply(c, left, b, None, False, num_threads, on, a_offset & 0xFFFFFFFF)
    else:
        multiply(c, left, b, None if pairs is None else tuple(pairs), accumulate, num_threads, on)
        take_off_offsets(c, left, b, a_offset, b_offset)
    if added is not None:
        np.add(c, added, out=c)
    return c


cdef cnp.ndarray column_sums(cnp.ndarray b):
    """Give the sum of each column of a matrix of int8: int32, 1 x n."""
    cdef cnp.npy_intp[2] shape = [1, cnp.PyArray_DIM(b, 0)]
    cdef cnp.ndarray ones = cnp.PyArray_EMPTY(2, shape, cnp.NPY_UINT8, 0)
    cdef cnp.ndarray sums = result(None, 1, cnp.PyArray_DIM(b, 1), ones, b)
    memset(cnp.PyArray_DATA(ones), 1, shape[1])
    multiply(sums, ones, b, None, False, 1, tier())
    return sums


def sums_of_rows(a, int32_t offset=0):
    """Give the sum of each row of A - offset, int32. a: uint8 or int8, m x k."""
    cdef cnp.ndarray left = by_rows(matrix(a, "a")), sums = row_sums(left)
    cdef int32_t *row = <int32_t *>cnp.PyArray_DATA(sums)
    cdef int32_t less = offset * <int32_t>cnp.PyArray_DIM(left, 1)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_DIM(left, 0)):
        row[i] -= less
    return sums


cdef bint is_zero(x):
    """Whether an offset, one number or an array, is 0 everywhere."""
    return not (x.any() if isinstance(x, cnp.ndarray) else x)


def take_off_offsets(cnp.ndarray c, cnp.ndarray a, b, a_offset, b_offset):
    """Subtract the terms of the offsets: C -= a_offset * colsum(B) + b_offset * rowsum(A) - k * a_offset * b_offset.

    That is modulo 2**32, and makes the product of A - a_offset and B - b_offset from A x B. a_offset is one number, or
    one for each row of A (m x 1); b_offset is one number, or one for each column of B (n). b: a matrix of int8 or a
    PackedB.
    """
    cdef cnp.ndarray left = by_rows(a), columns = None, a_offsets = None, b_offsets = None
    cdef const uint32_t *of_columns
    cdef const uint32_t *of_a
    cdef const uint32_t *of_b
    cdef Product p
    set_left(&p, left, 0)
    p.n, p.c, p.ldc = cnp.PyArray_DIM(c, 1), <int32_t *>cnp.PyArray_DATA(c), cnp.PyArray_STRIDE(c, 0) // 4
    if not is_zero(a_offset):
        columns, a_offsets = b.colsum if type(b) is PackedB else column_sums(b), words(a_offset, p.m)
    if not is_zero(b_offset):
        b_offsets = words(b_offset, p.n)
    of_columns, of_a, of_b = numbers(columns), numbers(a_offsets), numbers(b_offsets)
    with nogil:
        subtract_offsets(&p, 0, of_a, of_columns, of_b)
