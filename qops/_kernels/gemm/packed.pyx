"""The matrix B of an integer product, packed once into panels for products with many A."""
cimport cython
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport array
from qops._kernels.machine.tiers cimport tier
from qops._kernels.gemm.tile cimport (
    Run, aligned, find_kernel, find_unsigned_kernel, gemm_kernel, pack_columns, padded_columns, panel_bytes,
    quads_of, sum_columns,
)

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.machine import tiers as isa

cnp.import_array()


cdef cnp.ndarray matrix(x, str name):
    """Give x as a matrix of int8 or uint8; ValueError or TypeError if it is none."""
    cdef cnp.ndarray a = array(x, name, cnp.NPY_INT8, cnp.NPY_UINT8)
    if cnp.PyArray_NDIM(a) != 2:
        raise bad_value(name, f"expected 2 dimensions, got shape {(<object>a).shape}")
    return a


cdef void shift(char* codes, Py_ssize_t n) noexcept nogil:
    """Subtract 128 from u8 codes, in place, which makes them s8 codes."""
    cdef Py_ssize_t i
    for i in range(n):
        codes[i] ^= 0x80


cdef cnp.ndarray signed_codes(cnp.ndarray b):
    """Give B as s8 codes, because the kernels multiply by s8 only; u8 codes become s8 codes that are 128 less."""
    if cnp.PyArray_TYPE(b) == cnp.NPY_INT8:
        return b
    b = cnp.PyArray_NewCopy(b, cnp.NPY_KEEPORDER)
    shift(cnp.PyArray_BYTES(b), cnp.PyArray_SIZE(b))
    return (<object>b).view(np.int8)


cdef cnp.ndarray runs_of(const gemm_kernel *kernel, Py_ssize_t k, pairs):
    """Give the runs of k in which pairs are formed, as rows (first, length, quads); one run if `pairs` is None.

    A start at an even distance from the one before it changes no pair and begins no run.
    """
    cdef Py_ssize_t start, before = 0, begin = 0
    starts = [0]
    for start in () if pairs is None else pairs:
        if not before <= start <= k:
            raise bad_value("pairs", f"expected them to rise from 0 to {k}, got {list(pairs)}")
        before = start
        if (start - begin) % 2:
            begin = start
            starts.append(start)
    ends = starts[1:] + [k]
    return np.array([(s, e - s, quads_of(kernel, e - s)) for s, e in zip(starts, ends)], np.intp)


cdef cnp.ndarray panels_for(int quad, Py_ssize_t columns, Py_ssize_t quads):
    """Memory for so many quads of `quad` bytes of each column, which may begin at a line of the cache."""
    cdef int64_t size = <int64_t>quad * columns * quads + 64  # in 64 bits, because Py_ssize_t may have 32
    if size > PY_SSIZE_T_MAX:
        raise MemoryError
    return np.empty(size, np.uint8)


@cython.final
cdef class PackedB:
    """B in packed panels for the kernel of one tier. ``pack_b`` makes it."""

    @property
    def shape(self):
        return self.k, self.n

    @property
    def nbytes(self):
        return self.memory.nbytes

    def __repr__(self):
        return f"PackedB(k={self.k}, n={self.n}, saturating={self.saturating}, tier={self.tier!r})"


def pack_b(b, *, pairs=None):
    """Pack B (k x n; int8, or uint8 if the product is exact) once for many products. `product` explains `pairs`."""
    cdef cnp.ndarray given = matrix(b, "b")
    cdef PackedB packed = PackedB.__new__(PackedB)
    cdef bint is_u8 = cnp.PyArray_TYPE(given) == cnp.NPY_UINT8
    cdef int on = tier()
    if is_u8 and pairs is not None:
        raise bad_value("pairs", "expected None for a b of uint8")
    packed.kernel = find_unsigned_kernel(on) if is_u8 else NULL
    packed.is_shifted = is_u8 and packed.kernel == NULL
    cdef cnp.ndarray source = by_rows(signed_codes(given) if packed.is_shifted else given)
    cdef Py_ssize_t ldb = cnp.PyArray_STRIDE(source, 0)
    cdef Py_ssize_t padded, i, quads = 0
    cdef const Run *runs
    packed.k = cnp.PyArray_DIM(source, 0)
    packed.n = cnp.PyArray_DIM(source, 1)
    packed.saturating = pairs is not None
    packed.tier = isa.TIERS[on]
    if packed.kernel == NULL:
        packed.kernel = find_kernel(packed.saturating, on)
    packed.runs = runs_of(packed.kernel, packed.k, pairs)
    packed.quads = packed.runs[:, 2].sum()
    padded = padded_columns(packed.kernel, packed.n)
    packed.memory = panels_for(panel_bytes(packed.kernel, 1, 1), padded, packed.quads)
    packed.panels = <uint8_t *>aligned(cnp.PyArray_DATA(packed.memory))
    packed.sums = np.zeros(padded, np.int32)
    runs = <const Run *>cnp.PyArray_DATA(packed.runs)
    for i in range(len(packed.runs)):
        pack_columns(packed.kernel, <const int8_t *>cnp.PyArray_DATA(source) + runs[i].first * ldb, ldb, runs[i].length,
                     packed.n, packed.panels, quads, packed.quads)
        quads += runs[i].quads
    sum_columns(packed.kernel, packed.panels, packed.quads, packed.n, <int32_t *>cnp.PyArray_DATA(packed.sums))
    packed.colsum = packed.sums[:packed.n]
    packed.colsum.flags.writeable = False
    return packed
