"""TensorFlow's products of codes: what each factor is taken less of."""

from qops._kernels.core.rounding cimport wrap_s32
from qops._kernels.tensorflow.formulas cimport float_to_quantized, u8_codes


def offset(float lo, float hi):
    """The uint8 code of 0 in the range (lo, hi), not cut to codes, in 32 bits, which wrap."""
    return wrap_s32(float_to_quantized(0, lo, hi, u8_codes()))
