"""The walk of a loop over arrays, in stretches where they do not lie alike."""

cimport numpy as cnp
from libc.string cimport memcpy

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

BLOCK = 1 << 15  # elements of a buffer: inputs and output of an op stay in the L2 cache together


cdef cnp.ndarray at_a_line(cnp.npy_intp n, int typenum):
    """New memory for n numbers of 4 bytes, from the start of a line of the cache on."""
    cdef cnp.npy_intp size = n + 15
    cdef cnp.ndarray memory = cnp.PyArray_EMPTY(1, &size, typenum, 0)
    cdef Py_ssize_t skipped = -(<Py_ssize_t>cnp.PyArray_DATA(memory) // 4) & 15
    return memory[skipped:n + skipped]


cdef inline void run(Loop loop, char** data, Py_ssize_t n, void* using):
    if n < WORTH_RELEASING:
        loop(data, n, using)
    else:
        with nogil:
            loop(data, n, using)


cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=None, cnp.ndarray c=None, bint writes=True):
    """Runs a loop over the data of up to three arrays, broadcast together; if `writes`, the last of several is written.

    At once when they lie alike; else in stretches, in which the shorter one of two is repeated, or all are copied.
    """
    cdef char* data[3]
    cdef tuple arrays
    cdef cnp.ndarray part
    cdef int i
    if (PyArray_ISCARRAY_RO(a) and (b is None or PyArray_ISCARRAY_RO(b) and PyArray_SAMESHAPE(a, b))
            and (c is None or PyArray_ISCARRAY_RO(c) and PyArray_SAMESHAPE(a, c))):
        data[0] = cnp.PyArray_BYTES(a)
        data[1] = NULL if b is None else cnp.PyArray_BYTES(b)
        data[2] = NULL if c is None else cnp.PyArray_BYTES(c)
        run(loop, data, cnp.PyArray_SIZE(a), using)
        return
    arrays = tuple([x for x in (a, b, c) if x is not None])
    if walk_with_row(loop, using, arrays):
        return
    for parts in buffered(arrays, writes):
        for i, part in enumerate(parts):
            data[i] = cnp.PyArray_BYTES(part)
        run(loop, data, cnp.PyArray_SIZE(part), using)


cdef bint lies_along(cnp.ndarray row, cnp.ndarray whole):
    """Whether `row`, as a bias, broadcasts to `whole` by being repeated end to end."""
    cdef int axis = 0, ahead = whole.ndim - row.ndim
    while axis < row.ndim and row.shape[axis] == 1:
        axis += 1
    while axis < row.ndim and ahead + axis >= 0 and row.shape[axis] == whole.shape[ahead + axis]:
        axis += 1
    return axis == row.ndim and 0 < cnp.PyArray_SIZE(row) < cnp.PyArray_SIZE(whole)


cdef cnp.ndarray laid_out(cnp.ndarray row, Py_ssize_t count):
    """The bytes of `row`, `count` times."""
    cdef Py_ssize_t done = cnp.PyArray_NBYTES(row), size = done * count
    cdef cnp.ndarray block = np.empty(size, np.uint8)
    cdef char* c = cnp.PyArray_BYTES(block)
    memcpy(c, cnp.PyArray_BYTES(row), done)
    while done < size:
        memcpy(c + done, c, min(done, size - done))
        done *= 2
    return block


cdef bint walk_with_row(Loop loop, void* using, tuple arrays):
    """Runs a loop over contiguous arrays, all of one shape but for one that lies along them; False over others."""
    cdef char* data[3]
    cdef Py_ssize_t steps[3]
    cdef cnp.ndarray whole = arrays[0], row = None, block, x
    cdef Py_ssize_t n, size
    cdef int i
    for x in arrays:
        whole = x if cnp.PyArray_SIZE(x) > cnp.PyArray_SIZE(whole) else whole
    for x in arrays:
        if not PyArray_ISCARRAY_RO(x):
            return False
        if not PyArray_SAMESHAPE(x, whole):
            if row is not None or not lies_along(x, whole):
                return False
            row = x
    if row is None:
        return False
    n, size = cnp.PyArray_SIZE(whole), cnp.PyArray_SIZE(row)
    block = laid_out(row, max(1, min(<Py_ssize_t>BLOCK, n) // size))
    size = cnp.PyArray_NBYTES(block) // cnp.PyArray_ITEMSIZE(row)
    for i, x in enumerate(arrays):
        data[i] = cnp.PyArray_BYTES(block if x is row else x)
        steps[i] = 0 if x is row else size * cnp.PyArray_ITEMSIZE(x)
    while n > 0:
        run(loop, data, min(n, size), using)
        n -= size
        for i in range(len(arrays)):
            data[i] += steps[i]
    return True


def buffered(tuple arrays, bint writes=True):
    """Tuples of contiguous, aligned, native stretches of the arrays, by numpy's iterator and its small buffers."""
    read = ["readonly", "contig", "aligned", "nbo"]
    write = ["writeonly", *read[1:]]
    flags = ["external_loop", "buffered", "grow_inner", "zerosize_ok"]
    modes = [read] * (len(arrays) - 1) + [write if writes and len(arrays) > 1 else read]
    with np.nditer(arrays, flags, modes, buffersize=BLOCK) as steps:
        for step in steps:
            yield step if isinstance(step, tuple) else (step,)
