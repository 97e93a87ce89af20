"""What the calls of `matmul` and `conv2d` share: from the product of checked operands to a tensor."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.arrays.codes cimport Tensor, tensor, typenum_of
from qops._kernels.frontdoor.epilogue cimport MIDDLE, Epilogue, OperandRange
from qops._kernels.frontdoor.layer_tables cimport LayerStage
from qops._kernels.machine.threads cimport run_parts
from qops._kernels.stage.stage cimport Stage, stage_run

import numpy as np

cnp.import_array()


cdef class Layer:
    """A product with packed weights, and the epilogue of its sums."""

    cdef Tensor made(self, type cls, operand, int zero, OperandRange x, cnp.ndarray rows, terms, out, int ndim,
                     cnp.npy_intp* shape, tops, Py_ssize_t num_threads):
        """Give the codes of the layer, of this shape, in `out` if it is given.

        x: what `Epilogue.left` gives. tops: what `Epilogue.tops` gives, None for 8 bits. For `rows` and `terms` see
        `Epilogue.stage`. Codes of a known range are made by the product itself, while its sums are in the cache. If the
        range is not known, that watches its sums.
        """
        cdef Epilogue e = self.epilogue
        cdef cnp.ndarray place, sums = None
        cdef LayerStage watched
        cdef Py_ssize_t size
        cdef object found = e.kept_for(x) if tops is None else tops
        if out is not None and cnp.PyArray_ISCARRAY(out):
            place = out
        else:
            place = cnp.PyArray_EMPTY(ndim, shape, e.typenum, 0)
        if found is None:
            size = cnp.PyArray_SIZE(place)
            sums = cnp.PyArray_EMPTY(ndim, shape, cnp.NPY_INT32, 0)
            watched = e.watch(x, rows, terms, size // e.n if size else 0)
            self.multiply(self, operand, zero, watched, sums, num_threads)
            found = e.watched_range(watched, x)
        if tops is None and found[0] == found[1]:  # one value, for which the lowest code stands
            (<object>place).fill(-MIDDLE if e.typenum == cnp.NPY_INT8 else 0)
        elif sums is None:
            self.multiply(self, operand, zero, e.stage(x, rows, terms, found), place, num_threads)
        else:
            run_stage(e.stage(x, rows, terms, found), sums, place, num_threads)
        if out is not None and place is not out:
            out[...] = place
            place = out
        if tops is None:
            return tensor(cls, place, found[0], found[1])
        if e.has_ranges:
            tops = np.float32(tops).reshape((1,) * (ndim - 1) + (e.n,))
        return tensor(cls, place, -tops, tops)


ctypedef struct CodedSums:  # sums that become codes, in parts of whole rows
    const Stage* stage
    const char* sums
    char* codes
    int typenum, size
    Py_ssize_t m, n, parts


cdef int make_part(const void* op, Py_ssize_t i) noexcept nogil:
    """Make the codes of part i, for `run_parts`."""
    cdef const CodedSums* p = <const CodedSums*>op
    cdef Py_ssize_t first = <Py_ssize_t>(<int64_t>p.m * i // p.parts) * p.n
    cdef Py_ssize_t end = <Py_ssize_t>(<int64_t>p.m * (i + 1) // p.parts) * p.n
    stage_run(p.stage, p.sums + 4 * first, cnp.NPY_INT32, p.codes + p.size * first, p.typenum, first, end - first)
    return 0


def run_stage(LayerStage stage, cnp.ndarray sums, cnp.ndarray codes, Py_ssize_t num_threads=1):
    """Make the codes of all sums on so many threads. Both arrays are contiguous."""
    cdef Py_ssize_t m = cnp.PyArray_SIZE(sums) // max(stage.params.n, <Py_ssize_t>1)
    cdef CodedSums p = CodedSums(&stage.stage, cnp.PyArray_BYTES(sums), cnp.PyArray_BYTES(codes), typenum_of(codes),
                                 <int>cnp.PyArray_ITEMSIZE(codes), m, stage.params.n,
                                 max(<Py_ssize_t>1, min(num_threads, m)))
    run_parts(make_part, &p, p.parts)
