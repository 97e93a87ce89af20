"""multiply_shift: a real factor in fixed point, applied with one multiplication and one shift."""

cimport numpy as cnp
from libc.math cimport ldexp, rint

from qops._kernels.core.checks cimport as_array, int32s, integer, number, output
from qops._kernels.core.integer_stage cimport multiply_shift as stage

cnp.import_array()


def multiply_shift(x, factor, bits, rounding, out):
    """x * round(factor * 2**bits) / 2**bits."""
    cdef cnp.ndarray source, codes, result
    cdef double scaled, real_factor = number(factor, "factor")
    bits = integer(bits, "bits", 0, 30)
    scaled = ldexp(real_factor, bits)
    if not -2147483647.5 < scaled < 2147483647.5:
        raise ValueError(f"factor: {factor} in {bits} bits is 2**31 or more")
    source = as_array(x, "x")
    codes = int32s(source, "x")
    result = output(out, cnp.NPY_INT32, source)
    stage(codes, <int>rint(scaled), bits, rounding, result)
    return result
