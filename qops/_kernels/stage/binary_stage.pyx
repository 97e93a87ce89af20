"""Two tensors of codes make a third: two codes make a value, and a stage takes the value to a code.

    product    (a - a_zero) * (b - b_zero)
    sum        (a - a_zero) * a_multiplier + (b - b_zero) * b_multiplier
    float sum  fma(a - a_zero, a_scale, a_plus) + fma(b - b_zero, b_scale, b_plus)
    chain      fma(a - a_zero, a_scale, fma(b - b_zero, b_scale, b_plus))
    staged     a's part + b's part. b's part is of_b((b - b_zero) << b_multiplier), where of_b is a stage; a's part is
               the same with a stage of_a, or without one (a - a_zero) << a_multiplier. Of a difference, the part of
               the second array is subtracted

Integers are int32. Products and sums of two parts wrap, and so do codes less zero points that are no codes; fma is one
rounding to float32.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport array, output, take
from qops._kernels.arrays.concat cimport plain
from qops._kernels.arrays.walk cimport walk
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.float_stage cimport FloatParams
from qops._kernels.stage.integer_stage cimport IntegerParams
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rounding cimport fma_f32, wrap_s32
from qops._kernels.stage.stage cimport BLOCK, INTEGER, REAL, stage_run

import numpy as np
from qops._kernels.arrays.refusal import bad_type

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

cdef extern from "stage/binary_stage.h":
    ctypedef enum OperandType "operand_type":
        U8 "BINARY_U8"
        S8 "BINARY_S8"
        S16 "BINARY_S16"
    Py_ssize_t product_codes_8__simd(int, const void*, const void*, void*, bint, Py_ssize_t, Operand, Operand,
                                     const FloatParams*) nogil
    Py_ssize_t sum_codes_8__simd(int, const void*, const void*, void*, bint, Py_ssize_t, Operand, Operand,
                                 const IntegerParams*) nogil
    Py_ssize_t binary_values__simd(int, const void*, const void*, OperandType, void*, Py_ssize_t, Operand, Operand,
                                   BinaryForm) nogil

ctypedef fused code:
    uint8_t
    int8_t
    int16_t

cdef inline int32_t less(int32_t q, int32_t zero) noexcept nogil:
    return wrap_s32(<int64_t>q - zero)


cdef inline void negate(int32_t* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = wrap_s32(-<int64_t>x[i])


cdef inline float real(int32_t q, Operand s, float plus) noexcept nogil:
    """Give fma(q - zero, scale, plus)."""
    return fma_f32(<float>(q - s.zero), s.scale, plus)


cdef inline void values_of(const code* a, const code* b, void* x, Py_ssize_t n, Operand p, Operand s,
                           BinaryForm form) noexcept nogil:
    """Set x to the int32 or float32 values of n elements; p are the parameters of a, s those of b.

    SHIFTED sets x to the shifted code of b alone. ONTO adds the shifted code of a to x.
    """
    cdef int32_t* whole = <int32_t*>x
    cdef float* reals = <float*>x
    cdef OperandType type = S16 if code is int16_t else S8 if code is int8_t else U8
    cdef Py_ssize_t i = binary_values__simd(tier(), a, b, type, x, n, p, s, form)
    if form == PRODUCT:
        for i in range(i, n):
            whole[i] = wrap_s32(<int64_t>less(a[i], p.zero) * less(b[i], s.zero))
    elif form == SHIFTED:
        for i in range(i, n):
            whole[i] = wrap_s32(<int64_t>less(b[i], s.zero) * (1 << s.multiplier))
    elif form == ONTO:
        for i in range(i, n):
            whole[i] = wrap_s32(<int64_t>whole[i] + <int64_t>less(a[i], p.zero) * (1 << p.multiplier))
    elif form == SUM:
        for i in range(i, n):
            whole[i] = (a[i] - p.zero) * p.multiplier + (b[i] - s.zero) * s.multiplier
    elif form == CHAIN:
        for i in range(i, n):
            reals[i] = real(a[i], p, real(b[i], s, s.plus))
    else:
        for i in range(i, n):
            reals[i] = real(a[i], p, p.plus) + real(b[i], s, s.plus)


cdef inline void block_of(const code* a, const code* b, void* x, Py_ssize_t n, const BinaryParams* p) noexcept nogil:
    """Set x to the values of at most BLOCK elements, after the stages of the operands if the form is "staged"."""
    cdef int32_t[BLOCK] near, part
    cdef int32_t* sum = <int32_t*>x
    cdef Py_ssize_t i
    values_of(a, b, near if p.form == SHIFTED else x, n, p.a, p.b, p.form)
    if p.form == SHIFTED:
        stage_run(&p.of_b, near, cnp.NPY_INT32, x, cnp.NPY_INT32, 0, n)
        if p.is_difference:
            negate(sum, n)
    if p.form == SHIFTED and p.has_of_a:
        values_of(b, a, near, n, p.b, p.a, SHIFTED)
        stage_run(&p.of_a, near, cnp.NPY_INT32, part, cnp.NPY_INT32, 0, n)
        for i in range(n):
            sum[i] = wrap_s32(<int64_t>sum[i] + part[i])
    elif p.form == SHIFTED:
        values_of(a, b, x, n, p.a, p.b, ONTO)
    if p.is_difference and p.exchanged:
        negate(sum, n)


cdef void binary_codes(char** data, Py_ssize_t i, Py_ssize_t n, const BinaryParams* p) noexcept nogil:
    """Make the codes of elements i to n - 1. data: the first array, the second, the result."""
    cdef int32_t[BLOCK] x
    cdef const char* a = data[1 if p.exchanged else 0]
    cdef const char* b = data[0 if p.exchanged else 1]
    cdef int x_type = cnp.NPY_FLOAT32 if p.form == FLOAT_SUM or p.form == CHAIN else cnp.NPY_INT32
    cdef Py_ssize_t some, size = 2 if p.typenum == cnp.NPY_INT16 else 1
    if p.form == PRODUCT and size == 1 and p.last.kind == REAL:
        i += product_codes_8__simd(tier(), a + i, b + i, data[2] + i, p.typenum == cnp.NPY_INT8, n - i, p.a, p.b,
                                   &p.last.params.real)
    elif p.form == SUM and size == 1 and p.last.kind == INTEGER and p.last.before == NULL:
        i += sum_codes_8__simd(tier(), a + i, b + i, data[2] + i, p.typenum == cnp.NPY_INT8, n - i, p.a, p.b,
                               &p.last.params.integer)
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


cdef void binary_codes_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Make n codes, for `walk`; `tail` makes the codes behind the last whole width."""
    cdef const BinaryParams* p = <BinaryParams*>using
    cdef Py_ssize_t whole = n
    if p.tail is not NULL:
        whole -= n % p.width
        binary_codes(data, whole, n, p.tail)
    binary_codes(data, 0, whole, p)


