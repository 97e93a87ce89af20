"""SOFTMAX of rows of codes of 8 bits: a table has what each difference to the row's largest code gives.

With floats a code is ``lowest + round(p * (1 / (total * scale)))``, where p is read from the table, and scale is the
result's. The total is added up one after the other; each step is rounded to float32. In fixed point the table has
exponentials with 31 bits behind the point, and one over their sum is made by three steps of Newton's method.
"""
cimport cython
cimport numpy as cnp
from libc.math cimport roundf, truncf
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport apart, array_of, take, writable
from qops._kernels.arrays.steps cimport Kernel
from qops._kernels.machine.host cimport check_rounding
from qops._kernels.stage.rounding cimport clamp_s64, half_up_high_s32, shifted_half_away, wrap_s32

import numpy as np
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef enum:
    CODES = 256  # as many differences there are

ctypedef fused code:
    int8_t
    uint8_t

ctypedef fused result:
    int8_t
    uint8_t
    int16_t


cdef struct Shares:
    const float *floats  # by the difference to the largest code; or NULL
    const int32_t *parts  # the same in fixed point, 0 where the difference is too large
    bint half_up  # whether floats are rounded half up, else half away
    int bits  # of a code of the result
    float scale  # of the result
    int32_t lowest


cdef int64_t reciprocal(int64_t a) noexcept nogil:
    """Give 1 / (1 + a) for a from 0 to 1, with 31 bits behind the point, as gemmlowp does."""
    cdef int64_t half = (a + 2147483647 + 1) >> 1
    cdef int64_t x = 1515870810 + half_up_high_s32(half, -1010580540)
    cdef int64_t step
    for _ in range(3):
        step = 4 * half_up_high_s32(x, (<int64_t>1 << 29) - half_up_high_s32(half, x))
        x += clamp_s64(step, -2147483648, 2147483647)
    return clamp_s64(2 * x, -2147483648, 2147483647)


cdef inline int leading_zeros(int64_t v) noexcept nogil:
    """Count the zeros of 32 bits before a positive number; it is below 0 for more bits."""
    cdef int zeros = 32
    while v:
        v >>= 1
        zeros -= 1
    return zeros


cdef inline void row_in_floats(const code *x, result *y, Py_ssize_t n, int32_t most, const Shares *p) noexcept nogil:
    cdef float total = 0, factor, value
    cdef Py_ssize_t i
    for i in range(n):
        total += p.floats[most - x[i]]
    factor = <float>1 / (total * p.scale)
    for i in range(n):
        value = p.floats[most - x[i]] * factor
        value = truncf(value + <float>0.5) if p.half_up else roundf(value)
        y[i] = <result>clamp_s64(p.lowest + <int64_t>value, p.lowest, p.lowest + (1 << p.bits) - 1)


cdef inline void row_in_fixed_point(const code *x, result *y, Py_ssize_t n, int32_t most,
                                    const Shares *p) noexcept nogil:
    cdef int64_t total = 0, scale, near
    cdef Py_ssize_t i
    cdef int zeros, shift
    for i in range(n):
        total += shifted_half_away(p.parts[most - x[i]], 12)
    zeros = leading_zeros(total)
    near = total << zeros if zeros >= 0 else total >> -zeros
    scale = reciprocal(wrap_s32(near - (<int64_t>1 << 31)))
    shift = 12 - zeros + 31 - p.bits
    for i in range(n):
        near = shifted_half_away(half_up_high_s32(scale, p.parts[most - x[i]]), shift)
        y[i] = <result>clamp_s64(p.lowest + near, p.lowest, p.lowest + (1 << p.bits) - 1)


cdef void make_rows(const code *x, result *y, Py_ssize_t rows, Py_ssize_t n, const Shares *p) noexcept nogil:
    cdef Py_ssize_t row, i
    cdef int32_t most
    for row in range(rows):
        most = x[row * n]
        for i in range(1, n):
            most = max(most, <int32_t>x[row * n + i])
        if p.floats != NULL:
            row_in_floats(x + row * n, y + row * n, n, most, p)
        else:
            row_in_fixed_point(x + row * n, y + row * n, n, most, p)


