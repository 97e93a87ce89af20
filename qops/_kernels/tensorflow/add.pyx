"""TensorFlow's QuantizedAdd and QuantizedBiasAdd: what each code of an operand is worth in output codes, and the sum.

A uint8 or int8 operand has 256 codes, so both ops are two tables and one loop; the tables are indexed by the byte.
"""

cimport numpy as cnp
from libc.math cimport fabsf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.tensorflow.formulas cimport (
    Codes,
    Line,
    Steps,
    codes_of,
    eigen_code,
    eigen_dequantize,
    eigen_quantize,
    float_to_quantized,
    larger,
    quantized_to_float,
    smaller,
)
from qops._kernels.core.walk cimport blocks

cnp.import_array()


cdef struct Terms:
    int32_t first  # output code of code 0
    int32_t step  # output codes from one code to the next


cdef struct AddTerms:
    float max
    Terms x, y


cdef int32_t in_new_range(int q, float lo, float hi, float out_max) noexcept nogil:
    """Output code of code q of the range (lo, hi): 2**14 * max |value| is out_max, so it has 17 bits and a sign."""
    cdef float value = quantized_to_float(q, lo, hi, codes_of(0, 255))
    return <int32_t>float_to_quantized(value, -out_max, out_max, codes_of(-2147483648, 2147483647))


cdef Terms terms(float lo, float hi, float out_max) noexcept nogil:
    """The codes of a whole tensor: those of code 0 and code 1, and so, by whole steps, of all others."""
    cdef Terms t
    t.first = in_new_range(0, lo, hi, out_max)
    t.step = in_new_range(1, lo, hi, out_max) - t.first
    return t


cdef AddTerms prepare_add(float min_x, float max_x, float min_y, float max_y) noexcept nogil:
    cdef AddTerms p
    p.max = larger(fabsf(smaller(min_x, min_y)), fabsf(larger(max_x, max_y))) * <float>16384
    p.x = terms(min_x, max_x, p.max)
    p.y = terms(min_y, max_y, p.max)
    return p


def quantized_add_integers(float min_x, float max_x, float min_y, float max_y):
    """What quantized_add uses for these ranges, as a dict: max, and first and step of x and of y."""
    return prepare_add(min_x, max_x, min_y, max_y)


cdef void by_steps(Terms t, int32_t* table) noexcept nogil:
    """table[q] = first + q * step."""
    cdef int q
    for q in range(256):
        table[q] = t.first + q * t.step


cdef void one_by_one(float lo, float hi, float out_max, int32_t* table) noexcept nogil:
    """The table of an operand that is one element: every code converted for itself, so with one rounding."""
    cdef int q
    for q in range(256):
        table[q] = in_new_range(q, lo, hi, out_max)


cdef void add_terms(const uint8_t* x, const uint8_t* y, int32_t* z, Py_ssize_t n,
                    const int32_t* of_x, const int32_t* of_y) noexcept nogil:
    """z = of_x[x] + of_y[y]; the sum wraps."""
    cdef Py_ssize_t i
    for i in range(n):
        z[i] = <int32_t>(<uint32_t>of_x[x[i]] + <uint32_t>of_y[y[i]])


cdef object add_by_tables(tuple arrays, const int32_t* of_x, const int32_t* of_y):
    cdef cnp.ndarray x, y, z
    for x, y, z in blocks(arrays):
        with nogil:
            add_terms(<uint8_t*>cnp.PyArray_DATA(x), <uint8_t*>cnp.PyArray_DATA(y), <int32_t*>cnp.PyArray_DATA(z),
                      cnp.PyArray_SIZE(z), of_x, of_y)


def quantized_add(cnp.ndarray x, float min_x, float max_x, cnp.ndarray y, float min_y, float max_y,
                  str single, cnp.ndarray out):
    """out = the int32 codes of x + y in the range (-max, max); returns max. `single`: which is one element, or ""."""
    cdef AddTerms p = prepare_add(min_x, max_x, min_y, max_y)
    cdef int32_t of_x[256]
    cdef int32_t of_y[256]
    by_steps(p.x, of_x)
    by_steps(p.y, of_y)
    if single == "x":
        one_by_one(min_x, max_x, p.max, of_x)
    elif single == "y":
        one_by_one(min_y, max_y, p.max, of_y)
    add_by_tables((x, y, out), of_x, of_y)
    return p.max


cdef float bias_add_max(float min_input, float max_input, float min_bias, float max_bias) noexcept nogil:
    return larger(max_input, larger(-min_input, larger(max_bias, -min_bias))) * <float>131072


def quantized_bias_add_max(float min_input, float max_input, float min_bias, float max_bias):
    """Upper end of the output range of quantized_bias_add; the lower one is its negative."""
    return bias_add_max(min_input, max_input, min_bias, max_bias)


cdef void by_value(Codes t, float lo, float hi, float out_max, int32_t* table) noexcept nogil:
    """table[byte of q] = the code of q's value, both conversions in float32."""
    cdef Line from_code = eigen_dequantize(lo, hi, t)
    cdef Steps to_code = eigen_quantize(-out_max, out_max, codes_of(-2147483648, 2147483647))
    cdef int64_t q
    for q in range(t.lowest, t.highest + 1):
        table[<uint8_t>q] = eigen_code(from_code.base + <float>q * from_code.scale, to_code)


def quantized_bias_add(cnp.ndarray x, float min_input, float max_input, cnp.ndarray bias, float min_bias,
                       float max_bias, cnp.ndarray out):
    """out = the int32 codes of x + bias, both uint8 or both int8, in the range (-max, max); returns max."""
    cdef float out_max = bias_add_max(min_input, max_input, min_bias, max_bias)
    cdef Codes wide = codes_of(-2147483648, 2147483647)
    cdef Codes narrow = codes_of(-128, 127) if cnp.PyArray_TYPE(x) == cnp.NPY_INT8 else codes_of(0, 255)
    cdef int32_t zero = <int32_t>float_to_quantized(0, -out_max, out_max, wide)
    cdef int32_t of_x[256]
    cdef int32_t of_bias[256]
    cdef int q
    by_value(narrow, min_input, max_input, out_max, of_x)
    by_value(narrow, min_bias, max_bias, out_max, of_bias)
    for q in range(256):
        of_bias[q] = <int32_t>(<uint32_t>of_bias[q] + <uint32_t>zero)
    add_by_tables((x, bias, out), of_x, of_bias)
    return out_max
