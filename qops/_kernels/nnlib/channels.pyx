"""Tables of the results of all 256 codes, one for each channel, in which the codes of a tensor are looked up."""

cimport numpy as cnp
from libc.stdint cimport uint8_t

cnp.import_array()


def look_up_channels(cnp.ndarray x not None, cnp.ndarray tables not None, cnp.ndarray out not None):
    """out = the table of the channel at x; contiguous codes, channels last."""
    cdef Py_ssize_t i, c = 0, channels = tables.shape[0], n = cnp.PyArray_SIZE(x)
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef const uint8_t* table = <uint8_t*>cnp.PyArray_DATA(tables)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    with nogil:
        for i in range(n):
            results[i] = table[256 * c + codes[i]]
            c = c + 1 if c + 1 < channels else 0