cdef class BinaryStage(Kernel):
    """A form with its numbers. `run` makes the codes of two arrays; a call checks them and makes the result too."""

    def with_tail(self, Py_ssize_t width, BinaryStage tail):
        """Give this stage for whole groups of `width` elements, with `tail` for the elements behind the last group."""
        cdef BinaryStage made = BinaryStage.__new__(BinaryStage)
        made.params, made.alive = self.params, (self.alive, tail)
        made.params.width, made.params.tail = width, &tail.params
        return made

    def __call__(self, a, b, out=None):
        """Give the codes of two arrays that broadcast, in `out` if that is given; errors name a, b and out."""
        cdef int typenum = self.params.typenum
        return self.codes(array(a, "a", typenum), array(b, "b", typenum), out)

    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b):
        take(a, "a", self.params.typenum)
        take(b, "b", self.params.typenum)
        return self.codes(a, b, None)

    cdef object codes(self, cnp.ndarray a, cnp.ndarray b, out):
        """Give the codes of two arrays of the stage's type that broadcast, in `out`, which is checked."""
        cdef cnp.ndarray made = output(out, self.params.typenum, a, b)
        if not PyArray_SAMESHAPE(a, b):
            a, b = np.broadcast_to(a, np.shape(made)), np.broadcast_to(b, np.shape(made))
        self.run(a, b, made)
        return out if made is out else made

    def run(self, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out):
        """Make the codes of `a` and `b` in `out`; all have one shape."""
        cdef BinaryParams p = self.params
        cdef cnp.ndarray made = out
        if cnp.PyArray_TYPE(a) != p.typenum or cnp.PyArray_TYPE(b) != p.typenum or cnp.PyArray_TYPE(out) != p.typenum:
            types = ", ".join(str(x.dtype) for x in (<object>a, <object>b, <object>out))
            raise bad_type("a, b, out", f"expected {cnp.PyArray_DescrFromType(p.typenum)}, got {types}")
        if cnp.PyArray_SIZE(out) % p.width == 0:
            p.tail = NULL
        else:  # the tail is at the end of all elements, in row-major order
            a, b = plain(a), plain(b)
            made = out if cnp.PyArray_IS_C_CONTIGUOUS(out) else np.empty(np.shape(out), (<object>out).dtype)
        walk(binary_codes_loop, &p, a, b, made)
        if made is not out:
            cnp.PyArray_CopyInto(out, made)


cdef BinaryStage binary_stage(BinaryForm form, Operand a, Operand b, PreparedStage last, int typenum):
    """A form with the numbers of both operands. `last` takes values to codes.

    typenum: numpy's number of the dtype of all three arrays.
    """
    cdef BinaryStage made = BinaryStage.__new__(BinaryStage)
    cdef BinaryParams* p = &made.params
    if typenum != cnp.NPY_UINT8 and typenum != cnp.NPY_INT8 and typenum != cnp.NPY_INT16:
        raise bad_type("typenum", f"expected that of uint8, int8 or int16, got {typenum}")
    p.form, p.a, p.b, p.typenum, p.exchanged = form, a, b, typenum, False
    p.width, p.tail, p.last, p.has_of_a, p.is_difference = 1, NULL, last.stage, False, False
    made.alive = last
    return made


cdef BinaryStage staged(Operand a, Operand b, PreparedStage last, int typenum, PreparedStage of_a, PreparedStage of_b,
                        bint exchanged, bint is_difference):
    """The form "staged": `of_b` is the stage of b, `of_a` that of a, or None.

    exchanged: a and b of the form are the second and the first array. is_difference: the second array is subtracted.
    """
    cdef BinaryStage made = binary_stage(SHIFTED, a, b, last, typenum)
    cdef BinaryParams* p = &made.params
    p.of_b, p.has_of_a, p.exchanged, p.is_difference = of_b.stage, of_a is not None, exchanged, is_difference
    if p.has_of_a:
        p.of_a = of_a.stage
    made.alive = last, of_a, of_b
    return made
