"""TensorFlow's QuantizedConcat: finds the common range of the tensors and recodes each of them into it."""

cimport numpy as cnp
from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

cimport qops._kernels.arrays.concat as shared
from qops._kernels.arrays.codes cimport code_type
from qops._kernels.arrays.concat cimport Part, copy_bytes
from qops._kernels.stage.lookup cimport look_up_1
from qops._kernels.tensorflow.ends cimport fit_one, flush
from qops._kernels.tensorflow.formulas cimport qint32, quint8
from qops._kernels.tensorflow.requantize cimport ByValue, by_value, recode_u8, values_to

cnp.import_array()


cdef struct PartRecoder:
    uint8_t[256] table  # for uint8 codes
    ByValue values  # for int32 codes


def usual(values):
    """Give two or more tensors of uint8 or int32 codes; None if one is not an array with two floats that fit."""
    cdef tuple typenums = (cnp.NPY_UINT8,)
    cdef double steps = quint8().count - 1
    cdef list parts = []
    if not isinstance(values, (list, tuple)) or len(values) < 2:
        return None
    if fit_one(values[0], steps, typenums) is None:
        typenums, steps = (cnp.NPY_INT32,), qint32().count - 1
    for t in values:
        one = fit_one(t, steps, typenums)
        if one is None:
            return None
        parts.append((one[0], flush(one[1]), flush(one[2])))
    return parts


def hull(list parts not None, bint is_wide):
    """Give the range from the lowest min, or 0, to the highest max of the parts (codes, min, max).

    For int32 codes, give the symmetric range that holds all of theirs.
    """
    cdef double lowest = parts[0][1], highest = parts[0][2], farthest
    for _, lo, hi in parts:
        lowest, highest = min(lowest, <double>lo), max(highest, <double>hi)
    farthest = max(fabs(lowest), fabs(highest))
    return (-farthest, farthest) if is_wide else (min(0.0, lowest), highest)


def joined(axis, list parts not None):
    """Give the shape of the concatenated parts; None if their shapes do not fit."""
    return shared.joined([x for x, _, _ in parts], axis)


cdef void copy_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    memcpy(data[1], data[0], 4 * n)


cdef void set_part(Part* p, PartRecoder* recoder, cnp.ndarray x, tuple given, tuple ends):
    """Recode the codes x of the range `given` into the range `ends`."""
    cdef int itemsize = cnp.PyArray_ITEMSIZE(x)
    p.using = recoder
    if given == ends:
        p.loop = copy_bytes if itemsize == 1 else copy_s32
    elif itemsize == 1:
        recode_u8(given[0], given[1], ends[0], ends[1], recoder.table)
        p.loop = look_up_1
    else:
        recoder.values = values_to(given[0], given[1], ends[0], ends[1], cnp.NPY_INT32, code_type(x)[0])
        p.loop, p.using = by_value, &recoder.values


def concat(list parts not None, int axis, tuple ends not None, tuple shape not None, out):
    """Concatenate the codes of the parts (codes, min, max), recoded into the range `ends`, to an array of this shape.

    TensorFlow drops the parts without elements, but keeps their ranges in the list. So the k-th part that has elements
    takes the k-th range of all parts.
    """
    cdef list arrays = [x for x, _, _ in parts]
    cdef Py_ssize_t count = len(arrays), i, k = 0
    cdef bytearray memory = bytearray(count * (sizeof(Part) + sizeof(PartRecoder)))
    cdef Part* made = <Part*><char*>memory
    cdef PartRecoder* recoders = <PartRecoder*>(made + count)
    for i in range(count):
        set_part(&made[i], &recoders[i], arrays[i], parts[k][1:], ends)
        k += cnp.PyArray_SIZE(arrays[i]) > 0
    return shared.concat(arrays, axis, made, shape, cnp.PyArray_TYPE(arrays[0]), out)
