"""Lookup: each 8-bit code becomes the entry of a table."""

cimport numpy as cnp

from qops._kernels.arrays.checks cimport output
from qops._kernels.stage.lookup cimport look_up as look_up_codes

cnp.import_array()


def look_up(cnp.ndarray codes not None, cnp.ndarray table not None, out):
    """Give table[byte of the code] of uint8 or int8 codes; the table has 256 entries of uint8 or int8, in C order."""
    cdef cnp.ndarray result = output(out, cnp.PyArray_TYPE(table), codes)
    look_up_codes(codes, cnp.PyArray_DATA(table), result)
    return result
