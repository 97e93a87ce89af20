"""Two tensors of codes into a third: a value of each pair of codes, which a stage makes a code of.

    product    (a - a_zero) * (b - b_zero)
    sum        (a - a_zero) * a_multiplier + (b - b_zero) * b_multiplier
    float sum  fma(a - a_zero, a_scale, a_plus) + fma(b - b_zero, b_scale, b_plus)
    chain      fma(a - a_zero, a_scale, fma(b - b_zero, b_scale, b_plus))
    staged     ((a - a_zero) << a_multiplier) + stage((b - b_zero) << b_multiplier), by a stage of its own

Integers are int32; fma is one rounding to float32.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t

from qops._kernels.stage.float_stage cimport FloatRow, float_maker
from qops._kernels.stage.maker cimport code_size, make
from qops._kernels.stage.rounding cimport fma_f32
from qops._kernels.stage.rows cimport Codes
from qops._kernels.arrays.concat cimport plain
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk

import numpy as np

cnp.import_array()

cdef extern from "stage/pair_stage.h":
    ctypedef enum Type "pair_codes":
        U8 "PAIR_U8"
        S8 "PAIR_S8"
        S16 "PAIR_S16"
    Py_ssize_t product_codes_8__simd(int, const void*, const void*, void*, bint, Py_ssize_t, Side, Side,
                                     const FloatRow*) nogil
    Py_ssize_t pair_values__simd(int, const void*, const void*, Type, void*, Py_ssize_t, Side, Side, Form) nogil

cdef enum:
    BLOCK = 1024  # values between the loops: 4 KB

ctypedef fused code:
    uint8_t
    int8_t
    int16_t

FORMS = {"product": PRODUCT, "sum": SUM, "float sum": FLOAT_SUM, "chain": CHAIN, "staged": SHIFTED}


cdef inline float real(int32_t q, Side s, float plus) noexcept nogil:
    return fma_f32(<float>(q - s.zero), s.scale, plus)


cdef inline void values_of(const code* a, const code* b, void* x, Py_ssize_t n, Side p, Side s,
                           Form form) noexcept nogil:
    """The int32 or float32 values of pairs of codes."""
    cdef int32_t* whole = <int32_t*>x
    cdef float* reals = <float*>x
    cdef Type type = S16 if code is int16_t else S8 if code is int8_t else U8
    cdef Py_ssize_t i = pair_values__simd(tier(), a, b, type, x, n, p, s, form)
    if form == PRODUCT:
        for i in range(i, n):
            whole[i] = (a[i] - p.zero) * (b[i] - s.zero)
    elif form == SHIFTED:
        for i in range(i, n):
            whole[i] = (b[i] - s.zero) * (1 << s.multiplier)
    elif form == ONTO:
        for i in range(i, n):
            whole[i] += (a[i] - p.zero) * (1 << p.multiplier)
    elif form == SUM:
        for i in range(i, n):
            whole[i] = (a[i] - p.zero) * p.multiplier + (b[i] - s.zero) * s.multiplier
    elif form == CHAIN:
        for i in range(i, n):
            reals[i] = real(a[i], p, real(b[i], s, s.plus))
    else:
        for i in range(i, n):
            reals[i] = real(a[i], p, p.plus) + real(b[i], s, s.plus)


cdef inline void block_of(const code* a, const code* b, void* x, Py_ssize_t n, Pairs* p) noexcept nogil:
    cdef int32_t[BLOCK] near
    values_of(a, b, near if p.form == SHIFTED else x, n, p.a, p.b, p.form)
    if p.form == SHIFTED:
        p.of_b.codes(near, <int32_t*>x, n, p.of_b.row)
        values_of(a, b, x, n, p.a, p.b, ONTO)


cdef void pairs_of(char** data, Py_ssize_t i, Py_ssize_t n, Pairs* p) noexcept nogil:
    """The codes i..n - 1."""
    cdef int32_t[BLOCK] x
    cdef const char* a = data[1 if p.exchanged else 0]
    cdef const char* b = data[0 if p.exchanged else 1]
    cdef Py_ssize_t count
    if p.form == PRODUCT and p.size == 1 and p.last.bytes == float_maker(False, NULL).bytes:
        i += product_codes_8__simd(tier(), a + i, b + i, data[2] + i, p.is_signed, n - i, p.a, p.b,
                                   <const FloatRow*>p.last.row)
    while i < n:
        count = min(n - i, <Py_ssize_t>BLOCK)
        if p.size == 2:
            block_of(<const int16_t*>a + i, <const int16_t*>b + i, x, count, p)
        elif p.is_signed:
            block_of(<const int8_t*>a + i, <const int8_t*>b + i, x, count, p)
        else:
            block_of(<const uint8_t*>a + i, <const uint8_t*>b + i, x, count, p)
        make(&p.last, x, data[2] + i * p.size, p.size, p.is_signed, count)
        i += count


cdef void pairs_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Pairs* p = <Pairs*>using
    cdef Pairs tail
    cdef Py_ssize_t whole = n
    if p.tail is not NULL:
        tail = p.tail[0]
        tail.size, tail.is_signed = p.size, p.is_signed
        whole -= n % p.width
        pairs_of(data, whole, n, &tail)
    pairs_of(data, 0, whole, p)


cdef class PairCodes:
    """A form with its numbers, made once: `pairs(a, b, out)` sets out to the codes of two arrays of its dtype.

    With a `tail`, it computes `width` elements together, and the tail those at the end that do not fill it.
    """

    def __init__(self, str form, Side a, Side b, Codes last, *, Codes of_b=None, bint exchanged=False):
        cdef Pairs* p = &self.pairs
        cdef bint is_real
        p.form, p.a, p.b, p.exchanged, p.width, p.tail = FORMS[form], a, b, exchanged, 1, NULL
        is_real = p.form == FLOAT_SUM or p.form == CHAIN
        p.last = last.maker(cnp.NPY_FLOAT32 if is_real else cnp.NPY_INT32)
        if p.form == SHIFTED:
            p.of_b = of_b.maker(cnp.NPY_INT32)
        self.stages = last, of_b

    def with_tail(self, Py_ssize_t width, PairCodes tail):
        """The same, with a tail."""
        if width < 1:
            raise ValueError(f"width: expected 1 or more, got {width}")
        self.pairs.width, self.tail = width, tail
        return self

    def __call__(self, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
        cdef int typenum = cnp.PyArray_TYPE(out)
        if typenum not in (cnp.NPY_UINT8, cnp.NPY_INT8, cnp.NPY_INT16):
            raise TypeError(f"out: expected uint8, int8 or int16, got {(<object>out).dtype}")
        if cnp.PyArray_TYPE(a) != typenum or cnp.PyArray_TYPE(b) != typenum:
            raise TypeError(f"a, b: expected {(<object>out).dtype}, got {(<object>a).dtype} and {(<object>b).dtype}")
        self.fill(a, b, out)

    cdef object fill(self, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
        """The same of arrays whose dtypes are known to fit."""
        cdef Pairs p = self.pairs
        cdef cnp.ndarray near = out
        p.size, p.is_signed = code_size(out), cnp.PyArray_ISSIGNED(out)
        if cnp.PyArray_SIZE(out) % p.width:
            p.tail = &self.tail.pairs
            a, b = plain(a), plain(b)
            near = out if cnp.PyArray_IS_C_CONTIGUOUS(out) else np.empty(np.shape(out), (<object>out).dtype)
        walk(pairs_loop, &p, a, b, near)
        if near is not out:
            cnp.PyArray_CopyInto(out, near)
