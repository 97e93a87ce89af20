"""A prepared product with one packed B, whose accumulators may become codes while they are in the cache."""
cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int32_t, int64_t, uint32_t

from qops._kernels.arrays.checks cimport MAX_DIMS, apart, array, array_of, take, writable
from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.arrays.steps cimport Kernel
from qops._kernels.gemm.blocks cimport Product, shifted, some_columns as product_columns, take_caches
from qops._kernels.gemm.gemm cimport is_zero, product, set_left, set_packed
from qops._kernels.gemm.offsets cimport numbers, subtract_offsets, words
from qops._kernels.gemm.packed cimport PackedB, by_rows, matrix
from qops._kernels.gemm.run cimport BRIEF
from qops._kernels.gemm.run cimport product as sums_of_products
from qops._kernels.gemm.tile cimport (
    GEMM_ROWS, SHIFT, SHIFTED, aligned, amx_is_faster, padded_columns, panel_bytes, shifts,
)
from qops._kernels.machine.threads cimport run_parts
from qops._kernels.stage.layer_stage cimport LayerParams, some_columns
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport LAYER, Stage, stage_run

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef enum:
    STRIP = 256  # columns; it is a multiple of every kernel's width of panels


cdef void begin_with_bias(const Product *p, const int32_t *bias, bint by_amx, Product *some,
                          int32_t *starts) noexcept nogil:
    """Set what the accumulators of `some` begin with: starts[j] = times * sums[j] + bias[j].

    by_amx: whether AMX multiplies these rows of A. Codes of s8 then stay as they are; else 128 may be added to them.
    """
    cdef uint32_t shift = <uint32_t>(SHIFTED if p.a_signed and shifts(p.kernel, by_amx) else 0)
    cdef uint32_t times = shift - p.a_offset
    cdef const int32_t *sums = p.sums
    cdef Py_ssize_t j
    for j in range(padded_columns(p.kernel, p.n)):
        starts[j] = <int32_t>(times * <uint32_t>sums[j])
    for j in range(p.n):
        starts[j] = <int32_t>(<uint32_t>starts[j] + <uint32_t>bias[j])
    some.sums, some.a_offset = starts, shift - 1


