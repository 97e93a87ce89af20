"""oneDNN's epilogue, prepared once: float32 operations on the sums of a product, then the codes of a destination."""
cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.walk cimport at_a_line
from qops._kernels.stage.post_ops cimport FLOAT_OPS, PostOps, FloatOp, run_float_ops, stay_finite
from qops._kernels.stage.prepared cimport FloatStage, PreparedStage
from qops._kernels.stage.stage cimport stage_post_ops, stage_run
from qops._kernels.arrays.refusal import bad_type, bad_value

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef enum:
    NEAR = 4096  # values to which operands are repeated: 16 KB

cdef tuple NEUTRAL = (("add", 0.0), ("multiply", 1.0))  # operations that change no code; of a float, 0 is added to -0


cdef class PostOpStage(PreparedStage):
    """The operations of `qops._kernels.stage.post_ops`, then codes, in one pass over int32 sums.

    An operation is a name and an operand: a number, or an array that repeats along the sums. Of the sizes of two arrays
    one divides the other. `codes` is the float stage that makes the codes; without it there are only floats.
    """

    cdef PostOps post_ops
    cdef bytearray memory  # of the operations
    cdef list arrays  # their operands, repeated to fill a block
    cdef bint adds_old  # an operation adds the destination before the call
    cdef readonly bint is_finite  # it makes codes, and every float is finite, whatever sums and old codes are

    def __init__(self, float_ops, FloatStage codes or None=None):
        cdef Py_ssize_t period = 1
        self.memory, self.arrays = bytearray(len(float_ops) * sizeof(FloatOp)), []
        for _, operand in float_ops:
            period = max(period, cnp.PyArray_SIZE(operand) if isinstance(operand, cnp.ndarray) else 1)
        self.post_ops.float_ops, self.post_ops.block = <FloatOp*><char*>self.memory, period * max(1, NEAR // period)
        for name, operand in float_ops:
            if isinstance(operand, cnp.ndarray) and cnp.PyArray_SIZE(operand) <= 1:
                operand = operand.item() if cnp.PyArray_SIZE(operand) else 0.0  # without elements there are no sums
            if codes is None or isinstance(operand, cnp.ndarray) or (name, operand) not in NEUTRAL:
                self.add_op(name, operand)
        if codes is not None:
            self.stage = codes.stage
            self.stage.post_ops = &self.post_ops
            self.is_finite = stay_finite(self.post_ops.float_ops, self.post_ops.count)

    cdef int add_op(self, name, operand) except -1:
        cdef FloatOp* s = self.post_ops.float_ops + self.post_ops.count
        cdef cnp.ndarray values
        cdef cnp.npy_intp block = self.post_ops.block
        s.kind = FLOAT_OPS[name]
        if isinstance(operand, cnp.ndarray):
            values = at_a_line(1, &block, cnp.NPY_FLOAT32)
            values.reshape(-1, operand.size)[:] = operand.ravel()
            s.values, s.size = <const float*>cnp.PyArray_DATA(values), cnp.PyArray_SIZE(operand)
            self.arrays.append(values)
        else:
            s.factor = operand
        self.adds_old = self.adds_old or name == "sum" or name == "fma"
        self.post_ops.count += 1
        return 0

    cdef const float* old_of(self, cnp.ndarray x, cnp.ndarray old) except? NULL:
        """Check and give the values of `old`, which a sum adds to x; NULL if no operation reads them."""
        if not cnp.PyArray_ISCARRAY(x):
            raise bad_value("x, old", "expected arrays in C order")
        if not self.adds_old:
            return NULL
        if old is None or not PyArray_ISCARRAY_RO(old) or old.size != x.size or typenum_of(old) != cnp.NPY_FLOAT32:
            raise bad_value("old", "expected float32 in C order, as many elements as x has, which an operation adds")
        return <const float*>cnp.PyArray_DATA(old)

    def floats(self, cnp.ndarray x, cnp.ndarray old or None=None):
        """Make the operations on x, int32 or float32 in C order, in its own memory; return that memory as float32.

        `old`, for operations that need it: float32 in C order, with as many elements as x.
        """
        cdef const float* before = self.old_of(x, old)
        cdef bint of_sums = typenum_of(x) == cnp.NPY_INT32
        cdef const int32_t* sums = <const int32_t*>cnp.PyArray_DATA(x)
        cdef float* values = <float*>cnp.PyArray_DATA(x)
        cdef Py_ssize_t i = 0, n = cnp.PyArray_SIZE(x), block = self.post_ops.block
        if not of_sums and typenum_of(x) != cnp.NPY_FLOAT32:
            raise bad_type("x", f"expected int32 or float32, got {(<object>x).dtype}")
        with nogil:
            while i < n and (of_sums or self.post_ops.count):
                run_float_ops(self.post_ops.float_ops, self.post_ops.count, sums + i if of_sums else NULL,
                              values + i, before + i if before != NULL else NULL, 0, min(block, n - i))
                i += block
        return x.view("float32")

    def codes(self, cnp.ndarray x, cnp.ndarray old or None, cnp.ndarray out):
        """Set `out` to the codes of int32 sums x, if all floats are finite.

        `old` is as in `floats`, and made of codes. `out` is x itself, or does not overlap it: uint8, int8 or int32 in C
        order.
        """
        cdef const float* before = self.old_of(x, old)
        cdef const int32_t* sums = <const int32_t*>cnp.PyArray_DATA(x)
        cdef void* made = cnp.PyArray_DATA(out)
        cdef int typenum = typenum_of(out)
        cdef Py_ssize_t n = cnp.PyArray_SIZE(x)
        if typenum != cnp.NPY_UINT8 and typenum != cnp.NPY_INT8 and typenum != cnp.NPY_INT32:
            raise bad_type("out", f"expected uint8, int8 or int32, got {(<object>out).dtype}")
        if typenum_of(x) != cnp.NPY_INT32:
            raise bad_type("x", f"expected int32, got {(<object>x).dtype}")
        if not cnp.PyArray_ISCARRAY(out) or cnp.PyArray_SIZE(out) != n:
            raise bad_value("out", "expected an array in C order with as many elements as x")
        if not self.is_finite:
            raise bad_value("float_ops", "a float might not be finite")
        with nogil:
            if before != NULL or made == sums:  # only this one reads a whole block before it writes
                stage_post_ops(&self.stage, sums, before, made, typenum, n)
            else:
                stage_run(&self.stage, sums, cnp.NPY_INT32, made, typenum, 0, n)


def finish(cnp.ndarray x, float_ops, cnp.ndarray old or None=None):
    """Make `float_ops` on x for a single call; see `PostOpStage.floats`."""
    return PostOpStage(float_ops).floats(x, old)
