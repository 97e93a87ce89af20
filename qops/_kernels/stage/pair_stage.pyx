"""Two tensors of codes into a third: a value of each pair of codes, which a stage makes a code of.

    product    (a - a_zero) * (b - b_zero)
    sum        (a - a_zero) * a_multiplier + (b - b_zero) * b_multiplier
    float sum  fma(a - a_zero, a_scale, a_plus) + fma(b - b_zero, b_scale, b_plus)
    chain      fma(a - a_zero, a_scale, fma(b - b_zero, b_scale, b_plus))
    staged     a's part + stage((b - b_zero) << b_multiplier), where a's part is made in the same way by a stage of its
               own, or without one is (a - a_zero) << a_multiplier

Integers are int32; fma is one rounding to float32.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t

from qops._kernels.arrays.concat cimport plain
from qops._kernels.arrays.walk cimport walk
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.float_stage cimport FloatParams
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rounding cimport fma_f32
from qops._kernels.stage.stage cimport REAL, stage_run

import numpy as np

cnp.import_array()

cdef extern from "stage/pair_stage.h":
    ctypedef enum Type "pair_codes":
        U8 "PAIR_U8"
        S8 "PAIR_S8"
        S16 "PAIR_S16"
    Py_ssize_t product_codes_8__simd(int, const void*, const void*, void*, bint, Py_ssize_t, Side, Side,
                                     const FloatParams*) nogil
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


cdef inline void block_of(const code* a, const code* b, void* x, Py_ssize_t n, const Pairs* p) noexcept nogil:
    cdef int32_t[BLOCK] near, part
    cdef int32_t* sum = <int32_t*>x
    cdef Py_ssize_t i
    values_of(a, b, near if p.form == SHIFTED else x, n, p.a, p.b, p.form)
    if p.form == SHIFTED:
        stage_run(&p.of_b, near, cnp.NPY_INT32, x, cnp.NPY_INT32, 0, n)
    if p.form == SHIFTED and p.has_of_a:
        values_of(b, a, near, n, p.b, p.a, SHIFTED)
        stage_run(&p.of_a, near, cnp.NPY_INT32, part, cnp.NPY_INT32, 0, n)
        for i in range(n):
            sum[i] += part[i]
    elif p.form == SHIFTED:
        values_of(a, b, x, n, p.a, p.b, ONTO)


cdef void pairs_of(char** data, Py_ssize_t i, Py_ssize_t n, const Pairs* p) noexcept nogil:
    """The codes i..n - 1."""
    cdef int32_t[BLOCK] x
    cdef const char* a = data[1 if p.exchanged else 0]
    cdef const char* b = data[0 if p.exchanged else 1]
    cdef int x_type = cnp.NPY_FLOAT32 if p.form == FLOAT_SUM or p.form == CHAIN else cnp.NPY_INT32
    cdef Py_ssize_t some, size = 2 if p.typenum == cnp.NPY_INT16 else 1
    if p.form == PRODUCT and size == 1 and p.last.kind == REAL:
        i += product_codes_8__simd(tier(), a + i, b + i, data[2] + i, p.typenum == cnp.NPY_INT8, n - i, p.a, p.b,
                                   &p.last.params.real)
    while i < n:
        some = min(n - i, <Py_ssize_t>BLOCK)
        if p.typenum == cnp.NPY_INT16:
            block_of(<const int16_t*>a + i, <const int16_t*>b + i, x, some, p)
        elif p.typenum == cnp.NPY_INT8:
            block_of(<const int8_t*>a + i, <const int8_t*>b + i, x, some, p)
        else:
            block_of(<const uint8_t*>a + i, <const uint8_t*>b + i, x, some, p)
        stage_run(&p.last, x, x_type, data[2] + i * size, p.typenum, 0, some)
        i += some


cdef void pairs_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef const Pairs* p = <Pairs*>using
    cdef Py_ssize_t whole = n
    if p.tail is not NULL:
        whole -= n % p.width
        pairs_of(data, whole, n, p.tail)
    pairs_of(data, 0, whole, p)


cdef class PairStage:
    """A form with its numbers: `pairs.run(a, b, out)` sets out to the codes of two arrays, all of one dtype.

    typenum: numpy's number of that dtype, uint8, int8 or int16. last: the stage that makes codes of the values. of_a,
    of_b: the stages of their own that operands of the form "staged" have. exchanged: a is the second array.
    """

    def __init__(self, str form, Side a, Side b, PreparedStage last, int typenum, *,
                 PreparedStage of_a or None=None, PreparedStage of_b or None=None, bint exchanged=False):
        cdef Pairs* p = &self.pairs
        if typenum != cnp.NPY_UINT8 and typenum != cnp.NPY_INT8 and typenum != cnp.NPY_INT16:
            raise TypeError(f"typenum: expected that of uint8, int8 or int16, got {typenum}")
        p.form, p.a, p.b, p.typenum, p.exchanged = FORMS[form], a, b, typenum, exchanged
        p.width, p.tail, p.last, p.has_of_a = 1, NULL, last.stage, of_a is not None
        if of_a is not None:
            p.of_a = of_a.stage
        if of_b is not None:
            p.of_b = of_b.stage
        elif p.form == SHIFTED:
            raise TypeError("of_b: expected a stage, as the form is 'staged', got None")
        self.alive = last, of_a, of_b

    def with_tail(self, Py_ssize_t width, PairStage tail):
        """The same of `width` elements together; those at the end that do not fill a width are the tail's."""
        cdef PairStage made = PairStage.__new__(PairStage)
        if width < 1 or tail.pairs.typenum != self.pairs.typenum:
            raise ValueError(f"width, tail: expected 1 or more, and a tail of the same dtype, got {width}")
        made.pairs, made.alive = self.pairs, (self.alive, tail)
        made.pairs.width, made.pairs.tail = width, &tail.pairs
        return made

    def run(self, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
        """Set out to the codes of a and b, of one shape."""
        cdef Pairs p = self.pairs
        cdef cnp.ndarray made = out
        for x, name in ((a, "a"), (b, "b"), (out, "out")):
            if cnp.PyArray_TYPE(x) != p.typenum:
                raise TypeError(f"{name}: expected {cnp.PyArray_DescrFromType(p.typenum)}, got {x.dtype}")
        if cnp.PyArray_SIZE(out) % p.width == 0:
            p.tail = NULL
        else:  # the tail is that of all elements in row-major order
            a, b = plain(a), plain(b)
            made = out if cnp.PyArray_IS_C_CONTIGUOUS(out) else np.empty(np.shape(out), (<object>out).dtype)
        walk(pairs_loop, &p, a, b, made)
        if made is not out:
            cnp.PyArray_CopyInto(out, made)
