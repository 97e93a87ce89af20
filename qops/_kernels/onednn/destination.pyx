"""From the sums of a product to a destination: the steps of `steps`, then a row of the float stage, block by block."""
cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.stage.float_stage cimport FloatRow, float_codes_of, float_maker
from qops._kernels.stage.maker cimport KeptMaker, Maker
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport at_a_line, walk
from qops._kernels.onednn.steps cimport KINDS, Step, make_steps, stay_finite, steps_8__simd
from qops._kernels.gemm.tile cimport aligned

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef enum:
    NEAR = 4096  # values between two loops: 16 KB, which with their codes the nearest cache holds

ctypedef struct Work:
    Step *steps
    Py_ssize_t count, block  # operands are put down for so many values, after which they are as at the first
    FloatRow row

ctypedef struct Pass:
    const Work *work
    const float *old  # or NULL
    bint of_sums  # whether what is walked over holds int32 sums, or the floats themselves
    char *codes
    int typenum


cdef void make_floats(char **data, Py_ssize_t size, void *using) noexcept nogil:
    """Make the steps in the memory of what is walked over, up to where their operands begin again."""
    cdef const Pass *p = <Pass *>using
    cdef float *x = <float *>data[0]
    cdef Py_ssize_t first
    for first from 0 <= first < size by p.work.block:
        make_steps(p.work.steps, p.work.count, <int32_t *>(x + first) if p.of_sums else NULL, x + first,
                   p.old + first if p.old != NULL else NULL, 0, min(p.work.block, size - first))


cdef void make_codes(const Work *w, const int32_t *sums, const float *old, int typenum, char *codes,
                     Py_ssize_t size) noexcept nogil:
    """Make codes of sums. The floats of all blocks use the same memory, of one block."""
    cdef float[NEAR + 16] room
    cdef float *x = <float *>aligned(room)
    cdef Py_ssize_t first = 0, at, n, done, itemsize = 4 if typenum == cnp.NPY_INT32 else 1
    while first < size:
        at = first % w.block
        n = min(size - first, min(w.block - at, <Py_ssize_t>NEAR))
        if itemsize == 1:
            done = steps_8__simd(tier(), sums + first, codes + first, typenum == cnp.NPY_INT8, n, w.steps, w.count,
                                 old + first if old != NULL else NULL, at, w.row)
            if done:
                first += done
                continue
        make_steps(w.steps, w.count, sums + first, x, old + first if old != NULL else NULL, at, n)
        float_codes_of(x, typenum, codes + first * itemsize, n, w.row)
        first += n


cdef void make_all_codes(char **data, Py_ssize_t size, void *using) noexcept nogil:
    cdef const Pass *p = <Pass *>using
    make_codes(p.work, <int32_t *>data[0], p.old, p.typenum, p.codes, size)


cdef list set_steps(Step *c_steps, steps, Py_ssize_t block):
    """Fill `c_steps`. They point into the arrays of the list that is returned, so it must outlive them."""
    cdef cnp.ndarray values
    cdef Py_ssize_t i
    alive = []
    for i, (name, operand) in enumerate(steps):
        c_steps[i].kind = KINDS[name]
        c_steps[i].values, c_steps[i].size = NULL, 0
        if isinstance(operand, cnp.ndarray):
            values = at_a_line(block, cnp.NPY_FLOAT32)
            values.reshape(-1, operand.size)[:] = operand.ravel()
            c_steps[i].size = operand.size
            c_steps[i].values = <const float *>cnp.PyArray_DATA(values)
            alive.append(values)
        else:
            c_steps[i].factor = operand
    return alive


