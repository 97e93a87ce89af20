"""Integer matrix product: C s32 (+)= A (u8 or s8) x B (s8), exact or with the saturation of VPMADDUBSW.

    exact        c[i][j] = sum over l of a[i][l] * b[l][j]
    saturating   c[i][j] = sum over pairs l of sat16(a[i][l] * b[l][j] + a[i][l+1] * b[l+1][j])

Both wrap mod 2^32. The saturating product multiplies u8 by s8, so a signed A is shifted to a + 128 before, and
128 times the column sums of B are taken off after; pairs are (0, 1), (2, 3).. from each of ``block_starts`` on, and
what lacks a partner is paired with 0.
"""
cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, uint8_t

from qops._kernels.core.checks cimport apart, array, writable
from qops._kernels.product.blocks cimport Product
from qops._kernels.product.run cimport run_product
from qops._kernels.product.tile cimport (
    Run, aligned, find_kernel, gemm_kernel, pack_columns, padded_columns, quads_of, sum_columns,
)

import numpy as np

from qops._kernels.core import tiers as isa

cnp.import_array()

# ---------------------------------------------------------------- what is given


cdef cnp.ndarray matrix(x, str name, bint unsigned_too):
    """x as a matrix of bytes."""
    cdef cnp.ndarray a = array(x, name, cnp.NPY_INT8, cnp.NPY_UINT8 if unsigned_too else -1)
    if cnp.PyArray_NDIM(a) != 2:
        raise ValueError(f"{name}: expected 2 dimensions, got shape {(<object>a).shape}")
    return a


cdef cnp.ndarray by_rows(cnp.ndarray a):
    """a, or a copy if its rows are not contiguous."""
    if cnp.PyArray_STRIDE(a, 1) != 1 and cnp.PyArray_DIM(a, 1) > 1:
        return np.ascontiguousarray(a)
    return a


cdef cnp.ndarray result(out, cnp.npy_intp m, cnp.npy_intp n, cnp.ndarray a, cnp.ndarray b):
    """out checked, or a new matrix. b may be None."""
    cdef cnp.npy_intp[2] shape = [m, n]
    cdef cnp.ndarray c
    if out is None:
        return cnp.PyArray_EMPTY(2, shape, cnp.NPY_INT32, 0)
    writable(out, cnp.NPY_INT32, 2, shape)
    c = out
    if not cnp.PyArray_ISALIGNED(c) or cnp.PyArray_STRIDE(c, 1) != 4 and n > 1 and m:
        raise ValueError(f"out: expected aligned rows, contiguous each, got strides {out.strides}")
    apart(c, a)
    if b is not None:
        apart(c, b)
    return c


cdef cnp.ndarray runs_of(const gemm_kernel *kernel, Py_ssize_t k, bint saturating, block_starts):
    """The runs of k in which pairs are formed. A start at an even distance changes no pair and is left out."""
    cdef Py_ssize_t start, before = 0, begin = 0
    starts = [0]
    for start in block_starts:
        if not before <= start <= k:
            raise ValueError(f"block_starts: expected them to rise from 0 to {k}, got {list(block_starts)}")
        before = start
        if saturating and (start - begin) % 2:
            begin = start
            starts.append(start)
    ends = starts[1:] + [k]
    return np.array([(s, e - s, quads_of(kernel, e - s)) for s, e in zip(starts, ends)], np.intp)


cdef class PackedB:
    """B laid out for one tier's kernel, for products with many A. Made by ``pack_b``."""

    @property
    def shape(self):
        return self.k, self.n

    @property
    def nbytes(self):
        return self.memory.nbytes

    def __repr__(self):
        return f"PackedB(k={self.k}, n={self.n}, saturating={self.saturating}, tier={self.tier!r})"


def pack_b(b, *, bint saturating=False, block_starts=()):
    """Pack B (int8, k x n) once for many products."""
    cdef cnp.ndarray source = by_rows(matrix(b, "b", False))
    cdef PackedB packed = PackedB.__new__(PackedB)
    cdef Py_ssize_t ldb = cnp.PyArray_STRIDE(source, 0)
    cdef Py_ssize_t padded, i, quads = 0
    cdef const Run *runs
    packed.k = cnp.PyArray_DIM(source, 0)
    packed.n = cnp.PyArray_DIM(source, 1)
    packed.saturating = saturating
    packed.tier = isa.name()
    packed.kernel = find_kernel(saturating)
    packed.runs = runs_of(packed.kernel, packed.k, saturating, block_starts)
    packed.quads = packed.runs[:, 2].sum()
    padded = padded_columns(packed.kernel, packed.n)
    packed.memory = np.empty(4 * padded * packed.quads + 64, np.uint8)
    packed.panels = <uint8_t *>aligned(cnp.PyArray_DATA(packed.memory))
    packed.sums = np.zeros(padded, np.int32)
    packed.colsum = packed.sums[:packed.n]
    packed.colsum.flags.writeable = False
    runs = <const Run *>cnp.PyArray_DATA(packed.runs)
    for i in range(len(packed.runs)):
        pack_columns(packed.kernel, <const int8_t *>cnp.PyArray_DATA(source) + runs[i].first * ldb, ldb, runs[i].length,
                     packed.n, packed.panels, quads, packed.quads)
        quads += runs[i].quads
    sum_columns(packed.kernel, packed.panels, packed.quads, packed.n, <int32_t *>cnp.PyArray_DATA(packed.sums))
    return packed


