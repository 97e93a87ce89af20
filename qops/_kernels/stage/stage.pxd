"""The stage: what takes an accumulator or a value to a code. Everything that makes codes holds a `Stage` by value.

A stage is of one kind, with the numbers of that kind. Its channels, if it has several, differ in multiplier and shift
(INTEGER) or in the scale (REAL, DOUBLE). The owner of a Stage keeps the memory that it points into: see `prepared`.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.stage.float_stage cimport DoubleParams, FloatParams
from qops._kernels.stage.integer_stage cimport IntegerLanes, IntegerParams
from qops._kernels.stage.layer_stage cimport LayerParams
from qops._kernels.stage.post_ops cimport PostOps

cdef enum Kind:
    INTEGER  # multiply, shift and round in integers; from int32 or int64
    REAL  # multiply and round in float32; from int32, int64 or float32
    DOUBLE  # multiply and round in double; from int32 or int64
    LAYER  # a layer of the front door: double, with terms for rows and columns; from whole rows of int32

cdef union Params:
    IntegerParams integer
    FloatParams real
    DoubleParams wide

cdef struct Stage:
    Kind kind
    Params params  # of the first channel
    Py_ssize_t count, inner  # `inner` neighbours belong to each of `count` channels
    const void* channels  # INTEGER: the IntegerParams of each channel; else the scales, repeated as `period_of` says
    IntegerLanes lanes  # INTEGER: the same, laid out for vectors
    const LayerParams* layer  # LAYER: all its parameters
    const PostOps* post_ops  # REAL: float32 operations on int32 that come first; NULL: there are none
    Stage* before  # the stage that runs first, whose int32 codes this one reads; NULL: there is none

cdef enum:
    BLOCK = 1024  # numbers of 32 bits that one loop leaves for the next: 4 KB
    SPARE = 16  # entries behind a table of channels, which repeat its first ones, as a vector may begin at the last one

cdef Py_ssize_t period_of(Py_ssize_t count) noexcept nogil
cdef Stage integer_stage(const IntegerParams* params) noexcept nogil
cdef Stage float_stage(const FloatParams* params) noexcept nogil
cdef void stage_run(const Stage* s, const void* x, int x_type, void* c, int c_type, Py_ssize_t first,
                    Py_ssize_t n) noexcept nogil
cdef void stage_post_ops(const Stage* s, const int32_t* sums, const float* old, void* c, int c_type,
                         Py_ssize_t n) noexcept nogil
cdef object stage_walk(const Stage* s, cnp.ndarray x, int x_type, cnp.ndarray out, int c_type)
cdef int type_of_codes(cnp.ndarray out) except -1
cdef object stage_over(const Stage* s, cnp.ndarray x, cnp.ndarray out)
cdef bint stage_unless_nan(const Stage* s, cnp.ndarray x, cnp.ndarray out) except -1
