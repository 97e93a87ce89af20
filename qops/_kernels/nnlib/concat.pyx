"""nnlib's QuantizedConcat_8: what is checked, the range of all, and codes of that range side by side."""

cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport isfinite

from qops._kernels.arrays.checks cimport MAX_DIMS, Ends as Range, apart, data_of, take, writable
from qops._kernels.arrays.side_by_side cimport Part, new_parts, plain, side_by_side
from qops._kernels.nnlib.ranges cimport Ends
from qops._kernels.nnlib.recode cimport Recoder, prepare_to_hull, recode_codes, set_recoder

cnp.import_array()

cdef tuple NAMES = tuple([f"tensors[{i}]" for i in range(16)])


cdef str named(Py_ssize_t i):
    return NAMES[i] if i < len(NAMES) else f"tensors[{i}]"


cdef bint differ_in_width(cnp.ndarray x, cnp.ndarray y):
    """Whether they have the same axes, but for the last."""
    cdef int axis = 0
    while axis < x.ndim - 1 and x.ndim == y.ndim and x.shape[axis] == y.shape[axis]:
        axis += 1
    return x.ndim == y.ndim and axis == x.ndim - 1


cdef list arrays_of(tuple tensors, Range* ranges):
    """The data of the tensors, checked; sets `ranges` to theirs. All numbers, which may run any code, come first."""
    cdef Py_ssize_t i
    cdef list arrays = [data_of(t, named(i), &ranges[i]) for i, t in enumerate(tensors)]
    for i, x in enumerate(arrays):
        take(x, named(i), cnp.NPY_UINT8)
    for x in arrays:
        if not differ_in_width(arrays[0], x):
            shapes = [x.shape for x in arrays]
            raise ValueError(f"tensors: expected shapes that differ in the last axis only, got {shapes}")
    return arrays


cdef Ends hull(const Range* ranges, Py_ssize_t count) except *:
    """The range that holds 0 and the lowest end, and the highest."""
    cdef Ends all = Ends(0, <float>ranges[0].max)
    cdef Py_ssize_t i
    for i in range(count):
        all.min, all.max = min(all.min, <float>ranges[i].min), max(all.max, <float>ranges[i].max)
    if not isfinite(all.max - all.min):
        raise ValueError(f"tensors: the range of all, {(all.min, all.max)}, is wider than float32")
    return all


cdef cnp.ndarray result(list arrays, out):
    """Where the codes go, checked."""
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef cnp.ndarray x = arrays[0]
    cdef int axis, ndim = x.ndim
    for axis in range(ndim):
        shape[axis] = x.shape[axis]
    for x in arrays[1:]:
        shape[ndim - 1] += x.shape[ndim - 1]
    if out is None:
        return cnp.PyArray_EMPTY(ndim, shape, cnp.NPY_UINT8, 0)
    writable(out, cnp.NPY_UINT8, ndim, shape)
    for x in arrays:
        apart(out, x, None)
    return out


def concat(tensors, bint vector, out):
    """(codes, min, max) of all codes side by side; `vector`: sums are of 16 bits."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"tensors: expected a sequence of tensors, got {tensors!r:.80}")
    cdef tuple given = tuple(tensors)
    cdef Py_ssize_t count = len(given), i
    if count == 0:
        raise ValueError("tensors: expected at least one, got none")
    cdef Range* ranges = <Range*>PyMem_Calloc(count, sizeof(Range) + sizeof(Recoder))
    cdef Recoder* recoders = <Recoder*>(ranges + count)
    cdef Part* parts = NULL
    cdef Ends all
    cdef cnp.ndarray x
    if ranges == NULL:
        raise MemoryError
    try:
        arrays = arrays_of(given, ranges)
        all = hull(ranges, count)
        codes = result(arrays, out)
        parts = new_parts(count)
        for i in range(count):
            x = arrays[i] = plain(arrays[i])
            set_recoder(&recoders[i], prepare_to_hull(Ends(ranges[i].min, ranges[i].max), all, vector))
            parts[i] = Part(recode_codes, &recoders[i], cnp.PyArray_BYTES(x), cnp.PyArray_DIM(x, x.ndim - 1))
        side_by_side(parts, count, 1, codes)
    finally:
        PyMem_Free(parts)
        PyMem_Free(ranges)
    return codes, all.min, all.max
