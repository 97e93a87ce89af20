"""Lookup: each 8-bit code becomes the entry of a table."""

cimport numpy as cnp

from qops._kernels.arrays.checks cimport output
from qops._kernels.stage.lookup cimport look_up as look_up_codes

cnp.import_array()


def look_up(cnp.ndarray codes not None, cnp.ndarray[cnp.uint8_t, mode="c"] table not None, int typenum, out):
    """Give table[byte of the code], for uint8 or int8 codes, as an array of the dtype `typenum`: uint8 or int8."""
    cdef cnp.ndarray result = output(out, typenum, codes)
    look_up_codes(codes, cnp.PyArray_DATA(table), result)
    return result
