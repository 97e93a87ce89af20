from libc.stdint cimport uint8_t

from qops._kernels.arrays.codes cimport CodeType
from qops._kernels.stage.float_stage cimport FloatParams
from qops._kernels.stage.stage cimport Stage
from qops._kernels.tensorflow.formulas cimport QuantizedToFloatStruct, QuantizedType

cdef FloatParams quantize_params(float lo, float hi, QuantizedType t) noexcept nogil

cdef struct ByValue:
    QuantizedToFloatStruct line
    Stage stage  # from float32 values to codes
    int typenum

cdef ByValue values_to(float in_min, float in_max, float out_min, float out_max, int typenum,
                       CodeType t) noexcept nogil
cdef void by_value(char** data, Py_ssize_t n, void* using) noexcept nogil
cdef void recode_u8(float in_min, float in_max, float out_min, float out_max, uint8_t* table) noexcept nogil