cdef void set_packed(Product *p, PackedB packed) noexcept:
    p.kernel = packed.kernel
    p.n = packed.n
    p.b = NULL
    p.ldb = 0
    p.panels = packed.panels
    p.sums = <const int32_t *>cnp.PyArray_DATA(packed.sums)
    p.quads = packed.quads


cdef void set_row_major(Product *p, cnp.ndarray b, bint saturating) noexcept:
    p.kernel = find_kernel(saturating)
    p.n = cnp.PyArray_DIM(b, 1)
    p.b = <const int8_t *>cnp.PyArray_DATA(b)
    p.ldb = cnp.PyArray_STRIDE(b, 0)
    p.panels = NULL
    p.sums = NULL
    p.quads = quads_of(p.kernel, p.k)


cdef int set_runs(Product *p, cnp.ndarray runs) except -1:
    p.n_runs = 1 if runs is None else cnp.PyArray_DIM(runs, 0)
    p.runs = NULL
    if p.n_runs > 1:
        p.runs = <const Run *>cnp.PyArray_DATA(runs)
        p.quads = runs[:, 2].sum()
    return 0


cdef void set_a(Product *p, cnp.ndarray a) noexcept:
    p.m = cnp.PyArray_DIM(a, 0)
    p.k = cnp.PyArray_DIM(a, 1)
    p.a = <const uint8_t *>cnp.PyArray_DATA(a)
    p.lda = cnp.PyArray_STRIDE(a, 0)
    p.a_signed = cnp.PyArray_TYPE(a) == cnp.NPY_INT8


cdef void set_c(Product *p, cnp.ndarray c, bint accumulate) noexcept:
    p.c = <int32_t *>cnp.PyArray_DATA(c)
    p.ldc = cnp.PyArray_STRIDE(c, 0) // 4
    p.accumulate = accumulate


def product(a, b, out=None, *, bint accumulate=False, bint saturating=False, block_starts=(),
            Py_ssize_t num_threads=1):
    """C = A x B, int32, or C += A x B if ``accumulate``. The result has the same bits for any ``num_threads``.

    a: uint8 or int8, m x k. b: int8, k x n, or what ``pack_b`` made of one, which then knows whether it saturates
    and where its blocks start. out: int32, m x n.
    """
    cdef cnp.ndarray left = by_rows(matrix(a, "a", True))
    cdef cnp.ndarray right = None, runs = None
    cdef cnp.ndarray c
    cdef Product p
    cdef Py_ssize_t k
    if num_threads < 1:
        raise ValueError(f"num_threads: expected at least 1, got {num_threads}")
    if accumulate and out is None:
        raise ValueError("out: expected the matrix to add to, got None")
    set_a(&p, left)
    if isinstance(b, PackedB):
        if saturating or len(block_starts):
            raise ValueError("saturating, block_starts: expected with pack_b, got with what it made")
        k = (<PackedB>b).k
        runs = (<PackedB>b).runs
        set_packed(&p, b)
    else:
        right = by_rows(matrix(b, "b", False))
        k = cnp.PyArray_DIM(right, 0)
        set_row_major(&p, right, saturating)
    if p.k != k:
        shapes = f"{(<object>left).shape} and {b.shape}"
        raise ValueError(f"a, b: expected op(a) and op(b) to agree in k, got shapes {shapes}")
    if right is not None and len(block_starts):
        runs = runs_of(p.kernel, k, saturating, block_starts)
    c = result(out, p.m, p.n, left, right)
    set_c(&p, c, accumulate)
    set_runs(&p, runs)
    run_product(&p, num_threads, (left, right, b, runs, c) if num_threads > 1 else None)
    return c


def check_out(out, cnp.ndarray a, cnp.ndarray b):
    """Raise what `product` would."""
    result(out, cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(b, 1), a, b)