cdef tuple set_work(Work *w, steps):
    """Set the steps of `w`, which point into the objects that are returned, so these must outlive it."""
    cdef bytearray memory = bytearray(len(steps) * sizeof(Step))
    cdef Py_ssize_t period = 1
    for _, operand in steps:
        if isinstance(operand, cnp.ndarray):
            period = max(period, cnp.PyArray_SIZE(operand))
    w.steps, w.count = <Step *><char *>memory, len(steps)
    w.block = period * max(1, NEAR // period)
    return memory, set_steps(w.steps, steps, w.block)


cdef const float *old_of(cnp.ndarray x, steps, cnp.ndarray old) except? NULL:
    """What `old` holds for steps on x; both are checked."""
    if not cnp.PyArray_ISCARRAY(x) or old is not None and not PyArray_ISCARRAY_RO(old):
        raise ValueError("x, old: expected arrays in C order")
    if old is None or old.size != x.size:
        if any(name in ("sum", "fma") for name, _ in steps):
            raise ValueError("old: expected as many elements as x has, for a step that adds them")
        return NULL
    return <const float *>cnp.PyArray_DATA(old)


def finish(cnp.ndarray x, steps, cnp.ndarray old or None=None):
    """Make `steps` on x, an int32 or float32 array in C order, in its own memory; return that memory as float32.

    An array among the operands runs along the last axes of x, so of two sizes one divides the other. `old` is a float32
    array in C order with as many elements as x, for the steps that need one.
    """
    cdef Work w
    cdef Pass p = Pass(&w, old_of(x, steps, old), typenum_of(x) == cnp.NPY_INT32, NULL, 0)
    if cnp.PyArray_SIZE(x):
        alive = set_work(&w, steps)
        walk(make_floats, &p, x)
        del alive  # the steps have pointed into it until here
    return x.view("float32")


def finish_codes(cnp.ndarray x, steps, cnp.ndarray old or None, FloatRow row, cnp.ndarray out):
    """Make `steps` on int32 sums x, and write the codes of `row` to `out`, block by block.

    Return False, with nothing done, if a float might not be finite. `old` is as in `finish`, and made of codes. `out`
    is x itself, or does not overlap it: uint8, int8 or int32 in C order.
    """
    cdef Work w
    cdef Pass p = Pass(&w, old_of(x, steps, old), True, cnp.PyArray_BYTES(out), typenum_of(out))
    cdef bint is_finite
    if p.typenum != cnp.NPY_UINT8 and p.typenum != cnp.NPY_INT8 and p.typenum != cnp.NPY_INT32:
        raise TypeError(f"out: expected uint8, int8 or int32, got {(<object>out).dtype}")
    if typenum_of(x) != cnp.NPY_INT32:
        raise TypeError(f"x: expected int32, got {(<object>x).dtype}")
    if not cnp.PyArray_ISCARRAY(out) or cnp.PyArray_SIZE(out) != cnp.PyArray_SIZE(x):
        raise ValueError("out: expected an array in C order with as many elements as x")
    if cnp.PyArray_SIZE(x) == 0:
        return True
    alive = set_work(&w, steps)
    w.row = row
    is_finite = stay_finite(w.steps, w.count)
    if is_finite:
        walk(make_all_codes, &p, x)
    del alive  # the steps have pointed into it until here
    return is_finite


cdef void codes_of(const void *sums, int32_t *c, Py_ssize_t n, const void *work) noexcept nogil:
    make_codes(<const Work *>work, <const int32_t *>sums, NULL, cnp.NPY_INT32, <char *>c, n)


cdef Py_ssize_t bytes_of(const void *sums, void *c, bint is_signed, Py_ssize_t n, const void *work) noexcept nogil:
    make_codes(<const Work *>work, <const int32_t *>sums, NULL, cnp.NPY_INT8 if is_signed else cnp.NPY_UINT8,
               <char *>c, n)
    return n


def kept_codes(steps, FloatRow row):
    """What makes `steps`, none of which adds the old destination, and the codes of `row`, of sums that begin where the
    operands do; None if a float might not be finite."""
    cdef KeptMaker kept = KeptMaker()
    cdef bytearray memory = bytearray(sizeof(Work))
    cdef Work *w = <Work *><char *>memory
    kept.memory = memory, set_work(w, steps)
    w.row = row
    if not stay_finite(w.steps, w.count):
        return None
    kept.maker = Maker(codes_of, bytes_of, NULL, w, 4) if w.count else float_maker(False, &w.row)
    return kept
