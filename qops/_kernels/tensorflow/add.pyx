"""TensorFlow's QuantizedAdd and QuantizedBiasAdd: each operand is converted to output codes, then both are added.

An 8-bit operand has 256 codes, so each op is two tables of output codes, indexed by the byte, and one loop.
"""

cimport numpy as cnp
from libc.math cimport fabsf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.tensorflow.formulas cimport (
    QuantizedType, QuantizedToFloatStruct, FloatToQuantizedStruct, quantized_type, eigen_code, eigen_dequantize,
    eigen_quantize, float_to_quantized, larger, quantized_to_float, qint32, smaller, quint8,
)
from qops._kernels.arrays.codes cimport code_type
from qops._kernels.arrays.walk cimport walk

cnp.import_array()


cdef struct Terms:
    int32_t first  # the output code of code 0
    int32_t step  # output codes per code step


cdef struct AddTerms:
    float max
    Terms x, y


cdef int32_t in_new_range(int q, float lo, float hi, float out_max) noexcept nogil:
    """The output code of code q in the range (lo, hi). As out_max is 2**14 * max |value|, it has 18 bits at most."""
    cdef float value = quantized_to_float(q, lo, hi, quint8())
    return <int32_t>float_to_quantized(value, -out_max, out_max, qint32())


cdef Terms terms(float lo, float hi, float out_max) noexcept nogil:
    """The terms of a tensor with several elements: codes 0 and 1 are converted, all others follow in whole steps."""
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


def quantized_add_integers(tuple x, tuple y):
    """The numbers of quantized_add for the ranges x and y, as a dict: max, and first and step of x and of y."""
    return prepare_add(x[0], x[1], y[0], y[1])


cdef void by_steps(Terms t, int32_t* table) noexcept nogil:
    """table[q] = first + q * step."""
    cdef int q
    for q in range(256):
        table[q] = t.first + q * t.step


cdef void one_by_one(float lo, float hi, float out_max, int32_t* table) noexcept nogil:
    """The table of an operand with one element, whose code is converted directly, so it is rounded once."""
    cdef int q
    for q in range(256):
        table[q] = in_new_range(q, lo, hi, out_max)


cdef struct Tables:  # the output code of each byte of an operand
    int32_t[256] x, y


cdef void add_tables(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """z = of_x[x] + of_y[y]; the sum wraps."""
    cdef const uint8_t* x = <uint8_t*>data[0]
    cdef const uint8_t* y = <uint8_t*>data[1]
    cdef int32_t* z = <int32_t*>data[2]
    cdef Tables* of = <Tables*>using
    cdef Py_ssize_t i
    for i in range(n):
        z[i] = <int32_t>(<uint32_t>of.x[x[i]] + <uint32_t>of.y[y[i]])


def quantized_add(tuple x, bint x_alone, tuple y, bint y_alone, cnp.ndarray out):
    """Write the int32 codes of x + y in the range (-max, max) to `out`; return max. `x_alone`: x is one element."""
    cdef AddTerms p = prepare_add(x[1], x[2], y[1], y[2])
    cdef Tables of
    if x_alone:
        one_by_one(x[1], x[2], p.max, of.x)
    else:
        by_steps(p.x, of.x)
    if y_alone:
        one_by_one(y[1], y[2], p.max, of.y)
    else:
        by_steps(p.y, of.y)
    walk(add_tables, &of, x[0], y[0], out)
    return p.max


def quantized_bias_add_max(tuple x, tuple bias):
    """The max of the output range of quantized_bias_add; min is -max."""
    cdef float x_min = x[1], x_max = x[2], bias_min = bias[1], bias_max = bias[2]
    return larger(x_max, larger(-x_min, larger(bias_max, -bias_min))) * <float>131072


cdef void by_value(QuantizedType t, float lo, float hi, float out_max, int32_t* table) noexcept nogil:
    """table[byte of q] = the output code of q. Both conversions, code to value to code, are in float32."""
    cdef QuantizedToFloatStruct from_code = eigen_dequantize(lo, hi, t)
    cdef FloatToQuantizedStruct to_code = eigen_quantize(-out_max, out_max, qint32())
    cdef int64_t q
    for q in range(t.lowest, t.highest + 1):
        table[<uint8_t>q] = eigen_code(from_code.base + <float>q * from_code.scale, to_code)


def quantized_bias_add(tuple x, tuple bias, float out_max, cnp.ndarray out):
    """Write the int32 codes of x + bias, both uint8 or both int8, in the range (-out_max, out_max) to `out`."""
    cdef QuantizedType wide = qint32()
    cdef QuantizedType narrow = quantized_type(code_type(x[0])[0])
    cdef int32_t zero = <int32_t>float_to_quantized(0, -out_max, out_max, wide)
    cdef Tables of
    cdef int q
    by_value(narrow, x[1], x[2], out_max, of.x)
    by_value(narrow, bias[1], bias[2], out_max, of.y)
    for q in range(256):
        of.y[q] = <int32_t>(<uint32_t>of.y[q] + <uint32_t>zero)
    walk(add_tables, &of, x[0], bias[0], out)