cdef Py_ssize_t rows_at_once(const Product *p, Py_ssize_t rows) noexcept nogil:
    """Give how many rows of accumulators to make before their codes: whole tiles that stay in the cache.

    The more weights there are, the more rows, because all weights are read again for each batch of rows.
    """
    cdef int64_t most = max(<int64_t>SUMS_AT_ONCE, <int64_t>p.k * p.n // WEIGHTS_PER_SUM)  # Py_ssize_t may have 32 bits
    if <int64_t>rows * p.n <= most:
        return rows
    return <Py_ssize_t>min(<int64_t>rows, max(<int64_t>1, most // p.n // GEMM_ROWS) * GEMM_ROWS)


cdef void part_of(const Coded *p, Py_ssize_t i, Py_ssize_t *first, Py_ssize_t *end) noexcept nogil:
    """Set the first row of part i, and the end of its rows."""
    cdef int64_t units = (p.product.m + GEMM_ROWS - 1) // GEMM_ROWS  # in 64 bits, because Py_ssize_t may have 32
    first[0], end[0] = 0, p.product.m
    if p.parts > 1:
        first[0] = <Py_ssize_t>(units * i // p.parts) * GEMM_ROWS
        end[0] = min(<Py_ssize_t>(units * (i + 1) // p.parts) * GEMM_ROWS, p.product.m)


cdef int make_rows(const Coded *p, Py_ssize_t i) noexcept nogil:
    """Make the codes of part i; 1 if there is not enough memory."""
    cdef Product some = p.product
    cdef Py_ssize_t row, first, end, at_once, n = p.product.n, columns = padded_columns(p.product.kernel, n)
    cdef bint by_amx
    cdef int64_t bytes
    cdef void *memory
    cdef int32_t *starts
    cdef const uint32_t *a_offsets
    part_of(p, i, &first, &end)
    at_once = rows_at_once(&some, end - first)
    bytes = 128 + 4 * (<int64_t>columns + <int64_t>at_once * n)
    memory = PyMem_RawMalloc(<size_t>bytes) if bytes <= PY_SSIZE_T_MAX else NULL
    if memory == NULL:
        return 1
    starts = <int32_t *>aligned(memory)
    some.c, some.ldc, some.spare = starts + columns, n, True
    for row from first <= row < end by at_once:
        some.a, some.m = p.product.a + row * p.product.lda, min(at_once, end - row)
        by_amx = amx_is_faster(some.kernel, some.m, 1, some.quads, True)
        if p.bias != NULL and (row == first or some.kernel.amx[0] != NULL):
            begin_with_bias(&p.product, p.bias, by_amx, &some, starts)
        if sums_of_products(&some):
            PyMem_RawFree(memory)
            return 1
        if p.a_offset != NULL or p.b_offset != NULL:
            a_offsets = p.a_offset
            if a_offsets != NULL:
                a_offsets += row
            subtract_offsets(&some, p.product.a_offset, a_offsets, <const uint32_t *>p.product.sums, p.b_offset)
        stage_run(p.stage, some.c, cnp.NPY_INT32, p.codes + row * p.stride * p.size, p.typenum, row * n, some.m * n)
    PyMem_RawFree(memory)
    return 0


cdef int make_part(const void *op, Py_ssize_t i) noexcept nogil:
    """Make the codes of part i, for `run_parts`; 1 if there is not enough memory.

    Layers of many weights are made strip by strip of STRIP columns, whose weights stay in L2 for all rows. Their bias
    is in the stage.
    """
    cdef const Coded *p = <const Coded *>op
    cdef Coded strip = p[0]
    cdef Stage stage = p.stage[0]
    cdef LayerParams layer
    cdef Py_ssize_t column, n = p.product.n
    cdef bint makes_codes = stage.kind == LAYER and stage.layer.ends == NULL
    cdef bint is_small = 2 * panel_bytes(p.product.kernel, n, p.product.quads) <= p.product.caches.second
    if not makes_codes or p.product.kernel.amx[0] != NULL or is_small:
        return make_rows(p, i)
    strip.stage, stage.layer = &stage, &layer
    for column from 0 <= column < n by STRIP:
        layer = some_columns(p.stage.layer, column, STRIP)
        layer.sums_stride = layer.n
        strip.product = product_columns(&p.product, column, layer.n)
        strip.codes = p.codes + column * p.size
        if p.b_offset != NULL:
            strip.b_offset = p.b_offset + column
        if make_rows(&strip, i):
            return 1
    return 0


cdef int run_coded(Coded *p, Py_ssize_t num_threads) except -1:
    """Make all codes, on up to `num_threads` threads; it keeps the GIL if it is brief."""
    take_caches(&p.product)
    p.product.c, p.stride = NULL, p.product.n
    p.parts = max(<Py_ssize_t>1, min(num_threads, p.product.m // GEMM_ROWS))
    if p.parts == 1 and <int64_t>p.product.m * p.product.n * p.product.k <= BRIEF:
        if make_part(p, 0):
            raise MemoryError
        return 0
    return run_parts(make_part, p, p.parts)


@cython.final
cdef class MatMul:
    """A prepared product with one packed B: (A - a_offset) x (B - b_offset) + bias, as accumulators or as their codes.

    b_offset, bias: see `product`. codes: the stage that takes whole rows of accumulators to codes of dtype `typenum`;
    without it the result is the accumulators.
    """
    def __init__(self, PackedB b, b_offset=0, PreparedStage codes or None=None, int typenum=cnp.NPY_INT32, bias=None):
        self.b, self.b_offset, self.codes, self.typenum = b, b_offset, codes, typenum
        self.bias = None if bias is None else np.array(array(bias, "bias", cnp.NPY_INT32))
        if bias is not None and (<object>self.bias).shape != (b.n,):
            raise bad_value("bias", f"expected shape {(b.n,)}, got {(<object>self.bias).shape}")
        of_packed = (b_offset if type(b_offset) is int else np.asarray(b_offset, np.int64)) - SHIFT * b.is_shifted
        self.offsets = None if is_zero(of_packed) else words(of_packed, b.n)

    def __call__(self, cnp.ndarray a, a_offset=0, out=None, Py_ssize_t num_threads=1):
        """Multiply A, whose columns are as many as the rows of B; the result is m x n, in `out` if that is given."""
        cdef cnp.npy_intp[2] shape = [cnp.PyArray_DIM(a, 0), self.b.n]
        cdef cnp.ndarray made = None
        if out is not None:
            writable(out, self.typenum, 2, shape)
            apart(out, a, None)
            made = out if cnp.PyArray_ISCARRAY(out) else None
        if self.codes is None:
            made = product(a, self.b, made, (a_offset, self.b_offset), self.bias, None, False, num_threads)
        else:
            made = cnp.PyArray_EMPTY(2, shape, self.typenum, 0) if made is None else made
            self.make_codes(a, a_offset, made, self.codes, num_threads)
        if out is not None and made is not out:
            np.copyto(out, made)
            return out
        return made

    cdef int make_codes(self, cnp.ndarray a, a_offset, cnp.ndarray made, PreparedStage stage,
                        Py_ssize_t num_threads) except -1:
        """Make the codes, by a stage that takes whole rows of accumulators.

        If there are rows for all threads, each thread makes the accumulators and codes of its own rows. Else `product`
        makes the accumulators.
        """
        cdef Py_ssize_t m = cnp.PyArray_DIM(a, 0)
        cdef cnp.ndarray left = matrix(a, "a"), sums, each
        cdef uint32_t one
        cdef const void *x
        cdef void *codes
        cdef int typenum
        if cnp.PyArray_SIZE(made) == 0:
            return 0
        if (num_threads == 1 or 1 < num_threads <= m // GEMM_ROWS) and cnp.PyArray_DIM(left, 1) == self.b.k:
            each = None if type(a_offset) is int else words(a_offset, m)
            one = 0 if each is not None else a_offset & 0xFFFFFFFF
            return self.make_parts(by_rows(left), one, each, made, stage, num_threads)
        sums = product(left, self.b, None, (a_offset, self.b_offset), self.bias, None, False, num_threads)
        x, codes, typenum = cnp.PyArray_DATA(sums), cnp.PyArray_DATA(made), typenum_of(made)
        with nogil:
            stage_run(&stage.stage, x, cnp.NPY_INT32, codes, typenum, 0, m * self.b.n)
        return 0

    cdef int make_parts(self, cnp.ndarray a, uint32_t a_offset, cnp.ndarray each, cnp.ndarray made,
                        PreparedStage stage, Py_ssize_t num_threads, cnp.ndarray starts=None) except -1:
        """On each thread make the accumulators of some rows, which stay in the cache, then their codes, and so on.

        each: an offset for each row of A, beside a_offset 0; or None. starts: what `begin_with_bias` gives for this
        type and offset of A, if that is known.
        """
        cdef Coded p
        set_left(&p.product, a, a_offset)
        set_packed(&p.product, self.b)
        p.product.accumulate = False
        p.a_offset, p.b_offset = numbers(each), numbers(self.offsets)
        p.bias = NULL
        if starts is not None:
            p.product.sums = <const int32_t *>cnp.PyArray_DATA(starts)
            p.product.a_offset = <uint32_t>(SHIFTED if shifted(&p.product) else 0) - 1
        elif self.bias is not None:
            p.bias = <const int32_t *>cnp.PyArray_DATA(self.bias)
        p.stage = &stage.stage
        p.codes, p.typenum = cnp.PyArray_BYTES(made), typenum_of(made)
        p.size = <int>cnp.PyArray_ITEMSIZE(made)
        return run_coded(&p, num_threads)


@cython.final
cdef class Rows(Kernel):
    """A prepared product of x by B, to codes. x has any shape: it is read as rows with one code for each row of B.

    typenum: numpy's number of the dtype of x. keeps: the result has all axes of x but the last, which then must be
    whole rows; else it has two axes.
    """
    cdef MatMul matmul
    cdef cnp.ndarray starts  # or None
    cdef int typenum
    cdef int32_t zero_point
    cdef bint keeps

    def __init__(self, MatMul matmul, int typenum, int32_t zero_point=0, *, bint keeps=False):
        self.matmul, self.typenum, self.zero_point, self.keeps = matmul, typenum, zero_point, keeps
        self.starts = None
        if matmul.bias is not None and matmul.b.kernel.amx[0] == NULL:  # AMX begins with others
            self.starts = self.starts_of(matmul.b)

    cdef cnp.ndarray starts_of(self, PackedB b):
        """Give what accumulators begin with, if AMX does not multiply."""
        cdef cnp.ndarray made = np.empty_like(b.sums)
        cdef Product p
        set_packed(&p, b)
        p.a_signed, p.a_offset = self.typenum == cnp.NPY_INT8, <uint32_t>self.zero_point
        begin_with_bias(&p, <const int32_t *>cnp.PyArray_DATA(self.matmul.bias), False, &p,
                        <int32_t *>cnp.PyArray_DATA(made))
        return made

    def __call__(self, x, out=None, num_threads=1):
        """Multiply x - zero_point by B, into `out` if that is given; errors name x, w, out and num_threads."""
        cdef Py_ssize_t threads = int32(num_threads, "num_threads", 1)
        return self.codes_of(array_of(x, "x"), out, threads)

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        return self.codes_of(a, None, 1)

    cdef object codes_of(self, cnp.ndarray data, out, Py_ssize_t threads):
        """Do what `__call__` says, on checked arguments but for the type and shape of `data` and `out`."""
        cdef cnp.ndarray made = None
        cdef Py_ssize_t k = self.matmul.b.k, ndim = cnp.PyArray_NDIM(data)
        cdef cnp.npy_intp[MAX_DIMS] shape
        cdef bint has_rows
        take(data, "x", self.typenum)
        if k == 0 or cnp.PyArray_SIZE(data) % k or self.keeps and (ndim == 0 or cnp.PyArray_DIM(data, ndim - 1) != k):
            raise bad_value("x, w", f"shape {(<object>data).shape} does not fit weights of {k} inputs")
        shape[0] = cnp.PyArray_SIZE(data) // k
        if self.keeps:
            for i in range(ndim - 1):
                shape[i] = cnp.PyArray_DIM(data, i)
        else:
            ndim = 2
        shape[ndim - 1] = self.matmul.b.n
        if out is not None:
            writable(out, self.matmul.typenum, ndim, shape)
            apart(out, data, None)
            made = out if cnp.PyArray_ISCARRAY(out) else None
        if made is None:
            made = cnp.PyArray_EMPTY(ndim, shape, self.matmul.typenum, 0)
        if cnp.PyArray_NDIM(data) != 2 or cnp.PyArray_DIM(data, 1) != k:
            data = (<object>data).reshape(-1, k)
        has_rows = cnp.PyArray_SIZE(made) > 0 and cnp.PyArray_IS_C_CONTIGUOUS(data)
        if self.matmul.offsets is None and threads == 1 and has_rows:
            self.matmul.make_parts(data, <uint32_t>self.zero_point, None, made, self.matmul.codes, 1, self.starts)
        else:
            self.matmul.make_codes(data, self.zero_point, made, self.matmul.codes, threads)
        if out is not None and made is not out:
            cnp.PyArray_CopyInto(out, made)
            return out
        return made
