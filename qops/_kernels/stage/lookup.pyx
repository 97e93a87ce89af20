"""Tables of an op's results for all 256 codes of 8 bits, in which the codes of a tensor are looked up."""

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "stage/lookup.h":
    Py_ssize_t look_up_bytes__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t) nogil


cdef void look_up_1(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef const uint8_t* codes = <uint8_t*>data[0]
    cdef const uint8_t* table = <uint8_t*>using
    cdef uint8_t* out = <uint8_t*>data[1]
    cdef Py_ssize_t i
    for i in range(look_up_bytes__simd(tier(), codes, table, out, n), n):
        out[i] = table[codes[i]]


cdef void look_up_4(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef const uint8_t* codes = <uint8_t*>data[0]
    cdef const uint32_t* table = <uint32_t*>using
    cdef uint32_t* out = <uint32_t*>data[1]
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = table[codes[i]]


def look_up_bytes(cnp.ndarray codes not None, cnp.ndarray table not None, cnp.ndarray out not None):
    """Set out to table[code], all of 8 bits and of one shape; after 127 the table goes on with 128 or -128."""
    for x, name in ((codes, "codes"), (table, "table"), (out, "out")):
        if cnp.PyArray_ITEMSIZE(x) != 1:
            raise bad_type(name, f"expected codes of 8 bits, got {x.dtype}")
    if not cnp.PyArray_IS_C_CONTIGUOUS(table) or cnp.PyArray_SIZE(table) != 256:
        raise bad_value("table", f"expected 256 neighbours, got shape {(<object>table).shape}")
    if (<object>codes).shape != (<object>out).shape:
        raise bad_value("out", f"expected shape {(<object>codes).shape}, got {(<object>out).shape}")
    look_up(codes, cnp.PyArray_DATA(table), out)


cdef object look_up(cnp.ndarray codes, void* table, cnp.ndarray out):
    """out = table[byte of the code], for elements of out, and of the 256 of the table, of one byte or of four."""
    walk(look_up_1 if cnp.PyArray_ITEMSIZE(out) == 1 else look_up_4, table, codes, out)
