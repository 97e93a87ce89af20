"""TensorFlow's Uniform* ops: quantize, dequantize, and requantize to another scale and zero point.

Zero points are subtracted and added in int32, which wraps. An int32 code is first rounded to float32, which has 24
bits. From 2**31 - 64 on, that float32 is 2**31, which x86 converts to -2**31.
"""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, INT32_MIN, int8_t, int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.stage.float_stage cimport LOWEST_WRAPS, FloatParams, float_params
from qops._kernels.stage.integer_stage cimport IntegerParams, integer_params, shift_by
from qops._kernels.stage.lookup cimport look_up
from qops._kernels.stage.rounding cimport HALF_UP, truncate_x86_s32
from qops._kernels.stage.stage cimport BLOCK, Stage, float_stage, integer_stage, stage_over, stage_run
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk

cnp.import_array()

ctypedef fused code:
    uint8_t
    int8_t
    int32_t


cdef extern from "tensorflow/uniform.h":
    ctypedef struct UniformParams "uniform_params":
        int32_t zero_point, lowest, highest
        float scale
        int typenum  # numpy's type number of the codes
    Py_ssize_t uniform_near__simd(int, const int32_t*, int32_t*, Py_ssize_t, int32_t) nogil
    Py_ssize_t uniform_sum__simd(int, const int32_t*, const int32_t*, int32_t*, Py_ssize_t, UniformParams) nogil


cdef inline int32_t read(code q) noexcept nogil:
    return truncate_x86_s32(<float>q) if code is int32_t else <int32_t>q


cdef inline int32_t near(code q, int32_t zero_point) noexcept nogil:
    return <int32_t>(<uint32_t>read(q) - <uint32_t>zero_point)


cdef inline int32_t cut_to(uint32_t x, int32_t lowest, int32_t highest) noexcept nogil:
    """Clamp the low 32 bits of a number. 32-bit arithmetic vectorizes best."""
    cdef int32_t v = <int32_t>x
    v = lowest if v < lowest else v
    return highest if v > highest else v


# ---------------------------------------------------------------- from one scale to another


cdef class Scaling:
    """Requantizes codes to another scale and zero point, rounded half up once.

        near = q - in_zero                      in int32, which wraps; for int32 codes in int64 if `is_wide`
        code = clamp(saturate_s32(near * multiplier / 2**right_shift) + zero_point, lowest, highest)
    """
    cdef int32_t in_zero
    cdef bint is_wide
    cdef Stage stage

    def __init__(self, int multiplier, int right_shift, int32_t in_zero, int32_t zero_point, int32_t lowest,
                 int32_t highest, bint is_wide=False):
        cdef int64_t widest = (<int64_t>multiplier << 32 >> right_shift) + 1
        cdef IntegerParams p = integer_params(multiplier, shift_by(right_shift, HALF_UP), lowest, highest)
        self.in_zero, self.is_wide = in_zero, is_wide and in_zero != 0
        p.least, p.most, p.zero_point = INT32_MIN, INT32_MAX, zero_point
        p.code_wraps = zero_point != 0 and widest + abs(<int64_t>zero_point) > INT32_MAX
        self.stage = integer_stage(&p)


cdef void near_all(const code* q, int32_t* near_zero, Py_ssize_t n, int32_t zero_point) noexcept nogil:
    cdef Py_ssize_t i = 0
    if code is int32_t:
        i = uniform_near__simd(tier(), q, near_zero, n, zero_point)
    for i in range(i, n):
        near_zero[i] = near(q[i], zero_point)


cdef void near_wide(const int32_t* q, int64_t* near_zero, Py_ssize_t n, int32_t zero_point) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        near_zero[i] = <int64_t>read(q[i]) - zero_point


cdef struct Rescaling:
    int32_t in_zero
    bint is_wide
    Stage stage
    int in_type, out_type, out_size


cdef void requantize_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Rescaling* s = <Rescaling*>using
    cdef int64_t[BLOCK] wide
    cdef int32_t[BLOCK] near_zero
    cdef const int32_t* codes = <int32_t*>data[0]
    cdef Py_ssize_t first, count
    for first from 0 <= first < n by BLOCK:
        count = min(n - first, <Py_ssize_t>BLOCK)
        if s.in_type == cnp.NPY_INT8:
            near_all(<int8_t*>data[0] + first, near_zero, count, s.in_zero)
        elif s.is_wide:
            near_wide(codes + first, wide, count, s.in_zero)
        else:
            near_all(codes + first, near_zero, count, s.in_zero)
        stage_run(&s.stage, <void*>wide if s.is_wide else <void*>near_zero,
                  cnp.NPY_INT64 if s.is_wide else cnp.NPY_INT32, data[1] + first * s.out_size, s.out_type, 0, count)


cdef Rescaling rescaling_of(Scaling scaling, cnp.ndarray q, cnp.ndarray out):
    cdef Rescaling s
    s.in_type, s.out_type, s.out_size = typenum_of(q), typenum_of(out), cnp.PyArray_ITEMSIZE(out)
    s.in_zero, s.is_wide, s.stage = scaling.in_zero, scaling.is_wide and s.in_type == cnp.NPY_INT32, scaling.stage
    return s


def requantize(cnp.ndarray q, Scaling scaling, cnp.ndarray out):
    """Requantize int8 or int32 codes to another scale; `out` is int8 or int32."""
    cdef Rescaling s = rescaling_of(scaling, q, out)
    cdef int8_t[256] codes
    cdef int32_t[256] table
    cdef char* data[2]
    cdef int i
    if s.in_type == cnp.NPY_INT32 or cnp.PyArray_SIZE(q) < 256:
        walk(requantize_loop, &s, q, out)
        return
    for i in range(256):
        codes[i] = <int8_t>i
    data[0], data[1] = <char*>codes, <char*>table
    requantize_loop(data, 256, &s)
    look_up(q, table, out)


