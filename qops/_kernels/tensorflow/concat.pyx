"""TensorFlow's QuantizedConcat: the range of all, and codes of that range side by side."""

cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from qops._kernels.arrays.checks cimport MAX_DIMS, apart, writable
from qops._kernels.arrays.codes cimport code_type
from qops._kernels.stage.lookup cimport look_up_1
from qops._kernels.arrays.side_by_side cimport Part, new_parts, plain, side_by_side
from qops._kernels.tensorflow.ends cimport fit_one, flush
from qops._kernels.tensorflow.formulas cimport s32_codes, u8_codes
from qops._kernels.tensorflow.requantize cimport Values, by_value, recode_u8, values_to

cnp.import_array()


cdef struct Recoder:
    uint8_t[256] table  # of uint8 codes
    Values values  # of int32 codes


def usual(values):
    """Give two or more tensors of uint8 or int32 codes; None if one is not an array with two floats that fit."""
    cdef tuple typenums = (cnp.NPY_UINT8,)
    cdef double steps = u8_codes().count - 1
    cdef list parts = []
    if not isinstance(values, (list, tuple)) or len(values) < 2:
        return None
    if fit_one(values[0], steps, typenums) is None:
        typenums, steps = (cnp.NPY_INT32,), s32_codes().count - 1
    for t in values:
        one = fit_one(t, steps, typenums)
        if one is None:
            return None
        parts.append((one[0], flush(one[1]), flush(one[2])))
    return parts


def hull(list parts, bint is_wide):
    """The range that holds the lowest min and the highest max of the parts (codes, min, max). It begins at 0 or below;
    for int32 codes it is symmetric."""
    cdef double lowest = parts[0][1], highest = parts[0][2], farthest
    for _, lo, hi in parts:
        lowest, highest = min(lowest, <double>lo), max(highest, <double>hi)
    farthest = max(fabs(lowest), fabs(highest))
    return (-farthest, farthest) if is_wide else (min(0.0, lowest), highest)


def joined(axis, list parts):
    """The shape of the parts side by side along the axis; None if they do not fit."""
    cdef cnp.ndarray first = parts[0][0], x
    cdef Py_ssize_t length = 0
    cdef int along, i
    if not 0 <= axis < first.ndim:
        return None
    along = axis
    for x, _, _ in parts:
        if x.ndim != first.ndim:
            return None
        for i in range(first.ndim):
            if x.shape[i] != first.shape[i] and i != along:
                return None
        length += x.shape[along]
    return tuple([length if i == along else first.shape[i] for i in range(first.ndim)])


cdef void copy_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    memcpy(data[1], data[0], n)


cdef void copy_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    memcpy(data[1], data[0], 4 * n)


cdef Part part_of(tuple read, tuple ends, int axis, Recoder* recoder):
    """Recode (codes, min, max) into the range `ends`."""
    cdef cnp.ndarray x = read[0]
    cdef Part p
    cdef int i
    p.data, p.using, p.size = cnp.PyArray_BYTES(x), recoder, cnp.PyArray_ITEMSIZE(x)
    for i in range(axis, x.ndim):
        p.size *= x.shape[i]
    if read[1:] == ends:
        p.loop = copy_u8 if cnp.PyArray_ITEMSIZE(x) == 1 else copy_s32
    elif cnp.PyArray_ITEMSIZE(x) == 1:
        recode_u8(read[1], read[2], ends[0], ends[1], recoder.table)
        p.loop = look_up_1
    else:
        recoder.values = values_to(read[1], read[2], ends[0], ends[1], cnp.NPY_INT32, code_type(x)[0])
        p.loop, p.using = by_value, &recoder.values
    return p


cdef cnp.ndarray result(list parts, tuple shape, out):
    """Give where codes of this shape are written: `out`, checked, or a new array."""
    cdef cnp.npy_intp[MAX_DIMS] lengths
    cdef int typenum = cnp.NPY_UINT8 if cnp.PyArray_ITEMSIZE(parts[0][0]) == 1 else cnp.NPY_INT32, i
    for i in range(len(shape)):
        lengths[i] = shape[i]
    if out is None:
        return cnp.PyArray_EMPTY(len(shape), lengths, typenum, 0)
    writable(out, typenum, len(shape), lengths)
    for x, _, _ in parts:
        apart(out, x, None)
    return out


def concat(list parts, int axis, tuple ends, tuple shape, out):
    """The codes of the parts, (codes, min, max), in the range `ends`, side by side along the axis, of this shape.

    The parts with elements take the ranges of all parts in turn. So does TensorFlow, which first leaves out the parts
    without elements, but not their ranges.
    """
    cdef cnp.ndarray codes = result(parts, shape, out)
    cdef list filled = [plain(x) for x, _, _ in parts if cnp.PyArray_SIZE(x)]
    cdef Py_ssize_t count = len(filled), i
    cdef Recoder* recoders = <Recoder*>PyMem_Calloc(max(count, 1), sizeof(Recoder))
    cdef Part* made = NULL
    if recoders == NULL:
        raise MemoryError
    try:
        made = new_parts(count)
        for i in range(count):
            made[i] = part_of((filled[i], parts[i][1], parts[i][2]), ends, axis, &recoders[i])
        side_by_side(made, count, cnp.PyArray_ITEMSIZE(codes), codes)
    finally:
        PyMem_Free(made)
        PyMem_Free(recoders)
    return codes
