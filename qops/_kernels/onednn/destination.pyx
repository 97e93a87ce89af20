"""From the sums of a product to a destination: the steps of `steps`, then a row of the float stage, block by block."""
cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.walk cimport at_a_line, walk
from qops._kernels.stage.float_stage cimport FloatRow
from qops._kernels.stage.post_ops cimport KINDS, PostOps, Step, make_steps, stay_finite
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport POST_OPS, Stage, float_stage, stage_post_ops

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef enum:
    NEAR = 4096  # values between two loops: 16 KB, which with their codes the nearest cache holds

ctypedef struct Pass:
    const PostOps *post_ops
    const Stage *stage  # the same with the row of the codes
    const float *old  # or NULL
    bint of_sums  # whether what is walked over holds int32 sums, or the floats themselves
    char *codes
    int typenum


cdef void make_floats(char **data, Py_ssize_t size, void *using) noexcept nogil:
    """Make the steps in the memory of what is walked over, up to where their operands begin again."""
    cdef const Pass *p = <Pass *>using
    cdef float *x = <float *>data[0]
    cdef Py_ssize_t first
    for first from 0 <= first < size by p.post_ops.block:
        make_steps(p.post_ops.steps, p.post_ops.count, <int32_t *>(x + first) if p.of_sums else NULL, x + first,
                   p.old + first if p.old != NULL else NULL, 0, min(p.post_ops.block, size - first))


cdef void make_all_codes(char **data, Py_ssize_t size, void *using) noexcept nogil:
    cdef const Pass *p = <Pass *>using
    stage_post_ops(p.stage, <int32_t *>data[0], p.old, p.codes, p.typenum, 0, size)


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


cdef tuple set_post_ops(PostOps *w, steps):
    """Set `w`, whose steps point into the objects that are returned, so these must outlive it."""
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
    cdef PostOps w
    cdef Pass p = Pass(&w, NULL, old_of(x, steps, old), typenum_of(x) == cnp.NPY_INT32, NULL, 0)
    if cnp.PyArray_SIZE(x):
        alive = set_post_ops(&w, steps)
        walk(make_floats, &p, x)
        del alive  # the steps have pointed into it until here
    return x.view("float32")


def finish_codes(cnp.ndarray x, steps, cnp.ndarray old or None, FloatRow row, cnp.ndarray out):
    """Make `steps` on int32 sums x, and write the codes of `row` to `out`, block by block.

    Return False, with nothing done, if a float might not be finite. `old` is as in `finish`, and made of codes. `out`
    is x itself, or does not overlap it: uint8, int8 or int32 in C order.
    """
    cdef PostOps w
    cdef Stage s = float_stage(&row)
    cdef Pass p = Pass(&w, &s, old_of(x, steps, old), True, cnp.PyArray_BYTES(out), typenum_of(out))
    cdef bint is_finite
    if p.typenum != cnp.NPY_UINT8 and p.typenum != cnp.NPY_INT8 and p.typenum != cnp.NPY_INT32:
        raise TypeError(f"out: expected uint8, int8 or int32, got {(<object>out).dtype}")
    if typenum_of(x) != cnp.NPY_INT32:
        raise TypeError(f"x: expected int32, got {(<object>x).dtype}")
    if not cnp.PyArray_ISCARRAY(out) or cnp.PyArray_SIZE(out) != cnp.PyArray_SIZE(x):
        raise ValueError("out: expected an array in C order with as many elements as x")
    if cnp.PyArray_SIZE(x) == 0:
        return True
    alive = set_post_ops(&w, steps)
    s.kind, s.post_ops = POST_OPS, &w
    is_finite = stay_finite(w.steps, w.count)
    if is_finite:
        walk(make_all_codes, &p, x)
    del alive  # the steps have pointed into it until here
    return is_finite


cdef class PostOpStage(PreparedStage):
    """The steps, none of which adds the old destination, then the codes of `row`, of sums that begin where the operands
    do. ValueError if a float might not be finite."""

    cdef PostOps post_ops
    cdef object alive  # what the steps point into

    def __init__(self, steps, FloatRow row):
        self.stage = float_stage(&row)
        self.alive = set_post_ops(&self.post_ops, steps)
        if not stay_finite(self.post_ops.steps, self.post_ops.count):
            raise ValueError("steps: a float might not be finite")
        if self.post_ops.count:
            self.stage.kind, self.stage.post_ops = POST_OPS, &self.post_ops


def kept_codes(steps, FloatRow row):
    """The stage of these steps and codes; None if a float might not be finite."""
    try:
        return PostOpStage(steps, row)
    except ValueError:
        return None
