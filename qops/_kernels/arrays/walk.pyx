"""The walk of a loop over arrays. Arrays of other layouts than C order are walked in stretches."""

cimport numpy as cnp
from libc.string cimport memcpy

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)
    bint PyArray_SAMESHAPE(cnp.ndarray a, cnp.ndarray b)

BUFFER_ELEMENTS = 1 << 15  # of each array in a stretch: all arrays of an op fit in the L2 cache together


cdef cnp.ndarray at_a_line(int ndim, cnp.npy_intp* shape, int typenum):
    """Give a new array of numbers of 4 bytes that begins at the start of a cache line."""
    cdef cnp.npy_intp size = cnp.PyArray_MultiplyList(shape, ndim) + 15
    cdef cnp.ndarray memory = cnp.PyArray_EMPTY(1, &size, typenum, 0), made
    cdef Py_ssize_t skipped = -<Py_ssize_t>cnp.PyArray_DATA(memory) & 63
    made = cnp.PyArray_SimpleNewFromData(ndim, shape, typenum, cnp.PyArray_BYTES(memory) + skipped)
    cnp.set_array_base(made, memory)
    return made


cdef inline void run(Loop loop, char** data, Py_ssize_t n, void* using):
    """Call the loop, without the GIL if there are many elements."""
    if n < WORTH_RELEASING:
        loop(data, n, using)
    else:
        with nogil:
            loop(data, n, using)


cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=None, cnp.ndarray c=None, bint writes=True):
    """Run a loop over up to three arrays, broadcast together. If `writes`, the last of several is the output.

    If all have one shape and C order, the loop is called once. Otherwise it is called for stretches: a small array
    that broadcasts is repeated in a buffer, or numpy's iterator copies stretches of all arrays to buffers.
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
    if walk_with_repeated(loop, using, arrays):
        return
    for parts in buffered(arrays, writes):
        for i, part in enumerate(parts):
            data[i] = cnp.PyArray_BYTES(part)
        run(loop, data, cnp.PyArray_SIZE(part), using)


cdef bint repeats_along(cnp.ndarray small, cnp.ndarray whole):
    """Whether `small` broadcasts to `whole` by being repeated end to end, as a bias for the last axis does."""
    cdef int axis = 0, ahead = whole.ndim - small.ndim
    while axis < small.ndim and small.shape[axis] == 1:
        axis += 1
    while axis < small.ndim and ahead + axis >= 0 and small.shape[axis] == whole.shape[ahead + axis]:
        axis += 1
    return axis == small.ndim and 0 < cnp.PyArray_SIZE(small) < cnp.PyArray_SIZE(whole)


cdef cnp.ndarray repeated(cnp.ndarray small, Py_ssize_t count):
    """Give a new array with the bytes of `small`, `count` times."""
    cdef Py_ssize_t done = cnp.PyArray_NBYTES(small), size = done * count
    cdef cnp.ndarray block = np.empty(size, np.uint8)
    cdef char* c = cnp.PyArray_BYTES(block)
    memcpy(c, cnp.PyArray_BYTES(small), done)
    while done < size:
        memcpy(c + done, c, min(done, size - done))
        done *= 2
    return block


cdef bint walk_with_repeated(Loop loop, void* using, tuple arrays):
    """Run a loop over contiguous arrays of one shape and one small array that is repeated along them.

    Returns False, and runs nothing, if the arrays are not of that form.
    """
    cdef char* data[3]
    cdef Py_ssize_t advance[3]
    cdef cnp.ndarray whole = arrays[0], small = None, block, x
    cdef Py_ssize_t n, size
    cdef int i
    for x in arrays:
        whole = x if cnp.PyArray_SIZE(x) > cnp.PyArray_SIZE(whole) else whole
    for x in arrays:
        if not PyArray_ISCARRAY_RO(x):
            return False
        if not PyArray_SAMESHAPE(x, whole):
            if small is not None or not repeats_along(x, whole):
                return False
            small = x
    if small is None:
        return False
    n, size = cnp.PyArray_SIZE(whole), cnp.PyArray_SIZE(small)
    block = repeated(small, max(1, min(<Py_ssize_t>BUFFER_ELEMENTS, n) // size))
    size = cnp.PyArray_NBYTES(block) // cnp.PyArray_ITEMSIZE(small)
    for i, x in enumerate(arrays):
        data[i] = cnp.PyArray_BYTES(block if x is small else x)
        advance[i] = 0 if x is small else size * cnp.PyArray_ITEMSIZE(x)
    while n > 0:
        run(loop, data, min(n, size), using)
        n -= size
        for i in range(len(arrays)):
            data[i] += advance[i]
    return True


def buffered(tuple arrays, bint writes=True):
    """Yield tuples of stretches of the arrays: contiguous, aligned, of native byte order, copied where they are not."""
    read = ["readonly", "contig", "aligned", "nbo"]
    write = ["writeonly", *read[1:]]
    flags = ["external_loop", "buffered", "grow_inner", "zerosize_ok"]
    modes = [read] * (len(arrays) - 1) + [write if writes and len(arrays) > 1 else read]
    with np.nditer(arrays, flags, modes, buffersize=BUFFER_ELEMENTS) as stretches:
        for stretch in stretches:
            yield stretch if isinstance(stretch, tuple) else (stretch,)
