"""The walk of a loop over arrays, in stretches where they do not lie alike."""

cimport numpy as cnp

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

cdef enum:
    WORTH_RELEASING = 1 << 14  # elements, for which a loop lets other threads run: that costs as much as some hundreds
BLOCK = 1 << 15  # elements of a buffer: inputs and output of an op stay in the L2 cache together


cdef inline void run(Loop loop, char** data, Py_ssize_t n, void* using):
    if n < WORTH_RELEASING:
        loop(data, n, using)
    else:
        with nogil:
            loop(data, n, using)


cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=None, cnp.ndarray c=None, bint writes=True):
    """Runs a loop over the data of up to three arrays, broadcast together; if `writes`, the last of several is written.

    At once when they lie alike; else over the stretches that `buffered` copies.
    """
    cdef char* data[3]
    cdef cnp.ndarray part
    cdef int i
    if (PyArray_ISCARRAY_RO(a) and (b is None or PyArray_ISCARRAY_RO(b) and PyArray_SAMESHAPE(a, b))
            and (c is None or PyArray_ISCARRAY_RO(c) and PyArray_SAMESHAPE(a, c))):
        data[0] = cnp.PyArray_BYTES(a)
        data[1] = NULL if b is None else cnp.PyArray_BYTES(b)
        data[2] = NULL if c is None else cnp.PyArray_BYTES(c)
        run(loop, data, cnp.PyArray_SIZE(a), using)
        return
    for parts in buffered(tuple([x for x in (a, b, c) if x is not None]), writes):
        for i, part in enumerate(parts):
            data[i] = cnp.PyArray_BYTES(part)
        run(loop, data, cnp.PyArray_SIZE(part), using)


def buffered(tuple arrays, bint writes=True):
    """Tuples of contiguous, aligned, native stretches of the arrays, by numpy's iterator and its small buffers."""
    read = ["readonly", "contig", "aligned", "nbo"]
    write = ["writeonly", *read[1:]]
    flags = ["external_loop", "buffered", "grow_inner", "zerosize_ok"]
    modes = [read] * (len(arrays) - 1) + [write if writes and len(arrays) > 1 else read]
    with np.nditer(arrays, flags, modes, buffersize=BLOCK) as steps:
        for step in steps:
            yield step if isinstance(step, tuple) else (step,)
