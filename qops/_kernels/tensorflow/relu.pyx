"""TensorFlow's QuantizedRelu and QuantizedRelu6: the codes at which they cut."""

from qops._kernels.core.codes cimport from_row
from qops._kernels.tensorflow.formulas cimport codes_of, float_to_code


def code_of(float x, float lo, float hi, row):
    """The code of x in the range (lo, hi), which need not hold it, cut to the codes of `row`."""
    return float_to_code(x, lo, hi, codes_of(from_row(row)))