def requantize_sums(cnp.ndarray acc, Scaling scaling, cnp.ndarray out):
    """Requantize int32 accumulators to int32 codes. They are not rounded to float32 first."""
    stage_over(&scaling.stage, acc, out)


cdef struct Sum:
    Rescaling a, b
    UniformParams ends


cdef void sum_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Sum* s = <Sum*>using
    cdef int32_t[BLOCK] x, y
    cdef int32_t* z = <int32_t*>data[2]
    cdef char* left[2]
    cdef char* right[2]
    cdef Py_ssize_t first, count, i
    for first from 0 <= first < n by BLOCK:
        count = min(n - first, <Py_ssize_t>BLOCK)
        left[0], left[1] = data[0] + 4 * first, <char*>x
        right[0], right[1] = data[1] + 4 * first, <char*>y
        requantize_loop(left, count, &s.a)
        requantize_loop(right, count, &s.b)
        for i in range(uniform_sum__simd(tier(), x, y, z + first, count, s.ends), count):
            z[first + i] = cut_to(<uint32_t>read(x[i]) + <uint32_t>read(y[i]) + <uint32_t>s.ends.zero_point,
                                  s.ends.lowest, s.ends.highest)


def add(cnp.ndarray x, Scaling of_x, cnp.ndarray y, Scaling of_y, int32_t zero_point, int32_t lowest, int32_t highest,
        cnp.ndarray out):
    """out = clamp(codes of x + codes of y + zero_point, lowest, highest) in int32, which wraps; x and y broadcast.

    Both are first requantized to the scale of the sum. These are int32 codes too, so they are rounded to float32 again.
    """
    cdef Sum s
    s.a, s.b = rescaling_of(of_x, x, out), rescaling_of(of_y, y, out)
    s.ends = UniformParams(zero_point, lowest, highest, 0, cnp.NPY_INT32)
    walk(sum_loop, &s, x, y, out)


# ---------------------------------------------------------------- sums of products


cdef void add_products(const int8_t* b, float* acc, Py_ssize_t n, int32_t factor, int32_t zero_point) noexcept nogil:
    """acc = float32(acc + factor * (b - zero_point)). The product wraps in int32; a sum beyond int32 becomes -2**31."""
    cdef Py_ssize_t j
    cdef float total
    for j in range(n):
        total = acc[j] + <float><int32_t>(<uint32_t>factor * <uint32_t>near(b[j], zero_point))
        acc[j] = total if -<float>2147483648.0 <= total < <float>2147483648.0 else -<float>2147483648.0


def dot(cnp.ndarray a, int32_t a_zero, cnp.ndarray b, int32_t b_zero, cnp.ndarray out):
    """out (int32) = (a - a_zero) @ (b - b_zero) of contiguous int8 matrices. Sums are float32 after each product."""
    cdef const int8_t* left = <int8_t*>cnp.PyArray_DATA(a)
    cdef const int8_t* right = <int8_t*>cnp.PyArray_DATA(b)
    cdef int32_t* c = <int32_t*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t rows = a.shape[0], depth = a.shape[1], n = b.shape[1], i, j, k
    cdef cnp.ndarray row = cnp.PyArray_EMPTY(1, &b.shape[1], cnp.NPY_FLOAT32, 0)
    cdef float* acc = <float*>cnp.PyArray_DATA(row)
    with nogil:
        for i in range(rows):
            for j in range(n):
                acc[j] = 0
            for k in range(depth):
                add_products(right + k * n, acc, n, near(left[i * depth + k], a_zero), b_zero)
            for j in range(n):
                c[i * n + j] = truncate_x86_s32(acc[j])


# ---------------------------------------------------------------- floats


def quantize(cnp.ndarray x, float inverse, int32_t zero_point, int32_t lowest, int32_t highest, cnp.ndarray out):
    """Quantize float32 values to uint8, int8 or int32 codes; `inverse` is 1 / scale.

        c = clamp(int32(floor(x * inverse + 0.5)) + zero_point, lowest, highest)

    The sum wraps. The cast to int32 gives -2**31 for what int32 does not hold; that to the type of the codes may wrap.
    """
    cdef FloatParams p = float_params(inverse, HALF_UP, lowest, highest)
    cdef Stage s
    p.shift, p.beyond = zero_point, LOWEST_WRAPS
    s = float_stage(&p)
    stage_over(&s, x, out)


cdef void values(const code* q, float* x, Py_ssize_t n, UniformParams p) noexcept nogil:
    """x = float32(q - zero_point) * scale."""
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = <float>near(q[i], p.zero_point) * p.scale


cdef void values_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef UniformParams p = (<UniformParams*>using)[0]
    if p.typenum == cnp.NPY_UINT8:
        values(<uint8_t*>data[0], <float*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        values(<int8_t*>data[0], <float*>data[1], n, p)
    else:
        values(<int32_t*>data[0], <float*>data[1], n, p)


def dequantize(cnp.ndarray q, float scale, int32_t zero_point, cnp.ndarray out):
    """Dequantize uint8, int8 or int32 codes to float32 values."""
    cdef UniformParams p = UniformParams(zero_point, 0, 0, scale, typenum_of(q))
    walk(values_loop, &p, q, out)
