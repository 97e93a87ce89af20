"""nnlib's QuantizedConcat_8: checks the tensors, finds their common range, and recodes each of them into it."""

cimport numpy as cnp
from libc.math cimport isfinite

cimport qops._kernels.arrays.concat as shared
from qops._kernels.arrays.checks cimport Ends, data_of, take
from qops._kernels.arrays.concat cimport Part, joined
from qops._kernels.arrays.numbers cimport shown
from qops._kernels.nnlib.ranges cimport FloatEnds
from qops._kernels.nnlib.recode cimport Recoder, prepare_to_hull, recode_codes, set_recoder
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef tuple NAMES = tuple([f"tensors[{i}]" for i in range(16)])


cdef str named(Py_ssize_t i):
    """The name of a tensor, for error texts."""
    return NAMES[i] if i < len(NAMES) else f"tensors[{i}]"


cdef list arrays_of(tuple tensors, Ends* ranges):
    """Check the tensors, give their data, and set `ranges`. Ranges come first, as reading them may run user code."""
    cdef Py_ssize_t i
    cdef list arrays = [data_of(t, named(i), &ranges[i]) for i, t in enumerate(tensors)]
    for i, x in enumerate(arrays):
        take(x, named(i), cnp.NPY_UINT8)
    return arrays


cdef FloatEnds hull(const Ends* ranges, Py_ssize_t count) except *:
    """Give the range from the lowest end, or 0, to the highest end."""
    cdef FloatEnds whole = FloatEnds(0, <float>ranges[0].max)
    cdef Py_ssize_t i
    for i in range(count):
        whole.min, whole.max = min(whole.min, <float>ranges[i].min), max(whole.max, <float>ranges[i].max)
    if not isfinite(whole.max - whole.min):
        raise bad_value("tensors", f"the range of all, {(whole.min, whole.max)}, is wider than float32")
    return whole


def concat(tensors, bint vector, out):
    """Concatenate; give (codes, min, max). With `vector`, sums have 16 bits."""
    if not isinstance(tensors, (list, tuple)):
        raise bad_type("tensors", f"expected a sequence of tensors, got {shown(tensors)}")
    cdef tuple given = tuple(tensors)
    cdef Py_ssize_t count = len(given), i
    if count == 0:
        raise bad_value("tensors", "expected at least one, got none")
    cdef bytearray memory = bytearray(count * (sizeof(Ends) + sizeof(Part) + sizeof(Recoder)))
    cdef Ends* ranges = <Ends*><char*>memory
    cdef Part* parts = <Part*>(ranges + count)
    cdef Recoder* recoders = <Recoder*>(parts + count)
    cdef list arrays = arrays_of(given, ranges)
    cdef int axis = (<cnp.ndarray>arrays[0]).ndim - 1
    cdef tuple shape = joined(arrays, axis)
    cdef FloatEnds whole
    if shape is None:
        shapes = [x.shape for x in arrays]
        raise bad_value("tensors", f"expected shapes that differ in the last axis only, got {shapes}")
    whole = hull(ranges, count)
    for i in range(count):
        set_recoder(&recoders[i], prepare_to_hull(FloatEnds(ranges[i].min, ranges[i].max), whole, vector))
        parts[i].loop, parts[i].using = recode_codes, &recoders[i]
    return shared.concat(arrays, axis, parts, shape, cnp.NPY_UINT8, out), whole.min, whole.max
