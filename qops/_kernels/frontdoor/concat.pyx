"""Concat: the 8-bit codes of each tensor are recoded into one range, by a table of all 256."""

cimport numpy as cnp
from libc.stdint cimport uint8_t
from libc.string cimport memset

cimport qops._kernels.arrays.concat as shared
from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport CodeType, code_type, code_type_of
from qops._kernels.arrays.concat cimport Part, copy_bytes, joined
from qops._kernels.frontdoor.requantize_8 cimport flip_of, table_8
from qops._kernels.stage.lookup cimport look_up_1
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()


cdef struct CodeTable:
    uint8_t[256] codes


cdef void set_part(Part* p, CodeTable* made, cnp.ndarray codes, Ends ends, Ends wanted, const CodeType* into):
    """Let codes of the range `ends` be recoded into the range `wanted`. If that has no width, all become the lowest."""
    p.loop, p.using = look_up_1, made
    if wanted.min == wanted.max:
        memset(made.codes, into.lowest & 0xFF, sizeof(CodeTable))
    elif ends.min == wanted.min and ends.max == wanted.max and code_type(codes).lowest == into.lowest:
        p.loop = copy_bytes
    else:
        table_8(ends, flip_of(codes), wanted, 128 if into.lowest else 0, made.codes)


def concat(list tensors not None, int axis, double lo, double hi, bint is_signed, out):
    """Concatenate tensors (codes, min, max) of uint8 or int8 along an axis, into uint8 or int8 codes of one range."""
    cdef Py_ssize_t count = len(tensors), i
    cdef bytearray memory = bytearray(count * (sizeof(Part) + sizeof(CodeTable)))
    cdef Part* parts = <Part*><char*>memory
    cdef CodeTable* tables = <CodeTable*>(parts + count)
    cdef const CodeType* into = code_type_of(is_signed, 1)
    cdef list arrays = [codes for codes, _, _ in tensors]
    cdef tuple shape = joined(arrays, axis)
    if shape is None:
        shapes = [x.shape for x in arrays]
        raise bad_value("tensors", f"expected shapes that differ along axis {axis} only, got {shapes}")
    for i in range(count):
        set_part(&parts[i], &tables[i], arrays[i], Ends(tensors[i][1], tensors[i][2]), Ends(lo, hi), into)
    return shared.concat(arrays, axis, parts, shape, cnp.NPY_INT8 if is_signed else cnp.NPY_UINT8, out)
