"""TensorFlow's Requantize from int32 to uint8 or int8, the recoding of its concat, and the range of int32 codes."""

cimport numpy as cnp
from libc.math cimport round
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from qops._kernels.arrays.codes cimport CodeType, code_type, code_type_of, typenum_of
from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.integer_stage cimport IntegerParams, Shift, integer_params, shift_by
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, truncate_x86_s64
from qops._kernels.stage.stage cimport BLOCK, Stage, float_stage, integer_stage, stage_over, stage_run
from qops._kernels.arrays.walk cimport walk
from qops._kernels.tensorflow.formulas cimport (
    QuantizedType, QuantizedToFloatStruct, FloatToQuantizedStruct, quantized_type, eigen_dequantize, eigen_quantize,
    quantized_to_float, qint32, quint8,
)

cnp.import_array()


cdef struct FixedPoint:
    # all in 1/65536 output steps
    int64_t range_scale  # the whole input range
    int64_t input_offset  # the middle of the input range
    int64_t output_offset  # the lower end of the output range


cdef FixedPoint prepare(float in_min, float in_max, float out_min, float out_max) noexcept nogil:
    cdef FixedPoint p = FixedPoint(0, 0, 0)
    cdef float in_range = in_max - in_min, out_range = out_max - out_min
    cdef float middle = (in_min + in_max) / <float>2
    cdef double steps = code_type_of(False, 1).steps
    if out_range != 0:
        p.range_scale = truncate_x86_s64(steps * 65536.0 * in_range / out_range)
        p.input_offset = truncate_x86_s64((middle * (<float>steps / out_range)) * <float>65536)
        p.output_offset = truncate_x86_s64(round(65536.0 * (out_min * steps) / out_range))
    return p


def requantize_integers(float in_min, float in_max, float out_min, float out_max):
    """The numbers that requantize int32 codes to uint8 codes for these ranges, as a dict."""
    return prepare(in_min, in_max, out_min, out_max)


cdef IntegerParams params_u8(FixedPoint p) noexcept nogil:
    """sat_u8((((q * range_scale) >> 32) + input_offset - output_offset + 32768) >> 16), in int64 that wraps."""
    cdef const CodeType* t = code_type_of(False, 1)
    cdef IntegerParams params = integer_params(p.range_scale, shift_by(32, FLOOR), t.lowest, t.highest)
    params.through_f32 = True
    params.second = Shift(<int64_t>(<uint64_t>p.input_offset - <uint64_t>p.output_offset + 32768), 0, 0, 16)
    return params


cdef void by_value(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = the code of the value base + q * scale, in float32."""
    cdef const int32_t* q = <int32_t*>data[0]
    cdef ByValue p = (<ByValue*>using)[0]
    cdef Py_ssize_t size = 1 if p.typenum == cnp.NPY_INT8 else 4
    cdef float[BLOCK] values
    cdef Py_ssize_t first, i, count
    for first from 0 <= first < n by BLOCK:
        count = min(n - first, <Py_ssize_t>BLOCK)
        for i in range(count):
            values[i] = p.line.base + <float>q[first + i] * p.line.scale
        stage_run(&p.stage, values, cnp.NPY_FLOAT32, data[1] + size * first, p.typenum, 0, count)


cdef FloatParams quantize_params(float lo, float hi, QuantizedType t) noexcept nogil:
    """The parameters of the stage from values to codes in the range (lo, hi)."""
    cdef FloatToQuantizedStruct steps = eigen_quantize(lo, hi, t)
    cdef FloatParams params = float_params(steps.scale, HALF_AWAY, steps.lowest, steps.highest)
    params.shift = -steps.shift
    return params


cdef ByValue values_to(float in_min, float in_max, float out_min, float out_max, int typenum,
                       CodeType t) noexcept nogil:
    """The parameters from int32 codes to values, and from values to codes of the type `t`."""
    cdef ByValue p
    p.line = eigen_dequantize(in_min, in_max, qint32())
    cdef FloatParams params = quantize_params(out_min, out_max, quantized_type(t))
    p.stage = float_stage(&params)
    p.typenum = typenum
    return p


cdef void recode_u8(float in_min, float in_max, float out_min, float out_max, uint8_t* table) noexcept nogil:
    """table[q] = the uint8 code, in the range (out_min, out_max), of the value of the uint8 code q."""
    cdef QuantizedToFloatStruct line = eigen_dequantize(in_min, in_max, quint8())
    cdef FloatParams params = quantize_params(out_min, out_max, quint8())
    cdef Stage s
    cdef float[256] values
    cdef int code
    for code in range(256):
        values[code] = line.base + <float>code * line.scale
    s = float_stage(&params)
    stage_run(&s, values, cnp.NPY_FLOAT32, table, cnp.NPY_UINT8, 0, 256)


def requantize(cnp.ndarray q, float in_min, float in_max, float out_min, float out_max, cnp.ndarray out):
    """Recode int32 codes into the range (out_min, out_max): uint8 in integers, int8 and int32 through float32."""
    cdef IntegerParams params
    cdef Stage s
    cdef ByValue p
    if typenum_of(out) == cnp.NPY_UINT8:
        params = params_u8(prepare(in_min, in_max, out_min, out_max))
        s = integer_stage(&params)
        stage_over(&s, q, out)
    else:
        p = values_to(in_min, in_max, out_min, out_max, typenum_of(out), code_type(out)[0])
        walk(by_value, &p, q, out)


def real_range(int32_t lowest, int32_t highest, float in_min, float in_max):
    """The values of the codes `lowest`, but at most 0, and `highest`, in the range (in_min, in_max)."""
    cdef float lo = quantized_to_float(<float>lowest, in_min, in_max, qint32())
    cdef float hi = quantized_to_float(<float>highest, in_min, in_max, qint32())
    return lo if lo < 0 else <float>0, hi