@cython.final
cdef class RowShares(Kernel):
    """A prepared softmax over the last axis, of codes of 8 bits.

    typenum, result_typenum: numpy's numbers of the dtypes of the data and of the results.
    table: 256 exponentials by the difference of codes, float32 or, with 31 bits behind the point, int32.
    scale: the results'; fixed point does not read it. half_up: how floats are rounded.
    """
    cdef int typenum, result_typenum
    cdef cnp.ndarray table
    cdef Shares shares

    def __init__(self, int typenum, int result_typenum, cnp.ndarray table not None, float scale, *, bint half_up=False):
        self.typenum, self.result_typenum, self.table = typenum, result_typenum, np.array(table)
        if cnp.PyArray_SIZE(self.table) != CODES:
            raise bad_value("table", f"expected {CODES} numbers, got {cnp.PyArray_SIZE(self.table)}")
        self.shares.scale = scale
        self.shares.floats, self.shares.parts, self.shares.half_up = NULL, NULL, half_up
        if cnp.PyArray_TYPE(self.table) == cnp.NPY_FLOAT32:
            self.shares.floats = <const float *>cnp.PyArray_DATA(self.table)
        elif cnp.PyArray_TYPE(self.table) == cnp.NPY_INT32:
            self.shares.parts = <const int32_t *>cnp.PyArray_DATA(self.table)
        else:
            raise bad_type("table", f"expected float32 or int32, got {self.table.dtype}")
        self.shares.bits = 16 if result_typenum == cnp.NPY_INT16 else 8
        self.shares.lowest = 0 if result_typenum == cnp.NPY_UINT8 else -(1 << (self.shares.bits - 1))

    def __call__(self, x, out=None):
        """Give the shares of each row of x, in `out` if that is given; errors name x and out."""
        return self.shares_of(array_of(x, "x"), out)

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        return self.shares_of(a, None)

    cdef object shares_of(self, cnp.ndarray data, out):
        """Do what `__call__` says, on an array."""
        cdef cnp.ndarray made
        cdef int ndim = cnp.PyArray_NDIM(data)
        cdef cnp.npy_intp *shape = cnp.PyArray_DIMS(data)
        check_rounding()
        take(data, "x", self.typenum)
        if ndim == 0 or shape[ndim - 1] == 0:
            raise bad_value("x", f"expected rows of at least 1 code, got shape {(<object>data).shape}")
        if out is not None:
            writable(out, self.result_typenum, ndim, shape)
            apart(out, data, None)
        data = cnp.PyArray_GETCONTIGUOUS(data)
        made = out if out is not None and cnp.PyArray_ISCARRAY(out) else None
        if made is None:
            made = cnp.PyArray_EMPTY(ndim, shape, self.result_typenum, 0)
        self.make(data, made, shape[ndim - 1])
        if out is not None and made is not out:
            cnp.PyArray_CopyInto(out, made)
            return out
        return made

    cdef void make(self, cnp.ndarray x, cnp.ndarray y, Py_ssize_t n):
        """Make all rows of n codes."""
        cdef const void *data = cnp.PyArray_DATA(x)
        cdef void *to = cnp.PyArray_DATA(y)
        cdef Py_ssize_t rows = cnp.PyArray_SIZE(x) // n
        with nogil:
            if self.typenum == cnp.NPY_UINT8:
                make_rows(<const uint8_t *>data, <uint8_t *>to, rows, n, &self.shares)
            elif self.result_typenum == cnp.NPY_INT16:
                make_rows(<const int8_t *>data, <int16_t *>to, rows, n, &self.shares)
            else:
                make_rows(<const int8_t *>data, <int8_t *>to, rows, n, &self.shares)
